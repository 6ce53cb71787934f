# %% [markdown]
# # Compare your method with `auto`, on your own folder
#
# Your method is a function from two views to a map. Your data is a folder with views and truth. This page compares the
# two by the Python API, scene by scene, and says whether the difference means anything.
#
# ## A folder of scenes
#
# Here the scenes are rendered, so that the truth is exact and everyone gets the same. Each is a folder with `l.png`,
# `r.png` and `d.npy`, the disparity of the left view in px: `d = x_left - x_right`, larger is nearer.

# %%
from pathlib import Path

from dualpix.scenes.files import write_scenes

write_scenes("scenes", count=4, seed=11, size=(320, 224))
folders = sorted(path.parent for path in Path("scenes").glob("*/d.npy"))
print([folder.name for folder in folders])

# %% [markdown]
# ## Two methods
#
# A method takes two arrays (HxW or HxWx3) and returns a float32 map of the size of the left view, NaN where it has no
# value. Yours may be anything: here it is block matching, nothing else.

# %%
import cv2
import numpy as np

import dualpix


def auto(left, right):
    return dualpix.disparity(left, right, threads=1).disparity


def blocks(left, right, reach=8, window=15):
    """The shift with the lowest sum of absolute differences, refined by a parabola."""
    grey = [
        view.astype(np.float32) if view.ndim == 2 else view.mean(axis=2, dtype=np.float32) for view in (left, right)
    ]
    shifts = np.arange(-reach, reach + 1)
    costs = np.stack([cv2.blur(np.abs(grey[0] - np.roll(grey[1], d, axis=1)), (window, window)) for d in shifts])
    best = np.clip(costs.argmin(axis=0), 1, len(shifts) - 2)
    before, here, after = (np.take_along_axis(costs, best[None] + step, axis=0)[0] for step in (-1, 0, 1))
    curved = before + after - 2 * here
    offset = np.where(curved > 0, (before - after) / (2 * np.where(curved > 0, curved, 1)), 0)
    return (shifts[best] + np.clip(offset, -1, 1)).astype(np.float32)


# %% [markdown]
# ## Scores
#
# `metrics.pixel_errors` fits one gain for each map and gives the errors in px. For truth that is known up to scale and
# offset only, use `metrics.affine_invariant`; for stereo, `metrics.bad_pixels` ([scoring](../docs/scoring.md)).

# %%
from dualpix import metrics

errors = {method.__name__: [] for method in (auto, blocks)}
for folder in folders:
    pair, truth = dualpix.read_pair(folder / "l.png", folder / "r.png"), np.load(folder / "d.npy")
    for method in (auto, blocks):
        errors[method.__name__].append(metrics.pixel_errors(method(pair.left, pair.right), truth).mae)

print("scene ", *(f"{name:>8}" for name in errors))
for folder, *row in zip(folders, *errors.values(), strict=True):
    print(folder.name, "  ", *(f"{value:8.3f}" for value in row))

# %% [markdown]
# ## Is the difference real?
#
# Scenes differ more than methods do, so compare within each scene, and ask how the mean difference would vary with
# other scenes: draw scenes anew many times (a bootstrap). Four scenes are too few for a paper. They are enough to see
# how it is done.

# %%
difference = np.array(errors["blocks"]) - np.array(errors["auto"])
draws = np.random.default_rng(0).integers(0, len(difference), (2000, len(difference)))
low, high = np.percentile(difference[draws].mean(axis=1), (2.5, 97.5))
print(f"blocks - auto: {difference.mean():.3f} px on average, 95 % of the draws from {low:.3f} to {high:.3f}")

# %% [markdown]
# ## The same by one command
#
# The rendered folder is of the kind `simulated`. With your function in a file `own.py`, `dualpix evaluate scenes
# --dataset simulated --method auto --method own:blocks --report report.html` runs both in processes of their own,
# measures time and memory, keeps finished maps, and writes a page with all maps and errors.
# [Scoring](../docs/scoring.md) has the other kinds of folders.
