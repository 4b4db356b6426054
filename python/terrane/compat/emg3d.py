"""emg3d with one changed import: its meshes, models, surveys and fields, solved by Terrane.

::

    from terrane.compat import emg3d                     # was: import emg3d
    efield = emg3d.solve(model, sfield)                  # an emg3d.Field, as before
    simulation = emg3d.Simulation(survey, model, ...)    # computes, and finds gradients, by Terrane
    from terrane.compat.emg3d import simulations, solver # was: from emg3d import simulations, solver

emg3d must be installed; every other name of these modules is emg3d's own. What only steers its multigrid
(``sslsolver``, ``semicoarsening``, ``linerelaxation``, ``cycle``, ``nu_*``, ``clevel``) has no effect, nor has
``max_workers``: one solve uses all threads. Magnetic permeability, electric permittivity and the Laplace domain are
refused.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import time
from datetime import timedelta
from types import ModuleType
from typing import Any, Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..errors import UnsupportedError

try:
    import emg3d as _emg3d
    import emg3d.simulations as _simulations_of_emg3d
    import emg3d.solver as _solver_of_emg3d
except ImportError as error:
    raise ImportError("terrane.compat.emg3d stands on emg3d: pip install emg3d") from error

Array = NDArray[Any]

#: Options of emg3d's own multigrid.
_STEERING = {"cycle", "nu_init", "nu_pre", "nu_coarse", "nu_post", "clevel", "log", "plain"}
_INTERIOR = {"fx": (slice(None), slice(1, -1), slice(1, -1)), "fy": (slice(1, -1), slice(None), slice(1, -1)),
             "fz": (slice(1, -1), slice(1, -1), slice(None))}


def _conductivities(model: Any) -> list[Array]:
    """[up, north, east] along up, north, east; the last two empty where they are as the first."""
    for name in ("mu_r", "epsilon_r"):
        if getattr(model, name, None) is not None:
            raise UnsupportedError("emg3d", f"the model has {name}, which Terrane leaves out", "Use emg3d itself.")
    along = [model.property_z, model.property_y, model.property_x]
    if along[0] is None and along[1] is None:
        return [_flat(model.map.backward(along[2])), np.empty(0), np.empty(0)]
    return [_flat(model.map.backward(along[2] if p is None else p)) for p in along]


def _flat(values: Any) -> Array:
    """emg3d's [x, y, z] are our [up, north, east] in Fortran order."""
    return np.ascontiguousarray(np.asarray(values).ravel("F"), dtype=float)


def _to_edges(field: Any) -> Array:
    parts = np.concatenate([getattr(field, name)[_INTERIOR[name]].ravel("F") for name in ("fz", "fy", "fx")])
    return np.concatenate([parts.real, parts.imag])


def _from_edges(values: Array, field: Any) -> None:
    count = values.size // 2
    edges = values[:count] + 1j * values[count:]
    at = 0
    for name in ("fz", "fy", "fx"):
        inside = getattr(field, name)[_INTERIOR[name]]
        getattr(field, name)[_INTERIOR[name]] = edges[at:at + inside.size].reshape(inside.shape, order="F")
        at += inside.size


def solve(model: Any, sfield: Any, sslsolver: Any = True, semicoarsening: Any = True, linerelaxation: Any = True,
          verb: int = 1, **kwargs: Any) -> Any:
    """Electric field of a source field, as ``emg3d.solve``.

    model : emg3d.Model, its properties in S/m or what its map makes of them
    sfield : emg3d.Field of ``emg3d.get_source_field``, frequency above zero
    efield : an emg3d.Field to begin with, and to write into; then nothing but the info, if asked for, is returned
    tol : of the residual, relative; 1e-6 as in emg3d
    maxit : iterations at most
    return_info : also return emg3d's dictionary of what happened
    device, threads : of Terrane: "cpu", "cuda"; 0 threads are all

    Returns an emg3d.Field on ``model.grid``. One that did not converge is returned with exit 1, as emg3d does.
    """
    tolerance, most = kwargs.pop("tol", 1e-6), kwargs.pop("maxit", 300)
    efield, return_info = kwargs.pop("efield", None), kwargs.pop("return_info", False)
    returned = efield is None or kwargs.pop("always_return", False)
    device, threads = kwargs.pop("device", "auto"), kwargs.pop("threads", 0)
    for name in kwargs:
        if name not in _STEERING | {"always_return"}:
            raise TypeError(f"solve() got an unexpected keyword argument '{name}'")
    if sfield.frequency is None:
        raise ValueError("Source field is missing frequency information; create it with `emg3d.get_source_field`.")
    if efield is not None and efield.field.dtype != sfield.field.dtype:
        raise ValueError("Source field and electric field must have the same dtype.")
    if not sfield.frequency > 0 or sfield.field.dtype.kind != "c":
        raise UnsupportedError("emg3d", "the source field is in the Laplace domain", "Use emg3d itself.")

    begin = time.perf_counter()
    made = _emg3d.Field(model.grid, frequency=sfield.frequency) if efield is None else efield
    size = float(np.linalg.norm(sfield.field))
    left = sfield
    if np.any(made.field):  # a field to begin with: what it leaves is solved for
        left = _solver_of_emg3d.residual(_emg3d.models.VolumeModel(model, sfield), sfield, made)
    relative, iterations, message = float(np.linalg.norm(left.field)) / size if size > 0 else 0.0, 0, "CONVERGED"
    note = ""
    if size == 0:
        made.field *= 0
        note = "RETURN ZERO E-FIELD (provided sfield is zero)"
    elif left is not sfield and relative <= tolerance:
        note = "NOTHING DONE (provided efield already good enough)"
    else:
        relative, iterations, message = _add_solution(model, left, made, relative, tolerance, most, device, threads)
    seconds = time.perf_counter() - begin
    shown = f"{relative:.1e}; {iterations}; {timedelta(seconds=int(seconds))}; {note or message}"
    log = f":: terrane: {shown}\n"
    if kwargs.get("log", 0) >= 0 and (verb > 0 or verb == 0 and message != "CONVERGED"):
        print(log if verb > 0 else f"* WARNING :: {message}", end="" if verb > 0 else "\n")
    info = {"exit": int(message != "CONVERGED"), "exit_message": message, "abs_error": relative * size,
            "rel_error": relative, "ref_error": size, "tol": tolerance, "it_mg": 0, "it_ssl": iterations,
            "time": seconds, "runtime_at_cycle": np.array([seconds]), "error_at_cycle": np.array([relative * size]),
            "log": log}
    if returned:
        return (made, info) if return_info else made
    return info if return_info else None


