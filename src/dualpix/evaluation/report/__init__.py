"""A comparison of methods as one page: who is best, every map beside the truth, and what exactly was run."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from ...io.sidecar import to_json
from ...render.pages import Html, element, page, part
from ..outcomes import Comparison
from ._curves import sparsification
from ._looks import look_at
from ._ranking import failures, ranking, summary
from ._scenes import scenes

__all__ = ["report_page"]


def report_page(comparison: Comparison) -> str:
    """One HTML page that needs nothing but itself.

    It ranks the methods and shows sparsification curves; for every scene the photograph, the ground truth, and of each
    method the map, its error and its confidence, with their values under the pointer; all parameters and versions.
    The more there is to show, the smaller the pictures: 20 scenes of 5 methods are always under 15 MB.
    """
    ranked = comparison.ranked()
    looks = [look_at(comparison, scene) for scene in comparison.scenes]
    title = f"Comparison on {comparison.dataset}"
    script = part("wipe.js") + part("report.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return page(
        title,
        element("h1", title),
        element("p", summary(comparison)),
        ranking(comparison, ranked),
        failures(comparison),
        sparsification(looks, ranked),
        scenes(comparison, looks, ranked),
        _record(comparison, ranked),
        style=part("page.css") + part("report.css"),
        script=script,
        policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
    )


def _record(comparison: Comparison, ranked: list[str]) -> Html:
    """What was run, to run it again."""

    def folded(title: str, values: dict[str, object]) -> Html:
        return element("details", element("summary", title), element("pre", to_json(values)))

    return element(
        "section",
        element("h2", "Parameters and versions"),
        *(folded(method, comparison.methods[method]) for method in ranked),
        folded("versions", {**comparison.versions}),
    )
