"""The baselines for dual pixels, sdof and dpdisp: their kernel and costs against plain NumPy, and as called."""

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dualpix
from conftest import textured_pair
from dualpix import InputError, ParameterError, _core
from dualpix.baselines import Estimate, _dpdisp, _sdof, _tiles, dpdisp, sdof
from dualpix.camera.optics import half_disc

METHOD = pytest.mark.parametrize("method", [sdof, dpdisp])
RNG = np.random.default_rng(6)


# ---- oracles -----------------------------------------------------------------------------------------------


def convolved(view, kernel):
    """(k * I)(y, x) = sum of k(v, u) I(y - v, x - u), with I mirrored outside."""
    (h, w), (v, u) = view.shape, (side // 2 for side in kernel.shape)
    padded = np.pad(view.astype(float), ((v, v), (u, u)), mode="symmetric")
    flipped = kernel[::-1, ::-1]
    return np.array(
        [[(flipped * padded[y : y + 2 * v + 1, x : x + 2 * u + 1]).sum() for x in range(w)] for y in range(h)]
    )


def tiles_of(values, tile, reach=0):
    """The pixels of every tile and of those around it."""
    rows, columns = (range(0, side, tile) for side in values.shape)
    around = [
        [slice(max(0, at - reach * tile), at + (reach + 1) * tile) for at in starts] for starts in (rows, columns)
    ]
    return [[values[y, x] for x in around[1]] for y in around[0]]


def costs(left, right, kernels):
    e = (convolved(left, k_left) - convolved(right, k_right) for k_left, k_right in kernels)
    return np.array([[[t.var() for t in row] for row in tiles_of(values, _tiles.TILE, _tiles.REACH)] for values in e])


def best(C, steps, texture):
    """One tile at a time."""
    vertex, confidence = np.empty(C.shape[1:]), np.empty(C.shape[1:])
    for at in np.ndindex(vertex.shape):
        c = C[(slice(None), *at)].astype(float)
        n = min(range(1, len(c) - 1), key=lambda i: c[i])
        l, r = max(c[n - 1] - c[n], 0), max(c[n + 1] - c[n], 0)  # noqa: E741
        second = max(c[n], min(c[i] for i in range(len(c)) if abs(i - n) / steps >= 2))
        curvature = (l + r) / 2 * steps**2
        vertex[at] = n + ((l - r) / (2 * (l + r)) if l + r else 0)
        shares = (
            curvature / (curvature + c[n] + _tiles.NOISE),
            (second - c[n]) / (second + _tiles.NOISE),
            texture[at] / (texture[at] + _tiles.TEXTURE),
        )
        confidence[at] = np.prod(shares)
    return vertex, confidence


# ---- the kernel --------------------------------------------------------------------------------------------


def kernel(left, right, k_left, k_right, tile=8, margin=None, threads=2):
    margin = max(side // 2 for k in (k_left, k_right) for side in k.shape) if margin is None else margin
    views = (np.pad(np.asarray(view, np.float32), margin, mode="symmetric") for view in (left, right))
    sums = np.full((2, *(-(-side // tile) for side in left.shape)), np.nan, np.float32)
    _core.tile_sums(*views, np.float32(k_left), np.float32(k_right), *sums, margin=margin, tile=tile, threads=threads)
    return sums


def compare(left, right, k_left, k_right, tile, margin=None):
    e = convolved(left, k_left) - convolved(right, k_right)
    expected = [[[t.sum() for t in row] for row in tiles_of(values, tile)] for values in (e, e**2)]
    scale = np.abs(k_left).sum() * np.abs(left).max() + np.abs(k_right).sum() * np.abs(right).max()
    for sums, wanted, unit in zip(
        kernel(left, right, k_left, k_right, tile, margin), expected, (1, scale), strict=True
    ):
        np.testing.assert_allclose(sums, wanted, rtol=1e-5, atol=1e-6 * scale * unit * min(tile, max(left.shape)) ** 2)


def noise(*shape, rng=RNG):
    return rng.uniform(0, 255, shape)


def sparse(*shape, rng=RNG):
    """A kernel without symmetry, half of its taps 0."""
    return rng.normal(0, 1, shape) * (rng.random(shape) < 0.5)


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (40, 1), (7, 9), (8, 32), (17, 33), (9, 75)])
@pytest.mark.parametrize("tile", [1, 3, 8, 100])
def test_kernel(shape, tile):
    compare(noise(*shape), noise(*shape), sparse(3, 5), sparse(7, 1), tile)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.full((9, 40), 77.0), np.full((9, 40), 77.0)),
        (np.zeros((9, 40)), np.full((9, 40), 255.0)),
        (255.0 * (np.indices((9, 40)).sum(axis=0) % 2), np.zeros((9, 40))),
        (noise(9, 40) * 1e15, noise(9, 40) * 1e-15),
    ],
)
def test_kernel_on_extremes(left, right):
    compare(left, right, half_disc(-3), half_disc(3), 8)


def test_kernel_with_more_margin_than_it_needs():
    compare(noise(12, 20), noise(12, 20), sparse(3, 3), sparse(1, 1), 4, margin=6)


@settings(max_examples=40)
@given(
    shape=st.tuples(st.integers(1, 20), st.integers(1, 70)),
    halves=st.lists(st.integers(0, 4), min_size=4, max_size=4),
    tile=st.integers(1, 20),
    seed=st.integers(0, 1000),
)
def test_any_shapes(shape, halves, tile, seed):
    rng = np.random.default_rng(seed)
    sides = [2 * half + 1 for half in halves]
    left, right = noise(*shape, rng=rng), noise(*shape, rng=rng)
    compare(left, right, sparse(*sides[:2], rng=rng), sparse(*sides[2:], rng=rng), tile)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_kernel_keeps_what_is_no_number_to_its_tiles(value):
    left, right = noise(24, 40), noise(24, 40)
    clean = kernel(left, right, np.ones((3, 3)), np.ones((1, 1)))
    left[8, 20] = value
    sums = kernel(left, right, np.ones((3, 3)), np.ones((1, 1)))
    reached = np.zeros((3, 5), bool)
    reached[:2, 2] = True
    assert not np.isfinite(sums[:, reached]).any()
    np.testing.assert_array_equal(sums[:, ~reached], clean[:, ~reached])


@pytest.mark.parametrize("shape", [(1, 300), (70, 35), (64, 129)])
def test_threads_do_not_matter(shape):
    inputs = noise(*shape), noise(*shape), sparse(5, 5), sparse(3, 7)
    one = kernel(*inputs, threads=1)
    for threads in (2, 3, 8):
        assert kernel(*inputs, threads=threads).tobytes() == one.tobytes()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"right": np.zeros((12, 13), np.float32)}, "same shape"),
        ({"k_left": np.zeros((2, 3), np.float32)}, "odd sides"),
        ({"k_right": np.zeros((3, 0), np.float32)}, "odd sides"),
        ({"k_right": np.zeros((1, 7), np.float32)}, "beyond the margin"),
        ({"margin": -1}, "exceed their margin"),
        ({"margin": 6}, "exceed their margin"),
        ({"margin": 2**31 - 1}, "exceed their margin"),
        ({"tile": 0}, "tile must be"),
        ({"tile": 3}, "one value a tile"),
        ({"squares": np.zeros((2, 3), np.float32)}, "shape of sums"),
    ],
)
def test_kernel_refuses(changes, message):
    view, sums, taps = (np.zeros(shape, np.float32) for shape in ((12, 12), (2, 2), (3, 3)))
    given = {"left": view, "right": view, "k_left": taps, "k_right": taps, "sums": sums, "squares": sums.copy()}
    with pytest.raises(ValueError, match=message):
        _core.tile_sums(**given | {"margin": 2, "tile": 4, "threads": 1} | changes)


