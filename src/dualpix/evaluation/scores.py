"""Scores of one map file against one ground truth file."""

from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, ParameterError
from ..io import probe, read_map
from ..io.sidecar import read_record
from ..types import Map, same_size
from .metrics import affine_invariant, bad_pixels
from .truth import in_pixels as kind_in_pixels
from .truth import kind_of, read_mask, read_truth, unit_range


def evaluate(
    est: str,
    gt: str,
    protocol: str = "proper",
    mask: str | None = None,
    confidence: str | None = None,
    crop: int | None = None,
    truth_kind: str | None = None,
) -> dict[str, Any]:
    """All scores of the protocol, by name.

    Parameters
    ----------
    est, gt
        Map files. If `gt` holds plain integers, it is a relative depth, and there are no scores in pixels.
    protocol
        See `affine_invariant` and `bad_pixels`.
    mask
        An image. Only its white pixels are scored.
    confidence
        A map of weights for the affine-invariant scores.
    crop
        Border that is not scored, in pixels.
    truth_kind
        What `gt` holds, see `dualpix.evaluation.truth`. Depth is scored as inverse depth, scaled to 0..1.
    """
    estimate, (truth, in_pixels) = read_map(est), _read_truth(gt, truth_kind)
    visible = None if mask is None else read_mask(mask)
    weight = None if confidence is None else read_map(confidence)
    others = ((gt, truth), (mask, visible), (confidence, weight))
    same_size((est, estimate.shape), *((str(name), values.shape) for name, values in others if values is not None))
    if visible is not None:
        truth[~visible] = np.nan
    if protocol == "paper-stereo":
        if weight is not None:
            raise ParameterError("protocol paper-stereo takes no confidence: leave it out")
        if not in_pixels:
            raise InputError(f"{gt}: is a relative depth: give disparities in pixels or use another protocol")
    scores: dict[str, Any] = {}
    if protocol != "paper-stereo":
        scores |= vars(affine_invariant(estimate, truth, protocol, weight, crop))
    if in_pixels and protocol in ("proper", "paper-stereo"):
        scores |= vars(bad_pixels(estimate, truth, None, protocol, crop or 0))
    return scores


def score_lines(scores: dict[str, Any]) -> str:
    """The scores as text."""
    lines = [f"protocol {scores['protocol']}, {100 * scores['coverage']:.1f} % of the ground truth covered"]
    if "ai1" in scores:
        lines.append("AI(1) {ai1:.4f}  AI(2) {ai2:.4f}  1-|rho| {spearman:.4f}")
        lines.append("geometric mean {geometric_mean:.4f}")
    if "rmse" in scores:
        lines.append("bad 0.5 px {bad_0_5:.2f} %  1 px {bad_1:.2f} %  2 px {bad_2:.2f} %  4 px {bad_4:.2f} %")
        lines.append("RMSE {rmse:.3f} px")
    return "\n".join(lines).format(**scores)


def _read_truth(path: str, kind: str | None) -> tuple[Map, bool]:
    """The ground truth, and whether it is in pixels. Plain integers are a relative depth, scaled to 0..1."""
    info = probe(path)
    if kind is not None or read_record(path) is not None:
        kind = kind_of(Path(path), kind)
        truth = read_truth(Path(path), kind, max(info.width, info.height))
        return (truth, True) if kind_in_pixels(kind) else (unit_range(truth), False)
    values = read_map(path)
    if info.dtype not in ("uint8", "uint16") or (info.format, info.dtype) == ("PNG", "uint16"):
        return values, True
    return values / np.float32(np.iinfo(info.dtype).max), False
