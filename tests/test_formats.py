"""Map files by suffix, each read back by another library than the one that wrote it."""

import base64
import hashlib
import io
import json
import re
import shutil
import struct
import subprocess
import xml.etree.ElementTree as ElementTree

import cv2
import numpy as np
import pytest
from PIL import Image, ImageCms, ImageOps
from PIL.TiffImagePlugin import IFDRational

from dualpix import cli
from dualpix.errors import DualpixError, InputError, OutputError, ParameterError
from dualpix.io import _exr, _glb, formats, probe, read_image, read_map, write_map
from dualpix.io._cloud import cloud, mesh
from dualpix.io.layers import Layers
from dualpix.io.orientation import as_stored
from dualpix.io.recorded import read_recorded
from dualpix.io.srgb import linear

NAN, INF = np.nan, np.inf
RNG = np.random.default_rng(1)
D = np.linspace(-2, 3, 35 * 50, dtype=np.float32).reshape(35, 50)
Z = (1 / np.linspace(0.2, 2, 35 * 50, dtype=np.float32)).reshape(35, 50).copy()
PHOTO = RNG.integers(0, 256, (35, 50, 3), np.uint8)
SURE = RNG.random((35, 50), np.float32)


@pytest.fixture
def path(tmp_path):
    return lambda suffix: str(tmp_path / f"map{suffix}")


def write_sidecar(path, name, **record):
    with open(path, "w") as file:
        json.dump({"dualpix": "0", "map": name, **record}, file)


# ---- OpenEXR -------------------------------------------------------------------------------------


def exr_channels(path):
    """The channels of a file, read by OpenImageIO."""
    oiio = pytest.importorskip("OpenImageIO")
    file = oiio.ImageInput.open(path)
    assert file is not None, oiio.geterror()
    spec = file.spec()
    assert {str(spec.channelformat(i)) for i in range(spec.nchannels)} == {"float"}
    pixels = file.read_image(0, 0, 0, spec.nchannels, oiio.FLOAT)
    file.close()
    return {name: pixels[..., i] for i, name in enumerate(spec.channelnames)}


def test_exr_holds_the_map_the_colours_and_the_confidence(path):
    values = Z.copy()
    values[0, :3] = NAN, INF, 0.1
    write_map(path(".exr"), values, unit="m", photo=PHOTO, confidence=SURE)
    found = exr_channels(path(".exr"))
    assert set(found) == {"Z", "R", "G", "B", "confidence"}
    np.testing.assert_array_equal(found["Z"], values)
    np.testing.assert_array_equal(found["confidence"], SURE)
    light = linear(PHOTO.astype(np.float32) / 255)
    np.testing.assert_array_equal(np.dstack([found[name] for name in "RGB"]), light)


def test_exr_is_read_again(path):
    write_map(path(".exr"), D)
    np.testing.assert_array_equal(read_map(path(".exr")), D)
    info = probe(path(".exr"))
    assert (info.format, info.width, info.height) == ("OpenEXR", 50, 35)


def test_exr_of_others(tmp_path):
    (tmp_path / "y.exr").write_bytes(_exr.write({"Y": D}))
    np.testing.assert_array_equal(read_map(tmp_path / "y.exr"), D)
    (tmp_path / "rgb.exr").write_bytes(_exr.write(dict.fromkeys("RGB", D)))
    with pytest.raises(InputError, match=r"rgb\.exr: has the channels B, G, R.*channel Z"):
        read_map(tmp_path / "rgb.exr")


@pytest.mark.parametrize("cut", [4, 30, 200, -100])
def test_damaged_exr(tmp_path, cut):
    (tmp_path / "a.exr").write_bytes(bytes(_exr.write({"Z": D}))[:cut])
    with pytest.raises(InputError, match=r"a\.exr: is a damaged OpenEXR file"):
        read_map(tmp_path / "a.exr")


