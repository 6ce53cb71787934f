"""The typed stub of the compiled module against the binary."""

import ast
import enum
import re
import sys
from importlib import resources
from random import Random

import numpy as np
import pytest

from conftest import PLAIN_PASS, ROOT
from dualpix import ParameterError, _core
from dualpix.params import preset

STUB = ast.parse(resources.files("dualpix").joinpath("_core.pyi").read_text(encoding="utf-8"))
FUNCTIONS = {node.name: node for node in STUB.body if isinstance(node, ast.FunctionDef)}
ENUMS = {node.name: node for node in STUB.body if isinstance(node, ast.ClassDef)}
VALUES = {node.target.id: ast.unparse(node.annotation) for node in STUB.body if isinstance(node, ast.AnnAssign)}

# The stub's types as nanobind prints them, arrays by their element.
PRINTED = {
    "_Map": {"float32"},
    "_Mask": {"uint8"},
    "_Bytes": {"uint8"},
    "_Sums": {"uint8", "uint16", "uint32", "uint64"},
    "_Ranges": {"int32"},
    "_Weights": {"uint8"},
    "_Halves": {"uint16"},
    "_Numbers": {"uint16"},
    "_Matches": {"float32", "uint16"},
    "_Double": {"float64"},
    "_Codes": {"int16"},
    "_Counts": {"int64"},
    "_Pixels": {"uint8", "uint16", "float32"},
    "Sequence[_Sign]": {"collections.abc.Sequence[tuple[float32, float, float]]"},
    "Sequence[_Prior]": {"collections.abc.Sequence[tuple[float32, float32, int, float, float]]"},
    "Sequence[float]": {"collections.abc.Sequence[float]"},
    "float": {"float"},
    "bool": {"bool"},
    "int": {"int"},
    **{name: {f"dualpix._core.{name}"} for name in ENUMS},
}


def binary_functions(name):
    """The overloads, from the signatures that nanobind prints on the first lines of the docstring."""
    lines = [line for line in getattr(_core, name).__doc__.splitlines() if line.startswith(f"{name}(")]
    short = (re.sub(r"numpy\.ndarray\[dtype=(\w+)[^]]*\]", r"\1", line) for line in lines)
    return [ast.parse(f"def {line}: ...").body[0] for line in short]


def arguments(function):
    """Name, type, default and whether it needs its name, of every argument."""
    args = function.args
    assert (args.posonlyargs, args.vararg, args.kwarg) == ([], None, None)
    defaults = [*[None] * (len(args.args) - len(args.defaults)), *args.defaults, *args.kw_defaults]
    return [
        (each.arg, ast.unparse(each.annotation), default and ast.unparse(default), each in args.kwonlyargs)
        for each, default in zip(args.args + args.kwonlyargs, defaults, strict=True)
    ]


def public(kind):
    return {name for name in dir(_core) if not name.startswith("_") and kind(getattr(_core, name))}


def is_enum(value):
    return isinstance(value, type) and issubclass(value, enum.Enum)


def test_same_names():
    assert public(is_enum) == set(ENUMS)
    assert public(lambda value: callable(value) and not is_enum(value)) == set(FUNCTIONS)
    assert public(lambda value: not callable(value)) == set(VALUES)
    assert all(type(getattr(_core, name)).__name__ == kind for name, kind in VALUES.items())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_same_arguments_and_types(name):
    stub, binary = FUNCTIONS[name], binary_functions(name)
    assert binary
    for function in binary:
        returned = ast.unparse(stub.returns)
        assert ast.unparse(function.returns) in PRINTED.get(returned, {returned})
        for found, expected in zip(arguments(function), arguments(stub), strict=True):
            kinds = {kind + " | None" * expected[1].endswith(" | None") for kind in PRINTED[without_none(expected[1])]}
            assert found[1] in kinds
            assert (found[0], *found[2:]) == (expected[0], *expected[2:])


def without_none(kind):
    return kind.removesuffix(" | None")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_numbers_have_names(name):
    """A call with more than three numbers in a row cannot be read."""
    positional = [kind for _, kind, _, named in arguments(FUNCTIONS[name]) if not named]
    assert sum(kind in ("int", "float") for kind in positional) <= 3
    assert not set(positional) & set(ENUMS)


@pytest.mark.parametrize("name", ENUMS)
def test_same_members(name):
    stub = {node.targets[0].id: ast.literal_eval(node.value) for node in ENUMS[name].body}
    assert {member.name: member.value for member in getattr(_core, name)} == stub


@pytest.mark.parametrize("name", ["cost", "subpixel", "messages"])
def test_parameters_are_the_members(name):
    names = " or ".join(member.name for member in getattr(_core, name.capitalize()))
    with pytest.raises(ParameterError, match=f"must be {names}, not"):
        preset("dslr-a").replace(**{name: "none of them"})


MAPS = [np.zeros((4, 5), np.float32) for _ in range(6)]


