"""What the confidence promises."""

import numpy as np
import pytest

import dualpix
import dualpix.io
from dualpix.confidence import SURE, confidence
from dualpix.params import preset

RNG = np.random.default_rng(5)


def test_without_depth_edges_it_is_the_curvature_alone():
    A = RNG.uniform(0, 1e4, (40, 50)).astype(np.float32)
    trust = confidence(A, np.full_like(A, 1.5), preset("auto"))
    np.testing.assert_allclose(trust, A / (A + SURE), rtol=1e-5)


def test_near_an_edge_variances_add_up():
    A = np.full((200, 200), 5000, np.float32)
    d = np.where(np.arange(200) < 100, 0, 1.2) * np.ones_like(A)
    trust = confidence(A, d.astype(np.float32), preset("auto"))
    at_edge = 1 / (1 / 5000 + 1.2**2 / 12)
    assert trust[100, 100] == pytest.approx(at_edge / (at_edge + SURE), rel=1e-4)
    assert trust[100, 10] == pytest.approx(5000 / (5000 + SURE), rel=1e-4)


@pytest.mark.parametrize("messages", ["paper", "exact"])
def test_grows_with_the_curvature_and_stays_within_0_and_1(messages):
    A = np.sort(RNG.uniform(0, 1e6, 3000)).reshape(1, -1).astype(np.float32)
    trust = confidence(A, np.zeros_like(A), preset("auto").replace(messages=messages))
    assert (np.diff(trust) >= 0).all()
    assert trust.min() >= 0
    assert trust.max() <= 1


def test_sparsification_on_real_captures(data_dir):
    """Without the least confident 30 % of the pixels AI(1) falls by a quarter, on the mean of the Pixel 4 scenes."""
    import cv2

    root = data_dir / "pixel4"
    sides = ("left", "right")
    white = {
        s: cv2.GaussianBlur(dualpix.io.read_image(root / f"calibration/white_sheet_{s}.png") - 1024.0, (0, 0), 20)
        for s in sides
    }
    kept, whole = [], []
    for path in sorted(root.glob("*_left.png")):
        number = path.name[:3]
        views = [np.maximum(dualpix.io.read_image(root / f"{number}_{s}.png") - 1024.0, 0) / white[s] for s in sides]
        top = np.percentile(views[0], 99.5)
        result = dualpix.disparity(*(np.clip(view / top, 0, 1) ** (1 / 2.2) for view in views))
        centre = (slice(252, 1260), slice(336, 1680))
        truth = dualpix.io.read_image(root / f"gt_defocus_map/{number}_gt.png") / 255.0
        truth[truth == 0] = np.nan
        trust = result.confidence[centre]
        sure = trust >= np.quantile(trust[np.isfinite(truth)], 0.3)
        for scores, gt in ((whole, truth), (kept, np.where(sure, truth, np.nan))):
            scores.append(dualpix.metrics.affine_invariant(result.disparity[centre], gt).ai1)
    assert np.mean(kept) <= 0.75 * np.mean(whole)
