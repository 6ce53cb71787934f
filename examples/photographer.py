# %% [markdown]
# # A photo with another focus, in Python
#
# The same steps as in the [tutorial for photographers](../docs/photographer.md), as a script: depth, another focus, a
# mask, a file for another program. The pair is rendered here. Put your own two views, or one raw file, in its place.

# %%
from dualpix.scenes.files import write_scenes

write_scenes("shots", count=1, seed=5, size=(400, 280))  # shots/000/l.png, r.png and the true disparity, d.npy

# %% [markdown]
# ## Depth
#
# A larger disparity is nearer, and 0 is what the camera had in focus. The guided filter makes the edges of the map
# follow those of the photo, which is what a later blur needs.

# %%
import numpy as np

import dualpix

result = dualpix.disparity("shots/000/l.png", "shots/000/r.png", filter="guided")
near, far = np.percentile(result.disparity, (99, 1))
print(f"disparities from {far:.2f} px (far) to {near:.2f} px (near)")
for sentence in result.warnings:
    print("note:", sentence)

# %% [markdown]
# ## Another focus
#
# `focus=(x, y)` makes the thing at that pixel sharp. `aperture` is the diameter of the opening, relative to the lens
# that took the photo: with 4, a photo taken at f/4 looks as if taken at f/1.

# %%
import cv2

sure = np.where(result.confidence > 0.5, result.disparity, -np.inf)
y, x = np.unravel_index(np.argmax(sure), sure.shape)  # the nearest thing that is certain
new = dualpix.render.refocus("shots/000/l.png", result.disparity, focus=(int(x), int(y)), aperture=4)
cv2.imwrite("refocused.png", new[..., ::-1] if new.ndim == 3 else new)  # OpenCV wants blue first

# %% [markdown]
# ## A mask, and a map for other programs
#
# The mask is white where things are nearer than the middle of the range. The map is one float a pixel; a `.png` shows
# it in colours, an `.exr`, `.ply` or `.glb` takes it to other programs ([formats](../docs/formats.md)).

# %%
middle = (near + far) / 2
cv2.imwrite("mask.png", np.where(result.disparity > middle, 255, 0).astype(np.uint8))
dualpix.write_map("d.tiff", result.disparity)
print(f"{np.mean(result.disparity > middle):.0%} of the picture is nearer than {middle:.2f} px")
