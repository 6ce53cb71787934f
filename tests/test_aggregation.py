"""The aggregation kernels against the paths of the oracle."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import reference
import reference_stereo
from conftest import PLAIN_PASS, not_under
from dualpix import _core
from dualpix.method import aggregate as aggregation
from dualpix.method.aggregate import edge_weights
from dualpix.params import preset
from dualpix.types import Parabolas, Signs

SHAPES = [(1, 1), (1, 37), (37, 1), (2, 2), (8, 8), (9, 17), (23, 40), (31, 7), (17, 265)]  # the last has two strips
PAPER, EXACT, JUMPS = _core.Messages.paper, _core.Messages.exact, _core.Messages.jumps


def random_maps(shape, seed=0):
    """alpha, beta, guide with vertices in -5..5 and a guide with smooth parts and edges."""
    rng = np.random.default_rng(seed)
    alpha = rng.uniform(0, 2, shape) ** 3
    beta = -2 * alpha * rng.uniform(-5, 5, shape)
    guide = np.where(rng.uniform(size=shape) < 0.2, rng.uniform(0, 255, shape), 100) + rng.normal(0, 1, shape)
    return [m.astype(np.float32) for m in (alpha, beta, guide)]


def belief(alpha, beta, guide, params, passes, threads=1, **options):
    settings = params.aggregation
    weights = edge_weights(guide, settings, threads)
    return aggregation.aggregate(Parabolas(alpha, beta), weights, settings, passes, threads=threads, **options)


def aggregate(alpha, beta, guide, params, iterations, threads):
    found = belief(alpha, beta, guide, params, iterations, threads)
    np.testing.assert_array_equal(found.vertex, minimizer(found.A, found.B))
    return found.A, found.B


def minimizer(A, B):
    return Parabolas(A, B).disparity()


def one_pass(*maps, messages, **changes):
    _core.aggregate(*maps, messages=messages, **(PLAIN_PASS | changes))


def edge_codes(guide, paths=8, sigma=4.0):
    return edge_weights(guide, preset("dslr-a").replace(paths=paths, edge_sigma=sigma), threads=1)


EDGES = {(0, 1): 0, (1, 0): 1, (1, 1): 2, (1, -1): 3}  # from the pixel before, in the order they are kept


def kept_weight(guide, params):
    """w(p, q) as the kernels keep it: 5 bits of the exponent and 3 of the mantissa."""
    codes = edge_weights(guide, params, threads=1).astype(int)
    values = np.where(codes, np.ldexp(1 + codes % 8 / 8, codes // 8 - 31), 0)

    def weight(p, q):
        (y, x), (y0, x0) = max(p, q), min(p, q)
        return values[y, EDGES[y - y0, x - x0], x]

    return weight


def compare(alpha, beta, guide, params, iterations):
    A, B = aggregate(alpha.copy(), beta.copy(), guide, params, iterations, threads=2)
    expected_A, expected_B = reference.aggregate(
        *(m.astype(float) for m in (alpha, beta)),
        kept_weight(guide, params),
        params.penalty,
        params.paths,
        iterations,
        params.normalize_iterations,
    )
    np.testing.assert_allclose(A, expected_A, rtol=1e-4, atol=1e-6)
    scale = max(np.abs(expected_B).max(), 1e-6)
    np.testing.assert_allclose(B, expected_B, rtol=1e-4, atol=1e-5 * scale)
    solid = expected_A > 1e-3
    expected = reference.minimizer(expected_A, expected_B)
    np.testing.assert_allclose(minimizer(A, B)[solid], expected[solid], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("paths", [4, 8])
@pytest.mark.parametrize("shape", SHAPES)
def test_agrees_with_the_oracle(shape, paths):
    compare(*random_maps(shape), preset("dslr-a").replace(paths=paths), 1)


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("penalty", [0.3, 1.25, 30])
def test_iterations(penalty, normalize):
    params = preset("dslr-a").replace(penalty=penalty, normalize_iterations=normalize)
    compare(*random_maps((19, 26)), params, 3)


@settings(max_examples=30)
@given(
    st.data(),
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=12),
    st.floats(0.01, 1e3),
    st.floats(0.1, 1e3),
)
def test_any_maps(data, shape, penalty, sigma):
    def draw(low, high):
        return data.draw(hnp.arrays(np.float32, shape, elements=st.floats(low, high, width=32)))

    alpha, vertex, guide = draw(0, 64), draw(-32, 32), draw(0, 256)
    params = preset("dslr-a").replace(penalty=penalty, edge_sigma=sigma)
    compare(alpha, -2 * alpha * vertex, guide, params, 1)


HALF_A_BIT = 2**-4  # of the three that are kept


@pytest.mark.parametrize("paths", [4, 8])
@pytest.mark.parametrize("shape", [*SHAPES, (3, 701)])
@pytest.mark.parametrize("sigma", [0.1, 3, 1e3])
def test_edge_weights_are_rounded_to_three_bits(shape, sigma, paths):
    *_, guide = random_maps(shape)
    params = preset("dslr-a").replace(edge_sigma=sigma, paths=paths)
    kept, rounded = kept_weight(guide, params), reference.edge_weight(guide.astype(float), sigma)
    flipped, count = 0, 0
    for p in np.ndindex(shape):
        for dy, dx in list(EDGES)[: paths // 2]:
            q = p[0] - dy, p[1] - dx
            if q[0] >= 0 and 0 <= q[1] < shape[1]:
                exact = np.exp(-((float(guide[p]) - float(guide[q])) ** 2) / sigma**2)
                assert kept(p, q) == pytest.approx(exact, rel=HALF_A_BIT + 1e-4, abs=2.0**-30)
                flipped += kept(p, q) != rounded(p, q)
                count += 1
    assert flipped <= 0.02 * count  # next to where two roundings meet


def test_the_edge_weight_is_exp():
    """Pairs of pixels in one row, far apart from each other in the guide: A - 4 alpha = P w of the pair."""
    steps = np.linspace(0, 25, 3001, dtype=np.float32)
    offset = np.where(np.arange(steps.size) % 2, 1000, 0).astype(np.float32)
    guide = np.stack([offset, offset + steps], axis=1).reshape(1, -1)
    alpha = np.ones_like(guide)
    params = preset("dslr-a").replace(penalty=100, paths=4)
    A, _ = aggregate(alpha, alpha.copy(), guide, params, 1, threads=1)
    step = np.diff(guide.reshape(-1, 2).astype(float), axis=1)[:, 0]
    Pw = 100 * np.exp(-(step**2) / params.edge_sigma**2)
    np.testing.assert_allclose(A[0, 1::2], 4 + Pw, rtol=HALF_A_BIT)
    assert np.mean((A[0, 1::2] - 4) / Pw, where=Pw > 1) == pytest.approx(1, abs=0.01)  # rounded, not cut off


def test_the_weight_of_equal_pixels_is_1():
    *_, guide = random_maps((5, 9))
    weight = kept_weight(np.full_like(guide, 7), preset("dslr-a"))
    assert weight((1, 1), (0, 0)) == weight((4, 8), (4, 7)) == 1


def test_with_weights_that_are_not_rounded_little_changes():
    alpha, beta, guide = random_maps((13, 29))
    params = preset("dslr-a")
    A, B = aggregate(alpha.copy(), beta.copy(), guide, params, 2, threads=1)

    def weight(p, q):
        return np.exp(-((float(guide[p]) - float(guide[q])) ** 2) / params.edge_sigma**2)

    as_float = [m.astype(float) for m in (alpha, beta)]
    expected = reference.aggregate(*as_float, weight, params.penalty, params.paths, 2, False)
    np.testing.assert_allclose(A, expected[0], rtol=HALF_A_BIT)
    off = np.abs(minimizer(A, B) - reference.minimizer(*expected))
    assert off.mean() < 0.02
    assert off.max() < 0.1


@pytest.mark.parametrize("messages", ["paper", "exact", "jumps"])
def test_pixels_that_know_nothing_hear_nothing_across_a_hard_edge(messages):
    """Published messages grow with every step, so that the least bit that came across would count."""
    left = np.arange(200) < 100
    alpha = np.where(left, 1, 0) * np.ones((40, 1), np.float32)
    guide = np.where(left, 0, 255) * np.ones((40, 1), np.float32)
    alpha, guide = alpha.astype(np.float32), guide.astype(np.float32)
    params = preset("dslr-a").replace(messages=messages, **({"jump_penalty": 0.3} if messages == "jumps" else {}))
    A, B = aggregate(alpha, -10 * alpha, guide, params, 1, 1)
    assert not A[:, 100:].any()
    assert not B[:, 100:].any()


def test_a_guide_that_is_not_finite_is_an_edge():
    alpha, beta, guide = random_maps((12, 40))
    guide[5, 7], guide[6, 20] = np.nan, np.inf
    A, B = aggregate(alpha, beta, guide, exact_params(), 1, threads=1)
    assert np.isfinite(A).all()
    assert np.isfinite(B).all()
    np.testing.assert_allclose(A[5, 7], alpha[5, 7], rtol=1e-6)


@pytest.mark.parametrize("scale", [1e-20, 1e-10, 1, 1e10])
def test_messages_do_not_depend_on_the_unit_of_curvature(scale):
    alpha, beta, guide = random_maps((9, 30))
    A, B = aggregate(alpha.copy(), beta.copy(), guide, exact_params(), 1, threads=1)
    unit = np.float32(scale)
    scaled_A, scaled_B = aggregate(unit * alpha, unit * beta, guide, exact_params(), 1, threads=1)
    np.testing.assert_allclose(scaled_A / unit, A, rtol=1e-5)
    np.testing.assert_allclose(minimizer(scaled_A, scaled_B), minimizer(A, B), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("threads", [-1, 0, 1 << 30])
def test_any_number_of_threads_will_do(threads):
    alpha, beta, guide = random_maps((20, 300))
    A, _ = aggregate(alpha, beta, guide, exact_params(), 1, threads)
    expected, _ = aggregate(alpha, beta, guide, exact_params(), 1, threads=1)
    np.testing.assert_array_equal(A, expected)


@pytest.mark.parametrize("penalty", [1e-3, 1, 3.2, 1e3, 1e6])
def test_no_penalty_overflows_on_a_long_path(penalty):
    alpha, beta, _ = random_maps((3, 3000))
    guide = np.zeros_like(alpha)
    params = preset("dslr-a").replace(penalty=penalty)
    d = minimizer(*aggregate(alpha, beta, guide, params, 4, threads=1))
    assert np.isfinite(d).all()
    assert np.abs(d).max() <= 5.001  # never outside the vertices it started from


@pytest.mark.parametrize("penalty", [3.2, 1e3, 1e6])
@pytest.mark.parametrize("messages", ["paper", "exact"])
def test_hard_edges_and_pixels_that_know_nothing_leave_the_map_among_the_vertices(messages, penalty):
    rng = np.random.default_rng(1)
    alpha = (rng.uniform(0, 2, (40, 300)) * (rng.uniform(size=(40, 300)) < 0.3)).astype(np.float32)
    beta = -2 * alpha * rng.uniform(1, 5, alpha.shape).astype(np.float32)
    guide = rng.choice([0, 1, 20, 30, 255], alpha.shape).astype(np.float32)
    A, B = aggregate(alpha, beta, guide, preset("dslr-a").replace(messages=messages, penalty=penalty), 1, threads=1)
    assert np.isfinite(A).all()
    assert np.isfinite(B).all()
    d = minimizer(A, B)[A > 0]
    assert d.min() >= 0.999
    assert d.max() <= 5.001


def test_nothing_crosses_a_hard_edge():
    alpha = np.ones((12, 30), np.float32)
    beta = -2 * np.where(np.arange(30) < 15, 1.0, 4.0) * alpha
    guide = np.where(np.arange(30) < 15, 0, 255) * np.ones_like(alpha)
    params = preset("dslr-a").replace(penalty=100)
    A, B = aggregate(alpha, beta.astype(np.float32), guide.astype(np.float32), params, 2, threads=1)
    d = minimizer(A, B)
    np.testing.assert_allclose(d[:, :15], 1, atol=1e-4)
    np.testing.assert_allclose(d[:, 15:], 4, atol=1e-4)


def test_same_bytes_for_any_threads():
    alpha, beta, guide = random_maps((153, 1031))
    params = preset("dslr-a")
    runs = [aggregate(alpha.copy(), beta.copy(), guide, params, 2, threads) for threads in (1, 2, 5)]
    assert len({(A.tobytes(), B.tobytes()) for A, B in runs}) == 1


# ---- exact and robust messages ---------------------------------------------------------------------


def exact_params(**changes):
    return preset("dslr-a").replace(**({"messages": "exact", "penalty": 50, "edge_sigma": 30} | changes))


@pytest.mark.parametrize("paths", [4, 8])
@pytest.mark.parametrize("tau", [0, 0.5, (2, 0.5), (1, 0.5, 0.3), (0, 0.5)])
@pytest.mark.parametrize("shape", SHAPES)
def test_exact_messages_agree_with_the_oracle(shape, tau, paths):
    alpha, beta, guide = random_maps(shape)
    params = exact_params(robust_tau=tau, paths=paths)
    A, B = aggregate(alpha.copy(), beta.copy(), guide, params, 3, threads=2)
    as_float, weight = [m.astype(float) for m in (alpha, beta)], kept_weight(guide, params)
    expected = reference.aggregate_exact(*as_float, weight, params.penalty, paths, 3, tau)
    np.testing.assert_allclose(A, expected[0], rtol=1e-4)
    np.testing.assert_allclose(minimizer(A, B), reference.minimizer(*expected), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("first", "suspicion", "coarsest"), [(1, 1000, False), (0.02, 1000, False), (0.02, 0.2, False), (0.02, 0, True)]
)
@pytest.mark.parametrize("paths", [4, 8])
@pytest.mark.parametrize("r", [0.05, 0.3, 1e3])
@pytest.mark.parametrize("shape", SHAPES)
def test_one_sided_weights_and_a_weak_first_pass_agree_with_the_oracle(shape, r, paths, first, suspicion, coarsest):
    alpha, beta, guide = random_maps(shape)
    v = np.random.default_rng(7).normal(0, 1, shape).astype(np.float16)
    v[::3, ::2] = -np.inf  # nothing matched
    params = exact_params(robust_tau=0.5, paths=paths, fattening=r, first_penalty=first, suspicion=suspicion)
    found = one_sided_belief(alpha, beta, v, guide, params, threads=2, coarsest=coarsest)
    as_float, weight = [m.astype(float) for m in (alpha, beta)], kept_weight(guide, params)
    settings = weight, params.penalty, paths, 3, 0.5, v.astype(float), r
    slack = np.inf if suspicion == 1000 else suspicion
    A, B = reference.aggregate_exact(*as_float, *settings, first=first, slack=slack, coarsest=coarsest)
    np.testing.assert_allclose(found.A, A, rtol=1e-4)
    np.testing.assert_allclose(found.vertex, reference.minimizer(A, B), rtol=1e-4, atol=1e-4)
    again = one_sided_belief(alpha, beta, v, guide, params, threads=1, coarsest=coarsest)
    assert found.A.tobytes() == again.A.tobytes()


@pytest.mark.parametrize("slack", [0, 0.3, 1e6])
@pytest.mark.parametrize("scale", [1, 1e4, 1e7])
@pytest.mark.parametrize("shape", [*SHAPES, (1, 1), (1, 40), (40, 1), (70, 11)])
def test_suspects_are_limited_as_by_the_oracle(shape, scale, slack):
    """Halves round the limit; what is too large for them becomes the largest one."""
    rng = np.random.default_rng(5)
    v, d = rng.normal(0, 3, shape).astype(np.float16), (scale * rng.normal(0, 1, shape)).astype(np.float32)
    v[::3, ::2] = -np.inf  # nothing matched
    found = [np.empty(shape, np.float16) for _ in range(2)]
    for threads, limited in zip((1, 3), found, strict=True):
        _core.limit_suspects(v.view(np.uint16), d, limited.view(np.uint16), slack, threads)
    expected = reference.cleared(v.astype(float), d.astype(float), slack)
    np.testing.assert_allclose(found[0], expected, rtol=1e-3)  # d + slack is rounded to a float32 before
    assert found[0].tobytes() == found[1].tobytes()


@pytest.mark.parametrize("suspicion", [1000.0, 0.1])
@pytest.mark.parametrize("passes", [3, 4, 6])
def test_the_third_of_four_passes_looks_at_what_was_outlined(passes, suspicion):
    alpha, beta, guide = random_maps((20, 31))
    v = np.random.default_rng(7).normal(0, 1, alpha.shape).astype(np.float16)
    params = exact_params(robust_tau=0.5, fattening=0.3, suspicion=suspicion)
    weights = edge_weights(guide, params.aggregation, 1)

    def turned(d):
        d[:] = d[:, ::-1].copy()

    evidence = Parabolas(alpha.copy(), beta.copy(), matched=v)
    found = aggregation.aggregate(evidence, weights, params.aggregation, passes, outlined=turned, threads=2)
    as_float, weight = [m.astype(float) for m in (alpha, beta)], kept_weight(guide, params)
    settings = weight, params.penalty, params.paths, passes, 0.5, v.astype(float), 0.3
    slack = np.inf if suspicion == 1000 else suspicion
    A, B = reference.aggregate_exact(*as_float, *settings, slack=slack, outlined=lambda d: d[:, ::-1])
    np.testing.assert_allclose(found.A, A, rtol=1e-4)
    np.testing.assert_allclose(found.vertex, reference.minimizer(A, B), rtol=1e-4, atol=1e-4)


def test_passes_that_go_on_from_a_first_one_give_the_same_belief():
    alpha, beta, guide = random_maps((45, 37))
    params = exact_params(robust_tau=0.5, paths=8)
    weights = edge_weights(guide, params.aggregation, 1)
    told = {"messages": _core.Messages.exact, "penalty": 3.0, "scale": 1.0, "jump_penalty": 0.0, "farthest": 0.0}
    once, twice = ([np.empty_like(alpha) for _ in range(3)] for _ in range(2))

    def run(maps, **changes):
        _core.aggregate(alpha, beta, weights, *maps[:2], minimizer=maps[2], threads=2, **told, **changes)

    run(once, taus=[0.5, 0.1])
    run(twice, taus=[])
    run(twice, taus=[0.5, 0.1], begun=True)
    for a, b in zip(once, twice, strict=True):
        np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="must be followed by robust ones"):
        run(twice, taus=[], begun=True)


def one_sided_belief(alpha, beta, v, guide, params, threads, coarsest=False):
    evidence = Parabolas(alpha.copy(), beta.copy(), matched=v)
    weights = edge_weights(guide, params.aggregation, threads)
    return aggregation.aggregate(evidence, weights, params.aggregation, 3, coarsest=coarsest, threads=threads)


def wall(patch, values):
    """The beliefs about a wall at 0 px with such matches in a patch: without a bound of the pull, and with it."""
    v = np.random.default_rng(3).normal(0, 0.02, (48, 64))
    v[patch] = values
    alpha, guide = np.ones(v.shape, np.float32), np.zeros(v.shape, np.float32)
    params = exact_params(penalty=20.0, robust_tau=0.5, fattening=0.3)
    maps = alpha, (-2 * v).astype(np.float32), v.astype(np.float16), guide, params
    return (one_sided_belief(*maps, threads=1, coarsest=coarsest).vertex[patch] for coarsest in (False, True))


def test_noise_does_not_fall_behind_the_farthest_surface():
    """One-sided weights drop the near half of the noise. Their bias falls to less than half."""
    patch = np.s_[12:24, 20:32]
    drifted, held = wall(patch, np.random.default_rng(4).normal(0, 2, (12, 12)))
    assert np.median(drifted) < -0.5
    assert abs(np.median(held)) < 0.5 * abs(np.median(drifted))


def test_something_far_keeps_its_place():
    """A hole in the wall, 2 % of the picture: it is the farthest surface itself."""
    patch = np.s_[20:28, 30:38]
    free, held = wall(patch, -8.0)
    assert np.median(free) < -7.9
    np.testing.assert_allclose(np.median(held), np.median(free), atol=0.2)


def test_without_matches_nothing_is_held_back():
    alpha, beta, guide = random_maps((9, 11))
    params = exact_params(robust_tau=0.5, fattening=0.3)
    blank = np.full(alpha.shape, -np.inf, np.float16)
    free, held = (one_sided_belief(alpha, beta, blank, guide, params, 1, coarsest) for coarsest in (False, True))
    assert free.vertex.tobytes() == held.vertex.tobytes()


@pytest.mark.parametrize("v", [1.0, -1.0])
def test_only_a_match_that_is_too_near_loses_weight(v):
    """One match among many of 0 px: nearer, it hardly moves the map; farther, it counts no less than without."""
    alpha, beta, guide = np.ones((9, 9), np.float32), np.zeros((9, 9), np.float32), np.zeros((9, 9), np.float32)
    beta[4, 4] = -2 * v
    matched = np.where(beta == 0, 0, v).astype(np.float16)
    params = exact_params(robust_tau=50.0, fattening=0.1)
    plain, weighed = (one_sided_belief(alpha, beta, seen, guide, params, 1).vertex[4, 4] for seen in (None, matched))
    assert abs(plain) > 0.01
    assert abs(weighed) < 0.2 * abs(plain) if v > 0 else abs(weighed) >= abs(plain)


@pytest.mark.parametrize("K", [0.1, 10, 1e4])
def test_along_a_row_exact_messages_are_the_minimum_of_the_energy(K):
    """Forward + backward = the tridiagonal solution of sum alpha (d - v)^2 + P w (d_p - d_q)^2, curvature included."""
    alpha, beta, guide = random_maps((1, 40))
    A, B = aggregate(alpha.copy(), beta.copy(), guide, exact_params(penalty=K, paths=4), 1, threads=1)
    a, b = (m[0].astype(float) for m in (alpha, beta))
    weight = kept_weight(guide, exact_params(paths=4))
    Pw = K * a.mean() * np.array([weight((0, x), (0, x + 1)) for x in range(a.size - 1)])
    H = np.diag(a) + np.diag(np.r_[Pw, 0] + np.r_[0, Pw]) - np.diag(Pw, 1) - np.diag(Pw, -1)
    np.testing.assert_allclose(minimizer(A, B)[0], np.linalg.solve(H, -b / 2), rtol=1e-4, atol=1e-4)
    # What is left of the curvature when all other pixels give way: an inverse variance.
    np.testing.assert_allclose(A[0], 1 / np.diag(np.linalg.inv(H)), rtol=1e-3)


def test_robust_weights_minimise_over_all_other_pixels_by_brute_force():
    """Three pixels, robust weights by the disparities of a plain pass: brute force over a grid of the two others."""
    alpha = np.array([[1.0, 0.01, 2.0]], np.float32)
    v = np.array([0.0, 3.0, 4.0])
    beta = (-2 * alpha * v).astype(np.float32)
    A, B, d, found = (np.empty_like(alpha) for _ in range(4))
    weights = edge_codes(np.zeros_like(alpha), 4)
    one_pass(alpha, beta, weights, A, B, messages=EXACT, penalty=5, minimizer=d)
    assert np.ptp(d) > 0.7  # the weights differ
    one_pass(alpha, beta, weights, A, B, messages=EXACT, penalty=5, taus=[0.7], minimizer=found)
    w = 5 / (1 + np.diff(d[0]) ** 2 / 0.7**2) ** 2
    grid = np.linspace(-1, 5, 1201)
    d0, d1 = np.meshgrid(grid, grid, indexing="ij")
    # energy of pixel 1 after the best d0, then after the best d2
    from_left = (alpha[0, 0] * (d0 - v[0]) ** 2 + w[0] * (d1 - d0) ** 2).min(axis=0)
    from_right = (alpha[0, 2] * (d0 - v[2]) ** 2 + w[1] * (d1 - d0) ** 2).min(axis=0)
    total = alpha[0, 1] * (grid - v[1]) ** 2 + from_left + from_right
    assert minimizer(A, B)[0, 1] == pytest.approx(grid[np.argmin(total)], abs=0.01)


@pytest.mark.parametrize("penalty", [1e-6, 1, 5000, 1e6])
def test_no_exact_penalty_overflows(penalty):
    alpha, beta, _ = random_maps((5, 3000))
    params = exact_params(penalty=penalty, robust_tau=0.05)
    A, B = aggregate(alpha, beta, np.zeros_like(alpha), params, 4, threads=1)
    assert np.isfinite(A).all()
    d = minimizer(A, B)
    assert np.isfinite(d).all()
    assert np.abs(d).max() <= 5.001


def test_a_tolerance_of_next_to_nothing_stays_finite():
    """Pixels that agree to the last bit, here those left of a hard edge, go on helping each other."""
    alpha, beta, guide = random_maps((20, 30))
    beta[:, :15], guide[:, :15] = 0, -1000
    (A, B), (usual, _) = (
        aggregate(alpha, beta, guide, exact_params(robust_tau=tau), 4, threads=1) for tau in (1e-30, 1)
    )
    assert np.isfinite(A).all()
    assert np.abs(minimizer(A, B)).max() <= 5.001
    np.testing.assert_array_equal(A[:, :15], usual[:, :15])


def test_nothing_known_stays_nothing():
    zero = np.zeros((6, 7), np.float32)
    A, B = aggregate(zero.copy(), zero.copy(), zero, exact_params(robust_tau=0.1), 3, threads=1)
    assert not A.any()
    assert not minimizer(A, B).any()


@pytest.mark.parametrize("alpha", [0.0, -1.0, np.nan])
def test_a_pixel_without_curvature_is_no_evidence_whatever_its_beta(alpha):
    maps = random_maps((9, 40))
    blank, odd = ([m.copy() for m in maps] for _ in range(2))
    blank[0][4, 20] = blank[1][4, 20] = 0
    odd[0][4, 20], odd[1][4, 20] = alpha, 7
    params = preset("auto")
    expected, found = (belief(*each, params, 2, curvature=1.0) for each in (blank, odd))
    np.testing.assert_array_equal(found.A, expected.A)
    np.testing.assert_array_equal(found.B, expected.B)


def test_a_step_stays_a_step():
    """Noisy vertices on both sides of a depth edge the guide does not show: only robust weights keep it."""
    rng = np.random.default_rng(0)
    truth = np.where(np.arange(80) < 40, 0.0, 2.0) * np.ones((60, 1))
    alpha = np.ones(truth.shape, np.float32)
    beta = (-2 * (truth + rng.normal(0, 0.3, truth.shape))).astype(np.float32)
    guide = np.zeros_like(alpha)

    def width(tau):
        d = minimizer(*aggregate(alpha.copy(), beta.copy(), guide, exact_params(penalty=300, robust_tau=tau), 8, 1))
        profile = np.median(d, axis=0)
        return ((profile > 0.2) & (profile < 1.8)).sum(), np.abs(d - truth)[:, np.abs(np.arange(80) - 39.5) > 5].mean()

    smeared, _ = width(0)
    sharp, error = width(0.1)
    assert smeared >= 8
    assert sharp <= 2
    assert error < 0.08


def test_exact_same_bytes_for_any_threads():
    alpha, beta, guide = random_maps((153, 1031))
    runs = [aggregate(alpha, beta, guide, exact_params(robust_tau=0.1), 3, threads) for threads in (1, 2, 5)]
    assert len({(A.tobytes(), B.tobytes()) for A, B in runs}) == 1


# ---- the published rules for jumps ------------------------------------------------------------------


def jump_params(**changes):
    return preset("stereo-paper").replace(**changes)


def jumpy_maps(shape, seed=0):
    """Vertices of three depths and noise; curvatures over many orders, so that some pixels are 1000 times surer."""
    rng = np.random.default_rng(seed)
    alpha = 10 ** rng.choice([-6.0, -2.0, 0.5], shape) * rng.uniform(0.5, 2, shape)
    vertex = rng.choice([5, 8, 30], shape) + rng.uniform(-0.9, 0.9, shape)
    guide = np.where(rng.uniform(size=shape) < 0.3, rng.uniform(0, 20, shape), 10)
    return [m.astype(np.float32) for m in (alpha, -2 * alpha * vertex, guide)]


@pytest.mark.parametrize("paths", [4, 8])
@pytest.mark.parametrize("shape", SHAPES)
def test_jumps_agree_with_the_oracle(shape, paths):
    alpha, beta, guide = jumpy_maps(shape)
    for iterations in (1, 2, 3, 4):
        params = jump_params(paths=paths, jump_penalty=0.3)
        A, B = aggregate(alpha.copy(), beta.copy(), guide, params, iterations, threads=2)
        as_float, weight = [m.astype(float) for m in (alpha, beta)], kept_weight(guide, params)
        expected = reference_stereo.aggregate_with_jumps(*as_float, weight, 1, 0.3, paths, iterations)
        np.testing.assert_allclose(A, expected[0], rtol=1e-3)
        np.testing.assert_allclose(minimizer(A, B), reference.minimizer(*expected), rtol=1e-3, atol=1e-3)


def along_two(alpha, vertex, guide=(0, 0), farthest=2.0, penalty=1.0, jump_penalty=0.05):
    """A and the vertex of the second of two pixels in a row, less what the other paths bring of its own term."""
    alpha, guide = (np.array([values], np.float32) for values in (alpha, guide))
    beta = -2 * alpha * np.array([vertex], np.float32)
    A, B = np.empty_like(alpha), np.empty_like(alpha)
    penalties = {"penalty": penalty, "jump_penalty": jump_penalty, "farthest": farthest}
    one_pass(alpha, beta, edge_codes(guide, 4), A, B, messages=JUMPS, **penalties)
    A, B = A[0, 1] - 3 * alpha[0, 1], B[0, 1] - 3 * beta[0, 1]
    return A, -B / (2 * A)


@pytest.mark.parametrize("alpha", [(0.5, 0.25), (8.0, 0.25), (0.5, 1e-3)])
@pytest.mark.parametrize(
    ("jump", "farthest", "P"), [(0, 2, 1), (1.99, 2, 1), (1.99, 0, 1), (1.99, 180, 1), (2, 180, 0.05), (179, 180, 0.05)]
)
def test_a_step_of_so_many_px_is_smoothed_with_P1_or_P2(alpha, jump, farthest, P):
    message = P * min(alpha[0], 1)
    A = alpha[1] + message
    expected = (alpha[1] * (10 + jump) + message * 10) / A
    found = along_two(alpha, (10, 10 + jump), farthest=farthest)
    np.testing.assert_allclose(found, (A, expected), rtol=1e-4)


@pytest.mark.parametrize(("jump", "farthest"), [(2, 2), (-3, 2), (181, 180)])
@pytest.mark.parametrize(
    ("sure", "contrast", "taken"), [(1001, 0, True), (999, 0, False), (1001, 3.3, True), (1001, 3.5, False)]
)
def test_what_jumps_further_is_taken_over_or_left_alone(jump, farthest, sure, contrast, taken):
    """exp(-(c / 4)^2) is a half at c = 3.33, and rounds to a half up to c = 3.41."""
    found = along_two((sure * 0.01, 0.01), (200, 200 + jump), (0, contrast), farthest)
    expected = (sure * 0.01, 200) if taken else (0.01, 200 + jump)
    np.testing.assert_allclose(found, expected, rtol=1e-3)


@pytest.mark.parametrize("penalty", [1e-3, 1, 1e6])
def test_jumps_stay_finite_and_among_the_vertices(penalty):
    alpha, beta, guide = jumpy_maps((20, 700))
    alpha[:, 300:400] = beta[:, 300:400] = 0
    A, B = aggregate(alpha, beta, guide, jump_params(penalty=penalty, jump_penalty=penalty), 12, threads=1)
    assert np.isfinite(A).all()
    d = minimizer(A, B)[A > 0]
    assert d.min() >= 4.09
    assert d.max() <= 30.91


def test_jumps_same_bytes_for_any_threads():
    alpha, beta, guide = jumpy_maps((53, 1031))
    runs = [aggregate(alpha.copy(), beta.copy(), guide, jump_params(), 4, threads) for threads in (1, 2, 3, 5)]
    assert len({(A.tobytes(), B.tobytes()) for A, B in runs}) == 1


@pytest.mark.parametrize("tau", [0.5, (1, 0.5, 0.3), (3, 0)])
def test_several_tolerances_are_taken_one_after_the_other(tau):
    alpha, beta, guide = random_maps((12, 19))
    params = exact_params(robust_tau=tau)
    found = [minimizer(*aggregate(alpha, beta, guide, params, n, threads=1)) for n in range(1, 6)]
    as_float, weight = [m.astype(float) for m in (alpha, beta)], kept_weight(guide, params)
    for n, d in enumerate(found, 1):
        expected = reference.minimizer(*reference.aggregate_exact(*as_float, weight, 50, 8, n, tau))
        np.testing.assert_allclose(d, expected, rtol=1e-4, atol=1e-4)
    assert all(np.abs(a - b).max() > 1e-4 for a, b in pairwise(found[:3]))


# ---- what the kernel refuses --------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space the Linux way")
@not_under("a sanitizer reserves terabytes of addresses", "asan", "tsan")
def test_threads_and_memory_that_cannot_be_had_are_no_crash():
    """In a process of its own with little address space: fewer threads, or a MemoryError, never an abort."""
    code = """
