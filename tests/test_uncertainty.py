"""What a method says about its own errors: the order of its confidence and the size of its sigma."""

from itertools import permutations
from types import SimpleNamespace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conftest import textured_pair
from dualpix import InputError
from dualpix.evaluation.outcomes import Scene
from dualpix.metrics import ause, sigma_calibration

NAN = float("nan")
errors = arrays(np.float64, 12, elements=st.integers(0, 6).map(float))
ranks = arrays(np.float64, 12, elements=st.integers(-3, 3).map(float))


# ---- the order of the confidence -----------------------------------------------------------------


def test_by_hand():
    """Means of what is left, from all to one pixel: 6/3, 3/2, 1 for the oracle; 6/3, 5/2, 3 for the reverse."""
    error = [1.0, 2.0, 3.0]
    assert ause(error, [3, 2, 1]) == 0
    assert ause(error, [1, 2, 3]) == pytest.approx(((6 / 3 + 5 / 2 + 3) - (6 / 3 + 3 / 2 + 1)) / 3 / 2)
    assert ause(error, [7, 7, 7]) == pytest.approx((2 + 2 + 2 - (6 / 3 + 3 / 2 + 1)) / 3 / 2)
    assert ause(error, [5, 4, NAN]) == 0  # NaN goes first
    assert ause([0.0, 0.0], [1, 2]) == 0


def test_it_is_the_mean_over_all_orders_of_equal_confidence():
    error, confidence = np.array([5.0, 0, 2, 3, 7, 1]), np.array([1, 2, 1, 2, 3, 1])

    def area(order):
        return np.mean([error[list(order[:k])].mean() for k in range(1, error.size + 1)])

    orders = [order for order in permutations(range(6)) if (np.diff(confidence[list(order)]) <= 0).all()]
    assert len(orders) == 12
    wanted = np.mean([area(order) for order in orders]) - area(np.argsort(error))
    assert ause(error, confidence) == pytest.approx(wanted / error.mean())


@given(errors, ranks, st.floats(0.1, 100))
def test_units_and_scale_do_not_matter(error, confidence, factor):
    assert ause(factor * error, np.exp(confidence)) == pytest.approx(ause(error, confidence), abs=1e-9)
    assert ause(error, -error) == 0
    assert -1e-9 <= ause(error, confidence) <= ause(error, error) + 1e-9


@given(errors, ranks)
def test_a_weight_of_0_is_no_pixel(error, confidence):
    weight = np.arange(12) % 3
    kept = weight > 0
    assert ause(error, confidence, weight) == pytest.approx(ause(error[kept], confidence[kept], weight[kept]))
    assert ause(error, confidence, np.full(12, 0.3)) == pytest.approx(ause(error, confidence), abs=1e-9)


def test_a_blind_confidence_of_uniform_errors():
    """The curve stays at 1/2 and the oracle's falls to 0: the area is 1/4, half of the mean."""
    error = np.linspace(0, 1, 10001)
    assert ause(error, np.ones_like(error)) == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize(
    ("match", "arguments"),
    [
        ("error has 2 pixels, confidence 3 and weight 2: give the same pixels", ([1.0, 2], [1, 2, 3])),
        ("no pixel with weight", ([], [])),
        ("no pixel with weight", ([1.0], [1], [0])),
    ],
)
def test_ause_input_errors(match, arguments):
    with pytest.raises(InputError, match=match):
        ause(*arguments)


# ---- the size of sigma ---------------------------------------------------------------------------


def test_normal_errors_of_the_right_size_have_ratio_1():
    rng = np.random.default_rng(0)
    sigma = np.exp(rng.uniform(-3, 1, 200_000))
    found = sigma_calibration(rng.normal(0, sigma), sigma)
    assert found.ratios == pytest.approx([1] * 10, abs=0.05)
    assert 1 <= found.worst < 1.05
    assert sorted(found.sigmas) == list(found.sigmas)


@pytest.mark.parametrize("factor", [0.25, 4])
def test_errors_of_another_size_have_their_factor(factor):
    rng = np.random.default_rng(0)
    sigma = np.exp(rng.uniform(-3, 1, 100_000))
    found = sigma_calibration(factor * rng.normal(0, sigma), sigma)
    assert found.ratios == pytest.approx([factor] * 10, rel=0.05)
    assert found.worst == pytest.approx(4, rel=0.06)


def test_deciles_by_hand():
    sigma = np.arange(1.0, 21)
    error = np.where(np.arange(20) < 2, -8.0, sigma)  # twice the sigma of 1 and 2, and more
    found = sigma_calibration(error.reshape(4, 5), sigma.reshape(4, 5))
    assert found.sigmas == tuple(np.arange(1.5, 21, 2))
    assert found.errors == (8, *np.arange(3.5, 21, 2))
    assert found.ratios == pytest.approx([8 / 1.5 / 0.6745] + [1 / 0.6745] * 9)
    assert found.worst == max(found.ratios)


