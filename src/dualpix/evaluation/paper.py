"""The tables of the paper as data: printed figures, figures of the authors' code, and our methods for each row."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from ..errors import ParameterError
from ..params import preset, unknown_name
from .methods import Method, Preset, method

Figures = tuple[float, ...]

AFFINE = ("ai1", "ai2", "spearman", "geometric_mean")
STEREO = ("bad_0_5", "bad_1", "bad_2", "rmse")

# The scenes on which we ran the authors' code, by data set, with the height and width of the views.
MEASURED = {
    "dslr": {"005": (2940, 5180)},
    "google": {"20180302_mmmm_6527_20180303T130940": (1344, 1008)},
    "middlebury": {
        "Adirondack": (496, 718),
        "ArtL": (277, 347),
        "Motorcycle": (497, 741),
        "Piano": (481, 707),
        "Pipes": (485, 735),
        "Playroom": (476, 699),
        "Teddy": (375, 450),
        "Vintage": (480, 722),
    },
}


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes
    ----------
    label : str
    printed : tuple of float
        The figures in the paper, one for each score of the table; empty if the paper has none.
    measured : float or tuple or None
        The scores of the authors' code on `MEASURED`, in the protocol of the table: all of them, or the last one only.
    rebuilt : Method or None
        Our reproduction.
    best : Method or None
        The method that we recommend instead.
    proper : tuple or None
        Like `measured`, in the protocol proper.
    learned : bool
        A network whose file we do not have. The row is rebuilt if the user names the file.
    """

    label: str
    printed: Figures
    measured: float | Figures | None = None
    rebuilt: Method | None = None
    best: Method | None = None
    proper: Figures | None = None
    learned: bool = False


@dataclass(frozen=True)
class Table:
    """One table of the paper. `protocol` is that of its figures, `scores` are its columns."""

    number: int
    title: str
    dataset: str
    protocol: str
    scores: tuple[str, ...]
    rows: tuple[Row, ...]


def tables() -> tuple[Table, ...]:
    """Tables 1 to 7 of the paper, and rows for networks that it speaks of."""
    return dslr(), google(), middlebury(), iterations(), scales(), costs(), vertices()


def with_networks(made: Iterable[Table], given: Mapping[str, Method]) -> tuple[Table, ...]:
    """The tables with methods for the rows of networks, by label.

    Raises
    ------
    ParameterError
        If there is no such row.
    """
    made = tuple(made)
    labels = dict.fromkeys(row.label for table in made for row in table.rows if row.learned)
    for label in given:
        if label not in labels:
            raise ParameterError(unknown_name("row", label, labels))
    return tuple(replace(table, rows=tuple(_with_network(row, given) for row in table.rows)) for table in made)


def _with_network(row: Row, given: Mapping[str, Method]) -> Row:
    if not row.learned or row.label not in given:
        return row
    return replace(row, rebuilt=replace(given[row.label], name=row.label))


def dslr() -> Table:
    """Table 1."""
    filtered = cca("CCA+guided", filter="guided")
    return _ablation(
        1,
        "DSLR, set A",
        Row("SDoF", (0.087, 0.129, 0.291, 0.144), rebuilt=method("sdof")),
        Row("DPdisp", (0.047, 0.074, 0.082, 0.065), rebuilt=method("dpdisp")),
        Row("DPE", (0.061, 0.098, 0.103, 0.110), learned=True),
        Row("SFBD", (), learned=True),
        Row("CCA", (0.041, 0.068, 0.061, 0.053), (0.0274, 0.0532, 0.0747, 0.0477), cca("CCA"), method("auto")),
        Row("CCA + filter", (0.036, 0.061, 0.049, 0.048), 0.0446, filtered, method("auto+guided")),
    )


def google() -> Table:
    """Table 2. The authors' code also runs with ENCC, for which the paper prints no figures."""
    plain, filtered = method("phone"), method("phone+solver")
    histeq, histeq_filtered = _phone("CCA"), _phone("CCA+solver", filter="solver")
    rows = (
        Row("SDoF", (0.027, 0.037, 0.236, 0.063), rebuilt=method("sdof")),
        Row("DPNet", (), learned=True),
        Row("SFBD", (), learned=True),
        Row("CCA", (0.026, 0.036, 0.225, 0.059), (0.0217, 0.0302, 0.1186, 0.0427), histeq, plain),
        Row("CCA + filter", (0.025, 0.035, 0.217, 0.057), 0.0398, histeq_filtered, filtered),
        Row("CCA with ENCC", (), 0.0453, method("phone-paper"), plain),
        Row("CCA with ENCC + filter", (), 0.0381, method("phone-paper+solver"), filtered),
    )
    return Table(2, "Google's phone set", "google", "paper-google", AFFINE, rows)


