"""The temporal prior and sequences: against the oracle, at cuts, at rest, in both directions of time."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import dualpix
import reference
import reference_video
from conftest import textured_pair
from dualpix.method import motion, temporal, two_sided
from dualpix.method.frames import covers
from dualpix.method.moments import Moment
from dualpix.run import Run
from dualpix.types import Pair, Parabolas, Signs


def noisy(view, seed, std=3.0):
    """8-bit view with noise."""
    rng = np.random.default_rng(seed)
    return np.clip(np.rint(view + rng.normal(0, std, view.shape)), 0, 255).astype(np.uint8)


def resting_clip(count, d=1.3, shape=(96, 120), scene=0, std=3.0):
    """Frames of a scene at rest: only the noise changes."""
    left, right = textured_pair(shape, d, scene)
    return [(noisy(left, 2 * n, std), noisy(right, 2 * n + 1, std)) for n in range(count)]


def maps_of(frames, **settings):
    return np.array([result.disparity for result in dualpix.sequence(frames, axis="x", **settings)])


def alone(frames, **settings):
    return np.array([dualpix.disparity(*frame, axis="x", **settings).disparity for frame in frames])


def changes(maps):
    """The median absolute change from frame to frame."""
    return float(np.median(np.abs(np.diff(maps, axis=0))))


# ---- against the oracle ----------------------------------------------------------------------------------


def some_flow(shape, seed, size=3):
    """Smooth random flow of multiples of 1/32 px."""
    rng = np.random.default_rng(seed)
    values = rng.uniform(-size, size, (*shape, 2))
    return (np.round(32 * values) / 32).astype(np.float32)


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (9, 1), (40, 33)])
def test_similarity_is_that_of_the_oracle(shape):
    rng = np.random.default_rng(1)
    other, now = (rng.uniform(100, 130, shape).astype(np.float32) for _ in range(2))
    flow = some_flow(shape, 2, 0.7)
    back = -flow + rng.normal(0, 0.5, flow.shape).astype(np.float32)
    found = motion.similarity_of(flow, back, other, now, 2)
    np.testing.assert_allclose(found, reference_video.similarity(flow, back, other, now), atol=1e-4)


@pytest.mark.parametrize("shape", [(20, 31), (65, 70), (131, 96)])
@pytest.mark.parametrize("knows_coarser", [True, False])
def test_the_prior_is_that_of_the_oracle(shape, knows_coarser):
    """Small pictures have their full size, larger ones half; odd sizes, too."""
    rng = np.random.default_rng(3)
    A = rng.uniform(0.5, 30, shape).astype(np.float32)
    B = (-2 * A * rng.uniform(-1, 1, shape)).astype(np.float32)
    halvings = motion.halvings(shape)
    small = tuple(-(-n // 2**halvings) for n in shape)
    half = tuple(-(-n // 2) for n in shape)
    flow, s = some_flow(small, 4), rng.uniform(0, 1, small).astype(np.float32)
    coarse, before = (rng.uniform(-0.5, 0.5, half).astype(np.float32) for _ in range(2))
    coarse += 0.2
    signs = Signs(coarser=before[::2, ::2].copy()) if knows_coarser else None
    prior = temporal.Temporal(Parabolas(A, B, signs=signs), motion.Motion(flow, s), 3.0)
    level = SimpleNamespace(factor=1)
    *found, factor, weight, limit = prior.at(level, 2, Parabolas(np.ones(half, np.float32), -2 * coarse))
    assert (factor, weight, limit) == (1, 1, 0)
    expected = reference_video.temporal_prior(
        *(each.astype(float) for each in (A, B, flow, s)), halvings, 3.0, coarse, before if knows_coarser else None
    )
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-4)


def test_the_prior_enters_at_the_finest_scale_only():
    belief = Parabolas(np.ones((8, 8), np.float32), np.ones((8, 8), np.float32))
    still = motion.Motion(np.zeros((8, 8, 2), np.float32), np.ones((8, 8), np.float32))
    prior = temporal.Temporal(belief, still, 1.0)
    assert prior.at(SimpleNamespace(factor=2), 1, None) is None
    A, B, *_ = prior.at(SimpleNamespace(factor=1), 1, None)
    np.testing.assert_allclose((A, B), 0.5)


def test_a_message_is_the_lower_envelope():
    A, B, P = 3.0, -2.0, 0.7
    d = np.linspace(-2, 2, 41)
    other = np.linspace(-5, 5, 100_001)
    envelope = np.array([(A * other**2 + B * other + P * (each - other) ** 2).min() for each in d])
    a, b = (float(each[0]) for each in temporal.message(Parabolas(np.array([A]), np.array([B])), np.array([P])))
    found = a * d**2 + b * d
    np.testing.assert_allclose(found - found[0], envelope - envelope[0], atol=1e-6)


def test_what_comes_nearer_by_itself_is_told_from_a_focus_pull():
    before = np.zeros((40, 50), np.float32)
    now = np.full((80, 100), 0.1, np.float32)
    now[20:60, :40] += 0.15
    nearer, same = temporal.change(now, before, np.ones((160, 200), np.float32), 1)
    assert nearer == pytest.approx(0.2)  # px of the finer scale
    assert same[15:25, 5:15].max() < 1e-6
    assert same[:, 26:].min() == pytest.approx(1)
    assert temporal.change(now, before, np.zeros((160, 200), np.float32), 1)[0] == 0


def test_no_similarity_means_no_message():
    zero = np.zeros((2, 2), np.float32)
    np.testing.assert_array_equal(temporal.message(Parabolas(zero, zero), zero), 0)
    np.testing.assert_array_equal(temporal.message(Parabolas(zero + 1, zero + 1), zero), 0)


# ---- motion ----------------------------------------------------------------------------------------------


def test_flow_finds_where_pixels_came_from():
    picture, _ = textured_pair((96, 128), 0)
    now = np.roll(picture, (2, 5), (0, 1))
    found = motion.find_motion(picture, now, "flow", 2)
    inner = (slice(20, -20), slice(20, -20))
    np.testing.assert_allclose(np.median(found.flow[inner], axis=(0, 1)), (-5, -2), atol=0.1)
    assert np.median(found.similarity[inner]) > 0.9
    assert found.similarity[:, 0].max() < 0.5  # it came from outside
    assert not found.is_cut
    still = motion.find_motion(picture, now, "none", 2)
    assert not still.flow.any()
    assert still.similarity.mean() < found.similarity.mean()


def test_flow_does_not_depend_on_threads():
    picture, other = textured_pair((96, 128), 3)
    one, two = (motion.flows(picture, other, threads) for threads in (1, 2))
    np.testing.assert_array_equal(one, two)


def test_another_scene_is_a_cut():
    first, second = textured_pair((96, 128), 0, 1)[0], textured_pair((96, 128), 0, 2)[0]
    assert motion.find_motion(first, second, "flow", 2).is_cut
    assert motion.find_motion(first, second, "none", 2).is_cut


@pytest.mark.parametrize(
    ("shape", "times"),
    [((1, 1), 0), ((63, 999), 0), ((64, 64), 1), ((480, 640), 1), ((1080, 1920), 1), ((2160, 3840), 2)],
)
def test_pictures_are_halved_for_the_flow(shape, times):
    assert motion.halvings(shape) == times


# ---- sequences -------------------------------------------------------------------------------------------


def test_a_scene_at_rest_flickers_less_and_is_nearer_to_the_truth():
    frames = resting_clip(7)
    single, steady, both = alone(frames), maps_of(frames), maps_of(frames, two_sided=True)
    np.testing.assert_array_equal(steady[0], single[0])  # nothing is known before it
    assert changes(steady[2:]) < 0.4 * changes(single[2:])
    assert changes(both) < changes(steady[1:])
    errors = [float(np.abs(maps - 1.3).mean()) for maps in (single, steady, both)]
    assert errors[1] <= errors[0]
    assert errors[2] <= errors[0]


def test_nothing_remains_behind_a_cut():
    frames = resting_clip(3, 1.3, scene=1) + resting_clip(2, -0.8, scene=2)
    clip = dualpix.Sequence(axis="x")
    results, cuts = [], []
    for frame in frames:
        results.append(clip.add(*frame))
        cuts.append(clip.moment.cut)
    assert cuts == [True, False, False, True, False]
    assert results[1].plan.search == results[0].plan.search
    np.testing.assert_array_equal(results[3].disparity, alone(frames[3:4])[0])
    assert "survey" in results[3].timings
    assert "survey" not in results[4].timings
    both = maps_of(frames, two_sided=True)
    assert np.abs(np.median(both[2]) - 1.3) < 0.1
    assert np.abs(np.median(both[3]) + 0.8) < 0.1


def test_a_moving_picture_takes_its_belief_along():
    left, right = textured_pair((96, 160), 1.3)
    frames = [(noisy(np.roll(left, 3 * n, 1), 2 * n), noisy(np.roll(right, 3 * n, 1), 2 * n + 1)) for n in range(5)]
    maps, single = maps_of(frames), alone(frames)
    along = [np.roll(each[3], 3, 1)[20:-20, 30:-30] - each[4][20:-20, 30:-30] for each in (maps, single)]
    assert np.median(np.abs(along[0])) < 0.5 * np.median(np.abs(along[1]))


def test_a_focus_pull_does_not_lag():
    """All disparities grow by 0.1 px a frame. Without the shift of the prior, the error would be twice as large."""
    shifts = 0.5 + 0.1 * np.arange(6)
    frames = [tuple(noisy(view, n, 2) for view in textured_pair((300, 300), d, 5)) for n, d in enumerate(shifts)]
    steady, single = (np.abs(maps - shifts[:, None, None]).mean() for maps in (maps_of(frames), alone(frames)))
    assert steady <= single


@pytest.mark.parametrize(("polish", "share"), [(0.2, 1), ("auto", 0.999)])
def test_weight_0_solves_every_frame_alone(polish, share):
    """Only the survey is that of the first frame. A weak polish leaves some pixels at the borders that differ."""
    frames = resting_clip(3)
    maps, single = maps_of(frames, weight=0, polish=polish), alone(frames, polish=polish)
    np.testing.assert_array_equal(maps[0], single[0])
    assert (np.abs(maps - single) < 0.05).mean() >= share


def test_a_scene_that_is_surveyed_again_stays_as_smooth():
    """The disparities have left the range. The noise is not measured again, or the map would flicker."""
    frames, clip = resting_clip(2), dualpix.Sequence(axis="x")
    clip.add(*frames[0])
    plan = clip.moment.plan
    plan = replace(plan, params=plan.params.replace(first_penalty=0.5, suspicion=0.4, polish=0.17))
    clip.moment = clip.moment._replace(plan=plan, covered=False)
    again = clip.add(*frames[1])
    assert "survey" in again.timings
    assert (again.params.first_penalty, again.params.suspicion, again.params.polish) == (0.5, 0.4, 0.17)


def test_results_do_not_depend_on_threads():
    frames = resting_clip(3)
    np.testing.assert_array_equal(maps_of(frames, threads=1), maps_of(frames, threads=2))


def test_a_sequence_goes_on_from_a_moment():
    frames = resting_clip(4)
    first = dualpix.Sequence(axis="x")
    expected = [first.add(*frame).disparity for frame in frames[:2]]
    second = dualpix.Sequence(axis="x")
    second.moment = first.moment
    expected += [first.add(*frame).disparity for frame in frames[2:]]
    np.testing.assert_array_equal([second.add(*frame).disparity for frame in frames[2:]], expected[2:])


def test_a_blank_start_is_surveyed_again():
    dark = np.zeros((96, 120), np.uint8)
    frames = [(dark, dark), *resting_clip(2)]
    maps = maps_of(frames)
    np.testing.assert_array_equal(maps[0], 0)
    np.testing.assert_array_equal(maps[1], alone(frames[1:2])[0])


def test_disparities_at_the_end_of_the_range_ask_for_a_survey():
    result = dualpix.disparity(*resting_clip(1)[0], axis="x")
    first, last = result.plan.search.start
    flat = np.ones((40, 40), np.float32)
    for d, expected in ((first + 1.1, True), (last - 1.1, True), (first + 0.9, False), (last - 0.9, False)):
        factor = 2 ** (len(result.plan.passes) - 1)
        assert covers(result.plan, Parabolas(flat, -2 * factor * d * flat)) == expected
    given = replace(result.plan, search=replace(result.plan.search, start=None))
    assert covers(given, Parabolas(flat, 1000 * flat))


def test_views_differ_along_y():
    frames = [tuple(np.ascontiguousarray(view.T) for view in frame) for frame in resting_clip(4)]
    maps = np.array([result.disparity for result in dualpix.sequence(frames, axis="y")])
    np.testing.assert_allclose(maps, maps_of(resting_clip(4)).transpose(0, 2, 1), atol=1e-4)


# ---- both sides ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("count", "tolerance"), [(1, 1e-6), (2, 1e-6), (18, 1e-6), (40, 2e-3)])
def test_both_sides_are_exact_as_along_a_path(monkeypatch, count, tolerance):
    """With a frame that adds messages to its evidence, the result is the minimum over all other frames.

    In clips that are longer than a block, the future ends some frames ahead.
    """
    rng = np.random.default_rng(0)
    alpha, beta = rng.uniform(1, 2, (count, 2, 3)), rng.uniform(-1, 1, (count, 2, 3))
    P = np.full((2, 3), 2.0)

    def solve_frame(pair, filming, beside, run, plan=None):
        A, B = alpha[pair], beta[pair]
        for moment in beside:
            a, b = temporal.message(moment.belief, P)
            A, B = A + a, B + b
        belief = Parabolas(A, B)
        return belief, Moment(None, None, belief, cut=False)

    monkeypatch.setattr(two_sided, "solve_frame", solve_frame)
    found = [result for result, _ in two_sided.solve_both_sides(range(count), None, Run)]
    A, B = reference_video.chain(alpha, beta, 2.0)
    d = np.array([reference.minimizer(each.A, each.B) for each in found])
    np.testing.assert_allclose(d, reference.minimizer(A, B), atol=tolerance)
    np.testing.assert_allclose([each.A for each in found], A, rtol=tolerance)


# ---- what a user may do wrong ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"motion": "fast"}, "motion must be flow or none, not 'fast'"),
        ({"weight": -1}, "weight must be"),
        ({"weight": float("nan")}, "weight must be"),
        ({"axis": "z"}, "axis must be x or y"),
        ({"preset": "nothing"}, "nothing"),
        ({"wibble": 1}, "wibble"),
    ],
)
def test_bad_settings_are_refused_at_once(settings, message):
    with pytest.raises(dualpix.ParameterError, match=message):
        dualpix.sequence([], **settings)


def test_frames_of_another_size_are_refused():
    clip = dualpix.Sequence(axis="x")
    clip.add(*resting_clip(1)[0])
    with pytest.raises(dualpix.InputError, match="left is 100x80 but the frames before are 120x96: give frames of the"):
        clip.add(*resting_clip(1, shape=(80, 100))[0])
    left, right = resting_clip(1)[0]
    with pytest.raises(dualpix.InputError, match="another EXIF orientation"):
        clip.add(Pair(left, right, orientation=3))
    with pytest.raises(dualpix.InputError, match="a tuple of 1"):
        next(dualpix.sequence([(left,)]))


def test_the_memory_of_the_frame_before_counts():
    frame = resting_clip(1, shape=(480, 640))[0]
    alone, more = 0.03 + 4e-9 * 480 * 640 * 8.5, 4e-9 * 480 * 640 * 8.5  # GB
    dualpix.disparity(*frame, mem_limit=alone + more / 2)
    with pytest.raises(dualpix.InputError, match="mem_limit"):
        dualpix.Sequence(mem_limit=alone + more / 2).add(*frame)


def test_both_sides_pass_a_cut_where_the_axis_changes():
    """What comes after a cut says nothing about the frame before it, and may have another shape."""
    along_x = resting_clip(2)
    along_y = [
        tuple(np.ascontiguousarray(view.T) for view in pair) for pair in resting_clip(2, scene=5, shape=(120, 96))
    ]
    results = list(dualpix.sequence([*along_x, *along_y], two_sided=True))
    assert [result.disparity.shape for result in results] == [along_x[0][0].shape] * 4
