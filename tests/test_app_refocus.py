"""Refocusing in a real browser against `dualpix refocus`, and the page for a friend."""

import base64
from importlib import import_module

import cv2
import numpy as np
import pytest

from app_browser import DESKTOP, PHONE
from conftest import ROOT
from dualpix import DualpixError
from dualpix.app import friend
from dualpix.render import refocus
from dualpix.render.pages import part
from dualpix.render.refocusing import RADIUS

HOSTILE = "<img src=x onerror=alert(1)>.png"
HELP = """
const told = seen => ({...seen.view, pixels: text(pixels(seen)), columns: seen.width, rows: seen.height});
const exact = view => told(lens.render({...view, quality: "whole"}));
// As a page does it: fast while something moves, then full until it is there. Other drawing comes between.
async function inParts(view) {
  const calls = [], next = () => new Promise(resolve => setTimeout(resolve, 1));
  const fast = lens.render({...view, quality: "fast"}).view.quality;
  for (let seen = null; seen?.view.quality !== "full"; await next()) {
    seen = lens.render({...view, quality: "full"});
    calls.push([seen.view.quality, lens.busy, lens.progress]);
    gl.useProgram(null);
    gl.viewport(0, 0, 1, 1);
    gl.enable(gl.CULL_FACE);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ZERO, gl.ZERO);
    gl.activeTexture(gl.TEXTURE3);
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true);
  }
  return {fast, calls, ...told(lens.render({...view, quality: "full"}))};
}
"""


@pytest.fixture(scope="module")
def page(browser):
    page = browser.new_page()
    wrong = []
    page.on("console", lambda message: wrong.append(message.text))
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.set_content("<p></p>")
    shared = benchmark("browser_refocus")
    page.add_script_tag(content="".join(part(name) for name in shared.SCRIPTS) + shared.HELP + HELP)
    yield page
    assert [message for message in wrong if "GPU stall due to ReadPixels" not in message] == []  # `pixels` waits


@pytest.fixture(scope="module")
def scene():
    """A sharp rendered scene and its disparities, from -6 to 6 px."""
    shared = benchmark("refocus")
    light, d, _ = shared.scene(3, 0.5, disc=14, size=(221, 150))
    return np.rint(255 * shared.to_srgb(light)).astype(np.uint8), d.astype(np.float32)


