"""Metric depth: the model, the ways to its two numbers, and the command."""

import json
import math
import struct

import cv2
import numpy as np
import pytest

import dualpix
from conftest import textured_pair
from dualpix.camera.lens import Calibration
from dualpix.camera.lens_file import read_calibration
from dualpix.camera.metric import Metric, relative_inverse_depth
from dualpix.camera.ranging import BASELINE, Point, from_exif, from_points, metric_of, point_at, thin_lens
from dualpix.errors import InputError, ParameterError
from dualpix.io import read_map, write_map
from dualpix.io.shot import Shot, read_shot
from dualpix.method.confidence import absolute_confidence, error_of

NAN, INF = np.nan, np.inf


def disparity_at(z, focus=1.0, a=2.0):
    """The model, solved for d."""
    return a * (1 / np.asarray(z, np.float64) - 1 / focus)


def points(*distances, focus=1.0, a=2.0, v=0.0):
    return [Point(f"p{i}", z, float(disparity_at(z - v, focus, a))) for i, z in enumerate(distances)]


def test_the_benchmark_knows_points_of_flat_places_only(benchmark_script):
    """Where a near and a far surface meet, the truth of a pixel is not what the map around it shows."""
    z = np.full((200, 300), 3.0, np.float32)
    z[:, 150:] = 1
    z[:, 140:160] = np.linspace(3, 0.5, 20)  # as a depth camera sees an edge
    z[100, 100] = np.nan
    sure = np.full(z.shape, 0.5)
    sure[:, 130:170] = 0.9
    found = benchmark_script("metric").known_points(z, sure)
    assert [point[2] for point in found] == [1, 3]
    for x, y, _ in found:
        rows, columns = (slice(int(n) - 5, int(n) + 6) for n in (y, x))
        assert np.ptp(z[rows, columns]) == 0


# ---- the model -----------------------------------------------------------------------------------


def test_depth_inverts_the_model():
    z = np.array([[0.4, 0.8, 1.0], [2.0, 10.0, 40.0]])
    found = Metric(1.0, 2.0).depth(disparity_at(z).astype(np.float32))
    np.testing.assert_allclose(found.metres, z, rtol=1e-4)
    assert found.uncertainty is None


def test_distance_from_the_sensor_is_longer_by_the_lens():
    found = Metric(1.0, 2.0, lens_to_sensor=0.05).depth(np.zeros((1, 1), np.float32))
    assert found.metres[0, 0] == pytest.approx(1.05)
    assert found.metric.origin == "sensor"
    assert Metric(1.0, 2.0).origin == "lens"


def test_beyond_infinity_is_infinity_and_nan_stays():
    found = Metric(1.0, 2.0).depth(np.array([[-2, -3, NAN]], np.float32)).metres
    np.testing.assert_array_equal(found, [[INF, INF, NAN]])


def test_what_the_uncertainty_reaches_becomes_infinite():
    d = disparity_at([[5.0, 5.0, 5.0]]).astype(np.float32)  # 0.2 diopters
    sigma = np.array([[0.3, 0.5, INF]], np.float32)  # 0.15, 0.25 and infinitely many diopters
    found = Metric(1.0, 2.0).depth(d, sigma)
    np.testing.assert_allclose(found.metres, [[5, INF, NAN]], rtol=1e-4)
    np.testing.assert_allclose(found.uncertainty, [[25 * 0.15, INF, NAN]], rtol=1e-4)


def test_a_wrong_scale_moves_nothing_to_infinity():
    found = Metric(0.0, 2.0, a_error=1.0).depth(np.array([[2, 0, -1]], np.float32), np.zeros((1, 3), np.float32))
    np.testing.assert_array_equal(found.metres, [[1, INF, INF]])
    np.testing.assert_array_equal(found.uncertainty, [[1, INF, INF]])


def test_the_uncertainty_is_that_of_random_disparities():
    rng = np.random.default_rng(0)
    d = disparity_at(np.full((100, 100), 2.0)).astype(np.float32)
    noisy = d + 0.02 * rng.standard_normal(d.shape).astype(np.float32)
    metric = Metric(1.0, 2.0)
    expected = metric.depth(d, np.full_like(d, 0.02)).uncertainty[0, 0]
    assert np.std(metric.depth(noisy).metres) == pytest.approx(expected, rel=0.05)


