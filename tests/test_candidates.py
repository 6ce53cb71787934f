"""The kernels of stereo against the oracle: census, candidates, the choice among them, the left-right check."""

import re
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference
import reference_filters
import reference_stereo as oracle
from conftest import textured_pair
from dualpix import ParameterError, _core
from dualpix.method import candidates as stereo
from dualpix.method.kinds import method_of
from dualpix.method.notes import stereo_notes
from dualpix.method.search import Search, Span
from dualpix.method.window import box_taps, gaussian_taps
from dualpix.params import preset
from dualpix.run import Run
from dualpix.types import Agreement, Planes, as_row

SHAPES = [(1, 1), (1, 40), (40, 1), (2, 3), (7, 9), (33, 97), (65, 41), (35, 200)]
NAN = float("nan")


def noise(*shape, high=256):
    """Whole intensities, so that sums of few of them are exact."""
    return np.random.default_rng(6).integers(0, high, shape).astype(np.float32)


def real_noise(*shape):
    return np.random.default_rng(6).uniform(0, 255, shape).astype(np.float32)


def same_bytes(run):
    """What `run(threads)` returns, which must not depend on the threads."""
    first, *others = ([each.tobytes() for each in run(threads)] for threads in (1, 2, 3, 5))
    assert all(other == first for other in others)


# ---- census ----------------------------------------------------------------------------------------


def census(image, threads=2):
    codes = np.full(image.shape, NAN, np.float32)
    _core.census(image, codes, threads)
    return codes


IMAGES = {
    "constant": np.full((9, 11), 77, np.float32),
    "black": np.zeros((9, 11), np.float32),
    "checkerboard": (255 * (np.indices((12, 19)).sum(axis=0) % 2)).astype(np.float32),
    "at the threshold": 100 + 0.75 * noise(14, 30, high=5),
    "detail, of both signs": (real_noise(14, 30) - 128) / 64,
    "huge": 1e30 * (real_noise(14, 30) - 128),
    "infinite": np.array([-np.inf, 0, np.inf], np.float32)[noise(14, 30, high=3).astype(int)],
}


@pytest.mark.parametrize("shape", SHAPES)
def test_census_of_any_size(shape):
    image = noise(*shape, high=6)
    np.testing.assert_array_equal(census(image), reference.census(image))


@pytest.mark.parametrize("name", IMAGES)
def test_census_of_any_values(name):
    np.testing.assert_array_equal(census(IMAGES[name]), reference.census(IMAGES[name]))


def test_census_of_a_single_bright_pixel():
    """Only its own code knows darker pixels; seen from (2, 3) it is brighter and sets nothing."""
    image = np.full((5, 7), 10, np.float32)
    image[2, 3] = 10.76
    expected = np.zeros((5, 7))
    expected[2, 3] = 2**24 - 1
    np.testing.assert_array_equal(census(image), expected)
    image[2, 3] = 10.75
    assert not census(image).any()
    image[2, 3], image[0, 1], image[4, 4] = 10, 9, 9  # the first and the last but one of the 24
    assert census(image)[2, 3] == 2**23 + 2


@settings(max_examples=40)
@given(
    hnp.arrays(
        np.float32,
        hnp.array_shapes(min_dims=2, max_dims=2, max_side=20),
        elements=st.one_of(st.integers(0, 4).map(float), st.floats(-300, 300, width=32)),
    )
)
def test_census_of_anything(image):
    np.testing.assert_array_equal(census(image), reference.census(image))


def test_census_does_not_see_offsets_nor_gains_above_the_noise():
    image = noise(30, 50)
    np.testing.assert_array_equal(census(image + 1000), census(image))
    np.testing.assert_array_equal(census(image * np.float32(0.8)), census(image))


def test_census_threads_do_not_matter():
    image = noise(101, 203)
    same_bytes(lambda threads: [census(image, threads)])


# ---- candidates ------------------------------------------------------------------------------------

KINDS = ("sad", "ssd", "bt", "census")
MINIMA = ("whole", "parabola")
# Windows whose means are exact: of one, three and five pixels a side, centre first.
EXACT = {1: [1.0], 3: [0.5, 0.25], 5: [0.25, 0.25, 0.125]}


def find(left, right, disparities, kept=4, minimum="parabola", cost="sad", taps=EXACT[3], threads=2):
    """Cost, disparity and curvature of the candidates and the right winners, of codes if cost is census."""
    planes = [np.full((kept, *left.shape), NAN, np.float32) for _ in range(3)]
    winners = np.full(left.shape, NAN, np.float32)
    if cost == "census":
        left, right = census(left), census(right)
    _core.find_candidates(
        left,
        right,
        *planes,
        winners,
        first=disparities[0],
        count=len(disparities),
        taps=as_row(taps),
        minimum=_core.Minimum[minimum],
        cost_kind=_core.Cost[cost],
        threads=threads,
    )
    return *planes, winners


def volume(left, right, disparities, cost="sad", taps=EXACT[3]):
    taps = np.concatenate([taps[:0:-1], taps])
    left, right = left.astype(float), right.astype(float)
    if cost in ("sad", "ssd"):
        power = 1 if cost == "sad" else 2
        return np.stack(
            [reference.smooth(np.abs(left - reference.shifted(right, d)) ** power, taps) for d in disparities]
        )
    if cost == "bt":
        costs = [reference.birchfield_tomasi(left, right, d) for d in disparities]
    else:
        codes = reference.census(left), reference.census(right)
        costs = [reference.hamming_distance(*codes, d) for d in disparities]
    return np.stack([reference.smooth(each, taps, "edge") for each in costs])