def middlebury() -> Table:
    """Table 3."""
    rows = (
        Row("SGM", (26.1, 17.2, 12.2, 9.9), None, method("sgm"), proper=(27.9, 17.5, 12.2, 11.9)),
        Row(
            "CCA",
            (26.2, 18.3, 13.2, 5.2),
            (22.0, 14.7, 10.1, 4.19),
            method("stereo-paper"),
            method("stereo"),
            proper=(25.9, 17.4, 12.0, 4.56),
        ),
        Row("SGM + filter", (23.5, 15.2, 10.5, 4.04)),
        Row(
            "CCA + filter",
            (24.6, 16.7, 11.6, 4.04),
            None,
            method("stereo-paper+solver"),
            method("stereo+solver"),
            proper=(24.8, 16.5, 11.3, 3.62),
        ),
    )
    return Table(3, "Middlebury, quarter size", "middlebury", "paper-stereo", STEREO, rows)


def iterations() -> Table:
    """Table 4."""
    figures: dict[int, tuple[Figures, float]] = {
        1: ((0.055, 0.083, 0.092, 0.075), 0.0560),
        2: ((0.051, 0.078, 0.082, 0.068), 0.0550),
        3: ((0.041, 0.068, 0.061, 0.055), 0.0545),
    }
    auto = method("auto")
    runs = {n: _published(f"iterations {n},{n},{n}", iterations=(n, n, n)) for n in figures}
    rows = (Row(f"{n} iterations", printed, code, runs[n], auto) for n, (printed, code) in figures.items())
    return _ablation(4, "number of iterations", *rows)


def scales() -> Table:
    """Table 5, by iterations per scale."""
    figures: dict[tuple[int, ...], tuple[Figures, float]] = {
        (2,): ((0.052, 0.078, 0.084, 0.069), 0.0523),
        (3, 2): ((0.051, 0.076, 0.078, 0.067), 0.0526),
        (3, 3, 2): ((0.041, 0.068, 0.061, 0.055), 0.0545),
    }
    rows = (
        Row(f"{len(passes)} scale{'s' * (len(passes) > 1)}", printed, code, _with_scales(passes), method("auto"))
        for passes, (printed, code) in figures.items()
    )
    return _ablation(5, "number of scales", *rows)


def costs() -> Table:
    """Table 6."""
    auto = method("auto")
    return _ablation(
        6,
        "cost",
        Row("SAD", (0.041, 0.068, 0.061, 0.053), 0.0477, cca("cost sad"), auto),
        Row("SSD", (0.044, 0.072, 0.069, 0.060), None, cca("cost ssd", cost="ssd"), auto),
        Row("NCC", (0.046, 0.078, 0.081, 0.066), None, cca("cost ncc", cost="ncc"), auto),
    )


def vertices() -> Table:
    """Table 7."""
    auto = method("auto")
    parabola, encc = _published("parabola", subpixel="parabola"), _published("encc", subpixel="encc")
    return _ablation(
        7,
        "sub-pixel vertex",
        Row("parabola", (0.041, 0.071, 0.064, 0.057), (0.0337, 0.0601, 0.0964, 0.0580), parabola, auto),
        Row("histeq", (0.041, 0.070, 0.063, 0.056), (0.0312, 0.0580, 0.0896, 0.0545), _published("histeq"), auto),
        Row("ENCC", (0.041, 0.068, 0.061, 0.053), (0.0298, 0.0552, 0.0807, 0.0510), encc, auto),
    )


def _ablation(number: int, title: str, *rows: Row) -> Table:
    """A table of the data set dslr."""
    return Table(number, title, "dslr", "paper-dslr", AFFINE, rows)


def cca(name: str, base: str = "dslr-a", **changes: Any) -> Preset:
    """The method of the paper with some parameters changed."""
    return Preset(name, preset(base).replace(**changes))


def _published(name: str, **changes: Any) -> Preset:
    """The run of the paper's ablations: histeq, P = 1.25, iterations 3,3,2."""
    settings: dict[str, Any] = {"subpixel": "histeq", "penalty": 1.25} | changes
    return cca(name, **settings)


def _phone(name: str, **changes: Any) -> Preset:
    """The run of the paper on phones, with the histeq vertex."""
    return cca(name, "phone-paper", subpixel="histeq", **changes)


def _with_scales(passes: tuple[int, ...]) -> Preset:
    """The published run with one scale for each number of passes. The coarsest always searches -5 to 5 px."""
    reach = 5.0 * 2 ** (len(passes) - 1)
    return _published(f"{len(passes)} scales", iterations=passes, range=(-reach, reach))
