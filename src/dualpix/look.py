"""The options ``--photo``, ``--fov``, ``--png`` and ``--near`` of one map: checked early, used late."""

from typing import Any, NamedTuple

from .errors import OutputError, ParameterError
from .io.formats import Style, check_writable, encode, notes
from .io.images import resampled
from .io.layers import Layers, Origin
from .types import Input, Map, same_size

__all__ = ["Look", "file_and_notes"]


class Look(NamedTuple):
    """How a map file shall look: its photo, angle of view, kind of PNG, and whether near is white or black."""

    photo: str | None = None
    fov: float | None = None
    png: str | None = None
    near: str | None = None
    views: tuple[str | None, str | None] | None = None  # layout and first of the default photo; None if it is another
    picture: Input | None = None  # a photo in memory, instead of a file

    def checked(
        self,
        path: str,
        unit: str,
        default_photo: str | None = None,
        views: tuple[str | None, str | None] = (None, None),
    ) -> "Look":
        """Refuse what the format of `path` cannot hold. The default photo is used if the format takes one.

        `views` are layout and first of the default photo, if it holds both views; see `dualpix.io.read_one`.
        """
        given = self.photo is not None or self.picture is not None
        found = check_writable(path, unit, self.style, given or bool(default_photo))
        if given and not found.takes_photo:
            raise OutputError(f"{path}: photo= is for .exr, .jpg, .ply and .glb files: leave it out")
        if self.fov is not None and not path.lower().endswith((".ply", ".glb")):
            raise OutputError(f"{path}: fov= is for .ply and .glb files: leave it out")
        if not found.takes_photo:
            return self
        if self.fov is not None and not 0 < self.fov < 180:
            raise ParameterError(f"fov must be an angle between 0 and 180 degrees, not {self.fov:g}")
        if self.photo is not None:
            from .io.photos import check_photo  # few maps have a photo

            check_photo(self.photo)
        return self if given else self._replace(photo=default_photo, views=views)

    @property
    def style(self) -> Style:
        """The options of PNG files."""
        return Style(self.png, self.near)

    def is_kitti(self, path: str) -> bool:
        """Whether a disparity map becomes a KITTI PNG, which has no negative numbers."""
        return path.lower().endswith(".png") and self.png in (None, "kitti")

    def check_sign(self, path: str, never_negative: bool) -> None:
        """Refuse a KITTI PNG of disparities that may be negative."""
        if self.is_kitti(path) and not never_negative:
            raise OutputError(
                f"{path}: a .png map (16-bit KITTI) cannot hold negative numbers, but dual-pixel disparities are "
                "signed: write .tif, .pfm or .npy, or give png=grey or a range from 0 on"
            )

    def held(self, path: str, d: Map, searched: tuple[float, float], corrected: bool) -> Map:
        """The disparities that the format holds: a filter may leave the range by hundredths of a pixel.

        `corrected` says whether a calibration has changed them, so that the range is another one.
        """
        return d.clip(min=0) if self.is_kitti(path) and searched[0] >= 0 and not corrected else d

    def layers(self, path: str, values: Map, unit: str, confidence: Map | None) -> Layers:
        """The map with its photo, which must have the same size. Errors call the map `path`.

        A default photo was read as view or guide of the map before, so it is resampled as they are.
        """
        photo, kept = None, Origin()
        if self.picture is None and self.photo is None:
            return Layers(values, unit, None, confidence, self.fov)
        from .io.photos import load_photo, read_photo  # few maps have a photo
        from .io.pictures import origin

        if self.picture is not None:
            photo = load_photo(self.picture, "photo")
            same_size((path, values.shape), ("photo", photo.shape))
        elif self.photo is not None:
            layout, first = self.views or (None, None)
            photo = read_photo(self.photo, layout=layout, first=first)
            if self.views is not None:
                photo = resampled(photo, (values.shape[0], values.shape[1]), self.photo, path)
            same_size((path, values.shape), (self.photo, photo.shape))
            kept = origin(self.photo, 1 if photo.ndim == 2 else 3)
        return Layers(values, unit, photo, confidence, self.fov, origin=kept)


def file_and_notes(path: str, layers: Layers, look: Look) -> tuple[bytes | memoryview, dict[str, Any]]:
    """The bytes of a map file, and what its sidecar must say about them."""
    return encode(path, layers, look.style), notes(path, layers, look.style)