@pytest.mark.parametrize("wrong", [0, 1, -1, "sad", "parabola", "paper", None, _core.Minimum.whole, True])
def test_an_enum_is_no_number_and_no_name(wrong):
    kinds = {"subpixel": _core.Subpixel.parabola, "cost": _core.Cost.sad}
    row = np.zeros(21, np.float32)
    numbers = {
        "first": 0,
        "count": 3,
        "side": 1,
        "encc_window": 3,
        "ratio_threshold": 2,
        "noise_floor": 0,
        "threads": 1,
    }
    rows = {"taps": row[:1], "bias": row, "encc_left": MAPS[0], "encc_right": MAPS[1]}
    _core.match(*MAPS[:4], **numbers, **rows, **kinds)
    for name in kinds:
        with pytest.raises(TypeError, match="incompatible function arguments"):
            _core.match(*MAPS[:4], **numbers, **rows, **(kinds | {name: wrong}))
    weights = np.zeros((4, 4, 5), np.uint8)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.aggregate(*MAPS[:2], weights, *MAPS[2:4], messages=wrong, **PLAIN_PASS)


def test_arrays_that_are_not_aligned_are_refused():
    odd = np.frombuffer(bytes(4 * 6 + 1), np.uint8)[1:].view(np.float32).reshape(2, 3)
    assert not odd.flags.aligned
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.mean(odd, 1)
    assert _core.mean(odd.copy(), 1) == 0


@pytest.mark.parametrize("code", [np.nan, -1, 2**24, np.inf])
def test_census_codes_out_of_range_are_refused(code):
    left, right = (np.zeros((4, 5), np.float32) for _ in range(2))
    right[2, 3] = code
    taps, planes = np.ones(1, np.float32), [np.zeros((1, 4, 5), np.float32) for _ in range(3)]
    with pytest.raises(ValueError, match="census codes"):
        _core.find_candidates(
            *(left, right, *planes, np.zeros((4, 5), np.float32)),
            first=0,
            count=3,
            taps=taps,
            minimum=_core.Minimum.whole,
            threads=1,
            cost_kind=_core.Cost.census,
        )


# ---- outputs share no memory -----------------------------------------------------------------------


def arrays_of(name):
    """The names of the arrays that a function takes, and whether it writes them, as nanobind prints it."""
    signature = getattr(_core, name).__doc__.splitlines()[0]
    return {
        each: "writable=False" not in kind for each, kind in re.findall(r"(\w+): numpy\.ndarray(\[[^]]*\])", signature)
    }


def whole_call(name, monkeypatch):
    """Arguments with all optional arrays that the function accepts; drawn by the fuzzer, which knows all functions."""
    pytest.importorskip("resource")
    monkeypatch.setattr(sys, "path", [*sys.path, str(ROOT / "benchmarks")])
    from fuzz import kernels

    monkeypatch.setattr(kernels, "SIDES", (3 * (_core.tile // 2),))
    threads = {"threads": 2} if "threads" in [each[0] for each in arguments(FUNCTIONS[name])] else {}
    arrays = arrays_of(name)
    for seed in range(1000):
        drawn = kernels.CALLS[name](kernels.Draw(Random(seed))) | threads
        whole = all(drawn.get(each) is not None for each in arrays) and drawn.get("priors") != []
        if not whole or any(drawn[each].nbytes < 32 for each, writes in arrays.items() if writes):
            continue  # 32: a row less still overlaps
        try:
            getattr(_core, name)(**drawn)
        except ValueError:
            continue
        return drawn
    raise AssertionError(f"no call of {name} goes through")


def all_arrays(value, name=""):
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, dict | list | tuple):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            yield from all_arrays(each, f"{name}.{key}".lstrip("."))


def replaced(value, by):
    """`value` with other arrays in it; `by` has them by the id of the old ones."""
    if isinstance(value, dict):
        return {key: replaced(each, by) for key, each in value.items()}
    return (
        type(value)(replaced(each, by) for each in value)
        if isinstance(value, list | tuple)
        else by.get(id(value), value)
    )


def overlapping(a, b, shifted):
    """Copies of two arrays that begin at the same byte, or one a row of the larger after it. `b` keeps its values."""
    larger = max(a, b, key=lambda array: array.nbytes)
    shift = -(-larger[:1].nbytes // 8) * 8 if shifted else 0
    memory = np.zeros(larger.nbytes + shift + 8, np.uint8)
    begins = [0 if array is larger else shift for array in (a, b)]
    copies = [
        memory[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
        for begin, array in zip(begins, (a, b), strict=True)
    ]
    assert np.shares_memory(*copies)
    copies[1][...] = b
    return copies


WRITERS = [name for name in FUNCTIONS if len(arrays_of(name)) > 1 and any(arrays_of(name).values())]


@pytest.mark.parametrize("name", WRITERS)
def test_outputs_share_no_memory_with_other_arrays(name, monkeypatch):
    """Otherwise a kernel reads its own results, and its threads race."""
    call = whole_call(name, monkeypatch)
    tried = 0
    for output in (each for each, writes in arrays_of(name).items() if writes):
        for other, array in all_arrays(call):
            for shifted in (False, True):
                if other == output:
                    continue
                a, b = overlapping(call[output], array, shifted)
                with pytest.raises(ValueError, match=r"^outputs must not overlap other arrays$"):
                    getattr(_core, name)(**replaced(call, {id(call[output]): a, id(array): b}))
                tried += 1
    assert tried >= 2
