"""A running app for tests: a real server on a free port in a thread, or the command; and a small client."""

import http.client
import json
import os
import secrets
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from urllib.request import urlopen

import numpy as np

from dualpix.app.session import Session
from dualpix.app.start import listen, make_server
from dualpix.app.uploads import Limits
from dualpix.io import encode_png
from dualpix.io.private import PrivateFolder

PATIENCE = 60  # s


class App:
    """The address of an app, and requests to it."""

    def __init__(self, session, port, token):
        self.session, self.port, self.token = session, port, token

    def ask(self, method, path, body=None, headers=None, *, whole=False):
        """Status, headers and bytes of a reply; `whole` paths do not get the token."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            if isinstance(body, dict):
                body = json.dumps(body)
            connection.request(method, path if whole else f"/{self.token}/{path}", body, headers or {})
            reply = connection.getresponse()
            return reply.status, dict(reply.getheaders()), reply.read()
        finally:
            connection.close()

    def json(self, method, path, body=None, status=None):
        """The JSON of a reply that must have this status."""
        found, _, data = self.ask(method, path, body)
        assert found == (status or (201 if method == "POST" else 200)), data
        return json.loads(data)

    def drop(self, files, settings=None, status=201):
        """Upload files, given as (field, name, content)."""
        fields = [("settings", None, json.dumps(settings).encode())] if settings is not None else []
        found, _, data = self.ask("POST", "api/shots", *form([*files, *fields]))
        assert found == status, data
        return json.loads(data)

    def pair(self, left, right, names=("left.png", "right.png"), settings=None):
        """Upload two views given as arrays."""
        content = zip(names, (left, right), strict=True)
        return self.drop([("files", name, encode_png(view)) for name, view in content], settings)

    def wait(self, run, states=("done",)):
        """The run when it has ended."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = self.json("GET", f"api/runs/{run['id']}")["run"]
            if found["state"] in ("done", "failed", "cancelled"):
                assert found["state"] in states, found
                return found
            time.sleep(0.02)
        raise AssertionError(f"{run} did not end")

    def map(self, run, what="disparity", dtype="<f4"):
        """A map of a run."""
        status, headers, data = self.ask("GET", f"api/runs/{run['id']}/{what}")
        assert status == 200, data
        return np.frombuffer(data, dtype).reshape(int(headers["x-height"]), int(headers["x-width"]))


def form(parts):
    """A body of multipart/form-data and its headers, from (field, file name or None, content)."""
    mark = "----a-mark-that-no-picture-has----"
    body = b""
    for field, name, content in parts:
        file = "" if name is None else f'; filename="{name}"'
        body += f'--{mark}\r\nContent-Disposition: form-data; name="{field}"{file}\r\n\r\n'.encode() + content + b"\r\n"
    return body + f"--{mark}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={mark}"}


@contextmanager
def running(parent, limits=None):
    """A running app whose private folder lies in `parent`."""
    with PrivateFolder(parent) as folder:
        session, token, sock = Session(folder.path, limits or Limits()), secrets.token_urlsafe(16), listen(0)
        port = sock.getsockname()[1]
        server = make_server(session, token, port)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [sock]})
        thread.start()
        try:
            yield App(session, port, token)
        finally:
            server.should_exit = True
            thread.join(PATIENCE)
            session.close()
            sock.close()


DUALPIX = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # pytest may run where it is ignored
runpy.run_module("dualpix", run_name="__main__", alter_sys=True)
"""


@contextmanager
def started(temporary, *args):
    """The command, running, and its address. Its private folder lies in `temporary`. It does not outlive the test."""
    environment = os.environ | {"TMPDIR": str(temporary)}
    command = [sys.executable, "-c", DUALPIX, "app", *map(str, args)]
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            line = process.stdout.readline()
            assert "http://127.0.0.1:" in line, process.stderr.read()
            yield process, line.split()[2]
        finally:
            process.kill()


def answered(address):
    """What the server of a started app answers."""
    end = time.monotonic() + 20
    while True:
        try:
            with urlopen(address, timeout=20) as reply:
                return reply.read()
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.05)
