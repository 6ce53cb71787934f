"""``dualpix app``: drop a shot on a page, see its depth, click where it should be sharp."""

from __future__ import annotations

import click

from .options import Command, file_path


@click.command(cls=Command)
@click.argument("files", type=file_path, nargs=-1)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="Port to serve on; 0 is a free one."
)
@click.option("--no-open", is_flag=True, help="Print the address only, and open no browser.")
def app(files: tuple[str, ...], port: int, no_open: bool) -> None:
    """Show depth in the browser, and play with it.

    The page is served from this computer to this computer only, and nothing leaves it. FILES are two views, files that
    hold both views, or folders of them. Without FILES, drop them on the page. Ctrl-C ends the app.

    \b
    Examples:
      dualpix app
      dualpix app left.png right.png
      dualpix app IMG_0001.CR3 IMG_0002.CR3
      dualpix app pictures/ --no-open --port 8000
    """
    from ..app.start import serve

    for line in serve(files, port, open_browser=not no_open):
        click.echo(line)
