"""Scores, data sets, comparisons and benchmarks."""
