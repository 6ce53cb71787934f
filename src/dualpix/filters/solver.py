"""The fast bilateral solver."""

import numpy.typing as npt

from .. import _core
from ..params.definitions import SOLVER_COLOUR, SOLVER_LAMBDA, SOLVER_XY
from ..params.rules import Whole, check
from ..types import Map
from .common import YUV, along_edges


def bilateral_solver(
    d: npt.ArrayLike,
    guide: npt.ArrayLike,
    *,
    luma: float = 16,
    chroma: float = 8,
    xy: int = 8,
    lam: float = 15,
    confidence: npt.ArrayLike | None = None,
    iterations: int = 25,
    threads: int | None = None,
) -> Map:
    """Fast bilateral solver (Barron and Poole 2016): smooth the map among pixels of similar position and colour.

    Parameters
    ----------
    d : HxW array
        Disparities.
    guide : image
        The image whose luma and chroma are compared.
    luma, chroma : float
        Size of a bilateral cell in luma and chroma, on a 0..255 scale.
    xy : int
        Size of a bilateral cell along x and y (px).
    lam : float
        Weight of smoothness against the data.
    confidence : HxW array, optional
        Weight of each pixel's data.
    iterations : int
        Largest number of conjugate gradient steps. Fewer are taken if they converge.
    threads : int, optional
        As for `dualpix.disparity`. The result does not depend on it.

    Returns
    -------
    float32 array
        Pixels without data take the values of similar pixels. A pixel that is connected to no data is NaN, so a map
        of NaN stays NaN; `fill_holes` fills the rest.
    """
    luma, chroma = check("luma", luma, SOLVER_COLOUR), check("chroma", chroma, SOLVER_COLOUR)
    xy, lam = check("xy", xy, SOLVER_XY), check("lam", lam, SOLVER_LAMBDA)
    iterations = check("iterations", iterations, Whole(0, 10_000))
    settings = {"luma": luma, "chroma": chroma, "xy": xy, "lam": lam, "iterations": iterations}
    return along_edges(_core.bilateral_solver, d, guide, confidence, threads, YUV, 255, **settings)
