"""Scales and ranges, apart from any matching."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import reference
from dualpix import _core
from dualpix.method import range as range_finder
from dualpix.method.frame import Frame
from dualpix.method.kinds import method_of
from dualpix.method.scales import Level, Pyramid
from dualpix.method.search import (
    FIRST_REACH,
    OUTLIERS,
    TILE_MARGIN,
    Search,
    Span,
    around,
    covering,
    extremes,
    narrowed,
    searched,
    tile_ranges,
)
from dualpix.params import preset
from dualpix.run import Run
from dualpix.types import Parabolas, Planes, doubled

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (9, 1), (2, 3), (5, 5), (40, 67), (200, 33)])
def test_half_size(shape):
    image = RNG.uniform(0, 255, shape).astype(np.float32)
    coarse = Planes(image, image, image).halved(threads=2)
    np.testing.assert_allclose(coarse.left, reference.pyramid_down(image.astype(float)), rtol=1e-5)


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (9, 1), (2, 3), (5, 5), (40, 67), (200, 33)])
def test_twice_the_size(shape):
    half = RNG.normal(0, 9, [(n + 1) // 2 for n in shape]).astype(np.float32)
    expected, image = reference.upsample(half.astype(float), shape), RNG.normal(0, 9, shape).astype(np.float32)
    np.testing.assert_allclose(doubled(half, shape, threads=2), expected, atol=1e-5)
    added = image.copy()
    _core.pyramid_up(half, added, add=True, threads=2)
    np.testing.assert_allclose(added, image + expected, atol=1e-5)


def test_the_kernel_refuses_a_half_of_another_size():
    with pytest.raises(ValueError, match="half must be half the size"):
        _core.pyramid_up(np.zeros((2, 2), np.float32), np.zeros((5, 4), np.float32), add=False, threads=1)


def test_a_ramp_keeps_its_grid():
    """Pixel i of the half-size image lies at pixel 2 i: half a pixel is easily lost here."""
    ramp = np.tile(np.arange(40, dtype=np.float32), (6, 1))
    coarse = Planes(ramp, ramp, ramp).halved(threads=1)
    np.testing.assert_allclose(coarse.left[:, 1:-1], ramp[:3, 2:-2:2], atol=1e-5)
    np.testing.assert_allclose(reference.upsample(coarse.left, ramp.shape)[:, 2:-4], ramp[:, 2:-4], atol=1e-5)


def test_a_grey_guide_is_not_computed_twice():
    image, right = (RNG.uniform(0, 255, (20, 20)).astype(np.float32) for _ in range(2))
    coarse = Planes(image, right, image).halved(threads=1)
    assert coarse.guide is coarse.left


@pytest.mark.parametrize(
    ("limits", "factor", "expected"),
    [
        ((-20, 20), 4, range(-6, 7)),
        ((-3, 2), 1, range(-4, 4)),
        ((0, 70), 1, range(-1, 72)),
        ((-1, 1), 4, range(-2, 3)),
        ((0.2, 0.4), 1, range(-1, 3)),
    ],
)
def test_the_limits_can_win(limits, factor, expected):
    assert searched(limits, factor) == expected
    first, last = reference.searched(limits, factor)
    assert (first, last) == (expected[0], expected[-1])


@pytest.mark.parametrize("limits", [(-20, 20), (-1, 20), (-20, 1), (8, 16), (-9, -8)])
def test_narrowed_disparities_cover_the_upsampled_map_within_the_limits(limits):
    A, d = RNG.uniform(0.1, 1, (9, 14)).astype(np.float32), RNG.uniform(-3, 2, (9, 14)).astype(np.float32)
    B = -2 * A * d
    fine = reference.minimizer(reference.upsample(A / 4, (17, 28)), reference.upsample(B / 2, (17, 28)))
    found = narrowed(searched(limits, 1), Parabolas(A, B))
    assert list(found) == list(reference.next_range(fine, limits, 1))
    assert len(found) >= 3


def pyramid_of(shape):
    planes = Planes(*(RNG.uniform(0, 255, shape).astype(np.float32) for _ in range(3)))
    return Pyramid(planes, Frame(shape))


def test_levels_come_from_coarse_to_fine_and_are_let_go_of():
    pyramid = pyramid_of((16, 23))
    finest = pyramid.finest
    levels = list(pyramid.levels(3, threads=1))
    assert [level.planes.left.shape for level in levels] == [(4, 6), (8, 12), (16, 23)]
    assert [(level.number, level.scales, level.factor) for level in levels] == [(1, 3, 4), (2, 3, 2), (3, 3, 1)]
    assert levels[-1].planes is finest
    assert not hasattr(pyramid, "finest")
    assert [each is plane for each, plane in zip(levels[-1].spent(), finest, strict=True)] == [True] * 3
    assert not hasattr(levels[-1], "planes")


def test_a_level_that_is_kept_has_no_spare_maps():
    level = Level(pyramid_of((5, 7)).finest, keep=True)
    assert level.spent() == []
    assert level.planes.left.shape == (5, 7)


def test_a_guide_that_is_the_left_view_is_spare_once():
    view, right = (np.zeros((5, 7), np.float32) for _ in range(2))
    assert len(Level(Planes(view, right, view)).spent()) == 2


def test_the_mirror_is_kept_only_if_asked_for():
    pyramid = pyramid_of((5, 7))
    left, right, _ = pyramid.finest
    pyramid.keep_mirror()
    mirror = pyramid.mirrored().finest
    np.testing.assert_array_equal(mirror.left, right[:, ::-1])
    np.testing.assert_array_equal(mirror.right, left[:, ::-1])
    assert mirror.guide is mirror.left


def test_a_range_is_narrowed_from_scale_to_scale():
    search = Search((-8.0, 8.0))
    assert search.at(4).disparities == range(-3, 4)
    assert search.at(2, flat((4, 6), 1)).disparities == range(5)
    assert search.at(1, flat((8, 12), 2)).disparities == range(2, 7)
    assert search.limits_of(Span(range(2, 7))) == (-8.0, 8.0)


def test_a_range_that_is_found_follows_the_coarser_scale():
    search = Search(None, (-3, 3))
    assert search.at(4).disparities == range(-3, 4)
    assert search.at(2, flat((4, 6), 1.2)).disparities == around(2.4, 2.4)
    assert search.limits_of(Span(range(-2, 7))) == (-2.0, 6.0)


@pytest.mark.parametrize(
    ("order", "expected"), [(None, range(-6, 7)), (0.5, range(-6, 7)), (0.9, range(-1, 7)), (0.1, range(-6, 2))]
)
def test_the_order_of_the_views_leaves_one_sign(order, expected):
    assert Search(None, None, order).one_sided(range(-6, 7)) == expected


def test_tiles_have_ranges_of_their_own_only_below_the_coarsest_scale():
    search = Search((-8.0, 8.0), reach=5)
    assert search.at(2).tiles is None
    assert search.at(1, flat((60, 60), 1)).tiles.shape == (2, 2, 2)
    assert Search((-8.0, 8.0)).at(1, flat((60, 60), 1)).tiles is None


def flat(shape, d):
    A = np.ones(shape, np.float32)
    return Parabolas(A, -2 * A * np.float32(d))


def test_one_wild_pixel_does_not_widen_the_range():
    belief = flat((60, 60), 0.5)
    belief.B[30, 30] = 2 * 500
    assert covering(belief) == range(-1, 4)


@pytest.mark.parametrize(("curvature", "covered"), [(1, True), (1e-3, False)])
@pytest.mark.parametrize("far", [6, -6])
def test_a_hundredth_of_the_pixels_counts_if_it_knows_anything(far, curvature, covered):
    d, A = np.full((60, 60), 0.5, np.float32), np.ones((60, 60), np.float32)
    d[:6, :6], A[:6, :6] = far, curvature
    assert (2 * far in covering(Parabolas(A, -2 * A * d))) == covered


def explored(monkeypatch, shape, belief_of):
    """The ranges tried by the survey, and the one it ends with; belief_of(disparities) stands for a solved scale."""
    tried = []

    def gather(level, span, method, coarser, priors, run):
        tried.append(span.disparities)
        return belief_of(span.disparities)

    monkeypatch.setattr(range_finder, "gather", gather)
    monkeypatch.setattr(range_finder, "believe", lambda evidence, *how: evidence)
    level = Level(Planes(*[np.zeros(shape, np.float32)] * 3), keep=True)
    (first, last), _ = range_finder.find_range(level, Search(), method_of(preset("auto")), 4, Run())
    return tried, range(first, last + 1)


@pytest.mark.parametrize(("d", "reaches"), [(0.3, [4]), (2.9, [4]), (3.5, [4, 8]), (-9, [4, 8, 16])])
def test_the_coarsest_scale_looks_as_far_as_it_finds(monkeypatch, d, reaches):
    def belief(disparities):
        return flat((50, 60), np.clip(d, disparities[1], disparities[-2]))

    tried, found = explored(monkeypatch, (50, 60), belief)
    assert tried == [range(-reach - 1, reach + 2) for reach in reaches]
    assert found == around(d, d)


@pytest.mark.parametrize(("width", "reaches"), [(60, [4, 8, 16]), (96, [4, 8, 16, 32]), (95, [4, 8, 16])])
def test_the_range_found_never_exceeds_a_third_of_the_image(monkeypatch, width, reaches):
    """Even if the pixels are surer the further they look."""

    def belief(disparities):
        surer = np.full((50, width), len(disparities), np.float32)
        return Parabolas(surer, -2 * surer * (disparities[-1] - 1))

    tried, found = explored(monkeypatch, (50, width), belief)
    assert tried == [range(-reach - 1, reach + 2) for reach in reaches]
    assert found == around(reaches[-1], reaches[-1])


def test_where_nothing_can_be_found_the_first_range_will_do(monkeypatch):
    """Pixels at the ends of any range, and the less sure the wider it is: noise."""

    def belief(disparities):
        d = np.linspace(disparities[0], disparities[-1], 10_000, dtype=np.float32).reshape(50, 200)
        A = np.full_like(d, 1 / len(disparities))
        return Parabolas(A, -2 * A * d)

    tried, found = explored(monkeypatch, (50, 200), belief)
    assert len(tried) > 2
    assert found == around(-FIRST_REACH, FIRST_REACH)


# ---- one range a tile -----------------------------------------------------------------------------


def coefficients(d):
    A = RNG.uniform(0.5, 2, d.shape).astype(np.float32)
    return Parabolas(A, (-2 * A * d).astype(np.float32))


@pytest.mark.parametrize("shape", [(1, 1), (48, 48), (49, 97), (120, 60), (47, 200)])
@pytest.mark.parametrize("reach", [0, 1, 21])
def test_each_tile_covers_what_the_coarser_scale_has_found_around_it(shape, reach):
    d, side = RNG.uniform(-6, 6, shape), _core.tile // 2
    disparities = range(-11, 14)
    ranges = tile_ranges(disparities, coefficients(d), reach, 2)
    assert ranges.shape == (-(-shape[0] // side), -(-shape[1] // side), 2)
    around = reach // 2 + 1
    for i, j in np.ndindex(ranges.shape[:2]):
        rows = slice(max(i * side - around, 0), (i + 1) * side + around)
        columns = slice(max(j * side - around, 0), (j + 1) * side + around)
        first, count = ranges[i, j]
        assert first == max(math.floor(2 * d[rows, columns].min() + 1e-5) - TILE_MARGIN, -11)
        assert first + count - 1 == min(math.ceil(2 * d[rows, columns].max() - 1e-5) + TILE_MARGIN, 13)


@pytest.mark.parametrize("d", [-50.0, 0.0, 50.0])
def test_a_tile_stays_within_the_common_range_and_has_three_disparities(d):
    ((first, count),) = tile_ranges(range(-4, 3), coefficients(np.full((20, 20), d)), 5, 1)[0]
    assert count >= 3
    assert first >= -4
    assert first + count <= 3


@pytest.mark.parametrize(("pixels", "expected"), [(10_000, (80, 100)), (7_999, (40, 50)), (499, (10, 13)), (1, (1, 1))])
def test_the_finest_scale_that_is_small_enough(pixels, expected):
    pyramid = pyramid_of((80, 100))
    assert pyramid.scale(pyramid.halvings_to(pixels), 1).left.shape == expected
    assert pyramid.finest.left.shape == (80, 100)


@settings(max_examples=60)
@given(st.integers(1, 60), st.integers(0, 30), st.floats(0, 1), st.integers(0, 2**32 - 1))
def test_extremes_are_those_of_all_disparities_in_order(side, power, blank, seed):
    """Only the ends are sorted. Sorting everything gives the same."""
    rng = np.random.default_rng(seed)
    A = (rng.random((side, side)) ** power * (rng.random((side, side)) >= blank)).astype(np.float32)
    belief = Parabolas(A, (-2 * A * 3 * rng.normal(size=A.shape)).astype(np.float32))
    d = belief.disparity().ravel()
    order = np.argsort(d)
    share = np.cumsum(A.ravel()[order], dtype=np.float64)
    low, high = np.searchsorted(share, share[-1] * np.array([OUTLIERS, 1 - OUTLIERS]))
    found = extremes(belief)
    assert found == pytest.approx((d[order[low]], d[order[min(high, d.size - 1)]]))
