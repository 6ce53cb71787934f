"""All parameters in words: for the terminal, and for docs/parameters.md.

python -m dualpix.params.explain > docs/parameters.md
"""

import textwrap
from collections.abc import Iterator

from .declared import Group, parameters
from .definitions import GROUPS
from .needs import spell
from .presets import preset

WIDTH = 100


def explain(name: str | None = None) -> str:
    """Every parameter by group, as plain text of 100 columns; with the name of a preset, its values.

    Raises
    ------
    ParameterError
        If there is no preset of that name.
    """
    return "\n".join(line for group in GROUPS for line in _group(group, name))


def _group(group: type[Group], name: str | None) -> Iterator[str]:
    yield from _wrapped(f"{group.__name__}: {_about(group)}", "")
    yield ""
    for key, each in parameters(group).items():
        value, note = "", ""
        if name is not None:
            params = preset(name)
            value = f" = {spell(getattr(params, key))}"
            note = "" if params.has_effect(key) else f" In {name} it has no effect."
        yield from _wrapped(f"{key}{value}  ({each.expects})", "  ")
        yield from _wrapped(each.meaning + note, "      ")
        yield ""


def _wrapped(text: str, indent: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=indent, subsequent_indent="      ", break_on_hyphens=False, break_long_words=False
    )


def markdown() -> str:
    """The same as a page of documentation."""
    lines = [INTRODUCTION]
    for group in GROUPS:
        lines += ["", f"## {group.__name__}: `params.{group.__name__.lower()}`", "", _about(group), ""]
        lines += ["| parameter | value | what it does |", "|---|---|---|"]
        lines += [f"| `{key}` | {each.expects} | {each.meaning} |" for key, each in parameters(group).items()]
    return "\n".join(lines) + "\n"


def _about(group: type[Group]) -> str:
    return str(group.__doc__).strip()


INTRODUCTION = """\
# Parameters

<!-- made by: python -m dualpix.params.explain > docs/parameters.md -->

Set a parameter with `--set name=value`, in a config file (`name = value`, TOML), or in Python:
`dualpix.preset("auto").replace(window=5)`. `dualpix presets NAME` prints the values of a preset.

Disparities are in pixels (px) of the input. Brightness is on a scale of 0 to 255. Curvature says how sharp the minimum
of the cost is: the sharper, the more certain the match. The unit of the cost is brightness for `sad` and `bt`,
brightness squared for `ssd`, and bits for `census`; `ncc` and `zncc` go from 0 to 2, without unit. Symbols are those of
the papers and of [method.md](method.md).

Some parameters have an effect only together with certain values of others. Changing one that has no effect is an error;
the message says what it needs."""


if __name__ == "__main__":
    print(markdown(), end="")