def test_errors_of_the_numbers_grow_away_from_the_pivot():
    d = disparity_at([[1.0, 0.5]]).astype(np.float32)
    found = Metric(1.0, 2.0, pivot=1.0, pivot_error=0.01, a_error=0.1).depth(d, np.zeros_like(d))
    np.testing.assert_allclose(found.uncertainty, [[0.01, 0.25 * math.hypot(0.01, 0.1)]], rtol=1e-4)


def test_confidence_gives_back_the_expected_error():
    sigma = np.array([[0.01, 0.25, 3.0]], np.float32)
    confidence = absolute_confidence(sigma, np.ones(sigma.shape, np.uint8), 1)
    np.testing.assert_allclose(error_of(confidence), sigma, rtol=1e-2)
    assert np.isinf(error_of(np.zeros((1, 1), np.float32)))


def test_relative_inverse_depth_is_linear_from_0_to_1():
    d = np.array([[-1, 0, 3, NAN]], np.float32)
    np.testing.assert_allclose(relative_inverse_depth(d), [[0, 0.25, 1, NAN]])
    assert (relative_inverse_depth(np.ones((2, 2), np.float32)) == 0).all()
    assert np.isnan(relative_inverse_depth(np.full((2, 2), NAN, np.float32))).all()


# ---- known distances -----------------------------------------------------------------------------


def test_two_points_give_both_numbers():
    found = from_points(points(0.6, 1.5, focus=0.9, a=1.7), None, None, "test")
    assert (found.inverse_focus, found.a) == pytest.approx((1 / 0.9, 1.7))
    assert found.a_error > 0


def test_a_focus_distance_and_one_point():
    found = from_points(points(0.6), 1.0, None, "test")
    assert (found.inverse_focus, found.a) == pytest.approx((1, 2))


def test_a_point_at_infinity():
    assert from_points(points(0.6, INF), None, None, "test").a == pytest.approx(2)


def test_an_outlier_among_many_points_is_ignored():
    found = points(0.5, 0.7, 1.0, 1.5, 2.0, 3.0)
    found[3] = found[3]._replace(d=5.0)
    assert from_points(found, None, None, "test").a == pytest.approx(2, rel=0.02)


def test_distances_from_the_sensor_are_converted():
    f = 0.05
    v = f / (1 - f / 1.0)
    found = from_points(points(0.6, 1.5, v=v), None, f, "test")
    assert (found.inverse_focus, found.a, found.lens_to_sensor) == pytest.approx((1, 2, v), rel=1e-6)
    assert found.focus_distance == pytest.approx(1 + v)


@pytest.mark.parametrize("given", [((0.12, 5.0), (0.2, -1.0)), ((0.15, 0.0), (0.25, -3.0)), ((0.19, -1), (0.25, -1.3))])
def test_points_whose_focus_no_lens_reaches(given):
    with pytest.raises(ParameterError, match=r"nearer than 0\.2 m"):
        from_points([Point("p", z, d) for z, d in given], None, 0.05, "test")


def test_a_macro_lens_comes_back():
    f, focus = 0.1, 0.21
    v = f / (1 - f / focus)
    found = from_points(points(0.19 + v, 0.25 + v, focus=focus, v=v), None, f, "test")
    assert (found.focus_distance, found.lens_to_sensor) == pytest.approx((focus + v, v), rel=1e-6)


def test_the_thin_lens_equation():
    q, v = thin_lens(1.2, 0.05)
    assert 1 / q + v == pytest.approx(1.2)
    assert q + 1 / v == pytest.approx(1 / 0.05)
    assert thin_lens(INF, 0.05) == (0, 0.05)
    assert thin_lens(1.2, None) == (1 / 1.2, 0)
    with pytest.raises(ParameterError, match=r"50 mm cannot focus at 0\.1 m"):
        thin_lens(0.1, 0.05)


def test_a_point_takes_the_median_around_it():
    d = np.zeros((40, 60), np.float32)
    d[20:, :] = 2
    d[30, 30] = 50
    d[31, 30] = NAN
    assert point_at(d, 30, 30, 1.0).d == 2
    d[:] = NAN
    with pytest.raises(InputError, match="has no disparity"):
        point_at(d, 30, 30, 1.0)


