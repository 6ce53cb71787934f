"""Runs of dualpix app: progress, cancel, several shots, settings, hints, memory."""

import http.client
import json
import socket
import threading
import time

import numpy as np
import pytest

import dualpix
from app_client import running
from conftest import textured_pair
from dualpix.app.jobs import Jobs
from dualpix.app.photos import brightened
from dualpix.app.settings import Settings
from dualpix.app.shots import Run
from dualpix.io import encode_png
from dualpix.run import Step


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    with running(tmp_path_factory.mktemp("app")) as app:
        yield app


@pytest.fixture(scope="module")
def views():
    return [np.round(view).astype(np.uint8) for view in textured_pair((90, 120), 1.3)]


@pytest.fixture(scope="module")
def large():
    return [np.round(view).astype(np.uint8) for view in textured_pair((700, 900), 1.3)]


class News:
    """The events of an app, read in a thread."""

    def __init__(self, app):
        self._connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=30)
        self._connection.request("GET", f"/{app.token}/api/events")
        self._reply = self._connection.getresponse()
        assert self._reply.headers["content-type"].startswith("text/event-stream")
        assert self._reply.readline() == b": hello\n"
        self.records = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._connection.sock.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)
        self._reply.close()
        self._connection.close()

    def _read(self):
        while line := self._reply.readline():
            if line.startswith(b"data: "):
                self.records.append(json.loads(line[6:]))

    def until(self, wanted, seconds=30):
        """All events up to the first that is wanted."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(map(wanted, list(self.records))):
                return list(self.records)
            time.sleep(0.01)
        raise AssertionError(self.records)


# ---- one shot --------------------------------------------------------------------------------------


def test_a_dropped_pair_becomes_the_map_of_the_function(app, views):
    shot = app.pair(*views)
    assert (shot["files"], shot["run"]["shot"]) == (["left.png", "right.png"], shot["id"])
    run = app.wait(shot["run"])
    expected = dualpix.disparity(*views)
    assert app.map(run).tobytes() == expected.disparity.astype("<f4").tobytes()
    confidence = app.map(run, "confidence", np.uint8)
    np.testing.assert_array_equal(confidence, np.rint(expected.confidence * np.float32(255)))
    about = app.json("GET", f"api/runs/{run['id']}")
    assert about["record"]["inputs"] == {"left": "left.png", "right": "right.png"}
    assert about["record"]["parameters"] == expected.params.to_dict()
    assert about["searched"] == list(expected.searched)
    assert about["notes"] == list(expected.warnings)
    assert about["metric"] is None
    assert about["summary"].startswith("120x90, ")


def test_news_tell_the_progress(app, views):
    with News(app) as news:
        shot = app.pair(*views)
        news.until(lambda each: each["type"] == "shot" and each["shot"]["width"] == 120)
        app.wait(shot["run"])
        app.ask("DELETE", f"api/shots/{shot['id']}")
        records = news.until(lambda each: each == {"type": "gone", "id": shot["id"]})
    runs = [each["run"] for each in records if each["type"] == "run" and each["run"]["shot"] == shot["id"]]
    assert [each["state"] for each in runs][:2] == ["waiting", "running"]
    assert runs[-1]["state"] == "done"
    assert "matching, scale 1 of 1" in [each["step"] for each in runs]
    shares = [each["share"] for each in runs]
    assert shares == sorted(shares)


def test_the_order_of_the_views_is_that_of_their_names(app, views):
    left, right = (encode_png(view) for view in views)
    for names in (("a_R.png", "a_L.png"), ("right.png", "left.png")):
        shot = app.drop([("files", names[0], right), ("files", names[1], left)])
        assert shot["files"] == list(names[::-1])
    shot = app.drop([("files", "one.png", left), ("files", "two.png", right)])
    assert shot["files"] == ["one.png", "two.png"]
    app.wait(shot["run"])


def test_a_guide_is_the_photo(app, views):
    guide = np.dstack([views[0], 255 - views[0], views[0] // 2])
    files = [("files", "l.png", encode_png(views[0])), ("files", "r.png", encode_png(views[1]))]
    shot = app.drop([*files, ("guide", "colour.png", encode_png(guide))])
    run = app.wait(shot["run"])
    expected = dualpix.disparity(*views, guide=guide)
    np.testing.assert_array_equal(app.map(run), expected.disparity)
    status, headers, data = app.ask("GET", f"api/shots/{shot['id']}/photo")
    assert (status, headers["x-width"], headers["x-height"]) == (200, "120", "90")
    np.testing.assert_array_equal(np.frombuffer(data, np.uint8).reshape(90, 120, 4)[..., :3], guide)


@pytest.mark.parametrize("step", [2, 7, 64])
def test_a_smaller_photo_is_the_mean(app, views, step):
    shot = app.pair(*views)
    status, headers, data = app.ask("GET", f"api/shots/{shot['id']}/photo?step={step}")
    rows, columns = -(-90 // step), -(-120 // step)
    assert (status, headers["x-width"], headers["x-height"]) == (200, str(columns), str(rows))
    small = np.frombuffer(data, np.uint8).reshape(rows, columns, 4)
    assert (small[..., 3] == 255).all()
    for y, x in ((0, 0), (rows - 1, columns - 1)):
        block = views[0][y * step : (y + 1) * step, x * step : (x + 1) * step]
        assert small[y, x, 0] == pytest.approx(block.mean(), abs=0.51)
    for wrong in ("0", "65", "-1", "x", "1.5", "%C2%B2"):
        assert app.ask("GET", f"api/shots/{shot['id']}/photo?step={wrong}")[0] == 400


def test_one_picture_with_a_layout(app, views):
    both = np.hstack(views)
    shot = app.drop([("files", "both.png", encode_png(both))], {"layout": "side-by-side"})
    run = app.wait(shot["run"])
    np.testing.assert_array_equal(app.map(run), dualpix.disparity(*views).disparity)
    assert app.ask("GET", f"api/shots/{shot['id']}/photo")[1]["x-width"] == "120"


def test_the_layout_can_be_changed_and_back(app, views):
    both = np.hstack(views)
    shot = app.drop([("files", "both.png", encode_png(both))], {"layout": "side-by-side"})
    app.wait(shot["run"])
    sizes = []
    for layout in ("side-by-side", "top-bottom", "side-by-side"):
        app.json("POST", f"api/shots/{shot['id']}/runs", {"settings": {"layout": layout}})
        headers = app.ask("GET", f"api/shots/{shot['id']}/photo?step=2")[1]
        sizes.append((headers["x-width"], headers["x-height"]))
    assert sizes == [("60", "45"), ("120", "23"), ("60", "45")]


def test_the_sample_is_a_shot(app):
    shot = app.json("POST", "api/shots/sample")
    run = app.wait(shot["run"])
    d = app.map(run)
    assert np.ptp(d) > 0.5
    assert app.json("GET", "api/state")["shots"][-1]["width"] == d.shape[1]


# ---- settings, hints, calibrations -----------------------------------------------------------------


def test_settings_are_those_of_the_command(app, views):
    shot = app.pair(*views)
    settings = {"preset": "dslr-a", "range": [-4, 4], "filter": "guided", "mask_occluded": True, "set": {"window": 3}}
    run = app.wait(app.json("POST", f"api/shots/{shot['id']}/runs", {"settings": settings}))
    expected = dualpix.disparity(*views, "dslr-a", range=(-4, 4), filter="guided", mask_occluded=True, window=3.0)
    np.testing.assert_array_equal(app.map(run), expected.disparity)
    assert run["settings"]["set"] == {"window": "3"}
    assert [each["id"] for each in app.json("GET", "api/state")["shots"][-1]["runs"]] == [shot["run"]["id"], run["id"]]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"preset": "best"}, "unknown preset 'best'"),
        ({"range": [3, 1]}, "parameter range must be"),
        ({"range": "1 2"}, "range must be two numbers"),
        ({"filter": "blur"}, "filter must be none or guided or solver, not 'blur'"),
        ({"axis": "z"}, "axis must be x or y"),
        ({"calibration": "c99"}, "calibration 'c99' is not open"),
        ({"calibration": "../../etc/passwd"}, "is not open"),
        ({"set": {"nothing": 1}}, "unknown parameter 'nothing'"),
        ({"set": {"window": None}}, "set must be an object"),
        ({"colour": 1}, "unknown setting 'colour'"),
        ({"mask_occluded": "yes"}, "mask_occluded must be true or false"),
    ],
)
def test_wrong_settings_are_refused_at_once(app, views, settings, words):
    shot = app.json("GET", "api/state")["shots"][0]
    status, _, data = app.ask("POST", f"api/shots/{shot['id']}/runs", {"settings": settings})
    assert status == 400
    assert words in json.loads(data)["error"]


def test_hints_solve_again(app, views):
    shot = app.pair(*views, settings={"range": [-8, 8]})
    hints = [{"kind": "near", "disparity": 4, "points": [[60, 45]], "radius": 12}]
    body = {"settings": {"range": [-8, 8]}, "hints": hints}
    run = app.wait(app.json("POST", f"api/shots/{shot['id']}/runs", body))
    assert run["hints"] == 1
    assert np.median(app.map(run)[38:53, 53:68]) == pytest.approx(4, abs=0.3)
    assert np.median(app.map(run)) == pytest.approx(1.3, abs=0.1)
    assert app.json("GET", f"api/runs/{run['id']}")["hints"] == hints
    body["hints"] = [{"kind": "near", "disparity": 4, "points": [[600, 45]], "radius": 12}]
    run = app.wait(app.json("POST", f"api/shots/{shot['id']}/runs", body), ["failed"])
    assert run["error"] == "hint 1 lies outside the picture of 120x90: leave it out"


def test_a_calibration_corrects_the_map(app, views):
    from app_client import form

    lens = dualpix.Calibration(120, 90, field=dualpix.camera.lens.Field((1.2, 0, 0, 0, 0, 0), (0.5, 0, 0, 0, 0, 0)))
    status, _, data = app.ask("POST", "api/calibrations", *form([("files", "lens.json", lens.to_json().encode())]))
    assert status == 201
    added = json.loads(data)
    assert added["words"].startswith("lens.json: ")
    shot = app.pair(*views, settings={"calibration": added["id"], "axis": "x"})
    expected = dualpix.disparity(*views, calibration=lens, axis="x")
    np.testing.assert_array_equal(app.map(app.wait(shot["run"])), expected.disparity)
    status, _, data = app.ask("POST", "api/calibrations", *form([("files", "x.json", b"{}")]))
    assert (status, json.loads(data)["error"].split(":")[0]) == (400, "calibration x.json")


# ---- several at once -------------------------------------------------------------------------------


def test_a_run_can_be_cancelled(app, large):
    shot = app.pair(*large)
    while app.json("GET", f"api/runs/{shot['run']['id']}")["run"]["state"] == "waiting":
        time.sleep(0.01)
    found = app.json("DELETE", f"api/runs/{shot['run']['id']}")
    assert found["state"] == "cancelled"
    assert app.ask("GET", f"api/runs/{found['id']}/disparity")[0] == 400
    again = app.wait(app.json("POST", f"api/shots/{shot['id']}/runs", {}))  # the worker goes on
    assert np.median(app.map(again)) == pytest.approx(1.3, abs=0.1)
    assert app.json("GET", f"api/runs/{found['id']}")["run"]["state"] == "cancelled"


def test_a_drop_while_one_runs_waits_and_a_second_run_replaces(app, large, views):
    first = app.pair(*large)
    second = app.pair(*views)
    assert app.json("GET", f"api/runs/{second['run']['id']}")["run"]["state"] == "waiting"
    replaced = app.json("POST", f"api/shots/{second['id']}/runs", {"settings": {"preset": "dslr-a"}})
    assert app.wait(second["run"], ["cancelled"])
    assert app.wait(first["run"])
    assert app.wait(replaced)["settings"]["preset"] == "dslr-a"


def test_closing_a_shot_while_it_runs_is_no_crash(app, large, views):
    for _ in range(3):
        shot = app.pair(*large)
        time.sleep(0.05)
        assert app.ask("DELETE", f"api/shots/{shot['id']}")[0] == 204
        assert app.ask("GET", f"api/runs/{shot['run']['id']}")[0] == 404
    assert app.wait(app.pair(*views)["run"])
    names = {each.name for each in app.session.folder.iterdir()} - {"lock"}
    assert names == set(app.session.shots)


def test_what_is_read_while_its_shot_is_closed_comes_whole(app, large):
    shot = app.pair(*large)
    app.wait(shot["run"])
    connection = http.client.HTTPConnection("127.0.0.1", app.port, timeout=30)
    connection.request("GET", f"/{app.token}/api/runs/{shot['run']['id']}/disparity")
    reply = connection.getresponse()
    app.ask("DELETE", f"api/shots/{shot['id']}")
    assert len(reply.read()) == 4 * 700 * 900
    connection.close()
    assert app.ask("GET", f"api/shots/{shot['id']}/photo")[0] == 404


def test_many_requests_at_once_do_not_disturb_each_other(app, views):
    found = []
    threads = [threading.Thread(target=lambda: found.append(app.pair(*views))) for _ in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len({shot["id"] for shot in found}) == 8
    maps = {app.map(app.wait(shot["run"])).tobytes() for shot in found}
    assert len(maps) == 1


def test_nothing_that_goes_wrong_ends_the_worker(tmp_path):
    def work(run, progress):
        progress(Step("matching"))
        raise {"1": MemoryError(), "2": RuntimeError("odd\nthing"), "3": dualpix.InputError("bad")}[run.id]

    ended = threading.Semaphore(0)
    jobs = Jobs(work, lambda run: ended.release() if run.state in ("done", "failed") else None)
    runs = [Run(number, number, Settings(), (), tmp_path / number) for number in "123"]
    for run in runs:
        jobs.add(run)
    for _ in runs:
        assert ended.acquire(timeout=10)
    jobs.close()
    assert [run.state for run in runs] == ["failed"] * 3
    assert runs[0].error.startswith("not enough memory")
    assert runs[1].error.startswith("internal: RuntimeError: odd thing")
    assert runs[2].error == "bad"


def test_a_dark_photo_of_16_bits_is_shown_brighter():
    dark = np.linspace(1000, 4000, 60 * 80).astype(np.uint16).reshape(60, 80)
    shown = brightened(dark)
    assert (shown.min(), shown.max()) == (0, 1)
    assert np.median(shown) >= 0.4
    assert len(np.unique(np.rint(255 * shown))) > 200
    assert (np.diff(shown.ravel()) >= 0).all()
    constant = np.full((8, 8), 900, np.uint16)
    assert np.isfinite(brightened(constant)).all()
    for usual in (16 * dark, (dark // 256).astype(np.uint8)):
        assert brightened(usual) is usual


def test_old_runs_of_a_shot_are_forgotten(app, views):
    shot = app.pair(*views)
    for _ in range(7):
        app.wait(app.json("POST", f"api/shots/{shot['id']}/runs", {}))
    assert len(app.session.shots[shot["id"]].runs) == 6
    assert app.ask("GET", f"api/runs/{shot['run']['id']}")[0] == 404
    assert len(list((app.session.folder / shot["id"]).glob("r*.disparity"))) == 6


def resident():
    """Memory of this process in MB."""
    with open("/proc/self/status", encoding="ascii") as file:
        return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) / 1024


def test_memory_is_flat_over_many_shots(app, large):
    """12 shots of 0.6 MP. Kept in memory, each would add 10 MB for its maps and photo alone."""
    pytest.importorskip("resource")
    try:
        resident()
    except OSError:
        pytest.skip("the memory of a process is only known on Linux")
    used = []
    for _ in range(12):
        run = app.wait(app.pair(*large, settings={"preset": "dslr-a"})["run"])
        app.map(run)
        app.ask("GET", f"api/shots/{run['shot']}/photo")
        used.append(resident())
    assert max(used[6:]) - max(used[:6]) < 15
