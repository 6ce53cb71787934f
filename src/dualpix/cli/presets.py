"""``dualpix presets``: the presets and what their parameters mean."""

from __future__ import annotations

import json

import click

from .options import Command, echo_json, json_option


@click.command(cls=Command)
@click.argument("name", required=False)
@click.option("--explain", is_flag=True, help="Explain every parameter. With NAME, also show its value in that preset.")
@json_option
def presets(name: str | None, explain: bool, as_json: bool) -> None:
    """List the presets, print one, or explain the parameters.

    Without NAME, lists the presets. With NAME, prints that preset as a config file. Change it and use it with dualpix
    disparity --config FILE.toml.

    \b
    Examples:
      dualpix presets dslr-a > mine.toml
      dualpix presets --explain auto
    """
    if explain:
        if as_json:
            raise click.UsageError("--explain prints text: leave out --json")
        from ..params.explain import explain as explained

        click.echo(explained(name).rstrip("\n"))
    elif as_json:
        echo_json(_records() if name is None else {"name": name, **_records(name)[name]})
    else:
        click.echo(_list() if name is None else _config(name))


def _records(name: str | None = None) -> dict[str, dict[str, object]]:
    from ..params import preset, preset_descriptions

    about = preset_descriptions()
    shown = {key: preset(key).to_dict() for key in (about if name is None else [name])}
    return {key: {"description": about[key], "parameters": values} for key, values in shown.items()}


def _list() -> str:
    from ..params import DEFAULT_PRESET, preset_descriptions

    about = preset_descriptions()
    width = max(map(len, about))
    return "\n".join(f"{key:<{width}} {text}{' (default)' * (key == DEFAULT_PRESET)}" for key, text in about.items())


def _config(name: str) -> str:
    from ..params import expectations, preset, preset_descriptions

    values = preset(name).to_dict()
    lines = [f"# {name}: {preset_descriptions()[name]}", f"preset = {json.dumps(name)}"]
    for key, expected in expectations().items():
        # JSON spells all these values as TOML does.
        lines.append(f"{f'{key} = {json.dumps(values[key])}':<30} # {expected}")
    return "\n".join(lines)
