"""Rules of the house that a machine can check: nothing grows too long, no module depends on too many."""

import ast
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src/dualpix"
MODULES = sorted(PACKAGE.rglob("*.py"))

LONGEST_FUNCTION = 60  # lines, the docstring not counted
LONGEST_FILE = 450  # lines
MOST_SIBLINGS = 10  # modules of its own package that a module imports


def name_of(path):
    return path.relative_to(PACKAGE).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_functions_fit_on_a_screen(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            doc = ast.get_docstring(node, clean=False)
            lines = node.end_lineno - node.lineno + 1 - (doc.count("\n") + 1 if doc else 0)
            assert lines <= LONGEST_FUNCTION, f"{node.name} has {lines} lines"


@pytest.mark.parametrize(
    "path", [*MODULES, *sorted((ROOT / "core").rglob("*.[ch]*"))], ids=lambda path: path.relative_to(ROOT).as_posix()
)
def test_files_are_short(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_FILE


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_import_few_siblings(path):
    """Siblings are the modules of the same package; `from . import a, b` imports two."""
    siblings = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            siblings |= {node.module.partition(".")[0]} if node.module else {each.name for each in node.names}
    assert len(siblings) <= MOST_SIBLINGS, sorted(siblings)


@pytest.mark.parametrize(
    "name",
    ["camera/axis.py", *(f"method/{each}.py" for each in ("aggregate", "brightness", "confidence", "temporal"))],
)
def test_inner_functions_are_told_their_threads(name):
    """A default of one thread would hide a caller who forgets them."""
    for node in ast.walk(ast.parse((PACKAGE / name).read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            plain = node.args.args[len(node.args.args) - len(node.args.defaults) :]
            named = [each for each, d in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True) if d is not None]
            assert "threads" not in {each.arg for each in (*plain, *named)}, node.name


WITH_OPTIONS = (  # how texts begin that may name an option
    "--ratio: ",  # a variable of a style sheet
    "not run: give --method ",  # a cell of the tables that dualpix reproduce prints
    " --nthreads 1 ",  # of a command of Dask
    "# Parameters\n",  # docs/parameters.md
)


@pytest.mark.parametrize("path", [each for each in MODULES if "cli" not in each.parts], ids=name_of)
def test_messages_name_keywords_not_options(path):
    """A caller in Python knows keywords. `cli/say.py` turns them into options. A whole command line may be named."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            text = re.sub(r"(dualpix|dask) [a-z]+ --.*", "", node.value)
            is_message = " " in text and not text.startswith(WITH_OPTIONS)
            assert not is_message or not re.search(r"(?<![\w-])--[a-z]", text), f"line {node.lineno}: {text}"


@pytest.mark.parametrize("path", sorted(ROOT.glob(".github/workflows/*.yml")), ids=lambda path: path.name)
def test_workflows_only_call_make(path):
    commands = re.findall(r"^\s*- run: (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    assert commands
    assert len(commands) == path.read_text(encoding="utf-8").count("- run:")
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    for command in commands:
        program, target, *_ = command.split()
        assert program == "make"
        assert target in targets


@pytest.mark.skipif(shutil.which("bash") is None or not (ROOT / ".ci/run").is_file(), reason="needs bash and .ci/run")
@pytest.mark.parametrize("outcome", [0, 1])
def test_continuous_integration_goes_on_without_exiftool(tmp_path, outcome):
    """apt-get is asked for it, and whatever it answers, lint and tests run. The commands are stand-ins."""
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci/run", tmp_path / ".ci/run")
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("bash", "dirname", "nice", "timeout"):
        (programs / name).symlink_to(shutil.which(name))
    for name, code, says in (("make", 0, ""), ("apt-get", outcome, ""), ("id", 0, "echo 0")):
        (programs / name).write_text(
            f'#!{shutil.which("bash")}\necho "{name} $*" >> {tmp_path}/log\n{says}\nexit {code}\n'
        )
        (programs / name).chmod(0o755)
    done = subprocess.run([programs / "bash", tmp_path / ".ci/run"], env={"PATH": str(programs)}, capture_output=True)
    called = [line for line in (tmp_path / "log").read_text().splitlines() if not line.startswith("id ")]
    assert (done.returncode, called[0]) == (0, "apt-get -qq update")
    steps = [line for line in called if line.startswith("make ")]
    assert sorted(steps[1:3]) == ["make fuzz SECONDS=60", "make test"]  # side by side
    assert (steps[0], steps[3:]) == ("make lint", ["make sanitize-smoke"])
    assert any("install" in line and "libimage-exiftool-perl" in line for line in called) == (outcome == 0)
    assert done.stderr.decode() == ("" if outcome == 0 else "exiftool is missing and cannot be installed\n")
