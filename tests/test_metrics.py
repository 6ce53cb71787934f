"""Scores against hand-computed values, SciPy, and the published evaluations written out literally."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from dualpix import InputError, ParameterError
from dualpix.evaluation.metrics import affine, affine_invariant, bad_pixels
from dualpix.evaluation.metrics.affine import _ranks

PROTOCOLS = ("proper", "paper-dslr", "paper-google")
FIGURES = ("ai1", "ai2", "spearman", "geometric_mean")
NAN = float("nan")


def figures(score):
    return [getattr(score, name) for name in FIGURES]


@pytest.fixture
def pair():
    rng = np.random.default_rng(5)
    gt = rng.integers(0, 40, (13, 17)) / 40
    return 3 - 2 * gt + rng.normal(0, 0.3, gt.shape), gt


def literal(est, gt, weight, rank):
    """AI(1), AI(2), 1-|rho| with library fits: np.polyfit squares its weights."""
    x, y, w = (np.asarray(a, float).ravel() for a in (est, gt, weight))

    def residual(v):
        return np.abs(np.polyval(np.polyfit(x, y, 1, w=np.sqrt(v)), x) - y)

    ai2 = np.sqrt(np.sum(w * residual(w) ** 2) / w.sum())
    irls = np.ones_like(w)
    for _ in range(1 + 5):
        error = residual(w * irls)
        irls = np.array([1 / max(e, 1e-3) for e in error])
    ai1 = np.sum(w * error) / w.sum()
    cov = np.cov(rank(x), rank(y), aweights=w)
    rho = 1 - abs(cov[0, 1]) / np.sqrt(cov[0, 0] * cov[1, 1])
    return [ai1, ai2, rho, (ai1 * ai2 * rho) ** (1 / 3)]


# ---- affine-invariant errors -----------------------------------------------------------------------------


def test_by_hand():
    """By symmetry the slope is 0; round k of the reweighting moves the offset from 1/3 to 1/(2^(k+1) + 1)."""
    score = affine_invariant([[0.0, 1.0, 2.0]], [[0.0, 1.0, 0.0]])
    ai1, ai2 = (1 / 65 + 64 / 65 + 1 / 65) / 3, np.sqrt(2 / 9)
    assert figures(score) == pytest.approx([ai1, ai2, 1.0, (ai1 * ai2) ** (1 / 3)])
    assert (score.coverage, score.protocol) == (1.0, "proper")


def test_proper_is_spearman_and_least_squares(pair):
    est, gt = pair
    est = np.round(est, 1)  # ties on both sides
    score = affine_invariant(est, gt)
    assert score.spearman == pytest.approx(1 - abs(stats.spearmanr(est.ravel(), gt.ravel()).statistic))
    assert figures(score) == pytest.approx(literal(est, gt, np.ones(gt.shape), stats.rankdata))


def test_paper_dslr_literally(pair):
    est, gt = pair
    est[0, 0] = 40  # outside the crop, but it sets the range of the 256 levels
    low, high = est.min(), est.max()
    levels = [[int((v - low) / (high - low) * 255) for v in row[2:-3]] for row in est[2:-3]]
    want = literal(levels, gt[2:-3, 2:-3], np.ones((8, 12)), lambda v: stats.rankdata(v, "dense"))
    assert figures(affine_invariant(est, gt, "paper-dslr", crop=3)) == pytest.approx(want)


@pytest.mark.parametrize("part", [1, 7, 60, affine.PART])  # values that are worked on at once
def test_paper_google_literally(pair, part, monkeypatch):
    monkeypatch.setattr(affine, "PART", part)
    est, gt = pair
    est[0, 0] = 40  # outside the crop, where it does not matter
    weight = np.linspace(0, 1, gt.size).reshape(gt.shape)
    e, g, w = est[2:-2, 2:-2], gt[2:-2, 2:-2], weight[2:-2, 2:-2]
    levels = np.floor((e - e.min()) / (e.max() - e.min()) * 255)
    want = literal(levels, g, w, lambda v: np.argsort(np.argsort(v, kind="stable")))
    assert figures(affine_invariant(est, gt, "paper-google", weight, crop=2)) == pytest.approx(want)


@pytest.mark.parametrize(("index", "counts"), [(98, False), (99, True), (-101, True), (-100, False)])
@pytest.mark.parametrize("axis", [0, 1])
def test_paper_dslr_crops_100_as_published(index, counts, axis):
    rng = np.random.default_rng(0)
    est, gt = rng.random((204, 206)), rng.random((204, 206))
    before = affine_invariant(est, gt, "paper-dslr")
    np.moveaxis(gt, axis, 0)[index] = 0.5
    assert (affine_invariant(est, gt, "paper-dslr") != before) is counts


@pytest.mark.parametrize("protocol", PROTOCOLS)
@given(
    est=arrays(np.int64, (4, 5), elements=st.integers(-1000, 1000)),
    scale=st.integers(1, 1000),
    offset=st.integers(-1000, 1000),
)
def test_affine_maps_of_the_estimate_change_nothing(protocol, est, scale, offset):
    gt = np.sin(np.arange(20)).reshape(4, 5)
    want = figures(affine_invariant(est, gt, protocol, crop=0))
    assert figures(affine_invariant(scale * est + offset, gt, protocol, crop=0)) == pytest.approx(want)
    if protocol == "proper":
        assert figures(affine_invariant(-scale * est, gt)) == pytest.approx(want, abs=1e-9)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=12))
def test_ranks_of_ties(values):
    array = np.array(values, float)
    for ties, method in (("average", "average"), ("dense", "dense"), ("order", "ordinal")):
        np.testing.assert_array_equal(_ranks(array, ties) + 1, stats.rankdata(array, method))


def test_a_weight_counts_like_as_many_pixels(pair):
    est, gt = (a[:1] for a in pair)
    times = np.arange(est.size) % 4
    weighted = affine_invariant(est, gt, confidence=times[None])
    repeated = affine_invariant(np.repeat(est, times, 1), np.repeat(gt, times, 1))
    assert (weighted.ai1, weighted.ai2) == pytest.approx((repeated.ai1, repeated.ai2))


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_integer_truth_is_brought_to_unit_scale(pair, dtype):
    est, gt = pair
    integer = np.floor(gt * np.iinfo(dtype).max).astype(dtype)
    assert affine_invariant(est, integer) == affine_invariant(est, integer / np.iinfo(dtype).max)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_missing_pixels_are_left_out_and_reported(pair, protocol):
    est, gt = pair
    est[:, 0], est[0, 1], gt[:, 1] = NAN, np.inf, NAN
    score = affine_invariant(est, gt, protocol, crop=0)
    assert figures(score) == pytest.approx(figures(affine_invariant(est[:, 2:], gt[:, 2:], protocol, crop=0)))
    assert score.coverage == pytest.approx(15 / 16)


def test_perfect_estimate_scores_zero(pair):
    _, gt = pair
    assert figures(affine_invariant(7 - 3 * gt, gt)) == pytest.approx([0, 0, 0, 0], abs=1e-9)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_constant_estimate_has_no_correlation(pair, protocol):
    gt = pair[1]
    score = affine_invariant(np.full(gt.shape, 3.7), gt, protocol, crop=0)
    assert (score.ai2, score.spearman) == pytest.approx((gt.std(), 1.0))


GOOD = np.arange(6.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (InputError, "est is 2x2 but gt is 3x2: give images of the same size", {"est": GOOD[:, :2]}),
        (InputError, "est is 1-D", {"est": [1.0, 2.0]}),
        (InputError, "complex", {"est": GOOD * 1j}),
        (InputError, "fewer than 2", {"est": np.full((2, 3), NAN)}),
        (InputError, "fewer than 2", {"est": np.where(GOOD == 1, 1, NAN)}),
        (InputError, "constant", {"gt": np.ones((2, 3))}),
        (InputError, "int64", {"gt": GOOD.astype(np.int64)}),
        (InputError, "negative", {"confidence": -GOOD}),
        (InputError, "non-finite", {"confidence": GOOD * NAN}),
        (InputError, "confidence is 2x3 but gt is 3x2: give images of the same size", {"confidence": GOOD.T}),
        (InputError, "fewer than 2", {"confidence": GOOD * 0}),
        (InputError, "crop 1 leaves nothing", {"crop": 1}),
        (InputError, "crop 100 leaves nothing", {"protocol": "paper-dslr"}),
        (ParameterError, "crop must be a whole number", {"crop": -1}),
        (ParameterError, "crop must be a whole number", {"crop": 1.5}),
        (ParameterError, "crop must be a whole number", {"crop": "a"}),
        (ParameterError, "choose from proper", {"protocol": "paper"}),
        (ParameterError, "confidence", {"protocol": "paper-dslr", "confidence": GOOD}),
    ],
)
def test_affine_input_errors(error, match, arguments):
    with pytest.raises(error, match=match) as caught:
        affine_invariant(**{"est": GOOD, "gt": GOOD, **arguments})
    assert not str(caught.value).endswith(".")


# ---- bad pixels ------------------------------------------------------------------------------------------

TRUTH = np.array([[10.0, 10, 10, 10], [10, NAN, np.inf, 10]])
ESTIMATE = np.array([[10.0, 10.5, 12, 5], [NAN, 99, 99, 99]])
MASK = np.array([[True, True, True, True], [True, True, True, False]])


def test_bad_pixels_proper_by_hand():
    score = bad_pixels(ESTIMATE, TRUTH, MASK)  # errors 0, 0.5, 2, 5 and a missing one; 3 pixels not scored
    bad = [score.bad_0_5, score.bad_1, score.bad_2, score.bad_4]
    assert bad == pytest.approx([80, 60, 60, 40])
    assert score.rmse == pytest.approx(np.sqrt((0.25 + 4 + 25) / 4))
    assert (score.coverage, score.protocol) == (0.8, "proper")


def test_bad_pixels_paper_by_hand():
    truth = np.where(np.isnan(TRUTH), 0, TRUTH)  # 0 is unknown too
    score = bad_pixels(ESTIMATE, truth, MASK, "paper-stereo")  # the 3 are correct, and the total is 8
    bad = [score.bad_0_5, score.bad_1, score.bad_2, score.bad_4]
    assert bad == pytest.approx([50, 37.5, 37.5, 25])
    assert score.rmse == pytest.approx(np.sqrt((0.25 + 4 + 25) / 7))
    assert (score.coverage, score.protocol) == (0.8, "paper-stereo")


def test_bad_pixels_proper_knows_every_finite_truth():
    truth = np.array([[-2.0, -0.5, 0, 3, NAN]])
    score = bad_pixels([[-2.0, 0.5, 3, NAN, 7]], truth)
    bad = [score.bad_0_5, score.bad_1, score.bad_2, score.bad_4]
    assert (bad, score.coverage) == ([75, 75, 50, 25], 0.75)
    assert score.rmse == pytest.approx(np.sqrt((0 + 1 + 9) / 3))


def test_bad_pixels_reports_the_coverage_of_affine_invariant(pair):
    est, gt = pair
    est[3:5], gt[4:9] = NAN, np.inf
    gt -= 0.5
    assert bad_pixels(est, gt).coverage == affine_invariant(est, gt).coverage


def test_bad_pixels_percentages_are_exact():
    """100 / 11 * 11 is not 100 in floating point."""
    for size in range(1, 50):
        assert bad_pixels(np.ones((1, size)), np.zeros((1, size))).bad_1 == 100


def test_bad_pixels_crop():
    padded = (np.pad(ESTIMATE, 2, constant_values=9), np.pad(TRUTH, 2), np.pad(MASK, 2, constant_values=True))
    assert bad_pixels(*padded, crop=2) == bad_pixels(ESTIMATE, TRUTH, MASK) != bad_pixels(*padded)


def test_bad_pixels_without_any_estimate():
    score = bad_pixels(np.full((2, 2), NAN), np.ones((2, 2)))
    assert (score.bad_0_5, score.bad_4, score.coverage) == (100, 100, 0)
    assert np.isnan(score.rmse)


def test_bad_pixels_without_mask_scores_every_known_pixel():
    assert bad_pixels(ESTIMATE, TRUTH) == bad_pixels(ESTIMATE, TRUTH, np.ones((2, 4), bool))
    assert bad_pixels(ESTIMATE, TRUTH) != bad_pixels(ESTIMATE, TRUTH, MASK)


@pytest.mark.parametrize(
    ("error", "match", "arguments"),
    [
        (InputError, "est is 2x4 but gt is 4x2: give images of the same size", {"est": ESTIMATE.T}),
        (InputError, "mask is 2x4 but gt is 4x2: give images of the same size", {"mask": MASK.T}),
        (InputError, "mask is 3-D bool", {"mask": np.dstack([MASK] * 3)}),
        (InputError, "mask == 255", {"mask": 255 * MASK.astype(np.uint8)}),
        (InputError, "no known pixel", {"mask": ~MASK & False}),
        (InputError, "no known pixel", {"gt": np.full((2, 4), NAN)}),
        (InputError, "no known pixel", {"gt": np.zeros((2, 4)), "protocol": "paper-stereo"}),
        (InputError, "gt holds negative .* use protocol proper", {"gt": TRUTH - 10.5, "protocol": "paper-stereo"}),
        (InputError, "crop 1 leaves nothing", {"crop": 1}),
        (InputError, "gt is 2-D bool", {"gt": MASK}),
        (ParameterError, "choose from proper", {"protocol": "paper-dslr"}),
    ],
)
def test_bad_pixels_input_errors(error, match, arguments):
    with pytest.raises(error, match=match) as caught:
        bad_pixels(**{"est": ESTIMATE, "gt": TRUTH, **arguments})
    assert not str(caught.value).endswith(".")
