"""Seeded mutations of bytes: the same random numbers give the same file."""

import re
import struct
import zlib
from random import Random

LARGEST = 1 << 20  # bytes of a mutated file
BYTES = (0, 1, 2, 3, 4, 7, 8, 9, 10, 13, 16, 27, 32, 34, 39, 44, 61, 64, 91, 93, 123, 125, 127, 128, 192, 254, 255)
NUMBERS = (
    0,
    1,
    2,
    3,
    4,
    5,
    8,
    16,
    255,
    256,
    1000,
    32767,
    32768,
    65535,
    65536,
    10**6,
    2**24,
    2**31 - 1,
    2**31,
    2**32 - 1,
)
WORDS = (
    *(b"0", b"-1", b"1e999", b"-1e-999", b"nan", b"inf", b"1e5", b"0x10", b"0.0", b"65536", b"99999999999999999999"),
    *(
        b"9" * 400,
        b"9" * 5000,
        b"null",
        b"true",
        b"[]",
        b"{}",
        b'""',
        b"[" * 50,
        b'{"a":' * 50,
        b"\x1b[31m",
        b"\0",
        b"\xff\xfe",
    ),
    *(
        b"..",
        b"=1+1",
        b",",
        b"\n",
        b'"',
        b"'",
        b"\\u0000",
        b"\xc3\xa9",
        b"\xed\xa0\x80",
        b"#",
        b" " * 300,
        b"True",
        b"(-2, -2)",
    ),
)
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")


def mutated(data: bytes, others: list[bytes], random: Random) -> bytes:
    """A file that differs from `data` by one or a few mutations. `others` are files to take pieces from."""
    changed = bytearray(data)
    for _ in range(random.choice((1, 1, 1, 2, 2, 3, 5, 9))):
        random.choice(_MUTATIONS)(changed, random)
    if random.random() < 0.05:
        changed = _spliced(changed, random.choice(others), random)
    if data[:4] == b"\x89PNG" and random.random() < 0.8:
        _mend_png(changed)
    return bytes(changed[:LARGEST])


def _place(data: bytearray, random: Random) -> int:
    """A place in the file. Headers are at the start, so half of the places are."""
    if not data:
        return 0
    return random.randrange(min(len(data), 256) if random.random() < 0.5 else len(data))


def _flip(data: bytearray, random: Random) -> None:
    if data:
        data[_place(data, random)] ^= 1 << random.randrange(8)


def _byte(data: bytearray, random: Random) -> None:
    if data:
        data[_place(data, random)] = random.choice(BYTES) if random.random() < 0.5 else random.randrange(256)


def _integer(data: bytearray, random: Random) -> None:
    """An integer of 2, 4 or 8 bytes, in either order: an odd one, or one near the present one."""
    code, size = random.choice((("H", 2), ("I", 4), ("I", 4), ("Q", 8)))
    if len(data) < size:
        return
    order, place = random.choice("<>"), _place(data, random)
    place = min(place, len(data) - size)
    old = struct.unpack_from(order + code, data, place)[0]
    new = random.choice(
        (random.choice(NUMBERS), random.choice(NUMBERS), old + random.randint(-9, 9), old * 2, -old, len(data))
    )
    struct.pack_into(order + code, data, place, new % (1 << 8 * size))


def _text(data: bytearray, random: Random) -> None:
    """A number of a text becomes another one, or a word is put anywhere."""
    found = list(_NUMBER.finditer(data[:20_000]))
    if found and random.random() < 0.6:
        chosen = random.choice(found)
        data[chosen.start() : chosen.end()] = random.choice(WORDS)
    else:
        place = _place(data, random)
        data[place:place] = random.choice(WORDS)


def _block(data: bytearray, random: Random) -> tuple[int, int]:
    start = _place(data, random)
    return start, min(len(data), start + random.choice((1, 2, 4, 8, 12, 16, 64, 256, 1024)))


def _delete(data: bytearray, random: Random) -> None:
    start, end = _block(data, random)
    del data[start:end]


def _repeat(data: bytearray, random: Random) -> None:
    start, end = _block(data, random)
    place = _place(data, random)
    data[place:place] = data[start:end] * random.choice((1, 1, 1, 2, 10, 100))
    del data[LARGEST:]


def _copy(data: bytearray, random: Random) -> None:
    start, end = _block(data, random)
    place = _place(data, random)
    data[place : place + end - start] = data[start:end]


def _noise(data: bytearray, random: Random) -> None:
    start, end = _block(data, random)
    data[start:end] = random.randbytes(end - start)


def _cut(data: bytearray, random: Random) -> None:
    if random.random() < 0.3:
        del data[random.randrange(len(data) + 1) :]


_MUTATIONS = (_flip, _flip, _byte, _byte, _integer, _integer, _integer, _text, _delete, _repeat, _copy, _noise, _cut)


def _spliced(data: bytearray, other: bytes, random: Random) -> bytearray:
    return data[: random.randrange(len(data) + 1)] + other[random.randrange(len(other) + 1) :]


def _mend_png(data: bytearray) -> None:
    """Right checksums, so that a reader that checks them looks at the rest."""
    place = 8
    while place + 12 <= len(data):
        length = int.from_bytes(data[place : place + 4], "big")
        end = place + 8 + length
        if end + 4 > len(data):
            return
        data[end : end + 4] = zlib.crc32(data[place + 4 : end]).to_bytes(4, "big")
        place = end + 4
