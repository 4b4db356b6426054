"""SimPEG's gravity and magnetic simulations in integral form: data and sensitivities."""

from __future__ import annotations

import hashlib
import math
import os
import warnings
from typing import Any, Optional, cast

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._arrays import Floats, real
from .._magnets import VACUUM_PERMEABILITY, flux_density
from ..errors import InputError, ShapeError, UnsupportedError
from ..gravity import GRAVITATIONAL_CONSTANT, forward_in_silence as forward
from ..inversion import Sensitivity
from ._of_simpeg import OfSimpeg
from ._rows import Beside, Difference, Matrix

__all__ = ["MagneticSimulation3DIntegral", "Simulation3DIntegral"]

_COMPONENTS = ("gx", "gy", "gz", "gxx", "gxy", "gxz", "gyy", "gyz", "gzz")
_STORES = ("ram", "disk", "forward_only")
_ENGINES = ("terrane", "geoana", "choclo")
_OPTIONS = ("accuracy", "method", "precision", "singular", "gravitational_constant", "device", "threads")


class ArgumentError(InputError, TypeError):
    """An argument of the wrong type, or one that is not known: also a TypeError, as in SimPEG."""


class NotComputedError(UnsupportedError, NotImplementedError):
    """What SimPEG does not compute either: also a NotImplementedError, as in SimPEG."""


