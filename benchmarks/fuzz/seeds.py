"""Makes the corpus: small files of every kind that is read, by other programs or by hand where that is possible.

PYTHONPATH=benchmarks:tests python -m fuzz.seeds
"""

from __future__ import annotations

import csv
import io
import json
import struct
import tempfile
import zlib
from fractions import Fraction
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from dualpix.camera.lens import TERMS
from dualpix.evaluation.cache import write_outcome
from dualpix.evaluation.outcomes import Outcome
from dualpix.io import _exr, encode_map, write_map
from dualpix.io.sidecar import map_record, to_json
from dualpix.io.video import VideoWriter
from image_files import by_opencv, by_tifffile, chunk, exif, jpeg_with, png, png_with, segment
from onnx_files import moved_tensor, slope_network
from raw_files import cr2, dng, frames_of, mosaic
from test_pairs import HEIC, mpo, pages

from .targets import CORPUS, KINDS

ROWS, COLUMNS = 12, 16
RANDOM = np.random.default_rng(18)
COLOUR = cv2.resize(RANDOM.integers(0, 256, (4, 5, 3), np.uint8), (COLUMNS, ROWS), interpolation=cv2.INTER_LINEAR)
GREY, DEEP = COLOUR[..., 0].copy(), COLOUR[..., 0].astype(np.uint16) * 257
MAP = np.where(GREY > 40, GREY / np.float32(100), np.float32(np.nan)).astype(np.float32)
VIEWS = [np.roll(COLOUR, shift, axis=1) for shift in (0, 1)]


def by_pillow(kind, image=COLOUR, **options):
    file = io.BytesIO()
    Image.fromarray(image).save(file, kind, **options)
    return file.getvalue()


def packed(bits):
    return [np.packbits(row).tobytes() for row in bits]