def test_exr_without_its_package(path, monkeypatch):
    write_map(path(".exr"), D)
    monkeypatch.setattr(formats, "missing", lambda package: True)
    monkeypatch.setattr(_exr, "missing", lambda package: True)
    with pytest.raises(OutputError, match=r"map\.exr: .*pip install 'dualpix\[exr\]'"):
        write_map(path(".exr"), D)
    with pytest.raises(InputError, match=r"pip install 'dualpix\[exr\]'"):
        read_map(path(".exr"))


# ---- PNG -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "full"), [("grey", 65535), ("grey8", 255)])
@pytest.mark.parametrize("near", ["white", "black"])
def test_grey_spans_the_map(path, kind, full, near):
    values = D.copy()
    values[0, 0] = NAN
    write_map(path(".png"), values, png=kind, near=near)
    codes = np.asarray(Image.open(path(".png"))).astype(np.float64)
    values = values.astype(np.float64)
    low, high = np.nanmin(values), np.nanmax(values)
    level = (values - low) / (high - low) if near == "white" else (high - values) / (high - low)
    np.testing.assert_array_equal(codes[1:], np.rint(full * level)[1:])
    assert codes[0, 0] == (0 if near == "white" else full)  # NaN is far


def test_grey_of_metres_is_linear_in_inverse_depth(path):
    values = Z.copy()
    values[0, 0] = INF
    write_map(path(".png"), values, unit="m", png="grey")
    codes = np.asarray(Image.open(path(".png"))).astype(np.float64)
    np.testing.assert_allclose(codes / 65535 * (1 / values).max(), 1 / values, atol=2e-5)


def test_millimetres(path):
    write_map(path(".png"), [[0.6004, 65.534, 65.6, INF, NAN, 0.0001]], unit="m")
    assert np.asarray(Image.open(path(".png"))).tolist() == [[600, 65534, 65535, 65535, 0, 1]]
    write_sidecar(path(".json"), "map.png", unit="metres", png="mm")
    np.testing.assert_allclose(read_recorded(path(".png"))[0], [[0.6, 65.534, INF, INF, NAN, 0.001]])


def test_a_constant_map_is_grey_all_the_same(path):
    write_map(path(".png"), np.ones((3, 4)), png="grey")
    assert not np.asarray(Image.open(path(".png"))).any()
    write_map(path(".png"), np.full((3, 4), NAN), png="grey8")


@pytest.mark.parametrize("black", [10**400, 1e999, "grey", None])
def test_grey_without_a_meaning_is_refused(path, black):
    write_map(path(".png"), D, png="grey")
    write_sidecar(path(".json"), "map.png", png="grey", grey={"black": black, "white": 1})
    with pytest.raises(InputError, match="does not say what black and white mean"):
        read_recorded(path(".png"))


# ---- photo with depth ----------------------------------------------------------------------------

GDEPTH, NOTE = "{http://ns.google.com/photos/1.0/depthmap/}", "{http://ns.adobe.com/xmp/note/}"


def xmp_properties(data):
    """The properties of the standard and the extended XMP of a JPEG, by an XML reader."""
    place, standard, parts, length = 2, None, {}, None
    while data[place + 1] != 0xDA:
        size = int.from_bytes(data[place + 2 : place + 4], "big")
        body = data[place + 4 : place + 2 + size]
        if body.startswith(b"http://ns.adobe.com/xap/1.0/\0"):
            standard = body.split(b"\0", 1)[1]
        if body.startswith(b"http://ns.adobe.com/xmp/extension/\0"):
            rest = body.split(b"\0", 1)[1]
            guid, (length, start) = rest[:32].decode(), struct.unpack(">II", rest[32:40])
            parts[start] = rest[40:]
        place += 2 + size
    assert standard.startswith(b"<?xpacket begin=")
    assert standard.endswith(b'<?xpacket end="w"?>')
    extended = b"".join(parts[start] for start in sorted(parts))
    assert len(extended) == length
    assert hashlib.md5(extended).hexdigest().upper() == guid
    found = {}
    for packet in (standard, extended):
        (description,) = ElementTree.fromstring(packet).iter("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}Description")
        found |= description.attrib
    assert found[NOTE + "HasExtendedXMP"] == guid
    return {name.removeprefix(GDEPTH): value for name, value in found.items()}


