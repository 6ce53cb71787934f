"""The typed stub of the compiled module against the binary."""

import ast
import re
from importlib import resources

from dualpix import _core


def stub_signatures():
    tree = ast.parse(resources.files("dualpix").joinpath("_core.pyi").read_text(encoding="utf-8"))
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    return {
        f.name: [(a.arg, ast.unparse(a.annotation)) for a in f.args.args] + [ast.unparse(f.returns)] for f in functions
    }


def binary_signatures(name):
    """The overloads as nanobind prints them on the first lines of the docstring."""
    lines = getattr(_core, name).__doc__.splitlines()
    return [line for line in lines if re.match(rf"(\d+\. ``)?{name}\(", line)]


def test_same_functions():
    public = {name for name in dir(_core) if not name.startswith("_") and callable(getattr(_core, name))}
    assert public == set(stub_signatures())


def test_same_arguments_and_types():
    kinds = {
        "_Map": "numpy.ndarray[dtype=float32",
        "_Mask": "numpy.ndarray[dtype=uint8",
        "_Ranges": "numpy.ndarray[dtype=int32",
        "_Weights": "numpy.ndarray[dtype=uint16",
        "_Tiles": "numpy.ndarray[dtype=float64",
        "_Pixels": "numpy.ndarray[dtype=",
        "float": "float",
        "int": "int",
        "bool": "bool",
    }
    for name, (*arguments, returns) in stub_signatures().items():
        signatures = binary_signatures(name)
        assert signatures, name
        for signature in signatures:
            body = signature[signature.index("(") + 1 : signature.rindex(")")]
            printed = re.findall(r"(\w+): (.*?)(?=, \w+: |$)", body)
            assert [argument for argument, _ in printed] == [argument for argument, _ in arguments]
            for (_, kind), (_, stub) in zip(printed, arguments, strict=True):
                assert kind.startswith(kinds[stub.removesuffix(" | None")]), (name, kind, stub)
                assert ("None" in kind) == stub.endswith("None")
            assert signature.rstrip("`").endswith(f"-> {returns}")
