"""``dualpix mask``: a range of depth as a mask."""

from __future__ import annotations

import click

from .options import Command, file_path, force_option, output_option, quiet_option

SUFFIXES = (".png", ".tif", ".tiff", ".pfm", ".npy", ".exr")


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
    from ..io.recorded import UNIT_NAMES, read_recorded
    from ..render.mask import depth_mask

    suffix = check_suffix(output, "a mask", SUFFIXES)
    with OutputSet([output], [map], force) as files:
        values, unit, _ = read_recorded(map)
        alpha = depth_mask(values, low, high, soft)
        files.write(output, encode_png(alpha) if suffix == ".png" else encode_mask(output, alpha))
    if not quiet:
        inside = f"{100 * alpha.mean():.1f} % inside {low:g} to {high:g}, in {UNIT_NAMES[unit]}"
        click.echo(f"{output}: {alpha.shape[1]}x{alpha.shape[0]}, {inside}")