class Simulation3DIntegral(OfSimpeg):
    """As ``simpeg.potential_fields.gravity.Simulation3DIntegral``: its data, and its sensitivities.

    Parameters
    ----------
    mesh : discretize.TensorMesh or discretize.TreeMesh
        x east, y north, z up, m.
    rho : array_like [active cells], optional
        g/cm³; otherwise the model given to :meth:`fields` or :meth:`dpred`, through ``rhoMap``.
    rhoMap : simpeg map, optional
        Anything with ``rhoMap * model``; without it the model is the density.
    engine : "terrane", "geoana" or "choclo"
        Accepted and without effect, as are numba_parallel and n_processes.
    survey : simpeg.potential_fields.gravity.Survey
        Its receivers have ``locations`` [n, 3] and ``components``.
    active_cells : array of bool [cells] or of int, optional
    store_sensitivities : "ram", "disk" or "forward_only"
        How G is held once it is asked for: in memory, in a file, or made anew for each product. Data never need it.
    sensitivity_path : str, optional
        Of "disk", "./sensitivity" by default, written anew: a folder, made where it is not there, with
        sensitivity.npy; with engine="choclo", or where it is a file, that file.
    sensitivity_dtype : numpy.float32 or numpy.float64
        Of G. Data are float64, computed in float64.
    **options
        accuracy, method, precision, singular, gravitational_constant, device, threads, as in
        :func:`terrane.gravity.forward`.

    Notes
    -----
    Accelerations are in mGal, z up: gz is negative above a dense body; gradients in Eötvös. Data are ordered by
    receiver, location, component. Gradients on faces between cells of different density are the mean of both sides, and
    NaN on edges and corners of the body, where they have no value; ``singular`` chooses another side.
    """

    _to_si = 1e3  #: g/cm³ to kg/m³

    def __init__(
        self,
        mesh: Any,
        rho: Optional[ArrayLike] = None,
        rhoMap: Any = None,
        engine: str = "terrane",
        numba_parallel: bool = True,
        *,
        survey: Any = None,
        active_cells: Optional[ArrayLike] = None,
        store_sensitivities: str = "ram",
        n_processes: Optional[int] = 1,
        sensitivity_dtype: Any = np.float32,
        sensitivity_path: Optional[str] = None,
        **options: Any,
    ) -> None:
        if store_sensitivities not in _STORES:
            raise InputError("store_sensitivities", f"is {store_sensitivities!r}", f"Allowed: {', '.join(_STORES)}.")
        if engine not in _ENGINES:
            raise InputError("engine", f"'engine' must be in ('geoana', 'choclo'). Got '{engine}'",
                             "Or leave it out: it has no effect.")
        for name in options:
            if name not in _OPTIONS:
                raise ArgumentError(name, "is not an argument of Simulation3DIntegral",
                                    f"Beside SimPEG's there are: {', '.join(_OPTIONS)}.")
        self.mesh, self.rhoMap, self.survey = mesh, rhoMap, survey
        self.store_sensitivities, self.engine = store_sensitivities, engine
        self.sensitivity_dtype, self.sensitivity_path = sensitivity_dtype, sensitivity_path or "./sensitivity"
        self.n_processes = n_processes
        if engine == "choclo" and n_processes != 1:
            warnings.warn("The 'n_processes' will be ignored when selecting 'choclo' as the engine: take threads=.",
                          UserWarning, stacklevel=2)
            self.n_processes = None
        if engine == "choclo" and store_sensitivities == "disk" and os.path.isdir(self.sensitivity_path):
            raise InputError("sensitivity_path",
                             f"The passed sensitivity_path '{self.sensitivity_path}' is a directory",
                             "Give the path of a file, new or one that may be written over.")
        self.options = options
        self._prisms = _cells(mesh)
        count = self._prisms.shape[0]
        self.active_cells = np.ones(count, bool)
        if active_cells is not None:
            active = np.asarray(active_cells)
            if active.dtype == bool:
                if active.shape != (count,):
                    raise ShapeError("active_cells", f"has shape {active.shape}", f"Expected [{count}].")
                self.active_cells = active
            else:
                self.active_cells = np.zeros(count, bool)
                self.active_cells[active] = True
        self.model: Optional[Floats] = None
        self._matrix: Any = None
        self._sensitivities: Optional[list[tuple[Any, Any]]] = None
        self._gtg_diagonal: Floats = np.zeros(0)
        self._weights_sha256: Any = None  # of the weights of that diagonal, by SimPEG's name
        self.rho = None if rho is None else self._density(rho, "rho")

    @property
    def sensitivity_dtype(self) -> Any:
        """numpy.float64 for "forward_only", otherwise what was given; data are float64 in any case."""
        return np.float64 if self.store_sensitivities == "forward_only" else self._sensitivity_dtype

    @sensitivity_dtype.setter
    def sensitivity_dtype(self, value: Any) -> None:
        if value is not np.float32 and value is not np.float64:
            raise ArgumentError("Simulation3DIntegral", "sensitivity_dtype must be either np.float32 or np.float64.",
                                f"It is {value!r}.")
        self._sensitivity_dtype = value

    @property
    def nC(self) -> int:
        """How many active cells."""
        return int(self.active_cells.sum())

    _each = "one for each active cell"

    @property
    def _columns(self) -> int:
        return self.nC

    def _density(self, value: ArrayLike, name: str) -> Floats:
        density, count = real(value, name).reshape(-1), self._columns
        if density.size == 1 and count != 1:
            density = np.full(count, float(density[0]))
        if density.shape != (count,):
            raise ShapeError(name, f"has shape {density.shape}", f"Expected [{count}]: {self._each}.")
        return density

    def fields(self, m: Optional[ArrayLike] = None) -> Floats:
        """Data at every receiver.  m [parameters] → [data] mGal or Eötvös."""
        if m is None:
            m = self.model
        if m is not None:
            self.model = np.asarray(m, dtype=float)
            self.rho = self._density(self.model if self.rhoMap is None else self.rhoMap * self.model, "m")
        if self.rho is None:
            raise InputError("m", "there is no density", "Give the model, or rho=... to the simulation.")
        if self.survey is None:
            raise InputError("survey", "is missing", "Simulation3DIntegral(mesh, survey=...).")
        return np.concatenate([self._data_of(r) for r in self.survey.source_field.receiver_list])

    def _data_of(self, receiver: Any) -> Floats:
        components, stations = _parts_of(receiver)
        needed = list(dict.fromkeys(n for c in components for n in (("gxx", "gyy") if c == "guv" else (c,))))
        for name in needed:
            if name not in _COMPONENTS:
                raise InputError("components", f"{name!r} is not one", f"Allowed: {', '.join(_COMPONENTS)}, guv.")
        density = np.asarray(self.rho, dtype=float)
        held = np.flatnonzero(density)
        if held.size == 0:
            return np.zeros(stations.shape[0] * len(components))
        got: dict[str, Any] = forward(self._prisms[self.active_cells][held], self._to_si * density[held], *stations.T,
                                      channels=cast(Any, needed), frame="simpeg", **{"singular": "mean", **self.options})
        if "guv" in components:
            got["guv"] = (got["gyy"] - got["gxx"]) / 2
        return np.stack([got[c] for c in components], axis=1).ravel()

    def dpred(self, m: Optional[ArrayLike] = None, f: Optional[ArrayLike] = None) -> Floats:
        """Predicted data: ``f`` when it is given, otherwise ``fields(m)``."""
        return np.asarray(f, dtype=float) if f is not None else self.fields(m)

    def residual(self, m: Optional[ArrayLike], dobs: ArrayLike, f: Optional[ArrayLike] = None) -> Floats:
        """Predicted less observed data."""
        observed = real(dobs, "dobs").reshape(-1)
        predicted = self.dpred(m, f=f)
        if observed.shape != predicted.shape:
            raise ShapeError("dobs", f"has shape {observed.shape}", f"Expected {predicted.shape}, as predicted data.")
        return predicted - observed

    def make_synthetic_data(self, m: Optional[ArrayLike], relative_error: Any = 0.05, noise_floor: Any = 0.0,
                            f: Optional[ArrayLike] = None, add_noise: bool = False, random_seed: Any = None) -> Any:
        """A ``simpeg.data.SyntheticData``: clean data d, and data with noise.

        Its standard deviation is √((relative_error d)² + noise_floor²).
        """
        try:
            from simpeg.data import SyntheticData
        except ImportError as error:
            raise UnsupportedError("make_synthetic_data", "there is no simpeg", "pip install simpeg") from error
        clean = self.dpred(m, f=f)
        observed = clean
        if add_noise:
            spread = np.hypot(relative_error * np.abs(clean), noise_floor)
            observed = clean + np.random.default_rng(random_seed).normal(0, spread, clean.shape)
        return SyntheticData(survey=self.survey, dobs=observed, dclean=clean, relative_error=relative_error,
                             noise_floor=noise_floor)

    @property
    def G(self) -> Any:
        """[data, active cells] in mGal or Eötvös per g/cm³, in the order of the data.

        An array of sensitivity_dtype; with store_sensitivities="forward_only" a scipy LinearOperator.
        """
        if self.store_sensitivities == "forward_only":
            try:
                from scipy.sparse.linalg import LinearOperator
            except ImportError as error:
                raise UnsupportedError("G", "there is no scipy", "pip install scipy, or store_sensitivities=\"ram\".") \
                    from error

            return LinearOperator((self._rows(), self._columns), matvec=self._times, rmatvec=self._transpose_times,
                                  dtype=np.float64)
        if self._matrix is None:
            if self.store_sensitivities == "disk":
                return self._operators()[0][0].array
            self._matrix = np.empty((self._rows(), self._columns), dtype=self.sensitivity_dtype)
            _fill(self._matrix, self._operators())
        return self._matrix

    def _operators(self) -> list[tuple[Any, Any]]:
        """Operators, and which datum each of their rows is."""
        if self._sensitivities is not None:
            return self._sensitivities
        if self.survey is None:
            raise InputError("survey", "is missing", "Simulation3DIntegral(mesh, survey=...).")
        storage = "single" if self.sensitivity_dtype is np.float32 else "double"
        made, first = [], 0
        for receiver in self.survey.source_field.receiver_list:
            components, stations = _parts_of(receiver)
            for which, operator in self._operators_of(components, stations,
                                                      storage if self.store_sensitivities == "ram" else "none"):
                row = np.array(which)[:, None]
                made.append((operator, (first + row + len(components) * np.arange(stations.shape[0])).ravel()))
            first += len(components) * stations.shape[0]
        self._sensitivities = made
        if self.store_sensitivities == "disk":
            self._sensitivities = [(Matrix(self._written(first, made)), np.arange(first))]
        return self._sensitivities

    def _written(self, rows: int, operators: list[tuple[Any, Any]]) -> Any:
        """G in a file: what numpy.load reads in a folder, else the numbers alone, as SimPEG's two engines have it."""
        shape, path = (rows, self._columns), self.sensitivity_path
        if self.engine != "choclo" and not os.path.exists(path):
            os.makedirs(path)
        if os.path.isdir(path):
            held: Any = np.lib.format.open_memmap(os.path.join(path, "sensitivity.npy"), mode="w+",
                                                  dtype=self.sensitivity_dtype, shape=shape)
        else:
            held = np.memmap(path, mode="w+", dtype=self.sensitivity_dtype, shape=shape)
        _fill(held, operators)
        held.flush()
        return held

    def _operators_of(self, components: list[str], stations: Floats, storage: str) -> list[tuple[list[int], Any]]:
        """Rows by component, then station, of the components with these numbers."""
        weights = np.stack([self._weights(c) for c in components]) * self._to_si
        return [(list(range(len(components))), self._sensitivity(stations, weights, storage))]

    def _sensitivity(self, stations: Floats, weights: Floats, storage: str, accuracy: float = 1e-9, flux: int = 0,
                     held: Any = slice(None)) -> Sensitivity:
        return Sensitivity._of_weights(self._prisms[self.active_cells][held], list(np.ascontiguousarray(stations.T)),
                                       weights, accuracy, storage, self.options.get("threads"), flux,
                                       self.options.get("singular", "mean"))

    def _weights(self, component: str) -> Floats:
        """Of the ten quantities of a prism of unit density, in the unit of the data."""
        return float(self.options.get("gravitational_constant", GRAVITATIONAL_CONSTANT)) * _weights(component)

    def _rows(self) -> int:
        return sum(operator.shape[0] for operator, _ in self._operators())

    def _times(self, v: ArrayLike) -> Floats:
        density, data = real(v, "v").reshape(-1), np.empty(self._rows())
        for operator, places in self._operators():
            data[places] = operator.apply(density)
        return data

    def _transpose_times(self, v: ArrayLike) -> Floats:
        data, sum_ = real(v, "v").reshape(-1), np.zeros(self._columns)
        for operator, places in self._operators():
            sum_ += operator.apply_transpose(data[places])
        return sum_

    def _derivative(self, m: Optional[ArrayLike]) -> Any:
        """Of the density with respect to the model: a matrix, or None where the model is the density."""
        if m is not None:
            self.model = np.asarray(m, dtype=float)
        return None if self.rhoMap is None else self.rhoMap.deriv(self.model)

    def getJ(self, m: Optional[ArrayLike] = None, f: Optional[ArrayLike] = None) -> Any:
        """G times the derivative of ``rhoMap``; with store_sensitivities="forward_only" a scipy LinearOperator."""
        derivative = self._derivative(m)
        if derivative is None:
            return self.G
        if self.store_sensitivities == "forward_only":
            from scipy.sparse.linalg import aslinearoperator

            derivative = aslinearoperator(derivative)
        return self.G @ derivative

    def Jvec(self, m: Optional[ArrayLike], v: ArrayLike, f: Optional[ArrayLike] = None) -> Floats:
        """J v.  v [parameters] → [data]"""
        derivative = self._derivative(m)
        return self._times(v if derivative is None else derivative @ np.asarray(v, dtype=float))

    def Jtvec(self, m: Optional[ArrayLike], v: ArrayLike, f: Optional[ArrayLike] = None) -> Any:
        """Jᵀ v.  v [data] → [parameters]"""
        derivative = self._derivative(m)
        cells = self._transpose_times(v)
        return cells if derivative is None else derivative.T @ cells

    def getJtJdiag(self, m: Optional[ArrayLike] = None, W: Any = None, f: Optional[ArrayLike] = None) -> Floats:
        """The diagonal of JᵀWᵀWJ for a diagonal W. That of G is kept for the next model with the same W."""
        derivative = self._derivative(m)
        weight = np.ones(self._rows_of_data()) if W is None else np.asarray(W.diagonal(), dtype=float)**2
        of_weight = hashlib.sha256(weight.tobytes())
        if self._weights_sha256 is None or self._weights_sha256.digest() != of_weight.digest():
            self._gtg_diagonal, self._weights_sha256 = self._diagonal(weight), of_weight
        diagonal = self._gtg_diagonal
        if derivative is None:
            return np.array(diagonal)
        # Of a map that mixes cells, as SimPEG has it: the squares of the rows of √diagonal times the derivative.
        squares = derivative.multiply(derivative) if hasattr(derivative, "multiply") else np.asarray(derivative)**2
        return np.asarray(squares.T @ diagonal).reshape(-1)

    def _rows_of_data(self) -> int:
        return self._rows()

    def _diagonal(self, weight: Floats) -> Floats:
        """Of GᵀWG.  weight [data]"""
        diagonal = np.zeros(self._columns)
        for operator, places in self._operators():
            diagonal += operator.diagonal(weight[places])
        return diagonal

    def __repr__(self) -> str:
        return f"Simulation3DIntegral: {self.nC:,} active of {self._prisms.shape[0]:,} cells"


