"""Reading files: the time compared with OpenCV and tifffile, and children that are forked while files are read.

python benchmarks/reading.py speed
python benchmarks/reading.py forks 500
"""

import argparse
import io
import os
import signal
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import cv2
import numpy as np
import tifffile

from dualpix.io import read_image

SIZE = 4480, 3360  # px, 15 MP
ROUNDS = 7
PATIENCE = 20  # s for a child that reads a small file


def picture(width: int, height: int) -> np.ndarray:
    """A smooth picture with noise, RGB, 16 bit."""
    rng = np.random.default_rng(0)
    small = rng.integers(0, 2**16, (12, 16, 3)).astype(np.float32)
    smooth = cv2.resize(small, (width, height), interpolation=cv2.INTER_CUBIC)
    return np.clip(smooth + rng.normal(0, 300, smooth.shape), 0, 65535).astype(np.uint16)


def tiff(image: np.ndarray, **options: object) -> bytes:
    file = io.BytesIO()
    tifffile.imwrite(file, image, photometric="rgb" if image.ndim == 3 else "minisblack", metadata=None, **options)
    return file.getvalue()


def files(width: int, height: int) -> dict[str, bytes]:
    deep = picture(width, height)
    flat, grey = (deep >> 8).astype(np.uint8), np.ascontiguousarray(deep[..., 1])
    rgb = np.ascontiguousarray(flat[..., ::-1])
    return {
        "grey16.png": cv2.imencode(".png", grey)[1].tobytes(),
        "rgb16.png": cv2.imencode(".png", deep)[1].tobytes(),
        "rgb8.png": cv2.imencode(".png", rgb)[1].tobytes(),
        "rgb8.jpg": cv2.imencode(".jpg", rgb)[1].tobytes(),
        "grey16.tiff": tiff(grey),
        "deflate.tiff": tiff(deep, compression="zlib", predictor=True, rowsperstrip=16),
        "lzw.tiff": cv2.imencode(".tiff", deep, [cv2.IMWRITE_TIFF_COMPRESSION, 5])[1].tobytes(),
        "grey16.pgm": cv2.imencode(".pgm", grey)[1].tobytes(),
    }


def other(path: Path) -> np.ndarray:
    """The file, read by the library that is usual for it."""
    if path.name in ("grey16.tiff", "deflate.tiff"):
        return np.asarray(tifffile.imread(path))
    image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    return cv2.cvtColor(image, cv2.COLOR_BGR2RGB) if image.ndim == 3 else image


def speed(folder: Path) -> None:
    """Print the median time of both readers, in turn, and that they give the same values."""
    print(f"{'file':14} {'MB':>6} {'dualpix s':>10} {'other s':>8} {'ratio':>6}")
    for name, data in files(*SIZE).items():
        path = folder / name
        path.write_bytes(data)
        times: dict[str, list[float]] = {"ours": [], "other": []}
        for _ in range(ROUNDS):
            for kind, read in (("ours", read_image), ("other", other)):
                start = time.process_time()
                image = read(path)
                times[kind].append(time.process_time() - start)
        assert np.array_equal(read_image(path), other(path)), name
        ours, others = (statistics.median(times[kind]) for kind in ("ours", "other"))
        print(f"{name:14} {len(data) / 1e6:6.1f} {ours:10.3f} {others:8.3f} {ours / others:6.2f}")
        del image


def forks(folder: Path, count: int) -> int:
    """Fork while two threads read. Every child reads a file of each kind. Returns how many did not end well."""
    paths = []
    for name, data in files(640, 480).items():
        paths.append(folder / name)
        paths[-1].write_bytes(data)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            for path in paths:
                read_image(path)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    failed = sum(not _child(paths) for _ in range(count))
    stop.set()
    for thread in threads:
        thread.join()
    return failed


def _child(paths: list[Path]) -> bool:
    pid = os.fork()
    if pid == 0:
        signal.alarm(PATIENCE)  # a child that hangs is ended
        for path in paths:
            read_image(path)
        os.write(2, b"")
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("speed", "forks"))
    parser.add_argument("count", type=int, nargs="?", default=500, help="children")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        if args.what == "speed":
            speed(Path(name))
            return 0
        failed = forks(Path(name), args.count)
    print(f"{args.count} children forked while files were read, {failed} did not end well")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