def depth_of(properties):
    """Depth by the formula of the format: d = far near / (far - d_n (far - near))."""
    codes = np.asarray(Image.open(io.BytesIO(base64.b64decode(properties["Data"])))).astype(np.float64)
    near, far = float(properties["Near"]), float(properties["Far"])
    return far * near / (far - codes / 65535 * (far - near))


def test_dynamic_depth_holds_photo_depth_and_confidence(path):
    smooth = cv2.GaussianBlur(PHOTO, (0, 0), 3)
    write_map(path(".jpg"), Z, unit="m", photo=smooth, confidence=SURE)
    with open(path(".jpg"), "rb") as file:
        found = xmp_properties(file.read())
    np.testing.assert_allclose(depth_of(found), Z, rtol=2e-4)
    assert (found["Format"], found["Units"], found["MeasureType"]) == ("RangeInverse", "m", "OpticalAxis")
    sure = np.asarray(Image.open(io.BytesIO(base64.b64decode(found["Confidence"]))))
    np.testing.assert_array_equal(sure, np.rint(255 * SURE))
    picture = np.asarray(Image.open(path(".jpg")).convert("RGB")).astype(int)
    assert np.abs(picture - smooth).max() < 8


def test_dynamic_depth_over_64_kb(path):
    large = np.tile(Z, (10, 8)) + RNG.random((350, 400), np.float32)
    write_map(path(".jpg"), large, unit="m", photo=np.zeros((350, 400), np.uint16))
    with open(path(".jpg"), "rb") as file:
        data = file.read()
    assert data.count(b"http://ns.adobe.com/xmp/extension/\0") > 1
    np.testing.assert_allclose(depth_of(xmp_properties(data)), large, rtol=5e-4)


def test_dynamic_depth_of_one_depth(path):
    write_map(path(".jpg"), np.where(np.arange(50) < 9, INF, np.full((35, 50), 2.0)), unit="m", photo=PHOTO)
    with open(path(".jpg"), "rb") as file:
        found = depth_of(xmp_properties(file.read()))
    np.testing.assert_allclose(found[:, 9:], 2)
    assert (found[:, :9] > 2).all()


def test_dynamic_depth_of_infinity_and_of_disparities(path):
    values = Z.copy()
    values[0, :2] = INF, NAN
    write_map(path(".jpg"), values, unit="m", photo=PHOTO)
    with open(path(".jpg"), "rb") as file:
        found = depth_of(xmp_properties(file.read()))
    np.testing.assert_allclose(found[0, :2], np.nanmax(values[np.isfinite(values)]), rtol=1e-3)
    write_map(path(".jpg"), D, photo=PHOTO)
    with open(path(".jpg"), "rb") as file:
        found = xmp_properties(file.read())
    assert (float(found["Near"]), float(found["Far"]), "Units" in found) == (1, 4, False)


def exiftool(*arguments):
    """What exiftool prints."""
    return subprocess.run(["exiftool", *arguments], capture_output=True, check=True).stdout


def test_dynamic_depth_by_independent_readers(path):
    """An XML reader, always. And exiftool where it is installed, which must find the same."""
    write_map(path(".jpg"), Z, unit="m", photo=PHOTO, confidence=SURE)
    with open(path(".jpg"), "rb") as file:
        found = [xmp_properties(file.read())]
    if shutil.which("exiftool"):
        (tags,) = json.loads(exiftool("-j", "-XMP:all", path(".jpg")))
        images = {"Data": "DepthImage", "Confidence": "Confidence"}
        binary = {name: exiftool("-b", f"-XMP-GDepth:{tag}", path(".jpg")) for name, tag in images.items()}
        found.append(tags | {name: base64.b64encode(data) for name, data in binary.items()})
    for properties in found:
        assert (properties["Format"], properties["Units"], properties["Mime"]) == ("RangeInverse", "m", "image/png")
        np.testing.assert_allclose(depth_of(properties), Z, rtol=2e-4)
        sure = np.asarray(Image.open(io.BytesIO(base64.b64decode(properties["Confidence"]))))
        np.testing.assert_array_equal(sure, np.rint(255 * SURE))


