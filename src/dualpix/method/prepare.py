"""From pictures to the planes that are matched.

`develop` does what needs no decision: black level, gamma, white sheets, square pixels. `prepare` applies the plan.
"""

import numpy as np

from ..camera.lens import Calibration
from ..camera.sensor import pixel_aspect
from ..camera.sheet import divided
from ..filters.outlines import brightness_bytes
from ..params import Params
from ..params.definitions import Photometry
from ..run import Run
from ..types import Image, Mask, Pair, Planes
from .brightness import Part, apply_gains, brightness
from .confidence import texture
from .frame import Frame
from .grey import LUMA, MEAN, PLAIN, Camera, grey_plane
from .kinds import Method
from .plan import Plan
from .scales import Pyramid


def develop(pair: Pair, method: Method, lens: Calibration, run: Run) -> Pyramid:
    """The planes of a pair as they are, and the picture for the post-filter if there is one."""
    photometry = method.params.photometry
    frame = frame_of(pair, photometry)
    lens.check(pair.shape, pair.name("left"))
    lens.check_numbers(pair.left.dtype, pair.name("left"))
    with run.stage("develop"):
        picture = photo(pair, photometry, run) if method.params.smoothing.filter != "none" else None
        return Pyramid(grey_planes(pair, frame, photometry, lens, run.threads), frame, picture, pair.clipped)


def frame_of(pair: Pair, photometry: Photometry) -> Frame:
    """The frame of a pair whose axis is not known yet."""
    views = {pair.name("left"): pair.left, pair.name("right"): pair.right}
    asked = photometry.pixel_aspect
    if asked == "auto" and pair.pixel_aspect is not None:
        asked = pair.pixel_aspect
    return Frame(pair.shape, pixel_aspect(asked, views), orientation=pair.orientation)


def grey_planes(pair: Pair, frame: Frame, photometry: Photometry, lens: Calibration, threads: int) -> Planes:
    """Grey views and guide on a 0..255 scale, with square pixels.

    The guide is the mean of its channels, with its own gamma. Without a guide the left view takes its place, and both
    share one plane if they would be the same.
    """
    camera = Camera.of(photometry)
    white = lens.white_gains(photometry.gamma)
    left, right = (grey_plane(frame.square(view), LUMA, camera, threads) for view in (pair.left, pair.right))
    if white:
        divided(left, frame.square(white[0]))
        divided(right, frame.square(white[1]))
    own = pair.guide is None
    if own and pair.left.ndim == 2 and photometry.guide_gamma == 1 and not photometry.exposure:
        return Planes(left, right, left)
    picture = pair.left if pair.guide is None else pair.guide
    camera = (camera if own else PLAIN).raised(photometry.guide_gamma)
    guide = grey_plane(frame.square(picture), MEAN, camera, threads)
    if own and (white := lens.white_gains(camera.gamma)):
        divided(guide, frame.square(white[0]))
    return Planes(left, right, guide)


def photo(pair: Pair, photometry: Photometry, run: Run) -> Image:
    """The guide of the post-filters, 0 to 1, with the exposure of the matched planes."""
    own = pair.guide is None
    image = pair.left if pair.guide is None else pair.guide
    camera = Camera.of(photometry) if own else PLAIN
    if not photometry.exposure and camera == PLAIN:
        return image
    channels = np.atleast_3d(image)
    planes = [
        grey_plane(np.ascontiguousarray(channels[..., c]), (1,), camera, run.threads) for c in range(channels.shape[2])
    ]
    bright = np.stack(planes, axis=2)
    bright *= (photometry.exposure / brightness(bright.max(axis=2), run.threads) if photometry.exposure else 1) / 255
    return np.minimum(bright if image.ndim == 3 else bright[..., 0], 1)


def prepare(pyramid: Pyramid, plan: Plan, run: Run) -> None:
    """Apply the plan to the planes, in place: brightness, then the frame in which they are matched."""
    with run.stage("prepare"):
        shape = pyramid.finest.left.shape

        def prepared(planes: Planes, halvings: int) -> Planes:
            apply_gains(planes, plan.gains, run.threads, Part(shape, step=2**halvings))
            return plan.frame.turned(planes)

        pyramid.change(len(plan.passes), run.threads, prepared)
        if plan.checks_views:
            pyramid.keep_mirror()
            run.view = "left"
        smoothing = plan.params.smoothing
        pyramid.guide = guide_of_outlines(pyramid.finest, plan.params, run.threads)
        if smoothing.filter == "solver" and smoothing.solver_confidence == "texture":
            pyramid.texture = texture(pyramid.finest.left, plan.params.matching.encc_window, run.threads)


def guide_of_outlines(finest: Planes, params: Params, threads: int) -> Mask | None:
    """What the outlines of the map follow, as the planes will be used up; None if they follow nothing."""
    return brightness_bytes(finest.guide, threads) if params.smoothing.outlines else None
