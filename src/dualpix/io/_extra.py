"""Packages that are installed only with an extra."""

from importlib.util import find_spec

EXR, EXR_PACKAGE = "exr", "OpenEXR"  # an extra, and the package that it installs


def missing(package: str) -> bool:
    """Whether a package is not installed. It is not imported."""
    return find_spec(package) is None