def _add_solution(model: Any, left: Any, made: Any, relative: float, tolerance: float, most: int, device: str,
                  threads: int) -> tuple[float, int, str]:
    """Adds what `left` sends to the field: its residual, iterations, and emg3d's message."""
    grid = model.grid
    engine = _core.EdgeSolver(grid.nodes_x, grid.nodes_y, grid.nodes_z, _conductivities(model),
                              float(tolerance / relative), int(most), device, int(threads))
    edges, converged, reason, iterations, residual = engine.solve(float(left.frequency), _to_edges(left))
    more = _emg3d.Field(grid, frequency=left.frequency)
    _from_edges(edges, more)
    made.field += more.field
    if made.frequency is None:
        made._frequency = left._frequency
    messages = {"most iterations": "MAX. ITERATION REACHED, NOT CONVERGED", "stagnated": "STAGNATED"}
    return residual * relative, iterations, "CONVERGED" if converged else messages.get(reason, "DIVERGED")


def solve_source(model: Any, source: Any, frequency: float, **kwargs: Any) -> Any:
    """Electric field of a source, as ``emg3d.solver.solve_source``; further arguments are those of :func:`solve`."""
    with _in_place_of_emg3d():
        return _solver_of_emg3d.solve_source(model, source, frequency, **kwargs)


@contextlib.contextmanager
def _in_place_of_emg3d() -> Iterator[None]:
    """While this lasts, emg3d solves by Terrane: what its simulations call."""
    own = _solver_of_emg3d.solve
    _solver_of_emg3d.solve = solve
    try:
        yield
    finally:
        _solver_of_emg3d.solve = own


def _by_terrane(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call(self: Any, *args: Any, **kwargs: Any) -> Any:
        workers, self.max_workers = self.max_workers, 1  # other processes would not know of the exchange
        try:
            with _in_place_of_emg3d():
                return method(self, *args, **kwargs)
        finally:
            self.max_workers = workers

    return call


class Simulation(_emg3d.Simulation):  # type: ignore[misc]
    """As ``emg3d.Simulation``; its forward and adjoint fields are Terrane's."""

    compute = _by_terrane(_emg3d.Simulation.compute)
    jvec = _by_terrane(_emg3d.Simulation.jvec)
    jtvec = _by_terrane(_emg3d.Simulation.jtvec)
    _bcompute = _by_terrane(_emg3d.Simulation._bcompute)

    @classmethod
    def from_file(cls, fname: Any, name: str = "simulation", **kwargs: Any) -> Any:
        """As ``emg3d.Simulation.from_file``."""
        found = _emg3d.Simulation.from_file(fname, name, **kwargs)
        quiet = isinstance(found, tuple)  # with what would have been printed
        made = cls.from_dict((found[0] if quiet else found).to_dict("all"))
        return (made, found[1]) if quiet else made


class _Part(ModuleType):
    """A module of emg3d with some names that are Terrane's."""

    def __init__(self, theirs: ModuleType, **ours: Any) -> None:
        super().__init__(theirs.__name__, theirs.__doc__)
        self.__dict__.update(ours, _theirs=theirs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.__dict__["_theirs"], name)


solver = _Part(_solver_of_emg3d, solve=solve, solve_source=solve_source)
simulations = _Part(_simulations_of_emg3d, Simulation=Simulation)


def __getattr__(name: str) -> Any:
    if hasattr(_emg3d, name) or name.startswith("__"):
        return getattr(_emg3d, name)
    try:
        return importlib.import_module(f"emg3d.{name}")
    except ImportError:
        raise AttributeError(f"module 'emg3d' has no attribute '{name}'") from None
