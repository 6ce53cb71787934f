"""A shot to play with, made by the simulator of this package."""

from __future__ import annotations

from pathlib import Path

SEED, NUMBER, SIZE = 0, 0, (640, 448)
NAMES = {"left": "sample-left.png", "right": "sample-right.png"}


def write_sample(folder: Path) -> dict[str, Path]:
    """Render the sample shot into a folder and return its files by role."""
    from ..io import encode_png
    from ..scenes import draw, make

    shot = make(draw(SEED, NUMBER, *SIZE))
    paths = {role: folder / role for role in NAMES}
    paths["left"].write_bytes(encode_png(shot.left))
    paths["right"].write_bytes(encode_png(shot.right))
    return paths
