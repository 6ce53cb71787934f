"""Scores on real captures with ground truth, as benchmarks/ablation.py reads and scores them; lower is better."""

import numpy as np
import pytest

import dualpix
from dualpix import baselines
from dualpix.evaluation.datasets import open_dataset, score
from dualpix.evaluation.metrics import affine_invariant, bad_pixels
from dualpix.io import read_image, read_map
from dualpix.io.captures import known_range


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


@pytest.mark.parametrize(
    ("subpixel", "smoothed", "published"),
    [("histeq", "none", 0.0427), ("histeq", "solver", 0.0398), ("encc", "none", 0.0453), ("encc", "solver", 0.0381)],
)
def test_the_published_method_reproduces_on_a_phone(data_dir, subpixel, smoothed, published):
    """Geometric means of the published runs on Google's example, within 2 %."""
    dataset = open_dataset("google", data_dir)
    scene = dataset.load("20180302_mmmm_6527_20180303T130940")
    changes = {"subpixel": subpixel, "filter": smoothed}
    found = dualpix.disparity(scene.left, scene.right, "phone-paper", scene.guide, axis="y", **changes)
    assert score("google", scene, found.disparity)["paper-google"]["geometric_mean"] == pytest.approx(
        published, rel=0.02
    )


# ---- wide baselines ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def teddy(data_dir):
    """Both views of a Middlebury scene by path, its true disparities, and where both views see them."""
    folder = data_dir / "middlebury" / "trainingQ" / "Teddy"
    if not folder.is_dir():
        pytest.skip(f"no scene at {folder}")
    visible = read_image(folder / "mask0nocc.png") == 255
    return folder / "im0.png", folder / "im1.png", read_map(folder / "disp0GT.pfm"), visible


@pytest.mark.parametrize(
    ("name", "filter_", "bad_2", "rmse"),
    [
        ("stereo", "none", 5.1, 1.7),
        ("stereo", "solver", 4.4, 1.3),
        ("stereo-paper", "none", 6.9, 3.5),
        ("stereo-paper", "solver", 6.4, 1.7),
    ],
)
def test_stereo_on_middlebury(teddy, name, filter_, bad_2, rmse):
    """The range comes from calib.txt."""
    left, right, truth, visible = teddy
    result = dualpix.disparity(left, right, name, filter=filter_)
    assert result.searched == (0, 64)
    assert result.warnings == ()
    scores = bad_pixels(result.disparity, truth, visible)
    assert scores.bad_2 < bad_2
    assert scores.rmse < rmse


def test_semi_global_matching_on_middlebury(teddy):
    left, right, truth, visible = teddy
    assert bad_pixels(baselines.sgm(left, right, known_range(left, truth.shape[1])), truth, visible).bad_2 < 6.3


@pytest.mark.parametrize("name", ["stereo", "stereo-paper"])
def test_what_is_odd_about_a_middlebury_pair_is_said(teddy, name):
    left, right, *_ = teddy
    swapped = dualpix.disparity(right, left, name)
    assert any("left-right check" in note for note in swapped.warnings)
    short = dualpix.disparity(left, right, name, range=(0, 32))
    assert [note for note in short.warnings if "upper end of the range" in note]


def test_what_is_hidden_in_a_middlebury_scene_is_masked(teddy):
    left, right, truth, visible = teddy
    masked = np.isnan(dualpix.disparity(left, right, "stereo", mask_occluded=True).disparity)
    known = np.isfinite(truth)
    assert masked[known & ~visible].mean() > 0.6
    assert masked[known & visible].mean() < 0.05
