"""A page to send to a friend: a photo and its depth in one HTML file, to look at and to refocus.

It opens from disk, loads nothing, and uses the scripts of the app.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import Any

import numpy as np

from ..render.metres import filled
from ..render.pages import Html, data_uri, element, part
from ..render.pages import page as whole_page
from ..types import Image, Map, full_scale, same_size

MOST = 10_000_000  # bytes of the page
MOST_DEPTH = 2_500_000  # bytes of the depth; a larger one is halved in size
QUALITIES = (92, 85, 75, 60)  # of the JPEG; the first that fits is taken
SCRIPTS = (
    *("dom", "colours", "maps", "units", "model", "view", "gl", "flat", "viewer", "plain", "cloud"),
    *("spots", "sources", "shaders", "refocus", "lens", "overlay", "gestures", "stage", "focus", "friend"),
)


def page(photo: Image, disparity: Map, *, title: str, look: dict[str, Any]) -> str:
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
        What the page shows first: "focus" (x, y) or None, "aperture" and "shape".
    """
    same_size(("photo", photo.shape), ("disparity", disparity.shape))
    script = "".join(part(f"{name}.js") for name in SCRIPTS)
    digest = b64encode(sha256(script.encode()).digest()).decode()
    style = part("page.css") + part("app.css") + part("friend.css")
    room = MOST - len(script.encode()) - len(style.encode()) - 10_000 - 6 * len(title.encode())
    pictures = _pictures(photo, filled(disparity, "disparity"), look, room)
    return whole_page(
        title,
        element("header", element("h1", title, id="title"), element("div", id="views")),
        _stage(),
        element("aside", element("div", id="panels"), aria_label="Focus and aperture"),
        element("div", id="live", role="status", aria_live="polite", class_="unseen"),
        *pictures,
        style=style,
        script=script,
        policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
    ).replace("<body>", '<body class="app friend empty">', 1)


def _stage() -> Html:
    """The picture with its marks, as in the page of the app."""
    marks = "Picture. Arrow keys move a point, Enter makes it sharp there, plus and minus zoom."
    line = dict.fromkeys(("aria_valuemin", "aria_valuemax", "aria_valuenow"), 0) | {"aria_valuemax": 100}
    plain = "This browser has no WebGL2, so photo and depth are shown as plain pictures, without refocusing."
    return element(
        "main",
        element("canvas", id="picture", aria_hidden="true"),
        element("canvas", id="marks", tabindex=0, role="application", aria_label=marks),
        element(
            "div",
            element("span"),
            id="wipe",
            role="slider",
            tabindex=0,
            aria_label="Line between the two pictures",
            hidden=True,
            **line,
        ),
        element("p", plain, id="nogl", class_="banner", hidden=True),
        element("div", id="toast", role="status", hidden=True),
        id="stage",
        data_tab="focus",
        aria_label="Picture",
    )


def _pictures(photo: Image, d: Map, look: dict[str, Any], room: int) -> tuple[Html, Html]:
    """Photo and depth as images of the page, as large and as good as the room, in bytes, allows."""
    import cv2

    pixels = np.rint(photo * (255 / full_scale(photo.dtype))).astype(np.uint8) if photo.dtype != np.uint8 else photo
    focus = look.get("focus") or ("", "")
    shrink = 1
    while True:
        depth = _depth(d)
        for quality in QUALITIES:
            found = cv2.imencode(".jpg", pixels[..., ::-1] if pixels.ndim == 3 else pixels, _jpeg(quality))[1]
            if 4 * (len(found) + len(depth)) / 3 < room:
                scaled = {
                    f"data_focus_{axis}": at if at == "" else at / shrink for axis, at in zip("xy", focus, strict=True)
                }
                return (
                    _image(
                        "photo",
                        "jpeg",
                        bytes(found),
                        **scaled,
                        data_aperture=look["aperture"],
                        data_shape=look["shape"],
                    ),
                    _image("depth", "png", depth, data_low=float(d.min()), data_high=float(d.max())),
                )
        shrink *= 2
        size = max(d.shape[1] // 2, 1), max(d.shape[0] // 2, 1)
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
        d = cv2.resize(d, size, interpolation=cv2.INTER_NEAREST) / np.float32(2)  # px of the smaller photo


def _jpeg(quality: int) -> list[int]:
    import cv2

    return [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_OPTIMIZE, 1]


def _depth(d: Map) -> bytes:
    """The disparities as a grey PNG, 0 the smallest and 255 the largest; every second one, if that is large."""
    import cv2

    low, high = float(d.min()), float(d.max())
    grey = np.rint((d - low) * (255 / (high - low if high > low else 1))).astype(np.uint8)
    found = cv2.imencode(".png", grey, [cv2.IMWRITE_PNG_COMPRESSION, 9])[1]
    if len(found) > MOST_DEPTH:
        found = cv2.imencode(".png", grey[::2, ::2], [cv2.IMWRITE_PNG_COMPRESSION, 9])[1]
    return bytes(found)


def _image(name: str, kind: str, content: bytes, **data: object) -> Html:
    return element("img", id=name, src=data_uri(f"image/{kind}", content), alt="", hidden=True, **data)
