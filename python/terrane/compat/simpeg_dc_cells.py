"""SimPEG's direct-current simulation with potentials in the middle of cells: its own scheme and numbers."""

from __future__ import annotations

import warnings
from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._arrays import Floats
from ..errors import InputError, UnsupportedError
from .simpeg_dc import OfTensorMesh

__all__ = ["Simulation3DCellCentered"]

#: mixed, grounded, insulated of the lower and upper ends of up, northing and easting.
_WALLS = {"Robin": [0, 2, 0, 0, 0, 0], "Mixed": [0, 2, 0, 0, 0, 0], "Dirichlet": [1] * 6, "Neumann": [2] * 6}


class Simulation3DCellCentered(OfTensorMesh):
    """As ``simpeg.electromagnetics.static.resistivity.Simulation3DCellCentered``: dpred, getJ, Jvec, Jtvec.

    SimPEG's scheme itself: potentials in the middle of cells, conductances of faces from the resistivities of both
    cells in series, currents into the cells whose middles are closest to electrodes, receivers between the middles of
    cells. Numbers are SimPEG's to the tolerance.

    Parameters
    ----------
    mesh : discretize.TensorMesh
        x east, y north, z up, m.
    survey : simpeg.electromagnetics.static.resistivity.Survey
        Of sources with any number of electrodes and Pole and Dipole receivers, with data_type "volt" or
        "apparent_resistivity".
    sigma, sigmaMap, rho, rhoMap
        Conductivity (S/m) or resistivity (ohm m) of the cells, or what makes it of a model: ``map * m`` and
        ``map.deriv(m)``.
    bc_type : "Robin" ("Mixed"), "Dirichlet" or "Neumann"
        With Robin the top is insulated; Dirichlet grounds all sides, Neumann insulates them, and what currents add up
        to leaves by the first cell, whose potential is the current into it.
    surface_faces : array_like of bool, optional
        Of the boundary faces; those of the top alone.
    tolerance : float
        Of the residual of a solve, relative. SimPEG's solvers are accepted and without effect.
    threads : int, optional

    Raises
    ------
    InputError
        An electrode outside of the mesh; two electrodes of a source in one cell.
    UnsupportedError
        Other meshes, boundary conditions, surface_faces and receivers.
    MemoryError
        For potentials of every electrode: 8 bytes each per cell.

    Notes
    -----
    Near electrodes these potentials are wrong by tens of percents, as SimPEG's are; :class:`Simulation3DNodal` is
    nearer to the truth. Under Neumann, derivatives of the potentials of single electrodes are those of data as
    defined here; SimPEG's differ by a constant, which dipoles do not see.
    """

    def __init__(self, mesh: Any, survey: Any = None, sigma: Optional[ArrayLike] = None,
                 rho: Optional[ArrayLike] = None, *, sigmaMap: Any = None, rhoMap: Any = None, bc_type: str = "Robin",
                 surface_faces: Optional[ArrayLike] = None, tolerance: float = 1e-11, threads: Optional[int] = None,
                 **others: Any) -> None:
        super().__init__(mesh, survey, sigma, rho, sigmaMap, rhoMap, bc_type, surface_faces, tolerance, threads, others)
        self._of: Optional[tuple[bytes, _Solves]] = None

    def _solves(self, m: Optional[ArrayLike]) -> tuple[_Solves, Floats]:
        """Potentials of the model, and its conductivity."""
        sigma = self._conductivity(m)
        survey = _Survey(self.mesh, self.survey, type(self).__name__)
        key = sigma.tobytes() + survey.key()
        if self._of is None or self._of[0] != key:
            self._of = None  # gives the memory back
            cells = self._cells
            kept = len(survey.currents)
            engine = _core.CellSolver(cells.easting, cells.northing, cells.up, 1 / sigma, _WALLS[self.bc_type],
                                      float(self.tolerance), kept, self.threads or 0)
            self._of = key, _Solves(engine, survey, self.bc_type == "Neumann")
        return self._of[1], sigma

    def _to_resistivity(self, sigma: Floats) -> tuple[Any, Floats]:
        """d σ/d m, or None where σ is the model; d ρ/d σ."""
        return self._derivative(sigma), -1 / sigma**2

    def fields(self, m: Optional[ArrayLike] = None) -> Floats:
        """Data, which stand for the fields in what takes ``f``."""
        return self._solves(m)[0].data()

    def dpred(self, m: Optional[ArrayLike] = None, f: Optional[ArrayLike] = None) -> Floats:
        """Predicted data, V or ohm m, by source, receiver, location."""
        return np.asarray(f, dtype=float) if f is not None else self.fields(m)

    def Jvec(self, m: Optional[ArrayLike], v: ArrayLike, f: Optional[ArrayLike] = None) -> Floats:
        """J v, with a solve for each electrode.  v [parameters] → [data]"""
        solves, sigma = self._solves(m)
        derivative, to_rho = self._to_resistivity(sigma)
        change = np.asarray(v, float)
        return solves.apply(to_rho * (change if derivative is None else derivative @ change))

    def Jtvec(self, m: Optional[ArrayLike], v: ArrayLike, f: Optional[ArrayLike] = None) -> Floats:
        """Jᵀ v, with a solve for each electrode.  v [data] → [parameters]"""
        solves, sigma = self._solves(m)
        derivative, to_rho = self._to_resistivity(sigma)
        cells = to_rho * solves.apply_transpose(np.asarray(v, float))
        return cells if derivative is None else np.asarray(derivative.T @ cells)

    def getJ(self, m: Optional[ArrayLike] = None, f: Optional[ArrayLike] = None) -> Any:
        """[data, parameters], with a solve for each place of a receiver"""
        solves, sigma = self._solves(m)
        derivative, to_rho = self._to_resistivity(sigma)
        matrix = solves.matrix() * to_rho
        return matrix if derivative is None else matrix @ derivative


