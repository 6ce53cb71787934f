"""Coverage-guided fuzzing of the readers with atheris: an input that reaches new lines of dualpix is mutated further.

    PYTHONPATH=benchmarks python -m fuzz.guided --seconds 60

The first byte of an input gives the kind of file, the second the reader. Native code is judged by the oracle, but not
measured: its paths do not guide.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

COVERED = [
    "dualpix.io",
    "dualpix.camera.lens_file",
    "dualpix.batches.manifest",
    "dualpix.params",
    "dualpix.evaluation.cache",
]
WAIT = 25  # s for one input, on the clock


def main() -> int:
    """Start the fuzzer, again and again if an input ends it, until the time is over."""
    parser = argparse.ArgumentParser(prog="fuzz.guided", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--found", type=Path, default=Path("build/fuzz-found"))
    options = parser.parse_args()
    end, ended = time.monotonic() + options.seconds, 0
    options.found.mkdir(parents=True, exist_ok=True)
    log_path = options.found / "guided.log"
    with tempfile.TemporaryDirectory(prefix="dualpix-fuzz-") as folder, log_path.open("wb") as log:
        notes = Path(folder, "findings")
        notes.touch()
        while (rest := int(end - time.monotonic())) > 0:
            code = subprocess.run(
                [
                    sys.executable,
                    "-W",
                    "ignore",
                    "-c",
                    "from fuzz.guided import work; work()",
                    folder,
                    str(options.found),
                ],
                env=os.environ | {"FUZZ_SECONDS": str(rest), "FUZZ_SEED": str(options.seed + ended + 1)},
                stdout=subprocess.DEVNULL,
                stderr=log,
            ).returncode
            if code == 0:
                break
            ended += 1
            print(f"guided: an input ended the process ({code}), see {log_path}", flush=True)
        lines = notes.read_text().splitlines()
        done = sum(int(path.read_text()) for path in Path(folder).glob("count-*"))
    for line in lines:
        print(line)
    print(f"{len(lines) + ended} findings in {done} guided inputs", flush=True)
    return 1 if lines or ended else 0


def work() -> None:
    """One process of libFuzzer. It ends by itself after the time, or with an input that crashes or hangs."""
    import atheris

    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "DUALPIX_MAX_PIXELS": "1000000"}
    with atheris.instrument_imports(include=COVERED):
        from . import inputs, mutate, targets
    from .oracle import Limits

    folder, found = Path(sys.argv[1]), Path(sys.argv[2])
    kinds, limits, seen, count = list(targets.KINDS), Limits(), set[str](), [0]
    counter = folder / f"count-{os.getpid()}"

    def kind_of(data: bytes) -> tuple[str, targets.Reader]:
        kind = kinds[data[0] % len(kinds)]
        readers = targets.KINDS[kind].readers
        return kind, readers[data[1] % len(readers)]

    def one(data: bytes) -> None:
        if len(data) < 2:
            return
        kind, reader = kind_of(data)
        count[0] += 1
        if count[0] % 100 == 0:
            counter.write_text(str(count[0]))
        result = inputs.run(inputs.Input(kind, reader, data[2:], ""), str(folder), limits)
        if result is None or result[0] in seen:
            return
        seen.add(result[0])
        words = "".join(letter if letter.isalnum() else "-" for letter in result[0])[:80]
        path = found / kind / f"guided-{words}{Path(targets.KINDS[kind].file).suffix}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data[2:])
        path.with_name(path.name + ".txt").write_text(f"reader: {reader.__name__}\n{result[0]}\n{result[1]}\n")
        with (folder / "findings").open("a") as file:
            file.write(f"{kind}: {result[0]}: {path}\n")

    def mutator(data: bytes, largest: int, seed: int) -> bytes:
        random = Random(seed)
        if len(data) < 2 or random.random() < 0.3:
            return atheris.Mutate(data, largest)
        kind = kind_of(data)[0]
        return (data[:2] + mutate.mutated(data[2:], inputs.files_of(kind), random))[:largest]

    corpus = folder / "corpus"
    corpus.mkdir(exist_ok=True)
    for number, kind in enumerate(kinds):
        for place, data in enumerate(inputs.files_of(kind)):
            (corpus / f"{kind}-{place}").write_bytes(bytes([number, place]) + data)
    arguments = [
        "fuzz",
        f"-max_total_time={os.environ['FUZZ_SECONDS']}",
        f"-seed={os.environ['FUZZ_SEED']}",
        f"-timeout={WAIT}",
        "-max_len=65536",
        "-rss_limit_mb=2048",
        "-verbosity=0",
        f"-artifact_prefix={found}/guided-",
        str(corpus),
    ]

    atheris.Setup(arguments, one, custom_mutator=mutator)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())
