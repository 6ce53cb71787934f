"""A page to send to a friend: a photo and its depth in one HTML file, to look at and to refocus.

It opens from disk, loads nothing, and uses the scripts of the app.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import numpy as np

from ..errors import InputError
from ..render import pages
from ..render.metres import filled
from ..render.pages import Html, data_uri, element, part
from ..render.refocusing import Lens, focus_of
from ..types import Image, Map, full_scale, same_size

MOST = 10_000_000  # bytes of the page
MOST_DEPTH = 2_500_000  # bytes of the depth; of a larger one, every second row and column is kept
QUALITIES = (92, 85, 75, 60)  # of the JPEG; the first that fits is taken
SCRIPTS = (
    *("dom", "colours", "maps", "units", "model", "view", "gl", "flat", "viewer", "plain", "cloud"),
    *("spots", "sources", "shaders", "refocus", "lens", "overlay", "gestures", "line", "stage", "focus", "friend"),
)
STYLES = ("page", "app", "friend")

MARKS = "Picture. Arrow keys move a point, Enter makes it sharp there, plus and minus zoom."
PLAIN = "This browser has no WebGL2, so photo and depth are shown as plain pictures, without refocusing."


def page(photo: Image, disparity: Map, *, title: str, look: Mapping[str, Any]) -> str:
    """Return the page, which has at most 10 MB.

    Parameters
    ----------
    photo
        HxW or HxWx3 (RGB), sRGB, uint8, uint16 or float in [0, 1].
    disparity
        HxW, px, larger is nearer. Holes are filled. The page has 256 steps of it.
    title
        The name of the photo.
    look
        What the page shows first: "focus" (x, y), "aperture" and "shape"; all may be left out.

    Raises
    ------
    InputError
        If a value of `look` is wrong, the sizes differ, or the map is empty.
    """
    same_size(("photo", photo.shape), ("disparity", disparity.shape))
    d = filled(disparity, "disparity")
    lens, focus = Lens(look.get("aperture") or 4.0, look.get("shape") or "disc"), _point(d, look.get("focus"))
    script, style = "".join(part(f"{name}.js") for name in SCRIPTS), "".join(part(f"{name}.css") for name in STYLES)
    digest = b64encode(sha256(script.encode()).digest()).decode()

    def filled_with(*pictures: Html) -> str:
        return pages.page(
            title,
            element("header", element("h1", title, id="title"), element("div", id="views")),
            _stage(),
            element("aside", element("div", id="panels"), aria_label="Focus and aperture"),
            element("div", id="live", role="status", aria_live="polite", class_="unseen"),
            *pictures,
            style=style,
            script=script,
            policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
            classes="app friend empty",
        )

    room = MOST - len(filled_with().encode())
    return filled_with(*next(found for found in _pictures(photo, d, lens, focus) if sum(map(len, found)) <= room))


def _point(d: Map, focus: Any) -> tuple[float, ...]:
    """The point in focus, checked; none if `focus` is None."""
    if focus is None:
        return ()
    focus_of(d, focus)
    if np.size(focus) != 2:
        raise InputError(f"focus is {focus!r}: give a point (x, y)")
    return tuple(float(at) for at in focus)


def _stage() -> Html:
    """The picture with its marks, as in the page of the app."""
    line = element(
        "div",
        element("span", class_="knob"),
        id="wipe",
        role="slider",
        tabindex=0,
        aria_label="Line between the two pictures",
        aria_valuemin=0,
        aria_valuemax=100,
        aria_valuenow=50,
        hidden=True,
    )
    return element(
        "main",
        element("canvas", id="picture", aria_hidden="true"),
        element("canvas", id="marks", tabindex=0, role="application", aria_label=MARKS),
        line,
        element("p", PLAIN, id="nogl", class_="banner", hidden=True),
        element("div", id="toast", role="status", hidden=True),
        id="stage",
        data_tab="focus",
        aria_label="Picture",
    )


def _pictures(photo: Image, d: Map, lens: Lens, focus: tuple[float, ...]) -> Iterator[tuple[Html, Html]]:
    """Photo and depth as images of the page, the best ones first, without end. Later ones have fewer bytes."""
    import cv2

    pixels = photo if photo.dtype == np.uint8 else np.rint(photo * (255 / full_scale(photo.dtype))).astype(np.uint8)
    shrink = 1
    while True:
        start = {f"data_{axis}": at / shrink for axis, at in zip("xy", focus, strict=False)}
        depth = _image("depth", "png", _depth(d), data_low=float(d.min()), data_high=float(d.max()))
        for quality in QUALITIES:
            settings = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_OPTIMIZE, 1]
            content = cv2.imencode(".jpg", pixels[..., ::-1] if pixels.ndim == 3 else pixels, settings)[1]
            shown = {**start, "data_aperture": lens.aperture, "data_shape": lens.shape}
            yield _image("photo", "jpeg", bytes(content), **shown), depth
        shrink *= 2
        size = max(d.shape[1] // 2, 1), max(d.shape[0] // 2, 1)
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
        d = np.asarray(cv2.resize(d, size, interpolation=cv2.INTER_NEAREST) / 2, np.float32)  # px of the smaller photo


def _depth(d: Map) -> bytes:
    """The disparities as a grey PNG, 0 the smallest and 255 the largest; every second one, if that is large."""
    import cv2

    low, high = float(d.min()), float(d.max())
    grey = np.rint((d - low) * (255 / (high - low if high > low else 1))).astype(np.uint8)
    settings = [cv2.IMWRITE_PNG_COMPRESSION, 9]
    found = cv2.imencode(".png", grey, settings)[1]
    return bytes(found if len(found) <= MOST_DEPTH else cv2.imencode(".png", grey[::2, ::2], settings)[1])


def _image(name: str, kind: str, content: bytes, **data: object) -> Html:
    return element("img", id=name, src=data_uri(f"image/{kind}", content), alt="", hidden=True, **data)