import resource, numpy as np
from dualpix import _core
maps = [np.random.default_rng(0).uniform(0, 1, (512, 8192)).astype(np.float32) for _ in range(5)]
maps[2], d = np.full((512, 4, 8192), 31 << 3, np.uint8), np.empty((512, 8192), np.float32)
resource.setrlimit(resource.RLIMIT_AS, (int(open('/proc/self/statm').read().split()[0]) * 4096 + MARGIN,) * 2)
try:
    for threads in (64, 1):
        _core.aggregate(
            *maps, messages=_core.Messages.exact, penalty=1, taus=[0.5, 0.5], scale=1, jump_penalty=0, farthest=0,
            threads=threads, minimizer=d
        )
        found = d.copy() if threads > 1 else found
    print("done", np.array_equal(found, d))
except MemoryError:
    print("MemoryError")
"""
    seen = set()
    for margin in (20_000_000, 150_000_000, 8_000_000_000):  # too little for maps, for 64 stacks, enough
        run = subprocess.run(
            [sys.executable, "-c", code.replace("MARGIN", str(margin))], capture_output=True, text=True, check=False
        )
        assert run.returncode == 0, run.stderr
        seen.add(run.stdout.strip())
    assert seen == {"MemoryError", "done True"}


def test_the_kernel_refuses_what_it_cannot_read():
    maps = [np.zeros((4, 5), np.float32) for _ in range(5)]
    maps[2] = np.zeros((4, 4, 5), np.uint8)
    d = np.zeros((4, 5), np.float32)
    for tau in (-1, float("nan")):
        with pytest.raises(ValueError, match="taus must not be below 0"):
            one_pass(*maps, messages=EXACT, taus=[0.5, tau], minimizer=d)
    with pytest.raises(ValueError, match="only exact messages have robust passes"):
        one_pass(*maps, messages=PAPER, taus=[0.5], minimizer=d)
    with pytest.raises(ValueError, match="robust passes need a minimizer"):
        one_pass(*maps, messages=EXACT, taus=[0.5])
    with pytest.raises(ValueError, match="fattening must be above 0"):
        one_pass(*maps, messages=EXACT, vertex=np.zeros((4, 5), np.uint16), fattening=0)
    for first in (0, -1, float("nan")):
        with pytest.raises(ValueError, match="first must be above 0"):
            one_pass(*maps, messages=EXACT, first=first)
    with pytest.raises(ValueError, match="only exact messages have a weaker first pass"):
        one_pass(*maps, messages=PAPER, first=0.5)
    with pytest.raises(TypeError):
        one_pass(*maps[:4], maps[4].astype(np.float64), messages=PAPER)


@pytest.mark.parametrize(
    ("shape", "reason"), [((4, 3, 5), "2 or 4 edges"), ((5, 4, 5), "height and width"), ((4, 4, 4), "height and width")]
)
def test_weights_must_be_those_of_the_image(shape, reason):
    alpha, beta, A, B = np.zeros((4, 4, 5), np.float32)
    weights = np.zeros(shape, np.uint8)
    with pytest.raises(ValueError, match=reason):
        one_pass(alpha, beta, weights, A, B, messages=PAPER)
    with pytest.raises(ValueError, match=reason):
        _core.edge_weights(alpha, weights, 1, 1)


@pytest.mark.parametrize("paths", [4, 8])
@pytest.mark.parametrize("shape", [(9, 13), (8, 16), (3, 37)])
def test_edges_count_by_their_share(shape, paths):
    *_, guide = random_maps(shape)
    coarser = np.random.default_rng(1).uniform(0, 0.3, [-(-n // 4) for n in shape]).astype(np.float32)
    params = preset("auto").replace(paths=paths, edge_sigma=20.0, flat=0.05)
    codes = edge_weights(guide, params.aggregation, 1, Signs(coarser=coarser, span=4.0)).astype(int)
    kept = np.where(codes, np.ldexp(1 + codes % 8 / 8, codes // 8 - 31), 0)
    R = reference.span(coarser.astype(float), 11)
    exact = reference.edge_weight(guide.astype(float), 20.0, R**2 / (R**2 + (0.05 * 4) ** 2))
    for y, x in np.ndindex(shape):
        for (dy, dx), edge in list(EDGES.items())[: paths // 2]:
            if y >= dy and 0 <= x - dx < shape[1]:
                assert kept[y, edge, x] == pytest.approx(exact((y, x), (y - dy, x - dx)), rel=2e-3, abs=2.0**-30)


def test_spreads_must_fit_the_guide():
    guide, weights = np.zeros((5, 8), np.float32), np.zeros((5, 4, 8), np.uint8)
    for shape in ((1, 2), (2, 3)):
        with pytest.raises(ValueError, match="a quarter of the guide's"):
            _core.edge_weights(guide, weights, 1, 1, np.ones(shape, np.float32))


@pytest.mark.parametrize("sigma", [0, 1e-25, -1, float("nan")])
def test_weights_need_a_sigma(sigma):
    with pytest.raises(ValueError, match="sigma"):
        _core.edge_weights(np.zeros((4, 5), np.float32), np.zeros((4, 4, 5), np.uint8), sigma, 1)


# ---- the minimiser that a pass may write ----------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (17, 40), (40, 600), (600, 40), (73, 1031), (24, 2100), (9, 4200)])
@pytest.mark.parametrize("passes", [1, 2, 3, 4])
def test_passes_that_follow_each_other_are_the_same_for_any_threads(shape, passes):
    rng = np.random.default_rng(8)
    alpha, beta, guide = (rng.uniform(0, 5, shape).astype(np.float32) for _ in range(3))
    v = rng.normal(0, 1, shape).astype(np.float16).view(np.uint16)
    found = []
    for threads in (1, 2, 3, 8):
        A, B, d = (np.empty_like(alpha) for _ in range(3))
        settings = {"messages": EXACT, "penalty": 5, "taus": [0.1] * (passes - 1), "threads": threads}
        one_pass(alpha, beta, edge_codes(guide), A, B, minimizer=d, vertex=v, fattening=0.3, **settings)
        np.testing.assert_array_equal(d, minimizer(A, B))
        found.append(A.tobytes() + B.tobytes())
    assert len(set(found)) == 1


def test_the_minimiser_is_0_where_nothing_is_known():
    A, B = np.array([[0, 2, 0]], np.float32), np.array([[3, -3, 0]], np.float32)
    np.testing.assert_array_equal(minimizer(A, B), [[0, 0.75, 0]])


# ---- memory -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("messages", ["paper", "exact"])
@pytest.mark.parametrize("number", [0, 1, 2, 3, 4])
def test_spare_maps_are_used_and_let_go_of(messages, number):
    alpha, beta, guide = random_maps((20, 33))
    params = exact_params(robust_tau=0.3).replace(messages=messages)
    expected = belief(alpha.copy(), beta.copy(), guide, params, 3)
    spare = [np.full_like(alpha, np.nan) for _ in range(number)]
    maps = [*spare]
    found = belief(alpha.copy(), beta.copy(), guide, params, 3, spare=spare)
    for name in ("A", "B", "vertex"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert spare == []
    assert sum(not np.isnan(each).all() for each in maps) == min(number, 2 if messages == "paper" else 3)


# ---- the unit of the penalty ------------------------------------------------------------------------


def test_the_mean_curvature_is_recorded_and_may_be_given():
    """A tile smooths as the whole picture does if it is given the mean curvature of that."""
    alpha, beta, guide = random_maps((40, 60))
    whole = belief(alpha.copy(), beta.copy(), guide, exact_params(), 1)
    assert whole.curvatures == pytest.approx((alpha.mean(dtype=np.float64),), rel=1e-12)
    again = belief(alpha.copy(), beta.copy(), guide, exact_params(), 1, curvature=whole.curvatures[0])
    np.testing.assert_array_equal(again.A, whole.A)
    other = belief(alpha.copy(), beta.copy(), guide, exact_params(), 1, curvature=2 * whole.curvatures[0])
    doubled = belief(alpha.copy(), beta.copy(), guide, exact_params(penalty=100), 1)
    np.testing.assert_array_equal(other.A, doubled.A)
