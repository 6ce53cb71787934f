"""Depth from a single shot of a dual-pixel camera, by continuous cost aggregation.

``d = x_left - x_right`` in pixels of the input: larger is nearer, 0 is the plane in focus.
"""

from importlib import import_module

from .errors import DualpixError, DualpixWarning, InputError, OutputError, ParameterError

import_module(".forks", __name__)  # from now on forks wait for imports of our modules

TYPE_CHECKING = False
if TYPE_CHECKING:
    from . import baselines, filters, metrics, render
    from .camera.calibrate import calibrate
    from .camera.lens import Calibration
    from .camera.lens_file import read_calibration
    from .camera.metric import Depth, Metric
    from .camera.simulation import simulate
    from .io import read_map, read_pair, write_map
    from .io.captures import read_capture
    from .many import batch, tiles
    from .method.api import disparity
    from .method.result import Result
    from .method.sequence import Sequence, sequence
    from .params import Overrides, Params, preset

    __version__: str

# Public names are imported on first use, so that `import dualpix` takes milliseconds. No submodule
# may have the name of a function here: importing the module would replace the function.
_HOMES = {
    "Calibration": "camera.lens",
    "Depth": "camera.metric",
    "Metric": "camera.metric",
    "Overrides": "params",
    "Params": "params",
    "Result": "method.result",
    "Sequence": "calls",
    "batch": "batches.api",
    "calibrate": "camera.calibrate",
    "disparity": "calls",
    "preset": "params",
    "read_calibration": "camera.lens_file",
    "read_capture": "io.captures",
    "read_map": "reading",
    "read_pair": "io",
    "sequence": "calls",
    "simulate": "camera.simulation",
    "tiles": "mosaic.api",
    "write_map": "io",
}

__all__ = [
    "Calibration",
    "Depth",
    "DualpixError",
    "DualpixWarning",
    "InputError",
    "Metric",
    "OutputError",
    "Overrides",
    "ParameterError",
    "Params",
    "Result",
    "Sequence",
    "__version__",
    "baselines",
    "batch",
    "calibrate",
    "disparity",
    "filters",
    "metrics",
    "preset",
    "read_calibration",
    "read_capture",
    "read_map",
    "read_pair",
    "render",
    "sequence",
    "simulate",
    "tiles",
    "write_map",
]


def __getattr__(name: str) -> object:
    value: object
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in ("baselines", "filters", "metrics", "render"):
        value = import_module(f".{name}", __name__)
    elif name == "__version__":
        value = import_module(".version", __name__).version()
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
