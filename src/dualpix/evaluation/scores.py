"""Scores of a map file against a ground truth file."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, ParameterError
from ..io import probe, read_image, read_map
from ..types import Map
from .metrics import affine_invariant, bad_pixels


def evaluate(
    est: str,
    gt: str,
    protocol: str = "proper",
    mask: str | None = None,
    confidence: str | None = None,
    crop: int | None = None,
) -> dict[str, Any]:
    """All scores by name that the protocol has and the ground truth allows.

    Parameters
    ----------
    est, gt
        Map files. Plain integers in `gt` are a relative depth, which has no errors in pixels.
    protocol
        One of those of `metrics`.
    mask
        An image; only where it is white is scored.
    confidence
        A map of weights for the affine-invariant scores.
    crop
        Border to leave out, in pixels.
    """
    estimate, (truth, in_pixels) = read_map(est), _read_truth(gt)
    visible = None if mask is None else _read_mask(mask)
    weight = None if confidence is None else read_map(confidence)
    _check_same_size((est, estimate), (gt, truth), (mask, visible), (confidence, weight))
    if visible is not None:
        truth[~visible] = np.nan
    if protocol == "paper-stereo":
        if weight is not None:
            raise ParameterError("confidence has no place in protocol paper-stereo: leave it out")
        if not in_pixels:
            raise InputError(f"{gt}: protocol paper-stereo needs float or 16-bit KITTI PNG ground truth, in pixels")
    scores: dict[str, Any] = {}
    if protocol != "paper-stereo":
        scores |= vars(affine_invariant(estimate, truth, protocol, weight, crop))
    if in_pixels and protocol in ("proper", "paper-stereo"):
        scores |= vars(bad_pixels(estimate, truth, None, protocol, crop or 0))
    return scores


def score_lines(scores: dict[str, Any]) -> str:
    """The scores for people."""
    lines = [f"protocol {scores['protocol']}, {100 * scores['coverage']:.1f} % of the ground truth covered"]
    if "ai1" in scores:
        lines.append("AI(1) {ai1:.4f}  AI(2) {ai2:.4f}  1-|rho| {spearman:.4f}")
        lines.append("geometric mean {geometric_mean:.4f}")
    if "rmse" in scores:
        lines.append("bad 0.5 px {bad_0_5:.2f} %  1 px {bad_1:.2f} %  2 px {bad_2:.2f} %  4 px {bad_4:.2f} %")
        lines.append("RMSE {rmse:.3f} px")
    return "\n".join(lines).format(**scores)


def _read_truth(path: str) -> tuple[Map, bool]:
    """The ground truth, and whether it is in pixels or, as plain integers, a relative depth made 0 to 1."""
    info, values = probe(path), read_map(path)
    if info.dtype not in ("uint8", "uint16") or (info.format, info.dtype) == ("PNG", "uint16"):
        return values, True
    return values / np.float32(np.iinfo(info.dtype).max), False


def _read_mask(path: str) -> NDArray[np.bool_]:
    image = read_image(path)
    white = 1 if image.dtype.kind == "f" else np.iinfo(image.dtype).max
    visible = np.asarray(np.atleast_3d(image == white).all(axis=2))
    if not visible.any():
        raise InputError(f"{path}: has no white ({white}) pixel: make it white where the map is to be scored")
    return visible


def _check_same_size(*maps: tuple[str | None, NDArray[Any] | None]) -> None:
    sizes = [(path, "{1}x{0}".format(*values.shape)) for path, values in maps if values is not None]
    first, wanted = sizes[0]
    for path, size in sizes[1:]:
        if size != wanted:
            raise InputError(f"{path} is {size} but {first} is {wanted}: resample or crop one to the other")