@pytest.mark.parametrize(
    ("given", "focus", "says"),
    [
        (points(0.6), None, "not enough"),
        (points(0.6, 0.6), None, "give two that differ"),
        ([Point("p", 1, 1.0), Point("r", 1 + 1e-9, 0.0)], None, "give two that differ"),
        ([Point("p", 1e200, 1.0), Point("r", 1e300, 0.0)], None, "give two that differ"),
        ([Point("p", 1e-200, 1.0), Point("r", 1, 0.0)], None, "give metres"),
        ([Point("p", 1 + 1e-9, 1.0)], 1.0, "nearer or farther"),
        ([Point("p", -1, 0.0), Point("r", 1, 1.0)], None, "above 0"),
        ([Point("p", NAN, 0.0), Point("r", 1, 1.0)], None, "above 0"),
        ([Point("p", 1, 0.0), Point("r", 2, 1.0)], None, "nearer things must have larger"),
        ([Point("p", 1, 0.0), Point("r", 2, -0.01)], None, "too little"),
        (points(1.0), 1.0, "nearer or farther"),
        ([Point("p", 0.6, 0.01)], 1.0, "in focus"),
        ([Point("p", 2.0, 1.0)], 1.0, "nearer things must have larger"),
    ],
)
def test_distances_that_cannot_be(given, focus, says):
    with pytest.raises(dualpix.DualpixError, match=says):
        from_points(given, focus, None, "test")


# ---- EXIF ----------------------------------------------------------------------------------------


def exif_block(order="<", **tags):
    """EXIF data with numbers by tag: ints are SHORT, floats RATIONAL."""
    codes = {
        "f_number": 0x829D,
        "distance": 0x9206,
        "focal": 0x920A,
        "width": 0xA002,
        "plane": 0xA20E,
        "unit": 0xA210,
        "focal35": 0xA405,
    }
    start = {"<": b"II*\0", ">": b"MM\0*"}[order] + struct.pack(order + "I", 8)
    first = struct.pack(order + "HHHIII", 1, 0x8769, 4, 1, 26, 0)
    place = 26 + 2 + 12 * len(tags) + 4
    entries, values = b"", b""
    for name, value in tags.items():
        if isinstance(value, int):
            entries += struct.pack(order + "HHIHH", codes[name], 3, 1, value, 0)
        else:
            entries += struct.pack(order + "HHII", codes[name], 5, 1, place + len(values))
            top = 0xFFFFFFFF if math.isinf(value) else round(value * 1000)
            values += struct.pack(order + "II", top, 1000)
    return start + first + struct.pack(order + "H", len(tags)) + entries + b"\0\0\0\0" + values


CAMERA = {"f_number": 4.0, "distance": 1.2, "focal": 50.0, "width": 6000, "plane": 6000 / 1.417, "unit": 2}


def save_jpeg(path, block):
    data = bytes(cv2.imencode(".jpg", np.zeros((8, 8, 3), np.uint8))[1])
    body = b"Exif\0\0" + block
    path.write_bytes(data[:2] + b"\xff\xe1" + struct.pack(">H", len(body) + 2) + body + data[2:])
    return path


@pytest.mark.parametrize("order", ["<", ">"])
def test_exif_of_a_jpeg(tmp_path, order):
    found = read_shot(save_jpeg(tmp_path / "a.jpg", exif_block(order, **CAMERA)))
    assert (found.focal_length, found.aperture, found.focus_distance) == pytest.approx((50, 4, 1.2))
    assert found.sensor_width == pytest.approx(36, rel=1e-3)


def test_exif_of_a_file_built_like_tiff(tmp_path):
    (tmp_path / "a.cr2").write_bytes(exif_block(**CAMERA))
    assert read_shot(tmp_path / "a.cr2").focal_length == pytest.approx(50)


def test_sensor_from_the_35_mm_focal_length(tmp_path):
    found = read_shot(save_jpeg(tmp_path / "a.jpg", exif_block(focal=25.0, focal35=50)))
    assert found.sensor_side((200, 300)) == pytest.approx(18)
    assert found.fov((200, 300)) == pytest.approx(math.degrees(2 * math.atan(0.36)))


