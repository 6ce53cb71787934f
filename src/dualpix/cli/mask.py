"""``dualpix mask``: a range of depth as a mask."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from .options import Command, file_path, force_option, output_option, quiet_option
from .say import say

if TYPE_CHECKING:
    from ..types import Map

NUMBERS = {"px": "px of disparity", "m": "metres", "relative": "relative inverse depth"}


@click.command(cls=Command)
@click.argument("map", type=file_path)
@output_option("Mask to write: .png (16 bit), .tif, .tiff, .pfm, .npy or .exr.")
@click.option("--from", "low", type=float, required=True, metavar="D", help="Start of the range. May be -inf.")
@click.option("--to", "high", type=float, required=True, metavar="D", help="End of the range. May be inf.")
@click.option("--soft", type=float, default=0.0, metavar="D", help="Width of the ramp outside each end.")
@force_option
@quiet_option
def mask(map: str, output: str, low: float, high: float, soft: float, force: bool, quiet: bool) -> None:
    """Make a mask of everything within a range of depth.

    The mask is 1 (white) where MAP is between --from and --to and 0 (black) elsewhere. --soft adds a ramp.
    The numbers are in the unit of MAP: metres for a map by dualpix depth, pixels of disparity for a map by
    dualpix disparity. Pixels without a value get 0. --to inf includes what is too far to tell.

    darktable loads .pfm and .png files as external raster masks. In an .exr file the mask is the alpha channel.

    \b
    Examples:
      dualpix mask depth.tiff -o person.png --from 1.2 --to 1.8 --soft 0.1
      dualpix mask out.tiff -o near.pfm --from 0.5 --to inf
    """
    from ..io import OutputSet, encode_png
    from ..io.formats import check_suffix, encode_mask
    from ..io.recorded import assumptions, read_recorded
    from ..io.sidecar import read_sidecar, sidecar_path
    from ..render.mask import SUFFIXES, depth_mask

    suffix = check_suffix(output, "a mask", SUFFIXES)
    # A map that the mask replaces takes its sidecar along, which would tell another unit.
    stale = sidecar_path(output) if read_sidecar(output) else None
    with OutputSet([output], [map], force) as files:
        values, unit, _ = read_recorded(map)
        alpha = depth_mask(values, low, high, soft)
        files.write(output, encode_png(alpha) if suffix == ".png" else encode_mask(output, alpha))
    if stale is not None:
        os.remove(stale)
    for warning in assumptions(map):
        say(f"warning: {warning}", err=True)
    if not quiet:
        inside = f"{100 * alpha.mean():.1f} % inside {low:g} to {high:g}, in {NUMBERS[unit]}"
        hint = "" if alpha.any() else f"; the map {_range(values)}"
        say(f"{output}: {alpha.shape[1]}x{alpha.shape[0]}, {inside}{hint}")


def _range(values: Map) -> str:
    """What the map holds, for a user who missed it."""
    import numpy as np

    from ..io.layers import finite_range

    low, high = finite_range(values)
    return f"goes from {low:.4g} to {high:.4g}" if np.isfinite(values).any() else "has no finite values"
