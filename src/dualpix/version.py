"""The version of the installed package."""

import os
import re
import sys
from functools import cache

UNINSTALLED = "0+unknown"
_FOLDER = re.compile(r"dualpix-(.+)\.dist-info")


@cache
def version() -> str:
    """Such as "0.1.0"; "0+unknown" in a source tree that was never installed."""
    # The folder that an installer leaves beside this package, or where Python looks for packages if this one is
    # installed in place. importlib.metadata takes longer than a small map.
    for folder in (os.path.dirname(os.path.dirname(__file__)), *sys.path):
        try:
            names = os.listdir(folder or ".")
        except OSError:  # it is an archive, or it may not be listed
            continue
        versions = [found[1] for found in map(_FOLDER.fullmatch, names) if found]
        if len(versions) == 1:
            return versions[0]
        if versions:
            break
    from importlib import metadata

    try:
        return metadata.version("dualpix")
    except (metadata.PackageNotFoundError, OSError):
        return UNINSTALLED