# ---- tiles -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("columns", [-3, 0, 2])
def test_moved(columns):
    view, taps = noise(5, 30), sparse(3, 3)
    expected = np.roll(convolved(view, taps), columns, axis=1)[:, 6:-6]
    np.testing.assert_allclose(convolved(view, _tiles.moved(taps, columns))[:, 6:-6], expected)


@pytest.mark.parametrize("kernels", [_sdof.shift, _dpdisp.exchanged_blur])
@pytest.mark.parametrize("shape", [(1, 1), (5, 70), (50, 7), (57, 61)])
def test_costs(kernels, shape):
    left, right = noise(*shape).astype(np.float32), noise(*shape).astype(np.float32)
    pairs = [kernels(d) for d in (-4, 0, 1, 3)]
    np.testing.assert_allclose(
        _tiles.tile_costs(left, right, pairs, 2), costs(left, right, pairs), rtol=1e-4, atol=1e-3
    )


def test_texture_is_that_along_x():
    y, x = np.mgrid[:64, :64].astype(np.float32)
    ((_, texture),) = _tiles.tile_moments(3 * x + 20 * y, y, [(_tiles.SLOPE, _tiles.NOTHING)], 1)
    np.testing.assert_allclose(texture[3:5, 3:5], 9, rtol=1e-6)


