"""Packages that are installed only with an extra."""

from importlib.util import find_spec


def missing(package: str) -> bool:
    """Whether a package is not installed. It is not imported."""
    return find_spec(package) is None
