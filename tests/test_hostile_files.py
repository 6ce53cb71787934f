"""Files made to do harm: whatever they hold, memory stays near the announced picture, and the answer is one sentence.

Every crafted file is read in a child of its own, which tells how much its memory grew.
"""

import json
import os
import re
import struct
import subprocess
import sys
import textwrap
import threading
import zlib
from io import BytesIO

import cv2
import numpy as np
import pytest
from PIL import Image

import dualpix
from dualpix import DualpixError, InputError, ParameterError
from dualpix.batches.folder import RESULTS
from dualpix.batches.keys import file_digest
from dualpix.batches.results import Results
from dualpix.cli import main
from dualpix.evaluation.cache import read_outcome, write_outcome
from dualpix.evaluation.outcomes import Outcome
from dualpix.evaluation.tables import cell
from dualpix.files import FileBytes, parse_json
from dualpix.io import probe, read_image, read_map, urls
from dualpix.io._av1 import frame_sizes
from dualpix.io._format import FormatError
from dualpix.io._items import items
from dualpix.io._tiff import raw_end
from dualpix.io.grids import Grid
from dualpix.params.config import load_config
from image_files import by_opencv, by_tifffile, chunk, jpeg_with, png, save, segment

RNG = np.random.default_rng(3)
GREY = RNG.integers(0, 256, (16, 16), np.uint8)
SMOOTH = cv2.resize(RNG.integers(0, 256, (6, 8, 3), np.uint8), (64, 48), interpolation=cv2.INTER_CUBIC)
JPEG = by_opencv(".jpg", SMOOTH)
FRAME = JPEG.index(b"\xff\xc0")
SLACK = 64  # MB above ten times the picture
LONGEST = 60  # s until a child that hangs is ended; each needs less than one

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory and pipes as on Linux")


def deflated(size):
    """Compressed zeros: a thousandth of their size."""
    packer = zlib.compressobj(9)
    return b"".join(packer.compress(bytes(2**20)) for _ in range(size >> 20)) + packer.flush()


BOMB = deflated(200 << 20)


def tiff(tags, body=b"", tail=b""):
    """A little-endian TIFF of one page, whose body lies behind its tags."""
    place = 8 + 2 + 12 * (len(tags) + 2) + 4
    tags = sorted([*tags, (273, 4, 1, place), (279, 4, 1, len(body))])
    entries = b"".join(struct.pack("<HHII", *tag) for tag in tags)
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4) + body + tail


def grey_tags(width, height, compression=1):
    values = {256: width, 257: height, 258: 8, 259: compression, 262: 1, 277: 1, 278: height}
    return [(tag, 4, 1, value) for tag, value in values.items()]


def chain(count):
    """A TIFF with so many small pages."""
    entries = b"".join(
        struct.pack("<HHII", *tag) for tag in sorted([*grey_tags(4, 4), (273, 4, 1, 8), (279, 4, 1, 16)])
    )
    size = 2 + len(entries) + 4
    links = [8 + size * (number + 1) for number in range(count - 1)] + [0]
    pages = b"".join(struct.pack("<H", 9) + entries + struct.pack("<I", link) for link in links)
    return b"II*\0" + struct.pack("<I", 8) + pages


def shared_strips(count):
    """A TIFF whose strips are all the same bytes."""
    start = 200
    tags = [tag for tag in grey_tags(1, count, 8) if tag[0] != 278]
    tags += [(278, 4, 1, 1), (273, 4, count, start), (279, 4, count, start + 4 * count)]
    entries = b"".join(struct.pack("<HHII", *tag) for tag in sorted(tags))
    head = b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries
    places = struct.pack("<I", start + 8 * count) * count + struct.pack("<I", len(BOMB)) * count
    return head.ljust(start, b"\0") + places + BOMB


