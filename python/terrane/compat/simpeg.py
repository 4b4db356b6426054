"""SimPEG's gravity simulation in integral form: data and sensitivities."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike

from .. import _core
from .._arrays import Floats, real
from ..errors import InputError, ShapeError, UnsupportedError
from ..gravity import CHANNELS, GRAVITATIONAL_CONSTANT, forward
from ..inversion import Sensitivity
from ._of_simpeg import OfSimpeg

__all__ = ["MagneticSimulation3DIntegral", "Simulation3DIntegral"]

_COMPONENTS = ("gx", "gy", "gz", "gxx", "gxy", "gxz", "gyy", "gyz", "gzz")
_STORES = ("ram", "disk", "forward_only")
_ENGINES = ("terrane", "geoana", "choclo")
_OPTIONS = ("accuracy", "method", "precision", "singular", "gravitational_constant", "device", "threads")


class ArgumentError(InputError, TypeError):
    """An argument of the wrong type, or one that is not known: also a TypeError, as in SimPEG."""


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
        Accepted and without effect, as are numba_parallel, n_processes and sensitivity_path.
    survey : simpeg.potential_fields.gravity.Survey
        Its receivers have ``locations`` [n, 3] and ``components``.
    active_cells : array of bool [cells] or of int, optional
    store_sensitivities : "ram", "disk" or "forward_only"
        How G is held once it is asked for: in memory ("disk" too), or made anew for each product. Data never need it.
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
        for name, given, allowed in (("store_sensitivities", store_sensitivities, _STORES),
                                     ("engine", engine, _ENGINES)):
            if given not in allowed:
                raise InputError(name, f"is {given!r}", f"Allowed: {', '.join(allowed)}.")
        for name in options:
            if name not in _OPTIONS:
                raise ArgumentError(name, "is not an argument of Simulation3DIntegral",
                                    f"Beside SimPEG's there are: {', '.join(_OPTIONS)}.")
        self.mesh, self.rhoMap, self.survey = mesh, rhoMap, survey
        self.store_sensitivities, self.engine = store_sensitivities, engine
        self.sensitivity_dtype = sensitivity_dtype
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
        self._sensitivities: Optional[list[tuple[Sensitivity, Any]]] = None
        self.rho = None if rho is None else self._density(rho, "rho")

    @property
    def sensitivity_dtype(self) -> Any:
        """numpy.float64 for "forward_only", otherwise what was given; data are float64 in any case."""
        return np.float64 if self.store_sensitivities == "forward_only" else self._sensitivity_dtype

    @sensitivity_dtype.setter
    def sensitivity_dtype(self, value: Any) -> None:
        if value is not np.float32 and value is not np.float64:
            raise ArgumentError("sensitivity_dtype", "must be either np.float32 or np.float64.", f"It is {value!r}.")
        self._sensitivity_dtype = value

    @property
    def nC(self) -> int:
        """How many active cells."""
        return int(self.active_cells.sum())

    def _density(self, value: ArrayLike, name: str) -> Floats:
        density = real(value, name).reshape(-1)
        if density.size == 1 and self.nC != 1:
            density = np.full(self.nC, float(density[0]))
        if density.shape != (self.nC,):
            raise ShapeError(name, f"has shape {density.shape}", f"Expected [{self.nC}]: one for each active cell.")
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
        held = self.rho != 0
        prisms, density = self._prisms[self.active_cells][held], self._to_si * self.rho[held]
        return np.concatenate([self._receiver(r, prisms, density) for r in self.survey.source_field.receiver_list])

    def _receiver(self, receiver: Any, prisms: Floats, density: Floats) -> Floats:
        components = [receiver.components] if isinstance(receiver.components, str) else list(receiver.components)
        needed = list(dict.fromkeys(n for c in components for n in (("gxx", "gyy") if c == "guv" else (c,))))
        for name in needed:
            if name not in _COMPONENTS:
                raise InputError("components", f"{name!r} is not one", f"Allowed: {', '.join(_COMPONENTS)}, guv.")
        stations = np.atleast_2d(real(receiver.locations, "locations", "m"))
        if stations.shape[1] != 3:
            raise ShapeError("locations", f"has shape {stations.shape}", "Expected [n, 3]: x, y, z.")
        if density.size == 0:
            return np.zeros(stations.shape[0] * len(components))
        got: dict[str, Any] = forward(prisms, density, *stations.T, channels=needed, frame="simpeg",
                                      **{"singular": "mean", **self.options})
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
        """A ``simpeg.data.SyntheticData``: clean data d, and data with noise of √((relative_error d)² + noise_floor²)."""
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

            return LinearOperator((self._rows(), self.nC), matvec=self._times, rmatvec=self._transpose_times,
                                  dtype=np.float64)
        if self._matrix is None:
            parts = []
            for operator, order in self._operators():
                matrix = np.empty(operator.shape, dtype=self.sensitivity_dtype)
                for place, row in enumerate(order):
                    matrix[place] = operator.row(int(row))
                parts.append(matrix)
            self._matrix = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return self._matrix

    def _operators(self) -> list[tuple[Sensitivity, Any]]:
        """For each receiver its sensitivities, and which of their rows is its n-th datum."""
        if self._sensitivities is not None:
            return self._sensitivities
        if self.survey is None:
            raise InputError("survey", "is missing", "Simulation3DIntegral(mesh, survey=...).")
        storage = "none" if self.store_sensitivities == "forward_only" else \
            "double" if self.sensitivity_dtype is np.float64 else "single"
        made = []
        for receiver in self.survey.source_field.receiver_list:
            components = [receiver.components] if isinstance(receiver.components, str) else list(receiver.components)
            stations = np.atleast_2d(real(receiver.locations, "locations", "m"))
            weights = np.stack([self._weights(c) for c in components]) * self._to_si
            operator = Sensitivity._of_weights(self._prisms[self.active_cells], list(np.ascontiguousarray(stations.T)),
                                               weights, 1e-9, storage,
                                               self.options.get("threads"))
            order = np.arange(operator.shape[0]).reshape(len(components), -1).T.ravel()
            made.append((operator, order))
        self._sensitivities = made
        return made

    def _weights(self, component: str) -> Floats:
        """Of the ten quantities of a prism of unit density, in the unit of the data."""
        return float(self.options.get("gravitational_constant", GRAVITATIONAL_CONSTANT)) * _weights(component)

    def _rows(self) -> int:
        return sum(operator.shape[0] for operator, _ in self._operators())

    def _times(self, v: ArrayLike) -> Floats:
        density = real(v, "v").reshape(-1)
        return np.concatenate([operator.apply(density)[order] for operator, order in self._operators()])

    def _transpose_times(self, v: ArrayLike) -> Floats:
        data = real(v, "v").reshape(-1)
        sum_, first = np.zeros(self.nC), 0
        for operator, order in self._operators():
            turned = np.empty(order.size)
            turned[order] = data[first:first + order.size]
            sum_ += operator.apply_transpose(turned)
            first += order.size
        return sum_

    def _derivative(self, m: Optional[ArrayLike]) -> Any:
        """Of the density with respect to the model: a matrix, or None where the model is the density."""
        if m is not None:
            self.model = np.asarray(m, dtype=float)
        return None if self.rhoMap is None else self.rhoMap.deriv(self.model)

    def getJ(self, m: Optional[ArrayLike] = None, f: Optional[ArrayLike] = None) -> Any:
        """G times the derivative of ``rhoMap``."""
        derivative = self._derivative(m)
        return self.G if derivative is None else self.G @ derivative

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
        """The diagonal of JᵀWᵀWJ for a diagonal W."""
        derivative = self._derivative(m)
        weight = np.ones(self._rows()) if W is None else np.asarray(W.diagonal(), dtype=float)**2
        diagonal, first = np.zeros(self.nC), 0
        for operator, order in self._operators():
            turned = np.empty(order.size)
            turned[order] = weight[first:first + order.size]
            diagonal += operator.diagonal(turned)
            first += order.size
        if derivative is None:
            return diagonal
        # Of a map that mixes cells, as SimPEG has it: the squares of the rows of √diagonal times the derivative.
        squares = derivative.multiply(derivative) if hasattr(derivative, "multiply") else np.asarray(derivative)**2
        return np.asarray(squares.T @ diagonal).reshape(-1)

    def __repr__(self) -> str:
        return f"Simulation3DIntegral: {self.nC:,} active of {self._prisms.shape[0]:,} cells"


class MagneticSimulation3DIntegral(Simulation3DIntegral):
    """As ``simpeg.potential_fields.magnetics.Simulation3DIntegral`` for scalar susceptibilities.

    Parameters
    ----------
    mesh : discretize.TensorMesh or discretize.TreeMesh
    chi : array_like [active cells], optional
        SI; otherwise the model, through ``chiMap``.
    chiMap : simpeg map, optional
    **keywords
        As of :class:`Simulation3DIntegral`. ``survey`` is a simpeg.potential_fields.magnetics.Survey: its
        ``source_field`` has amplitude (nT), inclination and declination; its receivers tmi, bx, by, bz.

    Notes
    -----
    Data are in nT, x east, y north, z up; tmi is the projection on the main field. Model types "vector" and amplitude
    data are SimPEG's alone.
    """

    _to_si = 1.0

    def __init__(self, mesh: Any, chi: Optional[ArrayLike] = None, chiMap: Any = None, **keywords: Any) -> None:
        for name, usual in (("model_type", "scalar"), ("is_amplitude_data", False)):
            if keywords.pop(name, usual) != usual:
                raise UnsupportedError(name, f"only {usual!r} is computed here",
                                       "Take simpeg.potential_fields.magnetics.Simulation3DIntegral.")
        super().__init__(mesh, chi, chiMap, **keywords)

    @property
    def chi(self) -> Optional[Floats]:
        """Susceptibility of the active cells."""
        return self.rho

    @property
    def chiMap(self) -> Any:
        return self.rhoMap

    def _weights(self, component: str) -> Floats:
        names = {"tmi": "tmi", "bx": "b_e", "by": "b_n", "bz": "b_u"}
        if component not in names:
            raise InputError("components", f"{component!r} is not one", f"Allowed: {', '.join(names)}.")
        field = self.survey.source_field
        return 1e9 * np.asarray(_core.magnetic_weights(names[component], 1e-9 * float(field.amplitude),
                                                       float(field.inclination), float(field.declination)))

    def _receiver(self, receiver: Any, prisms: Floats, density: Floats) -> Floats:
        components = [receiver.components] if isinstance(receiver.components, str) else list(receiver.components)
        weights = [self._weights(c) for c in components]
        stations = np.atleast_2d(real(receiver.locations, "locations", "m"))
        if density.size == 0:
            return np.zeros(stations.shape[0] * len(components))
        options = {k: v for k, v in self.options.items() if k != "gravitational_constant"}
        got = forward(prisms, density, *stations.T, channels="tensor", units="si",
                      **{"singular": "mean", "gravitational_constant": 1.0, **options})
        tensor = np.stack([got[name] for name in CHANNELS[4:]])
        return np.stack([w[4:] @ tensor for w in weights], axis=1).ravel()


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
