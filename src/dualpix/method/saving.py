"""The files of one map: the map by its suffix, confidence, preview, and the sidecar that says what the numbers mean."""

from collections.abc import Mapping
from typing import Any, Protocol

from ..io import check_confidence_path, check_preview_path, encode_map, encode_preview
from ..io.sidecar import to_json
from ..look import Look, file_and_notes
from ..types import Map


class Sink(Protocol):
    """What takes the bytes of files."""

    def write(self, path: str, data: bytes | memoryview) -> None:
        """Take the bytes of a file."""
        ...


def check_outputs(outputs: Mapping[str, str], look: Look, never_negative: bool) -> None:
    """Refuse outputs that cannot hold the map. Needs no input.

    `outputs` are paths by role: "disparity" and "sidecar"; "confidence" and "preview" if they are wanted.
    """
    if "confidence" in outputs:
        check_confidence_path(outputs["confidence"])
    if "preview" in outputs:
        check_preview_path(outputs["preview"])
    look.check_sign(outputs["disparity"], never_negative)


def write_outputs(
    files: Sink, outputs: Mapping[str, str], look: Look, record: dict[str, Any], disparity: Map, confidence: Map
) -> None:
    """Write the files of a map. The sidecar is the last: `record`, to which the notes of the format are added."""
    path = outputs["disparity"]
    data, notes = file_and_notes(path, look.layers(path, disparity, "px", confidence), look)
    record |= notes
    files.write(path, data)
    if "confidence" in outputs:
        files.write(outputs["confidence"], encode_map(outputs["confidence"], confidence))
    if "preview" in outputs:
        files.write(outputs["preview"], encode_preview(disparity))
    files.write(outputs["sidecar"], to_json(record).encode())
