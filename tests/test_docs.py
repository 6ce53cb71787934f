"""Every code block of the documentation does what it says: Python runs, and so do commands.

What the tests change in a block before it runs is in REPLACED of docs_programs.py. docs_project.py lets commands
install dualpix. What runs elsewhere is in NO_PYTHON.
"""

import importlib.util
import logging
import os
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import docs_programs
import docs_project
import docs_world
import dualpix
from docs_pages import BLOCKS, PAGES, ROOT, WITH_COMMANDS, WITH_PYTHON, blocks_of, commands_of, prose_of
from docs_programs import REPLACED, options_of
from dualpix import cli
from dualpix.batches.manifest import read_manifest
from dualpix.cli.main import COMMANDS
from dualpix.evaluation.datasets import open_dataset
from dualpix.params.config import read_toml

LANGUAGES = {"python", "sh", "console", "text", "math", "csv", "jsonl", "json", "toml", "bibtex"}
DEMO = ("dualpix", "demo", "-o", "demo-out")  # many pages have it, also without -o: it runs once

PATIENCE = 240  # s for a page

# Pages whose blocks of Python take no name as given.
SELF_CONTAINED = ("index", "own-data", "python")

# Blocks of Python that are compiled, but not run, by a string that is in them.
NO_PYTHON = {
    "torch.onnx": "needs PyTorch; test_exports.py runs it on stand-ins",
    'export("': "needs PyTorch; test_exports.py runs it on stand-ins",
}


# ---- what commands and blocks find -----------------------------------------------------------------


@pytest.fixture(scope="session")
def world(tmp_path_factory):
    """A folder with the files that the documentation names."""
    folder = tmp_path_factory.mktemp("docs")
    docs_project.make(folder)
    docs_world.make(folder)
    assert cli.main([*DEMO[1:-1], str(folder / DEMO[-1])]) == 0
    return folder


@pytest.fixture(scope="session")
def packages(tmp_path_factory):
    """A folder with what is installed here, except dualpix."""
    folder = tmp_path_factory.mktemp("site") / "packages"
    docs_project.link_packages(folder)
    return folder


@pytest.fixture
def folder(world, tmp_path, monkeypatch):
    shutil.copytree(world, tmp_path, symlinks=True, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(world.with_name("cache")))  # pages score the same scenes
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "mine", raising=False)  # that of another folder
    yield tmp_path
    logging.getLogger("dualpix").setLevel(logging.NOTSET)
    shutil.rmtree(tmp_path, ignore_errors=True)  # 40 MB for every page


@pytest.fixture
def store(folder, request):
    """The URL of the folder shots, in a store that speaks S3. Without moto it is on the disk."""
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("s3fs") is None:
        return (folder / "shots").as_uri()
    request.getfixturevalue("bucket").put(str(folder / "shots"), f"shots/{folder.name}", recursive=True)
    return f"s3://shots/{folder.name}"


@pytest.fixture
def in_time():
    """A batch whose workers never come would wait for ever."""

    def fail(number, frame):
        raise TimeoutError(f"a page took more than {PATIENCE} s")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(PATIENCE)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def shell(in_time, folder, packages, store, call, monkeypatch):
    """Runs commands in the folder. Programs that are not here have stand-ins."""
    programs = folder / "programs"
    docs_programs.install(programs)
    monkeypatch.setenv("PATH", os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]]))
    monkeypatch.setenv("BROWSER", f"{programs}/browser %s")
    monkeypatch.setenv("DASK_DISTRIBUTED__WORKER__PROFILE__ENABLED", "False")  # it costs time
    shell = docs_programs.Shell(call, store, docs_project.Environments(packages))
    yield shell
    shell.stop()
    docs_programs.end_jobs(programs)


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
def test_commands_run(shell, page):
    write_files(page)
    for block in blocks_of(page):
        for words in commands_of(block):
            if tuple(words) not in (DEMO, DEMO[:2]):
                shell.run(words, str(block))
    assert shell.ended() == []


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
def test_python_runs(shell, given, page, monkeypatch, capfd):
    write_files(page)
    for name, module in docs_programs.MODULES.items():
        monkeypatch.setitem(sys.modules, name, module)
    names = {} if page.stem in SELF_CONTAINED else dict(given)
    for block in blocks_of(page):
        if block.language == "python":
            script = '__name__ == "__main__"' in block.text
            names["__name__"] = "__main__" if script else "docs"
            code = compile("\n" * block.line + shell.fitted(block.text), str(page), "exec")
            if not any(mark in block.text for mark in NO_PYTHON):
                exec(code, names)
            if script:  # of a cluster: it prints a line for every shot
                outcomes = re.findall(r"^(?:\w+/)?left (.*)$", capfd.readouterr().out, re.MULTILINE)
                assert set(outcomes) == {"done"}, block


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


def test_lists_have_no_idle_entry():
    """An entry that nothing needs any more is removed."""
    lines = [" ".join(words) for block in BLOCKS for words in commands_of(block)]
    python = [block.text for block in BLOCKS if block.language == "python"]
    idle = [each for each in REPLACED if not any(re.search(each.pattern, text) for text in (*lines, *python))]
    assert idle == []
    assert [mark for mark in NO_PYTHON if mark not in "".join(python)] == []


def test_manifests_of_a_batch_name_the_same_shots(folder):
    manifests = {block.language: block.text for block in blocks_of(ROOT / "docs/batch.md") if "left" in block.text}
    for suffix in ("csv", "jsonl"):
        Path(f"shots.{suffix}").write_text(manifests[suffix])
    table, lines = read_manifest("shots.csv"), read_manifest("shots.jsonl")
    assert [shot.name for shot in table] == ["first", "second"]
    assert [replace(shot, where="") for shot in table] == [replace(shot, where="") for shot in lines]


def test_table_of_own_data_is_read(folder):
    (table,) = (block for block in blocks_of(ROOT / "docs/own-data.md") if block.language == "csv")
    Path("scenes.csv").write_text(table.text)
    scene = open_dataset("generic", ".").load("desk")
    assert (scene.truth.shape, scene.range, scene.guide) == ((48, 64), (-4, 4), None)


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
    for line in re.findall(r"`(make [\w-]+(?: \w+=[^`]+)?)`", text):
        assert not docs_programs.dry_run(line), line


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
