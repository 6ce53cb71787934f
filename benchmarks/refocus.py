"""Refocused photos against the truth, and the time of a refocus against that of a map.

    python benchmarks/refocus.py quality [--disc 40] [--scenes 6]
    python benchmarks/refocus.py hidden
    python benchmarks/refocus.py speed [--size 5180x2940]

`quality` takes sharp pictures with known depth: the photograph of `dualpix demo`, and random scenes of `dualpix
scenes`, where what is hidden behind objects is known, too. The simulator renders them through the left and the right
half of the lens; the truth is the mean of both. Prints the PSNR of `dualpix.render.refocus` and of the sharp picture,
in dB, on sRGB values, with the focus far, in the middle and near. The aperture makes the largest disc 40 px wide.

`hidden` tells how much of the error is the guess of what lies behind near objects. It takes the part of the photograph
with most edges. The truth is rendered with the simulator's own guess, with ours, and with none.

`speed` refocuses a picture whose largest discs are 40 px wide, and one with discs of 80 px. Prints the seconds, and how
often the time of the preset `auto` they take; best of three runs, on all cores.
"""

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from ablation import exit_code

import dualpix
from dualpix import _core
from dualpix.camera.layers import Field, Surface, stretch
from dualpix.camera.optics import HALF_DISC
from dualpix.camera.simulation import Sensor, _background, shoot
from dualpix.evaluation import demo
from dualpix.render import refocus
from dualpix.render.refocusing import RADIUS
from dualpix.scenes import draw, stacked
from dualpix.scenes.stack import Stack

Image = npt.NDArray[Any]

FOCI = {"far": 0.05, "middle": 0.5, "near": 0.95}  # by name: percentile of the disparities
DISCS = (40, 80)  # px
PART = np.s_[150:330, 400:640]  # of the photograph: fork, tank and engine
SIZE = (640, 480)


def to_srgb(v: Image) -> Image:
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * np.maximum(v, 1e-9) ** (1 / 2.4) - 0.055)


def to_linear(v: Image) -> Image:
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4).astype(np.float32)


def psnr(a: Image, b: Image) -> float:
    return float(-10 * np.log10(np.mean((a - b) ** 2)))


# ---- quality -------------------------------------------------------------------------------------


def aperture_for(disc: float, u: Image) -> float:
    """The aperture at which the largest disc has this diameter, if u are the disparities relative to the focus."""
    return disc / (2 * RADIUS * float(np.abs(u).max()))


def photograph(where: float, disc: float) -> tuple[Image, Image, Image]:
    """The photograph of the demo: linear light, its disparities relative to the focus, and the true render."""
    image, d = demo.photograph()
    u = d - np.quantile(d, where)
    u *= aperture_for(disc, u)
    light = to_linear(image / 255)
    left, right, _ = dualpix.simulate(light, u)
    return light, u, (left + right) / 2


def scene(number: int, where: float, disc: float, size: tuple[int, int] = SIZE) -> tuple[Image, Image, Image]:
    """The same of a random scene. Its near and far ends are moved, to be relative to the focus."""
    recipe = replace(draw(0, number, *size), optics=HALF_DISC)
    seen = stacked(recipe, 0).disparity
    focus = float(np.quantile(seen, where))
    aperture = aperture_for(disc, seen - focus)
    recipe = replace(recipe, far=aperture * (recipe.far - focus), near=aperture * (recipe.near - focus))
    field = Field(HALF_DISC, (recipe.height, recipe.width), max(abs(recipe.far), abs(recipe.near)))
    stack = stacked(recipe, field.margin)
    np.clip(stack.colour, 0, 1, out=stack.colour)  # as in a photo
    left, right = shoot(lambda view: stack.surfaces(view, 2 * field.margin, slice(3)), field, Sensor())
    return sharp(stack)[field.frame], stack.disparity[field.frame], (left + right) / 2


def sharp(stack: Stack) -> Image:
    """The picture of a pinhole at the centre of the lens."""
    light, left = 0.0, 1.0
    for surface in stack.surfaces(1, 1, slice(3)):
        cover = np.clip(surface.cover, 0, 1)[..., None]
        light, left = light + left * cover * surface.colour, left * (1 - cover)
    return np.clip(np.asarray(light / (1 - left), np.float32), 0, 1)


def quality(disc: float, scenes: int) -> Iterator[tuple[str, str, float, float]]:
    """Name, focus, PSNR of the refocused picture and of the sharp one."""
    for number in range(-1, scenes):
        for name, where in FOCI.items():
            light, u, truth = photograph(where, disc) if number < 0 else scene(number, where, disc)
            photo, truth = to_srgb(light), to_srgb(np.clip(truth, 0, 1))
            found = refocus(photo, u, focus=0.0, aperture=1)
            yield ("demo" if number < 0 else f"scene {number}"), name, psnr(found, truth), psnr(photo, truth)


