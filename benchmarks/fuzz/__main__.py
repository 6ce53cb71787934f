"""The command: run for some seconds or over a number of inputs, print what was found, and save it."""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

# One thread a process, and a limit of pixels, set before the libraries are loaded.
os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}
os.environ["DUALPIX_MAX_PIXELS"] = "1000000"

from .inputs import KERNELS, number
from .targets import KINDS
from .workers import Report, Run

SAVED = 3  # files kept of one finding


class Found:
    """Findings by kind and name. The first files of each are saved."""

    def __init__(self, folder: Path, seed: int, kinds: tuple[str, ...]) -> None:
        self.folder, self.seed, self.kinds = folder, seed, kinds
        self.counts: Counter[tuple[str, str]] = Counter()

    def add(self, report: Report) -> None:
        self.counts[report.kind, report.name] += 1
        number_of = self.counts[report.kind, report.name]
        if number_of > SAVED:
            return
        path = self.save(report, number_of)
        if number_of == 1:
            print(f"{report.kind}: {report.name}: {path}", flush=True)

    def save(self, report: Report, number_of: int) -> Path:
        given = number(report.index, self.seed, self.kinds)
        words = "".join(letter if letter.isalnum() else "-" for letter in report.name)[:80]
        suffix = Path(KINDS[given.kind].file).suffix if given.reader else ".call"
        path = self.folder / given.kind / f"{words}-{number_of}{suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(given.data)
        reader = given.reader.__name__ if given.reader else KERNELS
        note = {"reader": reader, "seed": given.seed, "finding": report.name, "details": report.details}
        path.with_name(path.name + ".txt").write_text(
            "\n".join(f"{key}: {value}" for key, value in note.items()) + "\n"
        )
        return path


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, help="how long to run; 60 if no number of inputs is given")
    parser.add_argument("--inputs", type=int, help="how many inputs to judge")
    parser.add_argument("--seed", type=int, default=0, help="another seed, other inputs")
    parser.add_argument("--only", action="append", choices=[*KINDS, KERNELS], help="this kind only; may be repeated")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--found", type=Path, default=Path("build/fuzz-found"), help="folder for what is found")
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    return parser.parse_args()


def main() -> int:
    options = parsed()
    seconds = options.seconds if options.seconds or options.inputs else 60.0
    kinds = tuple(options.only or [*KINDS, KERNELS])
    sanitized = "san" in os.environ.get("LD_PRELOAD", "")
    guided = start_guided(options, seconds) if seconds and not options.only else None
    run = Run(options.seed, kinds, max(1, options.processes - (guided is not None)), enforced=not sanitized)
    found = Found(options.found, options.seed, kinds)
    start = time.monotonic()
    for report in run.reports(options.inputs, seconds):
        found.add(report)
    lasted = time.monotonic() - start
    for kind in kinds:
        own = sum(count for (of, _), count in found.counts.items() if of == kind)
        print(f"{kind:16} {run.counts[kind]:8} inputs {own:6} findings")
    total = sum(found.counts.values())
    said = f"{total} of {run.done} inputs with anything but a clean error or a right result"
    print(f"{said}, in {lasted:.0f} s, seed {options.seed}", flush=True)
    if options.json:
        record = {
            "inputs": dict(run.counts),
            "findings": [[*key, n] for key, n in found.counts.items()],
            "seconds": lasted,
        }
        options.json.write_text(json.dumps(record, indent=2) + "\n")
    failed = guided is not None and guided.wait() != 0
    return 1 if total or failed else 0


def start_guided(options: argparse.Namespace, seconds: float) -> subprocess.Popen[bytes] | None:
    """Fuzz the readers with atheris in another process, at the same time."""
    if importlib.util.find_spec("atheris") is None:
        print(
            "atheris is not installed (pip install 'dualpix[fuzz]'): mutations are not guided by coverage", flush=True
        )
        return None
    line = [
        sys.executable,
        "-m",
        "fuzz.guided",
        f"--seconds={seconds}",
        f"--seed={options.seed}",
        f"--found={options.found}",
    ]
    return subprocess.Popen(line)


if __name__ == "__main__":
    sys.exit(main())
