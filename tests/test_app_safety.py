"""What dualpix app refuses: other sites, other users, paths, too much. The folder it leaves behind: none."""

import http.client
import json
import os
import signal
import socket
import sys
from pathlib import Path

import numpy as np
import pytest

from app_client import answered, form, running, started
from conftest import textured_pair
from dualpix.app.opening import find, name_of
from dualpix.app.session import Session
from dualpix.app.start import make_server
from dualpix.app.uploads import Limits, clean_name
from dualpix.cli.say import in_options
from dualpix.io import encode_png
from dualpix.io.private import PREFIX, PrivateFolder

LIMITS = Limits(file_bytes=300_000, files=3, shots=4)
NASTY = "<img src=x onerror=alert(1)>.png"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running(tmp_path_factory.mktemp("app"), LIMITS) as app:
        yield app


@pytest.fixture
def views():
    return [np.round(view).astype(np.uint8) for view in textured_pair((60, 80), 1.3)]


# ---- who may ask -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:{port}"},
        {"Host": "127.0.0.1"},
        {"Host": "127.0.0.1:1"},
        {"Host": ""},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "https://127.0.0.1:{port}"},
        {"Origin": "http://127.0.0.1:1"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("GET", "api/state"), ("POST", "api/shots/sample")])
def test_foreign_hosts_and_origins_are_refused(app, headers, method, path):
    filled = {name: value.format(port=app.port) for name, value in headers.items()}
    status, _, data = app.ask(method, path, headers=filled)
    assert status == 403
    assert "dualpix app" in json.loads(data)["error"]
    assert not app.session.shots


def test_two_hosts_are_refused(app):
    with socket.create_connection(("127.0.0.1", app.port), 10) as sock:
        own = f"127.0.0.1:{app.port}"
        sock.sendall(f"GET /{app.token}/api/state HTTP/1.1\r\nHost: {own}\r\nHost: evil\r\n\r\n".encode())
        assert sock.recv(100).split()[1] in (b"403", b"400")


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Host": "localhost:{port}"},
        {"Origin": "http://127.0.0.1:{port}", "Sec-Fetch-Site": "same-origin"},
        {"Origin": "http://localhost:{port}"},
        {"Sec-Fetch-Site": "none"},
    ],
)
def test_own_pages_are_served(app, headers):
    status, found, _ = app.ask("GET", "api/state", headers={k: v.format(port=app.port) for k, v in headers.items()})
    assert status == 200
    assert found["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
    assert found["referrer-policy"] == "no-referrer"
    assert found["x-content-type-options"] == "nosniff"
    assert found["cache-control"] == "no-store"
    assert found["cross-origin-resource-policy"] == "same-origin"
    assert not any(name.startswith("access-control") for name in found)


@pytest.mark.parametrize(
    "path", ["/", "/api/state", "/wrong/", "/wrong/api/state", "//api/state", "/{short}/api/state", "/{token}x/", "/é/"]
)
def test_without_the_token_there_is_nothing(app, path):
    address = path.format(token=app.token, short=app.token[:-1])
    status, _, data = app.ask("GET", address.replace("é", "%C3%A9"), whole=True)
    assert status == 404
    assert app.token not in data.decode()


def test_the_address_without_its_last_slash_leads_there(app):
    status, headers, _ = app.ask("GET", f"/{app.token}", whole=True)
    assert (status, headers["location"]) == (307, f"/{app.token}/")


@pytest.mark.parametrize(
    "path",
    [
        "web/../pages.py",
        "web/..%2f..%2fpyproject.toml",
        "web/%2e%2e/pages.py",
        "web//etc/passwd",
        "web/%2fetc%2fpasswd",
        "web/..%5c..%5cpages.py",
        "web/",
        "web/app.js%00.css",
        "api/shots/..%2f..%2fetc/photo",
        "api/shots/../../../etc/passwd/photo",
        "api/runs/..%2f..%2fx/disparity",
        "../../etc/passwd",
    ],
)
def test_no_path_of_the_disk_is_served(app, path):
    status, _, data = app.ask("GET", path)
    assert status == 404
    assert b"root:" not in data
    assert b"def " not in data


def test_only_loopback_listens(app):
    """The socket is bound to 127.0.0.1, so another address of this computer does not answer."""
    other = "127.0.0.2"  # is this computer, too, on Linux
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux has all of 127.0.0.0/8")
    with pytest.raises(OSError, match="refused"):
        socket.create_connection((other, app.port), 2)


# ---- how much --------------------------------------------------------------------------------------


def test_an_oversized_file_is_refused_while_it_arrives(app):
    """The reply comes before the file has ended, and nothing is left of it."""
    head = b'--m\r\nContent-Disposition: form-data; name="files"; filename="big.png"\r\n\r\n'
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=20)
    connection.putrequest("POST", f"/{app.token}/api/shots")
    connection.putheader("Content-Type", "multipart/form-data; boundary=m")
    connection.putheader("Content-Length", str(10**12))
    connection.endheaders(head + bytes(LIMITS.file_bytes + 1))
    reply = connection.getresponse()
    words = json.loads(reply.read())["error"]
    connection.close()
    assert reply.status == 413
    assert words.startswith("big.png: is larger than 0.286102 MB, the limit")
    assert not app.session.shots
    assert [each.name for each in app.session.folder.iterdir()] == ["lock"]


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([("files", f"{i}.png", b"x") for i in range(4)], "at most 3 files"),
        ([(f"f{i}", None, b"x") for i in range(9)], "more than 8 parts"),
        ([("settings", None, b" " * (2 << 20))], "more than 1 MB"),
    ],
)
def test_too_many_files_and_parts_are_refused(app, parts, words):
    status, _, data = app.ask("POST", "api/shots", *form(parts))
    assert status == 413
    assert words in json.loads(data)["error"]
    assert [each.name for each in app.session.folder.iterdir()] == ["lock"]