def compare(left, right, disparities, kept=4, minimum="parabola", cost="sad", taps=EXACT[3]):
    """Everything as the oracle has it: of exact costs, of which those of equal ones at lower disparities come first."""
    *found, winners = find(left, right, disparities, kept, minimum, cost, taps)
    C = volume(left, right, disparities, cost, taps)
    expected = oracle.candidates(C, disparities, minimum, kept)
    np.testing.assert_array_equal(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(found[2], expected[2])
    np.testing.assert_array_equal(winners, oracle.right_winners(C, disparities))
    return found


@pytest.mark.parametrize("cost", KINDS)
@pytest.mark.parametrize("shape", SHAPES)
def test_candidates_of_any_size(shape, cost):
    compare(*noise(2, *shape), range(-3, 8), cost=cost)


@pytest.mark.parametrize("kept", range(1, 7))
@pytest.mark.parametrize("minimum", MINIMA)
def test_any_number_of_candidates(kept, minimum):
    found = compare(*noise(2, 20, 130), range(-4, 20), kept, minimum)
    assert (found[0][kept - 1] < oracle.NO_CANDIDATE).mean() > 0.5
    assert (np.diff(found[0], axis=0) >= 0).all()


@pytest.mark.parametrize("cost", KINDS)
@pytest.mark.parametrize("taps", EXACT.values(), ids=map(str, EXACT))
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (40, 104)])
def test_candidates_of_any_window(shape, taps, cost):
    compare(*noise(2, *shape), range(-1, 6), cost=cost, taps=taps)


@pytest.mark.parametrize(
    "disparities",
    [range(3), range(-4, -1), range(-12, 13), range(-90, 90), range(60, 70), range(-99, -80), range(-5000, -4990)],
)
@pytest.mark.parametrize("cost", ["sad", "bt"])
def test_candidates_of_any_range(disparities, cost):
    """The views are 45 px wide: some of these reach beyond them, some miss them."""
    compare(*noise(2, 34, 45), disparities, 6, cost=cost)


@pytest.mark.parametrize("cost", KINDS)
@pytest.mark.parametrize(
    "views",
    [np.full((2, 8, 20), 128), np.stack([np.zeros((8, 20)), np.full((8, 20), 255)]), np.zeros((2, 8, 20))],
    ids=["constant", "black against white", "black"],
)
def test_candidates_of_flat_views(views, cost):
    compare(*views.astype(np.float32), range(-3, 9), cost=cost)


def test_a_plateau_counts_once_and_a_pixel_without_minima_has_no_candidate():
    """Costs by hand, of a single pixel: with L = 0 beside R = C(d) they are sad itself."""

    def of(*costs):
        right = np.array([[0, *costs[::-1]]], np.float32)  # the left pixel at the right end meets them one by one
        left = np.zeros_like(right)
        *found, _ = find(left, right, range(len(costs)), 2, taps=[1.0])
        return [tuple(plane[k, 0, -1] for plane in found) for k in range(2)]

    none = (1e6, 0, 0)
    assert of(0, 5, 3, 9, 9) == [(3, 2 - 0.25, 4), none]
    assert of(0, 5, 3, 3, 9) == [(3, 3 - 0.5, 3), none]
    assert of(0, 9, 1, 9, 1, 9) == [(1, 2, 8), (1, 4, 8)]
    assert of(0, 9, 4, 9, 1, 9) == [(1, 4, 8), (4, 2, 5)]
    assert of(0, 1, 2, 3, 4) == [none, none]
    assert of(9, 8, 7, 6, 5) == [none, none]
    assert of(4, 4, 4, 4, 4) == [none, none]
    assert of(1, 5, 5, 6, 7) == [(5, 2 - 0.5, 0.5), none]


@settings(max_examples=40)
@given(st.data(), hnp.array_shapes(min_dims=2, max_dims=2, max_side=14), st.integers(-9, 5), st.integers(3, 12))
def test_candidates_of_anything(data, shape, first, count):
    left, right = (data.draw(hnp.arrays(np.uint8, shape)).astype(np.float32) for _ in range(2))
    cost, kept = data.draw(st.sampled_from(KINDS)), data.draw(st.integers(1, 6))
    compare(left, right, range(first, first + count), kept, data.draw(st.sampled_from(MINIMA)), cost)


@pytest.mark.parametrize(("cost", "taps"), [("sad", gaussian_taps(1.7)), ("bt", box_taps(5)), ("census", box_taps(5))])
@pytest.mark.parametrize("minimum", MINIMA)
def test_candidates_of_the_windows_in_use(cost, taps, minimum):
    """Where no rounding decides what is a minimum, and which is the lower."""
    left, right = real_noise(2, 50, 150)
    disparities = range(-2, 20)
    found = find(left, right, disparities, 3, minimum, cost, taps)
    C = volume(left, right, disparities, cost, taps.astype(float))
    expected = oracle.candidates(C, disparities, minimum, 4)
    steps, gaps = np.abs(np.diff(C, axis=0)).min(axis=0), np.diff(expected[0], axis=0).min(axis=0)
    clear = (np.minimum(steps, gaps) > 1e-4) & (expected[0][2] < oracle.NO_CANDIDATE)
    assert clear.mean() > (0.3 if cost == "census" else 0.85)
    for plane, wanted in zip(found, expected, strict=False):
        np.testing.assert_allclose(plane[:, clear], wanted[:3, clear], rtol=1e-3, atol=1e-3)


