"""What a batch begins with: a shot, the name of its outputs, and what is special about it."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Shot:
    """The files of one shot.

    Attributes
    ----------
    name : str
        The name of its outputs, without suffix, with "/" between folders.
    left, right, guide, calibration : str or None
        Files. Without `right`, `left` is one file or folder with both views.
    options : dict
        What is set for this shot alone, as text: preset, layout, first, axis, or any parameter.
    where : str
        Where it is described, for messages: a file, or a line of a manifest.
    """

    name: str
    left: str
    right: str | None = None
    guide: str | None = None
    calibration: str | None = None
    options: dict[str, str] = field(default_factory=dict)
    where: str = ""
