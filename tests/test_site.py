"""The documentation site: it builds strictly, needs nothing from the net, and works as files in a browser."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import dualpix
from test_app_browser import AXE

pytest.importorskip("mkdocs", reason="mkdocs is not installed: pip install '.[docs]'")
ROOT = Path(__file__).parents[1]
WIDE = ("index", "parameters", "derivations", "api", "scoring", "gallery", "networks", "own-data")
SERIOUS = ("serious", "critical")
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 360, "height": 740}


def build(folder, config=ROOT / "mkdocs.yml"):
    command = [sys.executable, "-m", "mkdocs", "build", "--config-file", config, "--site-dir", folder]
    return subprocess.run(
        command, cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, timeout=120
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_there(site):
    pages = {path.stem for path in ROOT.glob("docs/*.md")} | {"changelog", "security", "contributing", "conduct"}
    pages |= {f"examples/{path.stem}" for path in ROOT.glob("examples/*.py")}
    assert {page for page in pages if not (site / f"{page}.html").is_file()} == set()


def test_examples_can_be_downloaded(site):
    for script in ROOT.glob("examples/*.py"):
        assert f'href="{script.name}"' in (site / f"examples/{script.stem}.html").read_text(encoding="utf-8")
        assert (site / "examples" / script.name).read_bytes() == script.read_bytes()


def test_nothing_comes_from_the_net(site):
    for path in site.rglob("*.html"):
        html = path.read_text(encoding="utf-8")
        loaded = re.findall(r"<(?:script|img|iframe|source)\b[^>]*\bsrc=[\"']?([^\"'\s>]+)", html)
        loaded += re.findall(r"<link\b[^>]*\bhref=[\"']?([^\"'\s>]+)", html)
        assert [address for address in loaded if re.match(r"(https?:)?//", address)] == [], path.name
    for path in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", path.read_text(encoding="utf-8")), path.name


def test_reference_has_every_public_name(site):
    html = (site / "api.html").read_text(encoding="utf-8")
    modules = ("baselines", "filters", "metrics", "render")
    names = [name for name in dualpix.__all__ if name != "__version__" and name not in modules]
    names += [f"{module}.{name}" for module in modules for name in getattr(dualpix, module).__all__]
    assert [name for name in names if f'id="dualpix.{name}"' not in html] == []


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/*.md")), ids=lambda path: path.stem)
def test_site_shows_what_other_readers_of_markdown_show(site, page):
    """The site's reader wants blank lines and indents where that of GitHub does not."""
    if page.stem == "api":
        pytest.skip("filled from docstrings")
    reader = pytest.importorskip("markdown_it").MarkdownIt("commonmark").enable("table")
    theirs, html = reader.render(page.read_text(encoding="utf-8")), (site / f"{page.stem}.html").read_text("utf-8")
    ours = html[html.index("<article") : html.index("</article>")]
    ours = ours.replace('<div class="math">', "<pre>")  # an equation is a block of code elsewhere
    for tag in ("ul", "ol", "li", "table", "tr", "pre", "h2", "h3", "img"):
        assert len(re.findall(f"<{tag}[ >]", ours)) == len(re.findall(f"<{tag}[ >]", theirs)), tag


@pytest.mark.parametrize(
    ("link", "message"),
    [
        ("gone.md", "target is not found"),
        ("method.md#gone", "does not contain an anchor"),
        ("../src", "unrecognized relative link"),
    ],
)
def test_broken_links_fail(tmp_path, link, message):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(f"# Start\n\n[there]({link})\n")
    (tmp_path / "docs/method.md").write_text("# Method\n")
    rules = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    validation = re.search(r"^validation:\n(?:  .*\n)+", rules, re.MULTILINE)[0]
    config = f"site_name: x\nstrict: true\nuse_directory_urls: false\nplugins: []\n{validation}"
    (tmp_path / "mkdocs.yml").write_text(config)
    done = build(tmp_path / "site", tmp_path / "mkdocs.yml")
    assert done.returncode == 1
    assert message in done.stderr


# ---- in a browser --------------------------------------------------------------------------------


@pytest.fixture
def page(browser, request):
    context = browser.new_context(viewport=request.param)
    page = context.new_page()
    page.troubles = []
    page.on("request", lambda asked: asked.url.startswith(("file:", "data:")) or page.troubles.append(asked.url))
    page.on("pageerror", lambda error: page.troubles.append(str(error)))
    yield page
    context.close()


@pytest.mark.parametrize("page", [DESKTOP, PHONE], ids=["desktop", "phone"], indirect=True)
def test_pages_fit_the_screen(site, page):
    for name in (*WIDE, "examples/researcher"):
        page.goto((site / f"{name}.html").as_uri())
        page.wait_for_selector("article h1")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth)"), name
    page.goto((site / "derivations.html").as_uri())
    assert page.locator(".math math").first.bounding_box()["height"] > 10  # drawn, not shown as text
    assert page.troubles == []


@pytest.mark.parametrize(
    ("page", "scheme"),
    [(DESKTOP, "light"), (PHONE, "light"), (DESKTOP, "dark")],
    ids=["desktop", "phone", "dark"],
    indirect=["page"],
)
def test_axe_finds_nothing_serious(site, page, scheme):
    if not AXE.is_file():
        pytest.skip("axe-core is not there: npm pack axe-core, unpacked to .venv/axe-core")
    page.emulate_media(color_scheme=scheme)
    for name in ("index", "parameters", "derivations", "networks", "own-data", "python"):
        page.goto((site / f"{name}.html").as_uri())
        page.wait_for_selector("article h1")
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']}).then(({violations}) => violations)")
        serious = {each["id"]: [node["html"] for node in each["nodes"]] for each in found if each["impact"] in SERIOUS}
        assert serious == {}, name


@pytest.mark.parametrize("page", [DESKTOP], ids=["desktop"], indirect=True)
def test_search_works_without_a_server(site, page):
    page.goto((site / "index.html").as_uri())
    page.click("input.md-search__input")
    page.locator("input.md-search__input").press_sequentially("prior_limit", delay=20)
    page.wait_for_selector(".md-search-result__item")
    assert "Parameters" in page.locator(".md-search-result__list").inner_text()
    assert page.troubles == []
