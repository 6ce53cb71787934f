"""Files saved from dualpix app: the bytes of the commands, and the commands themselves run for real."""

import io
import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import dualpix
from app_client import form, running
from conftest import textured_pair
from dualpix.app import commands, exports
from dualpix.app.opening import find, name_of
from dualpix.io import encode_png, formats

LOOK = {"focus": [60, 40], "aperture": 3.0, "shape": "hexagon", "from": 0.123456789, "to": 1.5, "soft": 0.25}
HINTS = [{"kind": "near", "disparity": 3.5, "points": [[30, 30], [40, 33.5]], "radius": 6.5}]
SETTINGS = {
    "preset": "dslr-a",
    "range": [-4.5, 6],
    "filter": "guided",
    "axis": "x",
    "mask_occluded": True,
    "set": {"window": 3.25, "iterations": [3, 2]},
}


def slanted():
    """Views whose disparity grows from left to right, and the photo in colour."""
    left, _ = textured_pair((80, 120), 0)
    x = np.arange(120) + np.linspace(-2, 3, 120)
    right = np.stack([np.interp(x, np.arange(120), row) for row in left])
    return [np.round(np.clip(view, 0, 255)).astype(np.uint8) for view in (left, right)]


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running(tmp_path_factory.mktemp("app")) as app:
        yield app


@pytest.fixture(scope="module")
def plain(app):
    """A finished run with default settings."""
    return app.wait(app.pair(*slanted())["run"])