def test_kernels_bring_the_views_together():
    """A point of disparity d at x = 20 of the left view: there, and nowhere else, the difference vanishes."""
    scene = np.zeros((31, 61))
    scene[15, 18] = 1
    for d, centre in ((4, 20), (-4, 16)):
        left, right = convolved(scene, half_disc(d)), convolved(scene, half_disc(-d))
        k_left, k_right = _dpdisp.exchanged_blur(d)
        met = convolved(left, k_left)
        np.testing.assert_allclose(met, convolved(right, k_right), atol=1e-12)
        assert (met * np.arange(61)).sum() / met.sum() == pytest.approx(centre)


@pytest.mark.parametrize("steps", [1, 2])
def test_best(steps):
    C = RNG.uniform(0, 100, (9, 6, 7)).astype(np.float32)
    C[:, 0, 0] = 5
    C[:, 0, 1] = np.arange(9)
    C[:, 0, 2] = np.arange(9)[::-1]
    C[:, 0, 3] = 0
    C[:, 0, 4] = 1e30
    texture = RNG.uniform(0, 20, (6, 7))
    texture[1, 1] = 0
    vertex, confidence = _tiles.best(C, steps, texture)
    expected_vertex, expected_confidence = best(C, steps, texture)
    np.testing.assert_allclose(vertex, expected_vertex, atol=1e-5)
    np.testing.assert_allclose(confidence, expected_confidence, rtol=1e-4, atol=1e-6)
    assert confidence[0, 0] == confidence[0, 3] == confidence[1, 1] == 0
    assert (C >= 0).all()
    assert np.isfinite(C).all()


def test_best_of_two_disparities_and_their_neighbours():
    C = np.array([3, 1, 2, 7], np.float32)[:, None, None]
    vertex, confidence = _tiles.best(C, 1, np.full((1, 1), 4.0))
    assert vertex[0, 0] == pytest.approx(1 + (2 - 1) / (2 * 3))
    assert confidence[0, 0] == pytest.approx(1.5 / 3.5 * 6 / 8 / 2)
    # half the distance, four times the curvature, and none two pixels away
    assert _tiles.best(C, 2, np.full((1, 1), 4.0))[1][0, 0] == pytest.approx(6 / 8 / 2)


# ---- as called ---------------------------------------------------------------------------------------------


def texture(*shape, seed=0):
    """Noise of a scale of about a pixel and a half, 0 to 1."""
    image = cv2.GaussianBlur(np.random.default_rng(seed).random(shape), (0, 0), 1.0)
    return ((image - image.min()) / np.ptp(image)).astype(np.float32)


def ranks(values):
    return np.argsort(np.argsort(values, axis=None))


@pytest.mark.parametrize("shift", [3, -2, 1.3, -4.6])
def test_sdof_finds_a_shift(shift):
    left, right = (view / 255 for view in textured_pair((60, 160), shift))
    estimate = sdof(left, right)
    assert isinstance(estimate, Estimate)
    assert np.abs(estimate.disparity[:, 24:-24] - shift).max() < 0.1


