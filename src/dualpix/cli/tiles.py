"""``dualpix tiles``: the map of a huge picture, tile by tile."""

from __future__ import annotations

from typing import Any

import click

from . import signals
from .options import Command, file_path, output_option, report, report_options
from .progress import progress_bar


@click.command(cls=Command)
@click.argument("left", type=file_path)
@click.argument("right", type=file_path)
@output_option("Map to write: .tif or .tiff (tiled BigTIFF) or .zarr.")
@click.option("--tile", type=int, metavar="N", default=2048, help="Side of the tiles, in pixels.")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Run the tiles on Dask: tcp://HOST:PORT of a scheduler, or local for Dask workers here.",
)
@click.option("--preset", metavar="NAME", help="Preset to start from, by default auto. See dualpix presets.")
@click.option(
    "--config", type=file_path, metavar="FILE.toml", help="File with parameters. dualpix presets NAME prints one."
)
@click.option("--set", "settings", metavar="NAME=VALUE", multiple=True, help="Set one parameter. May be repeated.")
@click.option(
    "--range",
    "search",
    type=(float, float),
    metavar="MIN MAX",
    help="Smallest and largest disparity to search, in pixels.",
)
@click.option(
    "--axis", type=click.Choice(["x", "y"]), help="Direction in which the views are shifted. By default it is detected."
)
@click.option(
    "--confidence",
    type=file_path,
    metavar="FILE",
    help="Also write how reliable each pixel is, 0 to 1, as .tif, .tiff or .zarr.",
)
@click.option(
    "--threads",
    type=int,
    metavar="N",
    help="Number of processes here. By default that of the environment variable DUALPIX_THREADS, else all cores.",
)
@report_options
def tiles(
    left: str,
    right: str,
    output: str,
    tile: int,
    scheduler: str | None,
    preset: str | None,
    config: str | None,
    settings: tuple[str, ...],
    search: tuple[float, float] | None,
    axis: str | None,
    confidence: str | None,
    threads: int | None,
    as_json: bool,
    force: bool,
    quiet: bool,
) -> None:
    """Make the disparity map of a huge picture.

    LEFT and RIGHT are views of a gigapixel scan or an aerial stereo pair. A reduced copy of the whole is matched first.
    Then the tiles are matched with margins, so that the map has no seams. No process holds the whole picture.

    TIFF files that are tiled, striped or uncompressed, .npy files and Zarr folders are read by windows. Other files are
    read whole once.

    Finished tiles are kept in a hidden folder beside OUT. The same command goes on where it was interrupted. A .json
    file beside OUT records the parameters, the sign and the timings, as for dualpix disparity.

    \b
    Examples:
      dualpix tiles left.tif right.tif -o map.tif
      dualpix tiles left.tif right.tif -o map.tif --tile 4096
      dualpix tiles left.npy right.npy -o map.zarr --range -20 40
      dualpix tiles west.tif east.tif -o map.tif --preset stereo
      dualpix tiles left.tif right.tif -o map.tif --scheduler tcp://host:8786
    """
    from ..mosaic.api import Request, make
    from ..params import chosen

    name, params = chosen(preset, config, settings, search)
    request = Request(
        left=left,
        right=right,
        output=output,
        confidence=confidence,
        config=config,
        preset=name,
        params=params,
        tile=tile,
        axis=axis,
        scheduler=scheduler,
        threads=threads,
        force=force,
    )
    signals.goes_on = True
    with progress_bar(not quiet) as progress:
        record = make(request, progress)
    report(record, _summary, as_json, quiet, record["warnings"])


def _summary(record: dict[str, Any]) -> str:
    from ..method.result import in_words

    outputs, tiles = record["outputs"], record["tiles"]
    others = ", ".join(path for name, path in outputs.items() if name != "disparity")
    what, how = in_words(record)
    cut = (
        f"{tiles['count']} tile{'s' * (tiles['count'] != 1)} of {tiles['side']} px with margins of {tiles['margin']} px"
    )
    return f"{outputs['disparity']}: {what}\n{how}\n{cut}; also wrote {others}"
