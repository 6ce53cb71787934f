"""Requests about runs: start, cancel, maps, metres, files, commands."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import numpy as np
from starlette.concurrency import run_in_threadpool
from starlette.responses import JSONResponse, Response

from ..errors import DualpixError, ParameterError
from ..io.hints import as_hints
from ..method.result import in_words
from . import ranging
from .commands import command
from .exports import Export, export
from .matching import map_of, record_of
from .replies import Handler, attachment, body_of, pixel_file, pixels
from .settings import Settings
from .shots import DONE

if TYPE_CHECKING:
    from starlette.requests import Request

    from .session import Session
    from .shots import Run, Shot


class RunRequests:
    """The handlers, around one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._exporting = asyncio.Lock()

    def table(self) -> dict[str, Handler]:
        """Which address does what."""
        return {
            "POST /api/shots/{shot}/runs": self.start,
            "GET /api/runs/{run}": self.about,
            "DELETE /api/runs/{run}": self.cancel,
            "GET /api/runs/{run}/disparity": self.disparity,
            "GET /api/runs/{run}/confidence": self.confidence,
            "POST /api/runs/{run}/metric": self.metric,
            "POST /api/runs/{run}/export": self.export,
            "POST /api/runs/{run}/command": self.command,
        }

    async def start(self, request: Request) -> Response:
        shot, body = self._session.shot(request.path_params["shot"]), await body_of(request)
        told = body.get("hints") or []
        if not isinstance(told, list):  # a text would be a path
            raise ParameterError("hints must be a list of strokes")
        settings, hints = Settings.from_json(body.get("settings") or {}), as_hints(told)
        run = await run_in_threadpool(self._session.start, shot, settings, hints)
        return JSONResponse(run.to_json(), 201)

    async def about(self, request: Request) -> Response:
        run = self._session.run(request.path_params["run"])
        if run.state != DONE:
            return JSONResponse({"run": run.to_json(), "record": None, "notes": [], "metric": None})
        record = record_of(run)
        metric = await run_in_threadpool(ranging.metric_of_run, self._session.shot(run.shot), run)
        return JSONResponse(
            {
                "run": run.to_json(),
                "record": record,
                "notes": record["warnings"],
                "searched": record["searched"],
                "summary": "; ".join(in_words(record)),
                "metric": ranging.to_json(metric),
                "hints": [each.to_json() for each in run.hints],
            }
        )

    async def cancel(self, request: Request) -> Response:
        self._session.cancel(run := self._session.run(request.path_params["run"]))
        return JSONResponse(run.to_json())

    async def disparity(self, request: Request) -> Response:
        _, run = self._finished(request)
        record = record_of(run)
        return pixel_file(run.file("disparity"), record["width"], record["height"])

    async def confidence(self, request: Request) -> Response:
        _, run = self._finished(request)
        confidence = await run_in_threadpool(map_of, run, "confidence")
        return pixels(np.rint(confidence * np.float32(255)).astype(np.uint8))

    async def metric(self, request: Request) -> Response:
        told = ranging.Ranging.from_json(await body_of(request))
        shot, run = self._finished(request)
        before, run.ranging = run.ranging, told
        try:
            metric = await run_in_threadpool(ranging.metric_of_run, shot, run)
        except DualpixError as error:
            run.ranging = before
            raise type(error)(shot.source.in_words(str(error))) from error
        return JSONResponse(ranging.to_json(metric))

    async def export(self, request: Request) -> Response:
        wanted = Export.from_json(await body_of(request))
        shot, run = self._finished(request)
        async with self._exporting:  # one at a time: a large picture takes much memory
            data = await run_in_threadpool(export, shot, run, wanted)
        return Response(bytes(data), media_type="application/octet-stream", headers=attachment(wanted.name(shot)))

    async def command(self, request: Request) -> Response:
        wanted = Export.from_json(await body_of(request))
        return JSONResponse(await run_in_threadpool(command, *self._finished(request), wanted))

    def _finished(self, request: Request) -> tuple[Shot, Run]:
        return self._session.finished(request.path_params["run"])