def test_sensor_from_the_pixel_pitch_and_the_size_of_the_picture(tmp_path):
    known = {name: value for name, value in CAMERA.items() if name != "width"}
    found = read_shot(save_jpeg(tmp_path / "a.jpg", exif_block(**known)))
    assert found.sensor_width == pytest.approx(8 * found.pixel_pitch)
    assert metric_of(np.zeros((8, 8), np.float32), exif=tmp_path / "a.jpg").approximate


def test_only_a_distance_is_endless(tmp_path):
    found = read_shot(save_jpeg(tmp_path / "a.jpg", exif_block(f_number=INF, distance=INF)))
    assert found.focus_distance == INF
    assert math.isfinite(found.aperture)


def test_focus_at_infinity(tmp_path):
    assert read_shot(save_jpeg(tmp_path / "a.jpg", exif_block(distance=INF))).focus_distance == INF


@pytest.mark.parametrize("cut", [0, 7, 9, 20])
def test_damaged_exif_is_no_crash(tmp_path, cut):
    path = save_jpeg(tmp_path / "a.jpg", exif_block(**CAMERA)[:cut])
    with pytest.raises(InputError, match=r"a\.jpg: has no EXIF data"):
        metric_of(np.zeros((8, 8), np.float32), exif=path)


@pytest.mark.parametrize("cut", [30, 45, 60, 90])
def test_what_a_damaged_exif_lacks_is_not_known(tmp_path, cut):
    assert read_shot(save_jpeg(tmp_path / "a.jpg", exif_block(**CAMERA)[:cut])).focus_distance is None


def camera_with(**changes):
    return Shot(**{"focal_length": 50, "aperture": 4, "focus_distance": 1.0, "sensor_width": 36} | changes)


def test_numbers_from_exif_are_approximate():
    camera = camera_with()
    found = from_exif(camera, (512, 768), None, None, "a.jpg")
    q, v = thin_lens(1.0, 0.05)
    assert found.a == pytest.approx(BASELINE * 0.0125 * v / (0.036 / 768))
    assert found.inverse_focus == pytest.approx(q)
    assert found.approximate
    assert found.a_error > 0.5


@pytest.mark.parametrize(
    ("camera", "says"),
    [
        (camera_with(focus_distance=None), "no focus distance: give the focus distance"),
        (camera_with(aperture=None), "no aperture"),
        (camera_with(focal_length=None), "no focal length"),
        (camera_with(sensor_width=None), "no size of the sensor"),
    ],
)
def test_exif_that_lacks_something(camera, says):
    with pytest.raises(InputError, match=f"a.jpg: .*{says}"):
        from_exif(camera, (512, 768), None, None, "a.jpg")


# ---- calibrations --------------------------------------------------------------------------------


METRIC = Metric(1.0, 2.0, 0.05, 1.2, 0.01, 0.03)


def lens(**changes):
    return Calibration(**{"width": 80, "height": 60, "metric": METRIC} | changes)


def test_the_file_keeps_the_numbers(tmp_path):
    path = tmp_path / "lens.json"
    path.write_text(lens().to_json())
    assert read_calibration(path).metric == METRIC


def test_a_file_without_numbers_is_as_before(tmp_path):
    path = tmp_path / "lens.json"
    path.write_text(lens(metric=None).to_json())
    assert "metric" not in json.loads(path.read_text())
    assert read_calibration(path).metric is None


@pytest.mark.parametrize("name", ["a", "a_error", "lens_to_sensor"])
@pytest.mark.parametrize("value", [-1, None, "x", 1e9])
def test_damaged_numbers_are_refused(tmp_path, name, value):
    record = json.loads(lens().to_json())
    record["metric"][name] = value
    path = tmp_path / "lens.json"
    path.write_text(json.dumps(record))
    with pytest.raises(InputError, match="is damaged"):
        read_calibration(path)


def test_another_focus_distance_moves_the_focus():
    d = np.zeros((60, 80), np.float32)
    found = metric_of(d, calibration=lens(), focus_distance=2.0)
    assert found.depth(d).metres[0, 0] == pytest.approx(2.0)
    assert found.a == pytest.approx(2.0 * found.lens_to_sensor / 0.05)
    assert found.lens_to_sensor < 0.05


