"""The formats that are read, by name. The first whose magic bytes fit decodes a file."""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import cast

from ..forks import no_fork
from ._format import Format


class Formats(Mapping[str, Format]):
    """Modules of this package by name of their format. Each is imported when it is asked for: most files are PNG."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self._modules = modules

    def __getitem__(self, name: str) -> Format:
        with no_fork:
            return cast(Format, import_module(f".{self._modules[name]}", __package__))

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __len__(self) -> int:
        return len(self._modules)


_IMAGES = {
    "PNG": "_png",
    "JPEG": "_jpeg",
    "TIFF": "_tiff",
    "PGM/PPM": "_pnm",
    "WebP": "_webp",
    "AVIF/HEIC": "_heif",
    "BMP": "_bmp",
    "JPEG 2000": "_jp2",
}
IMAGE_FORMATS = Formats(_IMAGES)
MAP_FORMATS = Formats({**_IMAGES, "PFM": "_pfm", "NPY": "_npy", "OpenEXR": "_exr"})
