"""Can a dual-pixel pair tell that its views are exchanged?

    python benchmarks/swapped.py DATA [DATA ...]

Each DATA holds the folders of data sets, or some of them. Every pair is matched in both orders, at about 700 px. For
each set the table shows in how many scenes the warning of `order_notes` comes in the right and in the wrong order, and
in how many the matches lie farther from the map in the wrong order (mean of `Signs.bias`): half of them, if the pixels
cannot tell.
"""

import argparse
import sys
from pathlib import Path

import cv2
import numpy as np
from ablation import exit_code
from uncertainty import SETS

import dualpix
from dualpix.evaluation.datasets import open_dataset

WIDTH = 700  # px


def reduced(image: np.ndarray) -> np.ndarray:
    """About WIDTH pixels wide."""
    by = max(1, image.shape[1] // WIDTH)
    size = image.shape[1] // by, image.shape[0] // by
    return cv2.resize(image, size, interpolation=cv2.INTER_AREA) if by > 1 else image


def matched(left: np.ndarray, right: np.ndarray, axis: str | None) -> tuple[bool, float]:
    """Whether the order is called wrong, and how far the matches lie from the map."""
    result = dualpix.disparity(left, right, axis=axis)
    assert result.belief.signs is not None
    assert result.belief.signs.bias is not None
    return any("exchange the views" in each for each in result.warnings), float(result.belief.signs.bias.mean())


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="+", metavar="DATA")
    args = parser.parse_args(argv)
    with exit_code() as code:
        print("| set | scenes | warned, right order | warned, wrong order | matches worse in the wrong order |")
        print("|---|---|---|---|---|")
        for data in args.data:
            for name in (name for name in SETS if (data / name).is_dir()):
                dataset, rows = open_dataset(name, data), []
                for scene in map(dataset.load, dataset.scenes):
                    left, right = reduced(scene.left), reduced(scene.right)
                    (right_order, bias), (wrong_order, worse) = (
                        matched(*views, scene.axis) for views in ((left, right), (right, left))
                    )
                    rows.append((right_order, wrong_order, worse > bias))
                found = [sum(each) for each in zip(*rows, strict=True)]
                print(f"| {data.name}/{name} | {len(rows)} | {found[0]} | {found[1]} | {found[2]} |", flush=True)
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