def repeated_directories(step):
    """A TIFF of 4096 tags, among which its 900 SubIFDs of 3000 tags begin, so many behind each other."""
    tags = {tag: (4, 1, value) for tag, _, _, value in grey_tags(4, 4)} | {273: (4, 1, 8), 279: (4, 1, 16)}
    end = 8 + 2 + 12 * 4096 + 4
    tags |= {330: (4, 900, end)} | {30_000 + i: (4, 1, 3000 << 16) for i in range(4096 - len(tags) - 1)}
    entries = b"".join(struct.pack("<HHII", tag, *rest) for tag, rest in sorted(tags.items()))
    places = struct.pack("<900I", *(8 + 12 * (20 + step * i) for i in range(900)))
    return b"II*\0" + struct.pack("<IH", 8, 4096) + entries + bytes(4) + places


def tiles(width, height, side, count):
    """A TIFF of deflated tiles of zeros."""
    data = zlib.compress(bytes(side * side), 9)
    tags = [tag for tag in grey_tags(width, height, 8) if tag[0] != 278]
    start = 8 + 2 + 12 * (len(tags) + 4) + 4
    tags += [(322, 4, 1, side), (323, 4, 1, side), (324, 4, count, start), (325, 4, count, start + 4 * count)]
    entries = b"".join(struct.pack("<HHII", *tag) for tag in sorted(tags))
    first = start + 8 * count
    places = struct.pack(f"<{count}I", *(first + len(data) * i for i in range(count)))
    lengths = struct.pack("<I", len(data)) * count
    return b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + bytes(4) + places + lengths + data * count


def box(kind, body):
    return struct.pack(">I4s", len(body) + 8, kind) + body


def shared_items(items, parts, step=1):
    """The structure of an AVIF whose parts begin one byte behind each other, or items at the same one."""
    infos = b"".join(box(b"infe", struct.pack(">IHH4s", 2 << 24, i, 0, b"av01")) for i in range(items))
    extents = [struct.pack(f">{parts}I", *range(step * i, step * i + parts)) for i in range(items)]
    places = b"".join(struct.pack(">HHH", i, 0, parts) + extent for i, extent in enumerate(extents))
    iinf = box(b"iinf", struct.pack(">IH", 0, items) + infos)
    iloc = box(b"iloc", struct.pack(">IBBH", 0, 0x40, 0, items) + places)
    return box(b"ftyp", b"avif") + box(b"meta", bytes(4) + iinf + iloc)


def many_scans(count):
    """A progressive JPEG, flat and 1000 x 1000, whose last scan comes again and again."""
    data = by_opencv(".jpg", np.full((1000, 1000, 3), 128, np.uint8), cv2.IMWRITE_JPEG_PROGRESSIVE, 1)
    last = data[data.rindex(b"\xff\xda") : -2]
    return data[:-2] + last * count + b"\xff\xd9"


def resized(width, height):
    """The frame header of the JPEG with another size."""
    return JPEG[FRAME : FRAME + 5] + struct.pack(">HH", height, width) + JPEG[FRAME + 9 : FRAME + 19]


def idat(width, height, body, *extra):
    plain = png(width, height, 8, 0, [], *extra)
    start = plain.index(b"IDAT") - 4
    return plain[:start] + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def npy(shape):
    head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}}}".encode()
    head += b" " * (-(len(head) + 11) % 64) + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head + bytes(16)


def avif(side):
    """A flat AVIF that tells 16 x 16 pixels and holds more."""
    file = BytesIO()
    Image.fromarray(np.zeros((side, side, 3), np.uint8)).save(file, "AVIF", quality=10)
    data = file.getvalue()
    place = data.index(b"ispe") + 8
    return data[:place] + struct.pack(">II", 16, 16) + data[place + 8 :]


