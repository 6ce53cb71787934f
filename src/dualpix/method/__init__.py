"""The paper: survey, solve, finish."""
