"""Errors a user can cause: one sentence that names the file or argument and the way out."""

import os
import re

# Control characters but for tab and line feed, and those that change the direction of text.
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


class DualpixError(Exception):
    """Base of every error this package raises on purpose. The command exits with 2 on it.

    Control characters in its text, from a file or its name, are shown as escapes.
    """

    def __str__(self) -> str:
        return printable(super().__str__())


class InputError(DualpixError):
    """An image, array or file that cannot be used as it is."""


class ParameterError(DualpixError):
    """An unknown parameter or preset, or a value of the wrong type or out of bounds."""


class OutputError(DualpixError):
    """A result that cannot be written to the requested file or in its format."""


class DualpixWarning(UserWarning):
    """What the user should know about an input or a match that went on: a sentence of `Result.warnings`."""


NO_MEMORY = "not enough memory for images of this size: close other programs or use smaller images"
OPENCV_NO_MEMORY = -4  # the code of OpenCV's error


def printable(text: str) -> str:
    """The text with escapes for control characters. A name in a file could change the terminal with them."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def in_words(error: Exception) -> str:
    """One line about any error, also about one that nobody expected."""
    if isinstance(error, DualpixError):
        return " ".join(str(error).splitlines())
    if isinstance(error, MemoryError) or getattr(error, "code", None) == OPENCV_NO_MEMORY:
        return NO_MEMORY
    return " ".join(f"internal: {type(error).__name__}: {error} (DUALPIX_DEBUG=1 shows where)".splitlines())


def sentence(error: Exception) -> str:
    """The text of any error in one line, for a list of failures. Its type is named if it is not one of ours."""
    text = " ".join(str(error).split())
    return text if isinstance(error, DualpixError) else f"{type(error).__name__}: {text}".rstrip(": ")


def show_debug() -> None:
    """Print where the present error happened, if ``DUALPIX_DEBUG=1``."""
    if os.environ.get("DUALPIX_DEBUG") == "1":
        import traceback  # takes long to import

        traceback.print_exc()
