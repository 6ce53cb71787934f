"""Try values of parameters around the preset auto, and report no value on scenes that it was chosen on.

    python benchmarks/tune.py DATA [DATA ...] --set NAME=V1,V2,... [--set ...] [--grid] [--scenes-step N]
    python benchmarks/tune.py DATA [DATA ...] --gains

Each DATA holds the folders of data sets, or some of them. Folders made by `dualpix scenes -o DATA/simulated` are sets,
too. A scene counts by its main score in the protocol proper: the mean error in px where the truth is in px, elsewhere
the geometric mean of AI(1), AI(2) and 1 - |rho|. A change of a set is the mean of log(error / error of auto) over its
scenes, and every set counts the same.

The scenes of every set are dealt to three folds in turn. For each fold, the value that is best on the other two is
chosen, auto's own value included; then its change on the fold itself is shown. Without --grid the parameters are
changed one at a time, with it all combinations are tried. Values that are lists cannot be tried.

--gains prints another table: what each part of auto is worth, by switching it off. There the figure of dslr is that of
the protocol paper-dslr.

Scores are kept in --cache under the content of the scene, the parameters and the code, so that a run can go on.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from ablation import Changes, Table, exit_code, spell

import dualpix
from dualpix.evaluation.cache import Cache, cache_folder, job_key, scene_digest
from dualpix.evaluation.datasets import Dataset, open_dataset, score
from dualpix.evaluation.methods import Preset
from dualpix.evaluation.outcomes import Scene, Scores
from dualpix.evaluation.worker import Job
from dualpix.io import OutputSet
from dualpix.params import parse_setting
from dualpix.run import thread_count

SETS = ("simulated", "pixel4", "r6ii", "dslr", "google")
FOLDS = 3
AUTO = "auto"

# ---- scores of scenes --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Set:
    """A data set and the scenes of it that are used."""

    label: str
    dataset: Dataset
    scenes: list[str]

    def fold(self, index: int) -> int:
        """The fold of a scene. Sets begin at different folds, so that sets of one scene are not all in the same."""
        return (index + SETS.index(self.dataset.name)) % FOLDS


Candidates = dict[str, dualpix.Params]  # by label, auto among them
Measured = dict[str, dict[str, list[Scores]]]  # by candidate, then by set, a list over the scenes
LogRatios = dict[str, dict[str, np.ndarray]]  # the same as log(error / error of auto)


def find(folders: Iterable[Path], step: int) -> list[Set]:
    """The sets in the folders, with every step-th scene of those that have enough for all folds."""
    sets = []
    for folder in folders:
        for name in (name for name in SETS if (folder / name).is_dir()):
            dataset = open_dataset(name, folder)
            thin = step if len(dataset.scenes) >= FOLDS * step else 1
            sets.append(Set(f"{folder.name}/{name}", dataset, dataset.scenes[::thin]))
    if not sets:
        raise dualpix.InputError(f"no data set found: give folders that hold some of {', '.join(SETS)}")
    labels = [each.label for each in sets]
    if len({*labels}) < len(labels):
        raise dualpix.InputError(f"two sets have the same name ({', '.join(labels)}): rename one of the folders")
    return sets


def measure(sets: list[Set], candidates: Candidates, cache: Cache) -> Measured:
    """The scores of all candidates on all scenes."""
    found: Measured = {label: {each.label: [] for each in sets} for label in candidates}
    for each in sets:
        for name in each.scenes:
            scene = each.dataset.load(name)
            digest = scene_digest(scene)
            for label, params in candidates.items():
                found[label][each.label].append(scores(each.dataset.name, scene, digest, params, cache))
            print(f"  {each.label} {name} done", file=sys.stderr, flush=True)
    return found


def scores(name: str, scene: Scene, digest: str, params: dualpix.Params, cache: Cache) -> Scores:
    """The scores of one run, from the cache if it was made before."""
    job = Job(name, scene, Preset("", params), thread_count(None))
    path = cache.file(job_key(job, digest)).with_suffix(".json")
    if (kept := read(path)) is not None:
        return kept
    made = score(name, scene, *job.method.run(scene, job.threads))
    with OutputSet([path], force=True) as outputs:
        outputs.write(path, json.dumps(made).encode())
    return made


def read(path: Path) -> Scores | None:
    """Scores that were kept; None if the file is missing or damaged."""
    try:
        kept: Scores = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return kept


def log_ratios(sets: list[Set], measured: Measured) -> LogRatios:
    """How the error of every candidate compares with that of auto, scene by scene."""
    ratios: LogRatios = {label: {} for label in measured}
    for each in sets:
        protocol, main = each.dataset.measure
        errors = {label: np.array([s[protocol][main] for s in found[each.label]]) for label, found in measured.items()}
        for label, values in errors.items():
            ratios[label][each.label] = np.log(values / errors[AUTO])
    return ratios


# ---- choosing ----------------------------------------------------------------------------------------------


def change(sets: list[Set], ratios: dict[str, np.ndarray], folds: Iterable[int]) -> float:
    """Mean log ratio in these folds: mean over the scenes of a set, then over the sets that have scenes there."""
    wanted, means = {*folds}, []
    for each in sets:
        inside = [value for index, value in enumerate(ratios[each.label]) if each.fold(index) in wanted]
        if inside:
            means.append(np.mean(inside))
    return float(np.mean(means)) if means else float("nan")


def best(sets: list[Set], ratios: LogRatios, labels: Iterable[str], folds: Iterable[int]) -> str:
    """The candidate with the least error in these folds. Auto wins a tie."""
    folds = [*folds]
    return min([AUTO, *labels], key=lambda label: change(sets, ratios[label], folds))


def percent(log_ratio: float) -> str:
    return "-" if np.isnan(log_ratio) else f"{100 * np.expm1(log_ratio):+.1f}"


def change_table(sets: list[Set], ratios: LogRatios) -> Table:
    """The change of every candidate by set and by fold."""
    folds = range(FOLDS)
    header = ["changed", *(each.label for each in sets), "all sets", *(f"fold {k + 1}" for k in folds), "better on"]
    note = "Change of the error against auto in %; negative is better. Last: scenes with less error than auto."
    table = Table("Every value", note, header, ratios)
    for label, own in ratios.items():
        if label != AUTO:
            values = np.concatenate([*own.values()])
            parts = [*(float(own[each.label].mean()) for each in sets), change(sets, own, folds)]
            parts += [change(sets, own, [k]) for k in folds]
            table.add([label, *map(percent, parts), f"{(values < 0).sum()}/{values.size}"])
    return table


def choice_table(sets: list[Set], ratios: LogRatios, groups: dict[str, list[str]]) -> Table:
    """For every group and fold: what the other folds choose, and what that changes on the fold."""
    note = "Chosen: the best value on the two other folds. Changes against auto in %; only the last column is a test."
    widest = max(len(label) for label in ratios) + 2
    header = ["parameter", "test fold", "chosen".rjust(widest), "on the others", "on the fold"]
    table = Table("What would be chosen", note, header, groups)
    for group, labels in groups.items():
        tests = []
        for k in range(FOLDS):
            others = [fold for fold in range(FOLDS) if fold != k]
            label = best(sets, ratios, labels, others)
            tests.append(change(sets, ratios[label], [k]))
            table.add([group, str(k + 1), label, percent(change(sets, ratios[label], others)), percent(tests[-1])])
        label = best(sets, ratios, labels, range(FOLDS))
        every = change(sets, ratios[label], range(FOLDS))
        table.add([group, "mean", f"({label})", f"({percent(every)})", percent(float(np.nanmean(tests)))])
    return table


# ---- candidates --------------------------------------------------------------------------------------------


def values_of(setting: str) -> list[Changes]:
    """The changes that ``NAME=V1,V2,...`` asks for."""
    name, equals, values = setting.partition("=")
    if not equals:
        raise dualpix.ParameterError(f"--set {setting} must be NAME=V1,V2,..., such as window=7,10,13")
    return [dict([parse_setting(f"{name}={value}")]) for value in values.split(",")]


def groups_of(settings: list[str], grid: bool) -> dict[str, list[Changes]]:
    """The changes to choose from, by what is chosen: each parameter alone, or all together."""
    each = {setting.partition("=")[0]: values_of(setting) for setting in settings}
    if not grid:
        return each
    return {" ".join(each): [{k: v for part in parts for k, v in part.items()} for parts in product(*each.values())]}


def with_auto(changes: Iterable[Changes]) -> Candidates:
    """The preset auto, and auto with each of the changes that change anything."""
    auto = dualpix.preset(AUTO)
    made = {spell(each): auto.replace(**each) for each in changes}
    return {AUTO: auto} | {label: params for label, params in made.items() if params != auto}


def tune(sets: list[Set], settings: list[str], grid: bool, cache: Cache) -> None:
    groups = groups_of(settings, grid)
    candidates = with_auto(changes for group in groups.values() for changes in group)
    ratios = log_ratios(sets, measure(sets, candidates, cache))
    change_table(sets, ratios)
    labels = {name: [spell(each) for each in group if spell(each) in candidates] for name, group in groups.items()}
    choice_table(sets, ratios, labels)


# ---- the parts of auto -------------------------------------------------------------------------------------

# Each part of auto as it was before.
BEFORE: list[Changes] = [
    {"fattening": 0.0},
    {"relief": 0.0},
    {"encc_window": 13},
    {"polish": 0.0},
    {"edge_sigma": 3.0},
    {"prior_limit": 30.0},
    {"window": 10.0},
    {"robust_tau": 0.028},
    {"flat": 0.0},
]
IN_PIXELS = {"mae": "mae", "bad_0_25": "bad .25", "edges": "edges", "bump": "bump", "ause": "AUSE"}
PLACES = {"mae": 3, "bad_0_25": 1, "edges": 3, "bump": 2, "ause": 3}


def columns(sets: list[Set]) -> Iterator[tuple[str, str, str, str]]:
    """Header, set, protocol and score of every column. Only the first set in pixels gets all its scores."""
    whole = True
    for each in sets:
        protocol, main = each.dataset.measure
        if main == "mae":
            names = IN_PIXELS if whole else {"mae": "mae"}
            yield from ((f"{each.label} {header}", each.label, protocol, name) for name, header in names.items())
            whole = False
        else:
            yield each.label, each.label, "paper-dslr" if each.dataset.name == "dslr" else protocol, main


def gains(sets: list[Set], cache: Cache) -> Table:
    """What each part of auto is worth: its means with one of them switched off, and with all."""
    everything: dict[str, Any] = {name: value for each in BEFORE for name, value in each.items()}
    candidates = with_auto([*BEFORE, everything])
    measured = measure(sets, candidates, cache)
    shown = [*columns(sets)]
    table = Table("What auto gained", "Means over the scenes.", ["changed", *(c[0] for c in shown)], candidates)
    for label, found in measured.items():
        cells = []
        for _, name, protocol, part in shown:
            mean = np.mean([s[protocol][part] for s in found[name] if part in s[protocol]])
            cells.append(f"{mean:.{PLACES.get(part, 4)}f}")
        table.add(["all of these" if label == spell(everything) else label, *cells])
    return table


# ---- the command -------------------------------------------------------------------------------------------


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", metavar="DATA")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--set", action="append", metavar="NAME=V1,V2,...", help="values to try; may be repeated")
    what.add_argument("--gains", action="store_true", help="print what each part of auto is worth")
    parser.add_argument("--grid", action="store_true", help="try all combinations of the values")
    parser.add_argument("--scenes-step", type=int, default=1, metavar="N", help="use every Nth scene of larger sets")
    parser.add_argument("--cache", type=Path, default=cache_folder().parent / "tune", help="folder of finished scores")
    args = parser.parse_args(argv)
    with exit_code() as code:
        if args.scenes_step < 1:
            raise dualpix.ParameterError("--scenes-step must be 1 or more")
        sets, cache = find(args.data, args.scenes_step), Cache(args.cache)
        if args.gains:
            gains(sets, cache)
        else:
            tune(sets, args.set, args.grid, cache)
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
