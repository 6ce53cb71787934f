# %% [markdown]
# # Time, memory and many shots
#
# What you want to know before you put dualpix into a product: how long it takes, how much memory it needs, what goes
# wrong and how you hear about it, and how to do a folder.

# %%
from dualpix.scenes.files import write_scenes

write_scenes("shots", count=3, seed=2, size=(320, 224))

# %% [markdown]
# ## Time
#
# A result tells where its time went. The map does not depend on the number of threads: the bytes are the same.

# %%
import time

import numpy as np

import dualpix

left, right = "shots/000/l.png", "shots/000/r.png"
dualpix.disparity(left, right)  # the first call loads libraries, too
maps = {}
for threads in (1, 2):
    start = time.perf_counter()
    result = dualpix.disparity(left, right, threads=threads)
    maps[threads] = result.disparity
    print(f"{threads} threads: {time.perf_counter() - start:.3f} s")
print({stage: round(seconds, 4) for stage, seconds in result.timings.items()})
assert np.array_equal(maps[1], maps[2])

# %% [markdown]
# ## Memory
#
# `mem_limit` is in GB, beside the views. A pair that needs more is refused at once, before any work. The message has
# the estimate. Every mistake of an input is an `InputError` with one sentence; anything else is a bug of ours.

# %%
try:
    dualpix.disparity(left, right, mem_limit=0.001)
except dualpix.InputError as error:
    print(error)

# %% [markdown]
# ## The parameters
#
# They are frozen, checked, and go to a dictionary and back: keep them beside the result, and the run can be repeated.

# %%
params = dualpix.preset("auto").replace(range=(-8, 8))
print(len(params.to_dict()), "parameters; the range is", params.to_dict()["range"])
try:
    params.replace(windw=5)
except dualpix.ParameterError as error:
    print(error)

# %% [markdown]
# ## A folder
#
# `dualpix.batch` runs processes, one for every core by default. A failure does not stop the others. Started again, it
# goes on where it was: what has the same files, parameters and version is not done again. So it may be killed at any
# time. Processes import your script, so code that starts them belongs below `if __name__ == "__main__"`.

# %%
if __name__ == "__main__":
    for turn in ("first", "again"):
        start = time.perf_counter()
        outcomes = list(dualpix.batch("shots", "maps", jobs=2, threads=2))
        print(f"{turn}: {len(outcomes)} shots, {time.perf_counter() - start:.2f} s")
        for outcome in outcomes:
            print(" ", outcome.name, outcome.error or outcome.outputs["disparity"])

# %% [markdown]
# More: [batches](../docs/batch.md), [many machines](../docs/cluster.md), [huge pictures](../docs/tiles.md),
# [speed](../docs/speed.md), [signals and full disks](../docs/endings.md).