# Boxes whose sums are exact. Those of up to five pixels a side are counted in whole numbers of 8 and 16 bits.
BOXES = {side: [1.0] * (side // 2 + 1) for side in (1, 3, 5, 7)}


@pytest.mark.parametrize("taps", BOXES.values(), ids=map(str, BOXES))
@pytest.mark.parametrize("shape", [*SHAPES, (70, 112), (34, 124), (5, 125), (6, 128), (5, 249)])
def test_census_over_boxes_of_any_size(shape, taps):
    compare(*noise(2, *shape, high=8), range(-3, 8), cost="census", taps=taps)


@pytest.mark.parametrize("side", [5, 7])
@pytest.mark.parametrize(
    "disparities",
    [
        *[range(count) for count in (3, 4, 33, 34, 35, 66, 67, 129, 130, 131, 132, 133)],
        *[range(-70, 71), range(-4, -1), range(150, 240), range(-240, -150), range(300, 400), range(-5000, -4900)],
        range(2**20 - 3, 2**20),
    ],
)
def test_census_over_boxes_of_any_range(disparities, side):
    """The views are 230 px wide: some of these reach beyond them, some miss them."""
    compare(*noise(2, 9, 230, high=40), disparities, 6, cost="census", taps=BOXES[side])


@pytest.mark.parametrize("kept", range(1, 7))
@pytest.mark.parametrize("minimum", MINIMA)
def test_any_number_of_candidates_over_boxes(kept, minimum):
    found = compare(*noise(2, 20, 230), range(-4, 140), kept, minimum, "census", BOXES[5])
    assert (found[0][kept - 1] < oracle.NO_CANDIDATE).mean() > 0.5


@pytest.mark.parametrize("side", BOXES)
def test_the_greatest_number_of_bits(side):
    """Where all bits of a window differ, the sum is the highest that there can be."""
    left, right = np.zeros((12, 150)), np.full((12, 150), 2.0**24 - 1)
    right[:, ::31] = 0
    disparities = range(-70, 71)
    with patch(f"{__name__}.census", lambda codes: codes):
        views = left.astype(np.float32), right.astype(np.float32)
        *found, winners = find(*views, disparities, 2, "whole", "census", BOXES[side])
    codes = left.astype(int), right.astype(int)
    C = np.stack([reference.smooth(reference.hamming_distance(*codes, d), np.ones(side), "edge") for d in disparities])
    assert C.max() == 24 * side**2
    for plane, wanted in zip(found, oracle.candidates(C, disparities, "whole", 2), strict=True):
        np.testing.assert_array_equal(plane, wanted)
    np.testing.assert_array_equal(winners, oracle.right_winners(C, disparities))


def test_values_that_are_no_intensities_do_no_harm():
    left, right = noise(2, 33, 120)
    left[4, 20], right[2, 11], left[30, 99], right[9, 50] = NAN, np.inf, -np.inf, 1e30
    for cost in KINDS:
        cost_of, _, _, winners = find(left, right, range(12), cost=cost)
        assert ((winners >= 1) & (winners <= 10) | np.isnan(winners)).all()
        assert (cost_of <= oracle.NO_CANDIDATE).all()


@pytest.mark.parametrize("cost", KINDS)
def test_candidates_threads_do_not_matter(cost):
    left, right = real_noise(2, 137, 211)
    same_bytes(lambda threads: find(left, right, range(-3, 30), 5, "parabola", cost, box_taps(5), threads))


MAP, PLANES = np.zeros((4, 5), np.float32), np.zeros((2, 4, 5), np.float32)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"right": np.zeros((4, 6), np.float32)}, "left and right must have the same shape"),
        ({"right_winner": np.zeros((5, 4), np.float32)}, "right_winner must have the shape of left"),
        ({"cost": np.zeros((2, 4, 6), np.float32)}, "planes of cost.* must have the shape"),
        ({"disparity": np.zeros((2, 5, 4), np.float32)}, "planes of .*disparity.* must have the shape"),
        ({"curvature": np.zeros((3, 4, 5), np.float32)}, "same number of planes"),
        ({name: np.zeros((7, 4, 5), np.float32) for name in ("cost", "disparity", "curvature")}, "1 to 6 candidates"),
        ({name: np.zeros((0, 4, 5), np.float32) for name in ("cost", "disparity", "curvature")}, "1 to 6 candidates"),
        ({"count": 2}, "three disparities"),
        ({"count": 2**20 + 1}, "within 2"),
        ({"first": -(2**20) - 1}, "within 2"),
        ({"taps": as_row([])}, "taps"),
        *[({"cost_kind": _core.Cost[name]}, "sad.*census") for name in ("ncc", "zncc")],
        ({"left": np.zeros((0, 5), np.float32), "right": np.zeros((0, 5), np.float32)}, "1 to 2"),
    ],
)
def test_find_candidates_refuses(change, message):
    maps = {"left": MAP, "right": MAP, "right_winner": MAP.copy()}
    planes = {name: PLANES.copy() for name in ("cost", "disparity", "curvature")}
    kinds = {"minimum": _core.Minimum.whole, "cost_kind": _core.Cost.sad}
    rest = {"first": 0, "count": 3, "taps": as_row([1.0]), "threads": 1} | kinds
    with pytest.raises(ValueError, match=message):
        _core.find_candidates(**(maps | planes | rest | change))