def test_a_calibration_of_another_size_or_without_distances():
    with pytest.raises(InputError, match="made for 80x60 pixels but the map is 40x30"):
        metric_of(np.zeros((30, 40), np.float32), calibration=lens())
    with pytest.raises(InputError, match="has no distances"):
        metric_of(np.zeros((60, 80), np.float32), calibration=lens(metric=None))
    assert metric_of(np.zeros((80, 60), np.float32), calibration=lens()) == METRIC  # turned upright


def plane_pairs(distances):
    views = [textured_pair((150, 200), float(disparity_at(z, 1.0, 1.5)), seed=i) for i, z in enumerate(distances)]
    return [tuple((view / 255).astype(np.float32) for view in pair) for pair in views]


def test_planes_of_known_distance_come_back():
    pairs = plane_pairs((0.6, 1.5))
    made = dualpix.calibrate(planes=pairs, distances=[0.6, 1.5])
    assert [plane.distance for plane in made.planes] == [0.6, 1.5]
    for pair, z in zip(pairs, (0.6, 1.5), strict=True):
        found = dualpix.disparity(*pair, calibration=made).depth(made)
        assert np.median(found.metres) == pytest.approx(z, rel=0.02)
        assert found.uncertainty.shape == found.metres.shape
    assert made.metric.a == pytest.approx(1.5, rel=0.05)


@pytest.mark.parametrize(
    ("distances", "says"),
    [([0.6], "1 distances for 2 planes"), ([0.6, 0.6], "two different"), ([0.6, 0], "above 0"), ([-1, 1], "above 0")],
)
def test_distances_of_planes_that_cannot_be(distances, says):
    with pytest.raises(ParameterError, match=says):
        dualpix.calibrate(planes=[("missing.png", "missing.png")] * 2, distances=distances)


def test_planes_in_the_wrong_order():
    with pytest.raises(InputError, match="swapped"):
        dualpix.calibrate(planes=plane_pairs((0.6, 1.5)), distances=[1.5, 0.6])


def test_real_planes_come_back(data_dir):
    folder = data_dir / "r6ii/flat/001"
    if not folder.is_dir():
        pytest.skip(f"no planes at {folder}")
    pairs = [(folder / name / "f4/l.png", folder / name / "f4/r.png") for name in ("0600", "1500")]
    made = dualpix.calibrate(planes=pairs, distances=[0.6, 1.5])
    for pair, z in zip(pairs, (0.6, 1.5), strict=True):
        assert np.median(dualpix.disparity(*pair, calibration=made).depth(made).metres) == pytest.approx(z, rel=0.02)


# ---- the command ---------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder: the map of a slope from 0.5 m to 4 m, its confidence, a photo and a calibration."""
    monkeypatch.chdir(tmp_path)
    q = np.linspace(2, 0.25, 80, dtype=np.float32)[None].repeat(60, axis=0)
    write_map("map.tiff", 2 * (q - 1))
    write_map("sure.tiff", np.full((60, 80), 0.9))
    write_map("small.tiff", np.ones((5, 5)))
    cv2.imwrite("photo.png", np.full((60, 80, 3), (10, 20, 30), np.uint8))
    cv2.imwrite("other.png", np.zeros((10, 20, 3), np.uint8))
    (tmp_path / "lens.json").write_text(lens(metric=Metric(1.0, 2.0)).to_json())
    (tmp_path / "bare.json").write_text(lens(metric=None).to_json())
    save_jpeg(tmp_path / "shot.jpg", exif_block(**CAMERA))
    save_jpeg(tmp_path / "plain.jpg", b"")
    return tmp_path


TRUTH = 1 / np.linspace(2, 0.25, 80)


def test_depth_from_a_calibration(call, folder):
    code, out, _ = call("depth", "map.tiff", "-o", "z.tiff", "--calibration", "lens.json", "--json")
    assert code == 0
    np.testing.assert_allclose(read_map("z.tiff")[30], TRUTH, rtol=1e-4)
    record = json.loads(out)
    assert record == json.loads((folder / "z.json").read_text())
    assert record["unit"] == "metres"
    assert record["metric"]["distances"].startswith("from the lens")
    assert record["depth"]["max"] == pytest.approx(4, rel=1e-3)


