"""The runner of several processes: what they do at once, what memory allows, and what happens when they die."""

import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from dualpix.batches.process import ProcessError, Worker
from dualpix.batches.processes import TRIES, Processes
from dualpix.batches.runner import Here


@dataclass(frozen=True)
class Job:
    """Notes in a folder when it begins and ends."""

    folder: Path
    name: str
    memory: float = 0.0
    lasts: float = 0.1
    deaths: int = 0  # how often it kills its process
    meets: str = ""  # does not end before this one has begun

    def run(self):
        with open(self.folder / f"{self.name}.begun", "a") as file:
            file.write("x")
        if len((self.folder / f"{self.name}.begun").read_text()) <= self.deaths:
            os.kill(os.getpid(), signal.SIGKILL)
        start = time.time()
        time.sleep(self.lasts)
        while self.meets and not begun(self.folder, self.meets) and time.time() < start + 60:
            time.sleep(0.01)
        return self.name, os.getpid(), start, time.time()

    def failed(self, why):
        return self.name, why, 0.0, 0.0

    def gigabytes(self):
        return self.memory


def begun(folder, name):
    file = folder / f"{name}.begun"
    return len(file.read_text()) if file.exists() else 0


def most_at_once(answers, weight=lambda name: 1):
    """The greatest weight of jobs that ran at the same time."""
    return max(
        sum(weight(name) for name, _, begin, end in answers if begin <= moment < end) for *_, moment, _ in answers
    )


def test_here_all_runs_in_this_process_in_order(tmp_path):
    answers = list(Here().run(Job(tmp_path, name, lasts=0) for name in "abc"))
    assert [(name, pid) for name, pid, *_ in answers] == [(name, os.getpid()) for name in "abc"]


def test_processes_live_on_and_work_at_once(tmp_path):
    answers = list(Processes(2).run(Job(tmp_path, name, meets={"a": "b", "b": "a"}.get(name, "")) for name in "abcdef"))
    assert sorted(name for name, *_ in answers) == list("abcdef")
    pids = {pid for _, pid, *_ in answers}
    assert len(pids) == 2
    assert os.getpid() not in pids
    spans = {name: (begin, end) for name, _, begin, end in answers}
    assert max(spans["a"][0], spans["b"][0]) < min(spans["a"][1], spans["b"][1])


def test_no_more_begins_than_memory_holds(tmp_path):
    memory = {"a": 1.0, "b": 1.0, "c": 2.0, "d": 9.0, "e": 1.0}
    answers = list(Processes(3, mem_limit=2.0).run(Job(tmp_path, name, size) for name, size in memory.items()))
    assert sorted(name for name, *_ in answers) == list(memory)
    alone = [answer for answer in answers if answer[0] != "d"]  # d needs more than all, so it runs alone
    assert most_at_once(alone, memory.get) <= 2.0
    assert most_at_once(answers, lambda name: 3 if name == "d" else 1) <= 3


def test_tasks_are_taken_when_they_can_begin(tmp_path):
    taken = []

    def tasks():
        for name in "abcdef":
            taken.append(name)
            yield Job(tmp_path, name)

    outcomes = Processes(2).run(tasks())
    next(outcomes)
    assert len(taken) <= 5  # two run, one or two have ended, one waits
    outcomes.close()
    assert begun(tmp_path, "f") == 0


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
def test_a_task_whose_process_dies_begins_again_and_fails_in_the_end(tmp_path):
    jobs = [Job(tmp_path, "once", deaths=1), Job(tmp_path, "always", deaths=99), Job(tmp_path, "never")]
    answers = {name: answer for name, answer, *_ in Processes(2).run(jobs)}
    assert isinstance(answers["once"], int)
    assert answers["always"] == "its process ended with SIGKILL, perhaps out of memory"
    assert isinstance(answers["never"], int)
    assert [begun(tmp_path, name) for name in ("once", "always", "never")] == [2, TRIES, 1]


def test_closing_ends_the_processes_at_once(tmp_path):
    outcomes = Processes(2).run([Job(tmp_path, "short", lasts=0), Job(tmp_path, "long", lasts=60)])
    assert next(outcomes)[0] == "short"
    start = time.monotonic()
    outcomes.close()
    assert time.monotonic() - start < 30


def test_an_error_while_tasks_are_made_ends_the_processes(tmp_path):
    def tasks():
        yield Job(tmp_path, "long", lasts=60)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(Processes(1).run(tasks()))


def twice(number):
    print("not an answer")
    return 2 * number


def test_a_worker_answers_many_calls():
    worker = Worker()
    assert [worker.call(twice, number) for number in range(3)] == [0, 2, 4]
    with pytest.raises(ProcessError, match="exit status 7"):
        worker.call(os._exit, 7)
    worker.end()
    worker.end()
