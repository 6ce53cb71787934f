"""A map as a few lines of HTML, for notebooks: a small picture with its colour bar, and what to know about it."""

import base64
import math
from collections.abc import Sequence

from ..errors import printable
from ..io import encode_png, preview
from ..types import Image, Map

WIDEST = 480  # px, of the picture


def page(d: Map, heading: str, details: str, warnings: Sequence[str]) -> str:
    """The picture of a disparity map (px, larger is nearer), a heading, a line of details, and the warnings."""
    import html

    picture = base64.b64encode(encode_png(small_preview(d))).decode()
    notes = "".join(f"<li>{html.escape(printable(each))}</li>" for each in warnings)
    title = html.escape(heading)
    return (
        f'<figure style="margin:0"><img alt="{title}" src="data:image/png;base64,{picture}">'
        f"<figcaption><b>{title}</b><br>{html.escape(details)}"
        f"{f'<ul>{notes}</ul>' if notes else ''}</figcaption></figure>"
    )


def small_preview(d: Map) -> Image:
    """The preview of every n-th row and column, so that it is at most `WIDEST` px large."""
    step = max(1, math.ceil(max(d.shape) / WIDEST))
    return preview(d[::step, ::step])
