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
DESKTOP, PHONE = {"width": 960, "height": 600}, {"width": 360, "height": 740}


@contextmanager
def running_app(*files, temp):
    """``dualpix app`` in a process of its own, with `temp` as the folder for temporary files: its address."""
    command = [sys.executable, "-u", "-m", "dualpix", "app", "--no-open", *map(str, files)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"TMPDIR": str(temp)}) as app:
        try:
            yield next(found.group() for line in app.stdout if (found := re.search(r"http://\S+", line)))
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


def wait(page, condition, milliseconds=60_000):
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
    panel.get_by_role("combobox", name="Save").select_option(what)
    panel.get_by_role("combobox", name="Format").select_option(suffix)
    with page.expect_download() as coming:
        page.locator("#save").click()
    path = folder / coming.value.suggested_filename
    coming.value.save_as(path)
    return path


# ---- for people who do not see the page, or hold no mouse -------------------------------------------------

CONTROLS = {"application", "button", "checkbox", "combobox", "dialog", "figure", "image", "img", "link", "listbox"}
CONTROLS |= {"progressbar", "radio", "searchbox", "slider", "spinbutton", "switch", "tab", "tablist", "tabpanel"}
CONTROLS |= {"textbox", "region", "complementary", "navigation", "main"}

# Texts whose contrast with what is behind them is below 4.5: [contrast, text, colour, background]
LOW_CONTRAST = """() => {
    const canvas = Object.assign(document.createElement("canvas"), {width: 1, height: 1});
    const pen = canvas.getContext("2d", {willReadFrequently: true});
    const rgba = colour => {
        pen.clearRect(0, 0, 1, 1);
        pen.fillStyle = colour;
        pen.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
        return [r, g, b, a / 255];
    };
    const over = ([r, g, b, a], [R, G, B]) => [r * a + R * (1 - a), g * a + G * (1 - a), b * a + B * (1 - a), 1];
    const chain = element => (element ? [...chain(element.parentElement), element] : []);
    const behind = element => chain(element).reduce(
        (paper, each) => over(rgba(getComputedStyle(each).backgroundColor), paper), [255, 255, 255, 1]);
    const seen = element => chain(element).reduce((sum, each) => sum * getComputedStyle(each).opacity, 1);
    const luminance = colour => [0.2126, 0.7152, 0.0722].reduce((sum, weight, at) => {
        const c = colour[at] / 255;
        return sum + weight * (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    }, 0);
    const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const node = walker.currentNode, element = node.parentElement, text = node.textContent.trim();
        const off = element.closest(":disabled, noscript, script, .unseen, option");
        if (!text || off || !seen(element) || !element.checkVisibility({visibilityProperty: true})) continue;
        const paper = behind(element), [r, g, b, a] = rgba(getComputedStyle(element).color);
        const ink = over([r, g, b, a * seen(element)], paper);
        const [light, dark] = [ink, paper].map(luminance).sort((x, y) => y - x);
        const contrast = (light + 0.05) / (dark + 0.05);
        if (contrast < 4.5) found.push([contrast.toFixed(2), text, String(ink), String(paper)]);
    }
    return found;
}"""

# Whether the element with the focus shows it
RING = """() => [document.activeElement, ...document.activeElement.querySelectorAll("*")].some(each => {
    const {outlineStyle, outlineWidth} = getComputedStyle(each);
    return outlineStyle !== "none" && parseFloat(outlineWidth) >= 2;
})"""
# The element with the focus: its number in the page, and its text
HERE = """() => {
    const here = document.activeElement;
    return here === document.body ? null : [[...document.querySelectorAll("*")].indexOf(here), here.outerHTML];
}"""
TWICE = """() => {
    const ids = [...document.querySelectorAll("[id]")].map(each => each.id);
    return ids.filter((id, at) => ids.indexOf(id) !== at);
}"""


def nameless(page):
    """Controls, landmarks and images of the accessibility tree that have no name."""
    session = page.context.new_cdp_session(page)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    session.detach()
    assert len(nodes) > 50
    return [
        (node["role"]["value"], node.get("backendDOMNodeId"))
        for node in nodes
        if not node.get("ignored")
        and node.get("role", {}).get("value") in CONTROLS
        and not node.get("name", {}).get("value", "").strip()
    ]
