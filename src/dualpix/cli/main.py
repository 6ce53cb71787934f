"""The command ``dualpix``: its group of commands, its errors and its exit codes.

Results go to stdout, progress and errors to stderr.

Help must appear at once, so nothing in this package imports numpy or anything that does, such as ``dualpix.io``, at
the top of a module. A command imports what it needs inside its functions, when it runs.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper

import click

from ..errors import NO_MEMORY, DualpixError, in_words, show_debug
from . import lean, signals
from .say import in_options, say

# Each is the function of that name in the module of that name. Help lists them in this order.
COMMANDS = (
    "disparity",
    "batch",
    "tiles",
    "video",
    "depth",
    "mask",
    "refocus",
    "split",
    "presets",
    "info",
    "calibrate",
    "simulate",
    "scenes",
    "demo",
    "evaluate",
    "reproduce",
    "bench",
    "app",
)

FAILED, BAD_INPUT = 1, 2  # exit codes


# ---- the group -----------------------------------------------------------------------------------


class _Group(click.Group):
    """The commands; the module of a command is imported when it is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = getattr(import_module(f".{cmd_name}", __package__), cmd_name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args[0] not in COMMANDS and not args[0].startswith("-") and not ctx.resilient_parsing:
            from ..params.rules import did_you_mean

            hint = did_you_mean(args[0], COMMANDS).strip()
            ctx.fail(f"No such command {args[0]!r}{': ' if hint else '.'}{hint}")
        return super().resolve_command(ctx, args)


def _print_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from ..version import version

        click.echo(f"dualpix {version()}")
        context.exit()


@click.group(
    cls=_Group,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_version,
    help="Show the version and exit.",
)
@click.pass_context
def group(context: click.Context) -> None:
    """Depth from a single shot of a dual-pixel camera.

    Such a camera records two views in one shot. dualpix measures how far every pixel shifts between them (its
    disparity), which tells how near it is.

    \b
    Example:
      dualpix disparity left.png right.png -o out.tiff --preview out.png
    """
    if context.invoked_subcommand is None:
        click.echo(context.get_help())


# ---- running and failing -------------------------------------------------------------------------


def run() -> None:
    """Run the console script ``dualpix``."""
    if isinstance(sys.stdout, TextIOWrapper):  # the terminal's encoding may lack characters of a file name
        sys.stdout.reconfigure(errors="backslashreplace")
    lean.owns_process = True
    try:
        signals.stop_on_signals()
        code = main(sys.argv[1:])
        signals.ignore_signals()
    except KeyboardInterrupt:  # between two of these lines
        code = signals.exit_code()
    try:
        click.echo(nl=False)  # flushes stdout, if there is one
    except OSError:
        # The reader has gone. Python flushes stdout again at exit and would complain, so stdout goes nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    gc.freeze()  # else Python looks for garbage among all modules before it ends, which takes 20 ms
    sys.exit(code)


def main(args: Sequence[str]) -> int:
    """Run the command with `args` and return the exit code.

    0 is done, 2 bad input or wrong usage, 128 + its number after a signal (130 is Ctrl-C), 1 anything else.
    """
    signals.goes_on = False  # a command says so itself
    os.environ.setdefault("OPENCV_LOG_LEVEL", "SILENT")  # our errors say what is wrong with a file
    try:
        return _invoke(args)
    except (Exception, KeyboardInterrupt) as error:
        if isinstance(error, KeyboardInterrupt) or signals.has_stopped():
            return signals.exit_code()
        return _failed(error)


def _failed(error: Exception) -> int:
    """Say what is wrong, and return the exit code."""
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "dualpix"
        message = error.format_message()
        stop = "" if message.endswith((".", "?", "!", "?)")) else "."
        return _fail(f"{message}{stop} See {command} --help.", BAD_INPUT)
    if isinstance(error, DualpixError):
        return _fail(in_options(str(error)), BAD_INPUT)
    if isinstance(error, BrokenPipeError):
        return FAILED
    if (message := in_words(error)) == NO_MEMORY:
        return _fail(message, FAILED)
    if isinstance(error, OSError) and _is_of_echo(error):
        return _fail(f"results cannot be written to stdout ({error.strerror}): send them elsewhere", FAILED)
    show_debug()
    return _fail(message, FAILED)


def _is_of_echo(error: Exception) -> bool:
    """Whether it was raised by printing."""
    import traceback  # takes long to import, and errors are rare

    *_, (frame, _) = traceback.walk_tb(error.__traceback__)
    return frame.f_code is click.echo.__code__


def _invoke(args: Sequence[str]) -> int:
    code = 0
    try:
        with group.make_context("dualpix", list(args)) as context:
            group.invoke(context)
    except click.exceptions.Exit as done:  # --help and --version end this way
        code = done.exit_code
    click.echo(nl=False)  # flushes: output that cannot be written is a failure too
    return code


def _fail(message: str, code: int) -> int:
    say("error: " + " ".join(message.splitlines()), err=True)
    return code
