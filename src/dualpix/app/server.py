"""The web server: which address does what."""

from __future__ import annotations

import json
import shutil
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING, Any

import numpy as np
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ..errors import InputError
from ..params import preset_descriptions
from ..render.openings import SHAPES
from ..version import version
from .guard import Guard
from .matching import map_of, record_of
from .photos import photo_of
from .replies import Missing, body_of, in_json, pixels
from .sample import NAMES, write_sample
from .settings import FILTERS, Settings
from .shots import DONE, Run, Shot, Source
from .uploads import Upload, in_order

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from .session import Session

MOST_STEP = 64  # of a photo that is made smaller
KINDS = {".css": "text/css", ".js": "text/javascript", ".html": "text/html", ".svg": "image/svg+xml"}


class Server:
    """The handlers of all addresses, around one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        folder = resources.files("dualpix.render").joinpath("web")
        self._assets = {each.name: each for each in folder.iterdir() if each.name.endswith(tuple(KINDS))}

    def app(self, token: str, port: int) -> ASGIApp:
        """The application, which answers at ``/TOKEN/`` of that port only."""
        return Guard(Starlette(routes=self._routes()), token, port)

    def _routes(self) -> list[Route]:
        table = {
            "GET /": self.index,
            "GET /web/{name}": self.asset,
            "GET /api/state": self.state,
            "GET /api/events": self.events,
            "POST /api/shots": self.add_shot,
            "POST /api/shots/sample": self.add_sample,
            "DELETE /api/shots/{shot}": self.remove_shot,
            "GET /api/shots/{shot}/photo": self.photo,
            "POST /api/shots/{shot}/runs": self.start,
            "POST /api/calibrations": self.add_calibration,
            "GET /api/runs/{run}": self.run,
            "DELETE /api/runs/{run}": self.cancel,
            "GET /api/runs/{run}/disparity": self.disparity,
            "GET /api/runs/{run}/confidence": self.confidence,
        }
        return [
            Route(path, in_json(handler), methods=[method])
            for (method, path), handler in ((key.split(), handler) for key, handler in table.items())
        ]

    # ---- the page ----------------------------------------------------------------------------------------

    async def index(self, _: Request) -> Response:
        return self._asset("app.html")

    async def asset(self, request: Request) -> Response:
        return self._asset(request.path_params["name"])

    def _asset(self, name: str) -> Response:
        if name not in self._assets:
            raise Missing(f"{name}: there is no such file in dualpix app")
        kind = next(kind for suffix, kind in KINDS.items() if name.endswith(suffix))
        return Response(self._assets[name].read_bytes(), media_type=kind)

    async def state(self, _: Request) -> Response:
        session = self._session
        return JSONResponse(
            {
                "version": version(),
                "shots": [shot.to_json() for shot in list(session.shots.values())],
                "presets": _listed(preset_descriptions()),
                "filters": _listed(FILTERS),
                "shapes": list(SHAPES),
                "exports": [],
                "limits": vars(session.limits),
            }
        )

    async def events(self, _: Request) -> Response:
        return StreamingResponse(self._session.events.stream(), media_type="text/event-stream")

    # ---- shots -------------------------------------------------------------------------------------------

    async def add_shot(self, request: Request) -> Response:
        folder = self._session.new_folder()
        try:
            upload = await self._receive(request, Upload(folder, self._session.limits))
            files = in_order(upload.files)
            paths = {role: str(file.path) for role, file in files.items()}
            source = Source(paths, {role: file.name for role, file in files.items()})
            settings = Settings.from_json(_parsed(upload.fields.get("settings") or "{}"))
            shot = await run_in_threadpool(self._session.add, source, files["left"].name, folder, settings)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return JSONResponse(shot.to_json(), 201)

    async def add_sample(self, _: Request) -> Response:
        folder = self._session.new_folder()
        paths = await run_in_threadpool(write_sample, folder)
        source = Source({role: str(path) for role, path in paths.items()}, NAMES)
        shot = await run_in_threadpool(self._session.add, source, "sample", folder, Settings())
        return JSONResponse(shot.to_json(), 201)

    async def remove_shot(self, request: Request) -> Response:
        await run_in_threadpool(self._session.remove, self._shot(request))
        return Response(status_code=204)

    async def photo(self, request: Request) -> Response:
        shot = self._shot(request)
        text = request.query_params.get("step", "1")
        if not (text.isascii() and text.isdecimal() and 1 <= int(text) <= MOST_STEP):
            raise InputError(f"step must be a whole number from 1 to {MOST_STEP}")
        photo = await run_in_threadpool(photo_of, shot, shot.runs[-1].settings)
        if text == "1":
            return _file(photo.path, photo.width, photo.height)
        small = await run_in_threadpool(photo.pixels, int(text))
        return pixels(small.tobytes(), small.shape[1], small.shape[0])

    async def _receive(self, request: Request, upload: Upload) -> Upload:
        return await upload.receive(request.headers.get("content-type", ""), request.stream())

    # ---- runs --------------------------------------------------------------------------------------------

    async def start(self, request: Request) -> Response:
        shot, body = self._shot(request), await body_of(request)
        settings = Settings.from_json(body.get("settings") or {})
        run = await run_in_threadpool(self._session.start, shot, settings, ())
        return JSONResponse(run.to_json(), 201)

    async def run(self, request: Request) -> Response:
        run = self._run(request)
        record = record_of(run) if run.state == DONE else None
        return JSONResponse({"run": run.to_json(), "record": record, "notes": record and record["warnings"]})

    async def cancel(self, request: Request) -> Response:
        self._session.cancel(run := self._run(request))
        return JSONResponse(run.to_json())

    async def disparity(self, request: Request) -> Response:
        run = self._done(request)
        record = record_of(run)
        return _file(run.file("disparity"), record["width"], record["height"])

    async def confidence(self, request: Request) -> Response:
        confidence = await run_in_threadpool(partial(map_of, self._done(request), "confidence"))
        return pixels(np.rint(confidence * 255).astype(np.uint8).tobytes(), confidence.shape[1], confidence.shape[0])

    async def add_calibration(self, request: Request) -> Response:
        folder = self._session.new_folder()
        try:
            upload = await self._receive(request, Upload(folder, self._session.limits))
            if len(upload.files) != 1:
                raise InputError(f"a calibration is one file, not {len(upload.files)}: give one")
            (file,) = upload.files
            number, found = await run_in_threadpool(self._session.add_calibration, file.path, file.name)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        return JSONResponse({"id": number, "words": f"{file.name}: {found.camera or 'camera not named'}"}, 201)

    # ---- what an address names ---------------------------------------------------------------------------

    def _shot(self, request: Request) -> Shot:
        name = request.path_params["shot"]
        if name not in self._session.shots:
            raise Missing(f"shot {name} is not open")
        return self._session.shots[name]

    def _run(self, request: Request) -> Run:
        name = request.path_params["run"]
        if name not in self._session.runs:
            raise Missing(f"run {name} is not there any more")
        return self._session.runs[name]

    def _done(self, request: Request) -> Run:
        run = self._run(request)
        if run.state != DONE:
            raise InputError(run.error or f"run {run.id} is {run.state}, so it has no map: wait for it")
        return run


def _file(path: Any, width: int, height: int) -> Response:
    headers = {"x-width": str(width), "x-height": str(height)}
    return FileResponse(path, media_type="application/octet-stream", headers=headers)


def _listed(words: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "words": text} for name, text in words.items()]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InputError("settings are not JSON: send an object") from None
