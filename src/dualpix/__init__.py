"""Depth from a single shot of a dual-pixel camera, by continuous cost aggregation.

``d = x_left - x_right`` in pixels of the input: larger is nearer, 0 is the plane in focus.
"""

from importlib import import_module

from .errors import DualpixError, InputError, OutputError, ParameterError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import baselines, filters
    from .camera.calibrate import Calibration, calibrate, read_calibration
    from .camera.simulation import simulate
    from .evaluation import metrics
    from .io import read_map, read_pair, write_map
    from .io.captures import read_capture
    from .method.pipeline import Result, disparity
    from .params import Params, preset

    __version__: str

# Public names are imported on first use, so that `import dualpix` takes milliseconds. No submodule
# may bear the name of a function here: importing it would put the module in the function's place.
_HOMES = {
    "Calibration": "camera.calibrate",
    "Params": "params",
    "Result": "method.pipeline",
    "calibrate": "camera.calibrate",
    "disparity": "method.pipeline",
    "preset": "params",
    "read_calibration": "camera.calibrate",
    "read_capture": "io.captures",
    "read_map": "io",
    "read_pair": "io",
    "simulate": "camera.simulation",
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
