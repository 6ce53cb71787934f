"""The detail kernel against its equation."""

import numpy as np
import pytest

from dualpix.method.grey import detail

RNG = np.random.default_rng(3)


def reference(image):
    """``I - sum w I_q / sum w`` over a disc of radius 7, as core/bilateral.h has it."""
    h, w = image.shape
    padded = np.pad(image.astype(float), 7, mode="symmetric")
    total, weights = np.zeros((h, w)), np.zeros((h, w))
    for dy in range(-7, 8):
        for dx in range(-7, 8):
            if dy**2 + dx**2 <= 49:
                q = padded[7 + dy : 7 + dy + h, 7 + dx : 7 + dx + w]
                weight = np.exp(-(dy**2 + dx**2) / (2 * 3**2) - (q - image) ** 2 / (2 * 20**2))
                total += weight * q
                weights += weight
    return image - total / weights


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (9, 1), (7, 3), (31, 33), (64, 50), (97, 41)])
@pytest.mark.parametrize("contrast", [0.1, 30, 255, 1e4])
def test_it_is_the_equation(shape, contrast):
    image = (contrast * RNG.random(shape)).astype(np.float32)
    np.testing.assert_allclose(detail(image, 2), reference(image), atol=3e-6 * contrast + 1e-6)


def test_a_step_keeps_its_detail_small_and_texture_stays():
    step = np.where(np.arange(80) < 40, 20, 220) * np.ones((60, 80))
    texture = RNG.normal(0, 5, step.shape)
    kept = detail((step + texture).astype(np.float32), 2)
    assert np.abs(detail(step.astype(np.float32), 2)).max() < 1e-3
    assert np.corrcoef(kept.ravel(), texture.ravel())[0, 1] > 0.95


def test_the_threads_do_not_change_a_byte():
    image = (255 * RNG.random((131, 77))).astype(np.float32)
    one = detail(image, 1)
    assert all(np.array_equal(one, detail(image, n)) for n in (2, 3, 7))
