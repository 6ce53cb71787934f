"""Who may talk to the app: pages of this address, on this computer, that know the token.

A page of another site can make the browser send requests to 127.0.0.1. Host, Origin and Sec-Fetch-Site tell them
apart. The token keeps out other programs of this computer. Other users of a shared computer may see it in the
command line of the browser; `--no-open` avoids that.
"""

from __future__ import annotations

import hmac
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
FOREIGN = "this address is for pages of dualpix app on this computer only"
UNKNOWN = "there is nothing at this address: open the one that dualpix app printed"


class Guard:
    """Lets through requests to ``/TOKEN/...`` of the app's own pages, without the token, and adds the headers."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = {f"{name}:{port}".encode() for name in ("127.0.0.1", "localhost")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # websockets
            await send({"type": "websocket.close", "code": 1008})
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message.get("headers", ()), *own]
            await send(message)

        app = self._refused(scope) or self._app
        await app(scope, receive, with_headers)

    def _refused(self, scope: Scope) -> ASGIApp | None:
        """The refusal of a request; None if it may pass, with the token taken off its path."""
        from starlette.responses import JSONResponse, RedirectResponse

        if not self._is_own(scope["headers"]):
            return JSONResponse({"error": FOREIGN}, 403)
        first, slash, rest = scope["path"][1:].partition("/")
        if not hmac.compare_digest(first.encode(), self._token):
            return JSONResponse({"error": UNKNOWN}, 404)
        if not slash:
            return RedirectResponse(f"/{first}/")
        scope["path"] = "/" + rest
        return None

    def _is_own(self, headers: list[tuple[bytes, bytes]]) -> bool:
        def values(name: bytes) -> list[bytes]:
            return [value for key, value in headers if key == name]

        hosts, origins, sites = (values(name) for name in (b"host", b"origin", b"sec-fetch-site"))
        return (
            len(hosts) == 1
            and hosts[0] in self._hosts
            and all(origin in {b"http://" + host for host in self._hosts} for origin in origins)
            and all(site in (b"same-origin", b"none") for site in sites)
        )