def test_the_worst_may_be_too_small():
    found = sigma_calibration(np.r_[np.full(10, 0.6745), np.full(90, 0.06745)], np.r_[np.full(10, 0.5), np.ones(90)])
    assert found.ratios[0] == pytest.approx(2)
    assert found.worst == pytest.approx(10)
    assert sigma_calibration(np.zeros(20), np.ones(20)).worst == np.inf


def test_pixels_of_one_sigma_stay_together():
    rng = np.random.default_rng(0)
    error = rng.normal(size=100)
    found = sigma_calibration(error, np.ones(100))
    assert np.isfinite(found.ratios).sum() == 1
    assert found.worst == sigma_calibration(rng.permutation(error), np.ones(100)).worst


@given(arrays(np.float64, 30, elements=st.floats(0.01, 9)), st.floats(0.01, 100))
def test_the_unit_does_not_matter(error, unit):
    sigma = 1 + np.arange(30) / 7
    plain, scaled = sigma_calibration(error, sigma), sigma_calibration(-unit * error, unit * sigma)
    assert scaled.ratios == pytest.approx(plain.ratios, rel=1e-9)
    assert scaled.worst == pytest.approx(plain.worst, rel=1e-9)


def test_pixels_that_are_not_finite_do_not_count():
    error, sigma = np.arange(1.0, 41), np.arange(1.0, 41)
    plain = sigma_calibration(error[2:], sigma[2:])
    error[0], sigma[1] = NAN, np.inf
    assert sigma_calibration(error, sigma) == plain


@pytest.mark.parametrize(
    ("match", "arguments"),
    [
        ("error has 2 pixels but sigma 3: give the same pixels", ([1, 2], [1, 2, 3])),
        ("share no finite pixel", ([NAN, 1], [1, NAN])),
        ("sigma holds values of 0 or less", ([1.0, 1], [1.0, 0])),
        ("sigma holds values of 0 or less", ([1.0, 1], [1.0, -1])),
    ],
)
def test_sigma_input_errors(match, arguments):
    with pytest.raises(InputError, match=match):
        sigma_calibration(*arguments)


# ---- the benchmark -------------------------------------------------------------------------------


@pytest.fixture
def benchmark(benchmark_script):
    return benchmark_script("uncertainty")


def scene(truth, **options):
    blank = np.zeros(truth.shape, np.uint8)
    return Scene("s", blank, blank, None, truth.astype(np.float32), **options)


def test_errors_are_in_pixels_of_the_estimate(benchmark):
    rng = np.random.default_rng(0)
    d = rng.uniform(-4, 4, (60, 70))
    error = np.where(rng.random(d.shape) < 0.1, 0.3, 0.0)  # few, so that the fit is exact
    found = benchmark.signed_error(scene(0.8 * (d - error), in_pixels=True), d)
    assert np.isnan(found[:8]).all()
    np.testing.assert_allclose(found[8:-8, 8:-8], error[8:-8, 8:-8], atol=0.01)
    weight = np.ones(d.shape, np.float32)
    weight[:5] = 0.4
    found = benchmark.signed_error(scene(0.1 * (d - error) + 0.5, weight=weight), d)
    assert np.isnan(found[:5]).all()
    np.testing.assert_allclose(found[5:], error[5:], atol=0.01)
    with pytest.raises(InputError, match="scene s: the map falls where the truth rises"):
        benchmark.signed_error(scene(1 - d), d)


@pytest.fixture
def data(tmp_path):
    """One scene of simulated with a disparity of 1 px."""
    folder = tmp_path / "data/simulated/a"
    folder.mkdir(parents=True)
    for name, view in zip("lr", textured_pair((60, 70), 1.0), strict=True):
        cv2.imwrite(f"{folder}/{name}.png", np.rint(view).astype(np.uint8))
    np.save(folder / "d.npy", np.ones((60, 70), np.float32))
    return tmp_path / "data"


def test_the_benchmark_prints_a_table_for_each_set(benchmark, data, monkeypatch, capsys):
    rng = np.random.default_rng(0)

    def disparity(left, *_, **__):
        sigma = rng.uniform(0.01, 0.1, left.shape[:2])
        return SimpleNamespace(disparity=rng.normal(1, sigma), sigma=sigma)

    monkeypatch.setattr(benchmark.dualpix, "disparity", disparity)
    assert benchmark.main([str(data)]) == 0
    out = capsys.readouterr().out.splitlines()
    assert out[0].startswith("simulated: worst factor 1.")
    assert [line.split()[0] for line in out[1:]] == ["sigma,", "error,", "ratio"]
    assert [float(ratio) for ratio in out[3].split()[1:]] == pytest.approx([1] * 10, abs=0.3)


def test_the_benchmark_needs_a_sigma_and_a_set(benchmark, data, monkeypatch, capsys):
    monkeypatch.setattr(benchmark.dualpix, "disparity", lambda *_, **__: SimpleNamespace(disparity=None))
    assert benchmark.main([str(data)]) == 0
    assert capsys.readouterr().out == "Result has no sigma in this version of dualpix, so there is nothing to check\n"
    assert benchmark.main([str(data), "--set", "dslr"]) == 2
    assert "holds none of dslr" in capsys.readouterr().err
