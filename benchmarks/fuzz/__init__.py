"""Fuzzing: mutated files through every reader and odd arguments to every kernel, each judged by an oracle.

    PYTHONPATH=benchmarks python -m fuzz --seconds 60
    PYTHONPATH=benchmarks python -m fuzz --inputs 1000000

docs/hardening.md explains it.
"""
