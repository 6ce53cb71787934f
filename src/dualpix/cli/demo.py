"""``dualpix demo``: everything once, on a shot with known depth."""

from __future__ import annotations

from pathlib import Path

import click

from .options import Command, echo_json, file_path, force_option, json_option
from .progress import progress_bar
from .say import say


@click.command(cls=Command)
@click.option("-o", "--output", type=file_path, metavar="DIR", default="demo-out", help="Folder to write to.")
@force_option
@json_option
def demo(output: str, force: bool, as_json: bool) -> None:
    """Try everything on a simulated shot.

    A photograph with known depth is turned into a dual-pixel pair. The pair is matched, and the map is compared with
    the truth. DIR gets the pair, the maps, pictures of them, and the page index.html that shows them all. The
    photograph is part of the extra 'dualpix[demo]'. Without it, dualpix draws a scene by itself.

    \b
    Example:
      dualpix demo -o demo-out
    """
    from ..errors import OutputError
    from ..evaluation.demo import run as run_demo

    if not force and Path(output, "index.html").exists():
        raise OutputError(f"{output}: a demo exists already here: give another folder with -o DIR, or --force")
    with progress_bar(True) as progress:
        result = run_demo(Path(output), progress=progress, force=force)
    if as_json:
        echo_json(result)
        return
    click.echo(f"scene: {result['scene']}")
    for name, score in result["scores"].items():
        say(f"{name}: {score:.4g}" if isinstance(score, float) else f"{name}: {score}")
    say("wrote " + ", ".join(map(str, result["files"])))
