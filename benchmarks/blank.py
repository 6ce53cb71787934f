"""What the fill of blank parts is worth in random scenes where about half of the surfaces are of one colour.

    python benchmarks/blank.py [--count N] [--seed N] [--set NAME=VALUE ...]

The scenes are those of `dualpix scenes`, but larger, with about half of the surfaces "even" at random, and with little
noise, since noise is matched like texture. The rows are the preset auto without the fill (`blank=0`) and with it; --set
changes both. "all" is the mean of the scenes' mean absolute errors in px. "filled" is the mean absolute error in px of
the filled pixels of all scenes. "sigma" is the median of |error| / (0.6745 sigma) there; 1 is right. Every fourth pixel
is looked at. A part is a connected region that was filled, of 0.5 % of the picture or more.
"""

import argparse
import sys
import warnings
from dataclasses import replace
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt
from ablation import Changes, exit_code

import dualpix
from dualpix.method.blank import LEAST
from dualpix.method.confidence import EVERY
from dualpix.metrics import pixel_errors
from dualpix.params import parse_setting
from dualpix.params.rules import check
from dualpix.scenes import Recipe, draw, make
from dualpix.scenes.files import COUNT, SEED
from dualpix.scenes.recipe import Texture
from dualpix.scenes.textures import EVEN

SIZE = 1152, 800  # px
SHARE = 0.5  # of the surfaces that are even
NOISE, SHOT_NOISE = 1e-3, 2e-5  # at most
HALF = 0.6745  # half of the errors are below this much of sigma

FloatArray = npt.NDArray[np.floating]


class Found(NamedTuple):
    """Without and with the fill: mean error of the scene, and at the filled samples errors and sigma."""

    all: FloatArray
    errors: FloatArray
    sigma: FloatArray
    part: npt.NDArray[np.int32]  # of each of these samples
    share: float  # of all samples


def evened(recipe: Recipe) -> Recipe:
    """The scene with about half of its surfaces in one colour, and little noise."""
    rng = np.random.default_rng([recipe.seed, recipe.number, 1])

    def look(texture: Texture) -> Texture:
        return replace(texture, kind=EVEN) if rng.random() < SHARE else texture

    ground, camera = recipe.ground, recipe.camera
    return replace(
        recipe,
        ground=replace(ground, texture=look(ground.texture), second=look(ground.second)),
        things=tuple(replace(thing, texture=look(thing.texture)) for thing in recipe.things),
        camera=replace(camera, noise=min(camera.noise, NOISE), shot_noise=min(camera.shot_noise, SHOT_NOISE)),
    )


def found(recipe: Recipe, settings: Changes) -> Found:
    """The errors of a scene."""
    left, right, truth = make(recipe)
    auto = dualpix.preset("auto").replace(**settings)
    results = [dualpix.disparity(left, right, params, axis="x") for params in (auto.replace(blank=0.0), auto)]
    scores = [pixel_errors(result.disparity, truth) for result in results]
    d, sigma = (np.stack([getattr(result, name) for result in results]) for name in ("disparity", "sigma"))
    gains = np.array([score.gain or 1 for score in scores])
    errors, sigma = (each[:, ::EVERY, ::EVERY] for each in (np.abs(gains[:, None, None] * d - truth), sigma))
    signs = results[1].belief.signs
    filled = np.zeros(errors.shape[1:], np.uint8) if signs is None or signs.filled is None else signs.filled
    part = cv2.connectedComponents(filled)[1]
    at = (part > 0) & np.isfinite(errors[0])
    return Found(np.array([score.mae for score in scores]), errors[:, at], sigma[:, at], part[at], float(at.mean()))


def table(scenes: list[Found]) -> None:
    """Both rows, and what got better."""
    errors, sigma = (np.concatenate([getattr(scene, name) for scene in scenes], axis=1) for name in ("errors", "sigma"))
    if not errors.size:
        print("no part of these scenes was filled")
        return
    whole = np.mean([scene.all for scene in scenes], axis=0)
    print(f"{'':12}{'all':>8}{'filled':>8}{'sigma':>8}")
    for i, label in enumerate(("blank=0", "auto")):
        ratio = np.median(errors[i] / sigma[i]) / HALF
        print(f"{label:12}{whole[i]:8.3f}{errors[i].mean():8.3f}{ratio:8.2f}")
    print(f"filled: {100 * np.mean([scene.share for scene in scenes]):.1f} % of the pixels")
    regions = [scene.errors[:, scene.part == each] for scene in scenes for each in np.unique(scene.part)]
    parts = [each.mean(axis=1) for each in regions if each.shape[1] * EVERY**2 >= LEAST * SIZE[0] * SIZE[1]]
    changed = [scene.all for scene in scenes if scene.part.size]
    for name, pairs in (("parts", parts), ("scenes with filled pixels", changed)):
        print(f"better: {sum(after < before for before, after in pairs)} of {len(pairs)} {name}")


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="set a parameter in both rows")
    args = parser.parse_args(argv)
    warnings.simplefilter("ignore", dualpix.DualpixWarning)
    with exit_code() as code:
        check("--count", args.count, COUNT)
        check("--seed", args.seed, SEED)
        settings = dict(map(parse_setting, args.set))
        table([found(evened(draw(args.seed, number, *SIZE)), settings) for number in range(args.count)])
    return code[0]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
