"""``dualpix info``: what image and map files hold."""

from __future__ import annotations

import click

from ..errors import InputError
from .options import Command, echo_json, file_path, json_option


@click.command(cls=Command)
@click.argument("files", type=file_path, metavar="FILE...", nargs=-1, required=True)
@json_option
def info(files: tuple[str, ...], as_json: bool) -> None:
    """Describe images and maps.

    Prints the format and size of each FILE. For a map it also prints the smallest and largest value, and names the
    .json file that tells how the map was made.

    \b
    Example:
      dualpix info left.png out.tiff
    """
    from ..io.inspection import file_line, file_record

    records, errors = [], []
    for file in files:
        try:
            records.append(file_record(file))
        except InputError as error:
            errors.append(str(error))
        else:
            if not as_json:
                click.echo(file_line(records[-1]))
    if errors:
        raise InputError("; ".join(errors))
    if as_json:
        echo_json({"files": records})
