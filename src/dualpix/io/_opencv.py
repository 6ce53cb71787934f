"""OpenCV as a decoder of bytes, with our errors and without its prints."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ..types import Image
from ._format import FormatError

_stderr_lock = threading.Lock()


def decode(data: bytes, page: int = 0) -> Image:
    """Decode to HxW or HxWx3 RGB. Alpha is dropped.

    JPEG and PNG are not turned by their EXIF orientation, but TIFF is. `page` is for TIFF files with several pages.
    """
    import cv2

    stored = np.frombuffer(data, np.uint8)
    with quiet():
        try:
            if page:
                pages = cv2.imdecodemulti(stored, cv2.IMREAD_UNCHANGED)[1]
                image = pages[page] if page < len(pages) else None
            else:
                image = cv2.imdecode(stored, cv2.IMREAD_UNCHANGED)  # UNCHANGED ignores EXIF
        except cv2.error:
            image = None
    if image is None:
        raise FormatError("is damaged, or OpenCV cannot decode its kind or size: export it again")
    if image.ndim == 3:
        code = cv2.COLOR_BGRA2RGB if image.shape[2] == 4 else cv2.COLOR_BGR2RGB
        image = cv2.cvtColor(image, code)
    return image


@contextmanager
def quiet() -> Iterator[None]:
    """Discard what C libraries print on stderr."""
    # libjpeg and libpng print to the C stderr, and no log level of OpenCV stops them.
    with _stderr_lock:
        try:
            saved = os.dup(2)
        except OSError:  # stderr is closed, so nothing is printed
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
