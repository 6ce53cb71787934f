"""The command as a whole: what starting it costs beside what it computes."""

import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...io import encode_png
from ._cases import Tell
from ._pairs import WIDE, dual_pixel_pair

MEGAPIXELS = 1344 * 1008 / 1e6
NAMES = ("dualpix disparity", "import cv2")


def whole_process(threads: int, largest: float, repeat: int, tell: Tell) -> dict[str, Any]:
    """Seconds of ``dualpix disparity`` from start to end, and of a Python that imports OpenCV and nothing else."""
    views = dual_pixel_pair(min(MEGAPIXELS, largest), WIDE)
    best = dict.fromkeys(NAMES, float("inf"))
    with TemporaryDirectory() as folder:
        left, right, out = (str(Path(folder, name)) for name in ("left.png", "right.png", "out.tiff"))
        for path, view in zip((left, right), views, strict=True):
            Path(path).write_bytes(encode_png(view))
        here = f"import sys; sys.path[:] = {sys.path!r}; "
        asked = ["disparity", left, right, "-o", out, "--force", "--threads", str(threads)]
        commands = [here + "from dualpix.cli import run; run()", *asked], [here + "import cv2"]
        for turn in range(repeat):
            for name, command in zip(NAMES, commands, strict=True):
                tell(f"{name}, {turn + 1} of {repeat}")
                start = time.perf_counter()
                done = subprocess.run([sys.executable, "-c", *command], check=False, capture_output=True)
                if done.returncode:
                    best[name] = float("nan")
                best[name] = min(best[name], time.perf_counter() - start)
    height, width = views[0].shape
    return {"width": width, "height": height, "seconds": best, "ratio": best[NAMES[0]] / best[NAMES[1]]}
