"""Files of all formats that Terrane knows."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from . import _core
from ._names import Format, SampleName
from .errors import InputError
from .mesh import PrismSet, TensorMesh, say_note
from .survey import Survey

__all__ = ["info", "read", "sample"]


def read(path: Union[str, PathLike[str]], *, format: Optional[Format] = None, **options: str) -> Any:
    """What a file holds: a mesh, prisms, a survey, gathers, a grid or a bare array.

    Parameters
    ----------
    path : path
    format : str, optional
        Where neither its name nor its beginning says it: "segy", "ubc-gravity"; `terrane convert --formats` lists them.
    **options
        ``mesh`` (of a file of cell values), ``unit``, ``length_unit``, ``field``, ``property``, as in ``terrane convert``.

    Returns
    -------
    TensorMesh, PrismSet, Survey, xarray.Dataset (gathers; grids and tables that are no stations) or numpy.ndarray
    """
    held = _core.read(str(path), **({} if format is None else {"format": format}), **options)
    kind = held["kind"]
    if kind == "table" and str(path).endswith(".nc") and (more := _fields_beside(str(path))):
        from .dataset import to_xarray

        return to_xarray(more)
    if kind == "mesh":
        say_note(path, held)
        mesh = TensorMesh(held["easting"], held["northing"], held["up"])
        known = {name for name, *_ in _core.properties()}
        for name, _, _, values in held["cells"]:
            if name in known or len(held["cells"]) == 1:
                mesh[name if name in known else "density"] = values
        return mesh
    if kind == "prisms":
        return PrismSet(np.column_stack(held["faces"]), **{name: values for name, _, _, values in held["properties"]})
    if kind == "dataset":
        from .dataset import to_xarray

        return to_xarray(held["dataset"])
    if kind == "array":
        return held["values"].reshape(held["shape"])
    names = {c[0] for c in held["fields" if kind == "grid" else "columns"]}
    if (kind == "grid" and "up" in names and not held["geographic"]) or {"easting", "northing", "up"} <= names:
        return Survey._from_content(str(path), held)
    import xarray

    attributes = dict(held["attributes"])
    if kind == "grid":
        first, second = ("latitude", "longitude") if held["geographic"] else ("northing", "easting")
        shape = (held["northing"].size, held["easting"].size)
        return xarray.Dataset(
            {name: ((first, second), values.reshape(shape), {"units": unit})
             for name, unit, _, values in held["fields"]},
            coords={first: held["northing"], second: held["easting"]}, attrs=attributes)
    return xarray.Dataset({name: ("row", values, {"units": unit}) for name, unit, _, values in held["columns"]},
                          attrs=attributes)


def _fields_beside(path: str) -> Any:
    """The data set of a NetCDF file that holds more than a table: fields over frequency or time at receivers."""
    held = _core.read_dataset(path)
    return held if any(len(v[1]) > 1 for v in held["variables"]) else None


def info(path: Union[str, PathLike[str]]) -> str:
    """The text of ``terrane info``: shape, units, range, frame, projection, attributes."""
    return _core.describe(str(path))


class Sample(NamedTuple):
    """Files of :func:`sample`."""

    data: "list[Path]"  #: what was measured, with noise
    job: Path  #: the job that inverts it
    truth: Path  #: the job with the earth that it was computed of


def sample(name: SampleName, folder: Optional[Union[str, PathLike[str]]] = None) -> Sample:
    """Sample data by name: computed of a known earth in a second or so, with a job that inverts them.

    As ``terrane new inversion --of NAME -o FOLDER/job.toml`` writes them.

    Parameters
    ----------
    name : {"gravity", "magnetic", "magnetization", "joint", "electric", "electromagnetic", "magnetotelluric", "acoustic", "traveltime"}
        Of what.
    folder : path, optional
        Where to: a new or an empty folder. By default a new folder for temporary files.

    Returns
    -------
    Sample
        Files ``data`` (a list), ``job`` and ``truth``.

    Examples
    --------
    >>> import terrane
    >>> files = terrane.sample("electric")
    >>> files.data[0].name
    'line.ohm'
    >>> bool(terrane.electric.read_arrays(files.data[0]).columns)
    True
    """
    made = Path(tempfile.mkdtemp(prefix="terrane_sample_") if folder is None else folder)
    made.mkdir(parents=True, exist_ok=True)
    job = made / "job.toml"
    there = sorted(made.iterdir())
    if there:
        raise InputError("folder", f"{there[0]} is there", "Name a new or an empty folder.")
    done = subprocess.run([sys.executable, "-m", "terrane._command", "new", "inversion", "--of", str(name), "-o", str(job)],
                          capture_output=True, text=True)
    if done.returncode:
        raise InputError("name", done.stderr.replace("terrane: ", "").strip())
    own = {job, made / "truth.toml"}
    return Sample(sorted(set(made.iterdir()) - own), job, made / "truth.toml")