# ---- the choice ------------------------------------------------------------------------------------


def some_candidates(shape, kept, seed=0, missing=0.0):
    """Rising costs, disparities and curvatures of `kept` candidates, some of which may be missing, and a guide."""
    rng = np.random.default_rng(seed)
    cost = np.sort(rng.uniform(0, 12, (kept, *shape)), axis=0)
    d = rng.choice([4, 5, 6, 11, 12, 20], (kept, *shape)) + rng.uniform(-0.5, 0.5, (kept, *shape))
    a = rng.uniform(0.1, 3, (kept, *shape))
    gone = np.sort(rng.uniform(size=cost.shape) < missing, axis=0)
    cost[gone], d[gone], a[gone] = oracle.NO_CANDIDATE, 0, 0
    guide = np.where(rng.uniform(size=shape) < 0.3, rng.uniform(0, 40, shape), 20)
    return [each.astype(np.float32) for each in (cost, d, a, guide)]


def choose(cost, d, a, guide, P1=1.5, P2=16.0, sigma=8.0, threads=2):
    a, chosen = a.copy(), np.full_like(d, NAN)
    _core.choose(cost, d, a, guide, chosen, step=P1, jump=P2, edge_sigma=sigma, threads=threads)
    return chosen[0], a[0]


def compare_choice(candidates, P1=1.5, P2=16.0, sigma=8.0, within=1e-3):
    """Where the margin is more than rounding, the choice of the oracle; returns the share of such pixels."""
    d, a = choose(*candidates, P1, P2, sigma)
    expected_d, expected_a, margin = oracle.choose(*(each.astype(float) for each in candidates), P1, P2, sigma)
    clear = margin > within
    np.testing.assert_allclose(d[clear], expected_d[clear], rtol=1e-6)
    trust_error = 2 * within / (2 * P2) if P2 else 0
    np.testing.assert_allclose(a[clear], expected_a[clear], rtol=1e-3, atol=3 * trust_error)
    return clear.mean()


@pytest.mark.parametrize("kept", range(1, 7))
@pytest.mark.parametrize("shape", [(1, 1), (1, 37), (37, 1), (2, 2), (9, 17), (17, 23), (10, 265)])
def test_choice_of_any_size(shape, kept):
    assert compare_choice(some_candidates(shape, kept)) > 0.95


@pytest.mark.parametrize(
    ("P1", "P2", "sigma"), [(0, 0, 8), (1, 0, 8), (0, 10, 8), (100, 2, 8), (0.01, 1e6, 8), (1, 5, 1e-2), (1, 5, 1e4)]
)
def test_choice_of_any_strength(P1, P2, sigma):
    assert compare_choice(some_candidates((13, 22), 4), P1, P2, sigma) > 0.9


def test_choice_without_some_candidates():
    """Costs of 1e6 leave sixteenths of what walks beside them."""
    candidates = some_candidates((20, 33), 4, missing=0.4)
    assert (candidates[0][0] == oracle.NO_CANDIDATE).mean() > 0.01
    assert compare_choice(candidates, within=1) > 0.8


@pytest.mark.parametrize("shape", [(1, 1), (9, 1), (1, 9)])
def test_a_guide_of_any_values_leaves_a_path_its_start(shape):
    cost, d, a, guide = some_candidates(shape, 3)
    assert compare_choice((cost, d, a, 1e4 * (guide - 30))) > 0.9


def test_nothing_to_choose_from_stays_nothing():
    cost, d, a, guide = some_candidates((9, 12), 3, missing=1.1)
    chosen, curvature = choose(cost, d, a, guide)
    assert not chosen.any()
    assert not curvature.any()


@settings(max_examples=25)
@given(
    st.integers(1, 9),
    st.integers(1, 20),
    st.integers(1, 6),
    st.integers(0, 10**6),
    st.floats(0, 50),
    st.one_of(st.just(0), st.floats(0.01, 100)),
    st.floats(0.1, 100),
)
def test_choice_of_anything(h, w, kept, seed, P1, P2, sigma):
    compare_choice(some_candidates((h, w), kept, seed), P1, P2, sigma, within=1e-2)


def test_neighbours_decide_a_tie_and_an_edge_lets_them_disagree():
    """The middle pixel has two candidates alike; it follows those at its side of the edge."""
    cost = np.array([[[0, 0, 0, 0, 0]], [[9, 9, 0, 9, 9]]], np.float32)
    d = np.array([[[3, 3, 3, 7, 7]], [[7, 7, 7, 3, 3]]], np.float32)
    a = np.ones_like(d)
    left, right = (np.array([values], np.float32) for values in ((0, 0, 0, 255, 255), (0, 0, 255, 255, 255)))
    assert choose(cost, d, a, left)[0].tolist() == [[3, 3, 3, 7, 7]]
    assert choose(cost, d, a, right)[0].tolist() == [[3, 3, 7, 7, 7]]


def test_a_margin_of_twice_P2_is_trusted():
    """One pixel: the sums over eight paths differ by eight times the costs."""
    for difference, trust in ((0, 0.01**2), (0.5, 0.125**2), (2, 0.5**2), (4, 1), (40, 1)):
        cost = np.array([[[1.0]], [[1 + difference]]], np.float32)
        _, a = choose(cost, np.array([[[3.0]], [[9.0]]], np.float32), 2 * np.ones_like(cost), MAP[:1, :1], P2=16)
        assert a[0, 0] == pytest.approx(2 * trust, rel=1e-5)


