"""Errors in pixels after a gain is fitted: hand-computed cases, a literal copy of the formulas, and properties."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualpix import InputError, ParameterError
from dualpix.evaluation.metrics.pixels import fitted_gain, near_edges
from dualpix.metrics import pixel_errors

NAN = float("nan")
ERRORS = ("mae", "smooth", "edges", "bump")


@pytest.fixture
def pair():
    """A slope with a step in the middle, unknown in two places, and a noisy estimate of it."""
    y, x = np.mgrid[:60, :70]
    truth = 0.01 * x + 0.02 * y + np.where(x > 35, 1.5, 0)
    truth[30, 20], truth[10:13, 36] = NAN, NAN
    return 1.1 * np.nan_to_num(truth) + np.random.default_rng(3).normal(0, 0.1, truth.shape), truth


def plane(shape=(40, 40)):
    """0.25 px per row: a slope, not an edge, since 3 rows differ by 0.5 px and no more."""
    return np.arange(shape[0])[:, None] / 4 + np.zeros(shape)


# ---- by hand -------------------------------------------------------------------------------------


def test_by_hand():
    """Most pixels are exact, so the gain is 1; the others are wrong by a fixed number of px."""
    est, truth = np.full((20, 20), 2.0), np.full((20, 20), 2.0)
    est[:, -4:] += [0.2, 0.5, 1.5, 3]
    score = pixel_errors(est, truth, crop=0)
    assert score.gain == pytest.approx(1, abs=0.01)
    errors = np.abs(score.gain * np.array([2.0] * 16 + [2.2, 2.5, 3.5, 5]) - 2)
    assert (score.bad_0_25, score.bad_1) == (15, 10)
    assert score.mae == score.smooth == pytest.approx(errors.mean())
    assert (score.edges, score.ause, score.coverage) == (None, None, 1)


def test_a_limit_is_not_yet_bad():
    truth = np.array([[4.0] * 97 + [0, 0, 0]])
    est = np.array([[4.0] * 97 + [0.25, 1, 1.5]])
    score = pixel_errors(est, truth, crop=0)
    assert score.gain == pytest.approx(1, abs=1e-3)
    exact = pixel_errors(est / score.gain, truth, crop=0)
    assert (exact.bad_0_25, exact.bad_1) == (2, 1)


def test_the_gain_is_that_of_the_least_mean_error():
    assert fitted_gain(np.ones(9), np.array([2.0] * 7 + [3, 9])) == pytest.approx(2, abs=0.01)  # their median
    assert fitted_gain(np.array([1.0, 2, 4]), np.array([3.0, 6, 12])) == pytest.approx(3)
    assert fitted_gain(np.zeros(3), np.ones(3)) == 0


def test_edges_by_hand():
    truth = np.zeros((41, 60))
    truth[:, 30:] = 0.51
    near = near_edges(truth)
    assert near[:, 19:41].all()  # the edge are columns 29 and 30; 10 px to both sides
    assert near.sum() == 41 * 22
    truth[:, 30:] = 0.5
    assert not near_edges(truth).any()
    assert not near_edges(plane()).any()


def test_unknown_truth_is_no_edge():
    truth = np.zeros((30, 30))
    truth[10:20, 10:20] = NAN
    assert not near_edges(truth).any()
    assert not near_edges(truth * NAN).any()
    truth[10:20, 11:20] = 5  # one unknown column stands between 0 and 5, so 3x3 px see both
    assert near_edges(truth)[15, 10]


def test_smooth_and_edges_split_the_error():
    truth = np.zeros((60, 80))
    truth[:, 40:] = 4
    est = truth.copy()
    est[:, 35:38] += 1
    score = pixel_errors(est, truth)
    error = np.abs(score.gain * est - truth)[8:-8, 8:-8]
    near = np.zeros((60, 80), bool)
    near[:, 29:51] = True
    near = near[8:-8, 8:-8]
    assert score.edges == pytest.approx(error[near].mean())
    assert score.smooth == pytest.approx(error[~near].mean())
    assert score.mae == pytest.approx(error.mean())


@pytest.mark.parametrize(
    ("surface", "bump"),
    [
        (lambda x, y: 0.3 * x - 0.2 * y, 0),
        (lambda x, y: 0.005 * x**2, 1),  # e_xx = 0.01
        (lambda x, y: 0.01 * x * y, np.sqrt(2)),  # e_xy = 0.01, twice
        (lambda x, y: 0.003 * x**2 + 0.004 * y**2, np.hypot(0.6, 0.8)),
        (lambda x, y: 2 * x**2, 5),  # steeper than counts
    ],
)
def test_bumps_by_hand(surface, bump):
    """The truth is 0 where it is known, so that the gain is small but for one pixel that sets it to 1."""
    y, x = np.mgrid[-10:11, -10:11].astype(float)
    error = surface(x, y)
    est = np.pad(error, ((0, 0), (0, 400)), constant_values=NAN)
    truth = np.pad(np.zeros_like(error), ((0, 0), (0, 400)), constant_values=NAN)
    est[:, 100:], truth[:, 100:] = 1e4, 1e4  # far away, flat, and heavy enough to fix the gain
    score = pixel_errors(est, truth, crop=0)
    assert score.gain == pytest.approx(1, abs=1e-6)
    inside, flat = 19 * 19, 19 * 319
    assert score.bump == pytest.approx(bump * inside / (inside + flat), abs=0.01 * inside / (inside + flat))


def test_coverage_by_hand():
    truth = plane()
    est = 2 * truth
    est[8:14] = NAN  # a quarter of the 24 rows inside the border
    score = pixel_errors(est, truth)
    assert (score.coverage, score.bad_0_25, score.bad_1) == (0.75, 25, 25)
    assert (score.mae, score.gain) == (pytest.approx(0, abs=1e-12), pytest.approx(0.5))


def test_no_estimate_at_all():
    score = pixel_errors(np.full((40, 40), NAN), plane(), np.ones((40, 40)))
    assert (score.bad_0_25, score.bad_1, score.coverage) == (100, 100, 0)
    assert [getattr(score, name) for name in (*ERRORS, "ause", "gain")] == [None] * 6


def test_the_border_is_not_scored_but_its_edges_count(pair):
    est, truth = pair
    before = pixel_errors(est, truth)
    est[:8], est[:, -8:] = 99, NAN
    assert pixel_errors(est, truth).mae == before.mae
    truth[:, 0] = 9  # the edge in columns 0 and 1 reaches to column 11
    assert pixel_errors(est, truth).edges != before.edges
    assert pixel_errors(est, truth, crop=12).edges == pixel_errors(est, pair[1], crop=12).edges


# ---- the formulas, literally ---------------------------------------------------------------------


def literal(est, truth, crop):
    """The scores with a loop for every definition."""
    rows, columns = range(crop, truth.shape[0] - crop), range(crop, truth.shape[1] - crop)
    known = [(i, j) for i in rows for j in columns if np.isfinite(truth[i, j])]
    x, y = (np.array([values[at] for at in known]) for values in (est, truth))
    gain = np.sum(x * y) / np.sum(x * x)
    for _ in range(9):
        w = 1 / np.maximum(np.abs(gain * x - y), 0.02)
        gain = np.sum(w * x * y) / np.sum(w * x * x)
    e = gain * est - np.nan_to_num(truth)

    def around(i, j, reach):
        return np.s_[max(i - reach, 0) : i + reach + 1, max(j - reach, 0) : j + reach + 1]

    edge = np.zeros(truth.shape, bool)
    for i, j in np.ndindex(truth.shape):
        values = truth[around(i, j, 1)]
        values = values[np.isfinite(values)]
        edge[i, j] = values.size and np.ptp(values) > 0.5
    near = {(i, j): edge[around(i, j, 10)].any() for i, j in known}

    def bend(i, j):
        xx, yy = e[i, j + 1] - 2 * e[i, j] + e[i, j - 1], e[i + 1, j] - 2 * e[i, j] + e[i - 1, j]
        xy = (e[i + 1, j + 1] - e[i + 1, j - 1] - e[i - 1, j + 1] + e[i - 1, j - 1]) / 4
        return min(0.05, np.sqrt(xx**2 + yy**2 + 2 * xy**2))

    a = np.abs(gain * x - y)
    split = np.array([near[at] for at in known])
    return {
        "mae": a.mean(),
        "bad_0_25": 100 * (a > 0.25).mean(),
        "bad_1": 100 * (a > 1).mean(),
        "smooth": a[~split].mean(),
        "edges": a[split].mean(),
        "bump": 100 * np.mean([bend(*at) for at in known if not near[at]]),
        "gain": gain,
    }


@pytest.mark.parametrize("crop", [1, 8])
def test_literally(pair, crop):
    est, truth = pair
    found = vars(pixel_errors(est, truth, crop=crop))
    for name, value in literal(est, truth, crop).items():
        assert found[name] == pytest.approx(value, rel=1e-9), name


# ---- properties ----------------------------------------------------------------------------------

seeds = st.integers(0, 2**32 - 1)
TRUTH = np.add.outer(np.sin(np.arange(19) / 4), np.arange(21) > 17)  # a wave with an edge


def noise(seed):
    return np.random.default_rng(seed).normal(0, 2, TRUTH.shape)


@given(seeds, st.floats(0.1, 10), st.sampled_from([-1, 1]))
def test_a_gain_of_the_estimate_changes_nothing_but_the_gain(seed, gain, sign):
    before, after = (vars(pixel_errors(each, TRUTH, crop=2)) for each in (noise(seed), sign * gain * noise(seed)))
    assert after["gain"] * sign * gain == pytest.approx(before["gain"], rel=1e-6)
    for name in ERRORS:
        assert after[name] == pytest.approx(before[name], rel=1e-6), name


@given(seeds, st.floats(0.2, 5))
def test_a_perfect_map_has_no_error(seed, gain):
    truth = np.where(noise(seed) > 1, NAN, noise(seed))
    score = pixel_errors(np.nan_to_num(truth) / gain, truth, np.zeros(truth.shape), crop=2)
    assert (score.mae, score.bad_0_25, score.bad_1, score.ause) == pytest.approx((0, 0, 0, 0), abs=1e-9)
    assert score.gain == pytest.approx(gain)


@given(seeds, seeds)
def test_a_confidence_that_knows_the_error_has_no_area(seed, other):
    est = noise(seed)

    def area(trust):
        return pixel_errors(est, TRUTH, trust, crop=2).ause

    error = np.abs(pixel_errors(est, TRUTH, crop=2).gain * est - TRUTH)
    assert area(-error) == pytest.approx(0, abs=1e-9)
    assert 0 < area(np.ones_like(est)) < area(error)
    assert 0 < area(np.round(noise(other))) < area(error)


def test_pixels_without_an_estimate_have_no_confidence_either(pair):
    est, truth = pair
    trust = np.random.default_rng(0).random(est.shape)
    est[20:30], trust[20:30] = NAN, NAN
    filled = np.where(np.isnan(trust), 5, trust)
    assert pixel_errors(est, truth, trust) == pixel_errors(est, truth, filled)


# ---- input that is refused -----------------------------------------------------------------------

GOOD = plane()


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (InputError, "est is 20x40 but gt is 40x40: give images of the same size", {"est": GOOD[:, :20]}),
        (InputError, "confidence is 20x40 but gt is 40x40", {"confidence": GOOD[:, :20]}),
        (InputError, "est is 1-D", {"est": [1.0, 2.0]}),
        (InputError, "gt is 2-D bool", {"gt": GOOD > 1}),
        (InputError, "gt has no known pixel to score", {"gt": GOOD * NAN}),
        (InputError, "gt has no known pixel to score", {"gt": np.pad(np.full((26, 26), NAN), 7)}),
        (InputError, "crop 20 leaves nothing", {"crop": 20}),
        (ParameterError, "crop must be a whole number", {"crop": -1}),
    ],
)
def test_input_errors(error, match, arguments):
    with pytest.raises(error, match=match) as caught:
        pixel_errors(**{"est": GOOD, "gt": GOOD, **arguments})
    assert not str(caught.value).endswith(".")


@pytest.mark.parametrize("shape", [(1, 1), (2, 9), (9, 2)])
def test_maps_too_small_for_bumps(shape):
    assert pixel_errors(np.ones(shape), np.ones(shape), crop=0).bump is None
