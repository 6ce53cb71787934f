"""Videos in and out, by PyAV (extra ``video``). Files are opened here, so FFmpeg reads nothing but them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..ending import leftover
from ..errors import InputError
from ..types import Image, StrPath
from ._extra import missing
from ._format import reading
from ._limit import max_pixels, too_large
from ._reader import file_bytes, probe
from .atomic import writing

__all__ = [
    "GREY_BITS",
    "PREVIEW_SUFFIXES",
    "TAG",
    "VideoInfo",
    "VideoWriter",
    "check_pyav",
    "join",
    "probe_video",
    "read_video",
]

GREY_BITS = {"gray16": 16, "gray12": 12, "gray10": 10}  # bits of the grey formats
PREVIEW_SUFFIXES = (".webm", ".mp4", ".mkv")
CONTAINER = "matroska"
TAG = "DUALPIX"  # of the metadata of a grey video, with the meaning of its codes as JSON
SAME_BYTES = {"fflags": "+bitexact"}  # no random numbers, no dates
FFV1 = {"level": "3", "slices": "4", "slicecrc": "1"}  # lossless, every frame by itself, with checksums
VP9 = {"deadline": "realtime", "cpu-used": "8", "crf": "24", "b": "0", "lag-in-frames": "0"}
KEYFRAMES = 48  # frames from one key frame of a preview to the next


class VideoInfo(NamedTuple):
    """What a video file tells: width and height in px, number of frames, frames a second if known, texts by name."""

    width: int
    height: int
    frames: int
    rate: Fraction | None
    tags: dict[str, str]


def check_pyav(path: StrPath) -> None:
    """Refuse a video if PyAV is not installed.

    Raises
    ------
    InputError
        It names the extra.
    """
    if missing("av"):
        raise InputError(f"{path}: videos need the package PyAV: pip install 'dualpix[video]'")


def probe_video(path: StrPath) -> VideoInfo:
    """Size, number of frames and rate of a video. Its packets are counted, and nothing is decoded.

    Raises
    ------
    InputError
        If the file is no video, or its frames have too many pixels.
    """
    with _opened(path) as (container, stream):
        width, height = stream.codec_context.width, stream.codec_context.height
        if problem := too_large(width, height):
            raise InputError(f"{path}: {problem}")
        count = sum(1 for packet in container.demux(stream) if packet.size)
        if count == 0:
            raise InputError(f"{path}: holds no frames: give another video")
        return VideoInfo(width, height, count, stream.average_rate, dict(container.metadata))


def read_video(path: StrPath, start: int = 0) -> Iterator[Image]:
    """The frames of a video from number `start` on, as stored: a rotation that the file tells is not applied.

    Yields
    ------
    ndarray
        HxW if the video is grey, else HxWx3 (RGB); uint8, or uint16 if a sample has more than 8 bits.
    """
    with _opened(path) as (container, stream):
        stream.thread_type = "AUTO"
        size = stream.codec_context.width, stream.codec_context.height
        for number, frame in enumerate(container.decode(stream)):
            if (frame.width, frame.height) != size:
                raise InputError(f"{path}: frame {number + 1} has another size than the first: give frames of one size")
            if number >= start:
                yield _pixels(frame)


def _pixels(frame: Any) -> Image:
    deep = max(component.bits for component in frame.format.components) > 8
    grey = frame.format.name.startswith("gray")
    # Full-range RGB or grey, scaled to all 8 or 16 bits.
    kind = ("gray16le" if deep else "gray") if grey else ("rgb48le" if deep else "rgb24")
    return np.ascontiguousarray(frame.to_ndarray(format=kind))


@contextmanager
def _opened(path: StrPath) -> Iterator[tuple[Any, Any]]:
    """The container and its first video stream. Errors of FFmpeg name the file."""
    check_pyav(path)
    import av

    data = file_bytes(path)
    with reading(path):
        try:
            with av.open(data.file, options=_limits()) as container:
                if not container.streams.video:
                    raise InputError(f"{path}: holds no video: give a file with pictures")
                stream = container.streams.video[0]
                if stream.codec_context is None:
                    raise InputError(
                        f"{path}: is no video that can be read (unknown codec): convert it, or give frames"
                    )
                stream.codec_context.options = _limits()
                if not stream.codec_context.width:
                    if container.format.name.endswith(("_pipe", "image2")):
                        probe(path)  # it should be a single picture: this says what is wrong with it
                    raise InputError(
                        f"{path}: is no video that can be read, or its frames are over the limit of {max_pixels()} "
                        f"pixels: give another file, or raise the environment variable DUALPIX_MAX_PIXELS"
                    )
                yield container, stream
        except av.error.FFmpegError as error:
            reason = str(error.strerror or error).splitlines()[0]
            raise InputError(f"{path}: is no video that can be read ({reason}): convert it, or give frames") from None


def _limits() -> dict[str, str]:
    """Options of FFmpeg: frames with too many pixels are not decoded, whatever size the file announces."""
    return {"max_pixels": str(min(max_pixels(), 2**31 - 1))}


class VideoWriter:
    """Writes a video frame by frame into a temporary file, which gets its name when all is written.

    Parameters
    ----------
    path
        The file. An existing one is replaced.
    rate
        Frames a second.
    codec : "gray16", "gray12", "gray10" or "preview"
        Lossless grey (FFV1 in Matroska), or a small colour video (VP9).
    metadata
        Texts that the file holds, by name.
    """

    def __init__(self, path: str, rate: Fraction, codec: str, metadata: dict[str, str] | None = None) -> None:
        self._path, self._part = path, f"{path}.part"
        self._rate, self._codec, self._metadata = rate, codec, metadata or {}
        self._container: Any = None
        self._stream: Any = None
        self._count = 0

    def add(self, picture: npt.NDArray[Any]) -> None:
        """Write a frame: HxW codes of the grey format as uint16, or HxWx3 (RGB) uint8 for a preview."""
        import av

        picture = picture if picture.ndim == 2 else _even(picture)
        if self._stream is None:
            self._open(picture.shape[1], picture.shape[0])
        kind = "rgb24" if self._codec == "preview" else f"{self._codec}le"
        frame: Any = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format=kind)
        frame.pts, frame.time_base = self._count, 1 / self._rate
        self._count += 1
        for packet in self._stream.encode(frame):
            self._container.mux(packet)

    def _open(self, width: int, height: int) -> None:
        import av

        self._container = av.open(self._part, "w", format=CONTAINER, options=SAME_BYTES)
        self._container.metadata.update(self._metadata)
        preview = self._codec == "preview"
        self._stream = self._container.add_stream("libvpx-vp9" if preview else "ffv1", rate=self._rate)
        self._stream.width, self._stream.height = width, height
        self._stream.pix_fmt = "yuv420p" if preview else f"{self._codec}le"
        self._stream.options = VP9 if preview else FFV1
        self._stream.gop_size = KEYFRAMES if preview else 1

    def __enter__(self) -> VideoWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._container is None:
            return
        if error is None:
            for packet in self._stream.encode(None):
                self._container.mux(packet)
        self._container.close()
        if error is None:
            os.replace(self._part, self._path)
        else:
            os.remove(self._part)


def join(parts: Sequence[tuple[str, int]], path: str, metadata: dict[str, str] | None = None) -> None:
    """Put videos of the same codec, size and rate one after the other, without a new encoding.

    Parameters
    ----------
    parts
        Files that `VideoWriter` wrote, and the number of their frames.
    path
        The file to write, whole or not at all; the suffix gives the container. An existing one is replaced.
    """
    kind = {".webm": "webm", ".mp4": "mp4"}.get(os.path.splitext(path)[1].lower(), CONTAINER)
    temporary = os.path.join(
        os.path.dirname(path), f".{os.path.basename(path)}.part"
    )  # a killed run leaves one at most
    with leftover(temporary), writing(path):
        _join(parts, temporary, kind, metadata or {})
        os.replace(temporary, path)


def _join(parts: Sequence[tuple[str, int]], path: str, kind: str, metadata: dict[str, str]) -> None:
    import av

    with av.open(path, "w", format=kind, options=SAME_BYTES) as out:
        out.metadata.update(metadata)
        stream: Any = None
        done = 0
        for part, count in parts:
            with av.open(part) as container:
                source: Any = container.streams.video[0]
                stream = stream or out.add_stream_from_template(source)
                offset = round(done / source.average_rate / source.time_base)
                for packet in container.demux(source):
                    if packet.size:
                        packet.pts, packet.dts = packet.pts + offset, packet.dts + offset
                        packet.stream = stream
                        out.mux(packet)
            done += count


def _even(picture: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A picture with even sides, as players expect: the last row and column are repeated."""
    height, width = picture.shape[:2]
    return np.pad(picture, ((0, height % 2), (0, width % 2), (0, 0)), mode="edge")