def codestream(side, tile, precinct=None, block=4):
    """A JPEG 2000 codestream of zeros: how it is cut, by exponents of sides."""
    size = struct.pack(">HHIIIIIIIIHBBB", 41, 0, side, side, 0, 0, tile, tile, 0, 0, 1, 7, 1, 1)
    coding = struct.pack(">BBHBBBBBB", precinct is not None, 0, 1, 0, 0, block, block, 0, 1)
    coding += bytes([17 * precinct]) if precinct is not None else b""
    parts = [b"\xff\x4f\xff\x51", size, segment(0x52, coding), segment(0x5C, b"\x40\x40")]
    return b"".join(
        [*parts, b"\xff\x90", struct.pack(">HHIBB", 10, 0, 1014, 0, 1), b"\xff\x93", bytes(1000), b"\xff\xd9"]
    )


# name: content, pixels of the announced picture, what is said; "" if it is read
CRAFTED = {
    "inflating.png": (lambda: idat(8, 8, BOMB), 64, ""),
    "profile.png": (lambda: idat(8, 8, zlib.compress(bytes(72)), chunk(b"iCCP", b"x\0\0" + BOMB)), 64, ""),
    "chunks.png": (lambda: idat(8, 8, zlib.compress(bytes(72)), chunk(b"teSt", b"") * 80_000), 64, ""),
    "promise.png": (lambda: idat(16_000, 16_000, BOMB[:1000]), 64, "promises more pixels than it holds"),
    "inflating.tif": (lambda: tiff(grey_tags(16, 16, 8), BOMB), 256, ""),
    "packed.tif": (lambda: tiff(grey_tags(16, 16, 32773), b"\x81\0" * 500_000), 256, ""),
    "lzw.tif": (lambda: tiff(grey_tags(16, 16, 5), b"\x80\x00\x00" + b"\xff" * 10**6), 256, "damaged TIFF"),
    "pages.tif": (lambda: chain(20_000), 16, "holds more than 1000 images"),
    "subpages.tif": (
        lambda: tiff([*grey_tags(4, 4), (330, 4, 200_000, 150)], bytes(16), struct.pack("<I", 8) * 200_000),
        16,
        "holds more than 1000 images",
    ),
    "tile.tif": (
        lambda: tiff([*grey_tags(16, 16, 8), (322, 4, 1, 30_000), (323, 4, 1, 30_000), (324, 4, 1, 8)], BOMB),
        256,
        "hold far more than its picture",
    ),
    "repeated.tif": (lambda: repeated_directories(0), 16, "damaged TIFF"),
    "overlapping.tif": (lambda: repeated_directories(1), 16, "damaged TIFF"),
    "tiles.tif": (lambda: tiles(1, 4096 * 20, 4096, 20), 81_920, "hold far more than its picture: save it in strips"),
    "strips.tif": (lambda: shared_strips(100_000), 100_000, "damaged TIFF|cut short"),
    "two.jpg": (lambda: JPEG[:FRAME] + resized(16, 16) + JPEG[FRAME:], 256, "has 2 frames"),
    "scans.jpg": (lambda: many_scans(5000), 3 * 10**6, "scans, more than a picture has"),
    "segments.jpg": (lambda: jpeg_with(JPEG, segment(0xE5, b"") * 250_000), 9216, "more than 16384 segments"),
    "filled.jpg": (lambda: jpeg_with(JPEG, b"\xff" * 10**6), 9216, "size is missing"),
    "frame.avif": (lambda: avif(4000), 256, "holds 4000x4000 pixels but its header tells 16x16"),
    "plain.j2k": (lambda: codestream(500, 500), 250_000, ""),
    "tiles.j2k": (lambda: codestream(250, 1), 62_500, "cut into very small pieces"),
    "precincts.j2k": (lambda: codestream(2000, 2000, precinct=0), 4 * 10**6, "cut into very small pieces"),
    "blocks.j2k": (lambda: codestream(2000, 2000, block=0), 4 * 10**6, "cut into very small pieces"),
    "spaces.pgm": (lambda: b"P5" + b" " * 10**7 + b"4 4 255\n" + bytes(16), 16, "damaged PGM or PPM header"),
    "comments.pgm": (lambda: b"P5 " + b"#\n" * 500_000 + b"4 4 255\n" + bytes(16), 16, "damaged PGM"),
    "words.pgm": (lambda: b"P2 4 4 255\n" + b"1 " * 500_000, 16, "holds 500000 values .* promises 16"),
    "digits.pgm": (lambda: b"P2 1 1 255\n" + b"1" * 10**6, 1, r"outside 0\.\.255"),
    "spaces.pfm": (lambda: b"Pf" + b" " * 10**6 + b"4 4 -1\n" + bytes(64), 16, "damaged PFM header"),
    "brackets.npy": (lambda: npy("(" * 9000 + ")" * 9000), 1, "damaged NPY header"),
}

