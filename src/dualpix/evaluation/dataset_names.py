"""The names of data sets and kinds of truth: the one list of them. It imports nothing, so the command starts fast."""

DATASETS = ("dslr", "google", "pixel4", "r6ii", "simulated", "middlebury", "generic")

# disparity: px, d = x_left - x_right. depth-m, depth-mm: 0 is unknown. inverse: larger is nearer, in any unit.
TRUTH_KINDS = ("disparity", "depth-m", "depth-mm", "inverse")
