"""The page of a comparison: what it says, what it shows, and that its pictures hold the values."""

import inspect
import json
import math
import pickle
import re
from base64 import b64decode
from dataclasses import replace
from html.parser import HTMLParser

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dualpix.evaluation.metrics import ause
from dualpix.evaluation.metrics.pixels import near_edges
from dualpix.evaluation.outcomes import Comparison, Outcome, Scene
from dualpix.evaluation.report import report_page
from dualpix.evaluation.report._curves import DROPPED, curve
from dualpix.evaluation.report._looks import COARSE, SIGNED, fitted, look_at
from dualpix.evaluation.report._pictures import STEPS, Scale, painted, ramp, shrunk
from dualpix.evaluation.report._ranking import NOTHING
from dualpix.evaluation.report._scenes import _spread
from dualpix.evaluation.samples import SMALLEST, fit_into, sampled
from dualpix.io import preview
from dualpix.render.pages import Html, element, wipe_page

FAILED = "needs views of one size"
SKIPPED = "012_right.png is not there: put it beside 012_left.png"
HOSTILE = "</script><script>hacked=1</script>\"'onclick=hacked=1 x=<img src=x onerror=hacked=1>&amp;"


def sample_comparison(shape=(45, 60), in_pixels=False):
    """Two scenes; method "good" is best, "plain" has no confidence and has holes, "bad" fails on the second scene."""
    rng = np.random.default_rng(5)
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32)
    scenes, outcomes = [], []
    for k, name in enumerate(("005", "007")):
        truth = np.where(x > shape[1] / 2, 0.8, y / (2 * shape[0])).astype(np.float32)
        noise = rng.standard_normal(shape).astype(np.float32)
        truth[:, -3:] = np.nan
        photo = rng.integers(0, 256, (*shape, 3), np.uint8)
        scenes.append(Scene(name, photo, photo, None, truth, in_pixels=in_pixels))
        scale = 1 if in_pixels else 4
        good, plain, bad = (scale * (truth + share * noise) - (scale - 1) for share in (0.01, 0.03, 0.1))
        plain[:5, :5] = np.nan
        confidence = 1 / (1 + np.abs(noise))
        outcomes += [
            Outcome(name, "plain", plain, None, scores(0.3 + k / 10), 0.5, 50),
            Outcome(name, "good", good, confidence, scores(0.1 + k / 10), 2, 200 + k),
            Outcome(name, "bad", bad, confidence / 2, scores(0.2), 1, 100)
            if k == 0
            else Outcome(name, "bad", None, None, {}, math.nan, math.nan, FAILED),
        ]
    methods = {"bad": {"window": 5, "range": [-3, 3]}, "plain": {}, "good": {"cost": "ncc"}}
    measure = ("proper", "geometric_mean")
    return Comparison("pixel4", measure, scenes, methods, outcomes, {"012": SKIPPED}, {"dualpix": "0.1.0"})


def scores(value):
    own = {"ai1": value / 2, "geometric_mean": value, "coverage": 0.98}
    return {"paper-dslr": {"ai1": value, "geometric_mean": 2 * value, "coverage": 0.98}, "proper": own}


