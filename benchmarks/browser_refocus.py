"""Refocusing in the browser: time, and how far it is from `dualpix refocus`.

    python benchmarks/browser_refocus.py [--chromium PATH] [--gpu] [--sizes 0.5,1,2] [--discs 10,20,40]

The picture is the photograph of `dualpix demo`, resized; the aperture makes the largest disc as wide as told. For
every size (MP) and disc (px) it prints, for the exact picture in one go: the time of the script, the time until the
picture is there, the processor time of the graphics process (SwiftShader; it hardly depends on what else runs), the
fragments and the PSNR against `dualpix refocus`. Then, while the focus moves, how many fast pictures there are in a
second, and with how many pixels. With --gpu, Chromium uses the graphics card.
"""

import argparse
import base64
import os
import shutil
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from playwright.sync_api import Page, sync_playwright

from dualpix.evaluation import demo
from dualpix.render import refocus
from dualpix.render.pages import part
from dualpix.render.refocusing import RADIUS

SCRIPTS = ("spots.js", "sources.js", "shaders.js", "refocus.js")
SWIFTSHADER = ("--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader")
HELP = """
const gl = document.createElement("canvas").getContext("webgl2");
const bytes = text => Uint8Array.from(atob(text), each => each.charCodeAt(0));
let lens;
function load([width, height, photo, map, options]) {
  lens = Refocus(gl, options);
  lens.setPhoto({width, height, rgba: bytes(photo)});
  lens.setMap({width, height, disparity: new Float32Array(bytes(map).buffer)});
}
function pixels({texture, width, height}) {
  const buffer = gl.createFramebuffer(), data = new Uint8Array(4 * width * height);
  gl.bindFramebuffer(gl.FRAMEBUFFER, buffer);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, data);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  gl.deleteFramebuffer(buffer);
  return data;
}
function text(data) {
  let text = "";
  for (let i = 0; i < data.length; i += 32768) text += String.fromCharCode(...data.subarray(i, i + 32768));
  return btoa(text);
}
function whole(view) {
  const start = performance.now(), seen = lens.render({...view, quality: "whole"}), issued = performance.now();
  const data = pixels(seen), end = performance.now();
  return [issued - start, end - start, lens.fragments, text(data)];
}
// The focus moves. Returns the number of pictures in a second, and the pixels of the last one.
async function moving(view, seconds) {
  const start = performance.now();
  let seen = null, pictures = 0;
  for (let i = 0; performance.now() - start < 1000 * seconds; ++i) {
    const next = lens.render({...view, focus: view.focus - 0.01 * (i % 100), quality: "fast"});
    if (next !== seen) [seen, pictures] = [next, pictures + 1];
    await new Promise(requestAnimationFrame);
  }
  return [pictures / seconds, seen.width * seen.height];
}
"""


def graphics_seconds() -> float:
    """The processor time of the graphics process of the Chromium that this script started."""
    parents, used = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            words = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(folder.name)] = int(fields[1])
        if b"--type=gpu-process" in words:
            used[int(folder.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def is_ours(process: int) -> bool:
        return process == os.getpid() or (process in parents and is_ours(parents[process]))

    return sum(seconds for process, seconds in used.items() if is_ours(process))


def load(page: Page, photo: Any, d: Any, **options: Any) -> None:
    """Give a photo and its map to a new lens of the page."""
    rgba = np.dstack((photo, np.full_like(photo[..., :1], 255)))
    page.evaluate("load", [d.shape[1], d.shape[0], _text(rgba), _text(d.astype("<f4")), options])


def _text(array: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def measure(page: Page, size: float, discs: list[float]) -> None:
    photo, d = demo.photograph()
    width = round((size * 1e6 * 1.5) ** 0.5)
    height = round(width / 1.5)
    photo = cv2.resize(photo, (width, height), interpolation=cv2.INTER_AREA)
    d = cv2.resize(d, (width, height), interpolation=cv2.INTER_NEAREST)
    load(page, photo, d)
    focus = 1.5
    for disc in discs:
        aperture = disc / (2 * RADIUS * float(np.abs(d - focus).max()))
        view = {"focus": focus, "aperture": aperture, "shape": "disc", "x": 0, "y": 0, "width": width, "height": height}
        page.evaluate("whole", {**view, "aperture": 1.001 * aperture})
        before = graphics_seconds()
        script, wall, fragments, data = page.evaluate("whole", view)
        busy = graphics_seconds() - before
        found = np.frombuffer(base64.b64decode(data), np.uint8).reshape(height, width, 4)[..., :3]
        error = np.mean((found / 255.0 - refocus(photo, d, focus=focus, aperture=aperture) / 255.0) ** 2)
        page.evaluate("view => moving(view, 2)", view)
        rate, fast = page.evaluate("view => moving(view, 2)", view)
        print(
            f"{size:g} MP, discs to {disc:g} px: script {script:.0f} ms, picture {wall:.0f} ms, graphics process "
            f"{1000 * busy:.0f} ms, {fragments / (width * height):.0f} fragments a pixel, "
            f"{-10 * np.log10(error):.1f} dB; fast {rate:.0f} a second of {fast / 1e6:.2f} MP",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--chromium", default=shutil.which("chromium"))
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--sizes", default="0.5,1,2")
    parser.add_argument("--discs", default="10,20,40")
    options = parser.parse_args()
    with sync_playwright() as playwright:
        arguments = ["--no-sandbox", *(() if options.gpu else SWIFTSHADER)]
        browser = playwright.chromium.launch(executable_path=options.chromium, args=arguments)
        page = browser.new_page()
        page.on("pageerror", lambda error: print(error))
        page.set_content("<p></p>")
        page.add_script_tag(content="".join(part(name) for name in SCRIPTS) + HELP)
        for size in options.sizes.split(","):
            measure(page, float(size), [float(disc) for disc in options.discs.split(",")])
        browser.close()


if __name__ == "__main__":
    main()