@pytest.mark.parametrize("d", [5, -3, 2.5, -0.6])
def test_dpdisp_finds_a_defocus(d):
    left, right, truth = dualpix.simulate(texture(80, 160), np.full((80, 160), d))
    disparity, confidence = dpdisp(left, right)
    error = np.abs(disparity - truth)[24:-24, 24:-24]
    assert np.median(error) < 0.08
    assert np.quantile(error, 0.95) < 0.3
    assert confidence.mean() > 0.1


@METHOD
@pytest.mark.parametrize("noise", [0, 0.01])
def test_orders_what_was_simulated(method, noise):
    y, x = np.mgrid[:160, :256]
    scene = -4 + 8 * x / 256 + np.sin(y / 30)
    left, right, truth = dualpix.simulate(texture(160, 256), scene, noise=noise)
    disparity = method(left, right).disparity
    assert np.corrcoef(ranks(disparity), ranks(truth))[0, 1] > 0.95
    assert np.median(np.abs(disparity - truth)) < 0.3  # the upsampling flattens slopes


def test_dpdisp_maps_the_left_view():
    """An edge lies where the left view shows it, half of d from where the middle of the aperture does."""
    scene = np.where(np.arange(256) < 128, 0.0, 8.0) * np.ones((128, 1))
    left, right, truth = dualpix.simulate(texture(128, 256), scene)
    assert (truth > 4).sum(axis=1).mean() < 126
    disparity = dpdisp(left, right).disparity
    assert abs((disparity > 4).sum(axis=1).mean() - (truth > 4).sum(axis=1).mean()) < 4


@METHOD
def test_shapes_types_and_bounds(method):
    views = RNG.integers(0, 256, (2, 37, 91, 3)).astype(np.uint8)
    disparity, confidence = method(*views, (-3, 5))
    for values in (disparity, confidence):
        assert values.shape == (37, 91)
        assert values.dtype == np.float32
        assert np.isfinite(values).all()
    assert disparity.min() >= -3.5
    assert disparity.max() <= 5.5
    assert confidence.min() >= 0
    assert confidence.max() <= 1


@METHOD
def test_range_is_rounded_outwards_and_has_a_default(method):
    views = RNG.integers(0, 256, (2, 20, 60)).astype(np.uint8)
    np.testing.assert_array_equal(method(*views, (-2.5, 3.1)), method(*views, (-3, 4)))
    np.testing.assert_array_equal(method(*views), method(*views, (-12, 12)))


@METHOD
def test_ends_of_the_range_can_be_found(method):
    left, right, _ = dualpix.simulate(texture(64, 128), np.full((64, 128), 3))
    for limits in ((-5, 3), (3, 9)):
        assert np.median(method(left, right, limits).disparity) == pytest.approx(3, abs=0.2)


@METHOD
@pytest.mark.parametrize("shape", [(1, 1), (1, 30), (30, 2), (9, 9)])
def test_smallest_views(method, shape):
    views = RNG.integers(0, 256, (2, *shape)).astype(np.uint8)
    disparity, confidence = method(*views, (0, 0.5))
    assert disparity.shape == confidence.shape == shape
    assert np.isfinite(disparity).all()
    assert np.isfinite(confidence).all()


@METHOD
@pytest.mark.parametrize(("limits", "expected"), [((-12, 12), 0), ((2, 8), 2), ((-8, -3), -3)])
def test_blank_views_are_in_focus_without_confidence(method, limits, expected):
    blank = np.full((30, 60), 90, np.uint8)
    disparity, confidence = method(blank, blank, limits)
    np.testing.assert_allclose(disparity, expected, atol=1e-5)
    assert (confidence == 0).all()


@METHOD
def test_confidence_knows_texture(method):
    """Texture is trusted; a plain area is not, nor stripes along x, in which nothing moves."""
    image = texture(64, 300)
    image[:, 100:200] = 0.5
    image[:, 200:] = image[:, 200:201]
    left, right, _ = dualpix.simulate(image, np.full((64, 300), 2), noise=0.002)
    confidence = method(left, right).confidence
    textured, plain, stripes = (np.median(confidence[:, at : at + 16]) for at in (40, 140, 248))
    assert textured > 0.2
    assert plain < 0.01
    assert stripes < 0.01