@pytest.mark.parametrize(
    ("body", "headers", "words"),
    [
        (b"{}", {"Content-Type": "application/json"}, "no form with files"),
        (b"abc", {"Content-Type": "multipart/form-data; boundary=m"}, "the form"),
        (b"--m\r\n", {"Content-Type": "multipart/form-data; boundary=m"}, "ended too early"),
        (*form([]), "one or two files"),
        (*form([("guide", "g.png", b"x")]), "one or two files"),
        (*form([("files", "a.png", b"x"), ("settings", None, b"[")]), "not JSON"),
        (*form([("files", "a.png", b"x"), ("settings", None, b"[]")]), "settings must be an object"),
        (*form([("files", "a.png", b"x"), ("settings", None, b'{"preset": "best"}')]), "unknown preset 'best'"),
        (*form([("files", "a.png", b"x"), ("settings", None, b'{"set": {"window": -1}}')]), "parameter window must be"),
    ],
)
def test_damaged_uploads_are_one_sentence(app, body, headers, words):
    status, _, data = app.ask("POST", "api/shots", body, headers)
    assert status == 400
    assert words in json.loads(data)["error"]
    assert [each.name for each in app.session.folder.iterdir()] == ["lock"]


def test_json_is_bounded(app, views):
    shot = app.pair(*views)
    status, _, data = app.ask("POST", f"api/shots/{shot['id']}/runs", b" " * (5 << 20))
    assert (status, "more than 4 MB" in json.loads(data)["error"]) == (413, True)
    for body in (b"[]", b"{", b"[" * 100_000, b'{"settings": 3}', b'{"hints": 3}', b'{"settings": {"range": [1]}}'):
        status, _, data = app.ask("POST", f"api/shots/{shot['id']}/runs", body)
        assert (status, "error" in json.loads(data)) == (400, True)
    app.ask("DELETE", f"api/shots/{shot['id']}")


