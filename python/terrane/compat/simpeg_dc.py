"""SimPEG's direct-current simulations on tensor meshes: data and sensitivities."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike

from .._arrays import Floats, real
from ..electric import Boundary, Sensitivity
from ..errors import InputError, ShapeError, UnsupportedError
from ..mesh import TensorMesh
from ._of_simpeg import OfSimpeg

__all__ = ["Simulation3DNodal"]

_IGNORED = ("solver", "solver_opts", "verbose", "storeJ", "n_cpu", "miniaturize", "do_singular_correction")
_SIDES = ("bottom", "top", "south", "north", "west", "east")
#: What SimPEG's boundary conditions are here.
_WALLS: dict[str, Boundary] = {"Robin": "mixed", "Mixed": "mixed", "Dirichlet": dict.fromkeys(_SIDES, "grounded"),
                               "Neumann": dict.fromkeys(_SIDES, "insulated")}


def _check_surface(shape: Any, faces: Any) -> None:
    """Raises UnsupportedError where they are not those of the top.  shape: up, north, east"""
    up, north, east = shape
    top = np.zeros(2 * (up * north + up * east + north * east), dtype=bool)
    of_z = np.zeros((2, north * east), dtype=bool)
    of_z[1] = True  # x fastest, then y, then z: the bottom comes first
    top[-of_z.size:] = of_z.ravel()
    if faces.shape != top.shape or not np.array_equal(faces.astype(bool), top):
        raise UnsupportedError("surface_faces", f"are {int(np.sum(faces))} of {faces.size} faces, and not the top",
                               "Leave them out: then the surface is the top of the mesh.")


class OfTensorMesh(OfSimpeg):
    """What simulations of direct current on tensor meshes have in common: models, maps, what they refuse."""

    def __init__(self, mesh: Any, survey: Any, sigma: Optional[ArrayLike], rho: Optional[ArrayLike], sigmaMap: Any,
                 rhoMap: Any, bc_type: str, surface_faces: Optional[ArrayLike], tolerance: float,
                 threads: Optional[int], others: dict[str, Any]) -> None:
        for name in others:
            if name not in _IGNORED:
                raise InputError(name, f"is not an argument of {type(self).__name__}",
                                 "Beside SimPEG's there are: tolerance, threads.")
        if bc_type not in _WALLS:
            raise UnsupportedError("bc_type", f"{bc_type!r} is not computed here", f"Allowed: {', '.join(_WALLS)}.")
        if hasattr(mesh, "max_level") or not hasattr(mesh, "nodes_z"):
            raise UnsupportedError("mesh", "only tensor meshes in three dimensions are computed here")
        self.mesh, self.survey = mesh, survey
        self.sigma, self.rho, self.sigmaMap, self.rhoMap = sigma, rho, sigmaMap, rhoMap
        self.bc_type, self.surface_faces, self.tolerance, self.threads = bc_type, surface_faces, tolerance, threads
        self.model: Optional[Floats] = None
        self._cells = TensorMesh(mesh.nodes_x, mesh.nodes_y, mesh.nodes_z)
        if surface_faces is not None:
            _check_surface(self._cells.shape, np.asarray(surface_faces))

    def _conductivity(self, m: Optional[ArrayLike]) -> Floats:
        if m is not None:
            self.model = np.asarray(m, dtype=float)
        mapping = self.sigmaMap if self.sigmaMap is not None else self.rhoMap
        if mapping is not None:
            if self.model is None:
                raise InputError("m", "there is no model", "Give it to dpred(), or sigma=... to the simulation.")
            values = np.asarray(mapping * self.model, dtype=float)
        elif self.sigma is not None or self.rho is not None:
            values = real(self.sigma if self.sigma is not None else self.rho, "sigma")  # type: ignore[arg-type]
        else:
            raise InputError("sigma", "is missing", "Give sigma, rho, sigmaMap or rhoMap.")
        size = int(np.prod(self._cells.shape))
        values = np.full(size, float(values.reshape(-1)[0])) if values.size == 1 else values.reshape(-1)
        if values.size != size:
            raise ShapeError("sigma", f"has {values.size} entries", f"Expected [{size}]: one for each cell.")
        resistive = self.sigmaMap is None and (self.rhoMap is not None or self.sigma is None)
        return 1 / values if resistive else values

    def _derivative(self, sigma: Floats) -> Any:
        """Of the conductivity with respect to the model; None where it is the model."""
        if self.sigmaMap is not None:
            return self.sigmaMap.deriv(self.model)
        if self.rhoMap is not None:
            derivative = self.rhoMap.deriv(self.model)
            return derivative.multiply(-sigma[:, None]**2) if hasattr(derivative, "multiply") else \
                -sigma[:, None]**2 * derivative
        return None

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {int(np.prod(self._cells.shape)):,} cells"


class Simulation3DNodal(OfTensorMesh):
    """As ``simpeg.electromagnetics.static.resistivity.Simulation3DNodal``: dpred, getJ, Jvec, Jtvec.

    Parameters
    ----------
    mesh : discretize.TensorMesh
        x east, y north, z up, m; its top is the ground, or where cells of at most 1e-7 S/m end that reach
        the top; those below rock, as of a cavity, are rock.
    survey : simpeg.electromagnetics.static.resistivity.Survey
        Of Pole and Dipole sources and receivers, with data_type "volt" or "apparent_resistivity".
    sigma, sigmaMap, rho, rhoMap
        Conductivity (S/m) or resistivity (ohm m) of the cells, or what makes it of a model: ``map * m`` and
        ``map.deriv(m)``.
    bc_type : "Robin" ("Mixed"), "Dirichlet" or "Neumann"
        Dirichlet grounds all sides, the top too; Neumann insulates them, so that every datum needs four electrodes.
    surface_faces : array_like of bool, optional
        Of the boundary faces; those of the top alone.
    tolerance, threads
        As of :class:`terrane.electric.Sensitivity`. SimPEG's solvers are accepted and without effect.

    Notes
    -----
    Voltages two cells from an electrode are exact over a homogeneous ground and right to some 5 % over layers two cells
    thick, where SimPEG's are off by 10 to 25 %: ours are held against those of a homogeneous ground on the same mesh.
    With finer cells both come together.
    """

    def __init__(self, mesh: Any, survey: Any = None, sigma: Optional[ArrayLike] = None,
                 rho: Optional[ArrayLike] = None, *, sigmaMap: Any = None, rhoMap: Any = None, bc_type: str = "Robin",
                 surface_faces: Optional[ArrayLike] = None, tolerance: float = 1e-10, threads: Optional[int] = None,
                 **others: Any) -> None:
        super().__init__(mesh, survey, sigma, rho, sigmaMap, rhoMap, bc_type, surface_faces, tolerance, threads, others)
        self._of: Optional[tuple[bytes, Sensitivity]] = None
        self._unit: Optional[Floats] = None

    def _arrays(self) -> tuple[Floats, Any, Floats]:
        """Electrodes, arrays of them, and what each datum is of a resistance."""
        if self.survey is None:
            raise InputError("survey", "is missing", f"{type(self).__name__}(mesh, survey=...).")
        places: dict[tuple[float, ...], int] = {}
        arrays, factors = [], []

        def number(at: Any) -> int:
            return places.setdefault(tuple(float(v) for v in np.ravel(at)), len(places))

        for source in self.survey.source_list:
            ends, currents = np.atleast_2d(source.location), np.ravel(source.current)
            current = float(currents[0])
            if len(ends) > 2 or (len(ends) == 2 and len(currents) == 2 and currents[1] != -current):
                raise UnsupportedError("source_list", f"a source has {len(ends)} electrodes with currents {currents}",
                                       "Take poles, and dipoles whose currents are opposite.")
            a, b = number(ends[0]), number(ends[1]) if len(ends) > 1 else -1
            for receiver in source.receiver_list:
                first = np.atleast_2d(receiver.locations_m if hasattr(receiver, "locations_m") else receiver.locations)
                second = np.atleast_2d(receiver.locations_n) if hasattr(receiver, "locations_n") else None
                for n, at in enumerate(first):
                    arrays.append((a, b, number(at), -1 if second is None else number(second[n])))
                    factors.append(current if receiver.data_type == "volt" else np.nan)
                if getattr(receiver, "projField", "phi") != "phi" or getattr(receiver, "orientation", None):
                    raise UnsupportedError("receiver_list", "electric fields and currents are not computed here",
                                           "Take receivers of potentials (projField phi, no orientation).")
                if receiver.data_type not in ("volt", "apparent_resistivity"):
                    raise UnsupportedError("data_type", f"{receiver.data_type!r} is not computed here",
                                           "Take volt or apparent_resistivity.")
        at, scale = np.array(list(places)), np.array(factors)
        for datum in np.flatnonzero(np.isnan(scale)).tolist():
            a, b, m, n = arrays[datum]
            scale[datum] = 2 * np.pi / sum(sign / np.linalg.norm(at[i] - at[j])
                                           for i, j, sign in ((a, m, 1), (b, m, -1), (a, n, -1), (b, n, 1))
                                           if i >= 0 and j >= 0)
        return at, np.array(arrays), scale

    def _sensitivity(self, m: Optional[ArrayLike]) -> tuple[Sensitivity, Floats, Floats]:
        sigma = self._conductivity(m)
        at, arrays, scale = self._arrays()
        key = sigma.tobytes() + at.tobytes() + arrays.tobytes()
        if self._of is None or self._of[0] != key:
            rock = (sigma > 1e-7).reshape(self._cells.shape)
            below = np.logical_or.accumulate(rock[::-1], axis=0)[::-1]  # rock, or below rock
            ground = None if np.all(below) else below.astype(float)
            unit = self._unit if self._unit is not None and self._unit.size in (len(arrays), 2 * len(arrays)) else None
            made = Sensitivity(self._cells, sigma, at, arrays, ground=ground, datum="resistance",
                               unknown="conductivity", tolerance=self.tolerance,
                               boundary=_WALLS[self.bc_type], unit=unit,
                               threads=self.threads)
            self._of, self._unit = (key, made), made.unit
        return self._of[1], scale, sigma

    def fields(self, m: Optional[ArrayLike] = None) -> Floats:
        """Data, which stand for the fields in what takes ``f``."""
        sensitivity, scale, _ = self._sensitivity(m)
        return scale * sensitivity.data

    def dpred(self, m: Optional[ArrayLike] = None, f: Optional[ArrayLike] = None) -> Floats:
        """Predicted data, V or ohm m, by source, receiver, location."""
        return np.asarray(f, dtype=float) if f is not None else self.fields(m)

    def Jvec(self, m: Optional[ArrayLike], v: ArrayLike, f: Optional[ArrayLike] = None) -> Floats:
        """J v.  v [parameters] → [data]"""
        sensitivity, scale, sigma = self._sensitivity(m)
        derivative = self._derivative(sigma)
        change = np.asarray(v, float)
        return scale * sensitivity.apply(change if derivative is None else derivative @ change)

    def Jtvec(self, m: Optional[ArrayLike], v: ArrayLike, f: Optional[ArrayLike] = None) -> Floats:
        """Jᵀ v.  v [data] → [parameters]"""
        sensitivity, scale, sigma = self._sensitivity(m)
        cells = sensitivity.apply_transpose(scale * np.asarray(v, float))
        derivative = self._derivative(sigma)
        return cells if derivative is None else np.asarray(derivative.T @ cells)

    def getJ(self, m: Optional[ArrayLike] = None, f: Optional[ArrayLike] = None) -> Any:
        """[data, parameters]"""
        sensitivity, scale, sigma = self._sensitivity(m)
        matrix, derivative = scale[:, None] * sensitivity.matrix(), self._derivative(sigma)
        return matrix if derivative is None else matrix @ derivative
