"""The data sets: found where people have them, read and scored as their authors mean them, refused with a reason."""

import os
import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest
import tifffile

from conftest import textured_pair
from dualpix.cli.evaluate import evaluate
from dualpix.errors import InputError, ParameterError
from dualpix.evaluation.datasets import LAYOUTS, open_dataset, score
from dualpix.evaluation.datasets.r6ii import inverse_depth
from dualpix.evaluation.methods import method
from dualpix.evaluation.metrics import affine_invariant, bad_pixels, pixel_errors
from dualpix.io import read_image, write_map

NAMES = {"dslr": ["001", "002"], "google": ["a", "b"], "pixel4": ["001", "002"], "r6ii": ["box/1", "casual/2"]}
NAMES |= {"simulated": ["Art", "Teddy"], "middlebury": ["Art", "Teddy"], "generic": ["one", "two"]}


def save(path, image):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".TIF":
        tifffile.imwrite(path, image)
    elif path.suffix == ".npy":
        np.save(path, image)
    elif path.suffix == ".pfm":
        write_map(path, image)
    else:
        cv2.imwrite(str(path), image)


def views(shape, seed=0):
    return [np.rint(view).astype(np.uint8) for view in textured_pair(shape, 1.0, seed)]


def ramp(shape, low=1, high=255, dtype=np.uint8):
    return np.linspace(low, high, shape[0] * shape[1]).reshape(shape).astype(dtype)


def dslr(folder, name):
    for letter, image in zip("LRBD", (*views((240, 230)), ramp((240, 230)), ramp((240, 230))), strict=True):
        save(folder / f"{name}_{letter}.{'TIF' if letter == 'D' else 'jpg'}", image)


def google(folder, name, shape=(60, 40)):
    half = shape[0] // 2, shape[1] // 2
    for side, image in zip(("left", "right"), views(shape), strict=True):
        save(folder / f"{side}_pd/{name}/result_{side}Pd_center.png", image)
    save(folder / f"scaled_images/{name}/result_scaled_image_center.jpg", ramp(half))
    save(folder / f"merged_depth/{name}/result_merged_depth_center.png", ramp(half))
    save(folder / f"merged_conf/{name}/result_merged_conf_center.npy", ramp(half, 0, 1, np.float32))