# ---- what the photo with depth keeps -------------------------------------------------------------


TAGS = ("-Make", "-FNumber", "-Orientation", "-ProfileDescription", "-Near")


def taken_photo(path, image, orientation):
    """A JPEG as a camera writes it: stored turned, with maker, aperture and an sRGB profile."""
    tags = Image.Exif()
    tags[274], tags[271] = orientation, "Maker"
    tags.get_ifd(34665)[33437] = IFDRational(18, 10)
    icc = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    Image.fromarray(as_stored(image, orientation)).save(path, quality=98, exif=tags, icc_profile=icc)
    return icc


@pytest.mark.parametrize("orientation", [1, 3, 6])
@pytest.mark.parametrize("way", ["python", "command"])
def test_dynamic_depth_keeps_exif_and_profile(tmp_path, path, orientation, way):
    smooth = cv2.GaussianBlur(PHOTO, (0, 0), 3)
    photo = tmp_path / "photo.jpg"
    icc = taken_photo(photo, smooth, orientation)
    if way == "python":
        write_map(path(".jpg"), Z, unit="m", photo=photo)
    else:
        write_map(path(".tiff"), 1 / Z)
        known = ["--known", f"5,5={Z[5, 5]}", "--known", f"40,30={Z[30, 40]}"]
        assert cli.main(["depth", path(".tiff"), "-o", path(".jpg"), "--photo", str(photo), *known, "--quiet"]) == 0
    with Image.open(path(".jpg")) as found:
        tags = found.getexif()
        assert (tags[271], tags.get_ifd(34665)[33437], found.info["icc_profile"]) == ("Maker", 1.8, icc)
        assert tags[274] == 1  # the pixels are upright, so viewers must not turn them again
        seen = np.asarray(ImageOps.exif_transpose(found))
    assert np.abs(seen.astype(int) - smooth).max() < 12
    np.testing.assert_array_equal(read_image(path(".jpg")).shape, smooth.shape)
    with open(path(".jpg"), "rb") as file:
        np.testing.assert_allclose(depth_of(xmp_properties(file.read())), Z, rtol=0.04)
    if shutil.which("exiftool"):
        (tags,) = json.loads(exiftool("-j", "-n", *TAGS, path(".jpg")))
        assert [tags[name[1:]] for name in TAGS[:3]] == ["Maker", 1.8, 1]
        assert (tags["ProfileDescription"], "Near" in tags) == ("sRGB built-in", True)
        said = [
            set(exiftool("-validate", "-warning", "-a", "-s3", each).splitlines()[1:]) for each in (photo, path(".jpg"))
        ]
        assert said[1] <= said[0]  # nothing wrong but what was wrong with the photo


def test_dynamic_depth_of_a_grey_photo_keeps_its_profile(tmp_path, path):
    """A grey profile does not fit colours, so the photo stays grey."""
    icc = bytearray(ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes())
    icc[16:20] = b"GRAY"
    Image.fromarray(PHOTO[..., 0]).save(tmp_path / "grey.png", icc_profile=bytes(icc))
    write_map(path(".jpg"), Z, unit="m", photo=tmp_path / "grey.png")
    with Image.open(path(".jpg")) as found:
        assert (found.mode, found.info["icc_profile"]) == ("L", bytes(icc))


# ---- points and meshes ---------------------------------------------------------------------------


def test_ply_is_read_by_trimesh(path):
    trimesh = pytest.importorskip("trimesh")
    values = Z.copy()
    values[0, :2] = INF, NAN
    write_map(path(".ply"), values, unit="m", photo=PHOTO, fov=60)
    found = trimesh.load(path(".ply"))
    seen = np.isfinite(values)
    assert len(found.vertices) == seen.sum()
    np.testing.assert_allclose(-found.vertices[:, 2], values[seen], rtol=1e-5)
    np.testing.assert_array_equal(found.colors[:, :3], PHOTO[seen])


