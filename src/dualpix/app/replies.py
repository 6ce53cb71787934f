"""Requests in and replies out: bounded JSON, sentences for errors, names of files."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import Any, BinaryIO
from urllib.parse import quote

import numpy.typing as npt
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse

from ..errors import DualpixError, InputError, in_words, show_debug
from ..files import parse_json
from .session import Missing
from .uploads import TooLarge

JSON_BYTES = 4 << 20  # of a request
RAW = "application/octet-stream"
CHUNK = 1 << 20  # bytes

Handler = Callable[[Request], Awaitable[Response]]


def in_json(handler: Handler) -> Handler:
    """The handler, with every error as ``{"error": sentence}``."""

    @wraps(handler)
    async def safe(request: Request) -> Response:
        try:
            return await handler(request)
        except ClientDisconnect:
            return Response(status_code=400)  # nobody reads it
        except DualpixError as error:
            status = 404 if isinstance(error, Missing) else 413 if isinstance(error, TooLarge) else 400
            return JSONResponse({"error": in_words(error)}, status)
        except Exception as error:
            show_debug()
            return JSONResponse({"error": in_words(error)}, 500)

    return safe


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object that was sent; an empty body is an empty object."""
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > JSON_BYTES:
            raise TooLarge(f"the request has more than {JSON_BYTES >> 20} MB: send less")
    try:
        found = parse_json(bytes(data) or b"{}")
    except ValueError:
        raise InputError("the request is not JSON: send an object") from None
    if not isinstance(found, dict):
        raise InputError("the request is no JSON object: send one")
    return found


def pixels(values: npt.NDArray[Any]) -> Response:
    """Raw pixels of an array, row by row."""
    return Response(values.tobytes(), media_type=RAW, headers=_size(values.shape[1], values.shape[0]))


def pixel_file(path: Path, width: int, height: int) -> Response:
    """Raw pixels of a file. It is opened before the reply begins, since it may be removed meanwhile."""
    try:
        file = open(path, "rb")  # noqa: SIM115 - closed when it is sent
    except FileNotFoundError:
        raise Missing("the shot or run was closed meanwhile") from None
    length = {"content-length": str(os.fstat(file.fileno()).st_size)}
    return StreamingResponse(_chunks(file), media_type=RAW, headers=_size(width, height) | length)


def _chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk


def _size(width: int, height: int) -> dict[str, str]:
    return {"x-width": str(width), "x-height": str(height)}


def attachment(name: str) -> dict[str, str]:
    """The header with which a browser saves the reply under that name."""
    plain = "".join(each if each.isascii() and (each.isalnum() or each in "-_. ") else "_" for each in name)
    return {"content-disposition": f"attachment; filename=\"{plain}\"; filename*=UTF-8''{quote(name, safe='')}"}
