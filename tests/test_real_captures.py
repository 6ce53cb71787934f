"""Scores on real captures with ground truth, as benchmarks/ablation.py reads and scores them; lower is better."""

import numpy as np
import pytest

import dualpix
from dualpix.metrics import affine_invariant


@pytest.fixture(scope="module")
def scenes(ablation, data_dir):
    """The scenes of a set, one after the other."""

    def read(name):
        found = ablation.SETS[name](data_dir / name)
        first = next(found, None)
        if first is None:
            pytest.skip(f"no scene under {data_dir / name}")
        yield first
        yield from found

    return read


@pytest.fixture(scope="module")
def pixel4(scenes):
    """Geometric mean, AI(1) and AI(1) without the least confident 30 %, by scene, with the default preset."""
    scores = []
    for scene in scenes("pixel4"):
        result = dualpix.disparity(scene.left, scene.right)
        whole = affine_invariant(result.disparity, scene.truth, scene.protocol)
        limit = np.quantile(result.confidence[np.isfinite(scene.truth)], 0.3)
        surer = np.where(result.confidence >= limit, scene.truth, np.nan)
        scores.append((whole.geometric_mean, whole.ai1, affine_invariant(result.disparity, surer).ai1))
    return np.array(scores)


def test_the_default_preset_on_a_pixel_4(pixel4):
    assert pixel4[:, 0].mean() <= 0.071


def test_the_confidence_knows_where_the_map_is_wrong(pixel4):
    """Without the least confident 30 % of the pixels AI(1) falls by a quarter."""
    _, ai1, surer = pixel4.mean(axis=0)
    assert surer <= 0.75 * ai1


@pytest.mark.parametrize(("name", "floor"), [("dslr", 0.0425), ("r6ii", 0.107)])
def test_the_default_preset_on_other_cameras(ablation, scenes, name, floor):
    scores = [ablation.score(scene, dualpix.preset("auto")) for scene in scenes(name)]
    assert ablation.mean(scores, "geometric_mean") <= floor


@pytest.mark.parametrize(
    ("subpixel", "penalty", "published"), [("histeq", 1.25, 0.0545), ("parabola", 1.25, 0.0580), ("encc", 3.2, 0.0477)]
)
def test_the_published_method_reproduces(ablation, scenes, subpixel, penalty, published):
    """Geometric means of the published runs on scene 005, within 2 %."""
    params = dualpix.preset("dslr-a").replace(subpixel=subpixel, penalty=penalty)
    found = ablation.score(next(scenes("dslr")), params)
    assert found.geometric_mean == pytest.approx(published, rel=0.02)