@pytest.mark.parametrize("kept", [1, 4, 6])
def test_choice_threads_do_not_matter(kept):
    candidates = some_candidates((67, 1031), kept)
    same_bytes(lambda threads: choose(*candidates, threads=threads))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"guide": np.zeros((5, 4), np.float32)}, "planes of cost.* must have the shape"),
        ({"disparity": np.zeros((2, 5, 5), np.float32)}, "planes of .*disparity.* must have the shape"),
        ({"curvature": np.zeros((1, 4, 5), np.float32)}, "same number of planes"),
        ({name: np.zeros((7, 4, 5), np.float32) for name in ("cost", "disparity", "curvature")}, "1 to 6 candidates"),
        ({"chosen": np.zeros((1, 4, 5), np.float32)}, "chosen must have the shape"),
        ({"chosen": np.zeros((2, 4, 6), np.float32)}, "chosen must have the shape"),
        ({"step": -1}, "step and jump"),
        ({"jump": -1}, "step and jump"),
        ({"jump": NAN}, "step and jump"),
        ({"edge_sigma": 0}, "edge_sigma"),
    ],
)
def test_choose_refuses(change, message):
    planes = {name: PLANES.copy() for name in ("cost", "disparity", "curvature", "chosen")}
    rest = {"guide": MAP, "step": 1, "jump": 1, "edge_sigma": 1, "threads": 1}
    with pytest.raises(ValueError, match=message):
        _core.choose(**(planes | rest | change))


# ---- how distinct the lowest is --------------------------------------------------------------------


def distinctness(costs, disparities, Tq=2.2, Td=0.1):
    cost, d = (np.array(values, np.float32)[:, None, None] for values in (costs, disparities))
    return stereo._distinctness(stereo.Found(cost, d, None, None), Tq, Td)[0, 0]


@pytest.mark.parametrize(
    ("costs", "disparities", "S"),
    [
        ((2, 4.4), (5, 9), 1),
        ((2, 3.2), (5, 9), 0.5**2),
        ((2, 3.2, 4), (5, 9, 2), 0.5**2),
        ((2, 4, 4.4), (5, 9, 2), (1 / 1.2) ** 2),
        ((2, 2.101), (5, 9), (0.0505 / 1.2) ** 2),
        ((2, 2.05), (5, 9), 1e-4),  # another as good, far off
        ((2, 3.2, 4, 4, 2.05), (5, 9, 12, 14, 8), 1e-4),
        ((2, 2.15), (5, 7), (0.075 / 1.2) ** 2),  # not so far
        ((2, 2.0), (5, 6), 1),  # next to it
        ((2, 2.0, 3.2), (5, 6, 7), 0.5**2),
        ((0, 0.0001), (5, 9), 1e-4),
        ((2, 1e6, 1e6), (5, 0, 0), 1),  # there is no other
        ((2,), (5,), 1),
    ],
)
def test_distinctness(costs, disparities, S):
    assert distinctness(costs, disparities) == pytest.approx(S, rel=1e-4)


def test_distinctness_agrees_with_the_oracle():
    cost, d, *_ = some_candidates((40, 50), 5, missing=0.2)
    expected = oracle.distinctness(cost.astype(float), d.astype(float), 2.2, 0.3)
    found = stereo._distinctness(stereo.Found(cost, d, None, None), 2.2, 0.3)
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    assert (expected == 1e-4).mean() > 0.05


# ---- the left-right check --------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (9, 35), (40, 101)])
@pytest.mark.parametrize("most", [0, 0.5, 1])
def test_check(shape, most):
    left, right = (noise(2, *shape, high=25) - 12) / 2
    left[left == 4.5] = right[right == -4.5] = NAN
    found = np.full(shape, 7, np.uint8)
    _core.check_views(left, right, found, most, 2)
    np.testing.assert_array_equal(found, oracle.consistent(left, right, most))


def test_check_by_hand():
    """left(x) = 2 is at x - 2 of the right view; outside, NaN, infinite or far off is none."""
    left = np.array([[2, 2, 2, 2.4, 2.6, -1, NAN, np.inf, -np.inf, 1e30, -0.4]], np.float32)
    right = np.array([[1, 2, 3.7, 2, 0, 0, -2, 0, 0, 0, 0.6]], np.float32)
    expected = [[0, 0, 1, 1, 1, 1, 0, 0, 0, 0, 1]]
    found = np.empty(left.shape, np.uint8)
    _core.check_views(left, right, found, 1.0, 1)
    assert found.tolist() == expected


def test_check_threads_do_not_matter():
    left, right = real_noise(2, 61, 83) / 16

    def run(threads):
        found = np.empty(left.shape, np.uint8)
        _core.check_views(left, right, found, 1.0, threads)
        return [found]

    same_bytes(run)


@pytest.mark.parametrize(
    ("right", "consistent", "error"),
    [
        (np.zeros((4, 6), np.float32), np.zeros((4, 5), np.uint8), ValueError),
        (MAP, np.zeros((5, 4), np.uint8), ValueError),
        (MAP, np.zeros((4, 5), bool), TypeError),
    ],
)
def test_check_refuses(right, consistent, error):
    with pytest.raises(error):
        _core.check_views(MAP, right, consistent, 1.0, 1)