def test_sdof_doubts_what_repeats():
    image = texture(64, 240)
    image[:, 120:] = 0.5 + 0.4 * np.sin(np.arange(120) * 2 * np.pi / 6)  # the same again every 6 px
    left, right, _ = dualpix.simulate(image, np.full((64, 240), 1))
    confidence = sdof(left, right).confidence
    assert np.median(confidence[:, 170:200]) < 0.5 * np.median(confidence[:, 40:80])


@METHOD
def test_brightness_of_the_views_may_differ(method):
    left, right, truth = dualpix.simulate(0.2 + 0.5 * texture(80, 160), np.full((80, 160), 3))
    disparity = method(left, right + np.float32(0.2)).disparity
    assert np.median(np.abs(disparity - truth)) < 0.2


@METHOD
def test_guide(method):
    """Where nothing is known the map follows the guide."""
    image = texture(96, 160)
    image[:, 64:96] = 0.5
    scene = np.where(np.arange(160) < 80, -3.0, 4.0) * np.ones((96, 1))
    left, right, _ = dualpix.simulate(image, scene)
    guide = np.zeros((96, 160, 3), np.uint8)
    guide[:, 88:] = 255
    disparity = method(left, right, guide=guide).disparity
    steps = np.abs(np.diff(disparity.mean(axis=0)))
    assert steps.argmax() == 87
    own = method(left, right).disparity
    np.testing.assert_array_equal(method(left, right, guide=left).disparity, own)
    assert np.abs(own - disparity).max() > 1


@METHOD
def test_paths_colours_and_depths(method, tmp_path):
    grey = RNG.integers(0, 256, (2, 30, 80)).astype(np.uint8)
    expected = method(*grey, guide=grey[1])
    paths = [tmp_path / "left.png", str(tmp_path / "right.png")]
    for path, view in zip(paths, grey, strict=True):
        cv2.imwrite(str(path), view)
    np.testing.assert_array_equal(method(*paths, guide=paths[1]), expected)
    for views in (grey.astype(np.uint16) * 257, grey / 255, np.stack([grey] * 3, axis=-1)):
        np.testing.assert_allclose(method(*views, guide=grey[1]), expected, atol=1e-3)


@METHOD
def test_results_do_not_depend_on_threads(method):
    views = RNG.integers(0, 256, (2, 70, 100)).astype(np.uint8)
    one = method(*views, threads=1)
    for threads in (2, 5):
        assert np.array(method(*views, threads=threads)).tobytes() == np.array(one).tobytes()


# ---- mistakes ----------------------------------------------------------------------------------------------

GREY = np.zeros((20, 60), np.uint8)


@METHOD
@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"left": GREY[:, 1:]}, InputError, "right is 60x20 but left is 59x20: give images of the same size"),
        ({"left": "missing.png"}, InputError, "missing.png"),
        ({"left": GREY > 9}, InputError, "left: must hold uint8"),
        ({"right": GREY / 0.5 - 1}, InputError, "right: has float values from -1"),
        ({"guide": GREY[1:]}, InputError, "guide is 60x19 but left is 60x20: give an image of the same shape"),
        ({"range": (8, 0)}, ParameterError, "range must be min and max"),
        ({"range": (0, np.nan)}, ParameterError, "range must be min and max"),
        ({"range": (0, 257)}, ParameterError, "range must be min and max"),
        ({"range": 8}, ParameterError, "range must be min and max"),
        ({"range": (-31, 30)}, ParameterError, "range -31 to 30 is wider than the views, 60 pixels"),
        ({"left": GREY[:, :24], "right": GREY[:, :24]}, ParameterError, "range -12 to 12 is wider than the views"),
        ({"threads": 0}, ParameterError, "threads must be a whole number"),
    ],
)
def test_refused(method, options, error, message):
    with pytest.raises(error) as caught:
        method(**{"left": GREY, "right": GREY} | options)
    assert message in str(caught.value)


def test_radii_have_a_limit():
    with pytest.raises(ParameterError, match="from -64 to 64"):
        dpdisp(GREY, GREY, (0, 65))