def _weights(centres: Floats, at: Floats) -> tuple[Any, Floats]:
    """The cells below and above each coordinate, and what the upper one counts; beyond the outermost it is flat."""
    if centres.size == 1:
        return np.zeros((2, at.size), dtype=int), np.zeros(at.size)
    low = np.clip(np.searchsorted(centres, at, side="right") - 1, 0, centres.size - 2)
    return np.array([low, low + 1]), np.clip((at - centres[low]) / (centres[low + 1] - centres[low]), 0, 1)


class _Survey:
    """Sources as currents into cells, receivers as weights of cells.

    currents: by electrode or, where these are more, by source [(cells, A)]; mixed [sources, currents]: what a source
    is of them. places [receivers' places, 3]; data: (source, place of M, place of N or -1, factor).
    """

    def __init__(self, mesh: Any, survey: Any, caller: str) -> None:
        if survey is None:
            raise InputError("survey", "is missing", f"{caller}(mesh, survey=...).")
        self.faces = [np.asarray(f, dtype=float) for f in (mesh.nodes_x, mesh.nodes_y, mesh.nodes_z)]
        self.shape = [f.size - 1 for f in self.faces]
        self.data: list[tuple[int, int, int, float]] = []
        self._place: dict[tuple[float, ...], int] = {}
        sources = []
        for number, source in enumerate(survey.source_list):
            sources.append(self._source(mesh, source, number))
            for receiver in source.receiver_list:
                self._receiver(source, receiver, number)
        self._share(sources)
        self.places = np.array(list(self._place)).reshape(-1, 3)

    def _inside(self, at: Floats, what: str) -> Floats:
        for n, point in enumerate(at):
            for axis, name in enumerate("xyz"):
                low, high = self.faces[axis][[0, -1]]
                if not low <= point[axis] <= high:
                    raise InputError(f"{what} {n + 1}", f"is at {name} = {point[axis]:g} m, outside of the mesh",
                                     f"Allowed: {low:g} to {high:g} m.")
        return at

    def _source(self, mesh: Any, source: Any, number: int) -> tuple[Any, Floats]:
        at = self._inside(np.atleast_2d(np.asarray(source.location, float)), f"source {number + 1}: electrode")
        cells = np.asarray(mesh.closest_points_index(at, grid_loc="CC"), dtype=int).reshape(-1)
        if np.unique(cells).size < cells.size:
            raise InputError(f"source {number + 1}", "has two electrodes in one cell, where their currents cancel",
                             "Make the cells smaller than electrodes are apart.")
        return cells, np.broadcast_to(np.ravel(source.current).astype(float), cells.shape)

    def _receiver(self, source: Any, receiver: Any, number: int) -> None:
        if getattr(receiver, "projField", "phi") != "phi" or getattr(receiver, "orientation", None):
            raise UnsupportedError("receiver_list", "electric fields and currents are not computed here",
                                   "Take receivers of potentials (projField phi, no orientation).")
        if receiver.data_type not in ("volt", "apparent_resistivity"):
            raise UnsupportedError("data_type", f"{receiver.data_type!r} is not computed here",
                                   "Take volt or apparent_resistivity.")
        dipole = hasattr(receiver, "locations_n")
        ends = [self._inside(np.atleast_2d(np.asarray(at, float)), f"source {number + 1}: receiver")
                for at in ((receiver.locations_m, receiver.locations_n) if dipole else (receiver.locations,))]
        factors = np.ones(len(ends[0]))
        if receiver.data_type == "apparent_resistivity":
            known = getattr(receiver, "geometric_factor", None) or {}
            factors = 1 / (np.asarray(known[source], float) if known and source in known else _geometry(source, ends))
        for n, factor in enumerate(np.broadcast_to(factors, len(ends[0])).tolist()):
            m, *others = (self._place.setdefault(tuple(at[n].tolist()), len(self._place)) for at in ends)
            self.data.append((number, m, others[0] if others else -1, factor))

    def _share(self, sources: list[tuple[Any, Floats]]) -> None:
        electrodes = {cell: n for n, cell in enumerate(sorted({int(c) for cells, _ in sources for c in cells}))}
        if len(electrodes) > len(sources):
            self.currents, self.mixed = sources, np.eye(len(sources))
            return
        self.currents = [(np.array([cell]), np.ones(1)) for cell in electrodes]
        self.mixed = np.zeros((len(sources), len(electrodes)))
        for number, (cells, amperes) in enumerate(sources):
            self.mixed[number, [electrodes[int(c)] for c in cells]] = amperes

    def key(self) -> bytes:
        """All that data depend on."""
        currents = b"".join(np.asarray(cells).tobytes() + amperes.tobytes() for cells, amperes in self.currents)
        return currents + self.mixed.tobytes() + self.places.tobytes() + np.array(self.data).tobytes()

    def interpolation(self) -> tuple[Any, Floats]:
        """Of each place eight cells and their weights, [places, 8]."""
        cells, weights = np.zeros((len(self.places), 8), dtype=int), np.ones((len(self.places), 8))
        step = 1
        for axis, faces in enumerate(self.faces):
            ends, upper = _weights((faces[1:] + faces[:-1]) / 2, self.places[:, axis])
            for corner in range(8):
                high = corner >> axis & 1
                cells[:, corner] += step * ends[high]
                weights[:, corner] *= upper if high else 1 - upper
            step *= self.shape[axis]
        return cells, weights