CHILD = """
import json, os, resource, sys, time
import cv2, PIL.JpegImagePlugin
from dualpix import InputError
from dualpix.io import read_image, read_map
from dualpix.io.pictures import origin

def memory():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

def read(path):
    before, said = memory(), ""
    try:
        (read_map if path.endswith((".npy", ".pfm")) else read_image)(path)
        origin(path, 1)
    except InputError as error:
        said = str(error)
    return {"said": said, "grown": memory() - before}

for path in sys.argv[1:]:  # each in a process of its own, so that one does not use the memory of another
    into, out = os.pipe()
    if os.fork() == 0:
        os.write(out, json.dumps(read(path)).encode())
        os._exit(0)
    os.close(out)
    os.wait()
    print(os.read(into, 2**16).decode(), flush=True)
"""


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """What reading every crafted file said, and by how many MB the memory grew."""
    folder = tmp_path_factory.mktemp("crafted")
    paths = [str(save(folder, content(), name)) for name, (content, *_) in CRAFTED.items()]
    command = [sys.executable, "-c", textwrap.dedent(CHILD), *paths]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LONGEST)
    return dict(zip(CRAFTED, map(json.loads, done.stdout.splitlines()), strict=True))


@linux
@pytest.mark.parametrize("name", CRAFTED)
def test_memory_stays_near_the_announced_picture(answers, name):
    _, pixels, said = CRAFTED[name]
    found = answers[name]
    assert found["grown"] < SLACK + 10 * pixels / 2**20
    assert re.search(said, found["said"]) if said else found["said"] == ""


# ---- the size that is announced is the size that is decoded ---------------------------------------


@pytest.mark.parametrize("marker", [0x01, 0x02, 0xBF, 0xD0, 0xD7])
def test_no_marker_hides_the_frame_of_a_jpeg(tmp_path, monkeypatch, marker):
    """Markers without a length: a walker that skips one after them misses the true frame."""
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "1000")
    true = resized(20_000, 20_000)
    hiding = bytes([0xFF, marker]) + struct.pack(">H", len(true) + 2)
    data = JPEG[:FRAME] + hiding + true + resized(16, 16) + JPEG[FRAME + 19 :]
    with pytest.raises(InputError, match="400000000 pixels, over the limit of 1000"):
        read_image(save(tmp_path, data))


def test_a_frame_behind_the_pixels_is_refused(tmp_path):
    with pytest.raises(InputError, match="has 2 frames and 1 scans"):
        read_image(save(tmp_path, JPEG[:-2] + resized(20_000, 20_000) + JPEG[-2:]))


@pytest.mark.parametrize(("count", "parts"), [(1, 4096), (4000, 1), (5000, 1), (1, 5000)])
def test_items_are_not_longer_than_the_file(count, parts):
    """Parts to the end of the file: 50 kB became 400 MB."""
    with pytest.raises(FormatError, match="damaged AVIF"):
        list(items(shared_items(count, parts), b"av01"))


def test_items_that_share_their_data_come_once():
    """An encoder stores equal tiles once."""
    data = shared_items(20, 1, step=0)
    assert list(items(data, b"av01")) == [data]


