"""Image and map files in, maps and previews out."""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .atomic import OutputSet, output_folder
    from .images import ImageInfo, Pair, as_image, encode_png, load_image, load_stored, probe, read_image
    from .maps import check_confidence_path, check_map_path, encode_map, write_map
    from .pairs import read_one, read_pair
    from .previews import check_preview_path, encode_preview, preview, write_preview
    from .recorded import read_map

# Names are imported on first use: a map of two PNG files needs few of these modules.
_HOMES = {
    "ImageInfo": "images",
    "OutputSet": "atomic",
    "Pair": "images",
    "as_image": "images",
    "check_confidence_path": "maps",
    "check_map_path": "maps",
    "check_preview_path": "previews",
    "encode_map": "maps",
    "encode_png": "images",
    "encode_preview": "previews",
    "load_image": "images",
    "load_stored": "images",
    "output_folder": "atomic",
    "preview": "previews",
    "probe": "images",
    "read_image": "images",
    "read_map": "recorded",
    "read_one": "pairs",
    "read_pair": "pairs",
    "write_map": "maps",
    "write_preview": "previews",
}

__all__ = [
    "ImageInfo",
    "OutputSet",
    "Pair",
    "as_image",
    "check_confidence_path",
    "check_map_path",
    "check_preview_path",
    "encode_map",
    "encode_png",
    "encode_preview",
    "load_image",
    "load_stored",
    "output_folder",
    "preview",
    "probe",
    "read_image",
    "read_map",
    "read_one",
    "read_pair",
    "write_map",
    "write_preview",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
