"""OpenCV as a decoder of bytes, with our errors. What it prints about damaged files, it prints."""

import numpy as np

from ..opencv import opencv
from ..types import Image
from ._format import FormatError, Header, check_shape


def decode(data: bytes, expected: Header) -> Image:
    """Decode to HxW or HxWx3 RGB of the size that the header tells. Alpha is dropped.

    JPEG is not turned by its EXIF orientation, but TIFF is.
    """
    cv2 = opencv()
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)  # UNCHANGED ignores EXIF
    except cv2.error:
        image = None
    if image is None:
        raise FormatError("is damaged, or OpenCV cannot decode its kind or size: export it again")
    check_shape(image, expected)
    # NumPy, not cvtColor: OpenCV's threads do not survive a fork.
    return image if image.ndim == 2 else np.ascontiguousarray(image[..., 2::-1])