class MagneticSimulation3DIntegral(Simulation3DIntegral):
    """As ``simpeg.potential_fields.magnetics.Simulation3DIntegral``.

    Parameters
    ----------
    mesh : discretize.TensorMesh or discretize.TreeMesh
    chi : array_like [active cells], optional
        SI; otherwise the model, through ``chiMap``. [3 · active cells] for vectors: all x, then all y, then all z.
    chiMap : simpeg map, optional
    model_type : "scalar" or "vector"
        Susceptibilities, or magnetizations in parts of the main field, of any direction.
    is_amplitude_data : bool
        The data are √(bx² + by² + bz²).
    **keywords
        As of :class:`Simulation3DIntegral`. ``survey`` is a simpeg.potential_fields.magnetics.Survey: its
        ``source_field`` has amplitude (nT), inclination and declination; its receivers tmi, bx, by, bz, and their
        derivatives bxx, bxy … bzz, tmi_x, tmi_y, tmi_z (nT/m).

    Notes
    -----
    Data are in nT, x east, y north, z up; tmi is the projection on the main field; inside of cells b has μ₀M in it.
    Derivatives are differences over a thousandth of the shortest edge of a cell, or of the distance to the nearest edge
    of one, right to about 1e-6, also on faces and inside. On edges and corners they are NaN, with a warning.
    """

    _to_si = 1.0

    def __init__(self, mesh: Any, chi: Optional[ArrayLike] = None, chiMap: Any = None, *, model_type: str = "scalar",
                 is_amplitude_data: bool = False, **keywords: Any) -> None:
        if model_type not in ("scalar", "vector"):
            raise InputError("model_type", f"is {model_type!r}", "Allowed: scalar, vector.")
        self.model_type, self.is_amplitude_data = model_type, bool(is_amplitude_data)
        self._amplitudes: Any = None
        super().__init__(mesh, chi, chiMap, **keywords)

    @property
    def chi(self) -> Optional[Floats]:
        """Susceptibility of the active cells."""
        return self.rho

    @property
    def chiMap(self) -> Any:
        return self.rhoMap

    @property
    def M(self) -> Any:
        raise NotComputedError("M", "magnetization that is not along the main field is not given by M",
                               'Take model_type="vector".')

    @M.setter
    def M(self, value: Any) -> None:
        _ = self.M

    @property
    def modelType(self) -> Any:
        raise NotImplementedError("modelType has been removed, please use model_type.")

    @property
    def tmi_projection(self) -> Floats:
        """The direction of the main field: x, y, z."""
        field = self.survey.source_field
        return _unit_vector(float(field.inclination), float(field.declination))

    _each = "one for each active cell, three for vectors"

    @property
    def _columns(self) -> int:
        return self.nC * len(self._directions())

    @property
    def nD(self) -> int:
        """How many data."""
        return int(self.survey.nD) // (3 if self.is_amplitude_data else 1)

    def _directions(self) -> list[tuple[float, float]]:
        """Inclination and declination of what the columns of G are magnetized along."""
        if self.model_type == "vector":
            return [(0.0, 90.0), (0.0, 0.0), (-90.0, 0.0)]
        if self.survey is None:
            return [(0.0, 0.0)]
        return [(float(self.survey.source_field.inclination), float(self.survey.source_field.declination))]

    def _weights_along(self, component: str, direction: tuple[float, float]) -> Floats:
        """Of the ten quantities of a prism that is magnetized along a direction."""
        names = {"bx": "b_e", "by": "b_n", "bz": "b_u"}
        if component == "tmi":
            return np.asarray(sum(f * self._weights_along(c, direction) for f, c in zip(self.tmi_projection, names)))
        if component not in names:
            raise InputError("components", f"{component!r} is not one",
                             f"Allowed: tmi, {', '.join(names)}, and their derivatives, such as bxy and tmi_z.")
        return 1e9 * np.asarray(_core.magnetic_weights(names[component],
                                                       1e-9 * float(self.survey.source_field.amplitude), *direction))

    def _operators_of(self, components: list[str], stations: Floats, storage: str) -> list[tuple[list[int], Any]]:
        made: list[tuple[list[int], Any]] = []
        for axis in (None, 0, 1, 2):
            which = [n for n, c in enumerate(components) if _axis_of(c) == axis]
            if not which:
                continue
            names = [components[n] for n in which]
            if axis is not None:
                operator: Any = self._derivatives(names, stations, axis)
                if storage != "none":
                    array = np.empty(operator.shape, np.float32 if storage == "single" else np.float64)
                    _fill(array, [(operator, np.arange(operator.shape[0]))])
                    operator = Matrix(array)
                made.append((which, operator))
                continue
            parts = [self._sensitivity(stations, np.stack([self._weights_along(c, d) for c in names]), storage, flux=7)
                     for d in self._directions()]
            made.append((which, parts[0] if len(parts) == 1 else Beside(parts)))
        return made

    def _derivatives(self, names: list[str], stations: Floats, axis: int, held: Any = slice(None)) -> Any:
        """Of components along an axis. Across a face they go on: there H is continuous along it, B across it."""
        plus, minus, step = self._around(stations, axis, self._prisms[self.active_cells][held])
        steps = np.tile(step, len(names))
        edges = np.zeros((len(names), 10))
        edges[:, 7:] = 1.0  # the tensor's other components: NaN on edges and corners, finite elsewhere
        parts = []
        for direction in self._directions():
            weights = np.stack([self._weights_along(_of_derivative(c), direction) for c in names])
            at = [self._sensitivity(where, weights, "none", 1e-15, 1 << axis, held) for where in (plus, minus)]
            parts.append(Difference(at[0], at[1], steps, self._sensitivity(stations, edges, "none", 1e-3, 0, held)))
        return parts[0] if len(parts) == 1 else Beside(parts)

    def _around(self, stations: Floats, axis: int, cells: Floats) -> tuple[Floats, Floats, Floats]:
        """Stations on both sides, and how far they are apart [n]: a thousandth of the shortest edge of a cell, or of
        the distance to the nearest edge."""
        longest = 0.5e-3 * float((cells[:, 1::2] - cells[:, 0::2]).min())
        half = 2.0**np.floor(np.log2(np.minimum(longest, 1e-3 * _to_edges(stations, cells, 1e3 * longest))))
        plus, minus = stations.copy(), stations.copy()
        plus[:, axis] += half
        minus[:, axis] -= half
        return plus, minus, plus[:, axis] - minus[:, axis]

    def _data_of(self, receiver: Any) -> Floats:
        components, stations = _parts_of(receiver)
        chi = np.asarray(self.rho, dtype=float).reshape(len(self._directions()), -1)
        for c in components:
            self._weights_along(_of_derivative(c), self._directions()[0])
        held = np.flatnonzero(chi.any(axis=0))
        if held.size == 0:
            return np.zeros(stations.shape[0] * len(components))
        data = np.empty((stations.shape[0], len(components)))
        for axis in {_axis_of(c) for c in components}:
            which = [n for n, c in enumerate(components) if _axis_of(c) == axis]
            if axis is None:
                field = self._field(chi[:, held], stations, held)
                rows = {"bx": field[0], "by": field[1], "bz": field[2], "tmi": _along(self.tmi_projection, field)}
                for n in which:
                    data[:, n] = rows[components[n]]
            else:
                operator = self._derivatives([components[n] for n in which], stations, axis, held)
                data[:, which] = operator.apply(chi[:, held].ravel()).reshape(len(which), -1).T
        if np.isnan(data).any():
            lost = int(np.isnan(data).any(axis=1).sum())
            warnings.warn(f"{lost} of {stations.shape[0]} receivers lie on edges, corners or faces of magnetized "
                          "cells, where their data have no value: NaN. Move them off.", UserWarning, stacklevel=4)
        return data.ravel()

    def _field(self, chi: Floats, stations: Floats, held: Any) -> Floats:
        """B at stations [3, n], nT."""
        strength = float(self.survey.source_field.amplitude) / VACUUM_PERMEABILITY * 1e-9
        along = np.array([_unit_vector(*d) for d in self._directions()])
        given = {name: value for name, value in self.options.items()
                 if name not in ("precision", "gravitational_constant")}
        field, _ = flux_density(self._prisms[self.active_cells][held], strength * along.T @ chi, stations.T,
                                **{"singular": "mean", **given})
        return 1e9 * field

    # Amplitudes are no linear function of the model: J = [b̂x b̂y b̂z] G, with b̂ = b/|b| at the model.

    def fields(self, m: Optional[ArrayLike] = None) -> Floats:
        field = super().fields(m)
        return np.linalg.norm(field.reshape(-1, 3), axis=1) if self.is_amplitude_data else field

    def _unit_fields(self, m: Optional[ArrayLike]) -> Floats:
        """b/|b| [stations, 3] at the model; 0 where there is no field."""
        now = np.asarray(next(given for given in (m, self.model, self.rho) if given is not None))
        if self._amplitudes is None or not np.array_equal(now, self._amplitudes[0]):
            field = super().fields(m).reshape(-1, 3)
            size = np.linalg.norm(field, axis=1)[:, None]
            self._amplitudes = (np.array(now), np.divide(field, size, out=np.zeros_like(field), where=size > 0))
        return np.asarray(self._amplitudes[1])

    def getJ(self, m: Optional[ArrayLike] = None, f: Optional[ArrayLike] = None) -> Any:
        if self.is_amplitude_data:
            raise NotComputedError("getJ", "is not there for amplitudes", "Take Jvec and Jtvec.")
        return super().getJ(m, f)

    def Jvec(self, m: Optional[ArrayLike], v: ArrayLike, f: Optional[ArrayLike] = None) -> Floats:
        change = super().Jvec(m, v, f)
        return (self._unit_fields(m) * change.reshape(-1, 3)).sum(axis=1) if self.is_amplitude_data else change

    def Jtvec(self, m: Optional[ArrayLike], v: ArrayLike, f: Optional[ArrayLike] = None) -> Any:
        if self.is_amplitude_data:
            v = (self._unit_fields(m) * np.asarray(v, dtype=float).reshape(-1, 1)).ravel()
        return super().Jtvec(m, v, f)

    def getJtJdiag(self, m: Optional[ArrayLike] = None, W: Any = None, f: Optional[ArrayLike] = None) -> Floats:
        if self.is_amplitude_data:
            if self.store_sensitivities == "forward_only":
                raise NotComputedError("getJtJdiag", "of amplitudes needs G", 'Take store_sensitivities="ram".')
            self._weights_sha256 = None  # it changes with the model
            self._unit_fields(m)
        return super().getJtJdiag(m, W, f)

    def _rows_of_data(self) -> int:
        return self._rows() // (3 if self.is_amplitude_data else 1)

    def _diagonal(self, weight: Floats) -> Floats:
        if not self.is_amplitude_data:
            return super()._diagonal(weight)
        unit, rows, diagonal = self._unit_fields(None), Matrix(self.G), np.zeros(self._columns)
        for n, w in enumerate(weight):
            diagonal += w * (unit[n] @ np.stack([rows.row(3 * n + c) for c in range(3)]))**2
        return diagonal


