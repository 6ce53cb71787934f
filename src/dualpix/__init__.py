"""Depth from a single shot of a dual-pixel camera, by continuous cost aggregation.

``d = x_left - x_right`` in pixels of the input: larger is nearer, 0 is the plane in focus.
"""

from importlib import import_module

from .errors import DualpixError, InputError, OutputError, ParameterError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import baselines, filters, metrics
    from .calibration import Calibration, calibrate, read_calibration
    from .captures import read_capture
    from .io import read_map, read_pair, write_map
    from .params import Params, preset
    from .pipeline import Result, disparity
    from .simulation import simulate

    __version__: str

# Public names are imported on first use, so that `import dualpix` takes milliseconds. No submodule
# may bear the name of a function here: importing it would put the module in the function's place.
_HOMES = {
    "Calibration": "calibration",
    "Params": "params",
    "Result": "pipeline",
    "calibrate": "calibration",
    "disparity": "pipeline",
    "preset": "params",
    "read_calibration": "calibration",
    "read_capture": "captures",
    "read_map": "io",
    "read_pair": "io",
    "simulate": "simulation",
    "write_map": "io",
}

__all__ = [
    "Calibration",
    "DualpixError",
    "InputError",
    "OutputError",
    "ParameterError",
    "Params",
    "Result",
    "__version__",
    "baselines",
    "calibrate",
    "disparity",
    "filters",
    "metrics",
    "preset",
    "read_calibration",
    "read_capture",
    "read_map",
    "read_pair",
    "simulate",
    "write_map",
]


def __getattr__(name: str) -> object:
    value: object
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in ("baselines", "filters", "metrics"):
        value = import_module(f".{name}", __name__)
    elif name == "__version__":
        value = _version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(__name__)
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0+unknown"
