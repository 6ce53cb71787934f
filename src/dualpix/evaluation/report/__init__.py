"""A comparison of methods as one HTML page: the ranking, all maps beside the truth, parameters and versions."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

from ...io.sidecar import to_json
from ...render.pages import Html, element, page, part
from ..outcomes import Comparison
from ..statistics import differences
from ._curves import sparsification
from ._looks import look_at
from ._ranking import failures, ranking, significance, summary
from ._scenes import scenes

__all__ = ["report_page"]


def report_page(comparison: Comparison) -> str:
    """The page, which needs no other file.

    It shows the ranking of the methods and which differences are significant, the sparsification curves, and all
    parameters and versions. For every scene it shows the photograph, the ground truth and, for each method, the map,
    its error and its confidence; pointing at a picture shows the values. The page stays under 15 MB: pictures get
    smaller with their number, and when they are as small as can be read, some scenes are listed without pictures.
    """
    ranked = comparison.ranked()
    looks = [look_at(comparison, scene) for scene in comparison.scenes]
    tests = differences(comparison)
    title = f"Comparison on {comparison.dataset}"
    script = part("line.js") + part("wipe.js") + part("report.js")
    digest = b64encode(sha256(script.encode()).digest()).decode()
    return page(
        title,
        element("h1", title),
        element("p", summary(comparison)),
        ranking(comparison, ranked, tests),
        failures(comparison),
        significance(comparison, ranked, tests),
        sparsification(comparison, looks, ranked),
        scenes(comparison, looks, ranked),
        _record(comparison, ranked),
        style=part("page.css") + part("report.css"),
        script=script,
        policy=f"default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'sha256-{digest}'",
    )


def _record(comparison: Comparison, ranked: list[str]) -> Html:
    """The parameters and versions, so that the comparison can be repeated."""

    def folded(title: str, values: dict[str, object]) -> Html:
        return element("details", element("summary", title), element("pre", to_json(values)))

    return element(
        "section",
        element("h2", "Parameters and versions"),
        *(folded(method, comparison.methods[method]) for method in ranked),
        folded("versions", {**comparison.versions}),
    )