@pytest.fixture(scope="module")
def tuned(app):
    """A finished run with all kinds of settings, hints, a calibration and a colour guide."""
    views = slanted()
    lens = dualpix.Calibration(120, 80, field=dualpix.camera.lens.Field((1.2, 0, 0, 0, 0, 0), (0.5, 0, 0, 0, 0, 0)))
    _, _, data = app.ask("POST", "api/calibrations", *form([("files", "my lens.json", lens.to_json().encode())]))
    settings = SETTINGS | {"calibration": json.loads(data)["id"]}
    guide = np.dstack([views[0], 255 - views[0], views[0] // 2])
    names = ("IMG 1_L.png", "IMG 1_R.png")
    files = [("files", name, encode_png(view)) for name, view in zip(names, views, strict=True)]
    shot = app.drop([*files, ("guide", "it's.png", encode_png(guide))], settings)
    run = app.wait(app.json("POST", f"api/shots/{shot['id']}/runs", {"settings": settings, "hints": HINTS}))
    return run, {"my lens.json": lens.to_json().encode(), "it's.png": encode_png(guide)}


def saved(app, run, what, suffix, **more):
    """Name and bytes of a file."""
    status, headers, data = app.ask("POST", f"api/runs/{run['id']}/export", {"what": what, "suffix": suffix, **more})
    assert status == 200, data
    return headers["content-disposition"].split('"')[1], data


def put(folder, app, run, more=None):
    """The user's folder, with the files that were dropped."""
    for role, path in app.session.shots[run["shot"]].source.paths.items():
        (folder / app.session.shots[run["shot"]].source.names[role]).write_bytes(Path(path).read_bytes())
    for name, data in (more or {}).items():
        (folder / name).write_bytes(data)


def run_for_real(folder, command):
    """Run a copied command in a shell, with this Python in the place of dualpix."""
    words = f'dualpix() {{ {shlex.quote(sys.executable)} -m dualpix "$@"; }}; {command}'
    done = subprocess.run(["bash", "-c", words], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def in_this_process(call, command):
    """Run a copied command without a shell, which is faster."""
    for line in command.split(" && "):
        assert call(*shlex.split(line)[1:], "--force", "--quiet")[0] == 0, line


EVERY = [
    *(("map", suffix, {}) for suffix in (".tiff", ".pfm", ".npy", ".exr", ".jpg", ".ply", ".glb")),
    ("map", ".png", {"png": "grey", "near": "black"}),
    ("map", ".png", {"png": "grey8"}),
    ("map", ".ply", {"fov": 60.5}),
    ("confidence", ".tiff", {}),
    ("preview", ".png", {}),
    ("refocus", ".png", {}),
    ("refocus", ".jpg", {}),
    ("refocus", ".tiff", {}),
    ("mask", ".png", {}),
    ("mask", ".exr", {}),
]


def test_every_format_has_the_bytes_of_the_command(app, plain, call, tmp_path, monkeypatch):
    put(tmp_path, app, plain)
    monkeypatch.chdir(tmp_path)
    for what, suffix, options in EVERY:
        name, data = saved(app, plain, what, suffix, options=options, look=LOOK)
        body = {"what": what, "suffix": suffix, "options": options, "look": LOOK}
        found = app.json("POST", f"api/runs/{plain['id']}/command", body, 200)
        assert (found["needs"], found["saves"]) == ([], [])
        in_this_process(call, found["command"])
        assert Path(name).read_bytes() == data, (what, suffix)


def test_all_listed_exports_can_be_saved(app, plain):
    for each in app.json("GET", "api/state")["exports"]:
        options = {"png": "grey"} if each["suffix"] == ".png" and each["what"] == "map" else {}
        body = {"what": each["what"], "suffix": each["suffix"], "options": options, "look": LOOK}
        status, _, data = app.ask("POST", f"api/runs/{plain['id']}/export", body)
        if each["what"] == "depth":
            assert (status, json.loads(data)["error"].split(":")[0]) == (400, "metres are not known")
        else:
            assert status == 200, (each, data)
            assert len(data) > 2


@pytest.mark.parametrize(("what", "suffix"), [("map", ".npy"), ("refocus", ".png"), ("mask", ".png")])
def test_the_copied_command_gives_the_same_bytes(app, tuned, tmp_path, what, suffix):
    """In a real shell, with quoted names, hints, a guide and a calibration."""
    run, more = tuned
    put(tmp_path, app, run, more)
    name, data = saved(app, run, what, suffix, look=LOOK)
    body = {"what": what, "suffix": suffix, "look": LOOK}
    found = app.json("POST", f"api/runs/{run['id']}/command", body, 200)
    assert found["needs"] == ["IMG 1_L-hints.json", "my lens.json"]
    for need in found["saves"]:
        (tmp_path / need["name"]).write_bytes(saved(app, run, need["what"], need["suffix"])[1])
    run_for_real(tmp_path, found["command"])
    assert (tmp_path / name).read_bytes() == data


def test_a_focus_by_disparity_has_a_command_too(app, plain, tmp_path):
    put(tmp_path, app, plain)
    look = {"focus_disparity": 0.1 + 0.2, "aperture": 2.5}
    name, data = saved(app, plain, "refocus", ".png", look=look)
    body = {"what": "refocus", "suffix": ".png", "look": look}
    command = app.json("POST", f"api/runs/{plain['id']}/command", body, 200)["command"]
    assert "--focus-disparity 0.30000000000000004 --aperture 2.5" in command
    run_for_real(tmp_path, command)
    assert (tmp_path / name).read_bytes() == data


def test_one_picture_with_a_layout_can_be_refocused(app, tmp_path):
    settings = {"layout": "top-bottom", "first": "right"}
    left, right = slanted()
    shot = app.drop([("files", "-both.png", encode_png(np.vstack([right, left])))], settings)
    run = app.wait(shot["run"])
    put(tmp_path, app, run)
    for what, suffix in (("refocus", ".png"), ("map", ".exr")):
        name, data = saved(app, run, what, suffix, look=LOOK)
        body = {"what": what, "suffix": suffix, "look": LOOK}
        run_for_real(tmp_path, app.json("POST", f"api/runs/{run['id']}/command", body, 200)["command"])
        assert (tmp_path / name).read_bytes() == data


def test_the_sample_has_a_command_too(app, tmp_path):
    run = app.wait(app.json("POST", "api/shots/sample")["run"])
    found = app.json("POST", f"api/runs/{run['id']}/command", {"what": "map", "suffix": ".npy"}, 200)
    assert found["needs"] == ["sample-left.png", "sample-right.png"]
    for need in found["saves"]:
        name, data = saved(app, run, need["what"], need.get("suffix", ""), options=need["options"])
        assert name == need["name"]
        (tmp_path / name).write_bytes(data)
    run_for_real(tmp_path, found["command"])
    name, data = saved(app, run, "map", ".npy")
    assert (tmp_path / name).read_bytes() == data
    np.testing.assert_array_equal(np.load(io.BytesIO(data)), app.map(run))


# ---- metres ----------------------------------------------------------------------------------------


def test_metres_from_known_points(app, plain, call, tmp_path, monkeypatch):
    d = app.map(plain)
    known = [[20, 40, 2.0], [100, 40, 0.8]]
    metric = app.json("POST", f"api/runs/{plain['id']}/metric", {"known": known}, 200)
    for x, y, metres in known:
        inverse = metric["inverse_focus"] + float(d[y, x]) * metric["inverse_scale"]
        assert 1 / inverse == pytest.approx(metres, rel=0.1)
    assert not metric["approximate"]
    assert "known points" in metric["words"]
    assert app.json("GET", f"api/runs/{plain['id']}")["metric"] == metric
    put(tmp_path, app, plain)
    monkeypatch.chdir(tmp_path)
    for suffix in (".tiff", ".png", ".jpg", ".ply"):
        name, data = saved(app, plain, "depth", suffix)
        found = app.json("POST", f"api/runs/{plain['id']}/command", {"what": "depth", "suffix": suffix}, 200)
        in_this_process(call, found["command"])
        assert Path(name).read_bytes() == data


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"known": [[1, 2, 3]]}, "one known distance is not enough"),
        ({"known": [[1, 2]]}, "list of points"),
        ({"known": [[1, 2, "3"]]}, "known must be a number"),
        ({"focus_distance": 1.0}, "the focus distance is one number"),
        ({"exif": True, "focus_distance": 1.0}, "left.png"),
        ({"exif": 1}, "exif must be true or false"),
        ({"known": [[1, 2, -3], [5, 6, 7]]}, "above 0"),
    ],
)
def test_metres_are_refused_as_by_the_command(app, plain, body, words):
    status, _, data = app.ask("POST", f"api/runs/{plain['id']}/metric", body)
    assert status == 400
    assert words in json.loads(data)["error"]
    assert str(app.session.folder) not in data.decode()