def _geometry(source: Any, ends: list[Floats]) -> Floats:
    """1/k of a half space: sums of signs over distances, divided by 2π."""
    at = np.atleast_2d(np.asarray(source.location, float))
    signs = np.sign(np.broadcast_to(np.ravel(source.current), len(at)))
    return np.asarray(sum(sign * side / np.linalg.norm(end - place, axis=1) for place, sign in zip(at, signs)
                          for end, side in zip(ends, (1, -1)))) / (2 * np.pi)


class _Solves:
    """Potentials of all currents, and products with their derivatives by resistivity."""

    def __init__(self, engine: Any, survey: _Survey, closed: bool) -> None:
        self.engine, self.survey, self.closed = engine, survey, closed
        self.cells, self.weights = survey.interpolation()
        self.size = int(np.prod(survey.shape))
        self.potentials = [self._found(engine.potential(self._spread(*one))) for one in survey.currents]

    def _spread(self, cells: Any, amperes: Floats) -> Floats:
        currents = np.zeros(self.size)
        np.add.at(currents, cells, amperes)
        return currents

    def _found(self, made: Any) -> Floats:
        potential, trouble = made
        if trouble:
            warnings.warn(trouble, RuntimeWarning, stacklevel=5)
        return np.asarray(potential)

    def _read(self, potentials: list[Floats], first: bool) -> Floats:
        """Data of potentials [currents][cells]; first: with the potential that SimPEG gives the first cell."""
        at = np.array([(phi[self.cells] * self.weights).sum(axis=1) for phi in potentials])
        if first and self.closed:
            at += np.array([[amperes[cells == 0].sum()] for cells, amperes in self.survey.currents])
        at = self.survey.mixed @ at
        return np.array([factor * (at[s, m] - (at[s, n] if n >= 0 else 0)) for s, m, n, factor in self.survey.data])

    def data(self) -> Floats:
        return self._read(self.potentials, True)

    def apply(self, change: Floats) -> Floats:
        """change of resistivities [cells] → [data]"""
        moved = [self._found(self.engine.change(phi, change)) for phi in self.potentials]
        return self._read(moved, False)

    def apply_transpose(self, data: Floats) -> Floats:
        """[data] → [cells]"""
        amounts = np.zeros((len(self.survey.mixed), len(self.cells)))  # what each place counts, by source
        for (source, m, n, factor), value in zip(self.survey.data, data):
            amounts[source, m] += factor * value
            if n >= 0:
                amounts[source, n] -= factor * value
        slope = np.zeros(self.size)
        for phi, counts in zip(self.potentials, self.survey.mixed.T @ amounts):
            seen = self._spread(self.cells.ravel(), (counts[:, None] * self.weights).ravel())
            slope += self.engine.slope(phi, self._found(self.engine.potential(seen)))
        return slope

    def matrix(self) -> Floats:
        """[data, cells], by reciprocity"""
        seen = [self._found(self.engine.potential(self._spread(*one))) for one in zip(self.cells, self.weights)]
        rows = []
        for source, m, n, factor in self.survey.data:
            phi = sum(share * one for share, one in zip(self.survey.mixed[source], self.potentials) if share != 0)
            rows.append(factor * self.engine.slope(phi, seen[m] - (seen[n] if n >= 0 else 0)))
        return np.array(rows).reshape(-1, self.size)
