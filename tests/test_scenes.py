"""Random scenes: the same seed gives the same files, near hides far, and the truth is that of the left view."""

import json
import os
from dataclasses import replace

import cv2
import numpy as np
import pytest

from dualpix import OutputError, ParameterError
from dualpix.camera.layers import EDGE, Field
from dualpix.camera.optics import HALF_DISC, Pupil
from dualpix.camera.simulation import Sensor, shoot, simulate
from dualpix.io import read_image, read_map
from dualpix.scenes import draw, files, make
from dualpix.scenes.draw import SHAPES, TEXTURES
from dualpix.scenes.files import NAMES, write_scenes
from dualpix.scenes.shapes import DRAWN, outline
from dualpix.scenes.stack import Stack
from dualpix.scenes.textures import EVEN, PATTERNS, fractal, paint

SMALL = (72, 48)  # width and height


def contents(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---- sets ------------------------------------------------------------------------------------------------


def test_same_seed_gives_the_same_bytes_whatever_the_count(tmp_path):
    write_scenes(tmp_path / "one", 3, 7, SMALL)
    write_scenes(tmp_path / "two", 2, 7, SMALL)
    first, second = contents(tmp_path / "one"), contents(tmp_path / "two")
    assert sorted(second) == sorted(os.path.join(n, name) for n in ("000", "001") for name in NAMES)
    assert second.items() <= first.items()
    write_scenes(tmp_path / "three", 1, 8, SMALL)
    assert all(second[name] != data for name, data in contents(tmp_path / "three").items())


def test_scenes_are_as_promised(tmp_path, call):
    code, out, err = call("scenes", "-o", tmp_path / "set", "--count", 4, "--seed", 3, "--size", "72x48")
    assert (code, err) == (0, "")
    assert out == f"{tmp_path / 'set'}: 4 scenes written\n"
    for number in range(4):
        place = tmp_path / "set" / f"{number:03d}"
        left, right, truth = read_image(place / "l.png"), read_image(place / "r.png"), np.load(place / "d.npy")
        record = json.loads((place / "scene.json").read_text())
        scene = record["scene"]
        assert left.shape == right.shape
        assert left.shape == ((48, 72) if scene["camera"]["grey"] else (48, 72, 3))
        assert left.dtype == right.dtype == (np.uint8 if scene["camera"]["bits"] == 8 else np.uint16)
        assert (truth.shape, truth.dtype) == ((48, 72), np.float32)
        assert np.isfinite(truth).mean() > 0.9
        assert scene["far"] - 1e-3 <= np.nanmin(truth) <= np.nanmax(truth) <= scene["near"] + 1e-3
        assert record["disparity"]["max"] == pytest.approx(float(np.nanmax(truth)))
        assert scene["optics"]["kind"] == "pupil"
        np.testing.assert_array_equal(read_map(place / "d.npy"), truth)


def test_finished_scenes_are_kept(tmp_path, call):
    write_scenes(tmp_path, 2, 0, SMALL, HALF_DISC)
    times = {name: os.stat(tmp_path / "000" / name).st_mtime_ns for name in NAMES}
    before = contents(tmp_path)
    options = ("--size", "72x48", "--optics", "half-disc")
    assert call("scenes", "-o", tmp_path, "--count", 3, *options)[1].endswith("1 scene written, 2 kept\n")
    assert before.items() <= contents(tmp_path).items()
    assert times == {name: os.stat(tmp_path / "000" / name).st_mtime_ns for name in NAMES}
    assert call("scenes", "-o", tmp_path, "--count", 1, *options, "--force", "--quiet") == (0, "", "")
    assert before.items() <= contents(tmp_path).items()


@pytest.mark.parametrize("options", [("--seed", "1"), ("--size", "64x48"), ("--optics", "half-disc")])
def test_other_scenes_are_not_replaced(tmp_path, call, options):
    write_scenes(tmp_path, 1, 0, SMALL)
    before = contents(tmp_path)
    code, out, err = call("scenes", "-o", tmp_path, "--count", 1, "--size", "72x48", *options)
    assert (code, out) == (2, "")
    assert err == f"error: {tmp_path / '000'}: holds another scene: choose another folder, or --force to replace it\n"
    assert contents(tmp_path) == before
    assert call("scenes", "-o", tmp_path, "--count", 1, "--size", "72x48", "--force", *options)[0] == 0
    assert contents(tmp_path)["000/l.png"] != before["000/l.png"]


@pytest.mark.parametrize("spoil", ["d.npy", "scene.json"])
def test_half_a_scene_is_refused(tmp_path, spoil):
    write_scenes(tmp_path, 1, 0, SMALL)
    os.remove(tmp_path / "000" / spoil)
    with pytest.raises(OutputError, match="holds another scene"):
        write_scenes(tmp_path, 1, 0, SMALL)


def test_interrupted_run_leaves_whole_scenes(tmp_path, monkeypatch):
    def stop(recipe):
        if recipe.number == 1:
            raise KeyboardInterrupt
        return make(recipe)

    monkeypatch.setattr(files, "make", stop)
    with pytest.raises(KeyboardInterrupt):
        write_scenes(tmp_path / "set", 3, 0, SMALL, HALF_DISC)
    assert sorted(contents(tmp_path)) == sorted(f"set/000/{name}" for name in NAMES)
    assert os.listdir(tmp_path / "set") == ["000"]
    monkeypatch.undo()
    steps = []
    assert write_scenes(tmp_path / "set", 3, 0, SMALL, HALF_DISC, progress=steps.append) == (2, 1)
    assert [str(step) for step in steps] == ["rendering, scene 1 of 2", "rendering, scene 2 of 2"]


def test_file_in_the_way(tmp_path):
    (tmp_path / "001").write_text("mine")
    with pytest.raises(OutputError, match="001: is not a folder"):
        write_scenes(tmp_path, 2, 0, SMALL)
    assert os.listdir(tmp_path) == ["001"]


@pytest.mark.parametrize(
    ("match", "arguments"),
    [
        ("^count must be a whole number", {"count": 0}),
        ("^count must be a whole number", {"count": 1.5}),
        ("^seed must be a whole number", {"seed": -1}),
        ("^size must be a whole number from 32", {"size": (31, 40)}),
        ("^size must be a whole number from 32", {"size": (40, 10**5)}),
    ],
)
def test_bad_numbers(tmp_path, match, arguments):
    with pytest.raises(ParameterError, match=match):
        write_scenes(tmp_path / "set", **arguments)
    assert os.listdir(tmp_path) == []


def test_optics_may_be_given():
    given, own = draw(0, 5, *SMALL, optics=HALF_DISC), draw(0, 5, *SMALL)
    assert given.optics is HALF_DISC
    assert replace(given, optics=own.optics) == own
    assert isinstance(own.optics, Pupil)


def test_scenes_differ_in_everything():
    """Over many scenes, every kind occurs, and ranges lie on both sides of the focus."""
    scenes = [draw(0, number, 640, 448) for number in range(60)]
    assert {thing.shape for scene in scenes for thing in scene.things} == set(SHAPES)
    assert {thing.texture.kind for scene in scenes for thing in scene.things} == set(TEXTURES)
    assert {scene.ground.kind for scene in scenes} == {"plane", "curved", "floor", "corner"}
    assert {scene.camera.bits for scene in scenes} == {8, 16}
    extents = [scene.near - scene.far for scene in scenes]
    assert min(extents) == pytest.approx(1, abs=0.3)
    assert max(extents) == pytest.approx(8, abs=1)
    assert sum(scene.far < 0 < scene.near for scene in scenes) > 30
    assert any(scene.far > 0 for scene in scenes)
    assert any(scene.near < 0 for scene in scenes)


# ---- the parts -------------------------------------------------------------------------------------------

TEXTURE = draw(0, 0, 640, 448).ground.texture
THING = draw(0, 0, 640, 448).things[0]


def test_every_kind_can_be_drawn():
    assert TEXTURES.keys() == PATTERNS.keys() - {EVEN}
    assert SHAPES.keys() == DRAWN.keys()


@pytest.mark.parametrize("kind", PATTERNS)
@pytest.mark.parametrize("size", [(1, 1), (5, 90), (64, 80)])
def test_textures_are_light(kind, size):
    texture = replace(TEXTURE, kind=kind, contrast=1.0)
    picture = paint(texture, *size)
    assert (picture.shape, picture.dtype) == ((*size, 3), np.float32)
    assert np.isfinite(picture).all()
    assert picture.min() >= 0
    assert picture.max() < 1.5
    np.testing.assert_array_equal(paint(texture, *size), picture)
    assert kind in ("blank", EVEN) or size != (64, 80) or picture.std() > 0.01


def test_an_even_texture_is_one_colour():
    even = replace(TEXTURE, kind=EVEN)
    assert (paint(even, 64, 80) == np.float32(even.colours[0])).all()


@pytest.mark.parametrize("shape", DRAWN)
@pytest.mark.parametrize("radius", [0.7, 3.2, 40])
def test_outlines_are_covers(shape, radius):
    cover = outline(replace(THING, shape=shape), radius)
    assert cover.shape[0] == cover.shape[1]
    assert cover.shape[0] % 2 == 1
    assert 0 <= cover.min() <= cover.max() <= 1
    assert radius < 10 or cover.max() == 1
    assert radius < 10 or ((cover > 0) & (cover < 1)).any()  # smooth outlines


def test_outline_has_its_size_and_place():
    cover = outline(replace(THING, shape="ellipse", aspect=1.0), 20.0)
    assert cover.sum() == pytest.approx(np.pi * 20**2, rel=0.03)
    at = np.arange(len(cover)) - len(cover) // 2
    assert (cover.sum(0) @ at / cover.sum(), cover.sum(1) @ at / cover.sum()) == pytest.approx((0, 0), abs=0.05)


def test_fractal_falls_with_the_frequency():
    spectrum = np.abs(np.fft.fft2(fractal(np.random.default_rng(0), 256, 256, 1.5)))
    low, high = spectrum[0, 4:8].mean(), spectrum[0, 32:64].mean()
    assert np.log2(low / high) / 3 == pytest.approx(1.5, abs=0.5)


# ---- the stack -------------------------------------------------------------------------------------------

GROUND = np.random.default_rng(0).random((60, 90, 3)).astype(np.float32)
BOX = (slice(20, 40), slice(30, 60))
FULL = np.ones((20, 30), np.float32)


def stacked(far, near):
    stack = Stack(GROUND, np.full((60, 90), far, np.float32))
    stack.put(BOX, np.full((20, 30, 3), 0.5, np.float32), near * FULL, FULL)
    return stack


@pytest.mark.parametrize(("near", "far"), [(4, 0), (3, -3), (-1, -4)])
def test_truth_is_that_of_the_left_view(near, far):
    """The object moves by d/2 each way; what appears behind it is the ground, known everywhere."""
    truth = stacked(far, near).truth()
    inner = truth[:, 3:-3]
    assert set(np.unique(inner)) == {np.float32(near), np.float32(far)}
    front = np.flatnonzero(truth[30] == np.float32(near))
    assert front.mean() - np.arange(30, 60).mean() == pytest.approx(near / 2, abs=0.5)


def test_stack_is_rendered_as_simulate_does():
    """But behind the object, the stack shows the true ground. Away from its outline, the views are the same."""
    far, near = -2, 2
    image = GROUND.copy()
    image[BOX] = 0.5
    disparity = np.full((60, 90), far, float)
    disparity[BOX] = near
    views = simulate(image, disparity)[:2]
    field = Field(HALF_DISC, (60, 90), 2)
    m = field.margin
    ground = np.pad(GROUND, ((m, m), (m, m), (0, 0)), mode="symmetric")
    stack = Stack(ground, np.full(ground.shape[:2], far, np.float32))
    stack.put(
        tuple(slice(part.start + m, part.stop + m) for part in BOX), np.full((20, 30, 3), 0.5, np.float32),
        near * FULL, FULL,
    )  # fmt: skip
    own = shoot(lambda view: stack.surfaces(view, 2 * m, slice(3)), field, Sensor())
    differs = np.zeros((60, 90), bool)
    differs[15:45, 25:65] = True
    differs[25:35, 35:55] = False
    for one, other in zip(views, own, strict=True):
        np.testing.assert_allclose(one[~differs], other[~differs], atol=1e-5)


def test_objects_lie_at_their_depth_whatever_the_order():
    """One in front of the other, and the ground behind both."""
    objects = [
        (np.full((20, 30, 3), shade, np.float32), d * FULL, c * FULL) for shade, d, c in ((0, 1, 1), (1, 3, 0.25))
    ]
    stacks = []
    for order in (objects, objects[::-1]):
        stack = Stack(GROUND, np.full((60, 90), -1, np.float32))
        for each in order:
            stack.put(BOX, *each)
        stacks.append(stack.surfaces(1, 8, slice(3)))
    for one, other in zip(*stacks, strict=True):
        for a, b in zip(one, other, strict=True):
            np.testing.assert_array_equal(a, b)
    assert [surface.disparity[30, 45] for surface in stacks[0]] == [3, 1, -1]
    assert [surface.cover[30, 31] for surface in stacks[0]] == [0.25, 1, 1]


def test_object_behind_the_ground_is_left_out():
    stack = Stack(GROUND, np.zeros((60, 90), np.float32))
    stack.put(BOX, np.zeros((20, 30, 3), np.float32), -1 * FULL, FULL)
    assert not any(surface.cover.any() for surface in stack.surfaces(1, 8, slice(3))[1:])
    assert (stack.truth()[:, 2:-2] == 0).all()


def test_no_seams_where_smooth_outlines_meet():
    """A disc in front of a square close behind it: the ground is not seen between them."""
    disc, full = outline(replace(THING, shape="ellipse", aspect=1.0), 8.3), np.ones((40, 40), np.float32)
    place = slice(20, 20 + len(disc)), slice(35, 35 + len(disc))
    for gap in (EDGE / 2, 2 * EDGE):
        square = (slice(10, 50), slice(20, 60)), np.ones((40, 40, 3), np.float32), full, full
        front = place, np.ones((*disc.shape, 3), np.float32), np.full_like(disc, 1 + gap), disc
        for order in ((square, front), (front, square)):
            stack = Stack(GROUND, np.full((60, 90), -3, np.float32))
            for each in order:
                stack.put(*each)
            assert stack.truth()[12:48, 24:56].min() == 1


def test_object_close_to_the_ground_replaces_it():
    """Less than an edge in front, both would be seen at once."""
    surfaces = stacked(0, EDGE / 2).surfaces(1, 8, slice(3))
    assert (surfaces[0].cover[BOX][:, 1:-1] == 1).all()
    assert not surfaces[1].cover.any()


def test_half_covered_pixels_mix():
    """In focus, a pixel that is half covered is the mean of the object and the ground."""
    stack = Stack(np.zeros((40, 40, 3), np.float32), np.full((40, 40), -3, np.float32))
    cover = np.ones((10, 10), np.float32)
    cover[:, 0] = 0.5
    stack.put((slice(15, 25), slice(15, 25)), np.ones((10, 10, 3), np.float32), np.zeros((10, 10), np.float32), cover)
    field = Field(HALF_DISC, (40 - 10, 40 - 10), 3)
    assert field.margin == 5
    left, _ = shoot(lambda view: stack.surfaces(view, 10, slice(3)), field, Sensor())
    np.testing.assert_allclose(left[12:18, 10:14, 0], [[0.5, 1, 1, 1]] * 6, atol=0.02)


# ---- the whole -------------------------------------------------------------------------------------------


def test_views_agree_with_the_truth():
    """The right view, moved by the true disparity, looks like the left one: better than moved by none or twice."""
    recipe = draw(3, 4, 160, 112)
    recipe = replace(
        recipe,
        far=-2.0,
        near=2.0,
        camera=replace(recipe.camera, noise=0.0, shot_noise=0.0, vignetting=0.0, grey=True, bits=16),
        light=replace(recipe.light, highlights=0),
    )
    left, right, truth = make(recipe)
    assert np.nanstd(truth) > 0.3
    x, y = np.meshgrid(np.arange(160, dtype=np.float32), np.arange(112, dtype=np.float32))
    known, error = np.isfinite(truth), {}
    for factor in (0, 1, 2):
        shift = (factor * np.nan_to_num(truth)).astype(np.float32)
        moved = cv2.remap(right.astype(np.float32), x - shift, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
        error[factor] = np.abs(moved - left)[known][5:-5].mean()
    assert error[1] < 0.7 * min(error[0], error[2])
