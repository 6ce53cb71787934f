"""Uploads, written to files of our own names while they arrive. A limit ends them at once."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from ..errors import InputError
from . import sides

if TYPE_CHECKING:
    from python_multipart.multipart import MultipartCallbacks

FIELD_BYTES = 1 << 20  # of a field that is no file
PARTS = 8  # of one request, fields included


class TooLarge(InputError):
    """More bytes or files than the limits allow."""


@dataclass(frozen=True)
class Limits:
    """How much one request may bring, and how many shots may be open."""

    file_bytes: int = 512 << 20
    files: int = 3
    shots: int = 100


@dataclass(frozen=True)
class File:
    """An uploaded file: the field it came in, what the user calls it, and where it is."""

    field: str
    name: str
    path: Path


@dataclass
class Upload:
    """What a form holds so far."""

    folder: Path
    limits: Limits
    files: list[File] = field(default_factory=list)
    fields: dict[str, str] = field(default_factory=dict)

    async def receive(self, content_type: str, stream: AsyncIterator[bytes]) -> Upload:
        """Read a whole form.

        Raises
        ------
        TooLarge
            As soon as a limit is passed. What was written stays in the folder, which the caller removes.
        InputError
            If it is not a form.
        """
        from python_multipart.exceptions import FormParserError
        from python_multipart.multipart import MultipartParser, parse_options_header

        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data" or not options.get(b"boundary"):
            raise InputError("the request is no form with files: send multipart/form-data")
        parts = _Parts(self)
        try:
            parser = MultipartParser(options[b"boundary"], parts.callbacks())
            async for chunk in stream:
                parser.write(chunk)
            parser.finalize()
        except FormParserError as error:
            raise InputError(f"the form is damaged ({error}): send it again") from None
        except OSError as error:
            raise InputError(f"the files cannot be stored ({error.strerror}): free some space") from None
        finally:
            with suppress(OSError):  # no room for the rest, either
                parts.close()
        if not parts.ended:
            raise InputError("the form ended too early: send it again")
        return self


class _Parts:
    """The parts of a form, as the parser finds them."""

    def __init__(self, upload: Upload) -> None:
        self._upload = upload
        self._count = 0
        self._key, self._value = b"", b""
        self._headers: dict[bytes, bytes] = {}
        self._field, self._text = "", b""
        self._file: BinaryIO | None = None
        self._size = 0
        self.ended = False

    def callbacks(self) -> MultipartCallbacks:
        return {
            "on_part_begin": self._part_begin,
            "on_header_field": self._header_field,
            "on_header_value": self._header_value,
            "on_header_end": self._header_end,
            "on_headers_finished": self._headers_finished,
            "on_part_data": self._part_data,
            "on_part_end": self._part_end,
            "on_end": self._end,
        }

    def close(self) -> None:
        if self._file:
            self._file.close()
            self._file = None

    def _part_begin(self) -> None:
        self._count += 1
        if self._count > PARTS:
            raise TooLarge(f"the form has more than {PARTS} parts: send fewer")
        self._headers, self._text, self._size = {}, b"", 0

    def _header_field(self, data: bytes, start: int, end: int) -> None:
        self._key += data[start:end]

    def _header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _header_end(self) -> None:
        self._headers[self._key.lower()] = self._value
        self._key, self._value = b"", b""

    def _headers_finished(self) -> None:
        from python_multipart.multipart import parse_options_header

        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._field = options.get(b"name", b"").decode(errors="replace")
        if b"filename" not in options:
            return
        files, limits = self._upload.files, self._upload.limits
        if len(files) == limits.files:
            raise TooLarge(f"one shot has at most {limits.files} files: drop fewer at once")
        path = self._upload.folder / f"{len(files)}"
        files.append(File(self._field, clean_name(options[b"filename"].decode(errors="replace")), path))
        self._file = open(path, "xb")  # noqa: SIM115 - closed at the end of the part

    def _part_data(self, data: bytes, start: int, end: int) -> None:
        self._size += end - start
        if self._file is None:
            if self._size > FIELD_BYTES:
                raise TooLarge(f"field {self._field!r} has more than {FIELD_BYTES >> 20} MB: send less")
            self._text += data[start:end]
            return
        if self._size > (most := self._upload.limits.file_bytes):
            raise TooLarge(
                f"{self._upload.files[-1].name}: is larger than {most / (1 << 20):g} MB, the limit of dualpix app: "
                "use dualpix disparity"
            )
        self._file.write(data[start:end])

    def _part_end(self) -> None:
        if self._file is None:
            self._upload.fields[self._field] = self._text.decode(errors="replace")
        self.close()

    def _end(self) -> None:
        self.ended = True


def clean_name(name: str) -> str:
    """The file name that a browser sent, without folders and control characters. It is only ever shown."""
    # Browsers send %22, %0D and %0A for the characters that would end the name.
    name = re.sub("%(22|0D|0A)", lambda found: chr(int(found[1], 16)), name, flags=re.IGNORECASE)
    name = re.split(r"[/\\]", name)[-1]
    return "".join(each for each in name if each.isprintable())[:200].strip() or "file"


def in_order(files: list[File]) -> dict[str, File]:
    """The files by role: a guide by its field, the views by their names if those tell, else as they came.

    Raises
    ------
    InputError
        If there are no views, or too many.
    """
    guides = [each for each in files if each.field == "guide"]
    views = [each for each in files if each.field != "guide"]
    if len(guides) > 1 or not 1 <= len(views) <= 2:
        raise InputError(f"one shot has one or two files, and perhaps a guide, not {len(files)}: drop fewer at once")
    if len(views) == 2 and not sides.in_order([each.name for each in views]):
        views.reverse()
    return dict(zip(("left", "right", "guide") if len(views) == 2 else ("left", "guide"), views + guides, strict=False))
