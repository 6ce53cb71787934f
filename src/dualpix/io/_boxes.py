"""The boxes of ISO base media files: AVIF, HEIC and Canon's CR3."""

from collections.abc import Iterator

from ._format import Bytes, unpack

_MOST = 4096  # boxes in one container


def boxes(data: Bytes, start: int, end: int) -> Iterator[tuple[bytes, int, int]]:
    """Yield kind, start and end of the body of each complete box."""
    for _ in range(_MOST):
        if start + 8 > end:
            return
        size, kind = unpack(">I4s", data, start)
        body = start + 8
        if size == 1 and body + 8 <= end:
            (size,) = unpack(">Q", data, body)
            body += 8
        stop = end if size == 0 else start + size
        if stop > end or stop < body:
            return
        yield kind, body, stop
        start = stop


def find(data: Bytes, start: int, end: int, kind: bytes) -> tuple[int, int] | None:
    """Return start and end of the body of the first box of that kind."""
    return next(((a, b) for name, a, b in boxes(data, start, end) if name == kind), None)
