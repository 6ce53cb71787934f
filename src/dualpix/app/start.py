"""Start and end of the app: the folder, the files of the command line, the socket, the browser."""

from __future__ import annotations

import secrets
import signal
import socket
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib.util import find_spec
from threading import Thread, current_thread, main_thread
from types import FrameType
from typing import TYPE_CHECKING

from ..errors import InputError
from ..io.private import PrivateFolder
from .opening import find, name_of
from .session import Session
from .settings import Settings
from .uploads import Limits

if TYPE_CHECKING:
    import uvicorn

HOST = "127.0.0.1"
PACKAGES = ("starlette", "uvicorn", "python_multipart")
GRACE = 2  # s that open requests have at the end


def serve(files: Sequence[str], port: int = 0, *, open_browser: bool = True) -> Iterator[str]:
    """Serve the app until Ctrl-C. Yields lines to print.

    Matching starts before the server is up.

    Raises
    ------
    InputError
        If a package is missing, a file cannot be found, or the port is taken.
    """
    if any(find_spec(name) is None for name in PACKAGES):
        raise InputError("dualpix app needs a web server: pip install 'dualpix[app]'")
    limits = Limits()
    found = find(files, limits.shots)
    with closing(listen(port)) as sock, PrivateFolder() as folder, closing(Session(folder.path, limits)) as session:
        for source in found.sources:
            session.add(source, name_of(source), session.new_folder(), Settings())
        session.notes += found.notes
        yield from found.notes
        token = secrets.token_urlsafe(16)
        number = sock.getsockname()[1]
        address = f"http://{HOST}:{number}/{token}/"
        yield f"dualpix app: {address} (Ctrl-C ends it)"
        if open_browser:  # it may ask before the server is up: the socket lets it wait
            Thread(target=webbrowser.open, args=(address,), daemon=True).start()
        make_server(session, token, number).run(sockets=[sock])


def listen(port: int) -> socket.socket:
    """A socket of this computer, for this computer only."""
    sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((HOST, port))
        sock.listen(128)
    except OSError as error:
        sock.close()
        raise InputError(f"port {port} cannot be used ({error.strerror}): give another one, or none") from None
    return sock


def make_server(session: Session, token: str, port: int) -> uvicorn.Server:
    """The server. It ends all streams of news before it waits for open requests, and ends on SIGHUP as on SIGTERM."""
    import uvicorn

    from .server import application

    class Ending(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            session.events.close()
            await super().shutdown(sockets)

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            with super().capture_signals(), _signal("SIGHUP", self.handle_exit):
                yield

    config = uvicorn.Config(
        application(session, token, port),
        log_level="critical",
        access_log=False,
        lifespan="off",
        ws="none",
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=GRACE,
    )
    return Ending(config)


@contextmanager
def _signal(name: str, handler: Callable[[int, FrameType | None], None]) -> Iterator[None]:
    """Have `handler` take this signal meanwhile; Windows has no SIGHUP. Only the main thread may ask for that."""
    number = getattr(signal, name, None)
    if number is None or current_thread() is not main_thread():
        yield
        return
    before = signal.signal(number, handler)
    try:
        yield
    finally:
        signal.signal(number, before)
