"""The axis along which the views differ: found, not found, and said."""

import numpy as np
import pytest

from conftest import textured_pair
from dualpix import _core, simulate
from dualpix.camera.axis import TILE, Axis, Unexplained, detect_axis, large_shifts, small_shifts, verdict
from dualpix.io import read_image

SHAPE = (300, 400)


def noise(seed, sigma, shape=SHAPE):
    return np.random.default_rng(seed).normal(0, sigma, shape).astype(np.float32)


def turned(views):
    return [np.ascontiguousarray(view.T) for view in views]


def grey(path):
    image = read_image(path)
    full = np.iinfo(image.dtype).max
    image = image.mean(axis=2) if image.ndim == 3 else image
    return np.ascontiguousarray(image * (255 / full), np.float32)


# ---- found ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [0.02, -0.1, 0.5, 1.7, -6.0, 30.0, 70.0])
def test_shifts_of_any_size_are_found_along_both_axes(d):
    left, right = textured_pair(SHAPE, d)
    found = detect_axis(left, right, 1)
    assert found.axis == "x"
    assert found.x > 2 * found.y
    assert detect_axis(*turned((left, right)), 1).axis == "y"


@pytest.mark.parametrize(("d", "sigma"), [(0.1, 1.0), (0.3, 4.0), (2.0, 16.0)])
def test_noise_hides_no_shift(d, sigma):
    left, right = textured_pair(SHAPE, d)
    assert detect_axis(left + noise(1, sigma), right + noise(2, sigma), 1).axis == "x"


@pytest.mark.parametrize("vignetting", [0.0, 0.4])
def test_a_simulated_shot_whose_mean_shift_is_zero(vignetting):
    scene = np.clip(textured_pair(SHAPE, 0)[0] / 255, 0, 1)
    disparity = np.broadcast_to(np.linspace(-0.5, 0.5, SHAPE[0], dtype=np.float32)[:, None], SHAPE)
    left, right, _ = simulate(scene, disparity, noise=0.004, vignetting=vignetting)
    assert detect_axis(255 * left, 255 * right, 1).axis == "x"


@pytest.mark.parametrize("d", [0.3, 1.5, 4.0])
def test_repeated_structure(d):
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]

    def grid(d):
        return (100 + 40 * np.sin((x + d) / 1.5) + 40 * np.sin(y / 1.5)).astype(np.float32)

    assert detect_axis(grid(0) + noise(1, 1), grid(d) + noise(2, 1), 1).axis == "x"


def test_threads_and_repetition_change_nothing():
    left, right = textured_pair(SHAPE, 0.4)
    assert detect_axis(left, right, 1) == detect_axis(left, right, 3) == detect_axis(left, right, 1)


# ---- not found -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "shape", [(1, 1), (2, 500), (TILE, TILE), (TILE + 2, TILE + 2), (49, 20), (20, 700), (150, 201)]
)
def test_identical_and_blank_views_of_any_size(shape):
    view = np.random.default_rng(0).uniform(0, 255, shape).astype(np.float32)
    blank = np.full(shape, 7, np.float32)
    assert detect_axis(view, view.copy(), 1) == detect_axis(blank, blank.copy(), 1) == Axis(None, 0, 0, 0)
    assert detect_axis(view, blank, 1).axis is None
    assert detect_axis(blank, view, 1).axis is None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sigma", [0.3, 3.0])
def test_the_same_view_with_other_noise(sigma, seed):
    view = textured_pair(SHAPE, 0)[0]
    assert detect_axis(view + noise(seed, sigma), view + noise(99 + seed, sigma), 1).axis is None


@pytest.mark.parametrize("period", [3, 8, 16, 24, 40, 100, 400])
def test_the_noise_on_stripes_is_no_shift(period):
    stripes = 100 + 50 * np.sin(2 * np.pi * np.arange(SHAPE[0], dtype=np.float32)[:, None] / period)
    views = stripes + noise(1, 2), stripes + noise(2, 2)
    assert detect_axis(*views, 1).axis is None
    assert detect_axis(*turned(views), 1).axis is None


