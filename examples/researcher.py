# %% [markdown]
# # Compare your method with `auto`, on your own folder
#
# Your method is a function from two views to a map. Your data is a folder with views and truth. This page compares the
# two scene by scene, says whether the difference means anything, and writes a page to look at.
#
# ## A folder of scenes
#
# Here the scenes are rendered, so that the truth is exact and everyone gets the same. Each is a folder with `l.png`,
# `r.png` and `d.npy`, the disparity of the left view in px: `d = x_left - x_right`, larger is nearer.

# %%
from dualpix.scenes.files import write_scenes

write_scenes("scenes", count=6, seed=11, size=(192, 128))

# %% [markdown]
# Patterns tell which files belong together, and `truth_kind` what the truth holds: `disparity` in px, `depth-m`,
# `depth-mm`, or `inverse` ([own data](../docs/own-data.md)).

# %%
from dualpix.evaluation.datasets import open_dataset

files = {"left": "*/l.png", "right": "*/r.png", "truth": "*/d.npy"}
scenes = open_dataset("generic", "scenes", **files, truth_kind="disparity")
print(list(scenes.scenes))

# %% [markdown]
# ## Your method
#
# A method takes two arrays (HxW or HxWx3) and returns a float32 map of the size of the left view, NaN where it has no
# value. Every method runs in a process of its own, so yours is in a file. Here it is block matching, nothing else.

# %%
from pathlib import Path

OWN = '''
import cv2
import numpy as np


def blocks(left, right, reach=8, window=15):
    """The shift with the lowest sum of absolute differences, refined by a parabola."""
    left, right = (np.atleast_3d(view).mean(axis=2, dtype=np.float32) for view in (left, right))
    shifts = np.arange(-reach, reach + 1)
    costs = np.stack([cv2.blur(np.abs(left - np.roll(right, d, axis=1)), (window, window)) for d in shifts])
    best = np.clip(costs.argmin(axis=0), 1, len(shifts) - 2)
    before, here, after = (np.take_along_axis(costs, best[None] + step, axis=0)[0] for step in (-1, 0, 1))
    curved = np.maximum(before + after - 2 * here, 1e-6)
    return shifts[best] + np.clip((before - after) / (2 * curved), -1, 1)
'''
Path("own.py").write_text(OWN)

# %% [markdown]
# ## The comparison
#
# Presets such as `auto`, baselines such as `opencv-sgbm`, your function and networks (`onnx:FILE.onnx`) are methods.
# Finished maps are kept in `cache`: if you change your function, only its maps are computed again. An edit of any
# Python file beside `own.py` counts as a change of it, which may import that file: keep your module in a folder of its
# own.

# %%
from dualpix.evaluation.compare import compare
from dualpix.evaluation.tables import comparison_lines

result = compare(scenes, ["auto", "own:blocks"], cache="cache")
print(comparison_lines(result))

# %% [markdown]
# The last table answers whether the difference is real. Scenes differ more than methods do, so the methods are compared
# within each scene. `p` is the chance of such a difference if the methods were equal. Six scenes are the fewest that
# can give a p below 0.05.
#
# All figures are there for plots of your own:

# %%
for outcome in result.outcomes:
    print(f"{outcome.scene}  {outcome.method:10}  {outcome.scores['proper']['mae']:.3f} px")

# %% [markdown]
# ## A page to look at
#
# It shows every map beside the truth, its errors and its confidence.

# %%
from dualpix.evaluation.report import report_page

Path("report.html").write_text(report_page(result), encoding="utf-8")

# %% [markdown]
# ## Tables for a paper
#
# The LaTeX table needs no package; `markdown_table` is the same for a README. The CSV has a row for every scene and
# method.

# %%
from dualpix.evaluation.publish import latex_table
from dualpix.evaluation.tables import comparison_csv

Path("table.tex").write_text(latex_table(result), encoding="utf-8")
Path("scores.csv").write_text(comparison_csv(result), encoding="utf-8")

# %% [markdown]
# ## The same by one command
#
# `dualpix evaluate scenes --dataset generic --left '*/l.png' --right '*/r.png' --truth '*/d.npy' --truth-kind disparity
# --method auto --method own:blocks --report report.html --latex table.tex --csv scores.csv` does all of this. To score
# a single map, [use the metrics](../docs/scoring.md).
