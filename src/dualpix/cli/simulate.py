"""``dualpix simulate``: a dual-pixel pair with known disparity."""

from __future__ import annotations

import os

import click

from ..errors import InputError
from .options import Command, file_path, force_option, optics_option, output_option
from .say import say


@click.command(cls=Command)
@click.argument("image", type=file_path)
@click.argument("disparity", type=file_path)
@output_option("Folder to write to. Made if missing.", "DIR")
@optics_option("half-disc by default.")
@click.option("--noise", type=float, default=0.0, help="Standard deviation of the noise. Black is 0 and white is 1.")
@click.option("--shot-noise", type=float, default=0.0, help="Variance of the noise of the light itself, at white.")
@click.option(
    "--vignetting", type=float, default=0.0, help="Share of the light that a view loses at its darker border, 0 to 1."
)
@click.option("--seed", type=int, default=0, help="Seed of the noise. The same seed gives the same noise.")
@force_option
def simulate(
    image: str, disparity: str, output: str, optics: str | None, seed: int, force: bool, **sensor: float
) -> None:
    """Make a dual-pixel pair from a photo and its disparity map.

    IMAGE is a photo that is sharp everywhere. DISPARITY is its map in pixels: larger is nearer, 0 is in focus, and
    negative is behind the focus.

    \b
    Written into DIR:
      left.png, right.png  the two views
      disparity.tiff       the true disparity of the left view
      disparity.json       how they were made, and the sign of the map

    \b
    Example:
      dualpix simulate photo.png depth.tiff -o pair --noise 0.01
      dualpix simulate photo.png depth.tiff -o pair --optics pupil:split=0.5
    """
    from ..camera.optics import HALF_DISC, parse_optics
    from ..camera.simulation import simulate as render
    from ..io import OutputSet, encode_map, encode_png, output_folder, read_image, read_map
    from ..io.recorded import assumptions
    from ..io.sidecar import describe, map_record, sidecar_path, to_json

    left, right, truth = (os.path.join(output, name) for name in ("left.png", "right.png", "disparity.tiff"))
    sidecar = sidecar_path(truth)
    lens = HALF_DISC if optics is None else parse_optics(optics)
    paths, roles = (left, right, truth, sidecar), {sidecar: f"the sidecar of {truth}"}
    with output_folder(output), OutputSet(paths, (image, disparity), force, roles) as files:
        scene, depth = read_image(image), read_map(disparity)
        try:
            left_view, right_view, seen = render(scene, depth, optics=lens, seed=seed, **sensor)
        except InputError as error:  # read_image has checked the image, so it is the map
            raise InputError(f"{disparity}: {error}") from None
        files.write(left, encode_png(left_view))
        files.write(right, encode_png(right_view))
        files.write(truth, encode_map(truth, seen))
        record = {
            **map_record(truth, seen, "x"),
            "inputs": {"image": image, "disparity": disparity},
            "simulation": {**sensor, "seed": seed, "optics": lens.record()},
        }
        files.write(sidecar, to_json(record).encode())
    for warning in assumptions(disparity):
        say(f"warning: {warning}", err=True)
    say(f"{output}: left.png, right.png, disparity.tiff, {describe(record['disparity'])} px")
