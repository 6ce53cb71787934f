"""TIFF files with several images: read only where the first page is clearly the image."""

import struct
from io import BytesIO

import numpy as np
import pytest
import tifffile

from dualpix import InputError
from dualpix.cli import main
from dualpix.io import probe, read_image, read_map
from image_files import save

RNG = np.random.default_rng(5)
FULL = RNG.integers(0, 256, (24, 32), np.uint8)
SMALL = FULL[::4, ::4]
HALF = FULL[::2, ::2]
DNG = [(50706, 1, 4, b"\1\4\0\0", True)]
REDUCED = {"subfiletype": 1}


def tiff(*pages):
    """A TIFF of (image, options); the option subifds=N makes the next N images SubIFDs of this one."""
    file = BytesIO()
    with tifffile.TiffWriter(file) as writer:
        for image, options in pages:
            writer.write(image, **{"photometric": "minisblack", "metadata": None} | options)
    return file.getvalue()


def by_hand(*sizes, magic=b"", extra=()):
    """A little-endian TIFF with one 8-bit grey page of each size, extra tags, and a camera's mark after the header."""
    data = b"II*\0" + struct.pack("<I", 8 + len(magic)) + magic
    for i, (width, height) in enumerate(sizes):
        pixels = len(data) + 2 + 12 * (8 + len(extra)) + 4
        tags = [
            (256, width),
            (257, height),
            (258, 8),
            (259, 1),
            (262, 1),
            (273, pixels),
            (277, 1),
            (279, width * height),
        ]
        entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in (*tags, *extra))
        following = pixels + width * height if i + 1 < len(sizes) else 0
        data += (
            struct.pack("<H", len(tags) + len(extra)) + entries + struct.pack("<I", following) + bytes(width * height)
        )
    return data


WAY_OUT = ": save the one to use as a file of its own"
EXPORT = ": give it alone, or split it first with dualpix split"

REFUSED = {
    "two pages": (
        tiff((FULL, {}), (FULL, {})),
        "holds 2 images (page 1: 32x24, page 2: 32x24)" + WAY_OUT,
    ),
    "thumbnail, then the image": (
        tiff((SMALL, REDUCED), (FULL, {})),
        "holds 2 images (page 1: 8x6 thumbnail, page 2: 32x24)" + WAY_OUT,
    ),
    "thumbnail that does not say so": (
        tiff((SMALL, {}), (FULL, {})),
        "holds 2 images (page 1: 8x6, page 2: 32x24)" + WAY_OUT,
    ),
    "thumbnail, the image in its SubIFD": (
        tiff((SMALL, {"subifds": 1, **REDUCED}), (FULL, {})),
        "holds 2 images (page 1: 8x6 thumbnail, SubIFD of page 1: 32x24)" + WAY_OUT,
    ),
    "the same without a mark": (
        tiff((SMALL, {"subifds": 1}), (FULL, {})),
        "holds 2 images (page 1: 8x6, SubIFD of page 1: 32x24)" + WAY_OUT,
    ),
    "thumbnail, page and SubIFD": (
        tiff((SMALL, {"subifds": 1, **REDUCED}), (FULL, {}), (HALF, {})),
        "holds 3 images (page 1: 8x6 thumbnail, page 2: 16x12, SubIFD of page 1: 32x24)" + WAY_OUT,
    ),
    "thumbnails only": (
        tiff((SMALL, REDUCED), (HALF, REDUCED)),
        "holds 2 images (page 1: 8x6 thumbnail, page 2: 16x12 thumbnail)" + WAY_OUT,
    ),
    "many pages": (
        by_hand(*[(4, 3)] * 9),
        f"holds 9 images ({', '.join(f'page {i}: 4x3' for i in range(1, 7))} and 3 more)" + WAY_OUT,
    ),
    "DNG of one image": (
        tiff((FULL, {"extratags": DNG})),
        "is a camera raw file (page 1: 32x24)" + EXPORT,
    ),
    "DNG with a thumbnail": (
        tiff((SMALL, {"extratags": DNG, "subifds": 2, **REDUCED}), (FULL, {"photometric": "cfa"}), (HALF, REDUCED)),
        "is a camera raw file (page 1: 8x6 thumbnail, SubIFD of page 1: 32x24, SubIFD of page 1: 16x12 thumbnail)"
        + EXPORT,
    ),
    "raw without a DNG tag": (
        tiff((SMALL, {"subifds": 1, **REDUCED}), (FULL, {"photometric": "cfa"})),
        "is a camera raw file (page 1: 8x6 thumbnail, SubIFD of page 1: 32x24)" + EXPORT,
    ),
    "CR2": (
        by_hand((16, 12), (8, 6), (4, 3), magic=b"CR\2\0\0\0\0\0"),
        "is a camera raw file (page 1: 16x12, page 2: 8x6, page 3: 4x3)" + EXPORT,
    ),
}  # fmt: skip


@pytest.mark.parametrize("read", [read_image, read_map, probe])
@pytest.mark.parametrize("case", REFUSED)
def test_files_without_one_clear_image_are_refused(tmp_path, case, read):
    data, said = REFUSED[case]
    path = save(tmp_path, data, "scan.tif")
    with pytest.raises(InputError) as error:
        read(path)
    assert str(error.value) == f"{path}: {said}"


READ = {
    "one page": tiff((FULL, {})),
    "reduced pages after it": tiff((FULL, {}), (HALF, REDUCED), (SMALL, REDUCED)),
    "reduced copies in SubIFDs": tiff((FULL, {"subifds": 2}), (HALF, REDUCED), (SMALL, REDUCED)),
    "both": tiff((FULL, {"subifds": 1}), (HALF, REDUCED), (SMALL, REDUCED)),
    "old mark of reduced pages": tiff((FULL, {}), (HALF, {"extratags": [(255, 3, 1, 2, True)]})),
}


@pytest.mark.parametrize("case", READ)
def test_a_pyramid_is_read_at_its_full_size(tmp_path, case):
    path = save(tmp_path, READ[case], "scan.tif")
    np.testing.assert_array_equal(read_image(path), FULL, strict=True)
    np.testing.assert_array_equal(read_map(path), FULL)
    assert (probe(path).width, probe(path).height) == (32, 24)


@pytest.mark.parametrize(("subifd", "said"), [(2**31, "is cut short: copy or export it again$"), (8, "holds 2 images")])
def test_a_subifd_outside_the_file_or_on_the_page_itself(tmp_path, subifd, said):
    with pytest.raises(InputError, match=said):
        read_image(save(tmp_path, by_hand((4, 3), extra=[(330, subifd)])))


def test_the_command_matches_no_thumbnail(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    data, said = REFUSED["thumbnail, the image in its SubIFD"]
    save(tmp_path, data, "left.tif")
    save(tmp_path, data, "right.tif")
    assert main(["disparity", "left.tif", "right.tif", "-o", "out.tiff"]) == 2
    assert capsys.readouterr().err == f"error: left.tif: {said}\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["left.tif", "right.tif"]
