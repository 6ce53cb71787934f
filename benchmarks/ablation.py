"""Ablation: the error of the method with one parameter changed at a time.

    python benchmarks/ablation.py DATA [--table paper|auto|all] [--set dslr|pixel4|r6ii ...] [--markdown FILE]

DATA holds the folders dslr, pixel4 and r6ii, or some of them. Table `paper` changes the published method, on dslr only;
it leaves out the tables of `dualpix reproduce`. Table `auto` changes the default preset. Figures are geometric means of
AI(1), AI(2) and 1 - |rho|, averaged over the scenes; lower is better. Protocol: paper-dslr for dslr, proper for the
others.
"""

import argparse
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import dualpix
from dualpix.evaluation.datasets import open_dataset
from dualpix.evaluation.metrics import AffineInvariant, affine_invariant
from dualpix.io import OutputSet

# ---- the scenes ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Scene:
    """A pair ready to be matched, and its ground truth: 0 to 1, larger is nearer, NaN where unknown."""

    left: np.ndarray
    right: np.ndarray
    truth: np.ndarray
    protocol: str = "proper"


def scenes(name: str, protocol: str, folder: Path) -> Iterator[Scene]:
    """The scenes of a data set; none if the folder does not exist."""
    if not folder.is_dir():
        return
    dataset = open_dataset(name, folder)
    for each in map(dataset.load, dataset.scenes):
        yield Scene(each.left, each.right, each.truth, protocol)


SETS: dict[str, Callable[[Path], Iterator[Scene]]] = {
    "dslr": partial(scenes, "dslr", "paper-dslr"),
    "pixel4": partial(scenes, "pixel4", "proper"),
    "r6ii": partial(scenes, "r6ii", "proper"),
}


def load(data: Path, wanted: Iterable[str]) -> dict[str, list[Scene]]:
    """The scenes of the sets that were found, by set."""
    found = {name: list(SETS[name](data / name)) for name in wanted}
    sets = {name: scenes for name, scenes in found.items() if scenes}
    if not sets:
        raise dualpix.InputError(f"{data}: no scene found: give the folder that holds {', '.join(found)}")
    for name in found.keys() - sets.keys():
        print(f"{name}: no scene under {data / name}, skipped", file=sys.stderr)
    return sets


# ---- the tables ------------------------------------------------------------------------------------------

Changes = dict[str, Any]

RUN = {"subpixel": "histeq", "penalty": 1.25}  # the settings of most published figures

# Changes to dslr-a, and the geometric mean of the authors' code on scene 005, if we have it.
PAPER: list[tuple[str, Changes, float | None]] = [
    ("histeq, P 1.25 (below: H)", RUN, 0.0545),
    ("H, P 3.2", RUN | {"penalty": 3.2}, 0.0515),
    ("H, N as printed", RUN | {"normalize_iterations": True}, 0.0480),
    ("H, no aggregation (P 1e-6)", RUN | {"penalty": 1e-6}, 0.1206),
    *((f"H, cost {cost} *", RUN | {"cost": cost}, None) for cost in ("ssd", "ncc", "zncc", "bt")),
]
PAPER_NOTE = (
    "Preset dslr-a, 3 scales with iterations 3,3,2 unless the row says otherwise. Published: scene 005 only."
    "\n* P and Ta are those of sad. They have the unit of the cost, and the paper optimised them for each cost."
)

# Changes to auto. Rows that equal the preset are left out.
AUTO: list[Changes] = [
    {"messages": "paper", "penalty": 3.2},
    {"robust_tau": 0.0},
    {"subpixel": "histeq"},
    {"subpixel": "parabola"},
    {"encc_window": 13},
    {"encc_window": 21},
    {"detail": "all"},
    {"vignetting": 0.0},
    {"noise_floor": 0.0, "invalid_threshold": 0.04},
    {"window": 5.0},
    {"window": 14.0},
    {"guide_gamma": 1.0},
    {"exposure": 0.0},
    {"edge_sigma": 2.0},
    {"edge_sigma": 6.0},
    {"range": (-20.0, 20.0)},
    {"penalty": 5000.0},
    {"iterations": (4,) * 3},
    {"iterations": (4,) * 5},
    {"prior_limit": 0.0},
    {"prior_weight": 0.03},
    {"prior_weight": 0.2},
    {"paths": 4},
    {"border": 1.0},
]
AUTO_NOTE = "Preset auto with the change in the first column; %: the change of the error."


