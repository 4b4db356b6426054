"""Direct current: what arrays of electrodes measure, its sensitivity to every cell, and files of such data."""

from __future__ import annotations

import os
from dataclasses import dataclass
from os import PathLike
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _core, _pictured, simulation
from ._arrays import Floats, real, text_table, vector
from ._strict import Strict
from .errors import InputError, ShapeError
from .mesh import TensorMesh
from .simulation import runtime

__all__ = ["Arrays", "Boreholes", "Chargeability", "Line", "Sensitivity", "Simulation", "forward",
           "invert_chargeability", "read_arrays", "write_arrays"]

_BOUNDARIES = ("mixed", "grounded", "insulated")
_SIDES = ("bottom", "top", "south", "north", "west", "east")
#: Of all sides but the top, or of single ones: {"west": "insulated"}.
Boundary = Union[str, Mapping[str, str]]
_POTENTIALS = ("auto", "secondary", "total")
_DATA = ("resistance", "apparent_resistivity", "log_apparent_resistivity")
_UNKNOWNS = ("conductivity", "log_conductivity")


class Arrays(NamedTuple):
    """Electrodes and which four measure together.

    electrodes : [n, 3] easting, northing, up, m; a height of NaN means on the ground.
    arrays : [m, 4] indices of a, b, m, n, from 0; −1 means far away.
    columns : what was measured: {name: (unit, values, uncertainty)}.
    """

    electrodes: Floats
    arrays: Any
    columns: dict[str, tuple[str, Floats, Floats]]

    def plot(self, channels: Union[str, Sequence[str], None] = None, **options: Any) -> Any:
        """Pseudosections of what was measured, at the middles of the arrays; options as of :func:`terrane.plot`."""
        return _pictured.plot(self, channels, **options)

    def _for_pictures(self) -> Any:
        from .plotting import objects

        return objects.of_arrays(self.electrodes, self.arrays, self.columns)

    def __repr__(self) -> str:
        far = int((np.asarray(self.arrays) < 0).any(axis=1).sum())
        rows = [("electrodes", f"{len(self.electrodes):,}"),
                ("arrays", f"{len(self.arrays):,}" + (f", {far:,} with an electrode far away" if far else ""))]
        for name, (unit, values, _) in self.columns.items():
            good = np.asarray(values, float)[np.isfinite(np.asarray(values, float))]
            rows.append((name, f"{good.min():.6g} … {good.max():.6g} {unit}" if good.size else "not finite"))
        return text_table("Arrays", rows)