def benchmark(name):
    """A module of the folder benchmarks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "benchmarks")
        return import_module(name)


def load(page, photo, d, **options):
    benchmark("browser_refocus").load(page, photo, d, **options)


def picture(told):
    pixels = np.frombuffer(base64.b64decode(told["pixels"]), np.uint8).reshape(told["rows"], told["columns"], 4)
    assert (pixels[..., 3] == 255).all()
    return pixels[..., :3]


def view(d, focus, aperture, shape="disc", **more):
    whole = {"x": 0, "y": 0, "width": d.shape[1], "height": d.shape[0], "scale": 1}
    return {"focus": focus, "aperture": aperture, "shape": shape, **whole, **more}


def psnr(a, b):
    return -10 * np.log10(np.mean((a / 255.0 - b / 255.0) ** 2) + 1e-12)


# ---- the same as the command ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "disc", "shape"),
    [(0.02, 10, "disc"), (0.5, 20, "hexagon"), (0.98, 30, "cat-eye"), (0.3, 60, "disc"), (0.9, 160, "hexagon")],
)
def test_equals_the_command(page, scene, share, disc, shape):
    """With the focus at a share of the disparities, and the largest disc of so many px. The photo itself is far off."""
    photo, d = scene
    load(page, photo, d)
    focus = float(np.quantile(d, share))
    aperture = disc / (2 * RADIUS * float(np.abs(d - focus).max()))
    expected = refocus(photo, d, focus=focus, aperture=aperture, shape=shape)
    found = picture(page.evaluate("exact", view(d, focus, aperture, shape)))
    assert psnr(found, expected) > (60 if disc < 12 else 45)
    assert psnr(photo, expected) < 35


def test_equals_the_command_with_half_floats(page, scene):
    photo, d = scene
    load(page, photo, d, half=True)
    expected = refocus(photo, d, focus=0.0, aperture=4)
    assert psnr(picture(page.evaluate("exact", view(d, 0, 4))), expected) > 40


@pytest.mark.parametrize("shape", [(1, 1), (1, 9), (7, 1), (2, 3), (23, 31)])
def test_small_pictures_equal_the_command(page, shape):
    rng = np.random.default_rng(3)
    photo, d = rng.integers(0, 256, (*shape, 3), np.uint8), rng.uniform(-4, 4, shape).astype(np.float32)
    load(page, photo, d)
    expected = refocus(photo, d, focus=0.5, aperture=1)
    found = picture(page.evaluate("exact", view(d, 0.5, 1)))
    assert np.abs(found.astype(int) - expected).max() <= 1


def test_what_is_in_focus_keeps_its_values(page, scene):
    photo, d = scene
    load(page, photo, np.full_like(d, 1.5))
    assert (picture(page.evaluate("exact", view(d, 1.5, 8))) == photo).all()


def test_a_part_of_the_picture_is_a_part_of_the_whole(page, scene):
    photo, d = scene
    load(page, photo, d)
    expected = refocus(photo, d, focus=0.0, aperture=4)
    for x, y, width, height in ((40, 30, 90, 70), (0, 0, 60, 50), (170, 100, 51, 50)):
        told = page.evaluate("exact", view(d, 0, 4, x=x, y=y, width=width, height=height))
        assert [told[name] for name in ("x", "y", "width", "height")] == [x, y, width, height]
        assert psnr(picture(told), expected[y : y + height, x : x + width]) > 45


def test_a_smaller_picture_shows_the_same(page, scene):
    photo, d = scene
    load(page, photo, d)
    told = page.evaluate("exact", view(d, 0, 6, scale=0.5))
    expected = cv2.resize(
        refocus(photo, d, focus=0.0, aperture=6), (told["columns"], told["rows"]), interpolation=cv2.INTER_AREA
    )
    assert psnr(picture(told), expected) > 32
    assert psnr(cv2.resize(photo, expected.shape[1::-1], interpolation=cv2.INTER_AREA), expected) < 28


def test_full_comes_in_parts_while_fast_is_shown(page, scene):
    """Other drawing between the parts, with any state, changes nothing."""
    photo, d = scene
    load(page, photo, d)
    expected = picture(page.evaluate("exact", view(d, 0, 4)))
    load(page, photo, d)
    told = page.evaluate("inParts", view(d, 0, 4))
    qualities = [call[0] for call in told["calls"]]
    assert told["fast"] == "fast"
    assert qualities[0] == "fast"
    assert qualities[-1] == "full"
    assert all(busy for quality, busy, _ in told["calls"] if quality == "fast")
    progress = [call[2] for call in told["calls"]]
    assert progress == sorted(progress)
    assert progress[-1] == 1
    assert (picture(told) == expected).all()


def test_fast_has_fewer_pixels_but_what_is_in_focus_stays_sharp(page, scene):
    photo, d = scene
    d = np.where(np.arange(d.shape[1]) < 110, np.float32(0), d - 3)
    load(page, photo, d, pixels=d.size / 9)
    told = page.evaluate("view => told(lens.render({...view, quality: 'fast'}))", view(d, 0, 4))
    assert told["columns"] == pytest.approx(d.shape[1] * 2 / 3, abs=2)  # work of 1/3, picture of 2/3
    found, expected = cv2.resize(picture(told), d.shape[::-1]), refocus(photo, d, focus=0.0, aperture=4)
    assert psnr(found[:, 120:], expected[:, 120:]) > 36
    size, sharp = (told["columns"], told["rows"]), np.s_[:, :65]
    at_work = cv2.resize(cv2.resize(photo, (74, 50), interpolation=cv2.INTER_AREA), size)
    expected = cv2.resize(photo, size, interpolation=cv2.INTER_AREA)
    assert psnr(picture(told)[sharp], expected[sharp]) > psnr(at_work[sharp], expected[sharp]) + 3


# ---- the page for a friend -----------------------------------------------------------------------


@pytest.fixture
def visit(browser, tmp_path):
    """Open a page from disk; at the end, nothing must have gone wrong, and nothing must have been asked for."""
    contexts, wrong, asked = [], [], set()
    file = tmp_path / "friend.html"

    def open_page(text, **options):
        file.write_text(text, encoding="utf-8")
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on("request", lambda request: request.url.startswith("data:") or asked.add(request.url))
        page.goto(file.as_uri())
        page.wait_for_selector("body.ready")
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
    assert asked == {file.as_uri()}


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_a_friend_can_refocus(visit, scene, viewport):
    photo, d = scene
    page = visit(friend.page(photo, d, title=HOSTILE, look={}), viewport=viewport)
    assert page.title() == HOSTILE
    assert page.locator("h1").inner_text() == HOSTILE
    assert "Click where" in page.locator("#panels").inner_text()
    values = page.evaluate("Array.from(Model.map.values)")
    assert np.abs(np.reshape(values, d.shape) - d).max() <= (d.max() - d.min()) / 500
    page.locator("#marks").click()
    while page.evaluate("Stage.lens.busy()"):  # the policy of the page forbids wait_for_function, which uses eval
        page.wait_for_timeout(50)
    middle = np.median(d[70:81, 105:116])
    assert page.evaluate("Model.own().focusDisparity") == pytest.approx(middle, abs=0.2)
    page.get_by_role("button", name="Wipe").click()
    page.get_by_role("slider", name="Line between the two pictures").wait_for()
    page.locator("#marks").focus()
    for key in ("ArrowLeft", "ArrowUp", "Enter", "+", "0"):
        page.keyboard.press(key)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_friend_first_sees_what_was_seen_in_the_app(visit, scene):
    photo, d = scene
    page = visit(friend.page(photo, d, title="a.png", look={"focus": (40, 100), "aperture": 2.0, "shape": "hexagon"}))
    assert page.evaluate("[Model.own().focus, Model.own().aperture, Model.own().shape]") == [[40, 100], 2.0, "hexagon"]


@pytest.mark.parametrize("room", [60_000, 30_000])
def test_a_page_for_a_friend_is_never_too_large(visit, monkeypatch, room):
    """Photo and map are noise. What does not fit is compressed more, then made smaller, with its disparities."""
    rng = np.random.default_rng(1)
    photo, d = rng.integers(0, 256, (200, 300, 3), np.uint8), rng.uniform(-2, 6, (200, 300)).astype(np.float32)
    d[:, :20] = np.nan
    least = len(friend.page(photo[:1, :1], d[:1, 50:51], title="a", look={}).encode())
    monkeypatch.setattr(friend, "MOST", least + room)
    text = friend.page(photo, d, title="a", look={"focus": (200, 100)})
    assert len(text.encode()) <= friend.MOST
    page = visit(text)
    width, focus, extremes = page.evaluate("[Model.shot.width, Model.own().focus, Maps.extremes(Model.map)]")
    shrink = 300 // width
    assert shrink >= 2
    assert focus == [200 // shrink, 100 // shrink]
    assert extremes == pytest.approx([-2 / shrink, 6 / shrink], abs=0.1)


@pytest.mark.parametrize(
    "look",
    [
        {"aperture": -1},
        {"aperture": "</script>"},
        {"shape": "star"},
        {"focus": (900, 3)},
        {"focus": "here"},
        {"focus": 1.5},
    ],
    ids=str,
)
def test_a_wrong_look_for_a_friend(scene, look):
    with pytest.raises(DualpixError, match=next(iter(look))):
        friend.page(*scene, title="a", look=look)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_a_grey_photo_of_any_depth_for_a_friend(dtype):
    grey = np.tile(np.linspace(0, 1, 64), (48, 1))
    photo = grey.astype(dtype) if dtype is np.float32 else (grey * np.iinfo(dtype).max).astype(dtype)
    text = friend.page(photo, np.ones((48, 64), np.float32), title="a", look={})
    start = text.index("data:image/jpeg;base64,") + 23
    jpeg = base64.b64decode(text[start : text.index('"', start)])
    found = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_GRAYSCALE)
    assert np.abs(found - 255 * grey).max() < 6