def print_quality(disc: float, scenes: int) -> None:
    print(f"discs up to {disc:g} px; PSNR in dB\nscene     focus   refocus  sharp")
    found = []
    for scene, focus, ours, none in quality(disc, scenes):
        print(f"{scene:9} {focus:7} {ours:7.2f} {none:6.2f}", flush=True)
        found.append(ours)
    print(f"least {min(found):.2f}, mean {np.mean(found):.2f}")


# ---- hidden background ---------------------------------------------------------------------------


def print_hidden() -> None:
    image, d = demo.photograph()
    light, d = to_linear(image[PART] / 255), d[PART]
    print("discs  PSNR in dB with the guess of the simulator, ours, none")
    for focus in (-1, -3):
        u = np.float32(1.5) * (d - focus)
        found = refocus(to_srgb(light), u, focus=0.0, aperture=1)
        field = Field(HALF_DISC, u.shape, float(np.abs(u).max()))
        scores = [psnr(found, to_srgb(rendered(light, u, field, guess))) for guess in (_background, ours, none)]
        print(f"{2 * RADIUS * np.abs(u).max():5.0f} ", *(f"{score:.1f}" for score in scores))


def rendered(light: Image, u: Image, field: Field, guess: Callable[[Image, int], Image]) -> Image:
    """The true render, if the hidden pixels are those that `guess` gives as indices."""
    margin = field.margin
    light = np.pad(light, ((margin, margin), (margin, margin), (0, 0)), "symmetric")
    u = np.pad(u, margin, "symmetric")
    behind = guess(u, 2 * margin)
    hidden = behind != none(u, 0)
    background = Surface(light.reshape(u.size, -1)[behind], np.where(hidden, u.ravel()[behind], np.inf), hidden)
    left, right = shoot(lambda view: (Surface(light, u, stretch(u, view)), background), field, Sensor())
    return (left + right) / 2


def none(u: Image, reach: int) -> Image:
    """Every pixel itself."""
    return np.arange(u.size).reshape(u.shape)


def ours(u: Image, reach: int) -> Image:
    """What `refocus` takes for the background."""
    codes, behind = np.empty(u.shape, np.int16), np.empty(u.shape, np.int16)
    _core.defocus_codes(u, codes, focus=0, gain=RADIUS, threads=1)
    _core.find_background(codes, behind, threads=1)
    steps = np.array([-1, 1, -u.shape[1], u.shape[1]])  # left, right, up, down
    return none(u, reach) + behind // 4 * steps[behind % 4]


# ---- speed ---------------------------------------------------------------------------------------


def best(work: Callable[[], Any], runs: int = 3) -> float:
    """Seconds of the fastest run."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def print_speed(width: int, height: int) -> None:
    image, d = demo.photograph()
    left, right, _ = dualpix.simulate(image, d)
    tiles = -(-height // d.shape[0]), -(-width // d.shape[1])
    left, right, d = (np.ascontiguousarray(tiled(each, tiles)[:height, :width]) for each in (left, right, d))
    auto = best(lambda: dualpix.disparity(left, right))
    print(f"{width}x{height}, auto: {auto:.2f} s")
    focus = float(d.max())
    for disc in DISCS:
        aperture = aperture_for(disc, d - focus)
        seconds = best(lambda aperture=aperture: refocus(left, d, focus=focus, aperture=aperture))
        print(f"discs up to {disc} px: {seconds:.2f} s, {seconds / auto:.2f} times auto")


def tiled(image: Image, tiles: tuple[int, int]) -> Image:
    """The picture repeated, every second one mirrored, so that there are no seams."""
    height, width = image.shape[:2]
    margins = [(0, (n - 1) * size) for n, size in zip(tiles, (height, width), strict=True)]
    return np.pad(image, margins + [(0, 0)] * (image.ndim - 2), mode="symmetric")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("quality")
    command.add_argument("--disc", type=float, default=40.0, metavar="PX")
    command.add_argument("--scenes", type=int, default=6)
    commands.add_parser("hidden")
    command = commands.add_parser("speed")
    command.add_argument("--size", default="5180x2940", metavar="WxH")
    args = parser.parse_args(argv)
    with exit_code() as code:
        if args.command == "quality":
            print_quality(args.disc, args.scenes)
        elif args.command == "hidden":
            print_hidden()
        else:
            print_speed(*map(int, args.size.split("x")))
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
