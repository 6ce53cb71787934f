"""Image and map files in, maps and previews out."""

from .atomic import OutputSet, output_folder
from .images import ImageInfo, Pair, as_image, encode_png, load_image, load_stored, probe, read_image
from .maps import check_confidence_path, check_map_path, encode_map, read_map, write_map
from .pairs import read_one, read_pair
from .previews import check_preview_path, encode_preview, preview, write_preview

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
