"""The web server: the page, its state and its news. `shot_requests` and `run_requests` have the rest."""

from __future__ import annotations

import re
from importlib import resources
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from ..params import preset_descriptions
from ..render.openings import SHAPES
from ..version import version
from .exports import listed
from .guard import UNKNOWN, Guard
from .replies import Handler, in_json
from .run_requests import RunRequests
from .session import Missing
from .settings import FILTERS
from .shot_requests import ShotRequests

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from .session import Session

SCRIPT = re.compile(rb'<script src="web/([^"]+)"></script>\n')
KINDS = {".css": "text/css", ".js": "text/javascript", ".html": "text/html", ".svg": "image/svg+xml"}


def application(session: Session, token: str, port: int) -> ASGIApp:
    """The application around one session, which answers at ``/TOKEN/`` of that port only."""
    table: dict[str, Handler] = {
        **_Page(session).table(),
        **ShotRequests(session).table(),
        **RunRequests(session).table(),
    }
    routes = []
    for key, handler in table.items():
        method, path = key.split()
        routes.append(Route(path, in_json(handler), methods=[method]))
    return Guard(Starlette(routes=routes, exception_handlers={HTTPException: _refused}), token, port)


async def _refused(_: Request, error: Exception) -> Response:
    """The reply to an address or a method that does not exist."""
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": f"{UNKNOWN} ({error.detail})"}, error.status_code)


class _Page:
    def __init__(self, session: Session) -> None:
        self._session = session
        folder = resources.files("dualpix.render").joinpath("web")
        self._assets = {each.name: each.read_bytes() for each in folder.iterdir() if each.name.endswith(tuple(KINDS))}
        self._join_scripts()

    def _join_scripts(self) -> None:
        """Have the page load its scripts as one file: while a shot is matched, every request costs time."""
        page = self._assets["app.html"]
        self._assets["scripts.js"] = b"\n".join(self._assets[name.decode()] for name in SCRIPT.findall(page))
        one = b'<script src="web/scripts.js"></script>\n</body>'
        self._assets["app.html"] = SCRIPT.sub(b"", page).replace(b"</body>", one)

    def table(self) -> dict[str, Handler]:
        return {
            "GET /": self.index,
            "GET /web/{name}": self.asset,
            "GET /api/state": self.state,
            "GET /api/events": self.events,
        }

    async def index(self, _: Request) -> Response:
        return self._asset("app.html")

    async def asset(self, request: Request) -> Response:
        return self._asset(request.path_params["name"])

    def _asset(self, name: str) -> Response:
        """A file of the fixed list, never a path."""
        if name not in self._assets:
            raise Missing(f"{name}: there is no such file in dualpix app")
        kind = next(kind for suffix, kind in KINDS.items() if name.endswith(suffix))
        return Response(self._assets[name], media_type=kind)

    async def state(self, _: Request) -> Response:
        return JSONResponse(
            {
                "version": version(),
                "shots": [shot.to_json() for shot in list(self._session.shots.values())],
                "presets": _listed(preset_descriptions()),
                "filters": _listed(FILTERS),
                "shapes": list(SHAPES),
                "exports": listed(),
                "limits": vars(self._session.limits),
                "notes": self._session.notes,
            }
        )

    async def events(self, _: Request) -> Response:
        return StreamingResponse(self._session.events.stream(), media_type="text/event-stream")


def _listed(words: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "words": text} for name, text in words.items()]
