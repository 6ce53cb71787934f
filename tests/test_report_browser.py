"""The report in a real browser: the line moves, values appear, columns sort, and nothing is asked of the network."""

import re
from dataclasses import replace

import numpy as np
import pytest

from dualpix.evaluation.outcomes import Comparison, Outcome
from dualpix.evaluation.report import report_page
from dualpix.evaluation.report._looks import look_at
from dualpix.io import encode_png
from dualpix.render.pages import wipe_page
from test_report import FAILED, HOSTILE, many, sample_comparison

DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 740}
NOTHING = "\N{EN DASH}"


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "report.html"
    file.write_text(report_page(sample_comparison()), encoding="utf-8")
    return file


@pytest.fixture
def visit(browser):
    """Open a file; at the end, nothing must have gone wrong, and nothing else must have been asked for."""
    contexts, wrong, asked, files = [], [], set(), set()

    def open_page(file, viewport=DESKTOP, **options):
        context = browser.new_context(viewport=viewport, **options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(10_000)
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("dialog", lambda dialog: wrong.append(dialog.message))
        page.on("request", lambda request: request.url.startswith("data:") or asked.add(request.url))
        page.goto(file.as_uri())
        files.add(file.as_uri())
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert wrong == []
    beside = {url for url in asked if url.startswith("file:") and url.endswith(".png")}  # pictures of the demo
    assert asked - beside == files


def line(page):
    """Where the line is, in percent, as the picture shows it."""
    clip = page.evaluate("getComputedStyle(document.querySelector('.over')).clipPath")
    return 100 - float(re.search(r"inset\(\S+ ([\d.]+)%", clip).group(1)) if "%" in clip else 100.0


def place(locator, u, v):
    """Coordinates in the window of a place of an element that is scrolled into view, given as shares of its sides."""
    locator.scroll_into_view_if_needed()
    box = locator.bounding_box()
    return box["x"] + u * box["width"], box["y"] + v * box["height"]


def values(page, scene=0):
    """What the readout says, by row: the cells' texts."""
    rows = page.locator(".scene").nth(scene).locator(".readout tbody tr")
    return {row.locator("th").inner_text(): row.locator("td").all_inner_texts() for row in rows.all()}


def order(page):
    return page.locator(".ranking tbody th").all_inner_texts()


# ---- wiping --------------------------------------------------------------------------------------


def test_dragging_moves_the_line(visit, report):
    page = visit(report)
    stage = page.locator(".stage").first
    assert line(page) == 50
    page.mouse.move(*place(stage, 0.5, 0.5))
    page.mouse.down()
    page.mouse.move(*place(stage, 0.8, 0.5), steps=4)
    page.mouse.up()
    assert line(page) == pytest.approx(80, abs=0.5)
    assert page.locator(".wipe input").first.input_value() == "80"
    page.mouse.move(*place(stage, 0.2, 0.5))
    assert line(page) == pytest.approx(80, abs=0.5), "moved without a button held"


def test_the_slider_moves_the_line_with_keys(visit, report):
    page = visit(report)
    slider = page.locator(".wipe input").first
    slider.focus()
    for key, wanted in (("ArrowRight", 51), ("End", 100), ("Home", 0), ("ArrowRight", 1)):
        page.keyboard.press(key)
        assert line(page) == pytest.approx(wanted)


def test_a_finger_moves_the_line(visit, report):
    page = visit(report, PHONE, has_touch=True, is_mobile=True)
    page.touchscreen.tap(*place(page.locator(".stage").first, 0.3, 0.5))
    assert line(page) == pytest.approx(30, abs=1)


def test_any_two_pictures_can_be_chosen(visit, report):
    page = visit(report)
    scene = page.locator(".scene").first
    small = {each.get_attribute("alt"): each.get_attribute("src") for each in scene.locator(".gallery img").all()}

    def shown():
        return [small_alt(scene.locator(name).get_attribute("src")) for name in (".over", ".under")]

    def small_alt(src):
        return next(alt for alt, own in small.items() if own == src)

    assert shown() == ["ground truth, scene 005", "good, scene 005"]
    scene.locator(".first").select_option(label="image")
    scene.locator(".second").select_option(label="bad confidence")
    assert shown() == ["image, scene 005", "bad confidence, scene 005"]
    assert scene.locator(".over").get_attribute("alt") == "image"
    scene.locator(".gallery img[alt='plain error, scene 005']").click()
    assert shown() == ["image, scene 005", "plain error, scene 005"]
    other = page.locator(".scene").nth(1)
    assert other.locator(".second").evaluate("list => list.selectedOptions[0].text") == "good"


# ---- values --------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", [".stage", ".gallery img[alt='image, scene 005']"])
@pytest.mark.parametrize(("x", "y"), [(20, 30), (55, 2), (0, 44)])
def test_pointing_shows_the_values_of_all_methods(visit, report, where, x, y):
    comparison = sample_comparison()
    look = look_at(comparison, comparison.scenes[0])
    page = visit(report)
    target = page.locator(".scene").first.locator(where)
    assert values(page)["good"] == [NOTHING] * 3
    page.mouse.move(*place(target, (x + 0.5) / 60, (y + 0.5) / 45))
    found = values(page)
    assert set(found) == {"ground truth", "good", "plain", "bad"}
    scales = look.values_scale, look.error_scale
    half = [(scale.high - scale.low) / scale.steps / 2 + 10.0**-scale.digits / 2 for scale in scales]
    assert float(found["ground truth"][0]) == pytest.approx(look.truth[y, x], abs=half[0])
    for method, maps in look.maps.items():
        value, error, _ = found[method]
        assert float(re.sub("[≤≥] ", "", value)) == pytest.approx(
            np.clip(maps.values[y, x], *scales[0][:2]), abs=half[0]
        )
        assert float(re.sub("[≤≥] ", "", error)) == pytest.approx(
            np.clip(maps.error[y, x], *scales[1][:2]), abs=half[1]
        )
    assert float(found["bad"][2]) == pytest.approx(look.maps["bad"].confidence[y, x], abs=0.02)
    assert found["plain"][2] == NOTHING


def test_values_that_are_not_there_are_dashes(visit, report):
    page = visit(report)
    page.mouse.move(*place(page.locator(".stage").first, 0.5 / 60, 0.5 / 45))
    assert values(page)["plain"] == [NOTHING] * 3
    assert values(page)["good"][0] != NOTHING
    page.mouse.move(*place(page.locator(".stage").nth(1), 0.999, 0.5))
    found = values(page, 1)
    assert found["ground truth"][0] == NOTHING
    assert found["bad"] == [NOTHING] * 3
    page.mouse.move(*place(page.locator(".stage").nth(1), 0.4, 0.5))
    found = values(page, 1)
    assert found["good"][1] != NOTHING
    assert found["bad"] == [NOTHING] * 3


def test_values_beyond_the_scale_say_so(visit, tmp_path):
    comparison = sample_comparison(in_pixels=True)
    wild = np.where(np.arange(60) < 30, -50, 50).astype(np.float32)[None].repeat(45, axis=0)
    outcomes = [replace(each, disparity=wild) if each.method == "plain" else each for each in comparison.outcomes]
    file = tmp_path / "wild.html"
    file.write_text(report_page(replace(comparison, outcomes=outcomes)), encoding="utf-8")
    page = visit(file)
    for u, sign in ((0.2, "≤"), (0.7, "≥")):
        page.mouse.move(*place(page.locator(".stage").first, u, 0.5))
        value, error, _ = values(page)["plain"]
        assert value.startswith(sign)
        assert error == f"{sign} {'-' * (sign == '≤')}1.00"


def test_a_finger_shows_values(visit, report):
    page = visit(report, PHONE, has_touch=True, is_mobile=True)
    page.touchscreen.tap(*place(page.locator(".stage").first, 0.4, 0.5))
    assert float(values(page)["good"][2]) > 0


def test_keys_move_the_point(visit, report):
    page = visit(report)
    page.locator(".stage").first.focus()
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowUp")
    assert page.locator("caption").first.inner_text() == "Values at 49.0 % across, 49.0 % down"
    assert values(page)["good"][0] != NOTHING


# ---- the rest of the page ------------------------------------------------------------------------


def test_columns_sort_both_ways_and_by_name(visit, report):
    page = visit(report)
    head = page.locator(".ranking thead tr").last.locator("th")
    assert order(page) == ["good", "plain", "bad"]
    for label, wanted in (
        ("time", ["plain", "bad", "good"]),
        ("time", ["good", "bad", "plain"]),
        ("method", ["bad", "good", "plain"]),
        ("#", ["good", "plain", "bad"]),
    ):
        page.locator(".ranking button", has_text=label).first.click()
        assert order(page) == wanted
    assert head.first.get_attribute("aria-sort") == "ascending"
    assert page.locator(".ranking [aria-sort]").count() == 1


def test_methods_without_a_figure_sort_last_both_ways(visit, tmp_path):
    comparison = sample_comparison()
    outcomes = [each if each.method != "plain" else replace(each, scores={}) for each in comparison.outcomes]
    file = tmp_path / "missing.html"
    file.write_text(report_page(replace(comparison, outcomes=outcomes)), encoding="utf-8")
    page = visit(file)
    for wanted in (["good", "bad", "plain"], ["bad", "good", "plain"]):
        page.locator(".ranking button", has_text="geometric mean").first.click()
        assert order(page) == wanted


@pytest.mark.parametrize("viewport", [PHONE, {"width": 390, "height": 844}, DESKTOP])
def test_nothing_is_wider_than_the_window(visit, report, viewport):
    page = visit(report, viewport, is_mobile=viewport is not DESKTOP)
    page.evaluate("document.querySelectorAll('details').forEach(fold => fold.open = true)")
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    if viewport is not DESKTOP:
        assert page.evaluate("(box => box.scrollWidth > box.clientWidth)(document.querySelector('.scroll'))")


def test_long_names_do_not_widen_a_phones_page(visit, tmp_path):
    comparison = sample_comparison()
    long = "package.module.with.a.long.name.and_no_space_in_it:function_of_somebody_else"
    outcomes = [replace(each, method=long) if each.method == "good" else each for each in comparison.outcomes]
    scenes = [replace(scene, name=scene.name + long) for scene in comparison.scenes]
    outcomes = [replace(each, scene=each.scene + long) for each in outcomes]
    methods = {long if name == "good" else name: own for name, own in comparison.methods.items()}
    file = tmp_path / "long.html"
    page_text = report_page(
        replace(comparison, dataset=long, scenes=scenes, methods=methods, outcomes=outcomes, skipped={long: long})
    )
    file.write_text(page_text, encoding="utf-8")
    page = visit(file, PHONE, is_mobile=True)
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_dark_and_light_follow_the_system(visit, report):
    seen = {}
    for scheme in ("light", "dark"):
        page = visit(report, color_scheme=scheme)
        seen[scheme] = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert seen == {"light": "rgb(255, 255, 255)", "dark": "rgb(20, 23, 26)"}


def test_prints_pictures_and_parameters_but_no_sliders(visit, report):
    page = visit(report, color_scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")
    assert not page.locator(".wipe").first.is_visible()
    assert page.locator(".gallery img").first.is_visible()
    assert page.get_by_text(FAILED, exact=True).is_visible()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert all(page.locator("details").evaluate_all("all => all.map(fold => fold.open)"))


@pytest.mark.parametrize("name", ["auto", "package.module:function_of_somebody"])
def test_the_ranking_of_stereo_fits_on_paper(visit, tmp_path, name):
    """A4 less margins of 1 cm is 718 px wide."""
    own = {"bad_0_5": 88.88, "bad_1": 88.88, "bad_2": 88.88, "bad_4": 88.88, "rmse": 188.888, "coverage": 0.8}
    methods = [name, "stereo-paper+solver", "opencv-sgbm"]
    outcomes = [Outcome("Teddy", m, None, None, {"paper-stereo": own, "proper": own}, 188.88, 18888) for m in methods]
    file = tmp_path / "stereo.html"
    comparison = Comparison("middlebury", ("proper", "bad_1"), [], {m: {} for m in methods}, outcomes)
    file.write_text(report_page(comparison), encoding="utf-8")
    page = visit(file, {"width": 718, "height": 1000})
    page.emulate_media(media="print")
    assert page.evaluate("document.querySelector('.ranking').getBoundingClientRect().right") <= 718
    assert page.evaluate("document.documentElement.scrollWidth") <= 718


def test_shows_its_pictures_without_scripts(visit, report):
    page = visit(report, java_script_enabled=False)
    assert not page.locator(".wipe").first.is_visible()
    assert page.locator(".gallery img").first.is_visible()


def test_runs_nothing_that_a_name_brings(visit, tmp_path):
    comparison = sample_comparison()
    file = tmp_path / "hostile.html"
    scenes = [replace(scene, name=scene.name + HOSTILE) for scene in comparison.scenes]
    outcomes = [
        replace(each, scene=each.scene + HOSTILE, method=each.method + HOSTILE, error=each.error and HOSTILE)
        for each in comparison.outcomes
    ]
    methods = {name + HOSTILE: {HOSTILE: HOSTILE} for name in comparison.methods}
    hostile = replace(
        comparison,
        dataset=HOSTILE,
        scenes=scenes,
        methods=methods,
        outcomes=outcomes,
        skipped={HOSTILE: HOSTILE},
        versions={HOSTILE: HOSTILE},
    )
    file.write_text(report_page(hostile), encoding="utf-8")
    page = visit(file)
    page.mouse.move(*place(page.locator(".stage").first, 0.4, 0.5))
    page.locator(".second").first.select_option(index=3)
    page.locator(".ranking button").nth(1).click()
    assert page.evaluate("typeof hacked") == "undefined"
    assert values(page)["good" + HOSTILE][0] != NOTHING


def test_the_demos_page_wipes_too(visit, tmp_path):
    pictures = {"a.png": "first", "b.png": "second", "c.png": "third"}
    for shade, name in enumerate(pictures):
        (tmp_path / name).write_bytes(encode_png(np.full((20, 40), 50 * shade, np.uint8)))
    file = tmp_path / "index.html"
    file.write_text(wipe_page("demo", "text", pictures, {"error": "1 px"}), encoding="utf-8")
    page = visit(file)
    assert page.locator(".over").get_attribute("src") == "a.png"
    assert page.locator(".under").get_attribute("src") == "c.png"
    page.locator(".second").select_option(label="second")
    assert page.locator(".under").get_attribute("src") == "b.png"
    page.mouse.click(*place(page.locator(".stage"), 0.25, 0.5))
    assert line(page) == pytest.approx(25, abs=0.5)


# ---- many scenes ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def long_report(tmp_path_factory):
    file = tmp_path_factory.mktemp("report") / "long.html"
    file.write_text(report_page(many(60)), encoding="utf-8")
    return file


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE])
def test_a_link_leads_to_its_scene_which_is_made_then(visit, long_report, viewport):
    page = visit(long_report, viewport)
    assert page.locator(".lazy").count() >= 58
    page.locator(".overview a", has_text="s040").click()
    scene = page.locator(".scene", has=page.locator("h3", has_text="s040"))
    scene.locator(".gallery img").first.wait_for()
    for _ in range(100):  # the page scrolls once the scene is laid out
        if -5 <= scene.bounding_box()["y"] <= 40:
            break
        page.wait_for_timeout(50)
    assert -5 <= scene.bounding_box()["y"] <= 40
    page.mouse.move(*place(scene.locator(".stage"), 0.4, 0.5))
    assert scene.locator(".readout tbody td").first.inner_text() != NOTHING
    assert page.locator(".lazy").count() > 40


def test_the_list_of_scenes_sorts_by_any_method(visit, long_report):
    page = visit(long_report)
    for label, step in (("scene", 1), ("scene", -1)):
        page.locator(".overview button", has_text=label).click()
        names = page.locator(".overview tbody th").all_inner_texts()
        assert names == sorted(names)[::step]
    page.locator(".overview button").nth(2).click()
    figures = [float(text) for text in page.locator(".overview tbody td:nth-child(3)").all_inner_texts()]
    assert figures == sorted(figures)
    assert page.locator(".ranking [aria-sort]").count() == 1  # its own order stays
