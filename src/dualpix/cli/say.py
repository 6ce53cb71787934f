"""Lines for the terminal."""

import re

import click

from ..errors import printable

# Keywords of Python, as errors and warnings name them: force=True, left=*/l.png, or scenes= without a value.
_NAMES = (
    "cache|first|force|fov|grey|guide|jobs|layout|left|linear|mask|mem_limit|near|only|photo|png|right|scene_area|"
    "scene_kind|scenes|threads|truth|truth_kind"
)
_KEYWORDS = re.compile(rf"(?<!\S)({_NAMES})=(True\b|(?=[\s,]|$))?", re.MULTILINE)


def say(text: str, err: bool = False) -> None:
    """Print a text on stdout or stderr. Control characters in it, from a file or its name, are shown as escapes."""
    click.echo(printable(text), err=err)


def in_options(text: str) -> str:
    """An error or warning with the options of the command in place of the keywords of Python."""

    def option(found: re.Match[str]) -> str:
        return f"--{found[1].replace('_', '-')}" + " " * (found[2] is None)

    return _KEYWORDS.sub(option, text)