def test_points_are_where_a_pinhole_sees_them():
    layers = Layers(np.full((30, 40), 2, np.float32), "m", fov=90)
    points = cloud(layers).points.reshape(30, 40, 3)
    # 90 degrees: at 2 m the longer side is 4 m wide.
    np.testing.assert_allclose(points[0, 0], [-2 + 0.05, 1.5 - 0.05, -2], rtol=1e-5)
    np.testing.assert_allclose(points[-1, -1], [2 - 0.05, -1.5 + 0.05, -2], rtol=1e-5)


def test_disparities_without_metres_reach_four_times_as_far():
    z = -cloud(Layers(D)).points[:, 2]
    assert (z.min(), z.max()) == pytest.approx((1, 4))


def test_glb_is_read_by_trimesh(path):
    trimesh = pytest.importorskip("trimesh")
    write_map(path(".glb"), Z, unit="m", photo=PHOTO)
    (found,) = trimesh.load(path(".glb")).geometry.values()
    points, triangles = mesh(Layers(Z, "m", PHOTO))
    np.testing.assert_array_equal(found.vertices.astype(np.float32), points.points)
    np.testing.assert_array_equal(found.faces, triangles)
    colours = found.visual.vertex_attributes["color"]
    np.testing.assert_array_equal(colours, linear(PHOTO.reshape(-1, 3).astype(np.float32) / 255))
    assert (found.face_normals[:, 2] > 0).mean() > 0.95  # towards the camera


def test_the_mesh_is_cut_at_depth_edges():
    step = np.ones((40, 50), np.float32)
    step[:, 25:] = 3
    _, triangles = mesh(Layers(step, "m"))
    assert len(triangles) == 2 * 39 * (24 + 24)
    slope = np.broadcast_to(np.linspace(0, 4, 50, dtype=np.float32), (40, 50))
    assert len(mesh(Layers(slope))[1]) == 2 * 39 * 49


def test_large_meshes_are_thinned_out(monkeypatch, path):
    trimesh = pytest.importorskip("trimesh")
    monkeypatch.setattr(_glb, "MOST_POINTS", 300)
    write_map(path(".glb"), D, photo=PHOTO)
    (found,) = trimesh.load(path(".glb")).geometry.values()
    assert 100 < len(found.vertices) <= 300


def test_a_map_without_surface(path):
    with pytest.raises(OutputError, match=r"map\.glb: the map has no surface.*\.ply"):
        write_map(path(".glb"), np.full((4, 4), NAN))
    with pytest.raises(OutputError, match=r"map\.ply: the map has no point with a finite depth"):
        write_map(path(".ply"), np.full((4, 4), INF), unit="m")


def test_points_of_metres_from_the_sensor_are_seen_from_the_lens():
    z = cloud(Layers(np.full((3, 4), 0.6, np.float32), "m", lens_to_sensor=0.05)).points[:, 2]
    np.testing.assert_allclose(z, -0.55, rtol=1e-5)


# ---- what cannot be written ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suffix", "options", "says"),
    [
        (".jpg", {}, "give it as photo= too"),
        (".jpg", {"photo": "p.png"}, "p.png: no such file"),
        (".jpg", {"photo": np.zeros((35, 50, 2), np.uint8)}, "photo: is an array of shape"),
        (".ply", {"photo": np.full((35, 50, 3), -1)}, "photo: "),
        (".jpg", {"photo": PHOTO * 1.0}, "photo: "),
        (".jpg", {"photo": PHOTO, "confidence": 1}, "the confidence has shape ()"),
        (".jpg", {"photo": PHOTO, "confidence": 2 * SURE}, "a confidence is from 0 to 1"),
        (".tiff", {"png": "grey"}, "png= is for"),
        (".exr", {"near": "white"}, "near= is for"),
        (".png", {"png": "mm"}, "metres"),
        (".png", {"png": "kitti", "unit": "m"}, "disparities"),
        (".png", {"near": "white"}, "near= is for grey levels: give png=grey too"),
        (".png", {"png": "gray"}, "png must be one of"),
        (".png", {"unit": "feet"}, "unit must be one of"),
        (".ply", {"fov": 0}, "between 0 and 180"),
        (".ply", {"photo": PHOTO[:9]}, "the photo is 50x9"),
        (".exr", {"confidence": SURE[:9]}, "the confidence is 50x9"),
    ],
)
def test_what_cannot_be_written(path, suffix, options, says):
    with pytest.raises(DualpixError, match=re.escape(says)) as found:
        write_map(path(suffix), D, **options)
    assert "--" not in str(found.value)  # the sentence is for callers of Python, too


