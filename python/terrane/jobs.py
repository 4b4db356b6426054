"""Jobs from Python: files, as the terrane command runs them, and tables from memory."""

from __future__ import annotations

import importlib.util
import os
import sys
from os import PathLike
from typing import Any, Mapping, Optional, Sequence, Union, overload

from . import _core
from ._command import find_data
from ._progress import Progress, reporting
from .earth import Earth, Results
from .earth import has_files as earth_has_files
from .earth import job as earth_job
from .errors import InputError, UnsupportedError
from .result import Result
from .simulation import job_of, toml

__all__ = ["check", "check_all", "devices", "run", "run_all"]

Path = Union[str, "PathLike[str]"]
Job = Union[str, "PathLike[str]", Mapping[str, Any]]


def _arguments(settings: Optional[Mapping[str, Any]], arguments: Optional[Mapping[str, Any]], data: Optional[Path],
               output: Optional[Path], threads: Optional[int]) -> tuple[list[str], dict[str, str]]:
    """Keys to set and what stands for ${name}, as the engine takes them."""
    sets = [f"{key}={toml(value)}" for key, value in (settings or {}).items()]
    if threads is not None:
        sets.append(f"simulation.threads={threads}")
    if output is not None:
        sets.append(f"output.folder={toml(os.path.abspath(output))}")
    given = {name: str(value) for name, value in (arguments or {}).items()}
    if data is not None:
        given["data"] = os.path.abspath(data)
    find_data()
    return sets, given


def _jobs(job: Job, settings: Optional[Mapping[str, Any]], arguments: Optional[Mapping[str, Any]],
          data: Optional[Path], output: Optional[Path], threads: Optional[int],
          only: Sequence[str] = ()) -> list[tuple[str, _core.Job]]:
    sets, given = _arguments(settings, arguments, data, output, threads)
    wanted = [only] if isinstance(only, str) else list(only)
    if isinstance(job, Mapping):
        text, contents = job_of(job)
        return _core.jobs_of(text, "", sets, given, contents, wanted)
    return _core.jobs(os.fspath(job), sets, given, wanted)


def _only_one(jobs: list[tuple[str, _core.Job]], instead: str) -> _core.Job:
    if len(jobs) > 1:
        names = ", ".join(name for name, _ in jobs)
        raise UnsupportedError("simulation", f"the job has {len(jobs)} simulations: {names}", f"{instead} takes them.")
    return jobs[0][1]


def _plan(made: _core.Job, files: bool) -> dict[str, Any]:
    warnings = made.check_files(True) if files else []
    plan = made.check()
    plan["warnings"] = [*warnings, *plan["warnings"]]
    return plan


def _has_files(job: Union[Job, Earth], output: Optional[Path]) -> bool:
    """Whether a job asks for files: one from memory does so by its table [output] alone."""
    return not isinstance(job, Mapping) or "output" in job or output is not None


Simulations = Union[Mapping[str, Any], Sequence[Mapping[str, Any]]]


def _with(earth: Earth, simulations: Optional[Simulations]) -> dict[str, Any]:
    if simulations is None:
        raise InputError("simulations", "an earth without any", 'Give a list: [{"physics": "gravity", "survey": ...}].')
    return earth_job(earth, simulations)


def check(job: Job, *, settings: Optional[Mapping[str, Any]] = None, arguments: Optional[Mapping[str, Any]] = None,
          data: Optional[Path] = None, output: Optional[Path] = None, threads: Optional[int] = None) -> dict[str, Any]:
    """Do everything except compute, and say what a run would cost. Arguments as in :func:`run`."""
    made = _only_one(_jobs(job, settings, arguments, data, output, threads), "terrane.check_all")
    return _plan(made, _has_files(job, output))


def check_all(job: Union[Job, Earth], simulations: Optional[Simulations] = None, *, only: Sequence[str] = (),
              settings: Optional[Mapping[str, Any]] = None, arguments: Optional[Mapping[str, Any]] = None,
              data: Optional[Path] = None,
              output: Optional[Path] = None, threads: Optional[int] = None) -> dict[str, dict[str, Any]]:
    """:func:`check` for each simulation of a job that has several, or of an earth, by name. Arguments as in
    :func:`run_all`."""
    files = _has_files(job, output)
    if isinstance(job, Earth):
        files = output is not None or earth_has_files(simulations or [])
        job = _with(job, simulations)
    return {name: _plan(made, files) for name, made in _jobs(job, settings, arguments, data, output, threads, only)}


@overload
def run(job: Job, simulations: None = None, *, settings: Optional[Mapping[str, Any]] = None,
        arguments: Optional[Mapping[str, Any]] = None, data: Optional[Path] = None, output: Optional[Path] = None,
        threads: Optional[int] = None, write: bool = True, plots: bool = True,
        progress: Progress = False) -> Result: ...
@overload
def run(job: Earth, simulations: Simulations, *, settings: Optional[Mapping[str, Any]] = None,
        arguments: Optional[Mapping[str, Any]] = None, data: Optional[Path] = None, output: Optional[Path] = None,
        threads: Optional[int] = None, write: bool = True, plots: bool = True,
        progress: Progress = False) -> Results: ...
