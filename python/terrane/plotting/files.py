"""From the files that Terrane writes to what pictures are made of: NetCDF, HDF5 (models) and CSV."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from .arrays import place_arrays
from .data import Data, Field, PlotError, Snapshots, need


def read(path) -> Data:
    """Read a result or a model: NetCDF, HDF5 (models) or CSV."""
    path = Path(path)
    if path.suffix not in READERS:
        raise PlotError(f"{path}: cannot draw {path.suffix or 'this'}; allowed: {', '.join(READERS)}")
    data = READERS[path.suffix](path)
    data.source = str(path)
    return data


# Horizontal coordinates, those to draw by first: stations may have both metres and degrees.
HORIZONTAL = (("easting", "northing"), ("x", "y"), ("longitude", "latitude"), ("lon", "lat"), ("column_1", "column_2"))
#: What magnetotelluric results and files have.
_SOUNDED = re.compile(r"(rho|phase|z)_[en][en](_observed)?|tipper_[en](_observed)?")


class _File:
    """An open NetCDF file, by what variables are on."""

    def __init__(self, file, path) -> None:
        self.file, self.path, self.names = file, path, list(file.variables)

    def __getitem__(self, name: str):
        """Numbers, with NaN where there are none."""
        numpy = need("numpy")
        return numpy.ma.filled(numpy.ma.asarray(self.file[name][...], dtype=float), numpy.nan)

    def field(self, name: str) -> Field:
        return Field(name, getattr(self.file[name], "units", ""), self[name])

    def on(self, *dims):
        """Names of variables on these dimensions."""
        return [n for n in self.names if self.file[n].dimensions == dims]

    def fields(self, *dims):
        """Variables on these dimensions, complex ones too."""
        made = [self.field(n) for n in self.on(*dims)]
        for n in self.on(*dims, "complex"):
            parts = self[n]
            made.append(Field(n, getattr(self.file[n], "units", ""), parts[..., 0] + 1j * parts[..., 1]))
        return made

    def receivers(self, kind: str, **more) -> Data:
        return Data(kind, *(self[f"receiver_{axis}"] for axis in ("easting", "northing", "up")), **more)


def _read_netcdf(path: Path) -> Data:
    try:
        file = need("netCDF4").Dataset(path)
    except OSError as error:
        raise PlotError(f"{path}: cannot be read as NetCDF ({error.strerror or error})") from error
    with file:
        held = _File(file, path)
        for kind in (_netcdf_of_sites, _netcdf_of_traces, _netcdf_of_offsets, _netcdf_of_histories):
            if (data := kind(held)) is not None:
                return data
        if columns := _rows_of(file, held.names, lambda variable: held[variable.name]):
            return of_columns(columns, path, columns.pop(""))
        return _netcdf_of_places(held)


def _netcdf_of_sites(held: _File):
    fields = held.fields("frequency", "receiver")
    if not any(_SOUNDED.fullmatch(f.name) for f in fields):
        return None
    return Data("curves", held["receiver_easting"], held["receiver_northing"], fields=fields, frequency=held["frequency"],
                names=_words(held.file, "receiver"))


def _netcdf_of_traces(held: _File):
    """Shots, and what receivers recorded; with snapshots where there are any."""
    numpy = need("numpy")
    on = [("shot", "time", "receiver"), ("trace", "time"), ("time", "trace")]
    if traces := [n for n in held.names if held.file[n].dimensions in on]:
        data = _read_gathers(held.file, traces, lambda variable: held[variable.name])
        grid = ("snapshot", "up", "northing", "easting")
        if shown := held.on(*grid):
            data.snapshots = Snapshots(held["snapshot"], {axis: held[axis] for axis in grid[1:]})
            data.snapshots.fields = [Field(n, getattr(held.file[n], "units", ""), numpy.ma.filled(
                numpy.ma.asarray(held.file[n][...], dtype=numpy.float32), numpy.nan)) for n in shown]
        return data
    if held.on("receiver", "component", "time") or held.on("receiver", "time"):
        return _read_seismograms(held.file, held.names, lambda variable: held[variable.name])
    return None


def _netcdf_of_offsets(held: _File):
    fields = held.fields("source", "frequency", "receiver")
    if not any(need("numpy").iscomplexobj(f.values) for f in fields):
        return None
    return held.receivers("offsets", frequency=held["frequency"], fields=fields)


def _netcdf_of_histories(held: _File):
    numpy = need("numpy")
    if not (names := held.on("time", "receiver")):
        return None
    data = held.receivers("histories", time=held["time"], fields=[held.field(n) for n in names])
    if on_cells := held.on("up", "northing", "easting"):
        faces = (_faces(numpy, held.file, n, lambda variable: held[variable.name]) for n in ("easting", "northing", "up"))
        data.cells = Data("mesh", *faces, fields=[held.field(n) for n in on_cells])
    return data


def _netcdf_of_places(held: _File) -> Data:
    """A mesh, a grid or stations."""
    numpy, file, names = need("numpy"), held.file, held.names
    lines = {n.lower(): n for n in names if file[n].ndim == 1}
    east, north = next(((lines[e], lines[n]) for e, n in HORIZONTAL if e in lines and n in lines), (None, None))
    if east is None:
        raise PlotError(f"{held.path}: there is no easting and northing (or longitude and latitude)")
    geographic = "degree" in getattr(file[east], "units", "")
    on_stations = file[east].dimensions == file[north].dimensions
    up = next((n for n in names if n.lower() in {"up", "z"} and file[n].ndim == 1), None)
    cells = [n for n in names if file[n].ndim == 3]
    if cells and not on_stations and up is not None:
        faces = [_faces(numpy, file, n, lambda variable: held[variable.name]) for n in (east, north, up)]
        data = Data("mesh", *faces, geographic=geographic)
        wanted = cells
    else:
        data = Data("stations" if on_stations else "grid", held[east], held[north], geographic=geographic)
        shape = file[east].dimensions if on_stations else (file[north].dimensions + file[east].dimensions)
        wanted = [n for n in held.on(*shape) if n not in (east, north)]
    data.fields = [held.field(n) for n in wanted if numpy.issubdtype(file[n].dtype, numpy.number)]
    return data


def _words(file, dimension: str):
    """Names of what is on a dimension, where the file has them: [] otherwise."""
    for name in ("station", "site", "name", "receiver_name"):
        if name in file.variables and file[name].dtype is str and file[name].dimensions == (dimension,):
            return [str(word) for word in file[name][:]]
    return []


def _rows_of(file, names, array):
    """The columns of a table whose rows are frequencies at sites, or arrays of electrodes; names of the rows at ""."""
    on = {n: file[n].dimensions for n in names}
    sounded = any(_SOUNDED.fullmatch(n.removesuffix("_real")) for n in on)
    if sounded and on.get("frequency", ()) not in ((), ("frequency",)):
        row = on["frequency"]
    elif "a_easting" in on and "easting" not in on:
        row = on["a_easting"]
    else:
        return None
    columns = {n: (getattr(file[n], "units", ""), array(file[n])) for n in names
               if on[n] == row and file[n].dtype is not str}
    return {**columns, "": _words(file, row[0])}


def _read_gathers(file, names, array) -> Data:
    """Traces of shots; of those on one axis "trace", or of one receiver a shot, each shot takes its own."""
    numpy = need("numpy")
    if "time" not in file.variables:
        raise PlotError(f"{file.filepath()}: there is no coordinate time")
    data = Data("gathers", None, None, time=array(file["time"]))
    axes = ("trace",) if "trace" in file[names[0]].dimensions else ("shot", "receiver")
    shape = tuple(file.dimensions[axis].size for axis in axes)

    def of_traces(name, otherwise):
        """A coordinate of each trace, whichever of the axes it is on."""
        if name not in file.variables:
            return numpy.broadcast_to(otherwise, shape)
        on = file[name].dimensions
        if not set(on) <= set(axes):
            raise PlotError(f"{file.filepath()}: {name} is on {', '.join(on)}; allowed: {', '.join(axes)}")
        values = numpy.nan_to_num(array(file[name]).transpose([on.index(axis) for axis in axes if axis in on]))
        return numpy.broadcast_to(values[tuple(slice(None) if axis in on else None for axis in axes)], shape)

    number = of_traces("shot", 1 if axes == ("trace",) else numpy.arange(1, shape[0] + 1)[:, None])
    source = [of_traces(f"source_{axis}", 0) for axis in ("easting", "northing", "up")]
    receiver = [of_traces(f"receiver_{axis}", 0) for axis in ("easting", "northing")]
    together = len(axes) == 1 or shape[1] == 1
    if together:  # the order of the traces may be any: shots are those of one number and one source
        number, *source = (a.ravel() for a in (number, *source))
        receiver = [a.ravel() for a in receiver]
        shot = numpy.unique(numpy.stack([number, *source], axis=1), axis=0, return_inverse=True)[1].ravel()
        parts = numpy.split(numpy.argsort(shot, kind="stable"), numpy.cumsum(numpy.bincount(shot))[:-1])
        stack = len(parts) > 1 and len(parts) == number.size
        parts = [numpy.arange(number.size)] if stack else parts
        firsts = [part[0] for part in parts]
    else:
        stack, parts, firsts = False, range(shape[0]), [(shot, 0) for shot in range(shape[0])]
    data.lines = [line_of(*(a[part] for a in receiver)) for part in parts]
    numbers = [int(number[first]) for first in firsts]
    places = [f" at {source[0][first]:.10g}, {source[1][first]:.10g} m" for first in firsts]
    distinct = len(set(numbers)) == len(numbers)
    data.shots = [f"shot {n}" + ("" if distinct else at) for n, at in zip(numbers, places)]
    if stack:
        data.shots = [f"{number.size} shots of one trace"]
    for name in names:
        values = array(file[name])
        if together:
            values = values[:, :, 0].T if len(axes) == 2 else values if file[name].dimensions[0] == "time" else values.T
            values = [values[:, part] for part in parts]
        data.fields.append(Field(name, getattr(file[name], "units", ""), values))
    return data


def line_of(easting, northing):
    """What receivers are drawn along: the axis on which they are further apart; their numbers at one place."""
    numpy = need("numpy")
    wide = [numpy.ptp(axis) if len(axis) else 0.0 for axis in (easting, northing)]
    if max(wide) == 0 and len(easting) > 1:
        return "trace", numpy.arange(1.0, len(easting) + 1)
    return ("easting (m)", easting) if wide[0] >= wide[1] else ("northing (m)", northing)


def _read_seismograms(file, names, array) -> Data:
    """What receivers recorded, and snapshots if there are any; components become fields of their own."""
    def by_component(name, axis):
        unit, values = getattr(file[name], "units", ""), array(file[name])
        if "component" not in file[name].dimensions:
            return [Field(name, unit, values)]
        return [Field(f"{name}_{component}", unit, values.take(n, axis=axis))
                for n, component in enumerate(file["component"][:])]

    data = Data("seismograms", *(array(file[f"receiver_{axis}"]) for axis in ("easting", "northing", "up")),
                time=array(file["time"]))
    for name in names:
        if file[name].dimensions[:1] == ("receiver",) and file[name].dimensions[-1] == "time":
            data.fields += by_component(name, 1)
        if file[name].dimensions == ("receiver",) and name.startswith("peak_"):
            data.peaks.append(Field(name, getattr(file[name], "units", ""), array(file[name])))
    if "cell_points" in names:
        points = {axis: array(file[f"point_{axis}"]) for axis in ("easting", "northing", "up")}
        data.snapshots = Snapshots(array(file["snapshot"]), points, array(file["cell_points"]).astype(int))
        for name in names:
            if file[name].dimensions[:2] == ("snapshot", "point"):
                data.snapshots.fields += by_component(name, 2)
    return data


def _faces(numpy, file, name, array):
    """Faces of cells from their bounds, or half-way between the centres."""
    centres = array(file[name])
    bounds = getattr(file[name], "bounds", None)
    if bounds in file.variables:
        pairs = array(file[bounds])
        return numpy.append(pairs[:, 0], pairs[-1, 1])
    if centres.size == 1:
        return numpy.array([centres[0] - 0.5, centres[0] + 0.5])
    middle = (centres[1:] + centres[:-1]) / 2
    return numpy.concatenate([[2 * centres[0] - middle[0]], middle, [2 * centres[-1] - middle[-1]]])


def _read_hdf5(path: Path) -> Data:
    numpy = need("numpy")
    h5py = need("h5py")
    try:
        file = h5py.File(path, "r")
    except OSError as error:
        raise PlotError(f"{path}: cannot be read as HDF5") from error
    with file:
        if not {"easting", "northing", "up"} <= set(file):
            raise PlotError(f"{path}: there are no faces easting, northing, up")
        data = Data("mesh", *(numpy.asarray(file[n], dtype=float) for n in ("easting", "northing", "up")))
        shape = (data.up.size - 1, data.northing.size - 1, data.easting.size - 1)
        for name, item in file.items():
            if getattr(item, "shape", None) == shape:
                unit = item.attrs.get("units", "")
                data.fields.append(Field(name, unit.decode() if isinstance(unit, bytes) else str(unit),
                                         numpy.asarray(item, dtype=float)))
    return data


def _read_csv(path: Path) -> Data:
    numpy = need("numpy")
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.reader(line for line in file if not line.startswith("#")) if row]
    if len(rows) < 2:
        raise PlotError(f"{path}: there are no stations")
    columns = {}
    for place, title in enumerate(rows[0]):
        name, unit = re.fullmatch(r"\s*(.*?)\s*(?:[\[(](.*)[\])])?\s*", title).groups()
        try:
            columns[name] = (unit or "", numpy.array([float(row[place] or "nan") for row in rows[1:]]))
        except (ValueError, IndexError):
            continue  # words, or a short row
    return of_columns(columns, path)


def of_columns(columns, path, names=()) -> Data:
    """What a table holds: columns {name: (unit, values [row])}; names of the rows, if there are any."""
    numpy = need("numpy")
    if "frequency" in columns and any(_SOUNDED.fullmatch(n.removesuffix("_real")) for n in columns):
        return _soundings(numpy, columns, names)
    if offsets := _offsets(numpy, columns):
        return offsets
    if "a_easting" in columns and "m_easting" in columns and "easting" not in columns:
        place_arrays(numpy, columns)
    named = {n.lower(): n for n in columns}
    east, north = next(((named[e], named[n]) for e, n in HORIZONTAL if e in named and n in named), (None, None))
    if east is None:
        raise PlotError(f"{path}: there are no columns easting and northing; it has {', '.join(columns) or 'none'}")
    data = Data("stations", columns[east][1], columns[north][1], geographic=east.lower().startswith("lon"))
    data.fields = [Field(n, u, v) for n, (u, v) in columns.items() if n not in (east, north)]
    return data


def _offsets(numpy, columns):
    """Rows of sources, frequencies and receivers, receivers fastest, with columns NAME_real and NAME_imag; or None."""
    names = [n[:-5] for n in columns if n.endswith("_real") and n[:-5] + "_imag" in columns]
    if not names or not {"source", "frequency", "receiver", "receiver_easting", "receiver_northing"} <= set(columns):
        return None
    keys = [numpy.unique(columns[n][1], return_inverse=True) for n in ("source", "frequency", "receiver")]
    shape, at = tuple(len(k[0]) for k in keys), tuple(k[1].ravel() for k in keys)
    data = Data("offsets", numpy.zeros(shape[2]), numpy.zeros(shape[2]), frequency=keys[1][0])
    data.easting[at[2]], data.northing[at[2]] = columns["receiver_easting"][1], columns["receiver_northing"][1]
    for name in names:
        values = numpy.full(shape, numpy.nan, dtype=complex)
        values[at] = columns[name + "_real"][1] + 1j * columns[name + "_imag"][1]
        data.fields.append(Field(name, columns[name + "_real"][0], values))
        if name + "_uncertainty" in columns:
            spread = numpy.full(shape, numpy.nan)
            spread[at] = columns[name + "_uncertainty"][1]
            data.fields.append(Field(name + "_uncertainty", columns[name + "_real"][0], spread))
    return data


def _soundings(numpy, columns, names) -> Data:
    """Rows of sites at frequencies, in any order, as curves; what a site lacks at a frequency is not a number."""
    pairs = [(f"receiver_{e}", f"receiver_{n}") for e, n in HORIZONTAL] + list(HORIZONTAL)
    east, north = next((pair for pair in pairs if set(pair) <= set(columns)), (None, None))
    count = len(columns["frequency"][1])
    place = numpy.zeros((2, count)) if east is None else numpy.nan_to_num([columns[east][1], columns[north][1]])
    word = numpy.unique(numpy.asarray(names, dtype=str), return_inverse=True)[1] if len(names) == count else numpy.zeros(count)
    _, first, site = numpy.unique(numpy.vstack([place, word]), axis=1, return_index=True, return_inverse=True)
    rank = numpy.argsort(numpy.argsort(first, kind="stable"), kind="stable")  # sites in the order of the file
    site, first = rank[site.ravel()], numpy.sort(first)
    frequency, at = numpy.unique(columns["frequency"][1], return_inverse=True)
    data = Data("curves", *place[:, first], frequency=frequency, geographic=bool(east) and "lon" in east,
                names=[names[n] for n in first] if len(names) == count else [])

    def of(values, kind=float):
        made = numpy.full((frequency.size, first.size), numpy.nan, dtype=kind)
        made[at.ravel(), site] = values
        return made

    for name, (unit, values) in columns.items():
        if name.endswith("_real") and name[:-5] + "_imag" in columns:
            data.fields.append(Field(name[:-5], unit, of(values + 1j * columns[name[:-5] + "_imag"][1], complex)))
        elif name not in ("frequency", east, north) and not name.endswith("_imag"):
            data.fields.append(Field(name, unit, of(values)))
    return data


READERS = {".nc": _read_netcdf, ".h5": _read_hdf5, ".hdf5": _read_hdf5, ".csv": _read_csv}
