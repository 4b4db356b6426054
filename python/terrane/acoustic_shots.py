"""Shots over machines that come and go: one task each, for Dask or any executor of ``concurrent.futures``.

    from dask.distributed import Client
    images = terrane.acoustic.run_shots("migrate.toml", Client("scheduler:8786"), folder="shots")

There is no scheduler here. A worker that is lost costs the shots that it had, which are sent again; gathers and images
are put together in the order of the shots, whoever computed them and whenever, so their bits do not depend on that.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import time
from os import PathLike
from pathlib import Path
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import jobs
from .dataset import _xarray
from .errors import Error, FileError, InputError
from .simulation import Simulation, job_of, toml

__all__ = ["run_shots"]

Job = Union[str, "PathLike[str]", Mapping[str, Any], Simulation]


def run_shots(job: Job, executor: Any, *, shots: Optional[ArrayLike] = None, retries: int = 2,
              folder: Optional[Union[str, "PathLike[str]"]] = None, settings: Optional[Mapping[str, Any]] = None,
              **more: Any) -> Any:
    """Gathers of all shots, or the image of all, as an ``xarray.Dataset`` like that of :func:`terrane.run`.

    Parameters
    ----------
    job : path, mapping of tables, or Simulation
        With ``physics = "acoustic"``. Files that it names must be where the workers find them, and its mesh must not be
        planned from its shots.
    executor : object with ``submit(function, *arguments)``
        ``dask.distributed.Client``, ``concurrent.futures.ProcessPoolExecutor``, ...
    shots : array [n, 3], optional
        Easting, northing, up, m. By default those of ``source.at``, or of the line ``source.first`` to ``source.last``.
    retries : int
        How often a shot is sent again whose worker was lost. What is wrong with the job ends the run at once, and so
        does a ``ProcessPoolExecutor`` that has lost a process, since it takes nothing more.
    folder : path, optional
        Where every shot is kept as it comes. The same call finds those that are there, and computes the others.
    settings, **more
        As in :func:`terrane.run`: arguments, data, threads.
    """
    if not callable(getattr(executor, "submit", None)):
        raise InputError("executor", f"is {executor!r}, which takes no work",
                         "Give a dask.distributed.Client or an executor of concurrent.futures.")
    job = job.tables() if isinstance(job, Simulation) else job if isinstance(job, Mapping) else os.fspath(job)
    places = _shots_of(job) if shots is None else np.atleast_2d(np.asarray(shots, dtype=float))
    if places.ndim != 2 or places.shape[1] != 3 or len(places) == 0:
        raise InputError("shots", f"have shape {places.shape}", "Expected [n, 3]: easting, northing, up.")
    calls = [_call(job, n, place, len(places), settings, more) for n, place in enumerate(places)]
    jobs.check(*calls[0][:1], **calls[0][1])  # what is wrong with all is said before any is sent
    return _together(in_tasks(calls, executor, retries, folder, "shot"))


def in_tasks(calls: Sequence[Any], executor: Any, retries: int, folder: Optional[Union[str, "PathLike[str]"]],
             kind: str) -> list[Any]:
    """The datasets of all calls, (job, keys of :func:`terrane.run`), in their order; those in the folder are taken."""
    kept = _Kept(folder, kind)
    parts: dict[int, Any] = {n: found for n, call in enumerate(calls) if (found := kept.read(n, call)) is not None}
    waiting = {n: executor.submit(_one, *calls[n]) for n in range(len(calls)) if n not in parts}
    left = dict.fromkeys(waiting, retries)
    try:
        while waiting:
            for n in [n for n, future in waiting.items() if future.done()]:
                try:
                    parts[n] = waiting.pop(n).result()
                except Error:
                    raise
                except Exception:
                    if left[n] == 0:
                        raise
                    left[n] -= 1
                    waiting[n] = executor.submit(_one, *calls[n])
                    continue
                kept.write(n, calls[n], parts[n])
            time.sleep(0.01 if waiting else 0)
    finally:
        for future in waiting.values():  # after an error the others are of no use
            future.cancel()
    return [parts[n] for n in range(len(calls))]


def _one(job: Any, keys: Mapping[str, Any]) -> Any:
    return jobs.run(job, **keys, write=False).dataset


def _call(job: Any, n: int, place: Any, count: int, settings: Optional[Mapping[str, Any]],
          more: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The job of one shot: what _one() takes."""
    at = [[float(x) for x in place]]
    if not isinstance(job, Mapping):
        return job, {**more, "settings": {**(settings or {}), "source.at": at}}
    simulation = dict(job["simulation"])
    observed = simulation.get("observed")
    if isinstance(observed, np.ndarray):
        if len(observed) != count:
            raise InputError("observed", f"has {len(observed)} gathers for {count} shots")
        simulation["observed"] = observed[n:n + 1]
    source = {key: value for key, value in job["source"].items() if key not in ("first", "last", "count")}
    return ({**job, "source": {**source, "at": at}, "simulation": simulation},
            {**more, **({} if settings is None else {"settings": dict(settings)})})


