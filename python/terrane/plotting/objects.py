"""From the objects of Python to what pictures are made of: results, meshes, prisms, surveys, arrays of electrodes, data sets.

What an object is, is seen by what it has: this module imports none of them.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .data import Data, Field, PlotError, need
from .files import READERS, of_columns, read


def data_of(thing) -> Data:
    """What is drawn of an object, or of a file of any format."""
    if isinstance(thing, Data):
        return thing
    if isinstance(thing, (str, os.PathLike)):
        return _of_file(Path(thing))
    if hasattr(thing, "_for_pictures"):
        return thing._for_pictures()
    if hasattr(thing, "data_vars"):  # xarray.Dataset
        return of_dataset(thing)
    if hasattr(thing, "to_dataset") and hasattr(thing, "dims"):  # xarray.DataArray
        return of_dataset(thing.to_dataset(name=thing.name or "values"))
    raise PlotError(f"a {type(thing).__name__} has no picture; results, meshes, prisms, surveys, arrays of electrodes, "
                    "xarray's data sets and files have")


def _of_file(path: Path) -> Data:
    if not path.exists():
        raise PlotError(f"{path}: there is no such file")
    if path.suffix in READERS:
        try:
            return read(path)
        except PlotError:
            if path.suffix != ".csv":
                raise
    from .. import _core  # type: ignore[attr-defined]

    try:
        data = _of_content(_core.read(str(path)), path)
    except Exception as error:
        try:  # instruments and programs of direct current
            data = of_arrays(*_core.read_arrays(str(path)))
        except Exception:
            raise error from None
    data.source = str(path)
    return data


def _of_content(held, path) -> Data:
    """Of what the engine reads from a file."""
    numpy = need("numpy")
    kind = held["kind"]
    if kind == "mesh":
        shape = tuple(held[axis].size - 1 for axis in ("up", "northing", "easting"))
        return of_mesh(held["easting"], held["northing"], held["up"],
                       [(name, unit, numpy.reshape(values, shape)) for name, unit, _, values in held["cells"]])
    if kind == "prisms":
        return of_prisms(numpy.column_stack(held["faces"]), [(n, unit, values) for n, unit, _, values in held["properties"]])
    if kind == "dataset":
        from ..dataset import to_xarray

        return of_dataset(to_xarray(held["dataset"]))
    if kind == "grid":
        shape = (held["northing"].size, held["easting"].size)
        return Data("grid", held["easting"], held["northing"], geographic=held["geographic"],
                    fields=[Field(name, unit, numpy.reshape(values, shape)) for name, unit, _, values in held["fields"]])
    if kind == "table":
        names = next((words for name, words in held["texts"].items() if name in ("station", "site", "name", "ID")), [])
        return of_columns({c[0]: (c[1], c[3]) for c in held["columns"]}, path, names)
    raise PlotError(f"{path}: bare numbers, without places: give them to a TensorMesh, or name the mesh in terrane.read")


def of_dataset(dataset) -> Data:
    """Of an ``xarray.Dataset``, as its file says it."""
    from ..dataset import write_dataset

    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "content.nc")
        write_dataset(dataset, file)
        data = read(file)
    data.source = "the data set"
    return data


def of_mesh(easting, northing, up, fields) -> Data:
    """Cells between faces; fields: (name, unit, values [up, north, east])."""
    return Data("mesh", easting, northing, up, fields=[Field(*f) for f in fields], source="the mesh")


def of_prisms(prisms, fields) -> Data:
    """Prisms [m, 6]: west, east, south, north, bottom, top."""
    data = Data("prisms", prisms[:, :2].mean(axis=1), prisms[:, 2:4].mean(axis=1), fields=[Field(*f) for f in fields],
                source="the prisms")
    data.prisms = prisms
    return data


def of_stations(easting, northing, up, shape, axes, columns, source: str = "the survey") -> Data:
    """Stations [n], of a grid with its axes; columns: (name, unit, values [n])."""
    fields = [Field(name, unit, values.reshape(shape)) for name, unit, values in columns]
    if axes is not None:
        return Data("grid", *axes, fields=fields or [Field("up", "m", up.reshape(shape))], source=source)
    return Data("stations", easting, northing, source=source, fields=[*fields, Field("up", "m", up)])


def of_arrays(electrodes, arrays, columns) -> Data:
    """Arrays of electrodes: [n, 3], and [m, 4] rows of these, −1 far away; columns: {name: (unit, values, errors)}."""
    numpy = need("numpy")
    places = numpy.vstack([electrodes, numpy.full(3, numpy.nan)])[numpy.asarray(arrays)]  # [array, electrode, axis]
    held = {f"{e}_{axis}": ("m", places[:, i, j]) for i, e in enumerate("abmn")
            for j, axis in enumerate(("easting", "northing", "up"))}
    for name, (unit, values, _) in columns.items():
        held[f"{name}_observed"] = (unit, numpy.asarray(values, dtype=float))
    data = of_columns(held, "the arrays")
    data.source = "the arrays"
    return data
