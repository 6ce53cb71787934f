"""Requests about shots: open, close, look at. And calibrations."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from ..errors import InputError
from ..files import parse_json
from .replies import Handler, pixel_file, pixels
from .sample import NAMES, write_sample
from .session import Missing
from .settings import Settings
from .shots import Source
from .uploads import Limits, Upload, in_order

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

    from .session import Session
    from .shots import Shot

MOST_STEP = 64  # of a photo that is made smaller
CALIBRATION_BYTES = 32 << 20


class ShotRequests:
    """The handlers, around one session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def table(self) -> dict[str, Handler]:
        """Which address does what."""
        return {
            "POST /api/shots": self.add,
            "POST /api/shots/sample": self.add_sample,
            "DELETE /api/shots/{shot}": self.remove,
            "GET /api/shots/{shot}/photo": self.photo,
            "POST /api/calibrations": self.add_calibration,
        }

    async def add(self, request: Request) -> Response:
        self._session.check_room()
        folder = self._session.new_folder()
        try:
            upload = await self._receive(request, folder, self._session.limits)
            files = in_order(upload.files)
            paths = {role: str(file.path) for role, file in files.items()}
            source = Source(paths, {role: file.name for role, file in files.items()})
            settings = Settings.from_json(_parsed(upload.fields.get("settings") or "{}"))
            return await self._opened(source, files["left"].name, folder, settings)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    async def add_sample(self, _: Request) -> Response:
        self._session.check_room()
        folder = self._session.new_folder()
        try:
            paths = await run_in_threadpool(write_sample, folder)
            source = Source({role: str(path) for role, path in paths.items()}, NAMES, is_sample=True)
            return await self._opened(source, "sample", folder, Settings())
        except BaseException as error:
            shutil.rmtree(folder, ignore_errors=True)
            if isinstance(error, OSError):
                raise InputError(f"the sample cannot be stored ({error.strerror}): free some space") from None
            raise

    async def _opened(self, source: Source, name: str, folder: Path, settings: Settings) -> Response:
        shot = await run_in_threadpool(self._session.add, source, name, folder, settings)
        return JSONResponse(shot.to_json(), 201)

    async def remove(self, request: Request) -> Response:
        await run_in_threadpool(self._session.remove, self._shot(request))
        return Response(status_code=204)

    async def photo(self, request: Request) -> Response:
        shot, text = self._shot(request), request.query_params.get("step", "1")
        if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST_STEP):
            raise InputError(f"step must be a whole number from 1 to {MOST_STEP}")
        photo = await run_in_threadpool(self._session.photo, shot, shot.runs[-1].settings)
        if text == "1":
            return pixel_file(photo.path, photo.width, photo.height)
        try:
            return pixels(await run_in_threadpool(photo.pixels, int(text)))
        except FileNotFoundError:
            raise Missing("the photo was closed meanwhile: ask again") from None

    async def add_calibration(self, request: Request) -> Response:
        folder = self._session.new_folder()
        try:
            upload = await self._receive(request, folder, Limits(CALIBRATION_BYTES, 1))
            if len(upload.files) != 1:
                raise InputError(f"a calibration is one file, not {len(upload.files)}: give one")
            (file,) = upload.files
            number, words = await run_in_threadpool(self._session.add_calibration, file.path, file.name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return JSONResponse({"id": number, "words": words}, 201)

    async def _receive(self, request: Request, folder: Path, limits: Limits) -> Upload:
        upload = Upload(folder, limits)
        return await upload.receive(request.headers.get("content-type", ""), request.stream())

    def _shot(self, request: Request) -> Shot:
        return self._session.shot(request.path_params["shot"])


def _parsed(text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError:
        raise InputError("settings are not JSON: send an object") from None
