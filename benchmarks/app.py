"""Time to the first picture and memory of dualpix app. See docs/app.md.

python benchmarks/app.py                 # a simulated pair of 1.3 MP
python benchmarks/app.py LEFT RIGHT      # your own
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import Request, urlopen

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from app_browser import CHROMIUM, OPTIONS, has_map, wait  # what the tests do in a browser

SIZE = (1008, 1344)  # rows and columns of the simulated pair: 1.35 MP
TIMES, SHOTS = 5, 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("views", nargs="*")
    parser.add_argument("--times", type=int, default=TIMES, help="starts that are timed")
    parser.add_argument("--shots", type=int, default=SHOTS, help="shots whose memory is watched")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        views = args.views or simulated(Path(folder))
        for path, name in zip(views, ("left", "right"), strict=True):
            (Path(folder) / f"pair_{name}{Path(path).suffix}").write_bytes(Path(path).read_bytes())
        first_picture(views, Path(folder), args.times)
        on_screen(views, Path(folder), args.times)
        memory(views, args.shots)


def simulated(folder: Path) -> list[str]:
    """A pair from the simulator, as files outside of the folder that the app opens."""
    from dualpix.io import encode_png
    from dualpix.scenes import draw, make

    (folder / ".views").mkdir()
    shot = make(draw(1, 1, SIZE[1], SIZE[0]))
    paths = [folder / ".views" / f"{name}.png" for name in ("l", "r")]
    for path, view in zip(paths, (shot.left, shot.right), strict=True):
        path.write_bytes(encode_png(view))
    return [str(path) for path in paths]


def first_picture(views: list[str], folder: Path, times: int) -> None:
    """Seconds of ``dualpix disparity``, and from the start of ``dualpix app`` to a map in the client."""
    command, app = [], []  # seconds, and seconds of all cores
    for _ in range(times):
        start, before = time.perf_counter(), used_by_children()
        disparity(views, folder)
        command.append((time.perf_counter() - start, used_by_children() - before))
        start = time.perf_counter()
        with App(folder) as server:
            run = server.wait(server.get("api/state")["shots"][0]["run"])
            server.bytes(f"api/runs/{run['id']}/disparity")
            app.append((time.perf_counter() - start, server.processor()))
    for name, found in (("dualpix disparity", command), ("dualpix app to the first map", app)):
        seconds, cores = np.median(found, axis=0)
        print(f"{name}: median of {times}: {seconds:.2f} s, {cores:.2f} s of all cores")


def on_screen(views: list[str], folder: Path, times: int) -> None:
    """Seconds from the start of ``dualpix app`` to photo and map on the screen of a browser that is already open.

    The browser has no graphics card here, and shares the cores with the app.
    """
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        print("first picture on the screen: not measured, playwright is not installed")
        return
    seconds = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=[*OPTIONS, "--disable-gpu-compositing"])
        browser.new_page()
        for _ in range(times):
            page = browser.new_page()
            start = time.perf_counter()
            disparity(views, folder)
            command = time.perf_counter()
            with App(folder) as server:
                page.goto(server.address)
                wait(page, "Model.photo")
                photo = time.perf_counter()
                has_map(page)
                seconds.append((command - start, photo - command, time.perf_counter() - command))
            page.close()
        browser.close()
    names = ("dualpix disparity", "photo on the screen", "map on the screen")
    for name, value in zip(names, np.median(seconds, axis=0), strict=True):
        print(f"{name}: median of {times}: {value:.2f} s")


def disparity(views: list[str], folder: Path) -> None:
    """The command, which writes its map into the folder."""
    command = [sys.executable, "-m", "dualpix", "disparity", *views, "-o", folder / "out.npy", "--force", "--quiet"]
    subprocess.run(command, check=True, cwd=folder)


def used_by_children() -> float:
    """Seconds of all cores that ended processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def memory(views: list[str], shots: int) -> None:
    """Resident memory after every shot, all of which stay open."""
    used = []
    with App() as server:
        for _ in range(shots):
            run = server.wait(server.drop(views)["run"])
            server.bytes(f"api/runs/{run['id']}/disparity")
            server.bytes(f"api/shots/{run['shot']}/photo")
            used.append(server.resident())
    shown = ", ".join(
        f"{number}: {used[number - 1]:.0f}" for number in (1, 2, 5, 10, 20, 30, 40, 50) if number <= shots
    )
    print(f"memory after shot, MB: {shown}; largest {max(used):.0f}")


class App:
    """The command ``dualpix app`` in a process of its own."""

    def __init__(self, *files: Path) -> None:
        command = [sys.executable, "-m", "dualpix", "app", "--no-open", *map(str, files)]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        while line and "http" not in line:
            line = self._process.stdout.readline()
        self.address = line.split()[2]

    def __enter__(self) -> App:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait()

    def bytes(self, path: str, data: bytes | None = None, **headers: str) -> bytes:
        with urlopen(Request(self.address + path, data, headers), timeout=600) as reply:
            return bytes(reply.read())

    def get(self, path: str) -> dict:
        return dict(json.loads(self.bytes(path)))

    def drop(self, views: list[str]) -> dict:
        body = b""
        for path in views:
            name = f'Content-Disposition: form-data; name="files"; filename="{Path(path).name}"'
            body += f"--m\r\n{name}\r\n\r\n".encode() + Path(path).read_bytes() + b"\r\n"
        kind = {"Content-Type": "multipart/form-data; boundary=m"}
        return dict(json.loads(self.bytes("api/shots", body + b"--m--\r\n", **kind)))

    def wait(self, run: dict) -> dict:
        while True:
            found = self.get(f"api/runs/{run['id']}")["run"]
            if found["state"] not in ("waiting", "running"):
                assert found["state"] == "done", found
                return dict(found)
            time.sleep(0.01)

    def processor(self) -> float:
        """Seconds of all cores so far."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident(self) -> float:
        """MB."""
        text = Path(f"/proc/{self._process.pid}/status").read_text(encoding="ascii")
        return int(text.split("VmRSS:")[1].split()[0]) / 1024


if __name__ == "__main__":
    main()
