"""The method in three stages: survey, solve, finish. `solve` is the paper, the other two are ours."""
