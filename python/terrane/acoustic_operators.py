"""Sound waves as a function of the medium: gathers, Born modelling and its adjoint, misfits with gradients, snapshots.

Job files need nothing of this: ``terrane.run("job.toml")``. Here is what an inversion, or a look at the waves, needs::

    import terrane

    waves = terrane.acoustic.Operators("job.toml")
    gathers = waves.run()                        # xarray: pressure (shot, time, receiver)
    J = waves.jacobian("velocity")               # scipy LinearOperator
    scattered, gradient = J @ dv, J.T @ residual
"""

from __future__ import annotations

import os
import warnings
from os import PathLike
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Floats
from ._progress import Progress, reporting
from .dataset import _xarray
from ._strict import Strict
from .errors import InputError, ShapeError, UnsupportedError
from .jobs import _arguments
from .simulation import Simulation, job_of

__all__ = ["Operators"]

Job = Union[str, "PathLike[str]", Mapping[str, Any], Simulation]

#: ∂m/∂x of m = 1/v², by what x is called.
_PARAMETERS = {"m": lambda v: np.ones_like(v), "velocity": lambda v: -2 / v**3, "slowness": lambda v: 2 / v}
_SIDES = ("bottom", "top", "south", "north", "west", "east")
_AXES = ("easting", "northing", "up")


