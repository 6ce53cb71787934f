"""The orientation from EXIF data, the one tag that is needed. Damaged data counts as absent."""

import struct

PREFIX = b"Exif\0\0"  # in JPEG always, in PNG by mistake
BYTE_ORDERS = {b"II*\0": "<", b"MM\0*": ">"}
_TAG, _SHORT = 274, 3
_ENTRY_LENGTH = 12
UPRIGHT = 1


def orientation(exif: bytes) -> int:
    """Return the orientation, 1 to 8; 1 if there is none or the data is damaged.

    Parameters
    ----------
    exif
        A TIFF structure, as in an Exif segment of JPEG or an eXIf chunk of PNG.
    """
    tiff = exif.removeprefix(PREFIX)
    order = BYTE_ORDERS.get(tiff[:4])
    if order is None or len(tiff) < 8:
        return UPRIGHT
    (start,) = struct.unpack_from(order + "I", tiff, 4)
    entries = tiff[start + 2 :]
    (count,) = struct.unpack(order + "H", tiff[start : start + 2].ljust(2, b"\0"))
    for i in range(min(count, len(entries) // _ENTRY_LENGTH)):
        tag, kind, length, value = struct.unpack_from(order + "HHIH", entries, i * _ENTRY_LENGTH)
        if tag == _TAG:
            return valid(value if (kind, length) == (_SHORT, 1) else None)
    return UPRIGHT


def valid(value: object) -> int:
    """Return the value of the tag if it is one of the eight orientations, else 1."""
    return value if isinstance(value, int) and 1 <= value <= 8 else UPRIGHT
