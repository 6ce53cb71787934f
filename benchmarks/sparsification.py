"""Is the confidence low where the map is wrong? AI(1) after dropping the least confident pixels.

    python benchmarks/sparsification.py DATA [--set dslr|pixel4|r6ii ...]

DATA holds the same folders as for ablation.py. Figures are means over the scenes of a set, of the default preset, in
protocol proper. The second row of a set is relative to its first figure.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from ablation import SETS, Scene, exit_code, load

import dualpix
from dualpix.evaluation.metrics import affine_invariant

DROPPED = (0, 10, 20, 30, 40, 50)  # percent


def curve(scene: Scene) -> list[float]:
    result = dualpix.disparity(scene.left, scene.right)
    known = np.isfinite(scene.truth)
    limits = np.percentile(result.confidence[known], DROPPED)
    kept = (np.where(result.confidence >= limit, scene.truth, np.nan) for limit in limits)
    return [affine_invariant(result.disparity, truth).ai1 for truth in kept]


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, metavar="DATA")
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS), help="only these sets")
    args = parser.parse_args(argv)
    with exit_code() as code:
        sets = load(args.data, args.set)
        print("dropped, %  " + "".join(f"{percent:>8}" for percent in DROPPED))
        for name, scenes in sets.items():
            ai1 = np.mean([curve(scene) for scene in scenes], axis=0)
            print(f"{name:12}" + "".join(f"{value:8.4f}" for value in ai1))
            print(f"{'':12}" + "".join(f"{value:8.2f}" for value in ai1 / ai1[0]), flush=True)
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