def pngs():
    extra = [chunk(b"PLTE", bytes(range(48))), chunk(b"tRNS", bytes(16))]
    yield "grey8", by_opencv(".png", GREY)
    yield "grey16", by_opencv(".png", DEEP)
    yield "colour8", by_opencv(".png", COLOUR)
    yield "alpha16", by_opencv(".png", np.dstack([DEEP] * 4))
    yield "bits", png(COLUMNS, ROWS, 1, 0, packed(GREY > 99))
    yield "palette4", png(COLUMNS, ROWS, 4, 3, [bytes(range(COLUMNS // 2))] * ROWS, *extra)
    yield "exif", png_with(by_opencv(".png", GREY), chunk(b"eXIf", exif(6)), chunk(b"tEXt", b"Comment\0none"))
    yield "interlaced", interlaced()
    yield "profile", by_pillow("PNG", icc_profile=bytes(range(128)))


def interlaced():
    """Adam7 by hand: the seven passes of a grey picture, without filters."""
    starts = ((0, 0, 8, 8), (0, 4, 8, 8), (4, 0, 8, 4), (0, 2, 4, 4), (2, 0, 4, 2), (0, 1, 2, 2), (1, 0, 2, 1))
    rows = b"".join(
        b"\0" + row.tobytes() for y, x, down, right in starts for row in GREY[y::down, x::right] if row.size
    )
    head = struct.pack(">IIBBBBB", COLUMNS, ROWS, 8, 0, 0, 0, 1)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def jpegs():
    yield "colour", by_opencv(".jpg", COLOUR, cv2.IMWRITE_JPEG_QUALITY, 80)
    yield "grey", by_opencv(".jpg", GREY)
    yield "progressive", by_opencv(".jpg", COLOUR, cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
    yield "restarts", by_opencv(".jpg", COLOUR, cv2.IMWRITE_JPEG_RST_INTERVAL, 1)
    yield "exif", jpeg_with(by_opencv(".jpg", GREY), segment(0xE1, b"Exif\0\0" + exif(6, ">")))
    yield "profile", by_pillow("JPEG", icc_profile=bytes(range(128)))
    cmyk = io.BytesIO()
    Image.fromarray(COLOUR).convert("CMYK").save(cmyk, "JPEG")
    yield "cmyk", cmyk.getvalue()


def tiffs():
    for name, image in (("grey8", GREY), ("grey16", DEEP), ("colour", COLOUR), ("float", MAP)):
        yield name, by_tifffile(image, metadata=None)
        yield f"{name}-deflate", by_tifffile(image, compression="zlib", metadata=None)
    for name in ("lzw", "packbits"):
        yield name, by_tifffile(GREY, compression=name, metadata=None)
    yield "lzw-predicted", by_tifffile(COLOUR, compression="lzw", predictor=True, metadata=None)
    yield "deflate-predicted", by_tifffile(MAP, compression="zlib", predictor=True, metadata=None)
    yield "jpeg", by_tifffile(COLOUR, compression="jpeg", metadata=None)
    yield "tiles", by_tifffile(GREY, tile=(16, 16), compression="zlib", metadata=None)
    yield "strips", by_tifffile(DEEP, rowsperstrip=3, metadata=None)
    yield "big-endian", by_tifffile(DEEP, byteorder=">", metadata=None)
    yield "big", by_tifffile(GREY, bigtiff=True, metadata=None)
    yield "bits", by_tifffile(GREY > 99, metadata=None)
    yield "pillow", by_pillow("TIFF", compression="tiff_deflate")
    yield "two-pages", pages(*VIEWS)
    yield "two-pages-deflate", pages(GREY, GREY[::-1].copy(), compression="zlib")


def depth_photos(folder):
    for name, options in (("metres", {"unit": "m"}), ("disparity", {"confidence": np.full(MAP.shape, 0.5)})):
        yield name, written(folder, "a.jpg", MAP + 1, photo=COLOUR, **options)


def written(folder, name, values, **options):
    path = Path(folder) / name
    write_map(path, values, **options)
    return path.read_bytes()


def raws(writer):
    """LibRaw wants some pixels."""
    rows, columns = 32, 48
    big = cv2.resize(COLOUR, (columns, rows)).astype(np.uint16) * 8
    left, right = (mosaic(np.roll(big, shift, axis=1)) for shift in (0, 1))
    frames = frames_of(left, right)
    yield "two", writer(*frames)
    yield "one", writer(frames[0])
    if writer is dng:
        yield "compressed", dng(*frames, compressed=True)
        yield "preview", dng(*frames, preview=COLOUR)


def sidecars():
    record = map_record("map.png", MAP, "x")
    yield "kitti", to_json(record)
    yield "grey", to_json(record | {"png": "grey", "grey": {"black": 0.5, "white": 3.0}})
    yield "mm", to_json(record | {"png": "mm", "unit": "metres"})
    yield "split", json.dumps({"dualpix": "0.1.0", "input": "a.CR2", "outputs": ["left.tiff"], "width": 3, "height": 2})


def calibrations():
    terms = dict.fromkeys(TERMS, 0.0)
    record = {
        "calibration": 1,
        "width": 16,
        "height": 12,
        "axis": "x",
        "camera": "A",
        "gain": terms | {next(iter(TERMS)): 1.0},
        "offset": terms,
        "white": {"black": 0, "full": 255, "left": [[0.9, 0.8], [0.7, 1.0]], "right": [[0.9, 0.8], [0.7, 1.0]]},
        "planes": [{"disparity": 1.0, "observed": 1.1, "corrected": 1.0, "distance": 2.0}],
        "metric": dict.fromkeys(("inverse_focus", "a", "lens_to_sensor", "pivot", "pivot_error", "a_error"), 0.5),
    }
    yield "all", json.dumps(record)
    yield "white", json.dumps(record | {"gain": None, "offset": None, "metric": None, "planes": []})


def parameters():
    yield "some", 'preset = "dslr-a"\nwindow = 21\niterations = [3, 3, 2]\nrange = [-2.5, 2.5]\n'
    yield "none", "# nothing\n"


def csvs():
    file = io.StringIO()
    table = csv.writer(file)
    table.writerows([["left", "right", "name", "preset", "window"], ["a.png", "b, c.png", "day1/one", "dslr-a", "21"]])
    yield "two", file.getvalue()


def jsonls():
    yield "two", '{"left": "a.png", "right": "b.png", "iterations": [3, 2]}\n{"left": "c.CR3", "axis": "y"}\n'


def caches(folder):
    scores = {"ai1": 0.1, "ai2": 0.2}
    for name, confidence in (("map", None), ("both", np.ones(MAP.shape, np.float32))):
        path = Path(folder) / f"{name}.npz"
        write_outcome(path, Outcome("", "", MAP, confidence, scores=scores, seconds=1.0, megabytes=10.0))
        yield name, path.read_bytes()


def strokes():
    yield (
        "two",
        json.dumps(
            [
                {"kind": "near", "disparity": 1.5, "points": [[32, 20], [36, 21]], "radius": 12},
                {"kind": "unknown", "points": [[90, 80]], "radius": 30},
            ]
        ),
    )


def arrays():
    for name, values in (("float32", MAP), ("float64", MAP.astype(np.float64)), ("uint8", GREY), ("turned", MAP.T)):
        file = io.BytesIO()
        np.save(file, values)
        yield name, file.getvalue()


def models(folder, suffix):
    for name, photo in (("plain", None), ("colours", COLOUR[:6, :6].copy())):
        yield name, written(folder, f"a{suffix}", MAP[:6, :6] + 1, unit="m", photo=photo)


def videos(folder):
    for name, codec, frames in (("depth", "gray16", [DEEP] * 3), ("preview", "preview", VIEWS)):
        path = Path(folder) / "a.mkv"
        with VideoWriter(str(path), Fraction(25), codec) as writer:
            for frame in frames:
                writer.add(frame)
        yield name, path.read_bytes()


def networks(folder):
    """The second keeps a tensor of an inner graph in another file: in itself, since that is there."""
    path = Path(folder) / "a.onnx"
    yield "slope", slope_network(path, (0.5, 0, -0.5)).read_bytes()
    yield "elsewhere", moved_tensor(path, "a.onnx", inner=True).read_bytes()


def files(folder):
    """The kinds, each with its named files."""
    deep_pgm = b"P5\n# comment\n%d %d\n65535\n" % (COLUMNS, ROWS) + DEEP.astype(">u2").tobytes()
    return {
        "png": pngs(),
        "jpeg": jpegs(),
        "tiff": tiffs(),
        "pnm": [("grey16", deep_pgm), ("colour", by_opencv(".ppm", COLOUR)), ("grey8", by_opencv(".pgm", GREY))],
        "webp": [("lossy", by_pillow("WEBP", quality=80)), ("lossless", by_pillow("WEBP", lossless=True))],
        "avif": [("colour", by_pillow("AVIF", quality=60))],
        "heic": [("colour", HEIC)],
        "bmp": [("colour", by_opencv(".bmp", COLOUR)), ("grey", by_pillow("BMP", GREY))],
        "jp2": [("colour", by_pillow("JPEG2000")), ("grey16", by_pillow("JPEG2000", DEEP))],
        "pfm": [("map", encode_map("a.pfm", MAP)), ("big-endian", b"Pf\n2 2\n1.0\n" + bytes(16))],
        "npy": arrays(),
        "exr": [("map", encode_map("a.exr", MAP)), ("layers", _exr.write({"Z": MAP, "R": MAP, "G": MAP, "B": MAP}))],
        "dng": raws(dng),
        "cr2": raws(cr2),
        "mpo": [("two", mpo(*VIEWS))],
        "depth-photo": depth_photos(folder),
        "ply": models(folder, ".ply"),
        "glb": models(folder, ".glb"),
        "sidecar": sidecars(),
        "calibration": calibrations(),
        "params": parameters(),
        "manifest-csv": csvs(),
        "manifest-jsonl": jsonls(),
        "cache": caches(folder),
        "hints": strokes(),
        "video": videos(folder),
        "onnx": networks(folder),
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for kind, named in files(folder).items():
            suffix = Path(KINDS[kind].file).suffix
            (CORPUS / kind).mkdir(parents=True, exist_ok=True)
            for name, data in named:
                (CORPUS / kind / f"{name}{suffix}").write_bytes(data.encode() if isinstance(data, str) else data)
    sizes = [path.stat().st_size for path in CORPUS.rglob("*") if path.is_file()]
    print(f"{len(sizes)} files, {sum(sizes) / 1000:.0f} kB")


if __name__ == "__main__":
    main()
