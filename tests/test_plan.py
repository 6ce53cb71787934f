"""The plan: immutable, exact as JSON, and good for the next frame."""

import json
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise

import numpy as np
import pytest

import dualpix
from conftest import textured_pair
from dualpix.camera.lens import NO_LENS
from dualpix.method.api import method_for
from dualpix.method.finish import finish
from dualpix.method.frame import Frame
from dualpix.method.plan import Plan
from dualpix.method.prepare import develop, prepare
from dualpix.method.priors import Prior
from dualpix.method.solve import solve
from dualpix.method.views import cross_check
from dualpix.run import Run
from dualpix.types import Pair, Parabolas

SMALL = {"window": 2.0, "encc_window": 5}


@pytest.fixture(scope="module")
def views():
    left, right = (view / 255 for view in textured_pair((300, 400), 1.3))
    return left, right * np.linspace(1, 0.8, 400, dtype=np.float32)


def run_plan(pair, plan, run, priors=()):
    """A pair solved by a plan that was made elsewhere."""
    pyramid = develop(pair, plan.method, NO_LENS, run)
    prepare(pyramid, plan, run)
    belief = solve(pyramid, plan, priors, run=run)
    return finish(belief, cross_check(belief, pyramid, plan, run), pyramid, plan, NO_LENS, run)


@pytest.mark.parametrize("options", [{}, {"range": (-4, 4)}, {"preset": "stereo"}, {"mask_occluded": True}])
def test_a_plan_from_json_gives_the_same_bytes(views, options):
    """In another process, say."""
    result = dualpix.disparity(*views, **SMALL | options if "preset" not in options else options)
    plan = Plan.from_dict(json.loads(json.dumps(result.plan.to_dict())))
    assert plan.to_dict() == result.plan.to_dict()
    again = run_plan(Pair(*views), plan, Run(2))
    np.testing.assert_array_equal(again.disparity, result.disparity)
    np.testing.assert_array_equal(again.confidence, result.confidence)
    assert again.searched == result.searched
    assert again.warnings == result.warnings


def test_warnings_of_one_frame_do_not_come_back_with_the_next():
    """Those about the match belong to the frame, not to the plan that the next frame uses."""
    frames = np.random.default_rng(0).uniform(0, 1, (2, 60, 90)).astype(np.float32)
    result = dualpix.disparity(*frames, "stereo")
    assert any("fail the left-right check" in note for note in result.warnings)
    left, right = (view / 255 for view in textured_pair((60, 90), 3))
    assert run_plan(Pair(*frames), result.plan, Run(2)).warnings == result.warnings
    assert run_plan(Pair(left, right), result.plan, Run(2)).warnings == ()


def test_a_plan_cannot_be_changed(views):
    plan = dualpix.disparity(*views, **SMALL).plan
    with pytest.raises(FrozenInstanceError):
        plan.passes = (1,)


def test_the_sidecar_gets_a_summary_without_the_grid_of_gains(views):
    summary = dualpix.disparity(*views, **SMALL).plan.summary()
    low, high = summary["gains"]["right"]
    assert 0.9 < low < high < 1.4
    assert len(json.dumps(summary)) < 2000


def test_a_finished_run_records_the_mean_curvature_of_every_scale(views):
    result = dualpix.disparity(*views, **SMALL)
    assert len(result.plan.curvatures) == len(result.plan.passes)
    assert all(curvature > 0 for curvature in result.plan.curvatures)


# ---- the belief, and priors ------------------------------------------------------------------------------


def test_the_belief_is_the_map(views):
    result = dualpix.disparity(*views, **SMALL, outlines=0, polish=0)
    np.testing.assert_array_equal(np.clip(result.belief.disparity(), *result.searched), result.disparity)
    assert result.belief.A.min() >= 0


@pytest.mark.parametrize("number", [1, 2, 3])
def test_any_number_of_priors(views, number):
    """A prior that is sure of 2.5 px pulls a true 1.3 px there; the more of them, the further."""
    pair, plan = Pair(*views), dualpix.disparity(*views, range=(-8, 8), **SMALL).plan
    A = np.full((300, 400), 5, np.float32)
    prior = Prior(Parabolas(A, -2 * A * np.float32(2.5)))
    maps = [np.median(run_plan(pair, plan, Run(2), [prior] * n).disparity) for n in range(number + 1)]
    assert maps[0] == pytest.approx(1.3, abs=0.05)
    assert all(before < after - 0.01 for before, after in pairwise(maps))
    assert maps[-1] < 2.5


def test_a_weak_prior_changes_nothing(views):
    pair, plan = Pair(*views), dualpix.disparity(*views, **SMALL).plan
    prior = Prior(Parabolas(np.zeros((300, 400), np.float32), np.zeros((300, 400), np.float32)))
    plain, given = run_plan(pair, plan, Run(2)), run_plan(pair, plan, Run(2), [prior])
    np.testing.assert_array_equal(given.disparity, plain.disparity)


def test_a_prior_fills_what_has_no_texture():
    """Half of the picture is blank; the belief of the textured picture tells its disparity."""
    left, right = (view / 255 for view in textured_pair((300, 400), 1.3))
    known = dualpix.disparity(left, right, **SMALL)
    blank = [view.copy() for view in (left, right)]
    for view in blank:
        view[:, 200:] = 0.5
    plan = replace(known.plan, gains=replace(known.plan.gains, right=None))
    found = run_plan(Pair(*blank), plan, Run(2), [Prior(known.belief, weight=0.1)])
    np.testing.assert_allclose(found.disparity[50:-50, 250:-50], 1.3, atol=0.1)


# ---- the frame -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("aspect", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("axis", ["x", "y"])
def test_a_frame_is_undone(aspect, axis):
    frame = Frame((60, 80), aspect, axis)
    ramp = np.tile(np.linspace(0, 1, 80, dtype=np.float32), (60, 1))
    square = frame.square(ramp)
    assert square.shape == frame.square_shape
    matched = square if axis == "x" else np.ascontiguousarray(square.T)
    assert matched.shape[1] == frame.length
    np.testing.assert_allclose(frame.back(matched)[:, 2:-2], ramp[:, 2:-2], atol=0.01)
    assert frame.back_disparity(np.ones_like(matched)).max() == pytest.approx(1 / frame.stretch)


def test_method_for_takes_the_black_level_of_the_calibration():
    assert method_for("auto", {"black": 64.0}).params.photometry.black == 64
