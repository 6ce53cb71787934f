"""What became of one capture."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """What became of one capture of a batch.

    Attributes
    ----------
    name : str
        The name of the capture: its outputs have this name, below the folder of the batch.
    outputs : dict
        The files, by role: "disparity", "sidecar", "confidence", "preview". Empty if it failed.
    seconds : float
        How long it took.
    error : str or None
        Why there is no map, if there is none.
    kept : bool
        Whether it was finished before this run.
    key : str or None
        The key of inputs, parameters and version.
    warnings : tuple of str
        What the user should check.
    """

    name: str
    outputs: dict[str, str]
    seconds: float
    error: str | None = None
    kept: bool = False
    key: str | None = None
    warnings: tuple[str, ...] = ()