def _unit_vector(inclination: float, declination: float) -> Floats:
    dip, azimuth = math.radians(inclination), math.radians(declination)
    unit = np.array([math.cos(dip) * math.sin(azimuth), math.cos(dip) * math.cos(azimuth), -math.sin(dip)])
    return np.where(np.abs(unit) < 1e-15, 0.0, unit)


def _along(direction: Floats, field: Floats) -> Floats:
    """Without components across the direction, which may have no value."""
    return np.asarray(sum(f * b for f, b in zip(direction, field) if f != 0))


def _to_edges(stations: Floats, cells: Floats, reach: float) -> Floats:
    """How far the nearest edge of a cell is from each station [n], m: above 0, at most `reach`."""
    low, high = cells[:, 0::2], cells[:, 1::2]
    nearest = np.full(stations.shape[0], reach)
    for n, at in enumerate(stations):
        near = np.flatnonzero(((at >= low - reach) & (at <= high + reach)).all(axis=1))
        if not near.size:
            continue
        below, above = np.abs(low[near] - at), np.abs(high[near] - at)
        across = np.minimum(below, above)  # to the nearest of the two faces across each axis
        beyond = np.maximum(np.maximum(low[near] - at, at - high[near]), 0)
        for axis in range(3):  # edges along it
            parts = [beyond[:, axis] if k == axis else across[:, k] for k in range(3)]
            distance = np.sqrt(sum(part**2 for part in parts))
            distance = distance[distance > 0]
            if distance.size:
                nearest[n] = min(nearest[n], float(distance.min()))
    return nearest


