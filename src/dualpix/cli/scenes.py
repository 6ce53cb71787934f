"""``dualpix scenes``: a set of random scenes with known depth."""

from __future__ import annotations

import re

import click

from .options import Command, force_option, optics_option, output_option, quiet_option
from .progress import progress_bar
from .say import say


def _size(context: click.Context, _: click.Parameter, text: str) -> tuple[int, int]:
    match = re.fullmatch(r"(\d{1,5})x(\d{1,5})", text)
    if not match:
        raise click.BadParameter("give WIDTHxHEIGHT, such as 640x448.", ctx=context)
    return int(match[1]), int(match[2])


@click.command(cls=Command)
@output_option("Folder to write to. Made if missing.", "DIR")
@click.option("--count", type=int, default=50, help="Number of scenes.")
@click.option("--seed", type=int, default=0, help="The same seed gives the same scenes.")
@click.option("--size", callback=_size, default="640x448", metavar="WIDTHxHEIGHT", help="Size of the views, in pixels.")
@optics_option("A random pupil for every scene by default.")
@force_option
@quiet_option
def scenes(
    output: str, count: int, seed: int, size: tuple[int, int], optics: str | None, force: bool, quiet: bool
) -> None:
    """Render random scenes with known depth, to tune and test with.

    Objects of many shapes lie before slanted and curved backgrounds. Textures, blank parts, light, optics, noise and
    the range of disparities differ from scene to scene. Scene k does not depend on the number of scenes. Scenes that
    are there already are kept.

    \b
    Written into DIR/000, DIR/001 and so on:
      l.png, r.png  the two views
      d.npy         the true disparity of the left view, NaN where it is unknown
      scene.json    everything that was chosen at random

    \b
    Example:
      dualpix scenes -o simulated --count 60 --seed 1
    """
    from ..camera.optics import parse_optics
    from ..scenes.files import write_scenes

    lens = None if optics is None else parse_optics(optics)
    with progress_bar(not quiet) as progress:
        made, kept = write_scenes(output, count, seed, size, lens, force=force, progress=progress)
    if not quiet:
        say(f"{output}: {made} scene{'s' * (made != 1)} written" + (f", {kept} kept" if kept else ""))
