"""The size of AV1 frames, from the sequence headers of their data (section 5.5 of the AV1 specification)."""

from collections.abc import Iterator

_SEQUENCE_HEADER = 1  # type of an OBU
_MOST = 1000  # OBUs that are looked at
_LONGEST = 128  # bytes of a sequence header; what comes before the size has 93 at most
_UNKNOWN = 2**16, 2**16


class _Bits:
    """Reads bits from the highest on. Beyond the end they are 0, and it has `ended`."""

    def __init__(self, data: bytes) -> None:
        self._value, self._left = int.from_bytes(data, "big"), 8 * len(data)

    def take(self, count: int) -> int:
        """The next bits as a number."""
        self._left -= count
        return (self._value >> self._left if self._left >= 0 else 0) & ((1 << count) - 1)

    @property
    def ended(self) -> bool:
        """Whether bits beyond the end were taken."""
        return self._left < 0


def frame_sizes(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield width and height of every sequence header, px. Those that cannot be read are 2^16 x 2^16, the most.

    So are all behind the first 1000 OBUs.
    """
    position = 0
    for _ in range(_MOST):
        if position >= len(data):
            return
        head = data[position]
        position += 2 if head & 4 else 1  # with an extension of one byte
        size, position = _length(data, position) if head & 2 else (len(data) - position, position)
        if head >> 3 & 15 == _SEQUENCE_HEADER:
            yield _size(data[position : position + min(size, _LONGEST)])
        position += size
    yield _UNKNOWN


def _length(data: bytes, position: int) -> tuple[int, int]:
    """A number in bytes of seven bits, the lowest first, and where it ends."""
    value = 0
    for i, byte in enumerate(data[position : position + 8]):
        value |= (byte & 127) << 7 * i
        if byte < 128:
            return value, position + i + 1
    return len(data), position


def _size(header: bytes) -> tuple[int, int]:
    bits = _Bits(header)
    bits.take(4)  # profile, still picture
    if bits.take(1):  # a reduced header
        bits.take(5)  # level
    else:
        if bits.take(1):  # timing, which pictures do not have
            return _UNKNOWN
        delays = bits.take(1)
        for _ in range(bits.take(5) + 1):  # operating points
            bits.take(12)
            if bits.take(5) > 7:  # level
                bits.take(1)
            if delays and bits.take(1):
                bits.take(4)
    width_bits, height_bits = bits.take(4) + 1, bits.take(4) + 1
    size = bits.take(width_bits) + 1, bits.take(height_bits) + 1
    return _UNKNOWN if bits.ended else size
