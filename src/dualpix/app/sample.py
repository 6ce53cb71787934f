"""A shot to play with, made by the simulator of this package."""

from __future__ import annotations

from pathlib import Path

NAMES = {"left": "sample-left.png", "right": "sample-right.png"}


def write_sample(folder: Path) -> dict[str, Path]:
    """Render the sample shot into a folder and return its files by role."""
    from ..io import encode_png
    from ..scenes import evening, make

    shot = make(evening())
    paths = {role: folder / role for role in NAMES}
    paths["left"].write_bytes(encode_png(shot.left))
    paths["right"].write_bytes(encode_png(shot.right))
    return paths
