"""News for the page: Server-Sent Events, from any thread to every page that listens."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator
from typing import Any

LATEST = 256  # news that a page may be behind; a slower one is sent away and asks again
HEARTBEAT = 15.0  # s: a comment that finds out whether the page is still there

_Queue = asyncio.Queue[str | None]


class Events:
    """Hands every published record to all listeners."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._listeners: dict[_Queue, asyncio.AbstractEventLoop] = {}
        self._closed = False

    def publish(self, **record: Any) -> None:
        """Send a record to all pages. May be called from any thread."""
        self._send(f"data: {json.dumps(record)}\n\n")

    def close(self) -> None:
        """End all streams."""
        self._closed = True
        self._send(None)

    async def stream(self) -> AsyncIterator[str]:
        """What one page receives, until it goes away or the app ends."""
        queue: _Queue = asyncio.Queue(LATEST)
        with self._lock:
            self._listeners[queue] = asyncio.get_running_loop()
        try:
            yield ": hello\n\n"
            while not self._closed:
                try:
                    news = await asyncio.wait_for(queue.get(), HEARTBEAT)
                except asyncio.TimeoutError:
                    news = ":\n\n"
                if news is None:
                    return
                yield news
        finally:
            with self._lock:
                self._listeners.pop(queue, None)

    def _send(self, text: str | None) -> None:
        with self._lock:
            listeners = list(self._listeners.items())
        for queue, loop in listeners:
            if not loop.is_closed():
                loop.call_soon_threadsafe(_put, queue, text)


def _put(queue: _Queue, text: str | None) -> None:
    """Queue the text. A page that does not read any more gets the end instead: it connects again and asks for all."""
    if queue.full():
        while not queue.empty():
            queue.get_nowait()
        text = None
    queue.put_nowait(text)
