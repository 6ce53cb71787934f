"""The description of point clouds and meshes."""

from typing import Any

from . import _glb, _ply
from ._format import matches, reading
from ._reader import file_bytes


def model_record(path: str) -> dict[str, Any] | None:
    """Describe a point cloud or a mesh; None if the file is something else."""
    data = file_bytes(path)
    for model in (_ply, _glb):
        if matches(model.MAGIC, data):
            with reading(path):
                return {"path": path, **model.describe(data)}
    return None


def model_line(record: dict[str, Any]) -> str:
    line = f"{record['path']}: {record['format']} {record['points']} points"
    if "triangles" in record:
        line += f", {record['triangles']} triangles"
    line += ", with colours" if record["colours"] else ""
    return line + (f", in {record['unit']}" if "unit" in record else "")
