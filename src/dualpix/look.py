"""The options ``--photo``, ``--fov``, ``--png`` and ``--near`` of one call: checked early, used late."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from .io.formats import Style
    from .io.layers import Layers
    from .types import Map


class Look(NamedTuple):
    """How a map file shall look: its photo, angle of view, kind of PNG, and whether near is white or black."""

    photo: str | None = None
    fov: float | None = None
    png: str | None = None
    near: str | None = None
    views: tuple[str | None, str | None] | None = None  # layout and first of the default photo; None if it is another

    def checked(
        self,
        path: str,
        unit: str,
        default_photo: str | None = None,
        views: tuple[str | None, str | None] = (None, None),
    ) -> Look:
        """Refuse what the format of `path` cannot hold. The default photo is used if the format takes one.

        `views` are layout and first of the default photo, if it holds both views; see `dualpix.io.read_one`.
        """
        from .errors import OutputError, ParameterError
        from .io.formats import check_writable
        from .io.photos import check_photo

        found = check_writable(path, unit, self.style, bool(self.photo or default_photo))
        if self.photo is not None and not found.takes_photo:
            raise OutputError(f"{path}: --photo is for .exr, .jpg, .ply and .glb files: leave it out")
        if self.fov is not None and not path.lower().endswith((".ply", ".glb")):
            raise OutputError(f"{path}: --fov is for .ply and .glb files: leave it out")
        if not found.takes_photo:
            return self
        if self.fov is not None and not 0 < self.fov < 180:
            raise ParameterError(f"fov must be an angle between 0 and 180 degrees, not {self.fov:g}")
        if self.photo is not None:
            check_photo(self.photo)
            return self
        return self._replace(photo=default_photo, views=views)

    @property
    def style(self) -> Style:
        """The options of PNG files."""
        from .io.formats import Style

        return Style(self.png, self.near)

    def is_kitti(self, path: str) -> bool:
        """Whether a disparity map becomes a KITTI PNG, which has no negative numbers."""
        return path.lower().endswith(".png") and self.png in (None, "kitti")

    def layers(self, path: str, values: Map, unit: str, confidence: Map | None) -> Layers:
        """The map with its photo, which must have the same size. Errors call the map `path`.

        A default photo was read as view or guide of the map before, so it is resampled as they are.
        """
        from .io.images import resampled
        from .io.layers import Layers
        from .io.photos import read_photo
        from .io.pictures import Origin, origin
        from .types import same_size

        photo, kept = None, Origin()
        if self.photo is not None:
            layout, first = self.views or (None, None)
            photo = read_photo(self.photo, layout=layout, first=first)
            if self.views is not None:
                photo = resampled(photo, (values.shape[0], values.shape[1]), self.photo, path)
            same_size((path, values.shape), (self.photo, photo.shape))
            kept = origin(self.photo, 1 if photo.ndim == 2 else 3)
        return Layers(values, unit, photo, confidence, self.fov, origin=kept)


def file_and_notes(path: str, layers: Layers, look: Look) -> tuple[bytes | memoryview, dict[str, Any]]:
    """The bytes of a map file, and what its sidecar must say about them."""
    from .io.formats import encode, notes

    return encode(path, layers, look.style), notes(path, layers, look.style)