def doubted(shape):
    """Disparities, curvatures, winners of the right view, the map without speckles, and the trust."""
    d, right = (noise(2, *shape, high=25) - 12) / 2
    curvature, sure = noise(*shape, high=3), d.copy()
    sure[noise(*shape, high=4) == 0] = right[right == -4.5] = NAN
    return d, curvature, right, sure, 1 + real_noise(*shape)


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (9, 35), (40, 101)])
def test_what_is_not_confirmed_is_doubted(shape):
    d, curvature, right, sure, S = doubted(shape)
    good = (curvature > 0) & oracle.consistent(d, right, 1) & ~np.isnan(sure)
    near = [(good & (np.abs(d - end) <= 1)).sum() for end in (-1, 2)]
    trust, counts = S.copy(), np.empty(4, np.int64)
    _core.confirm(d, curvature, right, sure, trust, counts, most=1, trust=0.25, low=-1, high=2, threads=2)
    assert counts.tolist() == [(curvature > 0).sum(), good.sum(), *near]
    np.testing.assert_array_equal(trust, np.where(good, S, 0.25))
    if d.size > 1000:
        assert min(near) > 10


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (9, 35), (300, 301)])
def test_weaken(shape):
    d, curvature, _, _, S = doubted(shape)
    alpha, beta = np.full(shape, NAN, np.float32), np.full(shape, NAN, np.float32)
    _core.weaken(d, curvature, S, alpha, beta, 2)
    np.testing.assert_array_equal(alpha, curvature * S)
    np.testing.assert_array_equal(beta, -2 * alpha * d)


@pytest.mark.parametrize("name", ["curvature", "right", "sure", "S", "counts"])
def test_confirm_refuses(name):
    maps = {name: MAP.copy() for name in ("d", "curvature", "right", "sure", "S")}
    wrong = np.empty(3, np.int64) if name == "counts" else MAP.T.copy()
    with pytest.raises(ValueError, match=r"shape|size|4 entries"):
        _core.confirm(
            **(maps | {"counts": np.empty(4, np.int64)} | {name: wrong}), most=1, trust=1, low=0, high=1, threads=1
        )


@pytest.mark.parametrize("name", ["curvature", "S", "alpha", "beta"])
def test_weaken_refuses(name):
    maps = {name: MAP.copy() for name in ("d", "curvature", "S", "alpha", "beta")}
    with pytest.raises(ValueError, match=f"{name} must have the shape"):
        _core.weaken(**(maps | {name: MAP.T.copy()}), threads=1)


# ---- encc at a whole disparity ---------------------------------------------------------------------


def refine(left, right, d, window=5, threads=2):
    moved, textured = np.array(d, np.float32), np.full(left.shape, 7, np.uint8)
    _core.refine(left, right, moved, textured, window, threads)
    return moved, textured


def compare_refined(left, right, d, window):
    moved, textured = refine(left, right, d, window)
    offset, expected = reference.vertex_encc(left.astype(float), right.astype(float), d, window)
    np.testing.assert_array_equal(textured, expected)
    off = np.abs(moved - d - offset)
    assert (np.abs(moved - d) <= 1).all()
    assert (moved == d)[textured == 0].all()
    return off


@pytest.mark.parametrize("window", [3, 5, 9])
@pytest.mark.parametrize("shape", [(20, 61), (33, 40)])
def test_refine(shape, window):
    left, right = np.stack(textured_pair(shape, 6.3)) + real_noise(2, *shape) / 64
    off = compare_refined(left, right, 4 + noise(*shape, high=5).astype(int), window)
    assert (off < 1e-3).mean() > 0.99


@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 1), (3, 4)])
def test_refine_small_views(shape):
    left, right = real_noise(2, *shape)
    off = compare_refined(left, right, noise(*shape, high=19).astype(int) - 9, 7)
    assert (off < 1e-3).mean() > 0.8


def test_refine_finds_the_shift():
    left, right = textured_pair((60, 90), 6.3)
    moved, textured = refine(left, right, np.full((60, 90), 6), 9)
    assert np.abs(moved[:, 12:-12] - 6.3).max() < 0.1
    assert np.median(moved) == pytest.approx(6.3, abs=0.01)
    assert textured.all()


def test_refine_leaves_what_has_no_texture():
    left, right = textured_pair((40, 60), 3)
    left[:, 20:40] = 128
    moved, textured = refine(left, right, np.full((40, 60), 3))
    assert not textured[:, 22:38].any()
    assert (moved[:, 22:38] == 3).all()
    assert textured[:, :18].all()


@pytest.mark.parametrize("d", [1e5, -1e5, 1e9, -1e9])
def test_refine_far_outside_the_view(d):
    """There the last column goes on for ever: nothing to move to."""
    left, right = textured_pair((10, 30), 3)
    moved, textured = refine(left, right, np.full((10, 30), d))
    assert (moved == np.float32(d)).all()
    np.testing.assert_array_equal(textured, refine(left, right, np.full((10, 30), np.sign(d) * 60))[1])


def test_refine_threads_do_not_matter():
    left, right = textured_pair((61, 83), 4.4)
    d = 2 + noise(*left.shape, high=5)
    same_bytes(lambda threads: refine(left, right, d, threads=threads))


@pytest.mark.parametrize(
    "change",
    [
        {"right": np.zeros((4, 6), np.float32)},
        {"d": np.zeros((5, 5), np.float32)},
        {"textured": np.zeros((4, 4), np.uint8)},
        *[{"window": n} for n in (1, 4, 65, -3)],
    ],
)
def test_refine_refuses(change):
    arguments = {"left": MAP, "right": MAP, "d": MAP.copy(), "textured": np.zeros((4, 5), np.uint8), "window": 3}
    with pytest.raises(ValueError, match="must"):
        _core.refine(**(arguments | change), threads=1)


