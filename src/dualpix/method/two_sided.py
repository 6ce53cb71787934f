"""Frames that know the past and the future: a forward and a backward pass over a clip, for work that can wait.

Along time the beliefs are those of a path. The forward belief of a frame is its evidence and the message of the frame
before, the backward belief its evidence and the message of the frame after. The result has its evidence once, and both
messages.
"""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ..run import Run
from ..types import Pair
from .frames import solve_frame
from .moments import Filming, Moment
from .result import Result

BLOCK = 12  # frames that are finished together
AHEAD = 6  # frames after the block from which the backward pass starts; farther ones have faded


class _Frame(NamedTuple):
    pair: Pair
    forward: Moment


def solve_both_sides(
    pairs: Iterable[Pair], filming: Filming, new_run: Callable[[], Run], before: Moment | None = None
) -> Iterator[tuple[Result, Moment]]:
    """The maps of a clip, each with the forward moment of its frame.

    Parameters
    ----------
    pairs : iterable of Pair
        The frames. At most `BLOCK + AHEAD` are in memory, each with its forward belief.
    new_run : callable
        Makes the run of a frame.
    before : Moment, optional
        The forward moment of the frame before the first.
    """
    frames, ahead = iter(pairs), list[_Frame]()
    while True:
        last = ahead[-1].forward if ahead else before
        for pair in islice(frames, BLOCK + AHEAD - len(ahead)):
            _, last = solve_frame(pair, filming, _beside(last), new_run())
            ahead.append(_Frame(pair, last))
        if not ahead:
            return
        block = len(ahead) if len(ahead) < BLOCK + AHEAD else BLOCK
        backward = _backward(ahead, filming, new_run)
        for number, (pair, forward) in enumerate(ahead[:block]):
            ends = number + 1 < len(ahead) and ahead[number + 1].forward.cut  # the next frame shows something else
            beside = _beside(None if forward.cut else before, None if ends else backward[number + 1])
            result, _ = solve_frame(pair, filming, beside, new_run(), forward.plan)
            backward[number] = None  # frees it
            before = forward
            yield result, forward
        del ahead[:block]


def _backward(frames: list[_Frame], filming: Filming, new_run: Callable[[], Run]) -> list[Moment | None]:
    """The backward moments of the frames. What comes after the last is not known: None."""
    moments: list[Moment | None] = [None]
    later: Moment | None = None
    for pair, forward in reversed(frames):
        _, moment = solve_frame(pair, filming, _beside(later), new_run(), forward.plan)
        moments.append(moment)
        later = None if forward.cut else moment
    return moments[::-1]


def _beside(*moments: Moment | None) -> list[Moment]:
    return [moment for moment in moments if moment is not None]