def pixel4(folder, name, shape=(90, 120)):
    light = 1000 + 12 * ramp(shape, dtype=np.float32)
    for side, share in (("left", 1.0), ("right", 0.5)):  # the right view is darker by half, and so is its sheet
        save(folder / f"{name}_{side}.png", (1024 + share * light).astype(np.uint16))
        sheet = np.full(shape, 1024 + 8000 * share, np.uint16)
        save(folder / f"calibration/white_sheet_{side}.png", sheet)
    truth = ramp((shape[0] * 2 // 3, shape[1] * 2 // 3))
    truth[0] = 0
    save(folder / f"gt_defocus_map/{name}_gt.png", truth)


def r6ii(folder, name, shape=(48, 64)):
    for side, image in zip("lr", views(shape), strict=True):
        save(folder / name / f"{side}.png", image)
    save(folder / name / "d.png", ramp(shape, 500, 5000, np.uint16))


def simulated(folder, name, shape=(40, 50)):
    for side, image in zip("lr", views(shape), strict=True):
        save(folder / name / f"{side}.png", image)
    truth = ramp(shape, -4, 4, np.float32)
    truth[20] = np.nan
    save(folder / name / "d.npy", truth)


def middlebury(folder, name, shape=(40, 50), truth_folder=None):
    for number, image in enumerate(views(shape)):
        save(folder / f"trainingQ/{name}/im{number}.png", image)
    (folder / f"trainingQ/{name}/calib.txt").write_text("width=50\nndisp=16\n")
    truth = ramp(shape, 2, 14, np.float32)
    truth[0], truth[1] = np.inf, 0
    mask = np.full(shape, 255, np.uint8)
    mask[2] = 128
    place = truth_folder or folder / "trainingQ" / name
    save(place / "disp0GT.pfm", truth)
    save(place / "mask0nocc.png", mask)


def generic(folder, name):
    """A scene of r6ii, described by a table."""
    r6ii(folder, name)
    table, header = folder / "scenes.csv", "name,left,right,truth,truth_kind\n"
    before = table.read_text() if table.exists() else header
    table.write_text(f"{before}{name},{name}/l.png,{name}/r.png,{name}/d.png,depth-mm\n")


MAKERS = {"dslr": dslr, "google": google, "pixel4": pixel4, "r6ii": r6ii}
MAKERS |= {"simulated": simulated, "middlebury": middlebury, "generic": generic}


@pytest.fixture
def made(tmp_path):
    """Two scenes of a set in data/NAME."""

    def make(name):
        for scene in NAMES[name]:
            MAKERS[name](tmp_path / "data" / name, scene)
        return tmp_path / "data" / name

    return make


# ---- finding -------------------------------------------------------------------------------------


def test_the_command_knows_every_data_set():
    (option,) = (each for each in evaluate.params if each.name == "dataset")
    assert tuple(LAYOUTS) == tuple(option.type.choices) == tuple(MAKERS)


@pytest.mark.parametrize("name", MAKERS)
def test_a_set_is_found_in_its_folder_or_in_one_that_holds_it(made, name):
    folder = made(name)
    own, holder = open_dataset(name, folder), open_dataset(name, str(folder.parent))
    assert own.scenes == NAMES[name]
    assert own == holder
    assert own.measure[1] in score(name, scene := own.load(own.scenes[1]), np.nan_to_num(scene.truth))[own.measure[0]]


def test_google_may_be_split_into_train_and_test(tmp_path):
    google(tmp_path / "train", "a")
    google(tmp_path / "test", "a")
    assert open_dataset("google", tmp_path).scenes == ["test/a", "train/a"]
    assert open_dataset("google", tmp_path / "test").scenes == ["a"]


def test_planes_for_calibration_are_no_scenes(made):
    folder = made("r6ii")
    r6ii(folder, "flat/001/f4")
    assert open_dataset("r6ii", folder).scenes == NAMES["r6ii"]


@pytest.mark.parametrize("name", MAKERS)
def test_a_folder_that_does_not_fit_is_explained(tmp_path, name):
    with pytest.raises(InputError, match=r"no such folder: give the one that holds .*(png|jpg|left_pd)"):
        open_dataset(name, tmp_path / "nowhere")
    with pytest.raises(InputError, match=f"holds no scene of {name}: looked for .*, found nothing"):
        open_dataset(name, tmp_path)
    for k in range(7):
        (tmp_path / f"{k}.txt").touch()
    (tmp_path / "sub").mkdir()
    with pytest.raises(InputError, match=r"found 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 3 more"):
        open_dataset(name, tmp_path)


def test_pixel4_without_white_sheets_does_not_fit(made):
    folder = made("pixel4")
    (folder / "calibration/white_sheet_right.png").unlink()
    with pytest.raises(InputError, match=r"looked for .*calibration/white_sheet_left.png"):
        open_dataset("pixel4", folder)


def test_unknown_names_are_refused_with_those_there_are(made):
    with pytest.raises(ParameterError, match=r"unknown data set 'pixel5': did you mean pixel4\?"):
        open_dataset("pixel5", ".")
    with pytest.raises(ParameterError, match="unknown scene '3': the scenes are 001, 002"):
        open_dataset("dslr", made("dslr")).load("3")


def test_a_scene_that_is_the_current_folder_has_its_name(made, monkeypatch):
    monkeypatch.chdir(made("middlebury") / "trainingQ/Teddy")
    dataset = open_dataset("middlebury", ".")
    assert dataset.scenes == ["Teddy"]
    assert dataset.load("Teddy").name == "Teddy"


def forbid(monkeypatch, *places):
    """As if these folders were unreadable, which none is for the superuser."""
    for name in ("scandir", "listdir"):
        real = getattr(os, name)

        def guarded(path=".", real=real):
            if Path(path) in places:
                raise PermissionError(13, "Permission denied", str(path))
            return real(path)

        monkeypatch.setattr(os, name, guarded)


@pytest.mark.parametrize("name", MAKERS)
def test_a_folder_that_cannot_be_read_is_told(made, monkeypatch, name):
    folder = made(name)
    forbid(monkeypatch, folder)
    with pytest.raises(InputError, match=rf"^{folder}: cannot be read \(Permission denied\): check its permissions$"):
        open_dataset(name, folder)


@pytest.mark.parametrize(
    ("name", "inner"), [("r6ii", "box/3"), ("simulated", "Piano"), ("middlebury", "trainingQ/Piano")]
)
def test_a_scene_that_cannot_be_looked_into_does_not_vanish(made, monkeypatch, name, inner):
    folder = made(name)
    (folder / inner).mkdir()
    forbid(monkeypatch, folder / inner)
    dataset = open_dataset(name, folder)
    (hidden,) = set(dataset.scenes) - set(NAMES[name])
    assert inner.endswith(hidden)
    with pytest.raises(InputError, match=rf"^scene {hidden}: {folder / inner}/"):
        dataset.load(hidden)


def test_parts_of_google_that_cannot_be_read_are_told(made, monkeypatch):
    folder = made("google")
    forbid(monkeypatch, folder / "merged_conf")
    with pytest.raises(InputError, match=r"merged_conf: cannot be read \(Permission denied\)"):
        open_dataset("google", folder)


def test_a_file_that_cannot_be_reached_is_told(made, monkeypatch):
    dataset = open_dataset("middlebury", made("middlebury"))
    real = Path.is_file

    def guarded(path):
        if path.name == "disp0GT.pfm":
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "is_file", guarded)
    with pytest.raises(InputError, match=r"^scene Art: .*Art/disp0GT.pfm: cannot be read \(Permission denied\): check"):
        dataset.load("Art")


# ---- reading -------------------------------------------------------------------------------------


def store_near_and_far(name, folder, scene, near, far):
    """The files of a set for a scene whose left half is `near` and whose right half `far`, in px."""

    def halves(shape, of_near, of_far, dtype=np.uint8):
        return np.where(np.arange(shape[1]) < shape[1] // 2, of_near, of_far)[None].repeat(shape[0], 0).astype(dtype)

    shape = {"dslr": (230, 320), "pixel4": (90, 150)}.get(name, (60, 120))
    parts = [textured_pair((shape[0], shape[1] // 2), d, seed) for seed, d in enumerate((near, far))]
    left, right = (np.rint(np.hstack(view)).astype(np.uint8) for view in zip(*parts, strict=True))
    if name == "dslr":
        for letter, image in zip("LRD", (left, right, halves(shape, 200, 50)), strict=True):
            save(folder / f"{scene}_{letter}.{'TIF' if letter == 'D' else 'png'}", image)
    elif name == "google":
        google(folder, scene, shape[::-1])
        for side, image in (("left", left), ("right", right)):
            save(folder / f"{side}_pd/{scene}/result_{side}Pd_center.png", image.T)
        truth = halves((shape[0] // 2, shape[1] // 2), 50, 200).T
        save(folder / f"merged_depth/{scene}/result_merged_depth_center.png", truth)
    elif name == "pixel4":
        pixel4(folder, scene, shape)
        for side, image in (("left", left), ("right", right)):
            save(folder / f"{scene}_{side}.png", (1024 + 40 * image.astype(float) ** 1.2).astype(np.uint16))
            save(folder / f"calibration/white_sheet_{side}.png", np.full(shape, 9000, np.uint16))
        save(folder / f"gt_defocus_map/{scene}_gt.png", halves((shape[0] * 2 // 3, shape[1] * 2 // 3), 50, 200))
    elif name in ("r6ii", "generic"):
        if name == "generic":
            generic(folder, scene)
        for file, image in (("l", left), ("r", right), ("d", halves(shape, 600, 2000, np.uint16))):
            save(folder / scene / f"{file}.png", image)
    elif name == "simulated":
        for file, image in (("l.png", left), ("r.png", right), ("d.npy", halves(shape, near, far, np.float32))):
            save(folder / scene / file, image)
    else:
        middlebury(folder, scene, shape)
        save(folder / f"trainingQ/{scene}/im0.png", left)
        save(folder / f"trainingQ/{scene}/im1.png", right)
        save(folder / f"trainingQ/{scene}/disp0GT.pfm", halves(shape, near, far, np.float32))


@pytest.mark.parametrize("name", MAKERS)
def test_larger_is_nearer(tmp_path, name):
    """Google and pixel4 store near as small; a disparity that is right agrees with every truth."""
    store_near_and_far(name, tmp_path, "001", *((8.0, 3.0) if name == "middlebury" else (2.0, -2.0)))
    scene = open_dataset(name, tmp_path).load("001")
    d, _ = method("wta").run(scene, 1)
    known = np.isfinite(scene.truth) & np.isfinite(d)
    assert known.sum() > 500
    assert np.corrcoef(d[known], scene.truth[known])[0, 1] > 0.5


@pytest.mark.parametrize("name", MAKERS)
def test_a_scene_is_whole(made, name):
    dataset = open_dataset(name, made(name))
    scene = dataset.load(dataset.scenes[0])
    shape = scene.left.shape[:2]
    assert scene.name == dataset.scenes[0]
    assert scene.right.shape == scene.left.shape
    assert scene.truth.shape == shape
    assert scene.truth.dtype == np.float32
    assert scene.guide is None or scene.guide.shape[:2] == shape
    assert scene.weight is None or scene.weight.shape == shape
    assert scene.in_pixels == (name in ("simulated", "middlebury"))
    assert scene.axis == ("y" if name == "google" else "x")


def test_dslr_keeps_what_the_published_evaluation_keeps(made):
    folder = made("dslr")
    scene = open_dataset("dslr", folder).load("001")
    known = np.isfinite(scene.truth)
    assert (known.sum(axis=0).max(), known.sum(axis=1).max()) == (240 - 199, 230 - 199)
    assert known[99, 99]
    assert not known[98].any()
    depth = read_image(folder / "001_D.TIF")
    np.testing.assert_allclose(scene.truth[known], depth[known] / 255, rtol=1e-6)


def test_dslr_may_be_png_and_lower_case(made):
    folder = made("dslr")
    for letter in "LR":
        save(folder / f"001_{letter}.png", read_image(folder / f"001_{letter}.jpg"))
        (folder / f"001_{letter}.jpg").unlink()
    (folder / "001_D.TIF").rename(folder / "001_D.tif")
    dataset = open_dataset("dslr", folder)
    assert dataset.scenes == NAMES["dslr"]
    np.testing.assert_array_equal(dataset.load("001").left, read_image(folder / "001_L.png"))


def test_google_is_cut_to_what_is_matched_and_what_is_scored(tmp_path):
    google(tmp_path, "a", (2016, 1512))
    scene = open_dataset("google", tmp_path).load("a")
    assert scene.left.shape == scene.truth.shape == scene.weight.shape == (1344, 1008)
    np.testing.assert_array_equal(
        scene.left, read_image(tmp_path / "left_pd/a/result_leftPd_center.png")[336:1680, 252:1260]
    )
    known = np.isfinite(scene.truth)
    assert known[160 : 160 + 1024, 120 : 120 + 768].all()
    assert known.sum() == 1024 * 768
    depth, trust = ramp((1008, 756)), ramp((1008, 756), 0, 1, np.float32)
    middle = np.s_[248 : 248 + 512, 186 : 186 + 384]
    estimate = np.random.default_rng(0).normal(size=scene.left.shape).astype(np.float32)
    half = estimate.reshape(672, 2, 504, 2).mean(axis=(1, 3))[80:592, 60:444]
    found = score("google", scene, estimate)
    for protocol in ("paper-google", "proper"):
        expected = affine_invariant(half, depth[middle], protocol, trust[middle])
        assert found[protocol]["geometric_mean"] == pytest.approx(expected.geometric_mean, rel=1e-4)


def test_the_papers_google_scores_rank_what_is_stored(made):
    """Equal values are ranked in order of appearance, so near as small is not the same as near as large."""
    folder = made("google")
    rng = np.random.default_rng(3)
    stored = rng.integers(40, 44, (30, 20)).astype(np.uint8)
    save(folder / "merged_depth/a/result_merged_depth_center.png", stored)
    scene = open_dataset("google", folder).load("a")
    estimate = np.float32(3) - stored + rng.integers(0, 3, stored.shape)
    found = score("google", scene, estimate.astype(np.float32).repeat(2, axis=0).repeat(2, axis=1))
    trust = ramp((30, 20), 0, 1, np.float32)
    as_stored, turned = (affine_invariant(estimate, t, "paper-google", trust) for t in (stored, 255 - stored))
    assert found["paper-google"]["spearman"] == pytest.approx(as_stored.spearman)
    assert abs(as_stored.spearman - turned.spearman) > 0.01
    assert found["proper"]["spearman"] == pytest.approx(affine_invariant(estimate, stored, "proper", trust).spearman)


def test_pixel4_is_made_even_and_unknown_truth_left_out(made):
    scene = open_dataset("pixel4", made("pixel4")).load("001")
    np.testing.assert_allclose(scene.left, scene.right, atol=1e-3)
    assert scene.left.max() == 1
    known = np.isfinite(scene.truth)
    assert known[16:75, 20:100].all()
    assert known.sum() == 59 * 80
    assert scene.truth[74, 99] == 0  # 255, the farthest


def test_depth_in_millimetres_and_in_255ths_of_ten_metres_agree():
    millimetres = np.array([[0, 1000, 2000, 5000]], np.uint16)
    eight_bit = np.rint(millimetres * 0.0255).astype(np.uint8)
    expected = [[np.nan, 1, 0.375, 0]]
    np.testing.assert_allclose(inverse_depth(millimetres, (1, 4)), expected, atol=1e-6)
    np.testing.assert_allclose(inverse_depth(eight_bit, (1, 4)), expected, atol=0.02)


def test_r6ii_takes_larger_depth_maps_of_the_same_shape(made):
    folder = made("r6ii")
    before = open_dataset("r6ii", folder).load("box/1").truth
    depth = cv2.imread(str(folder / "box/1/d.png"), cv2.IMREAD_UNCHANGED)
    save(folder / "box/1/d.png", depth.repeat(3, axis=0).repeat(3, axis=1))
    np.testing.assert_array_equal(open_dataset("r6ii", folder).load("box/1").truth, before)


def test_simulated_keeps_sign_and_border_of_the_truth(made):
    folder = made("simulated")
    scene = open_dataset("simulated", folder).load("Teddy")
    np.testing.assert_array_equal(scene.truth, np.load(folder / "Teddy/d.npy"))
    assert scene.truth[0, 0] == -4
    assert scene.range is None


def test_middlebury_scores_what_both_views_see(made):
    scene = open_dataset("middlebury", made("middlebury")).load("Teddy")
    assert np.isnan(scene.truth[:3]).all()
    np.testing.assert_array_equal(scene.truth[3:], ramp((40, 50), 2, 14, np.float32)[3:])
    assert scene.range == (0, 16)


@pytest.mark.parametrize(
    "place", ["M/GT/Teddy", "M/GT/trainingQ/Teddy", "M-GT/trainingQ/Teddy", "all/M/trainingQ/Teddy"]
)
def test_middlebury_truth_may_lie_in_a_parallel_tree(tmp_path, place):
    middlebury(tmp_path / "M", "Teddy", truth_folder=tmp_path / place)
    save(tmp_path / "M/other/Teddy/disp0GT.pfm", np.ones((80, 100), np.float32))  # of another size
    scene = open_dataset("middlebury", tmp_path / "M").load("Teddy")
    np.testing.assert_array_equal(scene.truth[3:], ramp((40, 50), 2, 14, np.float32)[3:])


# ---- scoring -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "protocols"),
    [("dslr", {"paper-dslr", "proper"}), ("pixel4", {"proper"}), ("r6ii", {"proper"})],
)
def test_scores_are_those_of_the_metrics(made, name, protocols):
    dataset = open_dataset(name, made(name))
    scene = dataset.load(dataset.scenes[0])
    estimate = np.random.default_rng(0).normal(size=scene.truth.shape).astype(np.float32)
    found = score(name, scene, estimate)
    assert set(found) == protocols
    for protocol in protocols:
        expected = vars(affine_invariant(estimate, scene.truth, protocol))
        assert {**found[protocol], "protocol": protocol} == expected
    cut = np.s_[99:-100, 99:-100]
    if name == "dslr":
        proper = affine_invariant(estimate[cut], scene.truth[cut])
        assert found["proper"]["ai1"] == pytest.approx(proper.ai1)


def test_scores_of_stereo(made):
    scene = open_dataset("middlebury", made("middlebury")).load("Art")
    estimate = np.nan_to_num(scene.truth) + np.float32(0.6)
    estimate[10] = np.nan
    found = score("middlebury", scene, estimate)
    assert found["proper"]["bad_0_5"] == 100
    assert found["proper"]["bad_1"] == pytest.approx(100 / 37)
    assert found["paper-stereo"]["bad_1"] == pytest.approx(100 / 40)
    assert found["proper"]["rmse"] == pytest.approx(bad_pixels(estimate, scene.truth).rmse)
    assert found["proper"]["coverage"] == pytest.approx(36 / 37)


def test_scores_of_simulated(made):
    dataset = open_dataset("simulated", made("simulated"))
    assert dataset.measure == ("proper", "mae")
    scene = dataset.load("Art")
    estimate = (np.nan_to_num(scene.truth) + np.random.default_rng(0).normal(size=scene.truth.shape)).astype(np.float32)
    trust = np.random.default_rng(1).random(scene.truth.shape).astype(np.float32)
    found = score("simulated", scene, estimate, trust)
    expected = vars(pixel_errors(estimate, scene.truth, trust))
    assert expected["edges"] is None
    assert found == {"proper": {name: value for name, value in expected.items() if name != "edges"}}
    assert found["proper"]["ause"] > 0
    assert "ause" not in score("simulated", scene, estimate)["proper"]


# ---- scenes that cannot be used ------------------------------------------------------------------

WRONG = np.full((17, 23), 9, np.uint8)
BROKEN = {
    "dslr": {"001_R.jpg": None, "001_L.jpg": WRONG, "001_D.TIF": WRONG},
    "google": {
        "right_pd/a/result_rightPd_center.png": None,
        "left_pd/a/result_leftPd_center.png": None,
        "scaled_images/a/result_scaled_image_center.jpg": WRONG,
        "merged_depth/a/result_merged_depth_center.png": WRONG,
        "merged_conf/a/result_merged_conf_center.npy": np.full((30, 20), np.nan, np.float32),
    },
    "pixel4": {"001_left.png": None, "001_right.png": WRONG, "gt_defocus_map/001_gt.png": WRONG},
    "r6ii": {"box/1/l.png": None, "box/1/r.png": WRONG, "box/1/d.png": np.full((24, 32), 900, np.uint16)},
    "simulated": {"Art/l.png": None, "Art/r.png": None, "Art/d.npy": np.zeros((40, 49), np.float32)},
    "middlebury": {
        "trainingQ/Art/im0.png": None,
        "trainingQ/Art/im1.png": WRONG,
        "trainingQ/Art/disp0GT.pfm": WRONG,
        "trainingQ/Art/mask0nocc.png": WRONG,
        "trainingQ/Art/calib.txt": "ndisp=none",
    },
}


@pytest.mark.parametrize(("name", "file"), [(name, file) for name, files in BROKEN.items() for file in files])
def test_a_scene_that_cannot_be_used_is_named(made, name, file):
    folder, change = made(name), BROKEN[name][file]
    if change is None:
        (folder / file).unlink()
    elif isinstance(change, str):
        (folder / file).write_text(change)
    else:
        save(folder / file, change)
    dataset = open_dataset(name, folder)
    assert dataset.scenes == NAMES[name]
    bad, good = NAMES[name]
    with pytest.raises(InputError) as caught:
        dataset.load(bad)
    sentence = str(caught.value)
    assert sentence.startswith(f"scene {bad}: ")
    assert file.rpartition(".")[0] in sentence
    dataset.load(good)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("dslr", "001_D.TIF"),
        ("google", "merged_depth/a"),
        ("google", "merged_conf/a"),
        ("pixel4", "gt_defocus_map/001_gt.png"),
        ("r6ii", "box/1/d.png"),
        ("simulated", "Art/d.npy"),
        ("middlebury", "trainingQ/Art/disp0GT.pfm"),
        ("middlebury", "trainingQ/Art/mask0nocc.png"),
    ],
)
def test_missing_ground_truth_is_named(made, name, file):
    folder = made(name)
    target = folder / file
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    dataset = open_dataset(name, folder)
    with pytest.raises(InputError, match=rf"^scene {dataset.scenes[0]}: .*{file.split('.')[0]}.*no such"):
        dataset.load(dataset.scenes[0])


def one_known(shape, background, value):
    image = np.full(shape, background, np.uint16)
    image[20, 30] = value
    return image


@pytest.mark.parametrize(
    ("depth", "says"),
    [
        (np.zeros((48, 64), np.uint16), "has no known pixel"),
        (one_known((48, 64), 0, 900), "has 1 known pixel"),
        (np.full((48, 64), 900, np.uint16), "is the same everywhere"),
        (one_known((48, 64), 900, 0), "is the same everywhere"),
    ],
)
def test_a_truth_that_says_nothing_is_told(made, depth, says):
    folder = made("r6ii")
    save(folder / "box/1/d.png", depth)
    with pytest.raises(InputError, match=f"scene box/1: its ground truth {says}.*: check it"):
        open_dataset("r6ii", folder).load("box/1")


def test_a_truth_without_weight_says_nothing(made):
    folder = made("google")
    weight = np.zeros((30, 20), np.float32)
    save(folder / "merged_conf/a/result_merged_conf_center.npy", weight)
    with pytest.raises(InputError, match="scene a: its ground truth has no known pixel"):
        open_dataset("google", folder).load("a")
    weight[3, 4] = 1
    save(folder / "merged_conf/a/result_merged_conf_center.npy", weight)
    with pytest.raises(InputError, match="scene a: its ground truth is the same everywhere"):
        open_dataset("google", folder).load("a")


def test_a_constant_disparity_in_pixels_is_a_truth(made):
    folder = made("middlebury")
    save(folder / "trainingQ/Art/disp0GT.pfm", np.full((40, 50), 7, np.float32))
    assert np.nanmax(open_dataset("middlebury", folder).load("Art").truth) == 7


def test_dslr_pictures_that_are_all_border_are_told(tmp_path):
    for letter, image in zip("LRD", (*views((300, 199)), ramp((300, 199))), strict=True):
        save(tmp_path / f"001_{letter}.{'TIF' if letter == 'D' else 'png'}", image)
    with pytest.raises(InputError, match=r"scene 001: .*001_L.png: is 199x300, but a border of 100 px is not scored"):
        open_dataset("dslr", tmp_path).load("001")


@pytest.mark.parametrize("known", [np.s_[:0], np.s_[:8], np.s_[:, -8:]])
def test_simulated_truth_outside_the_border_is_needed(made, known):
    folder = made("simulated")
    truth = np.full((40, 50), np.nan, np.float32)
    truth[known] = 1
    save(folder / "Art/d.npy", truth)
    with pytest.raises(InputError, match=r"^scene Art: .*Art/d.npy: has no known disparity inside the border of 8 px"):
        open_dataset("simulated", folder).load("Art")


def test_simulated_pictures_that_are_all_border_are_told(tmp_path):
    simulated(tmp_path, "Art", (40, 16))
    with pytest.raises(InputError, match=r"scene Art: .*l.png: is 16x40, but a border of 8 px is not scored"):
        open_dataset("simulated", tmp_path).load("Art")


def test_google_views_of_odd_size_are_told(tmp_path):
    google(tmp_path, "a", (61, 40))
    with pytest.raises(InputError, match=r"scene a: .*leftPd_center.png: is 40x61: give views of even width"):
        open_dataset("google", tmp_path).load("a")


def test_middlebury_without_a_range_is_told(made):
    folder = made("middlebury")
    (folder / "trainingQ/Art/calib.txt").unlink()
    with pytest.raises(InputError, match=r"scene Art: .*Art/calib.txt: no such file: add it with a line ndisp=N"):
        open_dataset("middlebury", folder).load("Art")
