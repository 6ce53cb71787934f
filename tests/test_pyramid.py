"""Pyramid and coarse-to-fine driver, apart from any matching."""

import math

import numpy as np
import pytest

import reference
from dualpix import _core
from dualpix.method.scales import (
    FIRST_REACH,
    TILE_MARGIN,
    Coefficients,
    Level,
    around,
    at_most,
    coarse_to_fine,
    covering,
    explore,
    narrowed,
    pyramid,
    searched,
    tile_ranges,
)

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("shape", [(1, 1), (1, 8), (9, 1), (2, 3), (5, 5), (40, 67), (200, 33)])
def test_half_size(shape):
    image = RNG.uniform(0, 255, shape).astype(np.float32)
    coarse, _ = pyramid(Level(image, image, image), 2, threads=2)
    np.testing.assert_allclose(coarse.left, reference.pyramid_down(image.astype(float)), rtol=1e-5)


def test_a_ramp_keeps_its_grid():
    """Pixel i of the half-size image lies at pixel 2 i: half a pixel is easily lost here."""
    ramp = np.tile(np.arange(40, dtype=np.float32), (6, 1))
    coarse, _ = pyramid(Level(ramp, ramp, ramp), 2, threads=1)
    np.testing.assert_allclose(coarse.left[:, 1:-1], ramp[:3, 2:-2:2], atol=1e-5)
    np.testing.assert_allclose(reference.upsample(coarse.left, ramp.shape)[:, 2:-4], ramp[:, 2:-4], atol=1e-5)


def test_a_grey_guide_is_not_computed_twice():
    image, right = (RNG.uniform(0, 255, (20, 20)).astype(np.float32) for _ in range(2))
    coarse, fine = pyramid(Level(image, right, image), 2, threads=1)
    assert coarse.guide is coarse.left
    assert fine.guide is image


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
    found = narrowed(searched(limits, 1), Coefficients(A, B))
    assert list(found) == list(reference.next_range(fine, limits, 1))
    assert len(found) >= 3


def test_any_solver_goes_from_coarse_to_fine():
    levels = pyramid(Level(*[np.zeros((16, 24), np.float32)] * 3), 3, threads=1)
    calls = []

    def solve(level, disparities, prior, scale):
        calls.append((level.left.shape, disparities, None if prior is None else prior.A.shape, scale))
        d = np.full(level.left.shape, 2.0**scale, np.float32)
        return Coefficients(np.ones_like(d), -2 * d)

    A, B = coarse_to_fine(levels, solve, (-8, 8))
    assert A.shape == B.shape == (16, 24)
    assert calls == [
        ((4, 6), range(-3, 4), None, 0),
        ((8, 12), range(5), (4, 6), 1),
        ((16, 24), range(2, 7), (8, 12), 2),
    ]


def flat(shape, d):
    A = np.ones(shape, np.float32)
    return Coefficients(A, -2 * A * np.float32(d))


def test_one_wild_pixel_does_not_widen_the_range():
    A, B = flat((60, 60), 0.5)
    B[30, 30] = 2 * 500
    assert covering(Coefficients(A, B)) == range(-1, 4)


@pytest.mark.parametrize(("curvature", "covered"), [(1, True), (1e-3, False)])
@pytest.mark.parametrize("far", [6, -6])
def test_a_hundredth_of_the_pixels_counts_if_it_knows_anything(far, curvature, covered):
    d, A = np.full((60, 60), 0.5, np.float32), np.ones((60, 60), np.float32)
    d[:6, :6], A[:6, :6] = far, curvature
    assert (2 * far in covering(Coefficients(A, -2 * A * d))) == covered


@pytest.mark.parametrize(("d", "reaches"), [(0.3, [4]), (2.9, [4]), (3.5, [4, 8]), (-9, [4, 8, 16])])
def test_the_coarsest_scale_looks_as_far_as_it_finds(d, reaches):
    level = Level(*[np.zeros((50, 60), np.float32)] * 3)
    tried = []

    def solve(_, disparities, prior, scale):
        assert (prior, scale) == (None, 0)
        tried.append(max(-disparities[0], disparities[-1]) - 1)
        return flat((50, 60), np.clip(d, -tried[-1], tried[-1]))

    explore(level, solve)
    assert tried[:-1] == reaches
    assert tried[-1] == 2 + abs(math.floor(d) if d < 0 else math.ceil(d)) - 1  # once more, around what was found


@pytest.mark.parametrize(("width", "reaches"), [(60, [4, 8, 16]), (96, [4, 8, 16, 32]), (95, [4, 8, 16])])
def test_the_range_found_never_exceeds_a_third_of_the_image(width, reaches):
    """Even if the pixels are surer the further they look."""
    level = Level(*[np.zeros((50, width), np.float32)] * 3)
    tried = []

    def solve(_, disparities, *__):
        tried.append(disparities)
        A, B = flat((50, width), disparities[-1] - 1)
        return Coefficients(len(tried) * A, len(tried) * B)

    explore(level, solve)
    assert tried == [*(range(-reach - 1, reach + 2) for reach in reaches), around(reaches[-1], reaches[-1])]


def test_where_nothing_can_be_found_the_first_range_will_do():
    """Pixels at the ends of any range, and the less sure the wider it is: noise."""
    level = Level(*[np.zeros((50, 200), np.float32)] * 3)
    tried = []

    def solve(_, disparities, *__):
        tried.append(disparities)
        d = np.linspace(disparities[0], disparities[-1], 10_000, dtype=np.float32).reshape(50, 200)
        A = np.full_like(d, 1 / len(disparities))
        return Coefficients(A, -2 * A * d)

    explore(level, solve)
    assert len(tried) > 3
    assert tried[-1] == around(-FIRST_REACH, FIRST_REACH)


# ---- one range a tile -----------------------------------------------------------------------------


def coefficients(d):
    A = RNG.uniform(0.5, 2, d.shape).astype(np.float32)
    return Coefficients(A, (-2 * A * d).astype(np.float32))


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
def test_the_finest_level_that_is_small_enough_need_not_be_one_of_those_given(pixels, expected):
    view = np.zeros((80, 100), np.float32)
    levels = pyramid(Level(view, view, view), 2, 1)
    assert at_most(levels, pixels, 1).left.shape == expected