def test_hints_are_no_path(app, views, tmp_path):
    shot = app.pair(*views)
    (tmp_path / "hints.json").write_text("[]")
    for path in (str(tmp_path / "hints.json"), "/dev/zero"):
        body = json.dumps({"hints": path}).encode()
        status, _, data = app.ask("POST", f"api/shots/{shot['id']}/runs", body)
        assert (status, json.loads(data)["error"]) == (400, "hints must be a list of strokes")
    app.ask("DELETE", f"api/shots/{shot['id']}")


def test_wrong_exports_are_one_sentence(app, views):
    shot = app.pair(*views)
    run = app.wait(shot["run"])["id"]
    huge = b"1" + b"0" * 400
    for path, body in (
        (f"api/runs/{run}/export", b'{"what": [], "suffix": ".tiff"}'),
        (f"api/runs/{run}/export", b'{"what": "map", "suffix": ".ply", "options": {"fov": ' + huge + b"}}"),
        (f"api/shots/{shot['id']}/runs", b'{"settings": {"range": [' + huge + b", 1]}}"),
    ):
        status, _, data = app.ask("POST", path, body)
        assert (status, "internal" in json.loads(data)["error"]) == (400, False)
    app.ask("DELETE", f"api/shots/{shot['id']}")


def test_a_name_that_is_not_unicode_can_be_sent(tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9_left.png")
    Path(path).touch()
    source = find([path], 9).sources[0]
    json.dumps([*source.names.values(), name_of(source)], ensure_ascii=False).encode()


def test_too_many_shots_are_refused(app, views):
    shots = [app.pair(*views) for _ in range(LIMITS.shots)]
    status, _, data = app.ask("POST", "api/shots/sample")
    assert (status, "4 shots are open" in json.loads(data)["error"]) == (413, True)
    for shot in shots:
        assert app.ask("DELETE", f"api/shots/{shot['id']}")[0] == 204
    assert app.json("GET", "api/state")["shots"] == []


# ---- names and broken files ------------------------------------------------------------------------


def test_a_name_is_text(app, views):
    """Names come back as JSON, as they were; nothing of them becomes a path, a header or HTML."""
    shot = app.pair(*views, names=(NASTY, 'b"\r\nX-Evil: 1.png'.replace('"', "%22").replace("\r\n", "%0D%0A")))
    assert shot["name"] == NASTY
    assert shot["files"] == [NASTY, 'b"X-Evil: 1.png']
    run = app.wait(shot["run"])
    status, headers, _ = app.ask("POST", f"api/runs/{run['id']}/export", {"what": "map", "suffix": ".tiff"})
    assert status == 200
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"].startswith(
        'attachment; filename="_img src_x onerror_alert_1__-disparity.tiff"'
    )
    assert "<" not in headers["content-disposition"]
    stored = [path.name for path in (app.session.folder / shot["id"]).iterdir()]
    assert not any("img" in name for name in stored)
    words = app.json("POST", f"api/runs/{run['id']}/command", {"what": "map", "suffix": ".tiff"}, 200)["command"]
    assert words.startswith(f"dualpix disparity '{NASTY}' ")
    app.ask("DELETE", f"api/shots/{shot['id']}")


@pytest.mark.parametrize(
    ("sent", "shown"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\a.png", "a.png"),
        ("", "file"),
        ("/", "file"),
        ("a\x00b\x1b[31m.png", "ab[31m.png"),
        ("x" * 1000, "x" * 200),
        ("föö ‮gnp.exe", "föö gnp.exe"),
    ],
)
def test_names_lose_folders_and_control_characters(sent, shown):
    assert clean_name(sent) == shown