@pytest.mark.parametrize("count", [998, 999, 1000, 5000])
def test_no_frame_of_av1_hides_behind_others(count):
    """A header of 4096 x 4096 px behind so many empty OBUs."""
    bits = f"{0b000_1_1_00000:010b}{11:04b}{11:04b}{4095:012b}{4095:012b}".ljust(48, "0")
    header = bytes([1 << 3]) + int(bits, 2).to_bytes(6, "big")
    assert list(frame_sizes(bytes([2 << 3 | 2, 0]) * count + header))[-1] == (
        (4096, 4096) if count < 999 else (2**16, 2**16)
    )


@pytest.mark.parametrize("points", [1, 20, 32])
def test_long_sequence_headers_are_read_and_short_ones_refused(points):
    """Operating points, each of 23 bits, stand before the size."""
    each = f"{0:012b}{8:05b}1{1}{0:04b}"
    bits = f"{0:05b}01{points - 1:05b}{each * points}{11:04b}{11:04b}{4095:012b}{4095:012b}"
    header = bytes([1 << 3]) + int(bits.ljust(-(-len(bits) // 8) * 8, "0"), 2).to_bytes(-(-len(bits) // 8), "big")
    assert list(frame_sizes(header)) == [(4096, 4096)]
    assert list(frame_sizes(header[:-1])) == [(2**16, 2**16)]


def test_pages_of_raw_files_that_share_lists_of_places():
    """Each page would read the whole file."""
    size, pages = 2 + 12 * 3 + 4, 100
    tags = [(262, 4, 1, 32803), (273, 1, 5000, 8), (279, 1, 5000, 8)]
    entries = struct.pack("<H", 3) + b"".join(struct.pack("<HHII", *tag) for tag in tags)
    links = [8 + size * (number + 1) for number in range(pages - 1)] + [0]
    data = b"II*\0" + struct.pack("<I", 8) + b"".join(entries + struct.pack("<I", link) for link in links)
    with pytest.raises(FormatError, match="damaged TIFF"):
        raw_end(data + bytes(5000))


# ---- nothing of the process changes while a file is read -------------------------------------------


@linux
def test_a_child_forked_while_files_are_read_reads_too(tmp_path):
    """In a process of its own: a fork with threads is what Python warns about."""
    for name, data in {"a.png": by_opencv(".png", SMOOTH), "a.jpg": JPEG, "a.tif": by_tifffile(GREY)}.items():
        save(tmp_path, data, name)
    script = """
    import os, signal, sys, threading
    from pathlib import Path
    from dualpix.io import read_image
    paths, stop = sorted(Path(sys.argv[1]).iterdir()), threading.Event()
    def work():
        while not stop.is_set():
            [read_image(path) for path in paths]
    threads = [threading.Thread(target=work) for _ in range(2)]
    [thread.start() for thread in threads]
    failed = 0
    for _ in range(20):
        if (pid := os.fork()) == 0:
            signal.alarm(20)
            [read_image(path) for path in paths]
            os.write(2, b"x")
            os._exit(0)
        failed += os.waitpid(pid, 0)[1] != 0
    stop.set()
    print(failed)
    """
    command = [sys.executable, "-W", "ignore", "-c", textwrap.dedent(script), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LONGEST)
    assert (done.stdout, done.stderr) == ("0\n", "x" * 20)


def test_stderr_is_never_redirected(tmp_path, capfd):
    """A thread writes to the C stderr while damaged files are read."""
    damaged = save(tmp_path, JPEG[:-200] + bytes(100) + JPEG[-100:])
    stop, written = threading.Event(), []

    def write():
        while not stop.is_set():
            written.append(os.write(2, b"x"))

    thread = threading.Thread(target=write)
    thread.start()
    for _ in range(50):
        read_image(damaged)
    stop.set()
    thread.join()
    assert capfd.readouterr().err == "x" * len(written)


@pytest.mark.parametrize("name", ["a.png", "a.jpg", "a.tif", "a.pgm"])
def test_a_file_that_shrinks_is_one_sentence(tmp_path, name):
    """A mapped file that another program cuts ends the process."""
    content = {
        ".png": by_opencv(".png", SMOOTH),
        ".jpg": JPEG,
        ".tif": by_tifffile(GREY),
        ".pgm": b"P5 4 4 255\n" + bytes(16),
    }
    path = save(tmp_path, content[name[1:]] + bytes(10**5), name)
    data = FileBytes(path)
    assert len(data[:10]) == 10
    os.truncate(path, 12)
    assert len(data[:]) == 12
    assert data[50_000:80_000] == b""
    with pytest.raises(InputError, match=name):
        read_image(path)


def test_a_header_does_not_load_the_file(tmp_path):
    path = save(tmp_path, b"P5 40000 50000 255\n", "a.pgm")
    os.truncate(path, 2 * 10**9 + 19)
    read = []
    data = FileBytes(path)
    data._read = lambda start, size: read.append(size) or FileBytes._read(data, start, size)
    assert data[:20] == b"P5 40000 50000 255\n\0"
    assert (read, probe(path).width) == ([2**16], 40_000)


# ---- what is no file -------------------------------------------------------------------------------


@linux
@pytest.mark.parametrize("read", [probe, read_image, read_map, dualpix.read_pair, Grid.of_npy])
def test_pipes_and_devices_are_refused(tmp_path, read):
    os.mkfifo(tmp_path / "pipe.png")
    for path in (tmp_path / "pipe.png", "/dev/zero"):
        with pytest.raises(InputError, match=r"it is a pipe or a device, not a file"):
            read(path)


@linux
@pytest.mark.parametrize("read", [urls.read, file_digest, lambda path: Results(os.path.dirname(path))])
def test_pipes_in_batches_are_refused(tmp_path, read):
    os.mkfifo(tmp_path / RESULTS)
    with pytest.raises((OSError, DualpixError), match="it is a pipe or a device, not a file"):
        read(str(tmp_path / RESULTS))


def test_texts_have_a_limit(tmp_path):
    path = save(tmp_path, b"", "a.csv")
    os.truncate(path, 2**26 + 1)
    with pytest.raises(OSError, match="more than 64 MB"):
        urls.read(str(path))


@linux
@pytest.mark.parametrize("option", ["--config", "--calibration", "--hints"])
def test_pipes_as_options_are_refused(tmp_path, monkeypatch, capsys, option):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    save(tmp_path, by_opencv(".png", SMOOTH), "a.png")
    assert main(["disparity", "a.png", "a.png", "-o", "out.tiff", option, "pipe"]) == 2
    said = capsys.readouterr().err
    assert "pipe: cannot be read (it is a pipe or a device, not a file)" in said


# ---- numbers and nesting ---------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["(-2, -2)", "(True, 4)", "(2, -2)", "(1.0, 4)"])
@pytest.mark.parametrize("read", [read_map, Grid.of_npy])
def test_shapes_of_npy_files_that_are_none(tmp_path, shape, read):
    with pytest.raises(InputError, match=r"a\.npy: (holds an array of shape|has a damaged NPY header)"):
        read(save(tmp_path, npy(shape), "a.npy"))


def test_long_numbers_in_the_environment(tmp_path, monkeypatch):
    path = save(tmp_path, by_opencv(".png", GREY), "a.png")
    monkeypatch.setenv("DUALPIX_MAX_PIXELS", "9" * 5000)
    with pytest.raises(ParameterError, match=r"^DUALPIX_MAX_PIXELS must be a whole number above 0, not '9+\.\.\.9+'$"):
        read_image(path)
    monkeypatch.delenv("DUALPIX_MAX_PIXELS")
    monkeypatch.setenv("DUALPIX_THREADS", "9" * 5000)
    with pytest.raises(ParameterError, match="DUALPIX_THREADS"):
        dualpix.disparity(path, path)


def test_long_numbers_in_a_config(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    save(tmp_path, b"window = " + b"9" * 900 + b"\n", "a.toml")
    usual = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(640)
    try:
        assert main(["disparity", "a.png", "a.png", "-o", "out.tiff", "--config", "a.toml"]) == 2
    finally:
        sys.set_int_max_str_digits(usual)
    assert capsys.readouterr().err == "error: config a.toml holds a number with too many digits: shorten it\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a." * 20_000 + "a = 1", "has a line of more than 1000 characters: shorten it"),
        ("'\u2028'." * 10_000 + "a = 1", "has a line of more than 1000 characters: shorten it"),
        ("# a comment\n" * 6000, "has more than 64 kB: give only name = value lines"),
    ],
)
def test_configs_are_short(tmp_path, text, said):
    """Dotted names take tomllib a time that grows with the square of their length."""
    path = save(tmp_path, text.encode(), "a.toml")
    with pytest.raises(InputError, match=f"a.toml {said}$"):
        load_config(path)


@pytest.mark.parametrize("text", ["[" * 100 + "]" * 100, "[" * 10**5, "9" * 5000, '{"a":' * 70 + "1" + "}" * 70])
def test_json_has_limits(text):
    with pytest.raises(ValueError, match=r"nested too deep|digits|Expecting|delimiter"):
        parse_json(text)


def test_a_nested_sidecar_is_no_sidecar(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dualpix.write_map("a.tiff", np.ones((4, 4), np.float32))
    nested = '{"dualpix": "1", "map": "a.tiff", "x": ' + "[" * 500 + "]" * 500 + "}"
    save(tmp_path, nested.encode(), "a.json")
    assert main(["info", "a.tiff", "--json"]) == 0
    assert "sidecar" not in capsys.readouterr().out


# ---- the cache -------------------------------------------------------------------------------------


def test_a_cache_file_with_one_byte_changed_is_no_outcome_or_the_same(tmp_path):
    path = tmp_path / "a.npz"
    write_outcome(path, Outcome("", "", np.zeros((4, 5), np.float32), None, {"p": {"s": 1.0}}, 1.0, 2.0))
    data = path.read_bytes()
    for place in range(0, len(data), 3):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x5A]) + data[place + 1 :])
        found = read_outcome(path)
        assert found is None or found.disparity.shape == (4, 5)