# ---- refusals --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({}, "what must be one of"),
        ({"what": "map", "suffix": ".exe"}, "suffix must be one of"),
        ({"what": "map", "suffix": "/../../x.tiff"}, "suffix must be one of"),
        ({"what": "map", "suffix": ".png"}, "cannot hold negative numbers"),
        ({"what": "map", "suffix": ".tiff", "options": {"png": "grey"}}, "png= is for .png files"),
        ({"what": "map", "suffix": ".tiff", "options": {"photo": "/etc/passwd"}}, "option photo is not known"),
        ({"what": "refocus", "suffix": ".png", "look": {}}, "aperture must be a number"),
        ({"what": "refocus", "suffix": ".png", "look": {"aperture": 2}}, "focus_disparity must be a number"),
        ({"what": "refocus", "suffix": ".png", "look": LOOK | {"focus": [999, 1]}}, "focus 999,1 is outside"),
        ({"what": "refocus", "suffix": ".png", "look": LOOK | {"shape": "star"}}, "shape must be disc or"),
        ({"what": "mask", "suffix": ".png", "look": {"from": 2, "to": 1}}, "give a smaller number first"),
        ({"what": "view", "suffix": "", "options": {"role": "../../etc/passwd"}}, "has no"),
    ],
)
def test_wrong_exports_are_one_sentence(app, plain, body, words):
    status, _, data = app.ask("POST", f"api/runs/{plain['id']}/export", body)
    assert status == 400
    assert words in json.loads(data)["error"]


def test_files_of_the_app_alone_have_no_command(app, plain):
    for what, suffix in (("page", ".html"), ("hints", ".json"), ("record", ".json")):
        status, _, data = app.ask("POST", f"api/runs/{plain['id']}/command", {"what": what, "suffix": suffix})
        assert (status, json.loads(data)["error"].split(":")[0]) == (400, "only dualpix app makes this file")


def test_every_format_of_maps_is_offered():
    offered = {each["suffix"] for each in exports.listed() if each["what"] == "map"}
    assert offered == set(formats.SUFFIXES) - {".tif"}
    assert commands._COMMANDS.keys() <= exports.PARTS.keys()


# ---- files of the command line ---------------------------------------------------------------------


def test_two_pictures_are_left_and_right_in_this_order(tmp_path):
    for name in ("b.png", "a.png"):
        (tmp_path / name).write_bytes(encode_png(slanted()[0]))
    found = find([str(tmp_path / "b.png"), str(tmp_path / "a.png")], 10)
    assert [each.paths for each in found.sources] == [{"left": f"{tmp_path}/b.png", "right": f"{tmp_path}/a.png"}]


def test_a_folder_is_a_film_strip(tmp_path):
    picture = encode_png(slanted()[0])
    names = [
        "x_left.png",
        "x_right.png",
        "a_L.jpg",
        "a_R.jpg",
        "im0.png",
        "im1.png",
        "alone.png",
        "raw.CR3",
        "notes.txt",
    ]
    for name in (*names, ".hidden_left.png", "000/l.png", "000/r.png", "001/left.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(picture)
    found = find([str(tmp_path)], 10)
    views = [[Path(path).name for path in each.paths.values()] for each in found.sources]
    assert sorted(views) == sorted(
        [["x_left.png", "x_right.png"], ["a_L.jpg", "a_R.jpg"], ["im0.png", "im1.png"], ["l.png", "r.png"], ["raw.CR3"]]
    )
    assert found.notes == [f"{tmp_path}: 2 pictures belong to no pair and were left out (alone.png, left.png)"]
    assert {name_of(each) for each in found.sources} >= {"x_left.png", "000/l.png"}
    fewer = find([str(tmp_path)], 2)
    assert len(fewer.sources) == 2
    assert fewer.notes[-1] == "3 shots were left out: dualpix app opens at most 2"


def test_wrong_files_of_the_command_line_are_one_sentence(call, tmp_path):
    for args, words in (
        ([tmp_path / "missing.png"], "missing.png: no such file or folder: check the path"),
        ([tmp_path], "holds no shot: name views *_left.* and *_right.*, or give the files"),
        (["--port", "70000"], "--port"),
    ):
        code, out, err = call("app", "--no-open", *args)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert words in err


def test_a_missing_package_is_one_sentence(call, monkeypatch):
    monkeypatch.setattr("dualpix.app.start.PACKAGES", ("no_such_package",))
    code, _, err = call("app", "--no-open")
    assert (code, err) == (2, "error: dualpix app needs a web server: pip install 'dualpix[app]'\n")


def test_a_taken_port_is_one_sentence(call, app):
    code, _, err = call("app", "--no-open", "--port", app.port)
    assert (code, err.startswith(f"error: port {app.port} cannot be used (")) == (2, True)
