"""The pictures of docs/scoring.md: the report of three methods on rendered scenes, in Chromium.

    python benchmarks/report_pictures.py -o docs

Writes report-desktop.jpg, the ranking above a scene, and report-phone.jpg. Needs playwright and Chromium.
"""

import argparse
import io
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from dualpix.evaluation.compare import compare
from dualpix.evaluation.datasets import open_dataset
from dualpix.evaluation.methods import method
from dualpix.evaluation.report import report_page
from dualpix.scenes.files import write_scenes

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from app_browser import CHROMIUM, OPTIONS

METHODS = ("auto", "sgm", "opencv-sgbm")
SCENES, SEED, SIZE = 12, 3, (480, 336)
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
WIDEST, QUALITY = 960, 74  # px, of JPEG


def report_of(folder: Path) -> Path:
    """The page of the comparison."""
    write_scenes(folder / "scenes", SCENES, SEED, SIZE)
    scenes = open_dataset("simulated", folder / "scenes")
    result = compare(scenes, [method(name) for name in METHODS], cache=folder / "cache")
    path = folder / "report.html"
    path.write_text(report_page(result), encoding="utf-8")
    return path


def shot(page: Any, selector: str | None = None) -> Image.Image:
    """What the screen shows, from its top or from that of an element on."""
    if selector:
        page.locator(selector).first.evaluate("each => each.scrollIntoView({block: 'start', behavior: 'instant'})")
    page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done, 300)))")
    return Image.open(io.BytesIO(page.screenshot())).convert("RGB")


def joined(parts: list[Image.Image], across: bool) -> Image.Image:
    """Pictures of one size beside or below each other, with a line between them."""
    width, height = parts[0].size
    step = (width + 8, 0) if across else (0, height + 8)
    sheet = Image.new("RGB", (width + step[0], height + step[1]), "#888")
    for i, each in enumerate(parts):
        sheet.paste(each, (i * step[0], i * step[1]))
    return sheet


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the pictures")
    folder = parser.parse_args().output
    with tempfile.TemporaryDirectory() as temp, sync_playwright() as playwright:
        address = report_of(Path(temp)).as_uri()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        for name, viewport in (("desktop", DESKTOP), ("phone", PHONE)):
            page = browser.new_context(viewport=viewport).new_page()
            page.goto(address)
            picture = joined([shot(page), shot(page, ".scene")], across=name == "phone")
            picture.thumbnail((WIDEST, 2 * WIDEST), Image.Resampling.LANCZOS)
            path = folder / f"report-{name}.jpg"
            picture.save(path, quality=QUALITY, optimize=True)
            print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
        browser.close()


if __name__ == "__main__":
    main()
