"""The versions of everything that a result depends on."""

import platform
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from .. import _core
from ..version import version


def versions() -> dict[str, str]:
    """The versions of dualpix, Python and the libraries, and a digest of the code of dualpix, by name."""
    import cv2

    return {
        "dualpix": version(),
        "dualpix code": code_digest(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "opencv": cv2.__version__,
    }


@cache
def code_digest(compiled: bool = True) -> str:
    """A digest of this package, including its compiled module, which differs from machine to machine."""
    folder = Path(__file__).parents[1]
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".toml"))
    digest = blake2b(digest_size=8)
    for path in (*files, Path(_core.__file__)) if compiled else files:
        digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()