# ---- all together ----------------------------------------------------------------------------------


def chosen(compared, correlated, guide, disparities, params, threads=1):
    """The local term of views that the cost compares, and of others that encc correlates."""
    with patch.object(stereo, "seen_by", return_value=(compared, correlated)):
        return stereo.chosen_parabolas(Planes(*compared, guide), Span(disparities), params, threads)


def stepped_pair(shape=(36, 100)):
    """Noise at 3 px, and a nearer part at 9 px, with a flat patch."""
    far, near = real_noise(2, shape[0], shape[1] + 12)
    left, right = far[:, : shape[1]].copy(), far[:, 3 : shape[1] + 3].copy()
    left[8:30, 40:80], right[8:30, 31:71] = near[8:30, 40:80], near[8:30, 40:80]
    left[2:7, 5:30] = right[2:7, 2:27] = 128
    return np.stack([left, right]) + real_noise(2, *shape)[:, ::-1] / 64


@pytest.mark.parametrize(
    "params",
    [
        preset("stereo"),
        preset("stereo-paper"),
        preset("stereo-paper").replace(cost="sad", window=1.5, ambiguity=5, candidates=3),
        preset("stereo").replace(cost="bt", subpixel="parabola", speckles=(40, 1), candidates=6),
        preset("stereo").replace(cost="bt", subpixel="encc", encc_window=7, choice=(0.5, 4)),
    ],
    ids=["stereo", "stereo-paper", "sad", "parabola", "choice and encc"],
)
def test_chosen_parabolas_agree_with_the_oracle(params):
    """Other planes are compared than those that encc correlates, and the guide is a third."""
    left, right = stepped_pair()
    plain = np.stack([left, right]) + real_noise(2, *left.shape)[::-1] / 32
    guide, disparities = np.rint(left / 32) * 8, range(-2, 16)
    local = chosen((left, right), tuple(plain), guide, disparities, params, threads=2)
    C = reference.cost_volume(left.astype(float), right.astype(float), disparities, params.window, params.cost)
    alpha, beta = oracle.local_parabolas(C, disparities, plain.astype(float), guide.astype(float), params)
    same = np.isclose(local.A, alpha, rtol=1e-2, atol=1e-14)
    same &= np.isclose(local.B, beta, rtol=1e-2, atol=1e-13)
    assert same.mean() > 0.99
    assert 0.05 < (alpha < 1e-6).mean() < 0.6  # those the check, the speckles or the texture tell against


@pytest.mark.parametrize("name", ["stereo", "stereo-paper"])
def test_a_small_region_is_doubted(name):
    """What 168 pixels of both views agree on, all around them being elsewhere."""
    left, right = noise(2, 60, 110)
    right[:, :-3] = left[:, 3:]
    left[20:32, 50:64] = right[20:32, 30:44] = 255 - noise(12, 14)
    params = preset(name).replace(window=3)
    doubted, plain = (
        chosen((left, right), (left, right), left, range(-1, 30), each).A[24:28, 54:60]
        for each in (params.replace(speckles=(300, 1)), params.replace(speckles=(50, 1)))
    )
    assert (plain > 0).all()
    np.testing.assert_allclose(doubted / plain, np.float32(1e-10), rtol=1e-5)


def test_what_encc_sees_no_texture_in_is_doubted():
    left, right = noise(2, 40, 90)
    right[:, :-3] = left[:, 3:]
    flat = left.copy()
    flat[10:30, 20:60] = 128
    params, inner = preset("stereo-paper"), (slice(13, 27), slice(24, 56))
    doubted, plain = (chosen((left, right), (view, right), left, range(-1, 12), params) for view in (flat, left))
    np.testing.assert_allclose(doubted.A[inner] / plain.A[inner], np.float32(1e-4), rtol=1e-5)
    np.testing.assert_allclose(-doubted.B[inner] / (2 * doubted.A[inner]), 3, rtol=1e-5)
    np.testing.assert_array_equal(doubted.A[:, 66:], plain.A[:, 66:])


def test_chosen_parabolas_tell_how_well_the_views_agree():
    left, right = stepped_pair()
    params, disparities = preset("stereo"), range(-1, 20)
    seen = chosen((left, right), (left, right), left, disparities, params, threads=2).agreement
    C = reference.cost_volume(left.astype(float), right.astype(float), disparities, params.window, "census")
    cost, d, a = oracle.candidates(C, disparities, "parabola", 4)
    d, *_ = oracle.choose(cost, d, a, left.astype(float), *params.choice, params.edge_sigma)
    agree = oracle.consistent(d, oracle.right_winners(C, disparities), 1)
    confirmed = agree & ~np.isnan(reference_filters.remove_speckles(d, *params.speckles))
    assert seen.confirmed == pytest.approx(confirmed.mean(), abs=0.01)
    assert set(seen.ends) == {0, 18}
    assert max(seen.ends.values()) < 0.005
    low, high = (
        chosen((left, right), (left, right), left, each, params, threads=2).agreement
        for each in (range(2, 20), range(-8, 5))
    )
    assert low.ends[3] == pytest.approx(confirmed[np.abs(d - 3) < 1].sum() / d.size, abs=0.03)
    assert high.ends[3] > 0.5


SEEN = {0: 0.3, 7: 0.004, -7: 0.2, 20: 0.006}


