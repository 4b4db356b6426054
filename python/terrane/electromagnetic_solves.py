"""Sources and frequencies over machines that come and go: one task each, for Dask or any executor.

    from dask.distributed import Client
    fields = terrane.electromagnetic.run_solves("line.toml", Client("scheduler:8786"), folder="solves")

What comes back is put together in the order of the job, whoever computed it and whenever: it has the bits of one run.
"""

from __future__ import annotations

import importlib
import os
from os import PathLike
from typing import Any, Mapping, Optional, Union

import numpy as np

from . import jobs
from .acoustic_shots import in_tasks
from .dataset import _xarray
from .errors import InputError
from .simulation import Simulation

__all__ = ["run_solves"]

Job = Union[str, "PathLike[str]", Mapping[str, Any], Simulation]


def run_solves(job: Job, executor: Any, *, retries: int = 2, folder: Optional[Union[str, "PathLike[str]"]] = None,
               settings: Optional[Mapping[str, Any]] = None, **more: Any) -> Any:
    """Fields of all sources at all frequencies, as an ``xarray.Dataset`` like that of :func:`terrane.run`.

    Parameters
    ----------
    job : path, mapping of tables, or Simulation
        With ``physics = "electromagnetic"``. Files that it names must be where the workers find them. Where meshes are
        planned, each solve has its own (``gridding="both"``). Plane waves have one task for each frequency.
    executor : object with ``submit(function, *arguments)``
        ``dask.distributed.Client``, ``concurrent.futures.ProcessPoolExecutor``, ...
    retries : int
        How often a task is sent again whose worker was lost. What is wrong with the job ends the run at once.
    folder : path, optional
        Where every solve is kept as it comes. The same call finds those that are there, and computes the others.
    settings, **more
        As in :func:`terrane.run`: arguments, data, threads. Settings may not name sources.
    """
    job = job.tables() if isinstance(job, Simulation) else job if isinstance(job, Mapping) else os.fspath(job)
    settings = dict(settings or {})
    if any(key.split(".")[0] == "source" for key in settings):
        raise InputError("settings", "name a source", "Write the sources into the job.")
    tables = job if isinstance(job, Mapping) else _read(job)
    sources = tables.get("source", {})
    sources = [sources] if isinstance(sources, Mapping) else list(sources)
    frequencies = settings.pop("simulation.frequencies", tables.get("simulation", {}).get("frequencies"))
    if any(source.get("kind") == "file" for source in sources):
        raise InputError("source.kind", "sources of a file are no tasks",
                         "Give them one by one, as read_emg3d has them.")
    if not sources or frequencies is None or np.ndim(frequencies) != 1 or len(frequencies) == 0:
        raise InputError("job", "has no sources or no frequencies", "It needs [[source]] and simulation.frequencies.")
    if len({float(hertz) for hertz in frequencies}) < len(frequencies):
        raise InputError("simulation.frequencies", "has one twice")
    _check_meshes(tables, settings, len(sources), len(frequencies))
    calls = [_call(job, source, float(hertz), settings, more) for source in sources for hertz in frequencies]
    jobs.check(calls[0][0], **calls[0][1])  # what is wrong with all is said before any is sent
    parts = in_tasks(calls, executor, retries, folder, "solve")
    each = len(frequencies)
    rows = [_beside(parts[n:n + each], "frequency") for n in range(0, len(parts), each)]
    if len(rows) == 1:
        return rows[0]
    return _beside(rows, "source").assign_coords(source=np.arange(1, len(rows) + 1, dtype=np.int32))


def _check_meshes(tables: Mapping[str, Any], settings: Mapping[str, Any], sources: int, frequencies: int) -> None:
    """Raises InputError where a task would plan a mesh that is not that of one run."""
    mesh = tables.get("mesh", {})
    kind = settings.get("mesh.kind", mesh.get("kind") if isinstance(mesh, Mapping) else "tensor")
    if kind != "planned" and (kind is not None or mesh):
        return
    gridding = settings.get("simulation.gridding", tables["simulation"].get("gridding"))
    if ((sources > 1 and gridding not in ("source", "both"))
            or (frequencies > 1 and gridding not in ("frequency", "both"))):
        raise InputError("simulation.gridding", "each task would plan a mesh of its own",
                         'Take "both" ("frequency" of plane waves), or give the job a mesh.')


def _read(path: str) -> Any:
    try:
        tomllib = importlib.import_module("tomllib")
    except ImportError as error:
        raise InputError("job", "job files are not read by this Python", "Give its tables, or a Simulation.") from error
    with open(path, "rb") as file:
        return tomllib.load(file)


def _call(job: Any, source: Any, hertz: float, settings: Mapping[str, Any],
          more: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The job of one source at one frequency."""
    if not isinstance(job, Mapping):
        return job, {**more, "settings": {**settings, "source": dict(source), "simulation.frequencies": [hertz]}}
    return ({**job, "source": [source], "simulation": {**job["simulation"], "frequencies": [hertz]}},
            {**more, **({"settings": settings} if settings else {})})


def _beside(parts: Any, along: str) -> Any:
    first = parts[0]
    for part in parts[1:]:
        for name in first.coords:
            if along not in first[name].dims and not np.array_equal(first[name], part[name]):
                raise InputError("mesh", f"{name} differs from solve to solve", "Give the job a mesh of its own.")
    return _xarray().concat(parts, along, data_vars="minimal", coords="minimal", compat="override", join="override")