def run(job: Union[Job, Earth], simulations: Optional[Simulations] = None, *,
        settings: Optional[Mapping[str, Any]] = None, arguments: Optional[Mapping[str, Any]] = None,
        data: Optional[Path] = None, output: Optional[Path] = None, threads: Optional[int] = None,
        write: bool = True, plots: bool = True, progress: Progress = False) -> Union[Result, Results]:
    """Run a job, write what its [output] asks for, and return the result: ``terrane run`` without its words.

    ``terrane.run(earth, [simulation, ...])`` computes several fields of an :class:`terrane.Earth` and returns them by
    name, as :class:`terrane.Results`.

    Parameters
    ----------
    job : path, or mapping of tables
        The job file (TOML); or its tables as mappings, where ``mesh`` may be a :class:`TensorMesh` or a
        :class:`PrismSet` with properties, ``survey`` a :class:`Survey`, and a table of which there are several a list
        of mappings. Keys whose value is None are left out. Without a table ``output`` nothing is written.
    simulations : list of mappings, with an earth
        Each has the keys of a table [simulation], and its ``survey``, ``source``, ``mesh`` and ``output`` beside them.
    settings : mapping, optional
        Keys of the job to set, such as ``{"survey.height": 500, "simulation.channels": ["all"]}``.
    arguments : mapping, optional
        What stands for ``${name}`` in texts of the file.
    data : path, optional
        What stands for ``${data}``.
    output : path, optional
        Folder for the files, in place of output.folder.
    threads : int, optional
    write, plots : bool
        Whether to write files, and pictures.
    progress : bool or function
        As in :func:`terrane.gravity.forward`.

    Raises
    ------
    InputError
        With file, line and key of what cannot be used.
    FileError, MemoryError

    Examples
    --------
    >>> import terrane
    >>> mesh = terrane.TensorMesh.regular([0, 1000, 0, 1000, -1000, 0], shape=(10, 10, 10))
    >>> mesh.density[4:6, 4:6, 4:6] = 400
    >>> survey = terrane.Survey([500.0], [500.0], [20.0])
    >>> result = terrane.run({"mesh": mesh, "survey": survey, "simulation": {"physics": "gravity"}})
    >>> print(result["g_u"].round(4).values)
    [-0.0789]
    """
    if isinstance(job, Earth):
        write = write and (output is not None or earth_has_files(simulations or []))
        return run_all(_with(job, simulations), settings=settings, arguments=arguments, data=data, output=output,
                       threads=threads, write=write, plots=plots, progress=progress)
    made = _only_one(_jobs(job, settings, arguments, data, output, threads), "terrane.run_all")
    return _run(made, write and _has_files(job, output), plots, progress)


def run_all(job: Job, *, only: Sequence[str] = (), settings: Optional[Mapping[str, Any]] = None,
            arguments: Optional[Mapping[str, Any]] = None, data: Optional[Path] = None,
            output: Optional[Path] = None, threads: Optional[int] = None, write: bool = True, plots: bool = True,
            progress: Progress = False) -> Results:
    """Run every simulation of a job that has several, and return the results by name. All are read, and what they
    write is checked, before the first runs.

    Parameters
    ----------
    only : sequence of str, optional
        Names of the simulations that are wanted; otherwise all.
    job, settings, arguments, data, output, threads, write, plots, progress
        As in :func:`run`.

    Raises
    ------
    InputError
        With file, line and key of what cannot be used.
    FileError, MemoryError
    """
    jobs = _jobs(job, settings, arguments, data, output, threads, only)
    write = write and _has_files(job, output)
    return Results({name: _run(made, write, plots, progress) for name, made in jobs})


def _run(made: _core.Job, write: bool, plots: bool, progress: Progress) -> Result:
    if write:
        plots = plots and bool(made.plots)
        for warning in made.check_files(plots):
            print(f"terrane: warning: {warning}", file=sys.stderr)
        if plots:
            _drawing(_source(made.files))
        made.make_folders(plots)
    with reporting(progress) as report:
        result = Result(made.run(report))
    for warning in result.report["warnings"]:
        text = "".join(c if c.isprintable() or c in "\n\t" else "?" for c in warning)
        print(f"terrane: warning: {text}", file=sys.stderr)
    if write:
        _write(made, result)
        if plots:
            _plot(_source(made.files), made.plots, made.plot_channels)
    return result


def _write(made: _core.Job, result: Result) -> None:
    """Every file, also when another fails; then raises what the first raised."""
    failures: list[Exception] = []
    for paths, write in ((made.files, result._engine.write), (made.model, made.write_model)):
        for path in paths:
            try:
                write(path)
            except Exception as error:
                failures.append(error)
    for later in failures[1:]:
        print(f"terrane: {later}", file=sys.stderr)
    if failures:
        raise failures[0]


def _source(files: Sequence[str]) -> str:
    """The file that plots are drawn from; check_files has seen that there is one."""
    return next((f for f in files if f.endswith(".nc")), "") or next(f for f in files if f.endswith(".csv"))


def _drawing(source: str) -> None:
    for module in ("matplotlib", "numpy", *(["netCDF4"] if source.endswith(".nc") else [])):
        if importlib.util.find_spec(module) is None:
            raise UnsupportedError("output.plots", f"there is no {module}", f"pip install {module}; or plots=False")


def _plot(source: str, plots: Sequence[str], channels: Sequence[str]) -> None:
    from . import plotting

    try:
        for path in plots:
            plotting.save(plotting.draw(plotting.read(source), list(channels)), path, None)
    except plotting.PlotError as error:
        raise UnsupportedError("output.plots", str(error)) from error


def devices() -> list[str]:
    """Devices that this build and this machine have: "cpu", then every GPU as "cuda:0", "cuda:1", ...

    Examples
    --------
    >>> import terrane
    >>> terrane.devices()[0]
    'cpu'
    """
    return _core.devices()
