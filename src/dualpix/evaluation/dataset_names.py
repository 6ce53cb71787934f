"""The names of the data sets: the one list of them. It imports nothing, so that the command line starts fast."""

DATASETS = ("dslr", "google", "pixel4", "r6ii", "simulated", "middlebury", "generic")