@pytest.mark.parametrize(
    ("confirmed", "order", "limits", "said"),
    [
        (0.26, None, (7, 18), []),
        (0.24, None, (7, 18), ["76% of the pixels fail the left-right check: the views may not be rectified"]),
        (0.24, 0.5, None, ["76% of the pixels fail the left-right check: the views may not be rectified"]),
        (0.9, 0.36, (0, 18), []),
        (0.9, 0.34, (0, 18), ["66% of the pixels match better with the views exchanged, and 10% .*: swap them"]),
        (0.1, 0.1, None, ["90% of the pixels match better .* and 90% of the pixels fail the left-right check: swap"]),
        (0.9, 0.1, (-18, 0), []),
        (0.9, 0.9, (-18, 0), ["90% of the pixels match better with the views exchanged"]),
        (0.9, 0.9, None, []),
        (0.9, 0.9, (0, 7), []),  # 0 is no end, and 0.4 % are few
        (0.9, 0.9, (0, 19.5), ["1% of the pixels lie at the upper end of the range, 20 px: .*: widen it"]),
        (0.9, 0.9, (-6.5, 19), ["20% of the pixels lie at the lower end of the range, -7 px"]),
        (0.1, None, (-7, 20), ["left-right check", "lower end", "upper end"]),
    ],
)
def test_notes(confirmed, order, limits, said):
    notes = stereo_notes(Agreement(confirmed, SEEN), order, limits)
    assert len(notes) == len(said)
    assert all(re.search(words, note) for words, note in zip(said, notes, strict=True))


# ---- which view is the left one --------------------------------------------------------------------


def order(left, right, params):
    planes = Planes(*(np.ascontiguousarray(view, np.float32) for view in (left, right, left)))
    return method_of(params).find_order(planes, Run(2))


@pytest.mark.parametrize("name", ["stereo", "stereo-paper"])
@pytest.mark.parametrize("shape", [(24, 61), (40, 30), (1, 1), (9, 2)])
def test_order_agrees_with_the_oracle(name, shape):
    left, right = noise(2, *shape)
    right[:, :-3] = left[:, 3:]
    params, reach = preset(name), max(1, shape[1] // 3)
    forward, backward = (
        oracle.candidates(
            reference.cost_volume(left.astype(float), right.astype(float), span, params.window, params.cost),
            span,
            "parabola",
            1,
        )[0][0]
        for span in (range(reach + 2), range(-reach - 1, 1))
    )
    # Where both costs are nearly equal, the rounding of float32 decides, and CPUs differ. Such pixels count either way.
    clear = np.abs(forward - backward) > 1e-3
    wins, ties = (forward < backward)[clear].sum(), (~clear).sum()
    low, high = (wins / clear.size, (wins + ties) / clear.size)
    assert ties <= 0.1 * clear.size or clear.size < 100
    found = order(left, right, params)
    assert low - 0.02 <= found <= high + 0.02
    assert found == 0.5 or (forward != backward).any()


@pytest.mark.parametrize("name", ["stereo", "stereo-paper"])
@pytest.mark.parametrize("size", [(60, 90), (150, 900)])
def test_order_of_views(name, size):
    """The larger views are halved twice; 40 px are 10 then."""
    params = preset(name)
    left, right = textured_pair(size, 40 if size[1] > 400 else 12)
    assert order(left, right, params) > 0.8
    assert order(right, left, params) < 0.2
    assert order(left, left[::-1], params) == pytest.approx(0.5, abs=0.12)
    assert order(0 * left, 0 * left, params) == 0.5


@pytest.mark.parametrize(
    ("disparities", "order", "left"),
    [
        (range(-9, 10), 0.6, range(-9, 10)),
        (range(-9, 10), 0.7, range(-1, 10)),
        (range(-9, 10), 0.3, range(-9, 2)),
        (range(4, 10), 0.7, range(4, 10)),
        (range(4, 10), 0.3, range(-1, 2)),
        (range(-9, -4), 0.7, range(-1, 2)),
        (range(-9, -4), 0.3, range(-9, -4)),
    ],
)
def test_nothing_lies_behind_what_is_farthest(disparities, order, left):
    assert Search(order=order).one_sided(disparities) == left
    assert Search().one_sided(disparities) == disparities


def test_doubted_and_hidden_pixels_are_filled_from_what_is_around():
    d = np.full((40, 60), 3, np.float32)
    d[10:30, 20:40] = 9
    d[12:15, 50:55] = 30  # a speckle of 15 pixels
    seen = np.ones(d.shape, np.uint8)
    seen[10:30, 14:20] = 0
    whole, sure = stereo.filled(d, seen, preset("stereo").minima)
    known = (seen == 1) & (d != 30)
    np.testing.assert_array_equal(whole, reference_filters.fill_holes(np.where(known, d, NAN)))
    np.testing.assert_array_equal(sure, known)
    assert sure.dtype == np.float32
    nothing, sure = stereo.filled(d, np.zeros_like(seen), preset("stereo").minima)
    np.testing.assert_array_equal(nothing, d)
    assert not sure.any()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"cost": "ncc"}, "parameter cost ncc needs candidates=1: take census"),
        ({"cost": "zncc"}, "parameter cost zncc needs candidates=1: take census"),
        ({"subpixel": "histeq"}, "parameter subpixel histeq needs candidates=1: take parabola"),
    ],
)
def test_what_keeps_no_candidates(changes, says):
    with pytest.raises(ParameterError) as caught:
        method_of(preset("stereo").replace(**changes))
    assert str(caught.value) == says