def test_depth_from_known_points(call, folder):
    points = [f"--known={x},30={TRUTH[x]}" for x in (10, 60)]
    assert call("depth", "map.tiff", "-o", "z.pfm", *points)[0] == 0
    np.testing.assert_allclose(read_map("z.pfm")[30], TRUTH, rtol=1e-3)
    assert call("depth", "map.tiff", "-o", "y.pfm", points[0], "--focus-distance", "1")[0] == 0
    np.testing.assert_allclose(read_map("y.pfm")[30], TRUTH, rtol=1e-3)


def test_depth_from_exif_says_that_it_is_approximate(call, folder):
    code, out, _ = call("depth", "map.tiff", "-o", "z.tiff", "--exif", "shot.jpg")
    assert code == 0
    assert "approximate" in out
    assert json.loads((folder / "z.json").read_text())["metric"]["approximate"] is True


def test_relative_depth_says_what_it_is(call, folder):
    code, out, _ = call("depth", "map.tiff", "-o", "z.tiff", "--relative")
    assert code == 0
    assert "scale and offset are not known" in out
    np.testing.assert_allclose(read_map("z.tiff")[0, [0, -1]], [1, 0])


def test_uncertainty_is_written(call, folder):
    options = ("--calibration", "lens.json", "--confidence", "sure.tiff", "--uncertainty", "u.tiff")
    assert call("depth", "map.tiff", "-o", "z.tiff", *options)[0] == 0
    z, u = read_map("z.tiff")[0, :40], read_map("u.tiff")[0, :40]
    np.testing.assert_allclose(u, z**2 * 0.25 / 3 / 2, rtol=1e-4)


def test_unknown_is_not_too_far(call, folder):
    write_map("sure.tiff", np.r_[np.zeros((30, 80)), np.full((30, 80), 0.9)])
    options = ("--calibration", "lens.json", "--confidence", "sure.tiff")
    code, out, _ = call("depth", "map.tiff", "-o", "z.tiff", *options)
    assert code == 0
    assert "50.0 % unknown" in out
    z = read_map("z.tiff", keep_infinite=True)
    assert np.isnan(z[:30]).all()
    assert not np.isnan(z[30:]).any()


def test_the_summary_lists_all_files(call, folder):
    options = ("--calibration", "lens.json", "--confidence", "sure.tiff", "--uncertainty", "u.tiff")
    assert call("depth", "map.tiff", "-o", "z.tiff", *options)[1].endswith("\nalso written: z.json, u.tiff\n")


def test_a_cloud_keeps_the_size_of_things(call, folder):
    """At the focus, the sensor is as wide as the scene times v / z."""
    write_map("map.tiff", np.zeros((60, 80)))
    assert call("depth", "map.tiff", "-o", "z.ply", "--exif", "shot.jpg", "--focus-distance", "0.3")[0] == 0
    q, v = thin_lens(0.3, 0.05)
    x, _, z = np.frombuffer((folder / "z.ply").read_bytes()[-60 * 80 * 12 :], "<f4").reshape(-1, 3).T
    np.testing.assert_allclose(-z, 1 / q, rtol=1e-5)
    assert np.ptp(x) == pytest.approx(0.036 / q / v * 79 / 80, rel=1e-3)


def test_a_sidecar_is_no_calibration(call, folder):
    assert call("depth", "map.tiff", "-o", "z.tiff", *KNOWN)[0] == 0
    record = json.loads((folder / "z.json").read_text()) | {"calibration": {"source": "lens.json"}}
    (folder / "z.json").write_text(json.dumps(record))
    err = call("depth", "map.tiff", "-o", "y.tiff", "--calibration", "z.json")[2]
    assert err.startswith("error: calibration z.json: is the sidecar of a map, not a calibration")


def test_a_map_without_correction_is_reported(call, folder):
    record = {"dualpix": "0", "map": "map.tiff", "unit": "pixels of the input", "calibration": None}
    (folder / "map.json").write_text(json.dumps(record))
    code, _, err = call("depth", "map.tiff", "-o", "z.tiff", "--calibration", "lens.json")
    assert code == 0
    assert err.startswith("warning: map.tiff was not corrected for the lens")


