"""The files that the documentation names, as small as they can be: views, maps, photos of a lens, clips, data sets."""

import cv2
import numpy as np

import dualpix
from dualpix.io import encode_png
from onnx_files import node, save, slope_network
from raw_files import LONG, RATIONAL, SHORT, cr2, exif_tags, frames_of, mosaic
from test_calibration import sheet
from test_datasets import dslr, middlebury, pixel4, r6ii, simulated
from test_video import clip_of, write_video

LEFT = "left.png left.tif photo.png"
SMALL = "west.tif im0.png left1.png left2.png"
SHOTS = "photos/day1/left.png photos/day2/left.png pictures/left.png shots/day1/left.png shots/in/left.png r6ii/l.png"
RAW = "IMG_0001.CR3 IMG_0002.CR3"
MAPS = "d.tiff depth.tiff out.tiff truth.pfm"
SENSOR = {40962: (LONG, 960), 41486: (RATIONAL, 267), 41488: (SHORT, 3)}  # 960 pixels, 267 per cm
HINTS = '[{"kind": "near", "disparity": 1.5, "points": [[320, 200]], "radius": 12}]'
SHAPE = (512, 960)
FOCUS, SPREAD = 0.9, 2.0  # 1/z = FOCUS + d / SPREAD, with z in metres


def make(folder):
    """Fill a folder: views of a slanted plane, its map, and the rest."""
    noise = np.random.default_rng(0).uniform(0, 255, (*SHAPE, 3))
    image = np.uint8(np.clip(6 * (cv2.GaussianBlur(noise, None, 2) - 127) + 127, 0, 255))
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    left, right, truth = dualpix.simulate(image, (2 - 3 * x / 960 + 0.7 * (y - 256) / 256).astype(np.float32))
    for name in LEFT.split():
        write_pair(folder, name, left, right)
    for names, height, width in ((SMALL, 256, 480), (SHOTS, 128, 192)):
        for name in names.split():
            write_pair(folder, name, left[:height, :width], right[:height, :width])
    for name in MAPS.split():
        dualpix.write_map(folder / name, truth)
    (folder / "hints.json").write_text(HINTS)
    raw = cr2(*frames_of(*(25 * mosaic(view).astype(np.int64) for view in (left, right))), exif=exif_tags() | SENSOR)
    for name in RAW.split():
        (folder / name).write_bytes(raw)
    for side, view in (("left", left), ("right", right)):  # 16 bits, black at 1024
        (folder / f"002_{side}.png").write_bytes(encode_png(1024 + 50 * view.astype(np.uint16)))
    for side, sign in (("left", -1), ("right", 1)):  # measured images of a point, for simulation.md
        np.save(folder / f"{side}.npy", half_disc(sign))
    lens(folder, image[..., 0], (left, right, truth))
    clips(folder)
    own_data(folder)
    dualpix.write_map(folder / "shot.ply", truth[:48, :64])
    networks(folder)


def write_pair(folder, name, left, right):
    for side, view in ((name, left), (other_side(name), right)):
        (folder / side).parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(folder / side), view[..., ::-1])


def lens(folder, texture, scene):
    """White sheets, planes at 0.6 m and 1.5 m, and two scenes with their depth in millimetres."""
    for side, slope, seed in (("l", 0.4, 0), ("r", -0.4, 1)):
        (folder / f"sheet_{side}.png").write_bytes(encode_png(sheet(SHAPE, slope, 30000, seed)))
    for name, metres in (("near", 0.6), ("far", 1.5)):
        d = np.full(SHAPE, SPREAD * (1 / metres - FOCUS), np.float32)
        write_views(folder, f"{name}_l.png", f"{name}_r.png", dualpix.simulate(texture, d))
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    other = dualpix.simulate(texture, (np.cos(x / 150) + np.sin(y / 120)).astype(np.float32))
    for number, views in ((1, scene), (2, other)):
        write_views(folder, f"l{number}.png", f"r{number}.png", views)
        depth = 1000 / (FOCUS + views[2] / SPREAD)
        (folder / f"depth{number}.png").write_bytes(encode_png(depth.astype(np.uint16)))


def write_views(folder, left, right, made):
    for name, view in zip((left, right), made[:2], strict=True):
        (folder / name).write_bytes(encode_png(view))


def clips(folder):
    frames = zip(*clip_of(3), strict=True)
    for side, views in zip(("left", "right"), frames, strict=True):
        write_video(folder / f"{side}.mp4", views, codec="mpeg4", stored="yuv420p")


def own_data(folder):
    """Small scenes, as own-data.md, networks.md, scoring.md and speed.md name them."""
    for name in ("scenes/007", "scenes/008", "desk"):
        r6ii(folder, name)  # depth in millimetres
        (folder / name / "d.png").rename(folder / name / "depth.png")
    dualpix.write_map(folder / "desk/depth.tiff", np.linspace(0.5, 5, 48 * 64, dtype=np.float32).reshape(48, 64))
    cv2.imwrite(str(folder / "desk/mask.png"), np.full((48, 64), 255, np.uint8))
    simulated(folder / "data/simulated", "one", (48, 64))
    middlebury(folder / "data/middlebury", "one")
    pixel4(folder / "data/pixel4", "001")
    dslr(folder, "005")


def networks(folder):
    """net.onnx takes two grey views at once. The others have an input for each view."""
    slope_network(folder / "net.onnx", (-0.5, 0, 0.5))
    nodes = [node("Sub", "b a", "all"), node("ReduceMean", "all", "y", axes=[1])]
    for name in ("raft", "dddnet", "sfbd"):
        save(folder / f"{name}.onnx", nodes, {"a": [1, 3, None, None], "b": [1, 3, None, None]})


def other_side(name):
    for left, right in (("left", "right"), ("west", "east"), ("im0", "im1"), ("photo.", "photo-right."), ("l.", "r.")):
        if left in name.rpartition("/")[2]:
            return right.join(name.rsplit(left, 1))
    raise ValueError(name)


def half_disc(sign):
    y, x = np.mgrid[-7:8, -7:8]
    return ((x * x + y * y <= 49) & (sign * x >= 0)).astype(np.float32)