def _chosen(value: str, name: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise InputError(name, f"is {value!r}", f"Allowed: {', '.join(allowed)}.")
    return value


def _boundary(value: Boundary) -> list[int]:
    """Of the sides in the order of _SIDES; a word stands for all but the top."""
    sides = dict.fromkeys(_SIDES, value) if isinstance(value, str) else {**dict.fromkeys(_SIDES, "mixed"), **value}
    if isinstance(value, str) or "top" not in value:
        sides["top"] = "insulated"
    for side in sides:
        _chosen(side, "boundary", _SIDES)
    return [_BOUNDARIES.index(_chosen(sides[side], f"boundary[{side!r}]", _BOUNDARIES)) for side in _SIDES]


def _places(electrodes: ArrayLike, arrays: ArrayLike) -> tuple[Floats, Floats]:
    at, four = real(electrodes, "electrodes", "m"), np.asarray(arrays)
    if at.ndim != 2 or at.shape[1] != 3:
        raise ShapeError("electrodes", f"has shape {at.shape}", "Expected [n, 3]: easting, northing, up.")
    if four.ndim != 2 or four.shape[1] != 4 or four.dtype.kind not in "iu":
        raise ShapeError("arrays", f"has shape {four.shape} and dtype {four.dtype}",
                         "Expected whole numbers [m, 4]: a, b, m, n; -1 is far away.")
    if len(four) == 0:
        raise ShapeError("arrays", "there are none", "Give one row of a, b, m, n for each.")
    return at, four.astype(float)


def _cells(mesh: TensorMesh, value: Optional[ArrayLike], name: str) -> Floats:
    """[cells], or empty."""
    if value is None:
        return np.empty(0)
    array = real(value, name)
    size = int(np.prod(mesh.shape))
    if array.ndim == 0:
        return np.full(size, float(array))
    if array.ndim > 1 and array.shape != tuple(mesh.shape):
        raise ShapeError(name, f"has shape {array.shape}", f"Expected {tuple(mesh.shape)}: up, north, east.")
    return vector(array.reshape(-1), name, size=size)


def _tolerance(value: float) -> float:
    if not 1e-14 <= value <= 1e-2:
        raise InputError("tolerance", f"is {value}", "Allowed: 1e-14 to 1e-2.")
    return float(value)


def _by_axis(mesh: TensorMesh, value: Union[ArrayLike, Mapping[str, ArrayLike], None], name: str) -> Floats:
    """[cells], or [3 cells] along easting, northing, up."""
    if not isinstance(value, Mapping):
        return _cells(mesh, value, name)
    for axis in value:
        _chosen(axis, name, ("east", "north", "up"))
    missing = [axis for axis in ("east", "north", "up") if axis not in value]
    if missing:
        raise InputError(name, f"has no {missing[0]!r}", "Give east, north and up.")
    return np.concatenate([_cells(mesh, value[axis], f"{name}[{axis!r}]") for axis in ("east", "north", "up")])


def forward(mesh: TensorMesh, conductivity: Union[ArrayLike, Mapping[str, ArrayLike]], electrodes: ArrayLike,
            arrays: ArrayLike, *,
            quadrature: Union[ArrayLike, Mapping[str, ArrayLike], None] = None,
            chargeability: Optional[ArrayLike] = None, ground: Optional[ArrayLike] = None,
            boundary: Boundary = "mixed", potential: str = "auto",
            tolerance: float = 1e-8, threads: Optional[int] = None) -> dict[str, Floats]:
    """Data of arrays: resistance (V/A), geometric_factor (m), apparent_resistivity (ohm m), and more.

    Parameters
    ----------
    mesh : TensorMesh
        Its top is the ground, unless there is ``ground``.
    conductivity : array_like [up, north, east], one number, or {"east": …, "north": …, "up": …}
        S/m, of all axes or along each; with a chargeability that of long currents.
    electrodes, arrays
        As of :class:`Arrays`.
    quadrature : as conductivity, optional
        Imaginary part of the conductivity, S/m: data have a ``phase`` (rad) and a ``reactance`` (V/A).
    chargeability : array_like, optional
        V/V, below 1: data have an apparent ``chargeability``.
    ground : array_like, optional
        Which part of each cell is ground and not air, 0 to 1; geometric factors are then those of a homogeneous ground.
    boundary : {"mixed", "grounded", "insulated"} or mapping
        Of the sides and the bottom; ``{"west": "insulated"}`` of single sides, where others are mixed. The top is
        insulated, or ``{"top": "grounded"}``.

    Examples
    --------
    >>> import numpy as np, terrane
    >>> faces = np.cumsum([0, 40, 20] + [5] * 12 + [20, 40]) - 90.0
    >>> mesh = terrane.TensorMesh(faces, faces, np.r_[-90, -50, -30:1:5])
    >>> data = forward(mesh, 0.01, [[-15, 0, 0], [-5, 0, 0], [5, 0, 0], [15, 0, 0]], [[0, 3, 1, 2]])
    >>> print(np.round(data["apparent_resistivity"], 6))
    [100.]
    """
    at, four = _places(electrodes, arrays)
    got = _core.electric_data(mesh.easting, mesh.northing, mesh.up, _by_axis(mesh, conductivity, "conductivity"),
                              _by_axis(mesh, quadrature, "quadrature"), _cells(mesh, chargeability, "chargeability"),
                              _cells(mesh, ground, "ground"), at, four, _boundary(boundary),
                              _chosen(potential, "potential", _POTENTIALS), _tolerance(tolerance), threads or 0)
    _warn(got.pop("warnings"))
    return got


def _warn(troubles: Sequence[str]) -> None:
    """What the command would say as a warning."""
    import warnings

    for trouble in troubles:
        warnings.warn(trouble, RuntimeWarning, stacklevel=3)


class Sensitivity(Strict):
    """d(σ) and its derivative J as an operator: J v, Jᵀ w, rows, diagonal.

    Parameters
    ----------
    mesh, conductivity, electrodes, arrays, quadrature, ground, boundary, tolerance, threads
        As in :func:`forward`. The potential of every electrode is kept: 8 bytes per node and electrode, with a
        quadrature 16.
    datum : {"log_apparent_resistivity", "apparent_resistivity", "resistance"}
    unknown : {"log_conductivity", "conductivity"}
    unit : array_like [arrays], optional
        ``unit`` of another of the same mesh and arrays: saves its solves.

    Notes
    -----
    Columns are cells [up, north, east]; of a conductivity along axes [axis, cell]: east, north, up. With a quadrature
    there are twice as many: of the real part of σ, then of the imaginary one; or of the logarithm of its magnitude,
    then of its angle (rad).
    And there are twice as many rows: resistances, then reactances; or apparent resistivities or their logarithms, then
    phases (rad), by which the voltage lags.

    Potentials are total ones, held against those of a homogeneous ground on the same mesh; on flat ground with a side
    that is grounded or insulated they are those of the mesh, times the geometric factor of a half space. J and Jᵀ are
    each other's transposes to rounding. Data of induced polarization are −J m, of the logarithms, for small
    chargeabilities m.
    """

    data: Floats
    unit: Floats

    def __init__(self, mesh: TensorMesh, conductivity: Union[ArrayLike, Mapping[str, ArrayLike]],
                 electrodes: ArrayLike, arrays: ArrayLike, *,
                 quadrature: Union[ArrayLike, Mapping[str, ArrayLike], None] = None,
                 ground: Optional[ArrayLike] = None, datum: str = "log_apparent_resistivity",
                 unknown: str = "log_conductivity", boundary: Boundary = "mixed", tolerance: float = 1e-8,
                 unit: Optional[ArrayLike] = None, threads: Optional[int] = None) -> None:
        at, four = _places(electrodes, arrays)
        self._engine, self.data, self.unit, troubles = _core.electric_sensitivity(
            mesh.easting, mesh.northing, mesh.up, _by_axis(mesh, conductivity, "conductivity"),
            _by_axis(mesh, quadrature, "quadrature"), _cells(mesh, ground, "ground"), at, four, _boundary(boundary),
            _tolerance(tolerance),
            _DATA.index(_chosen(datum, "datum", _DATA)),
            _chosen(unknown, "unknown", _UNKNOWNS) == "log_conductivity",
            np.empty(0) if unit is None else vector(unit, "unit", size=four.shape[0]), threads or 0)
        _warn(troubles)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, columns): (arrays, cells), and more as the notes say."""
        return self._engine.rows, self._engine.columns

    def apply(self, model: ArrayLike) -> Floats:
        """J v.  model [columns] → [rows]"""
        return self._engine.apply(vector(model, "model", size=self.shape[1]))

    def apply_transpose(self, data: ArrayLike) -> Floats:
        """Jᵀ w.  data [rows] → [columns]"""
        return self._engine.apply_transpose(vector(data, "data", size=self.shape[0]))

    def diagonal(self, weight: Optional[ArrayLike] = None) -> Floats:
        """Σ w_i J_ij².  weight [rows], by default 1 → [columns]"""
        return self._engine.weighted_diagonal(vector(1.0 if weight is None else weight, "weight", size=self.shape[0]))

    def matrix(self) -> Floats:
        """J as an array [rows, columns]."""
        return np.stack([self._engine.row(i) for i in range(self.shape[0])])

    def __repr__(self) -> str:
        return f"Sensitivity: {self.shape[0]:,} data of {self.shape[1]:,} columns"


class Chargeability(NamedTuple):
    """What :func:`invert_chargeability` found.

    model : [up, north, east], V/V; NaN in air.
    predicted : [arrays], V/V.
    chi_squared : of the data, divided by their number.
    converged : whether that is what was asked for; else ``reason`` says why it stopped.
    """

    model: Floats
    predicted: Floats
    chi_squared: float
    converged: bool
    reason: str


def invert_chargeability(mesh: TensorMesh, conductivity: ArrayLike, electrodes: ArrayLike, arrays: ArrayLike,
                         chargeability: ArrayLike, uncertainty: ArrayLike, *, ground: Optional[ArrayLike] = None,
                         length_scale: Optional[Sequence[float]] = None, chi: float = 1.0, most: float = 0.99,
                         boundary: Boundary = "mixed", tolerance: float = 1e-8,
                         threads: Optional[int] = None) -> Chargeability:
    """Chargeabilities of cells from apparent ones, in rock whose conductivity is known: m_a = −J m.

    J = ∂ ln ρ_a/∂ ln σ is that of direct current (Seigel 1959; Oldenburg & Li 1994), so the problem is linear. It
    holds for chargeabilities below about 0.2. Smooth models between 0 and ``most``, weighted by sensitivity, that fit
    the data to ``chi``. All entries of J are in memory: 8 bytes times arrays times cells.

    Parameters
    ----------
    mesh, conductivity, electrodes, arrays, ground, boundary, tolerance, threads
        As in :class:`Sensitivity`; the conductivity is that of long currents, alike along all axes, such as an
        inversion of the resistances has found.
    chargeability : array_like [arrays]
        Apparent, V/V; NaN where there is none.
    uncertainty : array_like [arrays], or one number
        Standard deviation, V/V.
    length_scale : three floats, optional
        Smoothness along easting, northing and up, m; by default four of the smallest cells.
    chi : float
        Target of chi squared, divided by the number of data.
    most : float
        Upper bound, below 1.

    Examples
    --------
    >>> import numpy as np, terrane
    >>> faces = np.cumsum([0, 40, 20] + [5] * 12 + [20, 40]) - 90.0
    >>> mesh = terrane.TensorMesh(faces, faces, np.r_[-90, -50, -30:1:5])
    >>> where, four = [[-15, 0, 0], [-5, 0, 0], [5, 0, 0], [15, 0, 0]], [[0, 3, 1, 2], [0, 1, 2, 3]]
    >>> found = terrane.electric.invert_chargeability(mesh, 0.01, where, four, [0.05, 0.05], 0.001)
    >>> bool(abs(found.predicted - 0.05).max() < 0.002)
    True
    """
    count = len(np.asarray(arrays))
    data = vector(chargeability, "chargeability", size=count)
    sigma = vector(uncertainty, "uncertainty", size=count)
    if not 0 < most < 1:
        raise InputError("most", f"is {most}", "Allowed: above 0 and below 1.")
    if not chi > 0:
        raise InputError("chi", f"is {chi}", "Allowed: above 0.")
    if length_scale is None:
        length_scale = [4 * float(np.diff(faces).min()) for faces in (mesh.easting, mesh.northing, mesh.up)]
    j = Sensitivity(mesh, _cells(mesh, conductivity, "conductivity"), electrodes, arrays, ground=ground,
                    boundary=boundary, tolerance=tolerance, threads=threads)
    got = _core.invert_chargeability(j._engine, mesh.easting, mesh.northing, mesh.up, _cells(mesh, ground, "ground"),
                                     data, sigma, vector(length_scale, "length_scale", size=3), float(chi),
                                     float(most), threads or 0)
    return Chargeability(got["model"].reshape(tuple(mesh.shape)), got["predicted"], got["chi_squared"],
                         got["converged"], got["reason"])


def read_arrays(path: Union[str, "PathLike[str]"]) -> Arrays:
    """Reads arrays and their data from files of UBC DCIP, BERT or pyGIMLi (.ohm, .dat), or from a table."""
    places, four, columns = _core.read_arrays(os.fspath(path))
    return Arrays(places, four.astype(int), columns)


def write_arrays(path: Union[str, "PathLike[str]"], data: Arrays) -> None:
    """Writes the first column, resistance or chargeability, in UBC's DCIP format with heights.

    Where the name ends with .ohm, all columns in BERT's format.
    """
    at, four = _places(data.electrodes, data.arrays)
    columns = {name: (unit, np.asarray(values, float), np.asarray(spread, float))
               for name, (unit, values, spread) in data.columns.items()}
    _core.write_arrays(os.fspath(path), at, four, columns)


@dataclass(frozen=True)
class Line:
    """Evenly spaced electrodes along a straight line.

    Parameters
    ----------
    start : two floats
        Easting and northing of the first electrode, m.
    electrodes : int
    spacing : float
        Distance between neighbours, m.
    azimuth : float
        Direction of the line, degrees east of north.
    height : float
        Of all electrodes, m.
    array : {"dipole-dipole", "pole-dipole", "pole-pole", "wenner", "schlumberger", "gradient"}
    levels : int
        Largest separation n.
    """

    start: Sequence[float]
    electrodes: int
    spacing: float
    azimuth: float = 90.0
    height: float = 0.0
    array: str = "dipole-dipole"
    levels: int = 6


@dataclass(frozen=True)
class Boreholes:
    """Evenly spaced electrodes in two vertical holes: current between the holes at one depth, voltage at another.

    Parameters
    ----------
    first, second : three floats
        Easting, northing and up of the highest electrode of each hole, m.
    electrodes : int
        In each hole.
    spacing : float
        Distance between neighbours, downwards, m.
    levels : int
        Largest distance between A and M, in electrodes.
    """

    first: Sequence[float]
    second: Sequence[float]
    electrodes: int
    spacing: float
    levels: int = 6


class Simulation(simulation.Simulation):
    """Resistance and apparent resistivity of every array.

    Arguments that are None take the defaults of the job file (`terrane new electric --reference`).

    Parameters
    ----------
    model : TensorMesh
        The top of the mesh is the ground, or air lies above it. Properties: ``conductivity`` or ``resistivity``, also
        along axes (``resistivity_east``, ``_north``, ``_up``); ``chargeability`` and the Cole-Cole parameters.
    survey : Line, Boreholes, or path
        A path names a CSV file with columns a_easting, a_northing, a_up and so for b, m, n; or a file of UBC DCIP, BERT
        or pyGIMLi.
    boundary : {"mixed", "grounded", "insulated"} or mapping, optional
        Of the sides and the bottom; a mapping has keys of the table [sides]: ``{"west": "insulated"}``.
    potential : {"auto", "secondary", "total"}, optional
    volume : names, optional
        ``potential``, ``e``, ``j``: of all cells for 1 A from each current electrode, beside what arrays measure, as
        ``potential_cells``, ``e_e_cells`` … ``j_u_cells``; the result then also writes files ``.vtr`` (VTK) and ``.h5``
        (HDF5) of the cells.
    tolerance : float, optional
    most_iterations : int, optional
    verify : {"off", "estimate", "refine"}, optional
        ``estimate``: a second run on cells twice as wide states an error beside every datum, as ``NAME_error``.
        ``refine``: where 95 % of data have a larger one than ``accuracy``, cells are split, up to three times
        (``settings={"most_cells": 1_000_000}``); the report says whether it is kept.
    accuracy : float, optional
        Relative error that is asked for: the report warns of the first datum whose error is larger.
    settings : mapping, optional
        Further keys of the table [simulation].
    device, threads, memory
        As in :class:`terrane.heat.Simulation`.

    Examples
    --------
    >>> import numpy as np
    >>> import terrane
    >>> far = 10 * 1.6 ** np.arange(1, 9)
    >>> sides = np.concatenate([-40 - np.cumsum(far)[::-1], np.linspace(-40, 40, 33), 40 + np.cumsum(far)])
    >>> down = np.concatenate([-30 - np.cumsum(far)[::-1], np.linspace(-30, 0, 13)])
    >>> ground = terrane.TensorMesh(sides, sides, down, resistivity=100.0)
    >>> line = terrane.electric.Line([-25, 0], electrodes=11, spacing=5, levels=3)
    >>> result = terrane.electric.Simulation(ground, line).run()
    >>> bool(abs(result["apparent_resistivity"] - 100).max() < 1)
    True
    """

    physics = "electric"

    def __init__(self, model: TensorMesh, survey: Union[Line, Boreholes, str, "PathLike[str]"], *,
                 boundary: Optional[Boundary] = None, potential: Optional[str] = None,
                 volume: Optional[Sequence[str]] = None, tolerance: Optional[float] = None,
                 most_iterations: Optional[int] = None, verify: Optional[str] = None, accuracy: Optional[float] = None,
                 settings: Optional[Mapping[str, Any]] = None,
                 device: str = "auto", threads: Optional[int] = None, memory: Optional[str] = None) -> None:
        table: dict[str, Any]
        if isinstance(survey, (Line, Boreholes)):
            table = {"kind": "line" if isinstance(survey, Line) else "boreholes", **vars(survey)}
        else:
            table = {"kind": "file", "file": survey}
        of_sides = {} if boundary is None or isinstance(boundary, str) else {"sides": dict(boundary)}
        super().__init__(model, table, {**of_sides, "simulation": {
            "boundary": None if of_sides else boundary, "potential": potential,
            "volume": None if volume is None else list(volume), "tolerance": tolerance,
            "most_iterations": most_iterations, "verify": verify, "accuracy": accuracy,
            **(settings or {}), **runtime(device, threads, memory)}})


def __dir__() -> list[str]:
    return sorted(__all__)