KNOWN = ("--known", "10,30=0.6", "--known", "60,30=2")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ((), "two numbers"),
        (("--focus-distance", "1"), "two numbers"),
        (("--known", "10,30=0.6"), "not enough"),
        (("--known", "10,30=0.6", "--known", "60,30=0.6"), "differ"),
        (("--known", "10,30=2", "--known", "60,30=0.6"), "nearer things"),
        (("--known", "10,30=0", "--known", "60,30=2"), "above 0"),
        (("--known", "10,30=-1", "--known", "60,30=2"), "above 0"),
        (("--known", "90,30=1", "--known", "60,30=2"), "outside the map"),
        (("--known", "10,30", "--known", "60,30=2"), "X,Y=M"),
        ((*KNOWN, "--focus-distance", "0"), "above 0"),
        ((*KNOWN, "--focal-length", "-5"), "above 0"),
        ((*KNOWN, "--calibration", "lens.json"), "only one of them"),
        (("--calibration", "bare.json"), "has no distances"),
        (("--calibration", "missing.json"), "no such file"),
        (("--calibration", "lens.json", "--focal-length", "50"), "leave focal-length out"),
        (("--exif", "plain.jpg"), "no EXIF data"),
        (("--exif", "missing.jpg"), "no such file"),
        ((*KNOWN, "--uncertainty", "u.tiff"), "give --confidence"),
        ((*KNOWN, "--confidence", "sure.tiff", "--uncertainty", "u.png"), "u.png"),
        ((*KNOWN, "--confidence", "small.tiff"), "small.tiff is 5x5"),
        ((*KNOWN, "--confidence", "map.tiff"), "map.tiff: has values from -1.5 to 2, but a confidence is from 0 to 1"),
        ((*KNOWN, "--relative"), "leave out --known"),
        ((*KNOWN, "--photo", "photo.png"), "--photo is for"),
        ((*KNOWN, "--png", "mm"), "--png is for .png"),
    ],
)
def test_depth_that_cannot_be(call, folder, options, says):
    before = sorted(path.name for path in folder.iterdir())
    code, out, err = call("depth", "map.tiff", "-o", "z.tiff", *options)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert says in err
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize(
    ("output", "options", "says"),
    [
        ("z.gif", (), "choose one of"),
        ("z.jpg", (), "give it as --photo too"),
        ("z.jpg", ("--photo", "other.png"), "other.png is 20x10"),
        ("z.ply", ("--photo", "missing.png"), "missing.png: no such file"),
        ("z.ply", ("--fov", "200"), "between 0 and 180"),
        ("z.tiff", ("--fov", "50"), "--fov is for .ply and .glb files"),
        ("z.exr", ("--fov", "50"), "--fov is for .ply and .glb files"),
        ("z.png", ("--png", "kitti"), "disparities (dualpix disparity): give --png grey"),
        ("z.png", ("--near", "black"), "--near is for grey levels: give --png grey too"),
        ("map.tiff", (), "is an input"),
        ("lens.json", (), "choose one of"),
    ],
)
def test_outputs_that_cannot_be(call, folder, output, options, says):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    code, _, err = call("depth", "map.tiff", "-o", output, *KNOWN, *options)
    assert (code, err.count("\n")) == (2, 1)
    assert says in err
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_depth_of_depth_is_refused(call, folder):
    assert call("depth", "map.tiff", "-o", "z.tiff", *KNOWN)[0] == 0
    code, _, err = call("depth", "z.tiff", "-o", "y.tiff", *KNOWN)
    assert code == 2
    assert "holds depth already" in err


def test_calibrate_with_distances_on_the_command_line(call, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = []
    for i, (pair, z) in enumerate(zip(plane_pairs((0.6, 1.5)), (0.6, 1.5), strict=True)):
        for side, view in zip("lr", pair, strict=True):
            cv2.imwrite(f"{side}{i}.png", np.rint(255 * view).astype(np.uint8))
        options += ["--plane", f"l{i}.png", f"r{i}.png", "--distance", z]
    code, out, _ = call("calibrate", "-o", "lens.json", *options)
    assert code == 0
    assert "from the lens" in out
    assert read_calibration("lens.json").metric.a == pytest.approx(1.5, rel=0.05)
    code, _, err = call("calibrate", "-o", "other.json", *options[:-2])
    assert (code, "1 distances for 2 planes" in err) == (2, True)
