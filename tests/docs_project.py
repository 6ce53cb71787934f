"""The project as a reader has cloned it, but with a core that is compiled already: pip takes seconds."""

import os
import re
import subprocess
import venv
import zipfile
from importlib import metadata
from pathlib import Path

from docs_pages import ROOT

CLONED = "README.md LICENSE benchmarks src tests"
OWN = ("pip", "python3", ".venv/")  # such commands make or use an environment of their own

BACKEND = '''"""Builds the package by handing out the wheel beside it."""

import shutil
from pathlib import Path


def build_wheel(folder, settings=None, metadata=None):
    (wheel,) = Path(__file__).parent.glob("*.whl")
    return Path(shutil.copy(wheel, folder)).name


build_editable = build_wheel
'''
BUILD_SYSTEM = '[build-system]\nrequires = []\nbuild-backend = "compiled"\nbackend-path = ["."]\n'


def make(folder):
    """Fill a folder: links to the project, and a build backend that compiles nothing."""
    for name in CLONED.split():
        (folder / name).symlink_to(ROOT / name)
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (folder / "pyproject.toml").write_text(re.sub(r"\[build-system\]\n(.+\n)+", BUILD_SYSTEM, text, count=1))
    (folder / "compiled.py").write_text(BACKEND)
    pack(folder)


def pack(folder):
    """Make a wheel of the dualpix that is installed here."""
    installed = metadata.distribution("dualpix")
    tag = re.search(r"^Tag: (.+)$", installed.read_text("WHEEL"), re.MULTILINE)[1]
    with zipfile.ZipFile(folder / f"dualpix-{installed.version}-{tag}.whl", "w") as wheel:
        for file in installed.files:
            if not {"..", "__pycache__"} & {*file.parts}:
                wheel.write(file.locate(), file)


def link_packages(folder):
    """Fill a folder with all packages that are installed here, except dualpix and pip: they need no download."""
    folder.mkdir()
    for path in Path(metadata.distribution("dualpix").locate_file("")).iterdir():
        if not re.match(r"_?dualpix|pip\b|.*\.pth$|__pycache__", path.name):
            (folder / path.name).symlink_to(path)


class Environments:
    """Runs commands that make environments or use them. `python` is that of an environment without dualpix."""

    def __init__(self, packages):
        self.python = Path.cwd() / "env/bin/python"
        out_of_the_way = {name for name in os.environ if re.match("PIP_|PYTEST_|MAKE|MFLAGS|PYTHONPATH$", name)}
        self.variables = {name: value for name, value in os.environ.items() if name not in out_of_the_way}
        self.variables |= {
            "PIP_NO_INDEX": "1",
            "PIP_NO_COMPILE": "1",
            "PIP_NO_WARN_CONFLICTS": "1",  # saves a second
            "PIP_FIND_LINKS": str(Path.cwd()),
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
            "PYTHONPATH": str(packages),
        }

    def run(self, line, where):
        """Run a command; it must succeed."""
        if line.startswith("pip "):
            venv.create(self.python.parents[1], clear=True, symlinks=True)
            line += f" && {self.python.with_name('dualpix')} --version"
        done = subprocess.run(line, shell=True, env=self.variables, capture_output=True, text=True)
        assert "does not provide the extra" not in done.stderr, f"{where}: {done.stderr}"
        assert done.returncode == 0, f"{where}: {line}\n{done.stdout}{done.stderr}"
