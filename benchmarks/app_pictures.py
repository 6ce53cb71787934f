"""The pictures of docs/app.md: the app in Chromium, with its own sample shot.

    python benchmarks/app_pictures.py -o docs

Writes app-desktop.jpg, app-phone.jpg, and app.webp, which moves: wipe, clicks, aperture, mask. Needs playwright and
Chromium.
"""

import argparse
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from app_browser import CHROMIUM, OPTIONS, click, has_map, on_screen, running_app, settled

DESKTOP, PHONE, MOVING = (1280, 800), (360, 740), (1040, 640)
SMALL = 780, 480  # px of the moving picture
STEP = 80  # ms a frame
NEAR, MIDDLE, FAR, RIGHT = (60, 380), (260, 345), (560, 60), (640, 430)  # px of the sample
ARROW = [(0, 0), (0, 17), (4, 13), (7, 20), (10, 19), (7, 12), (12, 12)]

Page = Any


class Film:
    """Frames and how long each is shown, with a pointer that moves between them."""

    def __init__(self, page: Page) -> None:
        self.page, self.pointer = page, (500.0, 560.0)
        self.frames: list[Image.Image] = []
        self.times: list[int] = []

    def keep(self, milliseconds: int = STEP) -> None:
        """Take what is on the screen."""
        settled(self.page)
        frame = Image.open(io.BytesIO(self.page.screenshot())).convert("RGB")
        ImageDraw.Draw(frame).polygon(
            [(self.pointer[0] + x, self.pointer[1] + y) for x, y in ARROW], fill="white", outline="black"
        )
        self.frames.append(frame.resize(SMALL, Image.Resampling.LANCZOS))
        self.times.append(milliseconds)

    def move(self, to: tuple[float, float], steps: int = 6) -> None:
        """Move the pointer."""
        start = self.pointer
        for at in range(1, steps + 1):
            part = at / steps
            self.pointer = start[0] + part * (to[0] - start[0]), start[1] + part * (to[1] - start[1])
            self.page.mouse.move(*self.pointer)
            self.keep()

    def press(self, selector: str, hold: int) -> None:
        """Go to a control and click it."""
        box = self.page.locator(selector).bounding_box()
        self.move((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
        self.page.locator(selector).click()
        self.keep(hold)

    def focus(self, point: tuple[int, int], hold: int) -> None:
        """Go to a pixel of the photo and click it."""
        self.move(tuple(on_screen(self.page, *point)))
        click(self.page, *point)
        self.keep(hold)

    def slide(self, values: Iterator[float] | list[float], set_value: Callable[[float], None]) -> None:
        for value in values:
            set_value(value)
            self.keep()

    def write(self, path: Path) -> None:
        first, *rest = self.frames
        first.save(path, save_all=True, append_images=rest, duration=self.times, loop=0, quality=62, method=6)


def play(film: Film) -> None:
    """Wipe, click four times, open the aperture, mask: about 20 s."""
    page = film.page
    film.keep(1200)
    line = [0.5 + 0.06 * at for at in range(1, 7)] + [0.86 - 0.09 * at for at in range(1, 9)] + [0.3, 0.5]
    film.slide(line, lambda share: page.evaluate("share => Stage.setLine(share)", share))
    film.press("#tab-focus", 500)
    for point in (MIDDLE, FAR, NEAR, RIGHT, MIDDLE):
        film.focus(point, 1400)
    box = page.locator("#aperture").bounding_box()

    def open_to(value: float) -> None:
        film.pointer = box["x"] + 8 + (value + 1) / 6 * (box["width"] - 16), box["y"] + box["height"] / 2
        page.locator("#aperture").fill(str(value))

    film.move((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2))
    film.slide([2 + at / 5 for at in range(1, 8)], open_to)
    film.keep(900)
    film.press("[data-value=hexagon]", 1300)
    film.press("#tab-mask", 600)
    film.focus(RIGHT, 1500)


@contextmanager
def sample(browser: Any, address: str, size: tuple[int, int], **options: Any) -> Iterator[Page]:
    """The page with the map of the sample."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, **options)
    page = context.new_page()
    page.goto(address)
    page.wait_for_selector("body.ready")
    if page.evaluate("!Model.shots.size"):
        page.locator("#sample").click()
    has_map(page)
    yield page
    context.close()


def shot_of(page: Page, path: Path) -> None:
    settled(page)
    Image.open(io.BytesIO(page.screenshot())).convert("RGB").save(path, quality=82, optimize=True)


def main() -> None:
    from playwright.sync_api import sync_playwright

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for the pictures")
    folder = parser.parse_args().output
    with tempfile.TemporaryDirectory() as temp, running_app(temp=temp) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        with sample(browser, address, DESKTOP) as page:
            page.locator("#tab-focus").click()
            click(page, *MIDDLE)
            shot_of(page, folder / "app-desktop.jpg")
        with sample(browser, address, PHONE, has_touch=True, is_mobile=True, device_scale_factor=2) as page:
            shot_of(page, folder / "app-phone.jpg")
        with sample(browser, address, MOVING, color_scheme="dark") as page:
            film = Film(page)
            play(film)
            film.write(folder / "app.webp")
        browser.close()
    for name in ("app-desktop.jpg", "app-phone.jpg", "app.webp"):
        print(f"{name}: {(folder / name).stat().st_size / 1000:.0f} kB")
    print(f"app.webp: {len(film.frames)} frames, {sum(film.times) / 1000:.1f} s")


if __name__ == "__main__":
    main()