def test_bad_style_is_a_parameter_error():
    with pytest.raises(ParameterError, match="near must be one of white, black"):
        write_map("a.png", D, png="grey", near="grey")


# ---- the commands --------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder, with a disparity map, depth in metres with infinity, and the views of a shot."""
    monkeypatch.chdir(tmp_path)
    write_map("map.tiff", D)
    z = Z.copy()
    z[0, 0] = INF
    write_map("z.tiff", z)
    (tmp_path / "z.json").write_text(json.dumps({"dualpix": "0", "map": "z.tiff", "unit": "metres"}))
    view = cv2.GaussianBlur(RNG.integers(0, 256, (60, 80), np.uint8), (0, 0), 1.5)
    view = cv2.normalize(view, None, 0, 255, cv2.NORM_MINMAX)
    cv2.imwrite("left.png", view)
    cv2.imwrite("right.png", np.roll(view, -1, axis=1))
    cv2.imwrite("small.png", view[:20])
    return tmp_path


MATCH = ("disparity", "left.png", "right.png", "--range", "-3", "3", "--quiet")


@pytest.mark.parametrize("suffix", [".exr", ".jpg", ".ply", ".glb"])
def test_disparity_shows_the_left_view_by_default(folder, suffix):
    assert cli.main([*MATCH, "-o", "out" + suffix]) == 0
    if suffix == ".exr":
        found = exr_channels("out.exr")
        assert {"Z", "R", "confidence"} <= set(found)
        np.testing.assert_array_equal(read_map("out.exr"), found["Z"])


def test_grey_of_a_signed_map_and_its_sidecar(folder):
    assert cli.main([*MATCH, "-o", "out.png", "--png", "grey", "--near", "black"]) == 0
    assert cli.main([*MATCH, "-o", "out.tiff"]) == 0
    grey = json.loads((folder / "out.json").read_text())["grey"]
    assert grey["black"] > grey["white"]
    values, unit, _ = read_recorded("out.png")
    assert unit == "px"
    np.testing.assert_allclose(values, read_map("out.tiff"), atol=1e-4)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("-o", "out.png"), "give --png grey or a range from 0 on"),
        (("-o", "out.png", "--png", "mm"), "metres"),
        (("-o", "out.ply", "--photo", "missing.png"), "missing.png: no such file"),
        (("-o", "out.ply", "--photo", "small.png"), "small.png is 80x20"),
        (("-o", "small.png", "--png", "grey", "--photo", "small.png"), "--photo is for"),
        (("-o", "out.tiff", "--fov", "50"), "--fov is for"),
    ],
)
def test_disparity_refuses(folder, capfd, options, says):
    before = set(folder.iterdir())
    assert cli.main([*MATCH, *options]) == 2
    err = capfd.readouterr().err
    assert says in err
    assert err.count("\n") == 1
    assert set(folder.iterdir()) == before


def test_metres_come_back_from_every_png(folder):
    for kind, tolerance in (("mm", 6e-4), ("grey", 3e-3)):
        options = ("--known", "5,5=2.5", "--known", "40,30=0.7", "--png", kind, "--force", "--quiet")
        assert cli.main(["depth", "map.tiff", "-o", "depth.png", *options]) == 0
        assert cli.main(["depth", "map.tiff", "-o", "depth.npy", *options[:4], "--force", "--quiet"]) == 0
        values, unit, _ = read_recorded("depth.png")
        exact = np.load("depth.npy")
        near = exact < 10
        assert unit == "m"
        np.testing.assert_allclose(values[near], exact[near], rtol=1e-3, atol=tolerance)


