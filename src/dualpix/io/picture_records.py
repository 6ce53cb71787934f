"""What ``dualpix info`` tells about images, maps and Zarr folders."""

from typing import Any

from ._reader import probe
from .map_values import map_values, recorded_values
from .one_file import pages_info
from .sidecar import read_sidecar
from .windows import is_zarr, open_zarr


def image_record(path: str, pages: bool = False) -> dict[str, Any]:
    """An image or a map: its size and type, and its range if it is a map."""
    found = pages_info(path) if pages else probe(path)
    record = {
        "path": path,
        "format": found.format,
        "width": found.width,
        "height": found.height,
        "channels": found.channels,
        "dtype": found.dtype,
        "orientation": found.orientation,
        **sidecar_of(path),
    }
    return record if pages else record | map_values(path, found, record.get("sidecar"))


def zarr_record(path: str) -> dict[str, Any] | None:
    """A Zarr folder; None if the folder is none. It may be huge, so the sidecar tells its range."""
    if not is_zarr(path):
        return None
    found, sidecar = open_zarr(path), sidecar_of(path)
    height, width, *channels = found.shape
    record = {"path": path, "format": "Zarr", "width": width, "height": height, "channels": (*channels, 1)[0]}
    return record | {"dtype": found.dtype, "orientation": 1, **sidecar} | recorded_values(sidecar.get("sidecar", {}))


def sidecar_of(path: str) -> dict[str, Any]:
    """The sidecar of a map as entry of a record, if there is one."""
    found = read_sidecar(path)
    return {"sidecar": found} if found else {}
