"""The .json file beside a map: its name, and that maps never take each other's."""

import json

import cv2
import numpy as np
import pytest

from dualpix.cli import main
from dualpix.io.sidecar import map_record, read_sidecar, sidecar_path, to_json

D = np.zeros((3, 4), np.float32)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_sidecar(folder, name, path):
    (folder / path).write_text(to_json(map_record(name, D, "x")))


@pytest.mark.parametrize(
    ("name", "expected"), [("a.tiff", "a.json"), ("in/a.npy", "in/a.json"), ("a.b.pfm", "a.b.json")]
)
def test_the_usual_name(name, expected):
    assert sidecar_path(name) == expected


def test_its_own_sidecar_is_replaced(folder):
    write_sidecar(folder, "a.tiff", "a.json")
    assert sidecar_path("a.tiff") == "a.json"
    assert read_sidecar("a.tiff")["map"] == "a.tiff"


def test_another_maps_sidecar_is_left_alone(folder):
    write_sidecar(folder, "a.npy", "a.json")
    assert sidecar_path("a.pfm") == "a.pfm.json"
    assert read_sidecar("a.pfm") is None
    write_sidecar(folder, "a.pfm", "a.pfm.json")
    assert read_sidecar("a.pfm")["map"] == "a.pfm"
    assert read_sidecar("a.npy")["map"] == "a.npy"
    (folder / "a.json").unlink()
    assert sidecar_path("a.pfm") == "a.pfm.json"  # where it is already
    assert read_sidecar("a.pfm")["map"] == "a.pfm"


@pytest.mark.parametrize(
    "text", ["not json", "[]", "{}", '{"map": "other.tiff"}', '{"dualpix": "1", "map": 3}', "[" * 10**5]
)
def test_a_file_that_is_no_sidecar_keeps_the_usual_name(folder, text):
    (folder / "a.json").write_text(text)
    assert sidecar_path("a.tiff") == "a.json"
    assert read_sidecar("a.tiff") is None


# ---- through the command -------------------------------------------------------------------------


@pytest.fixture
def run(folder, capsys):
    view = np.random.default_rng(0).integers(0, 256, (40, 60), np.uint8)
    cv2.imwrite("left.png", view)
    cv2.imwrite("right.png", view)

    def run(output, *options):
        settings = ("--range", "-2", "2", "--axis", "x", "--set", "iterations=1", "--set", "window=2", "--quiet")
        code = main(["disparity", "left.png", "right.png", "-o", output, *settings, *options])
        return code, capsys.readouterr().err

    return run


def test_two_maps_of_one_name_keep_their_sidecars(run, folder, capsys):
    assert run("a.npy")[0] == 0
    first = (folder / "a.json").read_bytes()
    assert run("a.pfm", "--set", "window=3")[0] == 0
    assert (folder / "a.json").read_bytes() == first
    second = json.loads((folder / "a.pfm.json").read_text())
    assert (second["map"], second["parameters"]["window"]) == ("a.pfm", 3)
    assert second["outputs"] == {"disparity": "a.pfm", "sidecar": "a.pfm.json"}
    capsys.readouterr()
    assert main(["info", "a.npy", "a.pfm"]) == 0
    seen = [line.rsplit(" ", 1)[1] for line in capsys.readouterr().out.splitlines()]
    assert seen == ["a.json", "a.pfm.json"]


def test_force_replaces_only_the_maps_own_sidecar(run, folder):
    run("a.npy")
    run("a.pfm")
    first = (folder / "a.json").read_bytes()
    code, err = run("a.pfm")
    assert (code, err) == (2, "error: a.pfm: exists already: choose another name, or --force to replace it\n")
    assert run("a.pfm", "--force", "--set", "window=3")[0] == 0
    assert (folder / "a.json").read_bytes() == first
    assert json.loads((folder / "a.pfm.json").read_text())["parameters"]["window"] == 3
    assert {path.name for path in folder.iterdir()} == {
        "left.png", "right.png", "a.npy", "a.json", "a.pfm", "a.pfm.json"
    }  # fmt: skip


def test_a_strangers_json_is_kept_unless_forced(run, folder):
    (folder / "a.json").write_text('{"settings": 1}')
    code, err = run("a.npy")
    assert code == 2
    assert err.startswith("error: a.json, the sidecar of a.npy, exists already: ")
    assert (folder / "a.json").read_text() == '{"settings": 1}'
    assert not (folder / "a.npy").exists()
    assert run("a.npy", "--force")[0] == 0
    assert json.loads((folder / "a.json").read_text())["map"] == "a.npy"