def _shots_of(job: Any) -> Any:
    if isinstance(job, Mapping):
        source = job.get("source", {})
    else:
        try:
            tomllib = importlib.import_module("tomllib")
        except ImportError as error:
            raise InputError("shots", "are not read from job files by this Python",
                             "Give shots=[[east, north, up], …].") from error
        with open(job, "rb") as file:
            source = tomllib.load(file).get("source", {})
    at = source.get("at")
    if at is None and all(key in source for key in ("first", "last", "count")):
        at = np.linspace(source["first"], source["last"], int(source["count"]))
    if at is None:
        raise InputError("job", "has no shots: its table [source] has neither at nor first, last and count",
                         "Give a job with physics = \"acoustic\", or shots=[[east, north, up], …].")
    try:
        return np.atleast_2d(np.asarray(at, dtype=float))
    except (TypeError, ValueError) as error:
        raise InputError("shots", "are not numbers of metres in the table [source]",
                         "Give shots=[[east, north, up], …].") from error


def _together(parts: Sequence[Any]) -> Any:
    """Gathers side by side, or sums of images, in the order of the shots."""
    first = parts[0]
    for part in parts[1:]:
        for name in first.coords:
            if "shot" not in first[name].dims and not np.array_equal(first[name], part[name]):
                raise InputError("mesh", f"{name} differs from shot to shot", "Give the job a mesh of its own.")
    if "shot" in first.dims:
        return _xarray().concat(parts, "shot", data_vars="minimal", coords="minimal", compat="override",
                                join="override")
    sums = first.copy(deep=True)
    for part in parts[1:]:
        for name in sums.data_vars:
            sums[name].values += part[name].values
    if "image_even" in sums:  # as terrane's own, of sums
        light = sums["illumination"].values
        sums["image_even"].values[:] = sums["image"].values / (light + 1e-3 * light.max())
    return sums


class _Kept:
    """Shots in files, which carry the job that they are of."""

    def __init__(self, folder: Optional[Union[str, "PathLike[str]"]], kind: str) -> None:
        self.kind = kind
        self.folder = None if folder is None else Path(folder)
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise FileError(str(self.folder), str(error)) from error

    def _path(self, n: int) -> Path:
        assert self.folder is not None
        return self.folder / f"{self.kind}_{n + 1:05d}.npz"

    def write(self, n: int, call: Any, part: Any) -> None:
        if self.folder is None:
            return
        facts = {name: [list(v.dims), {k: a for k, a in v.attrs.items() if isinstance(a, (str, int, float))}]
                 for name, v in part.variables.items()}
        about = json.dumps({"job": _mark(call), "variables": facts, "coordinates": [str(c) for c in part.coords],
                            "attributes": {k: a for k, a in part.attrs.items() if isinstance(a, (str, int, float))}})
        pending = self._path(n).with_suffix(f".{os.getpid()}.tmp")
        try:
            with open(pending, "wb") as file:
                np.savez(file, about=np.array(about), **{f"v_{name}": v.values for name, v in part.variables.items()})
            os.replace(pending, self._path(n))
        except OSError as error:
            raise FileError(str(self._path(n)), str(error), f"The {self.kind}s that are there are kept.") from error
        finally:
            pending.unlink(missing_ok=True)

    def read(self, n: int, call: Any) -> Any:
        """None: there is none of this job."""
        if self.folder is None or not self._path(n).exists():
            return None
        try:
            with np.load(self._path(n), allow_pickle=False) as file:
                about = json.loads(str(file["about"]))
                if about["job"] != _mark(call):
                    return None
                variables = {name: (dims, file[f"v_{name}"], attributes)
                             for name, (dims, attributes) in about["variables"].items()}
        except (OSError, ValueError, KeyError) as error:
            raise FileError(str(self._path(n)), f"is no {self.kind} that was kept: {error}", "Take it away.") from error
        coordinates = {name: variables.pop(name) for name in about["coordinates"]}
        return _xarray().Dataset(variables, coordinates, about["attributes"])


def _mark(call: Any) -> str:
    """What tells a job and its shot from others: texts and arrays, not the contents of files that it names."""
    job, keys = call
    found = hashlib.sha256(toml({k: v for k, v in keys.get("settings", {}).items()}).encode())
    if isinstance(job, Mapping):
        text, contents = job_of(job)
        found.update(text.encode())
        for name in sorted(contents):
            _hash(found, contents[name])
    else:
        found.update(Path(job).read_bytes())
    for key in sorted(set(keys) - {"settings", "threads"}):
        found.update(repr((key, keys[key])).encode())
    return found.hexdigest()


def _hash(found: Any, value: Any) -> None:
    if isinstance(value, Mapping):
        for key in value:
            found.update(str(key).encode())
            _hash(found, value[key])
    elif isinstance(value, (list, tuple)):
        for one in value:
            _hash(found, one)
    elif isinstance(value, np.ndarray):
        found.update(np.ascontiguousarray(value).tobytes())
    else:
        found.update(repr(value).encode())
