"""The app in a real browser: a server of its own process, a Chromium, a page, and what a hand does on it."""

import os
import re
import shutil
import subprocess
import sys
from contextlib import contextmanager

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
OPTIONS = (
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",  # WebGL2 without a graphics card
    "--enable-unsafe-swiftshader",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}


@contextmanager
def running_app(*files, temp):
    """``dualpix app`` in a process of its own, with `temp` as the folder for temporary files: its address."""
    command = [sys.executable, "-u", "-m", "dualpix", "app", "--no-open", *map(str, files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(temp)}) as app:
        try:
            yield re.search(r"http://\S+", app.stdout.readline()).group()
        finally:
            app.terminate()


def drop(page, *paths):
    """Drop files on the picture as a file manager does."""
    box = page.locator("#stage").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})
    session.detach()


def wait(page, condition, milliseconds=20_000):
    """Wait until a condition of the page's scripts is true."""
    page.wait_for_function(f"() => Boolean({condition})", timeout=milliseconds)


def has_map(page, runs=1):
    """Wait until the newest of so many runs of the shot that is shown is on the screen."""
    wait(page, f"Model.run && Model.map && Model.run.id === Model.shot.run.id && Model.shot.runs.length === {runs}")
    settled(page)


def settled(page):
    """Wait until the picture is exact and drawn."""
    wait(page, "!Stage.lens || Model.view === 'cloud' || !Model.own().focus || !Stage.lens.busy()")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def on_screen(page, x, y):
    """Where a pixel of the photo is in the window."""
    return page.evaluate(
        """([x, y]) => {
            const box = document.querySelector("#stage").getBoundingClientRect();
            const [sx, sy] = Stage.view.toScreen(x + 0.5, y + 0.5);
            return [box.left + sx, box.top + sy];
        }""",
        [x, y],
    )


def click(page, x, y):
    """Click a pixel of the photo."""
    page.mouse.click(*on_screen(page, x, y))


def stroke(page, *points):
    """Draw along pixels of the photo with the mouse."""
    page.mouse.move(*on_screen(page, *points[0]))
    page.mouse.down()
    for point in points[1:]:
        page.mouse.move(*on_screen(page, *point), steps=6)
    page.mouse.up()


def saved(page, folder, what, suffix):
    """Save by the tab Save: the path of the file that the browser got."""
    page.locator("#tab-save").click()
    panel = page.locator("#panel-save")
    panel.get_by_label("Save", exact=True).first.select_option(what)
    panel.get_by_label("Format", exact=True).select_option(suffix)
    with page.expect_download() as coming:
        page.locator("#save").click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path
