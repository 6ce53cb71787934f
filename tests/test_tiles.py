"""Tiles solved on their own, with margins and the coarse belief, against the whole picture."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import dualpix
from conftest import textured_pair
from dualpix import _core
from dualpix.camera.lens import NO_LENS
from dualpix.method.api import method_for
from dualpix.method.margins import Margins
from dualpix.method.prepare import develop, prepare
from dualpix.method.scales import Pyramid
from dualpix.method.solve import solve
from dualpix.method.survey import Wishes, survey
from dualpix.method.tiles import margins, solve_tile, tiles
from dualpix.run import Run
from dualpix.types import Pair, Planes

SHAPE = 420, 520
SETTINGS = {"window": 3.0, "encc_window": 7, "penalty": 400.0}


@cache
def solved():
    """Planes, plan, belief, confidence and coarse belief of a scene with a step and a slope, solved as a whole."""
    y, x = np.indices(SHAPE)
    depth = np.where((np.abs(y - 200) < 90) & (np.abs(x - 300) < 120), 2.0, np.linspace(-2, -0.5, SHAPE[1]))
    left, right, _ = dualpix.simulate((textured_pair(SHAPE, 0)[0] / 255).astype(np.float32), depth, noise=0.004)
    run, method, pair = Run(2), method_for("auto", SETTINGS), Pair(left, right)
    pyramid = develop(pair, method, NO_LENS, run)
    plan = survey(pyramid, pair, method, NO_LENS, Wishes(), run)
    prepare(pyramid, plan, run)
    planes = Planes(*(plane.copy() for plane in pyramid.finest))
    belief = solve(pyramid, plan, run=run)
    plan = replace(plan, curvatures=belief.curvatures)
    coarse = solve(Pyramid(planes.halved(2), plan.frame), plan.coarser(), run=run)
    return planes, plan, belief, method.confidence(belief, method.sigma(belief, belief.disparity(), 1), 1), coarse


def in_tiles(side, margin):
    planes, plan, belief, _, coarse = solved()
    d = np.full(SHAPE, np.nan, np.float32)
    shared = plan.finest(coarse)
    for tile in tiles(SHAPE, side, margin):
        d[tile.rows, tile.columns] = solve_tile(planes, coarse, shared, tile, Run(2)).disparity()
    return np.abs(d - belief.disparity())


@pytest.mark.parametrize("side", [150, 301])
def test_tiles_with_margins_are_the_whole_picture(side):
    _, plan, belief, confidence, _ = solved()
    error = in_tiles(side, margins(plan, belief.limits).solving)
    sure = confidence > 0.5
    assert sure.mean() > 0.4
    assert error[sure].max() < 0.02
    assert not np.isnan(error).any()


def test_the_margins_are_needed():
    sure = solved()[3] > 0.5
    assert in_tiles(150, (0, 0))[sure].max() > 0.1


def test_the_mean_curvature_is_that_of_the_picture_not_of_the_tile():
    """A tile that took its own mean as the unit of the penalty would smooth differently."""
    planes, plan, belief, _, coarse = solved()
    tile = next(iter(tiles(SHAPE, 150, margins(plan, belief.limits).solving)))
    shared = plan.finest(coarse)
    own = solve_tile(planes, coarse, replace(shared, curvatures=()), tile)
    assert own.curvatures[-1] != shared.curvatures[-1]
    given = solve_tile(planes, coarse, shared, tile)
    assert given.curvatures[-1] == shared.curvatures[-1]


def test_the_coarse_belief_is_that_of_the_whole_run():
    _, plan, belief, _, coarse = solved()
    assert coarse.curvatures == belief.curvatures[:-1]
    assert len(plan.coarser().passes) == len(plan.passes) - 1


@pytest.mark.parametrize("side", [1, 7, 96, 1000])
@pytest.mark.parametrize("margin", [0, 5, 100, 1000])
def test_tiles_cover_the_picture_once(side, margin):
    shape = (53, 20) if side == 1 else (200, 301)
    covered = np.zeros(shape, int)
    both = margin, 2 * margin
    for tile in tiles(shape, side, both):
        covered[tile.rows, tile.columns] += 1
        for own, outer, around, n in zip(tile[:2], tile[2:], both, shape, strict=True):
            assert outer.start % _core.tile == 0
            assert outer.start <= max(own.start - around, 0)
            assert outer.stop == min(own.stop + around, n)
    assert (covered == 1).all()


@pytest.mark.parametrize(
    ("preset", "changes", "expected"),
    [
        (
            "auto",
            {},
            Margins(matching=22, shift=5, aggregation=math.ceil(3 * math.sqrt(12000)) + 23, confidence=24, filter=44),
        ),
        ("auto", {"filter": "guided"}, Margins(22, 5, math.ceil(3 * math.sqrt(12000)) + 23, 24, 88)),
        ("auto", {"outlines": 0}, Margins(22, 5, math.ceil(3 * math.sqrt(12000)), 24, 37)),
        ("dslr-a", {}, Margins(18, 5, math.ceil(3 * 3 * math.sqrt(3.2 / 0.04)), 0, 0)),
        ("dslr-b", {}, Margins(18, 5, math.ceil(6 * 3 * math.sqrt(1.3 / 0.075)), 0, 0)),
        ("dslr-a", {"invalid_threshold": 0}, Margins(18, 5, None, 0, 0)),
        ("phone", {"filter": "solver"}, Margins(29, 5, math.ceil(3 * math.sqrt(5000)), 24, None)),
        ("auto", {"noise_floor": 0}, Margins(22, 5, math.ceil(3 * math.sqrt(12000)) + 23, 0, 44)),
        ("stereo", {}, Margins(2 + 2 + 127, 10, 10 + 64, 0, 0)),
        ("stereo", {"speckles": (9.0, 2.0)}, Margins(2 + 2 + 64, 10, 10 + 64, 0, 0)),
        ("stereo", {"filter": "guided"}, Margins(2 + 2 + 127, 10, 10 + 64, 0, None)),
        ("stereo-paper", {}, Margins(7 + 2 + 127, 10, None, 0, 0)),
    ],
)
def test_every_stage_declares_its_margin(preset, changes, expected):
    """For disparities of -4 to 4 px; None is the whole picture."""
    params = dualpix.preset(preset).replace(**changes)
    plan = replace(solved()[1], params=params)
    assert margins(plan, (-4, 4)) == expected


def test_solving_needs_what_matching_and_aggregation_need_together():
    assert Margins(3, 5, 4, 2, 1).local == (3, 8)
    assert Margins(3, 5, 4, 2, None).solving == (7, 12)
    assert Margins(3, 5, 4, 2, 1).all == (10, 15)
    assert Margins(3, 5, None, 0, 0).solving is Margins(3, 5, 4, 0, None).all is None
