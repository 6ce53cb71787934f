"""The kernel that adds priors to the local parabolas, against the oracle."""

import numpy as np
import pytest

import reference
from dualpix import _core
from dualpix.types import as_row


def parabolas(shape, seed=0):
    """alpha, beta with vertices in -5..5."""
    rng = np.random.default_rng(seed)
    alpha = rng.uniform(0, 2, shape) ** 3
    beta = -2 * alpha * rng.uniform(-5, 5, shape)
    return alpha.astype(np.float32), beta.astype(np.float32)


def condition(alpha, beta, divisor, priors=(), threads=2):
    alpha, beta = alpha.copy(), beta.copy()
    _core.condition(alpha, beta, as_row(divisor), priors=priors, invalid_threshold=0.04, threads=threads)
    return alpha, beta


def some_prior(shape, factor, weight=0.3, limit=0.0, seed=1):
    return *parabolas([-(-n // factor) for n in shape], seed), factor, weight, limit


def compare_condition(alpha, beta, priors):
    """The kernel against the oracle; the same bytes for any number of threads."""
    divisor = np.linspace(1, 9, alpha.shape[1])
    expected = reference.condition(alpha.astype(float), beta.astype(float), divisor, priors, 0.04)
    found = condition(alpha, beta, divisor, priors, threads=1)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-5, atol=1e-36)  # float32 ends there
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-5, atol=1e-6 * max(1, np.abs(expected[1]).max()))
    for each, other in zip(found, condition(alpha, beta, divisor, priors, threads=3), strict=True):
        assert each.tobytes() == other.tobytes()


# Factors and limits of the priors, in their order.
PRIORS = {
    "none": [],
    "coarser scale": [(2, 0)],
    "coarser scale, limited": [(2, 0.2)],
    "same size": [(1, 0)],
    "same size, limited": [(1, 0.2)],
    "both": [(2, 0.2), (1, 0)],
    "both, the other way round": [(1, 3), (2, 0)],
    "seven": [(1, 0), (2, 0.5), (2, 0), (1, 1), (1, 9), (2, 0.1), (1, 0.3)],
}


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (1, 9), (9, 1), (8, 10), (13, 17), (70, 31)])
@pytest.mark.parametrize("kinds", PRIORS.values(), ids=PRIORS)
def test_condition_is_border_priors_and_invalidation(shape, kinds):
    priors = [some_prior(shape, *kind, seed) for seed, kind in enumerate(((f, 0.3, limit) for f, limit in kinds), 1)]
    compare_condition(*parabolas(shape), priors)


@pytest.mark.parametrize("factor", [1, 2])
@pytest.mark.parametrize("weight", [0, 1e-30, 1e6])
@pytest.mark.parametrize("limit", [0, 1e-6, 1e30])
@pytest.mark.parametrize("A", [0, 1e-30, 1e30])
def test_condition_of_extreme_priors(factor, weight, limit, A):
    alpha, beta = parabolas((5, 7))
    alpha[1:3], beta[1:3] = [[0], [1e-30]], [[0], [1e-30]]
    prior = some_prior((5, 7), factor, weight, limit)
    prior[0][...], prior[1][...] = A, -2 * A
    compare_condition(alpha, beta, [prior])


def test_a_prior_of_the_same_size_is_the_parabola_that_is_added():
    alpha, beta = parabolas((4, 5))
    A, B, *_ = prior = some_prior((4, 5), 1, weight=1)
    found = condition(alpha + 1, beta, np.ones(5), [prior])
    np.testing.assert_array_equal(found, (alpha + 1 + A, beta + B))


def test_priors_may_be_any_sequence_and_are_left_as_they_are():
    alpha, beta = parabolas((4, 5))
    priors = [some_prior((4, 5), 1), some_prior((4, 5), 2)]
    before = [[each.copy() for each in prior[:2]] for prior in priors]
    found = [condition(alpha, beta, np.ones(5), kind(priors)) for kind in (list, tuple)]
    np.testing.assert_array_equal(*found)
    for prior, (A, B) in zip(priors, before, strict=True):
        np.testing.assert_array_equal(prior[0], A)
        np.testing.assert_array_equal(prior[1], B)


def test_priors_are_bounded_only_by_memory():
    alpha, beta = parabolas((4, 5))
    one = some_prior((4, 5), 1, weight=1e-3)
    found = condition(alpha, beta, np.ones(5), [one] * 1000)
    expected = condition(alpha, beta, np.ones(5), [(*one[:3], 1.0, 0.0)])
    np.testing.assert_allclose(found, expected, rtol=1e-4)


@pytest.mark.parametrize(
    ("shape", "factor", "change", "message"),
    [
        ((4, 5), 2, {}, "factor 2 must be half the size of alpha, rounded up"),
        ((2, 2), 2, {}, "factor 2 must be half the size of alpha, rounded up"),
        ((2, 3), 1, {}, "factor 1 must have the shape of alpha"),
        ((0, 0), 1, {}, "factor 1 must have the shape of alpha"),
        *[((4, 5), factor, {}, "factor of a prior must be 1 or 2") for factor in (0, 3, 4, -1)],
        ((4, 5), 1, {"B": (4, 6)}, "A and B of a prior must have the same shape"),
        ((4, 5), 1, {"weight": -1.0}, "weight and limit of a prior must not be below 0"),
        ((4, 5), 1, {"weight": float("nan")}, "weight and limit of a prior must not be below 0"),
        ((4, 5), 1, {"limit": -1.0}, "weight and limit of a prior must not be below 0"),
    ],
)
def test_condition_refuses_a_prior(shape, factor, change, message):
    """Whichever of the priors it is, nothing is written."""
    alpha, beta = parabolas((4, 5))
    A, B = np.ones(shape, np.float32), np.ones(change.get("B", shape), np.float32)
    wrong = A, B, factor, change.get("weight", 1.0), change.get("limit", 0.0)
    before = alpha.copy(), beta.copy()
    for priors in ([wrong], [some_prior((4, 5), 2), wrong]):
        with pytest.raises(ValueError, match=message):
            _core.condition(alpha, beta, as_row(np.ones(5)), priors=priors, invalid_threshold=0.04, threads=1)
    np.testing.assert_array_equal((alpha, beta), before)


@pytest.mark.parametrize("priors", [None, 1, [None], [(1, 2, 3, 4, 5)], [()], [some_prior((4, 5), 1)[:4]]])
def test_condition_refuses_what_is_no_prior(priors):
    alpha, beta = parabolas((4, 5))
    with pytest.raises(TypeError):
        _core.condition(alpha, beta, as_row(np.ones(5)), priors=priors, invalid_threshold=0.04, threads=1)


def test_condition_keeps_the_vertices_of_the_matches():
    alpha, beta = parabolas((13, 17))
    alpha[3, 4] = beta[3, 4] = 0
    alpha[5, 6], beta[5, 6] = 1, -1e6  # farther than any half float
    alpha[7, 8], beta[7, 8] = 1, 1e-5  # below the normal ones
    v = np.empty(alpha.shape, np.float16)
    vertices = np.clip(np.float32(-0.5) * beta / np.maximum(alpha, np.float32(1e-30)), -65504, 65504)
    expected = np.where(alpha > 0, vertices, -np.inf).astype(np.float16)
    divisor = np.linspace(1, 9, 17, dtype=np.float32)
    prior = some_prior((13, 17), 1, 0.3, 0, 1)
    _core.condition(alpha, beta, divisor, priors=[prior], invalid_threshold=0.04, threads=2, vertex=v.view(np.uint16))
    np.testing.assert_array_equal(v, expected)
