"""From the objects of Python to what pictures are made of: results, meshes, prisms, surveys, arrays of electrodes, data sets.

What an object is, is seen by what it has: this module imports none of them.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from .arrays import place_arrays
from .data import Data, Field, PlotError, need
from .files import READERS, read


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
    if path.suffix in READERS:
        return read(path)
    if not path.exists():
        raise PlotError(f"{path}: there is no such file")
    from .. import _core  # type: ignore[attr-defined]

    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "content.nc")
        _core.write(file, _core.read(str(path)))
        data = read(file)
    data.source = str(path)
    return data


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
    """Arrays of electrodes: [n, 3], and [m, 4] rows of these, −1 far away; columns: {name: (unit, values, errors)}.

    Of resistances alone the apparent resistivities are drawn, by the geometric factor of flat ground.
    """
    numpy = need("numpy")
    places = numpy.vstack([electrodes, numpy.full(3, numpy.nan)])[numpy.asarray(arrays)]  # [array, electrode, axis]
    if numpy.isnan(places[..., 2]).any():  # on the ground
        places[..., 2] = numpy.where(numpy.isnan(places[..., 0]), numpy.nan, numpy.nan_to_num(places[..., 2]))
    held = {f"{e}_{axis}": ("m", places[:, i, j]) for i, e in enumerate("abmn")
            for j, axis in enumerate(("easting", "northing", "up"))}
    for name, (unit, values, _) in columns.items():
        held[f"{name}_observed"] = (unit, numpy.asarray(values, dtype=float))
    if "resistance_observed" in held and "apparent_resistivity_observed" not in held:
        held["apparent_resistivity_observed"] = ("ohm m", held["resistance_observed"][1] * _factor(numpy, places))
    place_arrays(numpy, held)
    data = Data("stations", held["easting"][1], held["northing"][1], source="the arrays")
    data.fields = [Field(n, u, v) for n, (u, v) in held.items() if n not in ("easting", "northing")]
    return data


def _factor(numpy, places):
    """Metres by which a resistance [array] is an apparent resistivity: 2π / (1/AM − 1/BM − 1/AN + 1/BN)."""
    def inverse(one, other):
        return numpy.nan_to_num(1 / numpy.sqrt(((places[:, one] - places[:, other]) ** 2).sum(axis=1)))

    with numpy.errstate(divide="ignore", invalid="ignore"):
        return 2 * numpy.pi / (inverse(0, 2) - inverse(1, 2) - inverse(0, 3) + inverse(1, 3))
