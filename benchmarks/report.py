"""How large the report of many scenes is, and how long Chromium needs to open it.

    python benchmarks/report.py [--scenes 300] [--methods 3] [--size 96] [-o DIR]

The scenes are drawn here, and the maps are the truth with noise. It prints the size of the page, the time to make it,
and the times until the page is laid out (DOMContentLoaded), loaded, and painted for the first time. With -o it also
writes screenshots of the top, of the list of scenes and of a scene, for a desktop and a phone.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from app_browser import CHROMIUM, OPTIONS
from dualpix.evaluation.metrics import affine_invariant
from dualpix.evaluation.outcomes import Comparison, Outcome, Scene
from dualpix.evaluation.report import report_page

VIEWPORTS = {"desktop": {"width": 1280, "height": 900}, "phone": {"width": 390, "height": 844}}


def drawn(scenes: int, methods: int, side: int) -> Comparison:
    """Scenes with a disc before a slope. Method k has noise of k + 1 percent, and fails once."""
    rng = np.random.default_rng(1)
    shape = (side * 3 // 4, side)
    y, x = np.mgrid[: shape[0], : shape[1]].astype(np.float32) / side
    names = [f"method-{k + 1}" for k in range(methods)]
    made, outcomes = [], []
    for i in range(scenes):
        centre, radius = rng.uniform(0.2, 0.6, 2), rng.uniform(0.1, 0.25)
        disc = (x - centre[0]) ** 2 + (y - centre[1]) ** 2 < radius**2
        truth = np.where(disc, 0.9, 0.6 * y).astype(np.float32)
        texture = rng.integers(0, 255, (*shape, 3), np.uint8) // 3 + (80 * disc + 60)[..., None].astype(np.uint8)
        scene = Scene(f"room{i // 10:02}/shot{i % 10}", texture, texture, None, truth)
        made.append(scene)
        for k, name in enumerate(names):
            if k == methods - 1 and i % 60 == 7:
                outcomes.append(Outcome(scene.name, name, None, None, {}, np.nan, np.nan, "ValueError: no texture"))
                continue
            spread = (0.01 * (k + 1) * rng.uniform(0.7, 1.5) * (1 + 3 * disc)).astype(np.float32)
            d = truth + spread * rng.standard_normal(shape, np.float32)
            scores = vars(affine_invariant(d, truth))
            scores.pop("protocol")
            outcomes.append(Outcome(scene.name, name, d, 0.02 / (0.02 + spread), {"proper": scores}, 0.1, 90))
    return Comparison("drawn", ("proper", "geometric_mean"), made, {name: {} for name in names}, outcomes)


def opened(file: Path, out: Path | None) -> None:
    """Print how long Chromium needs; write screenshots."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        for name, viewport in VIEWPORTS.items():
            page = browser.new_context(viewport=viewport).new_page()
            start = time.perf_counter()
            page.goto(file.as_uri(), timeout=120_000)
            page.evaluate("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")
            whole = time.perf_counter() - start
            ready, load = page.evaluate(
                "(t => [t.domContentLoadedEventEnd, t.loadEventEnd])(performance.getEntriesByType('navigation')[0])"
            )
            paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
            print(
                f"{name}: laid out {ready:.0f} ms, painted {paint:.0f} ms, loaded {load:.0f} ms, usable {whole:.2f} s"
            )
            if out:
                page.screenshot(path=out / f"{name}-top.png")
                page.locator(".overview").scroll_into_view_if_needed()
                page.screenshot(path=out / f"{name}-list.png")
                page.locator(".overview tbody a").nth(120).click()
                page.wait_for_timeout(300)
                page.screenshot(path=out / f"{name}-scene.png")
        browser.close()


def main() -> None:
    """Make the page and open it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--scenes", type=int, default=300)
    parser.add_argument("--methods", type=int, default=3)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("-o", "--output", type=Path)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if given.output:
            given.output.mkdir(parents=True, exist_ok=True)
        file = (given.output or Path(folder)) / "report.html"
        comparison = drawn(given.scenes, given.methods, given.size)
        start = time.perf_counter()
        file.write_text(report_page(comparison), encoding="utf-8")
        print(f"{file.stat().st_size / 1e6:.1f} MB, made in {time.perf_counter() - start:.1f} s")
        opened(file, given.output)


if __name__ == "__main__":
    main()
