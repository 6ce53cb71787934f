"""What a batch makes of every shot, and the capture that follows from a shot."""

import os
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from ..camera.lens_file import read_calibration
from ..errors import InputError, OutputError, ParameterError
from ..io import urls
from ..look import Look
from ..params import Params, chosen, parse_setting, resolve
from .capture import Capture
from .folder import BATCH, RESULTS
from .manifest import CHOICES
from .remote import Remote, is_remote, local_copy
from .shot import Shot


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """What is made of every shot, unless a row of a manifest says otherwise.

    Attributes
    ----------
    preset, params
        The name of the preset, and the parameters.
    suffix : str
        Format of the maps, such as ".tiff".
    png, near : str or None
        How a .png looks, as for ``dualpix disparity``.
    confidence, preview : bool
        Whether to write them too.
    calibration, camera, layout, first, axis, mask_occluded
        As for ``dualpix disparity``.
    """

    preset: str
    params: Params
    suffix: str = ".tiff"
    png: str | None = None
    near: str | None = None
    confidence: bool = False
    preview: bool = False
    calibration: str | None = None
    camera: str | None = None
    layout: str | None = None
    first: str | None = None
    axis: str | None = None
    mask_occluded: bool = False

    def to_dict(self) -> dict[str, Any]:
        """All of it, ready for JSON."""
        return asdict(self) | {"params": self.params.to_dict()}

    def check_calibration(self) -> None:
        """Refuse a calibration that cannot be read, or that belongs to another camera."""
        if self.calibration is not None:
            with local_copy(urls.plain(self.calibration)) as path:
                read_calibration(path).check_camera(self.camera)

    def capture(self, shot: Shot, folder: str, threads: int, mem_limit: float | None) -> Capture:
        """The capture of a shot, with outputs in a folder. All paths are absolute.

        Raises
        ------
        DualpixError
            If options do not go together. Files are not looked at.
        """
        calibration = shot.calibration or self.calibration
        paths = {"right": shot.right, "guide": shot.guide, "calibration": calibration}
        files = {role: path and urls.absolute(path) for role, path in paths.items()}
        outputs = self._outputs(urls.joined(urls.absolute(folder), os.path.join(*shot.name.split("/"))))
        try:
            preset, params = self._parameters(shot.options)
        except ParameterError as error:
            raise InputError(f"{shot.where}: {error}") from None
        says = {name: shot.options.get(name, getattr(self, name)) for name in CHOICES}
        if shot.right is not None:  # two files are not one
            says |= {"layout": None, "first": None}
        views = (None, None) if shot.guide else (says["layout"], says["first"])
        photo = files["guide"] or urls.absolute(shot.left)
        capture = Capture(
            name=shot.name,
            left=urls.absolute(shot.left),
            **files,
            outputs=outputs,
            preset=preset,
            params=params,
            look=Look(png=self.png, near=self.near).checked(outputs["disparity"], "px", photo, views),
            camera=self.camera,
            mask_occluded=self.mask_occluded,
            threads=threads,
            mem_limit=mem_limit,
            **says,
        )
        capture.check()
        return capture

    def _outputs(self, name: str) -> dict[str, str]:
        outputs = {"disparity": name + self.suffix, "sidecar": name + ".json"}
        outputs |= {"confidence": name + ".confidence.tiff"} if self.confidence else {}
        return outputs | ({"preview": name + ".preview.png"} if self.preview else {})

    def _parameters(self, options: dict[str, str]) -> tuple[str, Params]:
        """Preset and parameters of a shot. A preset of its own replaces all parameters of the batch."""
        settings = [f"{name}={value}" for name, value in options.items() if name not in (*CHOICES, "preset")]
        if "preset" in options:
            return chosen(options["preset"], settings=settings)
        return self.preset, resolve(self.params, dict(map(parse_setting, settings))) if settings else self.params


def as_task(capture: Capture) -> Capture | Remote:
    """The capture as a task, which fetches what is behind URLs."""
    return Remote(capture) if is_remote(capture) else capture


def check_outputs(captures: Iterable[Capture], shots: Iterable[Shot], folder: str) -> None:
    """Refuse two captures that write one file, and outputs that are inputs.

    Raises
    ------
    OutputError
        It names both.
    """
    owners = {_same(urls.joined(urls.absolute(folder), name)): "the batch itself" for name in (BATCH, RESULTS)}
    inputs: dict[str, str] = {}
    for capture, shot in zip(captures, shots, strict=True):
        inputs |= {_same(path): path for path in _files(capture)}
        for path in capture.outputs.values():
            other = owners.setdefault(_same(path), shot.where)
            if other != shot.where:
                raise OutputError(
                    f"{shot.where}: would write {path}, as {other} does: give the shots different names, such as in "
                    "a column `name` of the manifest"
                )
    for path in owners.keys() & inputs.keys():
        raise OutputError(f"{inputs[path]}: is an input and would be overwritten: choose another output folder")


def _files(capture: Capture) -> Iterator[str]:
    for path in (capture.left, capture.right, capture.guide, capture.calibration):
        if path is not None:
            yield path


def _same(path: str) -> str:
    return path if urls.is_url(path) else os.path.normcase(path)
