"""Pyramid and coarse-to-fine driver, apart from any matching."""

import numpy as np
import pytest

import reference
from dualpix.pyramid import Coefficients, Level, coarse_to_fine, narrowed, pyramid, searched

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