# ---- masks ---------------------------------------------------------------------------------------


def mask_of(values, low, high, soft):
    """The definition, pixel by pixel."""
    if np.isnan(values):
        return 0.0
    outside = max(low - values, 0) if values < low else (values - high if values > high else 0)
    return float(outside == 0) if soft == 0 else max(1 - outside / soft, 0)


@pytest.mark.parametrize("soft", [0, 0.5])
@pytest.mark.parametrize("suffix", [".png", ".tiff", ".pfm", ".npy", ".exr"])
def test_masks_in_every_format(folder, suffix, soft):
    name = "mask" + suffix
    options = ("--from", "0", "--to", "1.5", "--soft", str(soft), "--quiet")
    assert cli.main(["mask", "map.tiff", "-o", name, *options]) == 0
    expected = np.vectorize(mask_of, otypes=[float])(D, 0, 1.5, soft)
    if suffix == ".png":
        found = np.asarray(Image.open(name)) / 65535
    elif suffix == ".tiff":
        found = np.asarray(Image.open(name))
    elif suffix == ".pfm":
        found = cv2.imread(name, cv2.IMREAD_UNCHANGED)
    elif suffix == ".npy":
        found = np.load(name)
    else:
        found = exr_channels(name)["A"]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_masks_of_metres_know_infinity(folder):
    for high, expected in (("inf", 1), ("5", 0)):
        assert cli.main(["mask", "z.tiff", "-o", "m.npy", "--from", "1", "--to", high, "--force", "--quiet"]) == 0
        assert np.load("m.npy")[0, 0] == expected


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("-o", "m.png", "--from", "2", "--to", "1"), "smaller number first"),
        (("-o", "m.png", "--from", "1", "--to", "1"), "smaller number first"),
        (("-o", "m.png", "--from", "nan", "--to", "1"), "the start of the range is NaN"),
        (("-o", "m.png", "--from", "0", "--to", "1", "--soft", "-1"), "soft is -1"),
        (("-o", "m.jpg", "--from", "0", "--to", "1"), "choose one of"),
        (("-o", "map.tiff", "--from", "0", "--to", "1"), "is an input"),
        (("-o", "m.png", "--from", "0"), "--to"),
    ],
)
def test_masks_that_cannot_be(folder, capfd, options, says):
    assert cli.main(["mask", "map.tiff", *options]) == 2
    assert says in capfd.readouterr().err
    assert not (folder / "m.png").exists()


def test_the_ends_of_a_mask_are_numbers(folder, capfd):
    assert cli.main(["mask", "map.tiff", "-o", "m.png", "--from", "0", "--to", "nan"]) == 2
    assert "the end of the range is NaN: give a number" in capfd.readouterr().err


def test_a_narrow_ramp_is_a_hard_edge(folder):
    for name, soft in (("a.npy", "0"), ("b.npy", "1e-50"), ("c.npy", "1e-320")):
        assert cli.main(["mask", "map.tiff", "-o", name, "--from", "0", "--to", "1", "--soft", soft, "--quiet"]) == 0
        np.testing.assert_array_equal(np.load(name), np.load("a.npy"))


def test_a_black_mask_tells_what_the_map_holds(folder, capfd):
    assert cli.main(["mask", "map.tiff", "-o", "m.npy", "--from", "50", "--to", "60"]) == 0
    assert "0.0 % inside 50 to 60, in px of disparity; the map goes from -2 to 3" in capfd.readouterr().out


def test_a_mask_over_a_map_takes_its_sidecar_away(folder):
    write_map("old.tiff", Z, unit="m")
    write_sidecar("old.json", "old.tiff", unit="metres")
    assert cli.main(["mask", "map.tiff", "-o", "old.tiff", "--from", "0", "--to", "1", "--force", "--quiet"]) == 0
    assert read_recorded("old.tiff")[1:] == ("px", None)
    assert not (folder / "old.json").exists()