def test_views_that_are_nothing_but_brighter_to_one_side():
    view, fall = textured_pair(SHAPE, 0)[0], np.linspace(1, 0.9, SHAPE[1], dtype=np.float32)
    assert detect_axis(view * fall + noise(1, 1), view * fall[::-1] + noise(2, 1), 1).axis is None


def test_views_of_two_scenes():
    assert detect_axis(textured_pair(SHAPE, 0, seed=1)[0], textured_pair(SHAPE, 0, seed=2)[0], 1).axis is None


def test_a_shift_along_the_diagonal_is_none_along_an_axis():
    left = textured_pair((300, 300), 0)[0]
    f = np.fft.fftfreq(300)
    shift = np.exp(2j * np.pi * 0.6 * (f[:, None] + f))
    right = np.fft.ifft2(np.fft.fft2(left) * shift).real.astype(np.float32)
    found = detect_axis(left, right, 1)
    assert found.axis is None
    assert min(found.x, found.y) > 0.3


# ---- the parts -----------------------------------------------------------------------------------


def test_small_shifts_are_the_least_squares_fit_of_every_tile():
    left, right = (view[: TILE + 2, : 2 * TILE + 2] for view in textured_pair((60, 60), 0.4))
    right = right * np.linspace(1, 1.1, right.shape[1], dtype=np.float32)
    found = small_shifts(left, right, 2)
    taps = np.array([1, 4, 6, 4, 1]) / 16

    def smooth(view):
        rows = sum(t * np.pad(view, 2, mode="symmetric")[i : i + view.shape[0], 2:-2] for i, t in enumerate(taps))
        return sum(t * np.pad(rows, 2, mode="symmetric")[2:-2, i : i + view.shape[1]] for i, t in enumerate(taps))

    L, R = smooth(left.astype(float)), smooth(right.astype(float))
    M = (L + R) / 2
    M_y, M_x = np.gradient(M)
    y, x = np.indices(M.shape)
    for tile in range(2):
        at = np.s_[1 : TILE + 1, 1 + tile * TILE : 1 + (tile + 1) * TILE]
        gain = [np.ones(TILE**2), M[at].ravel(), (x * M)[at].ravel(), (y * M)[at].ravel()]
        for rest, slopes in ((found.still, []), (found.x, [M_x]), (found.y, [M_y])):
            A = np.stack([*gain, *(slope[at].ravel() for slope in slopes)], 1)
            E = (L - R)[at].ravel()
            residual = E - A @ np.linalg.lstsq(A, E, rcond=None)[0]
            assert rest[tile] == pytest.approx(np.mean(residual**2), rel=0.02, abs=2e-3)
    assert (found.x < 0.1 * found.still).all()


def test_large_shifts_find_whole_pixels_within_the_frame():
    texture = noise(0, 40, (64, 96))
    left, right = texture[:, 10:74], texture[:, 22:86]  # left(x) = right(x - 12)
    found = large_shifts(np.ascontiguousarray(left), np.ascontiguousarray(right), 1)
    x, y, still = (each.reshape(8, 8) for each in (found.x, found.y, found.still))
    assert (x[1:-1, 2:-1] < 0.02 * still[1:-1, 2:-1]).all()
    assert (y > 0.2 * still).all()
    assert (x <= still).all()


def test_a_verdict_needs_votes_share_and_a_clear_gain():
    one, rest = np.ones(100), np.full(100, 0.5)
    assert verdict(Unexplained(one, rest, one), 0.1) == Axis("x", 0.5, 0.0, 10.0)
    assert verdict(Unexplained(one, one, rest), 0.1) == Axis("y", 0.0, 0.5, 10.0)
    assert verdict(Unexplained(one, rest, one), 0.6).axis is None  # share
    assert verdict(Unexplained(one[:16], rest[:16], one[:16]), 0.1).axis is None  # votes
    outlier = one.copy()
    outlier[0] = -100  # one tile that gains more along y than all others along x
    assert verdict(Unexplained(one, rest, outlier), 0.1).axis is None
    assert verdict(Unexplained(0 * one, 0 * one, 0 * one), 0.1) == Axis(None, 0, 0, 0)


# ---- said ----------------------------------------------------------------------------------------


