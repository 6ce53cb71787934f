"""The app in a real browser, from the drop of two files to the files that are saved, by mouse, finger and keys."""

import json
import os
import shlex
from contextlib import contextmanager
from pathlib import Path

import cv2
import numpy as np
import pytest

from app_browser import (
    DESKTOP,
    HERE,
    LOW_CONTRAST,
    PHONE,
    RING,
    TWICE,
    click,
    drop,
    has_map,
    nameless,
    on_screen,
    running_app,
    saved,
    settled,
    stroke,
    wait,
)
from dualpix import cli
from dualpix.camera.simulation import simulate
from dualpix.io import encode_png, read_map

AXE = Path(__file__).resolve().parents[1] / ".venv" / "axe-core" / "axe.min.js"  # where .ci/run puts it
TABS = ("look", "focus", "mask", "repair", "settings", "save")
WIDTH, HEIGHT = 208, 150
FAR, NEAR = -1.0, 2.0  # px: the background, and a square in front of it
SQUARE = slice(40, 110), slice(110, 180)
NEAR_POINT, FAR_POINT = (145, 75), (50, 75)


def shot(height=HEIGHT, width=WIDTH, seed=0):
    """A simulated pair: coloured noise, with a square that is nearer."""
    rng = np.random.default_rng(seed)
    noise = cv2.GaussianBlur(rng.random((height, width, 3)), (0, 0), 1.2)
    image = np.clip(0.5 + 4 * (noise - 0.5), 0, 1)
    disparity = np.full((height, width), FAR)
    disparity[SQUARE] = NEAR
    return [np.rint(255 * view).astype(np.uint8) for view in simulate(image, disparity)[:2]]


@pytest.fixture(scope="module")
def address(browser, tmp_path_factory):
    with running_app(temp=tmp_path_factory.mktemp("temp")) as address:
        yield address


@pytest.fixture(scope="module")
def pair(tmp_path_factory):
    """Two views of 208 x 150, as files."""
    folder = tmp_path_factory.mktemp("pair")
    for name, view in zip(("left.png", "right.png"), shot(), strict=True):
        (folder / name).write_bytes(encode_png(view))
    return folder / "left.png", folder / "right.png"


@pytest.fixture(scope="module")
def slow(tmp_path_factory):
    """Two views that take a second to match on a fast machine, in small files."""
    folder = tmp_path_factory.mktemp("slow")
    left = np.random.default_rng(0).integers(0, 255, (500, 750), np.uint8).repeat(8, axis=0).repeat(8, axis=1)
    for name, view in (("slow-left.png", left), ("slow-right.png", np.roll(left, 1, 1))):
        (folder / name).write_bytes(encode_png(view))
    return folder / "slow-left.png", folder / "slow-right.png"


