"""The version of the installed package."""

from functools import cache
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed

UNINSTALLED = "0+unknown"


@cache
def version() -> str:
    """Such as "0.1.0"; "0+unknown" in a source tree that was never installed."""
    try:
        return installed("dualpix")
    except PackageNotFoundError:
        return UNINSTALLED