def test_the_user_is_told():
    found = Axis("y", 0.168, 0.456, 23.6)
    evidence = "a shift along y explains 46% of the difference between the views, one along x 17%"
    assert found.evidence == evidence
    assert found.objection("y") is None
    assert found.objection("x") == f"axis is x, but the views differ along y: {evidence}"
    assert found.to_dict() == {"found": "y", "explained": {"x": 0.168, "y": 0.456}, "sureness": 23.6}
    assert (
        Axis(None, 0.02, 0.01, 0.5)
        .objection("x")
        .startswith("no reliable shift along x or y (a shift along x explains 2% of the difference between the views, ")
    )


# ---- real captures -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "axis"),
    [
        ("google/test/left_pd/*/result_leftPd_center.png", "google/test/right_pd/*/result_rightPd_center.png", "y"),
        ("pixel4/002_left.png", "pixel4/002_right.png", "x"),
        ("r6ii/casual/orbbec/003/l.png", "r6ii/casual/orbbec/003/r.png", "x"),
        ("r6ii/flat/001/0600/f20/l.png", "r6ii/flat/001/0600/f20/r.png", "x"),
        ("middlebury/trainingQ/Vintage/im0.png", "middlebury/trainingQ/Vintage/im1.png", "x"),
        ("pixel4/calibration/white_sheet_left.png", "pixel4/calibration/white_sheet_right.png", None),
    ],
)
def test_real_captures(data_dir, left, right, axis):
    views = [grey(next(data_dir.glob(pattern))) for pattern in (left, right)]
    assert detect_axis(*views, 2).axis == axis
    assert detect_axis(*turned(views), 2).axis == {"x": "y", "y": "x", None: None}[axis]


# ---- the kernel -------------------------------------------------------------------------------------


def covariances(left, right, side):
    """Tile by tile in plain NumPy."""
    L, R = left.astype(float), right.astype(float)
    M = (L + R) / 2
    tiles = []
    for y in range(1, left.shape[0] - side, side):
        for x in range(1, left.shape[1] - side, side):
            here = np.s_[y : y + side, x : x + side]
            M_x = M[y : y + side, x + 1 : x + side + 1] - M[y : y + side, x - 1 : x + side - 1]
            M_y = M[y + 1 : y + side + 1, x : x + side] - M[y - 1 : y + side - 1, x : x + side]
            from_middle = np.arange(side) - side // 2
            terms = [(L - R)[here], M_x, M_y, M[here], from_middle * M[here], from_middle[:, None] * M[here]]
            tiles.append(np.cov([term.ravel() for term in terms], bias=True))
    return np.reshape(tiles, (-1, 6, 6))


@pytest.mark.parametrize("shape", [(18, 18), (17, 40), (35, 51), (100, 67), (3, 3)])
@pytest.mark.parametrize("side", [2, 5, 8, 16, 32])
def test_covariances_are_those_of_every_whole_tile(shape, side):
    rng = np.random.default_rng(3)
    left, right = (rng.uniform(0, 255, shape).astype(np.float32) for _ in range(2))
    expected = covariances(left, right, side)
    found = [np.empty_like(expected) for _ in range(2)]
    for threads, C in enumerate(found, 1):
        _core.tile_covariances(left, right, C, side, threads)
        np.testing.assert_allclose(C, expected, rtol=1e-4, atol=1e-2)
    assert found[0].tobytes() == found[1].tobytes()


def test_equal_flat_views_vary_with_nothing():
    view, C = np.full((40, 40), 200, np.float32), np.empty((4, 6, 6))
    _core.tile_covariances(view, view, C, 16, 1)
    assert not C[:, :4].any()  # x M and y M vary with the place


@pytest.mark.parametrize(("shape", "side"), [((18, 18), 0), ((18, 18), 33), ((2, 18), 1), ((18, 34), 16)])
def test_the_kernel_refuses_what_does_not_fit(shape, side):
    view = np.zeros(shape, np.float32)
    with pytest.raises(ValueError, match=r"side|rows|C must"):
        _core.tile_covariances(view, view, np.empty((1, 6, 6)), side, 1)
