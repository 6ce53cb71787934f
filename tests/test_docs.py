"""Every code block of the documentation does what it says: Python runs, commands run or at least parse.

What cannot run here is listed in NOT_RUN and NO_PYTHON, each with its reason.
"""

import logging
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import pytest

import dualpix
from dualpix import cli
from dualpix.cli.main import COMMANDS, group
from dualpix.evaluation.datasets import open_dataset
from dualpix.params.config import read_toml
from onnx_files import node, save, slope_network
from raw_files import LONG, RATIONAL, SHORT, cr2, exif_tags, frames_of, mosaic
from test_datasets import middlebury, r6ii, simulated

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted(ROOT.glob("docs/*.md"))]
LANGUAGES = {"python", "sh", "console", "text", "math", "csv", "jsonl", "json", "toml", "bibtex", "dockerfile"}
SHELL = ("sh", "console")

# Commands of dualpix that are parsed, but not run. The first pattern that is found in a command decides.
NOT_RUN = {
    r"dualpix app": "serves a page until it is stopped; test_app_*.py run it",
    r"--scheduler|s3://": "needs a scheduler or a store; test_cluster.py and test_urls.py have them",
    r"\bDIR\b|005_L|002_left": "needs a data set",
    r"dualpix (bench|reproduce)": "needs minutes or data sets; test_bench.py and test_reproduction.py run parts",
    r"--count [56]0": "renders for a minute; test_scenes.py renders fewer",
    r"dualpix calibrate|--calibration": "needs photos of sheets and planes; test_calibration.py renders them",
    r"dualpix video": "needs clips; test_video.py makes them",
}

# Other programs: the first word, or the first two.
OTHERS = {
    "dask": "a scheduler runs until it is stopped; test_cluster.py starts one",
    "helm": "needs Kubernetes",
    "sbatch": "needs SLURM",
    "export": "of a shell",
    "python3 -m": "makes an environment",
    ".venv/bin/pip": "installs packages",
    ".venv/bin/python": "runs these tests",
    "PYTHONPATH=benchmarks": "runs the fuzzer; test_fuzz.py tests it",
    "benchmarks/sanitized": "needs a build under a sanitizer",
}

# Pages whose blocks of Python take no name as given.
SELF_CONTAINED = ("index", "own-data", "python")

# Blocks of Python that are compiled, but not run, by a string that is in them.
NO_PYTHON = {
    "SLURMCluster": "needs SLURM",
    "KubeCluster": "needs Kubernetes",
    "torch.onnx": "needs PyTorch; test_exports.py runs it on stand-ins",
    'export("': "needs PyTorch; test_exports.py runs it on stand-ins",
    "import open3d": "opens a window; not one of our dependencies",
}


class Block(NamedTuple):
    page: Path
    line: int
    language: str
    text: str

    def __str__(self):
        return f"{self.page.name}:{self.line}"


def blocks_of(page):
    text = page.read_text(encoding="utf-8")
    found = re.finditer(r"^( *)```([^\n]*)\n(.*?)^\1```$", text, re.MULTILINE | re.DOTALL)
    return [Block(page, text[: each.start()].count("\n") + 1, each[2], each[3]) for each in found]