@pytest.fixture
def watched(browser):
    """Open an address; at the end, nothing must have gone wrong, and nobody else must have been asked."""
    contexts, wrong, asked = [], [], []

    def open_page(address, viewport=DESKTOP, **options):
        permissions = ["clipboard-read", "clipboard-write"]
        context = browser.new_context(viewport=viewport, permissions=permissions, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        own = address, f"blob:{address.rsplit('/', 2)[0]}", "data:", "blob:null"
        page.on("request", lambda request: request.url.startswith(own) or asked.append(request.url))
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert (wrong, asked) == ([], [])


@pytest.fixture
def visit(browser, watched, address):
    """Open the app's page with no shots."""

    def open_page(viewport=DESKTOP, **options):
        context = browser.new_context()
        for each in context.request.get(f"{address}api/state").json()["shots"]:
            context.request.delete(f"{address}api/shots/{each['id']}")
        context.close()
        page = watched(address, viewport, **options)
        page.wait_for_selector("body.ready")
        return page

    return open_page


@contextmanager
def chdir(folder):
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def command(*args, folder):
    """Run a command in a folder."""
    with chdir(folder):
        assert cli.main([str(arg) for arg in args]) == 0


def picture(page):
    """The pixels of the stage as the screen shows them, without marks and controls: RGB, and where the photo is."""
    page.mouse.move(5, 5)
    settled(page)
    hidden = "#marks, #wipe, #readout, #legend, #zoom, #toast"
    page.evaluate("all => document.querySelectorAll(all).forEach(each => { each.style.opacity = 0; })", hidden)
    box = page.locator("#stage").bounding_box()
    found = page.screenshot(clip=box)
    page.evaluate("all => document.querySelectorAll(all).forEach(each => { each.style.opacity = ''; })", hidden)
    left, top = page.evaluate("Stage.view.toScreen(0, 0)")
    return cv2.imdecode(np.frombuffer(found, np.uint8), cv2.IMREAD_COLOR)[..., ::-1], left, top


def pixels(page):
    """The photo as the screen shows it, one screen pixel a photo pixel."""
    page.keyboard.press("9")
    for side in ("width", "height"):  # a photo in the middle of an odd stage lies between the pixels
        size = page.evaluate(f"Stage.view.stage.{side} - Stage.view.{side}")
        if size % 2:
            view = page.viewport_size
            page.set_viewport_size(view | {side: view[side] + 1})
            wait(page, f"Stage.view.stage.{side} - Stage.view.{side} === {size + 1}")
    shown, left, top = picture(page)
    return shown[round(top) : round(top) + HEIGHT, round(left) : round(left) + WIDTH]


def detail(image, place):
    """How much fine detail a part of a picture has."""
    grey = image[place].astype(float).mean(-1)
    return float(np.abs(np.diff(grey, axis=1)).mean())


def psnr(image, wanted):
    return 10 * np.log10(255**2 / np.mean((image.astype(float) - wanted) ** 2))


BEHIND = slice(20, 130), slice(20, 80)
INSIDE = slice(55, 95), slice(125, 165)


# ---- the whole way -------------------------------------------------------------------------------


def test_from_the_drop_to_the_saved_files(visit, pair, tmp_path):
    page = visit()
    watch_progress(page)
    drop(page, *pair)
    has_map(page)
    said = page.evaluate("seen")
    assert any("scale" in step for step, _ in said), said
    shares = [share for _, share in said]
    assert shares == sorted(shares)
    assert page.locator("#progress").is_hidden()
    command("disparity", *pair, "-o", "map.tiff", "--confidence", "sure.tiff", folder=tmp_path)
    wanted = read_map(tmp_path / "map.tiff")
    np.testing.assert_array_equal(shown_map(page), wanted)
    assert wanted[SQUARE].mean() == pytest.approx(NEAR, abs=0.3)

    page.mouse.move(*on_screen(page, *NEAR_POINT))
    x, y, d = (*NEAR_POINT, wanted[NEAR_POINT[::-1]])
    sure = read_map(tmp_path / "sure.tiff")[y, x]
    assert page.locator("#readout span").all_inner_texts() == [f"{x}, {y}", f"{d:.2f} px", f"confidence {sure:.2f}"]

    sharp = pixels_of_photo(pair)
    page.keyboard.press("p")
    np.testing.assert_array_equal(pixels(page), sharp)
    focus_by_mouse(page, pair, wanted, sharp, tmp_path)
    mask_by_mouse(page, pair, tmp_path)
    map_files(page, pair, tmp_path)


def watch_progress(page):
    """Keep every step that the page shows, in the list `seen` of the page."""
    page.evaluate(
        """() => {
            window.seen = [];
            const box = document.querySelector("#progress");
            new MutationObserver(() => box.hidden || seen.push(
                [box.querySelector(".step").textContent, box.querySelector("progress").value]
            )).observe(box, {subtree: true, childList: true, attributes: true, characterData: true});
        }"""
    )


def shown_map(page):
    values = page.evaluate("[...Model.map.values]")
    return np.array(values, np.float32).reshape(page.evaluate("[Model.map.height, Model.map.width]"))


def pixels_of_photo(pair):
    return cv2.imread(str(pair[0]))[..., ::-1]


def focus_by_mouse(page, pair, wanted, sharp, folder):
    """Click the square: it stays sharp, and the rest is blurred, as the command does it."""
    page.locator("#tab-focus").click()
    click(page, *NEAR_POINT)
    x, y = NEAR_POINT
    assert page.evaluate("Model.own().focusDisparity") == np.median(wanted[y - 4 : y + 5, x - 4 : x + 5])
    seen = pixels(page)
    assert detail(seen, INSIDE) > 0.9 * detail(sharp, INSIDE)
    assert detail(seen, BEHIND) < 0.5 * detail(sharp, BEHIND)

    page.locator("#aperture").focus()
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    page.get_by_role("button", name="Hexagon").click()
    assert detail(pixels(page), BEHIND) > detail(seen, BEHIND), "a smaller aperture blurs less"
    aperture = page.evaluate("Model.own().aperture")
    assert 1 < aperture < 4
    path = saved(page, folder, "refocus", ".png")
    command("refocus", pair[0], "map.tiff", "-o", "r.png", "--focus", f"{x},{y}", "--aperture", aperture, "--shape",
            "hexagon", folder=folder)  # fmt: skip
    assert path.read_bytes() == (folder / "r.png").read_bytes()
    page.keyboard.press("p")
    assert psnr(pixels(page), cv2.imread(str(path))[..., ::-1]) > 40
    assert run_copied(page, folder / "copied", pair) == {path.name: path.read_bytes()}


def run_copied(page, folder, files):
    """Copy as command, and run it where the files are: the file that it is for, by name."""
    page.get_by_role("button", name="Copy as command").click()
    lines = [shlex.split(line) for line in page.locator(".command pre").inner_text().split(" && ")]
    assert page.evaluate("navigator.clipboard.readText()") == page.locator(".command pre").inner_text()
    folder.mkdir()
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
    for program, *words in lines:
        assert program == "dualpix"
        command(*words, folder=folder)
    name = lines[-1][lines[-1].index("-o") + 1]
    return {name: (folder / name).read_bytes()}


def mask_by_mouse(page, pair, folder):
    """Click the square: the mask holds it and not what is behind."""
    page.locator("#tab-mask").click()
    click(page, *NEAR_POINT)
    page.get_by_label("Show as black and white").check()
    seen = pixels(page)
    assert seen[INSIDE].mean() > 250
    assert seen[BEHIND].mean() < 5
    first, last, soft = (page.evaluate(f"Model.own().mask.{name}") for name in ("from", "to", "soft"))
    path = saved(page, folder, "mask", ".png")
    command("mask", "map.tiff", "-o", "m.png", f"--from={first!r}", f"--to={last!r}", "--soft", soft, folder=folder)
    assert path.read_bytes() == (folder / "m.png").read_bytes()
    page.locator("#tab-mask").click()
    assert np.abs(pixels(page)[..., 0].astype(int) - (cv2.imread(str(path), 0))).max() <= 2


def map_files(page, pair, folder):
    """Maps in several formats have the bytes of the command."""
    for suffix in (".tiff", ".exr", ".ply", ".jpg"):
        path = saved(page, folder, "map", suffix)
        command("disparity", *pair, "-o", f"again{suffix}", folder=folder)
        assert path.read_bytes() == (folder / f"again{suffix}").read_bytes(), suffix


def test_strokes_change_the_map_and_runs_are_compared(visit, pair, tmp_path):
    page = visit()
    drop(page, *pair)
    has_map(page)
    before = shown_map(page)
    page.locator("#tab-repair").click()
    page.get_by_label("Brush radius").fill("10")
    stroke(page, NEAR_POINT, (80, 75), (50, 60))
    assert page.locator(".strokes li").count() == 1
    page.get_by_role("button", name="Unknown", exact=True).click()
    stroke(page, (140, 55), (150, 55))
    page.get_by_role("button", name="Undo").click()
    stroke(page, (20, 130), (40, 130))
    page.get_by_role("button", name="Solve again").click()
    has_map(page, runs=2)
    after = shown_map(page)
    assert before[60, 50] == pytest.approx(FAR, abs=0.4)
    assert after[60, 50] > before[60, 50] + 1
    hints = saved(page, tmp_path, "hints", ".json")
    assert [each["kind"] for each in json.loads(hints.read_text())] == ["near", "unknown"]
    path = saved(page, tmp_path, "map", ".tiff")
    np.testing.assert_array_equal(read_map(path), after)
    assert run_copied(page, tmp_path / "copied", [*pair, hints]) == {path.name: path.read_bytes()}

    page.locator("#tab-settings").click()
    assert page.locator(".runs tbody tr").count() == 2
    page.get_by_role("button", name="Wipe A | B").click()
    wait(page, "Model.view === 'ab' && !document.querySelector('#wipe').hidden")
    np.testing.assert_array_equal(page.evaluate("[...Model.other.map.values]"), before.ravel())
    colours = []
    for key in ("End", "Home"):  # the line at the right: A everywhere; at the left: B
        page.locator("#wipe").focus()
        page.keyboard.press(key)
        colours.append(pixels(page)[60, 50].astype(int))
    assert np.abs(colours[0] - colours[1]).sum() > 100
    assert [page.locator(f"#side-{side}").inner_text() for side in "ab"] == ["A: run 2, auto", "B: run 1, auto"]


def test_settings_are_those_of_the_map_on_screen(visit, pair):
    """A page that was loaded again knows them, and shots to come do not inherit them unasked."""
    page = visit()
    drop(page, *pair)
    has_map(page)
    page.locator("#tab-settings").click()
    page.get_by_label("Preset").select_option("phone")
    page.get_by_role("button", name="Run again").click()
    has_map(page, runs=2)
    page.reload()
    has_map(page, runs=2)
    wait(page, "Model.other")
    assert page.evaluate("[Model.settings.preset, Model.other.run.settings.preset]") == ["phone", "auto"]
    drop(page, *pair)
    has_map(page)
    assert page.evaluate("[Model.settings.preset, Model.run.settings.preset]") == ["auto", "auto"]
    page.locator("#strip .frame-button").nth(-2).click()
    has_map(page, runs=2)
    page.locator("#tab-settings").click()
    page.get_by_role("button", name="Use these for new shots").click()
    drop(page, *pair)
    has_map(page)
    assert page.evaluate("Model.run.settings.preset") == "phone"


def test_a_view_alone_is_explained_and_closed(visit, pair):
    page = visit()
    drop(page, pair[0])
    wait(page, "document.querySelector('#progress.failed')")
    assert "dropped together" in page.locator("#progress .help").inner_text()
    page.locator("#progress button").click()
    wait(page, "Model.shots.size === 0")


def test_advice_of_a_warning_can_be_taken(visit, pair):
    page = visit()
    drop(page, *pair)
    has_map(page)
    page.evaluate("Model.details.notes = ['dark: set black=3 for this camera']; Model.tell('map')")
    page.get_by_role("button", name="Set black=3 and run again").click()
    has_map(page, runs=2)
    assert page.evaluate("Model.run.settings.set") == {"black": "3"}


def test_a_friend_opens_the_page_from_disk(visit, watched, pair, tmp_path):
    page = visit()
    drop(page, *pair)
    has_map(page)
    page.locator("#tab-focus").click()
    click(page, *NEAR_POINT)
    path = saved(page, tmp_path, "page", ".html")
    assert path.stat().st_size < 1_000_000
    friend = watched(path.as_uri())
    wait(friend, "Model.map && Model.own().focus")
    settled(friend)
    assert friend.evaluate("Model.own().focusDisparity") == pytest.approx(NEAR, abs=0.3)
    click(friend, *FAR_POINT)
    settled(friend)
    assert friend.evaluate("Model.own().focusDisparity") == pytest.approx(FAR, abs=0.3)


def test_a_folder_is_a_film_strip(watched, pair, tmp_path):
    folder = tmp_path / "shots"
    folder.mkdir()
    for name in ("a", "b"):
        for view in pair:
            (folder / f"{name}_{view.name}").write_bytes(view.read_bytes())
    (folder / "other.png").write_bytes(pair[0].read_bytes())
    with running_app(folder, temp=tmp_path) as address:
        page = watched(address)
        has_map(page)
        assert page.locator("#strip .name").all_inner_texts() == ["a_left.png", "b_left.png"]
        assert "left out" in page.locator("#toast").inner_text()
        page.keyboard.press("n")
        has_map(page)
        assert page.evaluate("Model.shot.name").endswith("b_left.png")
        page.close()
    assert not list(tmp_path.glob("dualpix*")), "the private folder is removed at the end"


# ---- other hands ---------------------------------------------------------------------------------


def test_a_phone_shows_everything_and_a_finger_refocuses(visit, pair):
    page = visit(PHONE, has_touch=True, is_mobile=True)
    page.locator("#files").set_input_files(pair)
    has_map(page)
    for name in ("look", "mask", "repair", "settings", "save", "focus"):
        page.locator(f"#tab-{name}").tap()
        assert page.locator(f"#panel-{name}").is_visible()
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
        assert page.evaluate("document.documentElement.scrollHeight") == PHONE["height"]
        assert too_small(page) == []
        assert outside(page) == []
    page.touchscreen.tap(*on_screen(page, *NEAR_POINT))
    settled(page)
    assert page.evaluate("Model.own().focusDisparity") == pytest.approx(NEAR, abs=0.3)
    height = page.locator("#stage").bounding_box()["height"]
    page.locator("#tab-focus").tap()
    page.wait_for_timeout(50)
    assert page.locator("#stage").bounding_box()["height"] > height + 200, "a tap on the open tab folds the sheet"


def too_small(page):
    """Controls that a finger misses."""
    return page.evaluate(
        """() => [...document.querySelectorAll("button, select, input, [role=slider]")].filter(each => {
            const {width, height} = each.getBoundingClientRect();
            return width && (each.closest("label") || each).getBoundingClientRect().height < 24 && height < 24;
        }).map(each => each.outerHTML)"""
    )


def outside(page):
    """Controls that lie beside the window, left or right."""
    return page.evaluate(
        """() => [...document.querySelectorAll("button, select, input")].filter(each => {
            const {left, right, width} = each.getBoundingClientRect();
            return width && !each.closest("#strip") && (left < 0 || right > innerWidth);
        }).map(each => each.outerHTML)"""
    )


def test_the_keyboard_alone_is_enough(visit, tmp_path):
    """No mouse: open the sample, look, focus, brush, save."""
    page = visit()

    def tab_to(wanted, key="Tab"):
        for _ in range(60):
            page.keyboard.press(key)
            if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
                assert page.evaluate(RING), f"{wanted} does not show that it has the focus"
                return
        pytest.fail(f"{wanted} cannot be reached with {key}")

    tab_to("#sample")
    page.keyboard.press("Enter")
    has_map(page)
    tab_to("#marks")
    page.keyboard.press("ArrowRight")
    assert page.locator("#readout").is_visible()
    assert "confidence" in page.locator("#live").inner_text()
    before = page.evaluate("Stage.view.scale")
    page.keyboard.press("+")
    assert page.evaluate("Stage.view.scale") > before
    page.keyboard.press("0")
    page.keyboard.press("2")
    assert page.locator("#panel-focus").is_visible()
    page.keyboard.press("Enter")
    settled(page)
    assert page.evaluate("Model.own().focus") is not None
    page.keyboard.press(".")
    assert page.evaluate("Model.own().aperture") > 4
    page.keyboard.press("4")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Enter")
    assert page.locator(".strokes li").count() == 1
    tab_to("[role=tab]")
    for name in ("settings", "save"):
        page.keyboard.press("ArrowRight")
        assert page.evaluate("document.activeElement.id") == f"tab-{name}"
    tab_to("#save")
    with page.expect_download() as coming:
        page.keyboard.press("Enter")
    coming.value.save_as(tmp_path / "map.tiff")
    np.testing.assert_array_equal(read_map(tmp_path / "map.tiff"), shown_map(page))
    page.keyboard.press("?")
    assert page.locator("#keys").is_visible()
    page.keyboard.press("Escape")
    assert page.locator("#keys").is_hidden()


# ---- bad input -----------------------------------------------------------------------------------


def test_names_are_text(visit, pair, tmp_path):
    page = visit()
    name = "<img src=x onerror=alert(1)>.png"
    files = [tmp_path / f"{side} {name}" for side in ("left", "right")]
    for file, view in zip(files, pair, strict=True):
        file.write_bytes(view.read_bytes())
    drop(page, *files)
    has_map(page)
    assert page.locator("#title").inner_text() == files[0].name
    for tab in ("focus", "settings", "save", "look"):
        page.locator(f"#tab-{tab}").click()
    assert files[0].name in page.locator("#panel-look").inner_text()
    assert page.locator("img").count() == 0
    assert run_copied_name(page) == [files[0].name, files[1].name]


def run_copied_name(page):
    page.locator("#tab-save").click()
    page.get_by_role("button", name="Copy as command").click()
    return shlex.split(page.locator(".command pre").inner_text())[2:4]


def test_a_broken_file_shows_the_sentence_of_the_command(visit, pair, tmp_path, call):
    page = visit()
    broken = tmp_path / "right.png"
    broken.write_bytes(pair[1].read_bytes()[:400])
    code, _, err = call("disparity", pair[0], broken, "-o", tmp_path / "d.tiff")
    assert code == 2
    drop(page, pair[0], broken)
    wait(page, "document.querySelector('#progress.failed')")
    told = page.locator("#progress .step").inner_text()
    assert told == err.strip().removeprefix("error: ").replace(str(broken), broken.name)
    wait(page, "document.querySelector('#live').innerText")  # a screen reader is told after the page has changed
    assert page.locator("#live").inner_text() == told
    drop(page, *pair)
    has_map(page)
    assert page.locator("#progress").is_hidden()


def test_a_second_drop_waits_and_cancel_ends_the_first(visit, pair, slow):
    page = visit()
    drop(page, *slow)
    wait(page, "Model.shot && Model.shot.run.state === 'running'")
    drop(page, *pair)
    wait(page, "Model.shots.size === 2")
    assert page.evaluate("Model.shot.files") == [file.name for file in pair]
    assert "waiting" in page.locator("#progress").inner_text()
    page.locator("#strip .frame-button").first.click()
    page.get_by_role("button", name="Cancel").click()
    wait(page, "Model.shot.run.state === 'cancelled'")
    assert page.locator("#progress").is_hidden()
    page.locator("#strip .frame-button").last.click()
    has_map(page)
    assert page.evaluate("[...Model.shots.values()].map(each => each.run.state)") == ["cancelled", "done"]
    page.locator("#strip .frame-button").first.click()
    assert page.evaluate("Model.map") is None


# ---- access --------------------------------------------------------------------------------------


@pytest.fixture(params=[("light", DESKTOP), ("dark", DESKTOP), ("light", PHONE)], ids=["light", "dark", "phone"])
def page(request, visit, pair):
    """The page with a map, a note of every kind, and two shots in the film strip."""
    scheme, viewport = request.param
    page = visit(viewport, color_scheme=scheme)
    page.locator("#files").set_input_files(pair)
    has_map(page)
    page.evaluate("async () => { await Api.open([['files', new File(['no'], 'bad.png')]], Model.settings); }")
    wait(page, "Model.shots.size === 2")
    return page


def test_every_tab_can_be_read_and_heard(page):
    assert page.locator("html").get_attribute("lang") == "en"
    assert page.title().endswith("dualpix")
    assert [page.locator(each).count() for each in ("main", "header", "nav", "aside", "h1")] == [1] * 5
    page.mouse.move(*page.evaluate("[innerWidth / 3, innerHeight / 3]"))
    for tab in TABS:
        page.evaluate("tab => Model.tell('open', tab)", tab)
        page.evaluate("document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        assert nameless(page) == [], tab
        assert page.evaluate(LOW_CONTRAST) == [], tab
        assert page.evaluate(TWICE) == [], tab
    page.keyboard.press("?")
    assert nameless(page) == []
    assert page.evaluate(LOW_CONTRAST) == []
    page.keyboard.press("Escape")
    page.locator("#strip .frame-button").last.click()
    wait(page, "document.querySelector('#progress.failed')")
    assert page.evaluate(LOW_CONTRAST) == []


def test_tab_comes_by_everything_and_shows_where_it_is(visit, pair):
    page = visit()
    page.locator("#files").set_input_files(pair)
    has_map(page)
    seen = []
    for _ in range(80):
        page.keyboard.press("Tab")
        here = page.evaluate(HERE)
        if not here:  # the end of the page
            break
        seen.append(here)
        assert page.evaluate(RING), f"no outline: {here[1][:200]}"
    else:
        pytest.fail("Tab does not come out of the page")
    numbers, texts = zip(*seen, strict=True)
    assert len(set(numbers)) == len(numbers), "Tab stays in a loop"
    for part in ("Photo", "marks", "wipe", "zoom-in", "tab-look", "Turbo", "help"):
        assert any(part in text for text in texts), part


@pytest.mark.parametrize("page", [("light", DESKTOP), ("dark", DESKTOP)], indirect=True, ids=["light", "dark"])
def test_axe_finds_nothing_serious(page):
    if not AXE.is_file():
        pytest.skip("axe-core is not there: npm pack axe-core, unpacked to .venv/axe-core")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for tab in TABS:
        page.evaluate("tab => Model.tell('open', tab)", tab)
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations)")
        serious = [each for each in found if each["impact"] in ("serious", "critical")]
        assert not serious, json.dumps(
            [[each["id"], each["help"], [node["html"] for node in each["nodes"]]] for each in serious], indent=1
        )
