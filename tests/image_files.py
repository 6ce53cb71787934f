"""Encoders of image files that do not use the product: OpenCV, tifffile, and bytes by hand."""

import struct
import zlib
from io import BytesIO

import cv2
import tifffile


def by_opencv(suffix, image, *options):
    if image.ndim == 3:
        image = image[..., [2, 1, 0, 3][: image.shape[2]]]
    return cv2.imencode(suffix, image, options)[1].tobytes()


def by_tifffile(image, **options):
    file = BytesIO()
    options.setdefault("photometric", "rgb" if image.ndim == 3 else "minisblack")
    tifffile.imwrite(file, image, **options)
    return file.getvalue()


def chunk(kind, body):
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width, height, depth, colour, rows, *extra):
    """A PNG by hand; `rows` are the packed bytes of each row, stored without a filter."""
    return b"".join(
        [
            b"\x89PNG\r\n\x1a\n",
            chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)),
            *extra,
            chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))),
            chunk(b"IEND", b""),
        ]
    )


def exif(orientation, order="<"):
    """EXIF data with three tags, the orientation as the second."""
    magic = {"<": b"II*\0", ">": b"MM\0*"}[order]
    shorts = [(262, 2), (274, orientation), (296, 2)]
    entries = b"".join(struct.pack(order + "HHIHH", tag, 3, 1, value, 0) for tag, value in shorts)
    return magic + struct.pack(order + "IH", 8, len(shorts)) + entries + bytes(4)


def segment(marker, body):
    return bytes([0xFF, marker]) + struct.pack(">H", len(body) + 2) + body


def jpeg_with(jpeg, *segments):
    """The JPEG with segments right after its start."""
    return jpeg[:2] + b"".join(segments) + jpeg[2:]


def png_with(data, *chunks):
    """The PNG with chunks right after IHDR."""
    return data[:33] + b"".join(chunks) + data[33:]


def save(folder, data, name="image.dat"):
    path = folder / name
    path.write_bytes(data)
    return path


def oriented_jpeg(image, orientation):
    """A JPEG, as good as lossless, with an Exif orientation."""
    return jpeg_with(
        by_opencv(".jpg", image, cv2.IMWRITE_JPEG_QUALITY, 100), segment(0xE1, b"Exif\0\0" + exif(orientation))
    )