def _parts_of(receiver: Any) -> tuple[list[str], Floats]:
    """Its components, and where it is [n, 3]."""
    components = [receiver.components] if isinstance(receiver.components, str) else list(receiver.components)
    stations = np.atleast_2d(real(receiver.locations, "locations", "m"))
    if stations.shape[1] != 3:
        raise ShapeError("locations", f"has shape {stations.shape}", "Expected [n, 3]: x, y, z.")
    return components, stations


def _fill(array: Any, operators: list[tuple[Any, Any]]) -> None:
    for operator, places in operators:
        for index, place in enumerate(places):
            array[place] = operator.row(index)


_DERIVATIVES = {"bxx": ("bx", 0), "bxy": ("bx", 1), "bxz": ("bx", 2), "byy": ("by", 1), "byz": ("by", 2),
                "bzz": ("bz", 2), "tmi_x": ("tmi", 0), "tmi_y": ("tmi", 1), "tmi_z": ("tmi", 2)}


def _axis_of(component: str) -> Optional[int]:
    return _DERIVATIVES.get(component, ("", None))[1]


def _of_derivative(component: str) -> str:
    return _DERIVATIVES.get(component, (component, None))[0]


def _weights(component: str) -> Floats:
    """Of the ten quantities of a prism, for a component of SimPEG in mGal or Eötvös."""
    if component == "guv":
        return (_weights("gyy") - _weights("gxx")) / 2
    if component not in _COMPONENTS:
        raise InputError("components", f"{component!r} is not one", f"Allowed: {', '.join(_COMPONENTS)}, guv.")
    places = ("", "gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz")
    weights = np.zeros(10)
    weights[places.index(component)] = 1e5 if len(component) == 2 else 1e9
    return weights


def _cells(mesh: Any) -> Floats:
    """[cells, 6] of a discretize mesh, in its order."""
    centres, widths = np.asarray(mesh.cell_centers), np.asarray(mesh.h_gridded)
    if centres.ndim != 2 or centres.shape[1] != 3:
        raise ShapeError("mesh", f"has dimension {centres.shape[-1]}", "Expected a mesh in three dimensions.")
    if hasattr(mesh, "nodes_x") and not hasattr(mesh, "max_level"):
        from ..mesh import TensorMesh

        return TensorMesh(mesh.nodes_x, mesh.nodes_y, mesh.nodes_z).prisms()
    made = np.empty((centres.shape[0], 6), order="F")
    made[:, 0::2], made[:, 1::2] = centres - widths / 2, centres + widths / 2
    return made