# ---- the terminal and spreadsheets -----------------------------------------------------------------


def test_a_compressed_cache_file_is_not_ours(tmp_path):
    """250 kB could become 120 MB."""
    record = '{"maps": ["disparity"], "scores": {}, "seconds": 1, "megabytes": 1}'
    np.savez_compressed(tmp_path / "a.npz", record=record, disparity=np.zeros((9, 9), np.float32))
    assert read_outcome(tmp_path / "a.npz") is None
    np.savez(tmp_path / "b.npz", record=record, disparity=np.zeros((9, 9), np.float32))
    assert read_outcome(tmp_path / "b.npz") is not None


def test_errors_have_no_control_characters(tmp_path):
    (tmp_path / "shots.csv").write_text("left,\x1b[31mred\na.png\n")
    with pytest.raises(InputError, match=r"line 2: column \\x1b\[31mred is missing: add a cell$"):
        list(dualpix.batch([tmp_path / "shots.csv"], tmp_path / "out"))


def test_control_characters_are_shown_as_escapes(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dualpix.write_map("a.tiff", np.ones((4, 4), np.float32))
    save(tmp_path, json.dumps({"dualpix": "\x1b[31mred\x9b2J", "map": "a.tiff"}).encode(), "a.json")
    save(tmp_path, b"no picture", "\x1b]0;title\x07.png")
    assert main(["info", "a.tiff"]) == 0
    assert main(["info", "\x1b]0;title\x07.png"]) == 2
    out, err = capsys.readouterr()
    assert r"by dualpix \x1b[31mred\x9b2J" in out
    assert r"error: \x1b]0;title\x07.png: is in none of the formats" in err
    assert not {*out, *err} & {"\x1b", "\x9b", "\x07"}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_cells_are_no_formulas(text):
    assert cell(text) == f"'{text}"
    assert cell("a=1") == "a=1"
