"""Keys: two pieces of work have the same key if and only if they give the same result."""

import json
from hashlib import blake2b

from ..errors import InputError
from ..files import open_file

_PIECE = 1 << 20  # bytes read at once


def key_of(*parts: object) -> str:
    """The key of everything that a result depends on: values that JSON can hold."""
    return blake2b(json.dumps(parts, sort_keys=True).encode(), digest_size=20).hexdigest()


def file_digest(path: str) -> str:
    """A digest of the content of a file. Its name and date do not count.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    digest = blake2b(digest_size=20)
    try:
        with open_file(path) as file:
            while piece := file.read(_PIECE):
                digest.update(piece)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file: check the path") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}): check the path and its permissions") from None
    return digest.hexdigest()
