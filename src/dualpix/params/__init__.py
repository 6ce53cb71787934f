"""Every parameter of the method: groups, rules, presets, and the ways to set them."""

from .config import chosen, load_config, parse_setting
from .definitions import Aggregation, Matching, Minima, Photometry, Scales, Smoothing
from .model import Params, expectations
from .overrides import Overrides, Preset
from .presets import DEFAULT_PRESET, complete, preset, preset_descriptions, preset_names, resolve
from .rules import unknown_name

__all__ = [
    "DEFAULT_PRESET",
    "Aggregation",
    "Matching",
    "Minima",
    "Overrides",
    "Params",
    "Photometry",
    "Preset",
    "Scales",
    "Smoothing",
    "chosen",
    "complete",
    "expectations",
    "load_config",
    "parse_setting",
    "preset",
    "preset_descriptions",
    "preset_names",
    "resolve",
    "unknown_name",
]