class Page(HTMLParser):
    """All elements of a page, and whether they are closed as they were opened."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.text = [], [], {}
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        assert len(dict(attributes)) == len(attributes), "an attribute twice"
        if tag not in ("img", "input", "link", "meta"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.setdefault(self.open[-1] if self.open else "", []).append(data)

    def all(self, tag, **wanted):
        own = [attributes for name, attributes in self.elements if name == tag]
        return [each for each in own if all(each.get(key) == value for key, value in wanted.items())]


@pytest.fixture(scope="module")
def text():
    return report_page(sample_comparison())


@pytest.fixture(scope="module")
def page(text):
    return Page(text)


def table(text, name):
    """Rows of the body of a table, as texts of the cells without markup."""
    body = re.search(rf'<table class="{name}[^"]*">.*?<tbody>(.*?)</tbody>', text).group(1)
    rows = re.findall("<tr>(.*?)</tr>", body)
    return [re.findall(r"<t[hd].*?>(.*?)</t[hd]>", row) for row in rows]


# ---- the page ------------------------------------------------------------------------------------


def test_needs_nothing_but_itself(page):
    addresses = [a.get("src", a.get("href")) for _, a in page.elements if "src" in a or "href" in a]
    assert len(addresses) > 10
    assert all(address.startswith(("data:", "#")) for address in addresses)
    style = "".join(page.text["style"])
    assert "url(" not in style
    assert "@import" not in style
    assert page.all("meta", **{"http-equiv": "Content-Security-Policy"})[0]["content"].startswith("default-src 'none'")


def test_names_what_was_compared(text):
    assert "<title>Comparison on pixel4</title>" in text
    assert "3 methods on 2 scenes, ranked by geometric mean (protocol proper)" in text
    assert all(f"<h3>{name}</h3>" in text for name in ("005", "007"))


def test_is_the_same_each_time(text):
    assert report_page(sample_comparison()) == text


def test_ids_are_unique_and_meant_by_the_cells_that_show_values(page):
    ids = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    shown = {each["data-of"] for each in page.all("td") if "data-of" in each}
    readable = {each["id"] for each in page.all("img") if "data-low" in each}
    assert shown == readable
    options = {each["value"] for each in page.all("option")}
    assert options == {each["id"] for each in page.all("img") if "id" in each}


def test_pictures_have_texts(page):
    shown = [each for each in page.all("img") if "src" in each]
    assert all(each["alt"] for each in shown)
    assert "good error, scene 007" in {each["alt"] for each in shown}


def test_escapes_every_name():
    plain = sample_comparison()
    name = {"good": HOSTILE, "005": HOSTILE}
    page = Page(
        report_page(
            Comparison(
                HOSTILE,
                (HOSTILE, HOSTILE),
                [replace(scene, name=name.get(scene.name, scene.name)) for scene in plain.scenes],
                {name.get(method, method): {HOSTILE: HOSTILE} for method in plain.methods},
                [
                    replace(
                        each,
                        scene=name.get(each.scene, each.scene),
                        method=name.get(each.method, each.method),
                        scores={HOSTILE: {HOSTILE: 0.5}},
                        error=each.error and HOSTILE,
                    )
                    for each in plain.outcomes
                ],
                {HOSTILE: HOSTILE},
                {HOSTILE: HOSTILE},
            )
        )
    )
    assert len(page.all("script")) == 1
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    assert all("src" not in each or each["src"].startswith("data:") for each in page.all("img"))
    assert page.text["title"][0] == f"Comparison on {HOSTILE}"
    for tag in ("h3", "h4", "summary", "option", "button", "a", "b"):
        assert any(HOSTILE in said for said in page.text[tag]), tag


def test_the_demos_page_escapes_too():
    page = Page(wipe_page(HOSTILE, HOSTILE, dict.fromkeys("abc", HOSTILE), {HOSTILE: HOSTILE}))
    assert len(page.all("script")) == 1
    assert not [key for _, attributes in page.elements for key in attributes if key.startswith("on")]
    assert all(page.text[tag][0] == HOSTILE for tag in ("title", "h1", "option", "th", "td"))


def test_only_markup_is_not_escaped():
    assert element("p", "<b>", Html("<b>x</b>"), title='"', data_of=None, hidden=True, class_="a") == (
        '<p title="&quot;" hidden class="a">&lt;b&gt;<b>x</b></p>'
    )


# ---- the table -----------------------------------------------------------------------------------


def test_methods_without_all_maps_stand_last():
    comparison = sample_comparison()
    assert comparison.mean("bad", "proper", "geometric_mean") < comparison.mean("plain", "proper", "geometric_mean")
    assert comparison.ranked() == ["good", "plain", "bad"]


def test_methods_without_any_score_stand_behind_their_equals():
    comparison = sample_comparison()
    outcomes = [replace(each, scores={}) if each.method == "good" else each for each in comparison.outcomes]
    assert replace(comparison, outcomes=outcomes).ranked() == ["plain", "good", "bad"]


def covering(comparison, method, share):
    """With maps of that method that cover no more."""

    def less(each):
        return {protocol: own | {"coverage": share} for protocol, own in each.scores.items()}

    own = [replace(each, scores=less(each)) if each.method == method else each for each in comparison.outcomes]
    return replace(comparison, outcomes=own)


@pytest.mark.parametrize(("share", "ranked"), [(0.94, ["plain", "good", "bad"]), (0.95, ["good", "plain", "bad"])])
def test_methods_that_cover_little_stand_behind_and_are_marked(share, ranked):
    comparison = covering(sample_comparison(), "good", share)
    text = report_page(comparison)
    assert comparison.ranked() == [row[1].partition("<")[0] for row in table(text, "ranking")] == ranked
    row = table(text, "ranking")[ranked.index("good")]
    if share < 0.95:
        assert row[1] == "good<small>scored on what it covers</small>"
        assert "<b>" not in "".join(row)
        assert "A method so marked covers less than 95 % of the truth: scored on what it covers, ranked" in text
        assert table(text, "ranking")[0][2].startswith("<b>0.3500</b>")
    else:
        assert "what it covers" not in text
        assert row[2].startswith("<b>0.1500</b>")


def test_bad_pixels_count_what_is_not_covered_but_the_rmse_does_not():
    own = {"rmse": 1.0, "bad_1": 5.0, "coverage": 0.5}
    outcomes = [
        Outcome("s", "few", None, None, {"proper": own}, 1, 1),
        Outcome("s", "all", None, None, {"proper": {"rmse": 2.0, "bad_1": 9.0, "coverage": 1.0}}, 1, 1),
    ]
    comparison = Comparison("middlebury", ("proper", "bad_1"), [], {"all": {}, "few": {}}, outcomes)
    few, every = table(report_page(comparison), "ranking")
    assert few[1] == "few<small>RMSE scored on what it covers</small>"
    assert few[2] == "<b>5.00</b>"
    assert few[4].startswith("1.000<")
    assert every[4].startswith("<b>2.000</b><")


def test_lower_is_better_is_not_said_of_the_coverage(text):
    assert "ranked by geometric mean (protocol proper), the lower the better; averaged over the scenes." in text
    assert "lower is better" not in text


def test_very_large_figures_stay_short():
    comparison = sample_comparison()
    wild = [replace(each, scores={"proper": {"geometric_mean": 1.5e20}}) for each in comparison.outcomes]
    assert table(report_page(replace(comparison, outcomes=wild)), "ranking")[0][2].startswith("<b>1.5e+20</b>")


def test_the_table_holds_means_and_medians_of_both_protocols_and_the_cost(text):
    heads = re.findall(r"<button.*?>(.*?)</button>", text.partition("</table>")[0])
    assert heads[:7] == ["#", "method", "geometric mean", "its median", "AI(1)", "AI(1)", "geometric mean"]
    assert heads[7:] == ["coverage, %", "time, s", "peak memory, MB", "scenes"]
    assert re.findall('scope="colgroup">(.*?)<', text) == ["proper", "paper-dslr", ""]
    good, plain, bad = table(text, "ranking")
    assert good[:4] == ["1", "good", "<b>0.1500</b><small>[0.1000, 0.2000]</small>", "<b>0.1500</b>"]
    assert good[4:7] == [f"<b>{mean}</b><small><b>{mean}</b></small>" for mean in ("0.0750", "0.1500", "0.3000")]
    assert good[7:] == ["<b>98.0</b>", "2.00", "201", "2"]
    assert plain[2:4] == ["0.3500<small>[0.3000, 0.4000]</small>", "0.3500"]
    assert plain[-3:-1] == ["<b>0.50</b>", "<b>50</b>"]
    assert bad[1:4] == ["bad", "0.2000", "0.2000"]
    assert bad[-1] == "1"


def test_medians_are_not_means():
    comparison = sample_comparison()
    third = replace(comparison.scenes[0], name="010")
    outcome = replace(comparison.outcomes[1], scene="010", scores=scores(0.6))
    text = report_page(
        replace(comparison, scenes=[*comparison.scenes, third], outcomes=[*comparison.outcomes, outcome])
    )
    assert [each.partition("<small>")[0] for each in table(text, "ranking")[0][2:4]] == [
        "<b>0.3000</b>",
        "<b>0.2000</b>",
    ]


def test_says_what_is_missing(text):
    assert f"<b>012</b> was left out: {SKIPPED}" in text
    assert f"<b>bad</b> failed on <b>007</b>: {FAILED}" in text
    assert f'<h4>bad</h4><p class="failed">{FAILED}</p>' in text
    assert text.count("no confidence") == 2


def test_a_method_that_did_not_run_is_told():
    comparison = sample_comparison()
    text = report_page(replace(comparison, outcomes=comparison.outcomes[:3]))
    assert text.count('<p class="failed">not run</p>') == 3


def test_says_nothing_is_missing_by_saying_nothing():
    comparison = sample_comparison()
    text = report_page(replace(comparison, skipped={}, outcomes=comparison.outcomes[:5]))
    assert "What is missing" not in text


def test_parameters_and_versions_are_there(page):
    records = [json.loads(each) for each in page.text["pre"]]
    assert records == [{"cost": "ncc"}, {}, {"window": 5, "range": [-3, 3]}, {"dualpix": "0.1.0"}]
    assert page.text["summary"] == ["good", "plain", "bad", "versions"]


@pytest.mark.parametrize("left", [0, 3])
def test_pages_of_next_to_nothing(left):
    comparison = sample_comparison()
    outcomes = [replace(each, disparity=None, error=FAILED) for each in comparison.outcomes[:left]]
    text = report_page(replace(comparison, scenes=comparison.scenes[: left // 3], outcomes=outcomes))
    Page(text)
    assert text.count(f'<p class="failed">{FAILED}</p>') == left
    assert report_page(Comparison("dslr", ("proper", "ai1"), [], {}, []))


# ---- the pictures --------------------------------------------------------------------------------


def decoded(png):
    return cv2.imdecode(np.frombuffer(png, np.uint8), cv2.IMREAD_COLOR)[..., ::-1]


def read_off(png, scale):
    """The values that colours stand for, NaN where grey."""
    colours, pixels = decoded(ramp(scale.colours))[0].astype(int), decoded(png).astype(int)
    distance = np.abs(pixels[:, :, None] - colours).sum(axis=-1)
    values = scale.low + distance.argmin(axis=-1) / STEPS * (scale.high - scale.low)
    return np.where((pixels == 128).all(axis=-1), np.nan, values)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (9, 1), (13, 17)])
@pytest.mark.parametrize(
    ("steps", "colours"), [(STEPS, "plain"), (COARSE, "sure"), (STEPS, "sure"), (STEPS, "signed"), (SIGNED, "signed")]
)
def test_values_can_be_read_off_the_colours(shape, steps, colours):
    scale = Scale(-2.5, 4, steps, colours)
    values = np.random.default_rng(1).uniform(-4, 6, shape).astype(np.float32)
    values.flat[:: max(2, values.size // 5)] = np.nan
    found = read_off(painted(values, scale), scale)
    np.testing.assert_allclose(found, np.clip(values, -2.5, 4), atol=1.001 * 6.5 / steps / 2)
    assert len(np.unique(found[np.isfinite(found)])) <= steps + 1


def test_the_colours_are_those_of_previews():
    values = np.arange(STEPS + 1, dtype=np.float32)[None].repeat(2, axis=0)
    assert (decoded(painted(values, Scale(0, STEPS))) == preview(values, 0, STEPS)[:2, : STEPS + 1]).all()
    assert len(np.unique(decoded(ramp())[0], axis=0)) == STEPS + 1


def test_errors_are_blue_below_0_white_at_0_and_red_above():
    scale = Scale(-1, 1, SIGNED, "signed")
    errors = np.array([[-9, -1, -0.2, -0.01, 0, 0.01, 0.2, 1, 9, np.nan]], np.float32)
    below, low, bluish, *white, reddish, high, above, unknown = decoded(painted(errors, scale))[0].astype(int)
    assert (below == low).all()
    assert (above == high).all()
    assert (np.array(white) == 247).all()
    assert bluish[2] > bluish[0] + 30
    assert reddish[0] > reddish[2] + 30
    for name in ("signed", "sure"):
        colours = decoded(ramp(name))[0].astype(int)
        assert len(np.unique(colours, axis=0)) == STEPS + 1
        assert np.abs(colours - unknown).sum(axis=1).min() > 60  # what the script takes for grey


def test_bad_and_sure_have_no_colour_in_common():
    """Errors become red or blue. Confidences have neither colour, and are white where errors are: at their best."""
    errors, sure = (decoded(ramp(name))[0].astype(int) for name in ("signed", "sure"))
    assert (sure[-1] == errors[STEPS // 2]).all()
    assert (sure[:, 0] <= np.maximum(sure[:, 1], 40)).all()  # never more red than green
    bad = np.concatenate([errors[: STEPS // 4], errors[-STEPS // 4 :]])
    assert np.abs(bad[:, None] - sure[len(sure) // 2 :]).sum(axis=-1).min() > 60


@given(st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 700))
def test_pictures_fit_and_are_never_enlarged(height, width, side):
    fit = fit_into((height, width, 3), side)
    assert all(1 <= small <= min(side, whole) for small, whole in zip(fit, (height, width), strict=True))
    assert max(fit) == min(side, max(height, width))


def test_maps_are_reduced_to_single_pixels():
    values = np.arange(35, dtype=np.float32).reshape(5, 7)
    values[2, 1] = np.inf
    assert sampled(values, (5, 7))[2, 1] != np.inf
    np.testing.assert_array_equal(sampled(values, (2, 3)), [[8, 10, 12], [22, 24, 26]])
    np.testing.assert_array_equal(sampled(values, (1, 1)), [[17]])


@pytest.mark.parametrize(("dtype", "white"), [(np.uint8, 255), (np.uint16, 65535), (np.float32, 1)])
def test_photographs_of_all_kinds_become_8_bit(dtype, white):
    image = np.zeros((4, 8, 3), dtype)
    image[:, 4:] = white
    np.testing.assert_array_equal(shrunk(image, (1, 2)), [[[0] * 3, [255] * 3]])
    assert shrunk(image[..., 0], (2, 2)).tolist() == [[0, 255]] * 2


def test_maps_are_fitted_to_the_truth_by_weighted_least_squares():
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal((2, 11, 13)).astype(np.float32)
    w = rng.uniform(0, 2, x.shape).astype(np.float32)
    x[3], y[:, 4], w[5] = np.nan, np.nan, 0
    valid = np.isfinite(x) & np.isfinite(y)
    root = np.sqrt(w[valid])
    a, b = np.linalg.lstsq(np.stack([x[valid] * root, root], 1), y[valid] * root, rcond=None)[0]
    np.testing.assert_allclose(fitted(x, y, w), a * x + b, atol=1e-5)


def test_maps_that_cannot_be_fitted():
    x, y, w = np.full((2, 3), 7, np.float32), np.arange(6, dtype=np.float32).reshape(2, 3), np.ones((2, 3), np.float32)
    np.testing.assert_array_equal(fitted(x, y, w), np.full((2, 3), 2.5))
    assert np.isnan(fitted(x, y, 0 * w)).all()


def test_relative_maps_are_shown_in_the_truths_unit_and_pixels_as_they_are(text):
    relative, exact = sample_comparison(), sample_comparison(in_pixels=True)
    look = look_at(relative, relative.scenes[0])
    assert np.nanmax(look.maps["good"].error) < 0.1
    assert np.nanmax(np.abs(relative.outcomes[1].disparity - relative.scenes[0].truth)) > 1
    assert "fitted to it" in text
    look = look_at(exact, exact.scenes[0])
    np.testing.assert_array_equal(look.maps["bad"].values, exact.outcomes[2].disparity)
    page = report_page(exact)
    assert "fitted to" not in page
    assert "value, px" in page


def test_errors_are_signed_and_share_their_scale_in_all_scenes(page):
    relative, exact = sample_comparison(), sample_comparison(in_pixels=True)
    for comparison, largest in ((relative, 0.1), (exact, 1)):
        look = look_at(comparison, comparison.scenes[0])
        assert look.error_scale == Scale(-largest, largest, SIGNED, "signed")
        maps = look.maps["bad"]
        np.testing.assert_array_equal(maps.error, maps.values - look.truth)
        assert np.nanmin(maps.error) < 0 < np.nanmax(maps.error)
    ends = {(each["data-low"], each["data-high"]) for each in page.all("img") if each.get("data-ramp") == "signed"}
    assert ends == {("-0.1", "0.1")}
    assert page.text["div"].count("error (+: too near)") == 2


def with_pixel_scores(comparison):
    """As of simulated: "plain" has no confidence, and scene 007 has no edges."""

    def own(each):
        if each.error is not None:
            return {}
        scores = {"mae": 0.5, "bad_0_25": 40.0, "bad_1": 9.0, "smooth": 0.25, "edges": 0.75, "bump": 3.0}
        scores |= {"ause": 0.375, "gain": 0.5, "coverage": 1.0}
        left_out = ("ause",) * (each.method == "plain") + ("edges",) * (each.scene == "007")
        return {"proper": {name: value for name, value in scores.items() if name not in left_out}}

    outcomes = [replace(each, scores=own(each)) for each in comparison.outcomes]
    return replace(comparison, dataset="simulated", measure=("proper", "mae"), outcomes=outcomes)


def test_maps_are_shown_with_the_gain_they_are_scored_with():
    comparison = with_pixel_scores(sample_comparison(in_pixels=True))
    look = look_at(comparison, comparison.scenes[0])
    np.testing.assert_allclose(look.maps["bad"].values, comparison.outcomes[2].disparity / 2)
    assert "Each map was multiplied by its gain" in report_page(comparison)


def with_plain_spaces(text):
    return text.replace("\N{NO-BREAK SPACE}", " ")


def test_the_error_is_split_into_edges_and_the_rest():
    text = with_plain_spaces(report_page(with_pixel_scores(sample_comparison(in_pixels=True))))
    assert "<h4>good <small>mean error 0.500 px, smooth 0.250 px, edges 0.750 px, 2.00 s, 200 MB</small></h4>" in text
    assert "<h4>good <small>mean error 0.500 px, smooth 0.250 px, 2.00 s, 201 MB</small></h4>" in text
    assert "ranked by mean error (protocol proper)" in text
    heads = re.findall(r"<button.*?>(.*?)</button>", text)
    assert heads[2:8] == ["mean error, px", "its median", "bad 0.25 px, %", "bad 1 px, %", "smooth, px", "edges, px"]
    assert heads[8:11] == ["bump, px/100", "AUSE", "gain"]
    assert "smooth: mean error away from depth edges; edges: mean error within 10 px of them; bump: " in text
    plain, good, _ = table(text, "ranking")
    assert plain[9] == f"{NOTHING}<small>{NOTHING}</small>"
    assert good[10] == "0.500<small>0.500</small>"  # no gain is best


def test_a_set_in_pixels_without_that_score_is_split_by_what_is_shown():
    comparison = sample_comparison(in_pixels=True)
    look = look_at(comparison, comparison.scenes[0])
    error, near = np.abs(look.maps["good"].error), near_edges(look.truth)
    assert near.any()
    assert not near.all()
    smooth, edges = (np.nanmean(error[part]) for part in (~near, near))
    split = f"smooth {smooth:.3f} px, edges {edges:.3f} px"
    assert f"<h4>good <small>geometric mean 0.1000, {split}, 2.00 s, 200 MB</small>" in with_plain_spaces(
        report_page(comparison)
    )
    relative = with_plain_spaces(report_page(sample_comparison()))
    assert "<h4>good <small>geometric mean 0.1000, 2.00 s, 200 MB</small>" in relative


def test_all_maps_of_a_scene_share_their_scale(page):
    for kind in ("good", "plain", "ground truth"):
        same = page.all("img", alt=f"{kind}, scene 005")
        assert [each["data-low"] for each in same] == [page.all("img", alt="bad, scene 005")[0]["data-low"]]
    low, high = (float(page.all("img", alt="ground truth, scene 005")[0][f"data-{end}"]) for end in ("low", "high"))
    assert low < 0.01
    assert high > 0.8


def test_pictures_of_the_page_hold_the_maps(page):
    comparison = sample_comparison()
    look = look_at(comparison, comparison.scenes[1])
    for text, values, steps in (
        ("ground truth", look.truth, STEPS),
        ("good", look.maps["good"].values, STEPS),
        ("plain error", look.maps["plain"].error, SIGNED),
        ("good confidence", look.maps["good"].confidence, COARSE),
    ):
        image = page.all("img", alt=f"{text}, scene 007")[0]
        assert image["data-ramp"] == {SIGNED: "signed", COARSE: "sure"}.get(steps, "plain")
        scale = Scale(float(image["data-low"]), float(image["data-high"]), steps, image["data-ramp"])
        found = read_off(b64decode(image["src"].split(",")[1]), scale)
        half = 0.501 * (scale.high - scale.low) / steps
        np.testing.assert_allclose(found, np.clip(values, scale.low, scale.high), atol=half)


def test_scales_of_perfect_and_of_unknown_maps():
    comparison = sample_comparison(in_pixels=True)
    scene, outcome = comparison.scenes[0], comparison.outcomes[1]
    perfect = replace(comparison, scenes=[scene], outcomes=[replace(outcome, disparity=scene.truth)])
    for truth in (np.full_like(scene.truth, np.nan), np.full_like(scene.truth, 0.5)):
        unknown = replace(scene, truth=truth)
        assert look_at(perfect, unknown).values_scale.low < look_at(perfect, unknown).values_scale.high
        Page(report_page(replace(perfect, scenes=[unknown])))


@pytest.mark.parametrize(("low", "high", "digits"), [(0, 1, 3), (-10, 40, 1), (0, 900, 0), (0.2, 0.2005, 6)])
def test_a_step_shows_in_the_digits(low, high, digits):
    assert Scale(low, high).digits == digits


def test_20_large_scenes_stay_under_15_mb():
    """15 MP each, of noise, which hardly compresses; views of few arrays, so that they fit into memory.

    All pixels are shown, but few count for the curves, which take long.
    """
    rng = np.random.default_rng(0)
    noise = rng.random((3400, 4500), np.float32)
    photo = rng.integers(0, 256, (3354, 4472), np.uint8)
    maps = [noise[i : i + 3354, i : i + 4472] for i in range(6)]
    weight = np.zeros_like(maps[5])
    weight[:100] = 1
    names, methods = [f"{i:03}" for i in range(20)], [f"method {i}" for i in range(5)]
    scenes = [Scene(name, photo, photo, None, maps[5], in_pixels=True, weight=weight) for name in names]
    outcomes = [Outcome(name, methods[i], maps[i], maps[4 - i], {}, 1, 1) for name in names for i in range(5)]
    text = report_page(Comparison("dslr", ("proper", "ai1"), scenes, {name: {} for name in methods}, outcomes))
    assert 5e6 < len(text.encode()) < 15e6
    assert min(int(width) for width in re.findall(r'<img[^>]* width="(\d+)"', text)) >= SMALLEST


def test_one_large_scene_keeps_its_size():
    comparison = sample_comparison((960, 1280))
    assert 'width="640" height="480"' in report_page(replace(comparison, scenes=comparison.scenes[:1]))


# ---- what confidences are worth ------------------------------------------------------------------


def test_curves_are_weighted_means_of_what_is_left():
    rng = np.random.default_rng(3)
    error, weight = rng.uniform(0, 1, (2, 40, 50)).astype(np.float32)
    confidence = rng.integers(0, 20, error.shape).astype(np.float32) / 20  # many are equal
    error[:5], weight[7], confidence[9] = np.nan, 0, np.nan
    counted = np.isfinite(error) & (weight > 0)
    e, w, c = error[counted], weight[counted], np.nan_to_num(confidence[counted])
    wanted = []
    for percent in DROPPED:
        limit = np.sort(c)[percent * c.size // 100]
        wanted.append(np.average(e[c >= limit], weights=w[c >= limit]))
    np.testing.assert_allclose(curve(error, confidence, weight), wanted, rtol=1e-5)


def test_curves_fall_to_nothing_if_the_confidence_knows_and_stay_if_it_does_not():
    error, ones = np.linspace(0, 1, 1000, dtype=np.float32)[None], np.ones((1, 1000), np.float32)
    known = curve(error, 1 - error, ones)
    assert known == pytest.approx([(1 - percent / 100) / 2 for percent in DROPPED], abs=1e-3)
    assert curve(error, ones, ones) == pytest.approx([0.5] * len(DROPPED))
    assert curve(error * np.nan, ones, ones) is None


def test_curves_are_of_the_methods_that_tell_their_confidence(text):
    assert re.findall("<polyline.*?<title>(.*?)</title>", text) == ["good, oracle", "bad, oracle", "good", "bad"]
    comparison = sample_comparison()
    silent = [replace(each, confidence=None) for each in comparison.outcomes]
    assert "<svg" not in report_page(replace(comparison, outcomes=silent))


def test_more_curves_than_colours_differ_in_their_dashes():
    comparison = sample_comparison()
    good = comparison.outcomes[1]
    names = [f"method {i}" for i in range(10)]
    outcomes = [replace(good, method=name) for name in names]
    text = report_page(
        replace(comparison, scenes=comparison.scenes[:1], methods={name: {} for name in names}, outcomes=outcomes)
    )
    styles = re.findall(r'<polyline points="[^"]*" class="(.*?)"', text)
    assert len({style for style in styles if "oracle" not in style}) == 10


def test_the_oracle_is_below_every_curve_and_ause_is_the_area_between():
    comparison = sample_comparison()
    look = look_at(comparison, comparison.scenes[0])
    maps = look.maps["bad"]
    error = np.abs(maps.error)
    own, oracle = (np.array(curve(error, order, look.weight)) for order in (maps.confidence, -error))
    assert (oracle <= own + 1e-9).all()
    assert oracle[0] == own[0]
    known = np.isfinite(error)
    wanted = ause(error[known], maps.confidence[known])
    text = report_page(comparison)
    assert re.findall(r"<th[^>]*><span[^>]*></span>bad</th>(.*?)</tr>", text)[0].endswith(f"<td>{wanted:.3f}</td>")
    scored = report_page(with_pixel_scores(sample_comparison(in_pixels=True)))
    assert re.findall(r"<th[^>]*><span[^>]*></span>bad</th>(.*?)</tr>", scored)[0].endswith("<td>0.375</td>")


# ---- many scenes ---------------------------------------------------------------------------------


def many(scenes, shape=(30, 40), methods=("a", "b", "c")):
    """Method a is clearly the best, b and c are equal on average."""
    rng = np.random.default_rng(4)
    made, outcomes = [], []
    for i in range(scenes):
        truth = rng.random(shape, np.float32)
        photo = rng.integers(0, 256, (*shape, 3), np.uint8)
        made.append(Scene(f"s{i:03}", photo, photo, None, truth))
        for k, name in enumerate(methods):
            value = 0.1 if k == 0 else 0.3 + 0.01 * (-1) ** (k + i) * (1 + i / scenes)
            d = truth + 0.1 * k * rng.standard_normal(shape, np.float32)
            outcomes.append(Outcome(made[-1].name, name, d, d, scores(value + 0.001 * rng.random()), 1, 1))
    return Comparison("many", ("proper", "geometric_mean"), made, {name: {} for name in methods}, outcomes)


def test_medals_only_where_a_difference_is_significant():
    rows = table(report_page(many(20)), "ranking")
    assert rows[0][0].startswith('<span class="medal gold"')
    assert [row[0] for row in rows[1:]] == ["2", "3"]
    few = report_page(many(4))
    assert "medal gold" not in few
    assert "With 4 scenes no difference can be significant: that takes 7." in few
    assert "Which differences" not in report_page(replace(many(4), methods={"a": {}}))


def test_scenes_of_a_long_report_are_made_when_they_are_seen():
    short, long = report_page(many(20)), report_page(many(21))
    assert "<template>" not in short
    assert long.count("<template>") == long.count('class="scene lazy"') == 21
    assert len(table(long, "overview")) == 21


def test_many_scenes_stay_under_15_mb():
    """Of noise, which hardly compresses: some have no pictures, and the page says how many."""
    text = report_page(many(150, (120, 160), ("a", "b")))
    assert 10e6 < len(text.encode()) < 15e6
    shown = text.count("<template>")
    assert 50 < shown < 150
    assert f"no room for the pictures of {150 - shown} of them" in text
    assert len(table(text, "overview")) == 150
    assert text.count('href="#scene-') == shown


def test_the_scenes_with_pictures_span_all():
    order = _spread(300)
    assert sorted(order) == list(range(300))
    gaps = np.diff(sorted([*order[:30], 300]))
    assert gaps.max() <= 20


def test_equal_failures_stand_once():
    comparison = sample_comparison()
    lost = [
        replace(each, disparity=None, error=FAILED) if each.method == "bad" else each for each in comparison.outcomes
    ]
    text = report_page(replace(comparison, outcomes=lost))
    assert f"<b>bad</b> failed on <b>2 scenes (005, 007)</b>: {FAILED}" in text


def test_a_look_has_no_lock():
    """A lock that another thread holds while a process forks is held for ever in the new process."""
    comparison = sample_comparison()
    assert pickle.loads(pickle.dumps(look_at(comparison, comparison.scenes[0]))).scene.name == "005"
    assert "cached_property" not in inspect.getsource(inspect.getmodule(look_at))