class Operators(Strict):
    """Shots over a medium, one after the other, on this machine.

    Parameters
    ----------
    job : path, :class:`terrane.acoustic.Simulation`, or mapping of tables
        With ``physics = "acoustic"``. Its medium is the job's: with ``kind = "born"`` or ``"migration"`` the smooth
        one.
    settings, arguments, data, threads
        As in :func:`terrane.run`.
    precision : {"double", "single"}
    """

    def __init__(self, job: Job, *, settings: Optional[Mapping[str, Any]] = None,
                 arguments: Optional[Mapping[str, Any]] = None, data: Optional[Union[str, "PathLike[str]"]] = None,
                 threads: Optional[int] = None, precision: str = "double") -> None:
        given = _arguments(settings, arguments, data, None, threads)
        if isinstance(job, (Mapping, Simulation)):
            text, contents = job_of(job.tables() if isinstance(job, Simulation) else job)
            self._engine = _core.acoustic_job_of(text, *given, contents, _is_double(precision))
        else:
            self._engine = _core.acoustic_job(os.fspath(job), *given, _is_double(precision))

    @classmethod
    def of(cls, velocity: ArrayLike, spacing: Union[float, Sequence[float]], *, sources: Sequence[ArrayLike],
           receivers: Sequence[ArrayLike], wavelet: ArrayLike, sample_step: float, end: float, step: float = 0,
           first: Sequence[float] = (0, 0, 0), sides: Union[str, Mapping[str, str]] = "cpml", order: int = 8,
           layer_points: int = 10, layer_frequency: float = 0, exact_time: bool = True,
           record: Sequence[str] = ("pressure",), density: ArrayLike = 1000,
           epsilon: Optional[ArrayLike] = None, delta: Optional[ArrayLike] = None, tilt: Optional[ArrayLike] = None,
           tilt_azimuth: Optional[ArrayLike] = None, precision: str = "double", device: str = "auto",
           threads: Optional[int] = None) -> "Operators":
        """From arrays.

        Parameters
        ----------
        velocity : array [up, north, east]
            Of the nodes, m/s; along the axis of symmetry, where there is one. One node along northing: two dimensions.
        spacing : float or three
            Between nodes along up, northing and easting, m.
        sources, receivers : sequences of arrays [n, 3]
            Of each shot: easting, northing, up, m. All sources of a shot send the wavelet.
        wavelet : array
            Samples, ``sample_step`` seconds apart, Pa m; in two dimensions Pa.
        end, step : float
            Seconds; step 0: 0.9 of the longest stable one.
        first : three floats
            Up, northing and easting of the first node, m.
        sides : str or mapping
            cpml, sponge, free_surface or wall: of all sides, or by bottom, top, south, north, west, east.
        order, layer_points, layer_frequency, exact_time
            As in a job file.
        record : sequence of str
            What receivers record: pressure, velocity_east, velocity_north, velocity_up (of particles, m/s).
        density : float or array [up, north, east]
            kg/m³. A number: what velocities of particles are over. An array: the density varies
            (``equation = "variable_density"``).
        epsilon, delta : float or array [up, north, east], optional
            Thomsen's parameters: the axis of symmetry is vertical (``"vti"``). Epsilon is not less than delta;
            one that is not given is 0.
        tilt, tilt_azimuth : float or array [up, north, east], optional
            Of that axis, degrees: from the vertical, and from north to east (``"tti"``).
        precision : {"double", "single"}
        device : {"auto", "cpu", "cuda", "cuda:N", "debug"}
            Auto: a GPU where there is one.
        threads : int, optional
            Of the CPU; by default all.

        Raises
        ------
        ShapeError
            Arrays that do not fit.
        InputError
            Numbers that cannot be; a density that varies around an axis of symmetry.

        Examples
        --------
        >>> import numpy as np, terrane
        >>> waves = terrane.acoustic.Operators.of(
        ...     np.full((30, 1, 40), 2000.0), 10, sources=[[[200, 0, 50]]], receivers=[[[100, 0, 250]]],
        ...     wavelet=np.hanning(60), sample_step=0.001, end=0.2, epsilon=0.2, delta=0.1, tilt=30)
        >>> waves.equation
        'tti'
        """
        velocity = np.asarray(velocity, dtype=float)
        if velocity.ndim != 3:
            raise ShapeError("velocity", f"has {velocity.ndim} axes", "It is [up, north, east].")
        spacings = np.asarray(spacing, dtype=float).ravel()
        if spacings.size not in (1, 3):
            raise ShapeError("spacing", f"has {spacings.size} values", "Give one, or three: up, northing, easting.")
        widths = [float(h) for h in np.broadcast_to(spacings, 3)]
        given = dict.fromkeys(_SIDES, sides if isinstance(sides, str) else "cpml")
        given.update({} if isinstance(sides, str) else sides)
        if unknown := sorted(set(given) - set(_SIDES)):
            raise InputError("sides", f"there is no side {unknown[0]!r}", f"Allowed: {', '.join(_SIDES)}.")
        if len(sources) != len(receivers):
            raise ShapeError("receivers", f"are those of {len(receivers)} shots, sources of {len(sources)}",
                             "Give an array [n, 3] of both for every shot.")
        placed = [_places(at, "receivers") for at in receivers]
        if counts := sorted({len(at) for at in placed}):
            if len(counts) > 1 or counts[0] == 0:
                raise ShapeError("receivers", f"are {counts[0]} of one shot" +
                                 (f" and {counts[-1]} of another" if len(counts) > 1 else ""),
                                 "Every shot has the same number of receivers, one or more.")
        medium = _medium(velocity, density, epsilon, delta, tilt, tilt_azimuth)
        made = cls.__new__(cls)
        made._engine = _core.acoustic_problem(
            velocity.ravel(), list(velocity.shape), widths, [float(x) for x in first],
            [_places(at, "sources") for at in sources], placed,
            np.asarray(wavelet, dtype=float), float(sample_step), float(step), float(end),
            [given[side] for side in _SIDES],
            {"order": int(order), "layer_points": int(layer_points), "layer_frequency": float(layer_frequency),
             "exact_time": bool(exact_time), "density": 1000.0 if "densities" in medium else float(np.asarray(density)),
             "record": [record] if isinstance(record, str) else [str(name) for name in record],
             "threads": int(threads or 0), "double_precision": _is_double(precision), "device": device, **medium})
        return made

    @classmethod
    def _of_engine(cls, engine: _core.Acoustic) -> "Operators":
        made = cls.__new__(cls)
        made._engine = engine
        return made

    @property
    def shape(self) -> tuple[int, int, int]:
        """(shots, steps, traces) of gathers: a trace for each receiver, of the first of :attr:`record`, then the next."""
        return self._engine.shots, self._engine.steps, len(self.record) * self._engine.receivers_per_shot

    @property
    def record(self) -> list[str]:
        """What receivers record: pressure (Pa) and velocities of particles (m/s)."""
        return list(self._engine.record)

    @property
    def step(self) -> float:
        """Of time, s."""
        return self._engine.step

    @property
    def equation(self) -> str:
        """constant_density, variable_density, vti or tti."""
        return str(self._engine.equation)

    @property
    def rock(self) -> str:
        """What ``equation`` was called before."""
        warnings.warn("rock is now called equation", FutureWarning, stacklevel=2)
        return self.equation

    @property
    def velocity(self) -> Floats:
        """Of every node [up, north, east], m/s."""
        return self._engine.velocity().reshape(self._engine.nodes)

    def axis(self, name: str) -> Floats:
        """Where the nodes are along easting, northing or up, m."""
        if name not in _AXES:
            raise InputError("axis", f"is {name!r}", f"Allowed: {', '.join(_AXES)}.")
        a = 2 - _AXES.index(name)
        places = self._engine.first[a] + np.arange(self._engine.nodes[a]) * self._engine.spacing[a]
        return np.asarray(places, dtype=np.float64)

    def with_velocity(self, velocity: ArrayLike) -> "Operators":
        """The same shots over another medium, with the same step. Raises InputError where that is not stable."""
        return self._of_engine(self._engine.with_velocity(self._on_nodes(velocity, "velocity").ravel()))

    def run(self, progress: Progress = False) -> Any:
        """Gathers as an ``xarray.Dataset``: what is recorded (shot, time, receiver), with the places of both."""
        with reporting(progress) as report:
            values = self._engine.model(report)
        return self.to_xarray(values)

    def to_xarray(self, gathers: ArrayLike) -> Any:
        """Gathers [shot, time, trace] with times and places; ``terrane.write_dataset`` writes them."""
        shots, steps, _ = self.shape
        coordinates: dict[str, Any] = {"time": ("time", np.arange(steps) * self.step, {"units": "s"})}
        sources = np.array([self._engine.sources(n)[:3] for n in range(shots)])
        places = np.array([self._engine.receivers(n).reshape(-1, 3) for n in range(shots)])
        fixed = bool((places == places[0]).all())
        for a, name in enumerate(_AXES):
            coordinates[f"source_{name}"] = ("shot", sources[:, a], {"units": "m"})
            coordinates[f"receiver_{name}"] = (("receiver", places[0, :, a], {"units": "m"}) if fixed else
                                               (("shot", "receiver"), places[:, :, a], {"units": "m"}))
        values = np.asarray(gathers, dtype=float).reshape(shots, steps, len(self.record), -1)
        return _xarray().Dataset(
            {name: (("shot", "time", "receiver"), values[:, :, n], {"units": "Pa" if name == "pressure" else "m/s"})
             for n, name in enumerate(self.record)}, coordinates)

    def _values(self, gathers: Any, name: str = "gathers") -> Floats:
        """Of an array [shot, time, trace], [shot, time, component, receiver] or in a row, or of a data set."""
        if hasattr(gathers, "data_vars"):
            gathers = np.concatenate([_in_order(gathers[name]) for name in self.record], axis=2)
        found = np.asarray(_in_order(gathers))
        shots, steps, traces = self.shape
        if found.shape == (shots, steps, len(self.record), traces // len(self.record)):
            found = found.reshape(self.shape)
        return _like(found, self.shape, name, "[shot, time, trace]")

    def _on_nodes(self, values: Any, name: str) -> Floats:
        """Of an array [up, north, east] or in a row."""
        if {"up", "northing", "easting"} == set(getattr(values, "dims", ())):
            values = values.transpose("up", "northing", "easting")
        return _like(values, tuple(self._engine.nodes), name, "[up, north, east]")

    def born(self, change: ArrayLike, progress: Progress = False) -> Floats:
        """J δm of a change of m = 1/v² [up, north, east], s²/m² → [shots, steps, traces]."""
        with reporting(progress) as report:
            return self._engine.born(self._on_nodes(change, "change").ravel(), report).reshape(self.shape)

    def adjoint(self, gathers: ArrayLike, progress: Progress = False) -> Floats:
        """Jᵀ r of gathers [shots, steps, traces] → [up, north, east]."""
        with reporting(progress) as report:
            return self._engine.adjoint(self._values(gathers).ravel(), report).reshape(self._engine.nodes)

    def jacobian(self, parameter: str = "m") -> Any:
        """∂F/∂x as a ``scipy.sparse.linalg.LinearOperator`` of shape (samples, nodes): ``J @ dx``, ``J.T @ residual``.

        The transpose is exact for every boundary: ⟨J x, r⟩ = ⟨x, Jᵀ r⟩ to rounding.

        Parameters
        ----------
        parameter : {"m", "velocity", "slowness"}
            What x is: 1/v², v or 1/v.
        """
        try:
            from scipy.sparse.linalg import LinearOperator
        except ImportError as error:
            raise UnsupportedError("jacobian", "there is no scipy",
                                   "pip install scipy; or use born() and adjoint()") from error
        scale = _scale(parameter, self.velocity).ravel()
        return LinearOperator(
            (int(np.prod(self.shape)), scale.size), dtype=np.float64,
            matvec=lambda x: self.born(scale * np.asarray(x).ravel()).ravel(),
            rmatvec=lambda r: scale * self.adjoint(np.asarray(r).ravel()).ravel())

    def misfit(self, observed: ArrayLike, parameter: str = "m", progress: Progress = False) -> tuple[float, Floats]:
        """Φ = ½ ‖F − d‖² and its gradient [up, north, east] by 1/v², v or 1/v.

        Examples
        --------
        One step of steepest descent::

            value, slope = waves.misfit(observed, "velocity")
            waves = waves.with_velocity(waves.velocity - 30 * slope / abs(slope).max())
        """
        values = self._values(observed, "observed")
        with reporting(progress) as report:
            value, gradient = self._engine.misfit(values.ravel(), report)
        return value, gradient.reshape(self._engine.nodes) * _scale(parameter, self.velocity)

    def snapshots(self, shot: int = 0, *, every: float = 0.01, stride: int = 1,
                  box: Optional[Sequence[float]] = None, progress: Progress = False) -> Any:
        """The wave of a shot at even times, as an ``xarray.DataArray`` pressure (time, up, northing, easting), Pa.

        Parameters
        ----------
        every : float
            Seconds between them, to the nearest step.
        stride : int
            Take every n-th node along each axis.
        box : six floats, optional
            West, east, south, north, bottom, top, m: only nodes in it. A flat box is a slice, through the nearest nodes.

        Notes
        -----
        They are in memory in single precision, 4 bytes for each node and time. Time dispersion is left in.
        """
        shots = self.shape[0]
        if not 0 <= shot < shots:
            raise InputError("shot", f"is {shot}", f"Allowed: 0 to {shots - 1}.")
        if not every > 0 or not np.isfinite(every):
            raise InputError("every", f"is {every} s", "It is more than zero.")
        if stride < 1:
            raise InputError("stride", f"is {stride}", "It is 1 or more.")
        if box is not None and (len(box) != 6 or not np.all(np.isfinite(box))):
            raise InputError("box", f"is {box!r}", "Give west, east, south, north, bottom, top, m.")
        sides = [-np.inf, np.inf] * 3 if box is None else [float(side) for side in box]
        with reporting(progress) as report:
            values, times, places = self._engine.snapshots(shot, float(every), stride, sides, report)
        axes = dict(zip(("up", "northing", "easting"), places))
        shape = tuple(len(at) for at in places)
        return _xarray().DataArray(values.reshape(-1, *shape), {"time": times, **axes},
                                   ("time", "up", "northing", "easting"), "pressure", {"units": "Pa"})


def _medium(velocity: Floats, density: ArrayLike, epsilon: Optional[ArrayLike], delta: Optional[ArrayLike],
            tilt: Optional[ArrayLike], tilt_azimuth: Optional[ArrayLike]) -> dict[str, Floats]:
    """What the medium has beside its velocity, of every node in a row; angles in radians."""

    def on_nodes(values: Optional[ArrayLike], name: str) -> Floats:
        found = np.asarray(0.0 if values is None else values, dtype=float)
        if found.size == 1:
            found = np.full(velocity.shape, found.item())
        return _like(found, velocity.shape, name, "one number, or [up, north, east]").ravel()

    tilted = tilt is not None or tilt_azimuth is not None
    axis = tilted or epsilon is not None or delta is not None
    varies = np.ndim(density) > 0
    if axis and varies:
        raise InputError("density", "varies, and the medium has an axis of symmetry",
                         "Take density as one number, or epsilon, delta and tilt away.")
    medium = {"densities": on_nodes(density, "density")} if varies else {}
    if axis:
        medium.update(epsilon=on_nodes(epsilon, "epsilon"), delta=on_nodes(delta, "delta"))
    if tilted:
        medium.update(tilt=np.radians(on_nodes(tilt, "tilt")),
                    tilt_azimuth=np.radians(on_nodes(tilt_azimuth, "tilt_azimuth")))
    return medium


def _in_order(gathers: Any) -> Any:
    """A data array as [shot, time, receiver], whatever the order of its dimensions."""
    if {"shot", "time", "receiver"} == set(getattr(gathers, "dims", ())):
        gathers = gathers.transpose("shot", "time", "receiver")
    return gathers


def _like(values: Any, shape: tuple[int, ...], name: str, axes: str) -> Floats:
    """Raises ShapeError: neither of this shape, but for axes of one, nor all in a row; InputError: not finite."""
    found = np.asarray(values, dtype=np.float64)
    short = tuple(n for n in found.shape if n != 1)
    if found.size != int(np.prod(shape)) or (len(short) > 1 and short != tuple(n for n in shape if n != 1)):
        raise ShapeError(name, f"has shape {found.shape}", f"Expected {axes}, {shape}.")
    if not np.isfinite(found).all():
        raise InputError(name, f"holds {found.ravel()[~np.isfinite(found.ravel())][0]}", "All values must be finite.")
    return found


def _is_double(precision: str) -> bool:
    if precision not in ("single", "double"):
        raise InputError("precision", f"is {precision!r}", "Allowed: single, double.")
    return precision == "double"


def _scale(parameter: str, velocity: Floats) -> Floats:
    if parameter not in _PARAMETERS:
        raise InputError("parameter", f"is {parameter!r}", f"Allowed: {', '.join(_PARAMETERS)}.")
    return np.asarray(_PARAMETERS[parameter](velocity), dtype=np.float64)


def _places(places: ArrayLike, name: str) -> Floats:
    rows = np.atleast_2d(np.asarray(places, dtype=float))
    if rows.ndim != 2 or rows.shape[1] != 3:
        raise ShapeError(name, f"have shape {rows.shape}", "They are [n, 3]: easting, northing, up.")
    return rows
