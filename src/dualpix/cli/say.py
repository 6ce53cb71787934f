"""Lines for the terminal."""

import click

from ..errors import printable


def say(text: str, err: bool = False) -> None:
    """Print a text on stdout or stderr. Control characters in it, from a file or its name, are shown as escapes."""
    click.echo(printable(text), err=err)
