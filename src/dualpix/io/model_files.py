"""The description of point clouds and meshes."""

from typing import Any

from ..errors import InputError
from . import _glb, _ply
from ._format import FormatError
from ._reader import mapped


def model_record(path: str) -> dict[str, Any] | None:
    """Describe a point cloud or a mesh; None if the file is something else."""
    data = mapped(path)
    for model in (_ply, _glb):
        if model.MAGIC.match(data):
            try:
                return {"path": path, **model.describe(data)}
            except FormatError as error:
                raise InputError(f"{path}: {error}") from None
    return None


def model_line(record: dict[str, Any]) -> str:
    line = f"{record['path']}: {record['format']} {record['points']} points"
    if "triangles" in record:
        line += f", {record['triangles']} triangles"
    line += ", with colours" if record["colours"] else ""
    return line + (f", in {record['unit']}" if "unit" in record else "")
