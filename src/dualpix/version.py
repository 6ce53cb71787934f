"""The version of the installed package."""

import os
import re
from functools import cache

UNINSTALLED = "0+unknown"
_FOLDER = re.compile(r"dualpix-(.+)\.dist-info")


@cache
def version() -> str:
    """Such as "0.1.0"; "0+unknown" in a source tree that was never installed."""
    # The folder that an installer leaves beside this package. importlib.metadata takes longer than a small map.
    try:
        names = os.listdir(os.path.dirname(os.path.dirname(__file__)))
    except OSError:  # it is in an archive, or the folder may not be listed
        names = []
    versions = [found[1] for found in map(_FOLDER.fullmatch, names) if found]
    if len(versions) == 1:
        return versions[0]
    from importlib import metadata

    try:
        return metadata.version("dualpix")
    except (metadata.PackageNotFoundError, OSError):
        return UNINSTALLED