def broken_files(view):
    whole = encode_png(view)
    return {"empty": b"", "text": b"hello", "cut": whole[: len(whole) // 2], "one picture": whole}


@pytest.mark.parametrize("kind", ["empty", "text", "cut", "one picture"])
def test_a_broken_file_gives_the_sentence_of_the_command(app, call, tmp_path, monkeypatch, views, kind):
    content = broken_files(views[0])[kind]
    monkeypatch.chdir(tmp_path)
    Path("shot.png").write_bytes(content)
    code, _, err = call("disparity", "shot.png", "-o", "out.tiff")
    assert code == 2
    run = app.wait(app.drop([("files", "shot.png", content)])["run"], ["failed"])
    assert f"error: {in_options(run['error'])}\n" == err
    status, _, data = app.ask("GET", f"api/runs/{run['id']}/disparity")
    assert (status, json.loads(data)["error"]) == (400, run["error"])
    assert app.ask("GET", f"api/shots/{run['shot']}/photo")[0] == (200 if kind == "one picture" else 400)
    app.ask("DELETE", f"api/shots/{run['shot']}")


def test_views_of_different_size_give_the_sentence_of_the_command(app, views):
    shot = app.pair(views[0], views[1][:-1])
    assert app.wait(shot["run"], ["failed"])["error"].startswith("right.png is 80x59 but left.png is 80x60")
    app.ask("DELETE", f"api/shots/{shot['id']}")


# ---- the folder ------------------------------------------------------------------------------------


def test_the_folder_is_private_and_removed(tmp_path):
    with PrivateFolder(tmp_path) as folder:
        assert folder.path.stat().st_mode & 0o777 == 0o700
        (folder.path / "s1").mkdir()
    assert list(tmp_path.iterdir()) == []


def test_folders_of_others_are_kept(tmp_path):
    """A running app, one that starts, a link, and a file with such a name."""
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / f"{PREFIX}link")
    (tmp_path / f"{PREFIX}file").write_text("")
    (tmp_path / f"{PREFIX}new").mkdir()
    (tmp_path / f"{PREFIX}old").mkdir()
    os.utime(tmp_path / f"{PREFIX}old", (1, 1))
    with PrivateFolder(tmp_path) as first, PrivateFolder(tmp_path) as second:
        assert first.path.is_dir()
        assert second.path.is_dir()
    kept = {path.name for path in tmp_path.iterdir()}
    assert kept == {"elsewhere", f"{PREFIX}link", f"{PREFIX}file", f"{PREFIX}new"}


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)]
)
def test_nothing_is_left_after_the_end(tmp_path, views, number, code):
    for name, view in zip(("left", "right"), views, strict=True):
        (tmp_path / f"{name}.png").write_bytes(encode_png(view))
    place = tmp_path / "tmp"
    place.mkdir()
    with started(place, tmp_path, "--no-open") as (process, address):
        state = json.loads(answered(address + "api/state"))
        assert state["shots"][0]["files"] == [str(tmp_path / "left.png"), str(tmp_path / "right.png")]
        process.send_signal(number)
        out, err = process.communicate(timeout=20)
    assert process.returncode == code
    assert "Traceback" not in out + err
    left = list(place.iterdir())
    assert len(left) == (1 if number == signal.SIGKILL else 0)
    if left:
        with PrivateFolder(place) as folder:
            assert list(place.iterdir()) == [folder.path]


def test_sighup_ends_the_server_before_it_ends_the_process(tmp_path):
    """An exception in the middle of a request can be swallowed there, and then the app did not end."""

    def leave(number, _):
        raise SystemExit(128 + number)

    before = signal.signal(signal.SIGHUP, leave)
    session = Session(tmp_path, LIMITS)
    try:
        server = make_server(session, "token", 0)
        captured = server.capture_signals()
        captured.__enter__()
        signal.raise_signal(signal.SIGHUP)
        assert server.should_exit
        with pytest.raises(SystemExit, match="129"):
            captured.__exit__(None, None, None)
    finally:
        session.close()
        signal.signal(signal.SIGHUP, before)