def prose_of(page):
    return re.sub(r"^( *)```.*?^\1```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


def commands_of(block):
    """The commands of a block of a shell, as lists of words. In a console they begin with a $, the rest is output."""
    lines = block.text.replace("\\\n", " ").splitlines()
    if block.language == "console":
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    return [words for line in lines if (words := shlex.split(line, comments=True))]


BLOCKS = [block for page in PAGES for block in blocks_of(page)]
WITH_COMMANDS = [page for page in PAGES if any(block.language in SHELL for block in blocks_of(page))]
WITH_PYTHON = [page for page in PAGES if any(block.language == "python" for block in blocks_of(page))]


# ---- what commands and blocks find in their folder ---------------------------------------------------

LEFT = "left.png left.tif west.tif photo.png im0.png left1.png left2.png photos/day1/left.png photos/day2/left.png"
MAPS = "d.tiff depth.tiff out.tiff truth.pfm"
SENSOR = {40962: (LONG, 960), 41486: (RATIONAL, 267), 41488: (SHORT, 3)}  # 960 pixels, 267 per cm
DEMO = ("dualpix", "demo", "-o", "demo-out")  # many pages have it, also without -o: it runs once
HINTS = '[{"kind": "near", "disparity": 1.5, "points": [[320, 200]], "radius": 12}]'


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """A folder with the files that the documentation names: views of a slanted plane, and its map."""
    folder = tmp_path_factory.mktemp("docs")
    noise = np.random.default_rng(0).uniform(0, 255, (512, 960, 3))
    image = np.uint8(np.clip(6 * (cv2.GaussianBlur(noise, None, 2) - 127) + 127, 0, 255))
    y, x = np.mgrid[:512, :960]
    left, right, truth = dualpix.simulate(image, (2 - 3 * x / 960 + 0.7 * (y - 256) / 256).astype(np.float32))
    for name in LEFT.split():
        for side, view in ((name, left), (other_side(name), right)):
            (folder / side).parent.mkdir(parents=True, exist_ok=True)
            cv2.imwrite(str(folder / side), view[..., ::-1])
    for name in MAPS.split():
        dualpix.write_map(folder / name, truth)
    (folder / "hints.json").write_text(HINTS)
    counts = (25 * mosaic(view).astype(np.int64) for view in (left, right))
    (folder / "IMG_0001.CR3").write_bytes(cr2(*frames_of(*counts), exif=exif_tags() | SENSOR))
    for side, sign in (("left", -1), ("right", 1)):  # measured images of a point, for simulation.md
        np.save(folder / f"{side}.npy", half_disc(sign))
    own_data(folder)
    networks(folder)
    assert cli.main([*DEMO[1:-1], str(folder / DEMO[-1])]) == 0
    return folder


def own_data(folder):
    """Small scenes, as own-data.md and networks.md name them."""
    for name in ("scenes/007", "scenes/008", "desk"):
        r6ii(folder, name)  # depth in millimetres
        (folder / name / "d.png").rename(folder / name / "depth.png")
    dualpix.write_map(folder / "desk/depth.tiff", np.linspace(0.5, 5, 48 * 64, dtype=np.float32).reshape(48, 64))
    cv2.imwrite(str(folder / "desk/mask.png"), np.full((48, 64), 255, np.uint8))
    simulated(folder / "data/simulated", "one", (48, 64))
    middlebury(folder / "data/middlebury", "one")


def networks(folder):
    """net.onnx takes two grey views at once. raft.onnx has an input for each view."""
    slope_network(folder / "net.onnx", (-0.5, 0, 0.5))
    nodes = [node("Sub", "b a", "all"), node("ReduceMean", "all", "y", axes=[1])]
    save(folder / "raft.onnx", nodes, {"a": [1, 3, None, None], "b": [1, 3, None, None]})


def other_side(name):
    for left, right in (("left", "right"), ("west", "east"), ("im0", "im1"), ("photo.", "photo-right.")):
        if left in name.rpartition("/")[2]:
            return right.join(name.rsplit(left, 1))
    raise ValueError(name)


def half_disc(sign):
    y, x = np.mgrid[-7:8, -7:8]
    return ((x * x + y * y <= 49) & (sign * x >= 0)).astype(np.float32)


@pytest.fixture
def folder(world, tmp_path, monkeypatch):
    shutil.copytree(world, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # that of another folder
    yield tmp_path
    logging.getLogger("dualpix").setLevel(logging.NOTSET)
    shutil.rmtree(tmp_path, ignore_errors=True)  # 40 MB for every page


def write_files(page):
    """A block that begins with the name of a file is this file."""
    for block in blocks_of(page):
        if named := re.match(r"# ([\w-]+\.(?:py|toml))\n", block.text):
            Path(named[1]).write_text(block.text)


# ---- blocks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_block_names_its_language(block):
    assert block.language in LANGUAGES, f"{block}: name one of {sorted(LANGUAGES)}"


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda page: page.stem)
def test_commands_run(folder, call, page):
    write_files(page)
    for block in blocks_of(page):
        for words in commands_of(block) if block.language in SHELL else ():
            if words[0] != "dualpix":
                check_other(words, str(block))
            elif parse(words) and not reason_not_to_run(words) and tuple(words) not in (DEMO, DEMO[:2]):
                again = ["--force"] if "-o" in words and "--force" in options_of(words[1]) else []
                code, _, err = call(*words[1:], *again)
                assert code == 0, f"{block}: {' '.join(words)}\n{err}"


def test_the_tutorial_runs_on_the_scene_that_the_demo_draws(tmp_path, monkeypatch, call):
    """Without the extra demo, its two points must differ in depth as well."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "skimage.data", None)  # as if scikit-image were not installed
    for block in blocks_of(ROOT / "docs/photographer.md"):
        for words in commands_of(block):
            code, _, err = call(*words[1:])
            assert code == 0, f"{block}: {' '.join(words)}\n{err}"
    z = dualpix.read_map("metres.tiff")
    assert (z[304, 553], z[70, 560]) == pytest.approx((1.5, 4), rel=0.05)


@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: page.stem)
@pytest.mark.filterwarnings("default")  # of libraries; what the blocks do is what counts
def test_python_runs(folder, given, page):
    write_files(page)
    names = {"__name__": "docs"} if page.stem in SELF_CONTAINED else {"__name__": "docs", **given}
    for block in blocks_of(page):
        if block.language == "python":
            code = compile("\n" * block.line + block.text, str(page), "exec")
            if not any(mark in block.text for mark in NO_PYTHON):
                exec(code, names)


@pytest.fixture(scope="session")
def given(world):
    """What the blocks of the pages take as given."""
    pair = dualpix.read_pair(world / "left.png", world / "right.png")
    result = dualpix.disparity(pair.left, pair.right)
    gt = dualpix.read_map(world / "truth.pfm")
    return {
        "dualpix": dualpix,
        "left": pair.left,
        "right": pair.right,
        "lefts": ["left1.png", "left2.png"],
        "rights": ["right1.png", "right2.png"],
        "photo": pair.left,
        "image": pair.left[:128, :192],
        "disparity": gt[:128, :192],
        "result": result,
        "est": result.disparity,
        "gt": gt,
        "confidence": result.confidence,
        "sigma": result.sigma,
        "error": result.disparity - gt,
    }


def test_lists_of_what_does_not_run_have_no_idle_entry():
    """An entry that nothing needs any more is removed."""
    lines = [" ".join(words) for block in BLOCKS if block.language in SHELL for words in commands_of(block)]
    python = "\n".join(block.text for block in BLOCKS if block.language == "python")
    assert [pattern for pattern in NOT_RUN if not any(re.search(pattern, line) for line in lines)] == []
    assert [start for start in OTHERS if not any(line.startswith(start) for line in lines)] == []
    assert [mark for mark in NO_PYTHON if mark not in python] == []


def test_table_of_own_data_is_read(folder):
    (table,) = (block for block in blocks_of(ROOT / "docs/own-data.md") if block.language == "csv")
    Path("scenes.csv").write_text(table.text)
    scene = open_dataset("generic", ".").load("desk")
    assert (scene.truth.shape, scene.range, scene.guide) == ((48, 64), (-4, 4), None)


def reason_not_to_run(words):
    line = " ".join(words)
    return next((reason for pattern, reason in NOT_RUN.items() if re.search(pattern, line)), None)


def parse(words):
    """Parse a command as the program does, without running it; raises click's error."""
    command = group.get_command(None, words[1])
    assert command is not None, f"there is no command {words[1]}"
    command.make_context(words[1], list(words[2:]))
    return True


def options_of(name):
    return {flag for each in group.get_command(None, name).params for flag in (*each.opts, *each.secondary_opts)}


def check_other(words, where):
    """Commands of other programs: their targets, extras and scripts exist."""
    if words[0] == "make":
        targets = re.findall(r"^\.PHONY:((?:.*\\\n)*.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0].split()
        assert words[1] in targets, f"{where}: make {words[1]}"
    elif words[:2] == ["pip", "install"]:
        check_extras(words[2], where)
    elif words[0] == "python":
        assert (ROOT / words[1]).is_file(), f"{where}: {words[1]}"
    else:
        assert any(" ".join(words).startswith(start) for start in OTHERS), f"{where}: {' '.join(words)}"


def test_every_extra_is_in_the_table():
    """With all that it installs, other extras of dualpix aside."""
    extras = read_toml(ROOT / "pyproject.toml", "project")["project"]["optional-dependencies"]
    text = (ROOT / "docs/installing.md").read_text(encoding="utf-8")
    table = re.search(r"^\| extra \|.*\n\|-.*\n((?:\|.*\n)+)", text, re.MULTILINE)[1]
    rows = dict(re.findall(r"^\| `([\w-]+)` \|.*\| (.+) \|$", table, re.MULTILINE))
    assert set(rows) == set(extras)
    for name, requirements in extras.items():
        packages = {re.match(r"[\w-]+", each)[0] for each in requirements} - {"dualpix"}
        listed = {each for each in rows[name].split(", ") if "the extra" not in each and "`" not in each}
        assert listed == packages, name


def check_extras(requirement, where):
    extras = set(re.findall(r"^([\w-]+) = \[", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE))
    named = re.search(r"\[([\w,-]+)\]", requirement)
    assert not named or set(named[1].split(",")) <= extras, f"{where}: {requirement}"


# ---- text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "CHANGELOG.md", *sorted(ROOT.glob("examples/*.py"))], ids=lambda p: p.name
)
def test_commands_in_the_text_exist(page):
    """`dualpix NAME --option` in a sentence: the command has the option."""
    text = prose_of(page) if page.suffix == ".md" else re.sub(r"\n# ?", "\n", page.read_text(encoding="utf-8"))
    for found in re.findall(r"`dualpix ([^`]+)`", text):
        name, *words = found.split()
        if not name.startswith("-"):
            assert name in COMMANDS, f"dualpix {found}"
            unknown = {word.partition("=")[0] for word in words if re.match(r"--\w", word)} - options_of(name)
            assert unknown <= {"--help"}, f"dualpix {found}"
    for script in re.findall(r"`python (benchmarks/[\w/.]+)", text):
        assert (ROOT / script).is_file(), script
    for requirement in re.findall(r"`pip install ([^`]+)`", text):
        check_extras(requirement, page.name)


@pytest.mark.parametrize("page", [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/*.md"))], ids=lambda p: p.name)
def test_links_lead_to_files_and_headings(page):
    for target, anchor in re.findall(r"\]\((?![a-z]+:)([^)#\s]*)(?:#([^)\s]*))?\)", prose_of(page)):
        there = page.parent / target if target else page
        assert there.exists(), f"{page.name}: {target}"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", prose_of(there), re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", each.lower()).replace(" ", "-") for each in headings}, anchor


# ---- examples --------------------------------------------------------------------------------------


SAYS = {  # what every example ends with
    "photographer": r"\d+% of the picture is nearer",
    "researcher": r"less than the next by +p\nauto .* 0\.031\nown:blocks",  # better on every scene
    "engineer": r"(?s)first: 3 shots.*again: 3 shots",
}


@pytest.mark.parametrize("script", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.stem)
def test_example_runs(script, tmp_path):
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(SAYS[script.stem], done.stdout)


def test_pictures_of_gallery_and_report_are_small():
    for path in [*ROOT.glob("docs/gallery-*.jpg"), *ROOT.glob("docs/report-*.jpg")]:
        assert path.stat().st_size < 150_000, path.name