class Table:
    """A table whose rows are printed when they are added, and kept for Markdown."""

    def __init__(self, title: str, note: str, header: list[str], labels: Iterable[str]) -> None:
        self.title, self.note = title, note
        self.rows: list[list[str]] = []
        self._width = max(len(label) for label in [header[0], *labels])
        self._widths = [max(9, len(cell)) for cell in header[1:]]
        print(f"\n{title}\n{note}")
        self.add(header)

    def add(self, row: list[str]) -> None:
        self.rows.append(row)
        cells = (cell.rjust(width) for cell, width in zip(row[1:], self._widths, strict=True))
        print(row[0].ljust(self._width), *cells, flush=True)

    def markdown(self) -> str:
        header, *body = self.rows
        lines = [header, ["---", *["---:"] * (len(header) - 1)], *body]
        table = "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
        note = self.note.replace("\n* ", "\n\\* ")
        return f"## {self.title}\n\n{note}\n\n{table}\n"


def paper_table(scenes: list[Scene]) -> Table:
    base = dualpix.preset("dslr-a")
    header = ["dslr", "AI(1)", "AI(2)", "1-rho", "geo", "published"]
    table = Table("The published method, taken apart", PAPER_NOTE, header, [label for label, _, _ in PAPER])
    for label, changes, published in PAPER:
        scores = [score(scene, base.replace(**changes)) for scene in scenes]
        means = (mean(scores, part) for part in ("ai1", "ai2", "spearman", "geometric_mean"))
        table.add([label, *(f"{value:.4f}" for value in means), f"{published:.4f}" if published else "-"])
    return table


def auto_table(sets: dict[str, list[Scene]]) -> Table:
    base = dualpix.preset("auto")
    rows = {"auto": base} | {spell(changes): base.replace(**changes) for changes in AUTO}
    rows = {label: params for label, params in rows.items() if label == "auto" or params != base}
    header = ["changed", *(cell for name in sets for cell in (name, "%"))]
    table = Table("The preset auto, taken apart", AUTO_NOTE, header, rows)
    whole: dict[str, float] = {}
    for label, params in rows.items():
        cells = []
        for name, scenes in sets.items():
            error = mean([score(scene, params) for scene in scenes], "geometric_mean")
            reference = whole.setdefault(name, error)
            cells += [f"{error:.4f}", f"{100 * (error / reference - 1):+.1f}" if label != "auto" else ""]
        table.add([label, *cells])
    return table


def score(scene: Scene, params: dualpix.Params) -> AffineInvariant:
    estimate = dualpix.disparity(scene.left, scene.right, params).disparity
    return affine_invariant(estimate, scene.truth, scene.protocol)


def mean(scores: list[AffineInvariant], part: str) -> float:
    return float(np.mean([getattr(each, part) for each in scores]))


def spell(changes: Changes) -> str:
    """The changes as ``dualpix disparity --set`` takes them."""

    def value(v: object) -> str:
        return ",".join(map(value, v)) if isinstance(v, tuple) else f"{v:g}" if isinstance(v, float) else str(v)

    return " ".join(f"{name}={value(v)}" for name, v in changes.items())


# ---- the command -----------------------------------------------------------------------------------------


def tables(data: Path, which: str, wanted: list[str]) -> list[Table]:
    if which == "paper":
        wanted = [name for name in wanted if name == "dslr"]
        if not wanted:
            raise dualpix.ParameterError("table paper needs dslr alone: leave --set out or add dslr to it")
    sets = load(data, wanted)
    made = []
    if which != "auto" and "dslr" in sets:
        made.append(paper_table(sets["dslr"]))
    if which != "paper":
        made.append(auto_table(sets))
    return made


def report(made: list[Table], argv: list[str]) -> str:
    command = shlex.join(["python", "benchmarks/ablation.py", *argv])
    head = f"Made by `{command}` with dualpix {dualpix.__version__}.\n"
    return "\n".join([head, *(table.markdown() for table in made)])


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--table", choices=["paper", "auto", "all"], default="all")
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS), help="only these sets")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables there too")
    parser.add_argument("--force", action="store_true", help="replace FILE if it exists")
    args = parser.parse_args(argv)
    with exit_code() as code, OutputSet([args.markdown] if args.markdown else [], force=args.force) as outputs:
        made = tables(args.data, args.table, args.set)
        if args.markdown:
            outputs.write(args.markdown, report(made, argv).encode())
    return code[0]


@contextmanager
def exit_code() -> Iterator[list[int]]:
    """The exit code of the block: 0, or 2 if it raises a DualpixError, whose sentence goes to stderr."""
    code = [0]
    try:
        yield code
    except dualpix.DualpixError as error:
        print(f"error: {error}", file=sys.stderr)
        code[0] = 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
