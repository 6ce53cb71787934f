"""OpenCV as a decoder of bytes that raises our error and keeps its own words to itself."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._format import FormatError

_stderr_lock = threading.Lock()


def decode(data: bytes) -> NDArray[Any]:
    """Decode to HxW or HxWx3 RGB as stored: no EXIF rotation, alpha dropped."""
    import cv2

    with _quiet():
        try:
            image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
        except cv2.error:
            image = None
    if image is None:
        raise FormatError("is damaged, or of a kind or size OpenCV cannot decode: export it again")
    if image.ndim == 3:
        code = cv2.COLOR_BGRA2RGB if image.shape[2] == 4 else cv2.COLOR_BGR2RGB
        image = cv2.cvtColor(image, code)
    return image


@contextmanager
def _quiet() -> Iterator[None]:
    # libjpeg and libpng print straight to the C stderr, which no log level of OpenCV reaches.
    with _stderr_lock:
        try:
            saved = os.dup(2)
        except OSError:  # stderr is closed: nothing to keep quiet
            yield
            return
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
