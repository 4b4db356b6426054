"""Maps of fields and slices of models, from the files that Terrane writes.

As a script (this is what ``terrane plot`` runs)::

    python plotting.py fields.nc --channels g_u,g_uu --out maps.png
    python plotting.py model.h5 --slice up=-4000
    python plotting.py seismograms.nc --channels snapshot_velocity_up
    python plotting.py seismograms.nc --channels peak_velocity,peak_horizontal_velocity
    python plotting.py gathers.nc --wiggle

From Python::

    from terrane import plotting
    figure = plotting.draw(plotting.read("fields.nc"), ["g_u"])
    figure = plotting.gather(terrane.read("line.segy"), shot=2, kind="wiggle")
"""

from __future__ import annotations

import argparse
import csv
import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

#: Channels of all frames in the order in which they are drawn; others follow in the order of the file.
ORDER = (
    "potential g_e g_n g_u g_z g_ee g_nn g_uu g_zz g_en g_eu g_nu g_ez g_nz "
    "gx gy gz gxx gyy gzz gxy gxz gyz xx yy zz xy xz yz"
).split()
#: Columns that say where a station is, or how it was made, not what its field is.
NOT_DRAWN = {
    "easting", "northing", "up", "longitude", "latitude", "singular", "line", "distance", "height",
    "ellipsoidal_height", "geoid_height", "observed", "normal_gravity", "resistance", "geometric_factor",
    *(f"{electrode}_{axis}" for electrode in "abmn" for axis in ("easting", "northing", "up")),
}


class PlotError(Exception):
    """What the user asked for cannot be drawn; the message says why."""


@dataclass
class Field:
    """One quantity with its unit; values [north, east], [station] or [up, north, east]."""

    name: str
    unit: str
    values: object


@dataclass
class Data:
    """What a file holds: a grid, stations, or cells of a mesh (then the axes are faces).

    Lengths in metres, or degrees when ``geographic``.
    """

    kind: str  # "grid", "stations", "mesh"; "curves" over frequency at sites: values [frequency, site];
    #            "gathers": values [shot][time, receiver], places and names of these in `lines` and `shots`
    #            "seismograms": values [receiver, time]; of `snapshots` [snapshot, point]
    #            "offsets": complex values [source, frequency, receiver] of electromagnetic fields
    #            "histories": values [time, receiver], and `cells`, a mesh at the last time
    easting: object
    northing: object
    up: object = None
    fields: list = field(default_factory=list)
    geographic: bool = False
    source: str = ""
    frequency: object = None  #: Hz, of curves
    time: object = None  #: s, of gathers and seismograms
    snapshots: object = None  #: Snapshots, beside seismograms and gathers
    peaks: list = field(default_factory=list)  #: of seismograms: values [receiver], for a map
    lines: list = field(default_factory=list)  #: of gathers: axis of the receivers' line, and metres [receiver]
    shots: list = field(default_factory=list)  #: of gathers: what shots are called
    cells: object = None  #: Data of a mesh, beside histories


@dataclass
class Snapshots:
    """A field now and then: at points that cells join, quadrilaterals of a surface or bricks; or on a grid."""

    time: object  # [snapshot] s
    points: dict  # easting, northing, up: [point] m; of a grid along its axes
    cells: object = None  # [cell, corner] points; of a grid none
    fields: list = field(default_factory=list)  # values [snapshot, point]; of a grid [snapshot, up, northing, easting]


# -- reading ---------------------------------------------------------------------------------------------------


def read(path) -> Data:
    """Read a result or a model: NetCDF, HDF5 (models) or CSV."""
    path = Path(path)
    readers = {".nc": _read_netcdf, ".h5": _read_hdf5, ".hdf5": _read_hdf5, ".csv": _read_csv}
    if path.suffix not in readers:
        raise PlotError(f"{path}: cannot draw {path.suffix or 'this'}; allowed: {', '.join(readers)}")
    data = readers[path.suffix](path)
    data.source = str(path)
    return data


def _need(module: str):
    try:
        return __import__(module)
    except ImportError as error:
        raise PlotError(
            f"Python ({sys.executable}) has no {module}\n"
            "         Install it: pip install matplotlib numpy netCDF4 h5py"
            " (or apt install python3-matplotlib python3-netcdf4 python3-h5py),\n"
            "         or name another Python with TERRANE_PYTHON."
        ) from error


# Horizontal coordinates, those to draw by first: stations may have both metres and degrees.
_HORIZONTAL = (("easting", "northing"), ("x", "y"), ("longitude", "latitude"), ("lon", "lat"))


#: What magnetotelluric results have.
_SOUNDED = {"rho_en", "rho_ne", "phase_en", "phase_ne", "receiver_easting", "receiver_northing"}


def _read_netcdf(path: Path) -> Data:
    numpy = _need("numpy")
    netcdf = _need("netCDF4")
    try:
        file = netcdf.Dataset(path)
    except OSError as error:
        raise PlotError(f"{path}: cannot be read as NetCDF ({error.strerror or error})") from error
    with file:
        def array(variable):
            return numpy.ma.filled(numpy.ma.asarray(variable[...], dtype=float), numpy.nan)

        names = list(file.variables)
        if _SOUNDED <= set(names) and "frequency" in names:
            data = Data("curves", array(file["receiver_easting"]), array(file["receiver_northing"]),
                        frequency=array(file["frequency"]))
            data.fields = [Field(n, getattr(file[n], "units", ""), array(file[n])) for n in names
                           if file[n].dimensions == ("frequency", "receiver")]
            return data
        if traces := [n for n in names
                      if file[n].dimensions in (("shot", "time", "receiver"), ("trace", "time"), ("time", "trace"))]:
            data = _read_gathers(file, traces, array)
            grid = ("snapshot", "up", "northing", "easting")
            if shown := [n for n in names if file[n].dimensions == grid]:
                data.snapshots = Snapshots(array(file["snapshot"]), {axis: array(file[axis]) for axis in grid[1:]})
                data.snapshots.fields = [Field(n, getattr(file[n], "units", ""), numpy.ma.filled(
                    numpy.ma.asarray(file[n][...], dtype=numpy.float32), numpy.nan)) for n in shown]
            return data
        if any(file[n].dimensions in (("receiver", "component", "time"), ("receiver", "time")) for n in names):
            return _read_seismograms(file, names, array)
        if fields := [n for n in names if file[n].dimensions == ("source", "frequency", "receiver", "complex")]:
            data = Data("offsets", *(array(file[f"receiver_{axis}"]) for axis in ("easting", "northing", "up")),
                        frequency=array(file["frequency"]))
            for n in fields:
                parts = array(file[n])
                data.fields.append(Field(n, getattr(file[n], "units", ""), parts[..., 0] + 1j * parts[..., 1]))
            return data
        if histories := [n for n in names if file[n].dimensions == ("time", "receiver")]:
            data = Data("histories", *(array(file[f"receiver_{axis}"]) for axis in ("easting", "northing", "up")),
                        time=array(file["time"]))
            data.fields = [Field(n, getattr(file[n], "units", ""), array(file[n])) for n in histories]
            if on_cells := [n for n in names if file[n].dimensions == ("up", "northing", "easting")]:
                data.cells = Data("mesh", *(_faces(numpy, file, n, array) for n in ("easting", "northing", "up")))
                data.cells.fields = [Field(n, getattr(file[n], "units", ""), array(file[n])) for n in on_cells]
            return data
        lines = {n.lower(): n for n in names if file[n].ndim == 1}
        east, north = next(((lines[e], lines[n]) for e, n in _HORIZONTAL if e in lines and n in lines), (None, None))
        if east is None:
            raise PlotError(f"{path}: there is no easting and northing (or longitude and latitude)")
        geographic = "degree" in getattr(file[east], "units", "")
        on_stations = file[east].dimensions == file[north].dimensions
        up = next((n for n in names if n.lower() in {"up", "z"} and file[n].ndim == 1), None)
        cells = [n for n in names if file[n].ndim == 3]
        if cells and not on_stations and up is not None:
            faces = [_faces(numpy, file, n, array) for n in (east, north, up)]
            data = Data("mesh", *faces, geographic=geographic)
            wanted = cells
        else:
            data = Data("stations" if on_stations else "grid", array(file[east]), array(file[north]),
                        geographic=geographic)
            shape = file[east].dimensions if on_stations else (file[north].dimensions + file[east].dimensions)
            wanted = [n for n in names if file[n].dimensions == shape and n not in (east, north)]
        for name in wanted:
            if numpy.issubdtype(file[name].dtype, numpy.number):
                data.fields.append(Field(name, getattr(file[name], "units", ""), array(file[name])))
    return data


def _read_gathers(file, names, array) -> Data:
    """Traces of shots; of those on one axis "trace", or of one receiver a shot, each shot takes its own."""
    numpy = _need("numpy")
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
    data.lines = [_line_of(*(a[part] for a in receiver)) for part in parts]
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


def _line_of(easting, northing):
    """What receivers are drawn along: the axis on which they are further apart; their numbers at one place."""
    numpy = _need("numpy")
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
    numpy = _need("numpy")
    h5py = _need("h5py")
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
    numpy = _need("numpy")
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
    if _SOUNDED | {"frequency"} <= set(columns):
        return _curves(numpy, columns)
    if offsets := _offsets(numpy, columns):
        return offsets
    if "a_easting" in columns and "m_easting" in columns and "easting" not in columns:
        _place_arrays(numpy, columns)
    if not {"easting", "northing"} <= set(columns):
        raise PlotError(f"{path}: there are no columns easting and northing")
    data = Data("stations", columns["easting"][1], columns["northing"][1])
    data.fields = [Field(n, u, v) for n, (u, v) in columns.items() if n not in ("easting", "northing")]
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
    return data


def _place_arrays(numpy, columns) -> None:
    """Adds easting, northing and up of each array: its middle, half its widest gap below the electrodes."""
    place = numpy.stack([numpy.stack([columns.get(f"{e}_{axis}", ("", numpy.full(columns["a_easting"][1].size, numpy.nan)))[1]
                                      for axis in ("easting", "northing", "up")]) for e in "abmn"])
    near = numpy.isfinite(place[:, 0])
    middle = numpy.nanmean(place, axis=0)
    along = numpy.sqrt(((place[:, :2] - place[:1, :2]) ** 2).sum(axis=1))
    along = numpy.sort(numpy.where(near, along, numpy.nan), axis=0)
    gaps = numpy.nanmax(numpy.diff(along, axis=0), axis=0)
    for axis, values in zip(("easting", "northing", "up"), (middle[0], middle[1], middle[2] - gaps / 2)):
        columns[axis] = ("m", values)


def _curves(numpy, columns) -> Data:
    """Rows of sites at frequencies, sites fastest, as curves."""
    frequency = columns["frequency"][1]
    sites = int(numpy.argmax(frequency != frequency[0])) or frequency.size
    east, north = (columns[f"receiver_{axis}"][1][:sites] for axis in ("easting", "northing"))
    data = Data("curves", east, north, frequency=frequency[::sites])
    data.fields = [Field(n, u, v.reshape(-1, sites)) for n, (u, v) in columns.items()
                   if n != "frequency" and not n.startswith("receiver_")]
    return data


# -- drawing ---------------------------------------------------------------------------------------------------

#: Millimetres are for printers: a map is 2.3 inches wide whatever it shows, and its text 8 points high.
MAP_WIDTH = 2.3
STYLE = {
    "font.size": 8, "axes.titlesize": 9, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5,
    "ytick.major.size": 2.5, "svg.fonttype": "none", "figure.dpi": 100, "savefig.dpi": 200,
}


@contextmanager
def _style():
    """Our sizes of text and lines while a figure is made; whatever else a notebook sets meanwhile stays as it sets it."""
    import matplotlib

    before = {key: matplotlib.rcParams[key] for key in STYLE}
    matplotlib.rcParams.update(STYLE)
    try:
        yield
    finally:
        matplotlib.rcParams.update(before)


def title_of(name: str) -> str:
    """``g_uu`` as a formula, ``terrain_effect`` as words."""
    if match := re.fullmatch(r"g_?([enuxyz]{1,2})", name):
        return rf"$g_{{{match[1]}}}$"
    if match := re.fullmatch(r"([ehb])_([enu])(_[a-z]+)?", name):  # fields of currents and magnets
        return rf"${match[1].upper()}_{{{match[2]}}}$" + (match[3] or "").replace("_", " ")
    if name == "potential":
        return "potential $V$"
    return name.replace("topography_free", "topography-free").replace("_", " ")


def unit_of(unit: str) -> str:
    """Units with raised exponents: m2/s2 → m²/s²."""
    return re.sub(r"(?<=[a-z])([23])", lambda m: "²³"[int(m[1]) - 2], unit)


@dataclass
class Look:
    """How a picture is to look; what is None is chosen.

    region: west, east, south, north (m), or these with bottom and top; limits: the values at both ends of the colours;
    log: a logarithmic scale, or not; cmap: the name of a colour map of matplotlib.
    """

    region: object = None
    limits: object = None
    log: object = None
    cmap: object = None


#: Drawn on a logarithmic scale where all of it is above zero.
_LOGARITHMIC = ("apparent_resistivity", "resistivity", "conductivity", "permeability_hydraulic")
_SUFFIX = re.compile(r"_(observed|residual|uncertainty)$")


def base_of(name: str) -> str:
    """The field that observed data, residuals and uncertainties are of."""
    return _SUFFIX.sub("", name)


@dataclass
class Scale:
    """Colours for values: yellow is high; red and blue on both sides of zero where there are both signs."""

    norm: object
    cmap: str
    extend: str  # which ends have values beyond the limits
    good: object  # [values] whether the scale has a place for them


def scale_of(values, name: str = "", look: Look = Look(), robust: bool = False, shared=None) -> Scale:
    """The scale of one field.

    ``robust``: scattered stations have outliers; colours then span 99 % of the values. ``shared``: values that decide
    on the limits in place of the field's own.
    """
    from matplotlib.colors import LogNorm, Normalize

    numpy = _need("numpy")
    values = numpy.asarray(values, dtype=float)
    of = values if shared is None else numpy.asarray(shared, dtype=float)
    finite = of[numpy.isfinite(of)]
    logarithmic = look.log
    if logarithmic is None:
        known = base_of(name).split("_east")[0].split("_north")[0].split("_up")[0] in _LOGARITHMIC
        logarithmic = known and not name.endswith(("_residual", "_uncertainty")) and bool((finite > 0).any())
    if logarithmic:
        finite = finite[finite > 0]
    good = numpy.isfinite(values) & ((values > 0) | (not logarithmic))
    if finite.size == 0:
        return Scale(LogNorm(1, 10) if logarithmic else Normalize(0, 1), look.cmap or "viridis", "neither", good)
    low, high = float(finite.min()), float(finite.max())
    shown_low, shown_high = map(float, numpy.percentile(finite, [0.5, 99.5]) if robust else (low, high))
    colours = "viridis"
    if look.limits is not None:
        shown_low, shown_high = map(float, look.limits)
    elif logarithmic:
        if shown_high < 1.02 * shown_low:
            shown_low, shown_high = shown_low / 1.02, shown_high * 1.02
    else:
        largest = max(-shown_low, shown_high)
        if shown_low < -1e-3 * largest and shown_high > 1e-3 * largest:
            largest = max(abs(shown_low), abs(shown_high)) or 1.0
            shown_low, shown_high, colours = -largest, largest, "RdBu_r"
        elif shown_low == shown_high:  # the same everywhere
            half = 0.1 * abs(shown_low) or 0.5
            shown_low, shown_high = shown_low - half, shown_high + half
    if not shown_low < shown_high or (logarithmic and shown_low <= 0):
        raise PlotError(f"limits {shown_low:g}, {shown_high:g}: the first is less than the second"
                        + (", and above zero on a logarithmic scale" if logarithmic else ""))
    tiny = 1e-9 * max(abs(shown_low), abs(shown_high))
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[
        float(values[good].min(initial=shown_low)) < shown_low - tiny,
        float(values[good].max(initial=shown_high)) > shown_high + tiny]
    return Scale((LogNorm if logarithmic else Normalize)(shown_low, shown_high), look.cmap or colours, extend, good)


def choose(data: Data, channels=None) -> list:
    """Fields to draw, in order. Raises PlotError for a name that is not there."""
    there = {f.name: f for f in data.fields}
    if channels:
        for name in channels:
            if name not in there:
                raise PlotError(f"{data.source}: there is no \"{name}\"; it has: {', '.join(there)}")
        return [there[name] for name in channels]
    known = [there[n] for n in ORDER if n in there]
    others = [f for f in data.fields if f.name not in ORDER and base_of(f.name) not in NOT_DRAWN]
    return known + others


def _columns(count: int) -> int:
    """Maps side by side: ten make two rows of five."""
    return {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4, 9: 3, 10: 5}.get(count, 4)


def _lengths(data: Data, *extents):
    """What to divide coordinates by, and what to call them."""
    if data.geographic:
        return 1.0, "longitude (°)", "latitude (°)"
    if max(extents) > 5000:
        return 1e3, "easting (km)", "northing (km)"
    return 1.0, "easting (m)", "northing (m)"


def _plain_ticks(bar, unit: str = "") -> str:
    """Ticks that read 98.5 and 300, never 9.85 × 10¹; returns what stands at the bar: the unit, with a power of ten that
    very large and very small numbers share."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    numpy = _need("numpy")
    norm = bar.mappable.norm
    largest = max(abs(norm.vmin), abs(norm.vmax))
    power = int(numpy.floor(numpy.log10(largest))) if largest > 0 else 0
    power = 0 if -4 < power < 7 or isinstance(norm, LogNorm) else power
    if isinstance(norm, LogNorm) and norm.vmax > 4 * norm.vmin:
        decades = range(int(numpy.floor(numpy.log10(norm.vmin))), int(numpy.ceil(numpy.log10(norm.vmax))) + 1)
        steps = (1, 2, 5) if norm.vmax < 1e3 * norm.vmin else (1, 3) if norm.vmax < 1e4 * norm.vmin else (1,)
        ticks = [m * 10.0**d for d in decades for m in steps]
        bar.locator = FixedLocator([t for t in ticks if norm.vmin * 0.999 <= t <= norm.vmax * 1.001])
    elif isinstance(norm, LogNorm):
        bar.locator = FixedLocator([t for t in MaxNLocator(4).tick_values(norm.vmin, norm.vmax)
                                    if norm.vmin <= t <= norm.vmax])
    else:
        bar.locator = MaxNLocator(5)
    bar.minorlocator = NullLocator()
    bar.formatter = FuncFormatter(lambda value, _: f"{value / 10.0**power:.6g}".replace("-", "\N{MINUS SIGN}"))
    bar.update_ticks()
    return (rf"$10^{{{power}}}$ " if power else "") + unit_of(unit).replace("ohm m", "Ω·m").replace("Ohm.m", "Ω·m")


def _colour_bar(figure, axes, image, unit, extend):
    bar = figure.colorbar(image, cax=axes.inset_axes([1.04, 0, 0.045, 1]), extend=extend, extendfrac=0.03)
    bar.outline.set_linewidth(0.6)
    top = 1.055 if extend in ("max", "both") else 1.02
    bar.ax.set_ylabel(_plain_ticks(bar, unit), rotation=0, ha="left", va="bottom", fontsize=8)
    bar.ax.yaxis.set_label_coords(0.0, top)


def draw(data: Data, channels=None, *, title: str = "", slice_at: str = "", wiggle: bool = False, region=None,
         limits=None, log=None, cmap=None):
    """Draw what a file or a result holds as its field is used to see it; returns a matplotlib figure.

    Maps of fields; pseudosections of arrays of electrodes, measured, computed and misfit; sections of models; apparent
    resistivity and phase of sites; amplitude and phase of electromagnetic fields over the offset; traces of shots;
    seismograms; curves over time; snapshots.

    Parameters
    ----------
    data : what :func:`read` returns
    channels : names of fields; otherwise all, and of a model the answer
    title : line above the maps
    slice_at : where to cut a model or snapshots, such as ``"up=-4000"``, ``"northing=11000"``, ``"easting=0"`` (m)
    wiggle : traces of shots as lines, not grey
    region : west, east, south, north, m, and of models bottom, top; otherwise all, and of models what has small cells
    limits : values at both ends of the colours
    log : whether colours are logarithmic; otherwise those of resistivities are
    cmap : name of a colour map
    """
    _need("matplotlib")
    import matplotlib.pyplot as pyplot

    look = Look(region, limits, log, cmap)
    if region is not None and len(region) not in (4, 6):
        raise PlotError("region: west, east, south, north, and of models bottom and top")
    if wiggle and data.kind != "gathers":
        raise PlotError(f"{data.source}: --wiggle draws traces of shots, and it holds none")
    with _style():
        if data.kind == "mesh":
            return _draw_model(pyplot, data, channels, title, slice_at, look)
        if data.cells is not None and (slice_at or any(f.name in (channels or ()) for f in data.cells.fields)):
            data.cells.source = data.source
            return _draw_model(pyplot, data.cells, channels, title, slice_at, look)
        if data.kind == "seismograms" or (data.snapshots and (slice_at or _named(data, channels))):
            return _draw_waves(pyplot, data, channels, title, slice_at)
        if slice_at:
            raise PlotError(f"{data.source}: only models and snapshots can be cut")
        if data.kind == "curves":
            return _draw_curves(pyplot, data, title)
        if data.kind == "offsets":
            return _draw_offsets(pyplot, data, channels, title)
        if data.kind == "histories":
            return _draw_histories(pyplot, data, choose(data, channels), title)
        if data.kind == "gathers":
            return _draw_gathers(pyplot, data, choose(data, channels)[0], title, "wiggle" if wiggle else "image")
        fields = choose(data, channels)
        if not fields:
            raise PlotError(f"{data.source}: there is nothing to draw")
        if _is_of_arrays(data):
            panels = fields if channels else _panels_of_arrays(data, fields)
            holes = _arrays_in_holes(data)
            return _draw_holes(pyplot, panels[0], holes, title, look) if holes else \
                _draw_pseudosection(pyplot, data, panels, title, look)
        return _draw_maps(pyplot, data, fields, title, look)


def _named(data: Data, channels) -> bool:
    """Whether a snapshot is among the channels that are asked for."""
    return any(f.name in (channels or ()) for f in data.snapshots.fields)


_OF_ARRAYS = ("apparent_resistivity", "chargeability", "phase", "resistance")


def _is_of_arrays(data: Data) -> bool:
    """Arrays of electrodes, drawn where they lie and as deep as they look."""
    names = {f.name for f in data.fields}
    known = _OF_ARRAYS if any(n.startswith(("a_", "m_")) for n in names) else _OF_ARRAYS[:3]
    return data.kind == "stations" and "up" in names and any(base_of(n) in known for n in names)


def _panels_of_arrays(data: Data, fields):
    """Measured and computed, and the misfit in per cent of what was measured, where there are both; else the fields."""
    numpy = _need("numpy")
    there = {f.name: f for f in data.fields}
    for name in _OF_ARRAYS:
        measured, computed = there.get(f"{name}_observed"), there.get(name)
        if measured is None or not numpy.isfinite(measured.values).any():
            continue
        if computed is None:
            return [measured]
        if name == "apparent_resistivity" or name == "resistance":
            with numpy.errstate(divide="ignore", invalid="ignore"):
                misfit = Field(f"{name}_misfit", "%", 100 * (measured.values - computed.values) / measured.values)
        else:
            misfit = Field(f"{name}_misfit", measured.unit, measured.values - computed.values)
        return [measured, computed, misfit]
    shown = [there[name] for name in _OF_ARRAYS if name in there and name != "resistance"] or \
        [f for f in fields if base_of(f.name) in _OF_ARRAYS]
    return shown[:1]


def _lines_of(east, north):
    """The lines on which middles of arrays lie: metres along each of all, and rows of each line, side by side.

    Lines are parallel, so across them there are few places. One line where they are not.
    """
    numpy = _need("numpy")
    centred = numpy.stack([east - east.mean(), north - north.mean()])
    main = numpy.linalg.svd(centred, full_matrices=False)[0][:, 0]
    steps = numpy.diff(centred, axis=1)
    steps = steps[:, numpy.hypot(*steps) > 0]
    ways = [main, numpy.array([1.0, 0]), numpy.array([0, 1.0])]
    if steps.size:  # most arrays stand beside the one before them
        angle = numpy.round(numpy.degrees(numpy.arctan2(steps[1], steps[0])) % 180, 1)
        often = numpy.radians(numpy.bincount((10 * angle).round().astype(int)).argmax() / 10)
        ways.insert(1, numpy.array([numpy.cos(often), numpy.sin(often)]))
    reach = numpy.hypot(*(centred.max(axis=1) - centred.min(axis=1)))
    best = None
    for way in ways:  # across the right one each line is narrow
        across = numpy.array([-way[1], way[0]]) @ centred
        order = numpy.argsort(across, kind="stable")
        lines = numpy.split(order, numpy.flatnonzero(numpy.diff(across[order]) > 0.01 * reach) + 1)
        if any(numpy.ptp(across[line]) > 0.02 * reach for line in lines) or \
                min(line.size for line in lines) < 3 or len(lines) > east.size / 5:
            continue
        if best is None or len(lines) < len(best[1]):
            best = way, lines
    direction, lines = best or (main, [numpy.arange(east.size)])
    # In the direction in which easting grows, or northing where lines run north; from south to north, or west to east.
    direction = direction * (numpy.sign(direction[numpy.argmax(numpy.abs(direction))]) or 1)
    beside = north if abs(direction[0]) > abs(direction[1]) else east
    lines = sorted(lines, key=lambda line: beside[line].mean())
    return direction @ numpy.stack([east, north]), direction, lines


def _arrays_in_holes(data: Data):
    """Where all electrodes are in vertical holes (three depths or more): for each pair of the holes that current enters
    and those between which voltage is measured their name, the arrays, and up of both dipoles' middles. Else nothing.
    """
    numpy = _need("numpy")
    given = {f.name: numpy.asarray(f.values, dtype=float) for f in data.fields}
    names = [f"{electrode}_{axis}" for electrode in "abmn" for axis in ("easting", "northing", "up")]
    if any(name not in given for name in names):
        return []
    place = numpy.stack([given[name] for name in names]).reshape(4, 3, -1)  # [electrode, axis, array]
    near = numpy.isfinite(place[:, 0])  # the others are far away
    holes, hole_of_near = numpy.unique(place[:, :2].transpose(0, 2, 1)[near].round(2), axis=0, return_inverse=True)
    depths = numpy.unique(numpy.stack([hole_of_near.ravel(), place[:, 2][near].round(2)]), axis=1)
    if not holes.size or numpy.bincount(depths[0].astype(int), minlength=len(holes)).min() < 3:
        return []
    hole = numpy.full(near.shape, -1)
    hole[near] = hole_of_near.ravel()
    used = numpy.sort(hole.reshape(2, 2, -1), axis=1).reshape(4, -1)  # of current, of voltage
    middle = numpy.nanmean(place[:, 2].reshape(2, 2, -1), axis=1)

    def name(numbers):
        there = sorted({int(n) + 1 for n in numbers if n >= 0})
        return ("hole " if len(there) == 1 else "holes ") + " and ".join(map(str, there))

    pairs, pair_of = numpy.unique(used, axis=1, return_inverse=True)
    panels = []
    for number, pair in enumerate(pairs.T):
        arrays = numpy.flatnonzero(pair_of.ravel() == number)
        panels.append((f"current in {name(pair[:2])}, voltage in {name(pair[2:])}", arrays,
                       middle[1, arrays], middle[0, arrays]))
    return panels


def _draw_holes(pyplot, shown, panels, title: str, look: Look):
    """Arrays between boreholes, for which no depth stands: where the current enters over where voltage is measured.

    Holes are numbered from west to east. Of many pairs of holes eight are shown.
    """
    numpy = _need("numpy")
    scale = scale_of(shown.values, shown.name, look)
    good = scale.good
    few = [panels[n] for n in numpy.unique(numpy.linspace(0, len(panels) - 1, min(len(panels), 8)).round().astype(int))]
    columns = min(len(few), 2)
    rows = -(-len(few) // columns)
    figure, grid = pyplot.subplots(rows, columns, squeeze=False, sharex=True, sharey=True, layout="constrained",
                                   figsize=(4.2 * columns + 0.6, 3.9 * rows + 0.3))
    size = float(numpy.clip(16000 / max(arrays.size for _, arrays, _, _ in few), 6, 90))
    for axes in grid.flat[len(few):]:
        axes.set_visible(False)
    for place, (axes, (name, arrays, voltage, current)) in enumerate(zip(grid.flat, few)):
        there = good[arrays]
        image = axes.scatter(voltage[there], current[there], c=shown.values[arrays[there]], norm=scale.norm,
                             cmap=scale.cmap, s=size, marker="s", linewidths=0)
        axes.scatter(voltage[~there], current[~there], s=6, color="0.7", marker="x", linewidths=0.6)
        axes.margins(0.06)
        axes.set_aspect("equal", adjustable="box")
        axes.set_title(name, pad=3, fontsize=8, loc="left")
        axes.tick_params(labelbottom=place + columns >= len(few))
    figure.supxlabel("up of the voltage electrodes (m)", fontsize=9)
    figure.supylabel("up of the current electrodes (m)", fontsize=9)
    figure.suptitle(title or title_of(shown.name), fontsize=10)
    bar = figure.colorbar(image, ax=list(grid.flat), pad=0.02, fraction=0.05, extend=scale.extend)
    bar.set_label(_plain_ticks(bar, shown.unit))
    return figure


def _draw_pseudosection(pyplot, data: Data, panels, title: str, look: Look):
    """Each array at its middle and half its widest gap deep; a row for each line, a column for each field.

    Apparent resistivity has a logarithmic scale; what was measured and computed have one scale together. Of many lines
    eight are shown.
    """
    numpy = _need("numpy")
    east, north = numpy.asarray(data.easting), numpy.asarray(data.northing)
    up = next(f.values for f in data.fields if f.name == "up")
    along, direction, lines = _lines_of(east, north)
    if look.region is not None:
        inside = (east >= look.region[0]) & (east <= look.region[1]) & (north >= look.region[2]) & (north <= look.region[3])
        lines = [kept for line in lines if (kept := line[inside[line]]).size]
        if not lines:
            raise PlotError(f"{data.source}: no array has its middle in the region")
    chosen = numpy.unique(numpy.linspace(0, len(lines) - 1, min(len(lines), 8)).round().astype(int))
    stacked = chosen.size == 1  # the fields below each other, so that one sees them beside the line
    rows, columns = (len(panels), 1) if stacked else (chosen.size, len(panels))
    figure, grid = pyplot.subplots(rows, columns, squeeze=False, sharex=True, sharey=True, layout="constrained",
                                   figsize=(6.4 if columns == 1 else 0.8 + 3.6 * columns,
                                            (2.9 if rows == 1 else 0.7 + 1.75 * rows)))
    size = float(numpy.clip(16000 / max(max(lines[n].size for n in chosen), 1), 6, 90 if rows == 1 else 45))
    computed = {f.name: f.values for f in panels}
    for column, shown in enumerate(panels):
        pair = [computed[n] for n in (base_of(shown.name), base_of(shown.name) + "_observed") if n in computed]
        shared = numpy.concatenate(pair) if len(pair) == 2 and shown.name in computed and \
            not shown.name.endswith(("_misfit", "_residual", "_uncertainty")) else None
        one = look if not shown.name.endswith(("_misfit", "_residual", "_uncertainty")) else Look(look.region)
        scale = scale_of(shown.values, shown.name, one, shared=shared, robust=shown.name.endswith("_misfit"))
        for row, number in enumerate(chosen):
            axes = grid[column, 0] if stacked else grid[row, column]
            line = lines[number]
            there, not_there = line[scale.good[line]], line[~scale.good[line]]
            image = axes.scatter(along[there], up[there], c=numpy.asarray(shown.values)[there], norm=scale.norm,
                                 cmap=scale.cmap, s=size, marker="s", linewidths=0)
            axes.scatter(along[not_there], up[not_there], s=6, color="0.7", marker="x", linewidths=0.6)
            axes.margins(0.04, 0.04 if rows == 1 else 0.12)
            if len(lines) > 1:
                beside = f"northing {north[line].mean():.10g} m" if abs(direction[0]) > 0.999 else \
                    f"easting {east[line].mean():.10g} m" if abs(direction[1]) > 0.999 else ""
                text = f"line {number + 1} of {len(lines)}" + (f", {beside}" if beside else "")
                axes.set_title(text.replace("-", "\N{MINUS SIGN}"), pad=3, fontsize=8, loc="left")
        block = [grid[column, 0]] if stacked else list(grid[:, column])
        bar = figure.colorbar(image, ax=block, pad=0.02, fraction=0.05, extend=scale.extend)
        bar.set_label(_plain_ticks(bar, shown.unit))
        if stacked:
            grid[column, 0].set_title(title_of(shown.name), pad=4)
        else:
            grid[0, column].set_title(title_of(shown.name), pad=14)
    name = "pseudo-depth (m)" if numpy.nanmax(up) <= 0 else "elevation at pseudo-depth (m)"
    for axes in grid[-1]:
        axes.set_xlabel("along the line (m)")
    if rows == 1:
        grid[0, 0].set_ylabel(name)
    else:
        figure.supylabel(name, fontsize=8)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _draw_curves(pyplot, data: Data, title: str):
    """Apparent resistivity and phase of the two off-diagonal impedances over the period, a column per site."""
    numpy = _need("numpy")
    there = {f.name: f.values for f in data.fields}
    sites = numpy.asarray(data.easting).size
    shown = numpy.unique(numpy.linspace(0, sites - 1, min(sites, 6)).round().astype(int))
    period = 1 / numpy.asarray(data.frequency)
    order = numpy.argsort(period)
    figure, grid = pyplot.subplots(2, shown.size, squeeze=False, sharex=True, sharey="row", layout="constrained",
                                   height_ratios=(3, 2), figsize=(1.55 * shown.size + 0.7, 3.6))
    # The phase of Z_en lies in the third quadrant: turned by 180° it is drawn beside the other. What was observed has
    # points with error bars, what was computed lines.
    for name, turn, colour, mark in (("ne", 0, "#1f4e79", "o"), ("en", 180, "#b3541e", "s")):
        rho, phase = there[f"rho_{name}"], there[f"phase_{name}"]
        seen = there.get(f"rho_{name}_observed"), there.get(f"phase_{name}_observed")
        spread = there.get(f"rho_{name}_uncertainty"), there.get(f"phase_{name}_uncertainty")
        for column, site in enumerate(shown):
            lone = seen[0] is None
            style = {"color": colour, "marker": mark if lone else None, "markersize": 2.6, "linewidth": 1,
                     "label": f"$Z_{{{name}}}$"}
            grid[0, column].loglog(period[order], rho[order, site], **style)
            grid[1, column].semilogx(period[order], (phase[order, site] + turn + 180) % 360 - 180, **style)
            for row, (values, errors) in enumerate(zip(seen, spread)):
                if values is None:
                    continue
                values = values[order, site] if row == 0 else (values[order, site] + turn + 180) % 360 - 180
                grid[row, column].errorbar(period[order], values, None if errors is None else errors[order, site],
                                           color=colour, fmt=mark, markersize=2.6, elinewidth=0.6, fillstyle="none")
    for column, site in enumerate(shown):
        place = f"{data.easting[site]:.10g}, {data.northing[site]:.10g} m".replace("-", "\N{MINUS SIGN}")
        grid[0, column].set_title(place, pad=4)
        grid[1, column].set_xlabel("period (s)")
        for axes in grid[:, column]:
            axes.grid(linewidth=0.3)
    grid[0, 0].set_ylabel("apparent resistivity (Ω·m)")
    grid[1, 0].set_ylabel("phase (°)")
    grid[0, 0].legend(frameon=False)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _along_of(easting, northing):
    """Where receivers stand along the axis on which they spread more, and what that is called."""
    numpy = _need("numpy")
    east, north = numpy.asarray(easting), numpy.asarray(northing)
    name, along = ("easting", east) if numpy.ptp(east) >= numpy.ptp(north) else ("northing", north)
    return (along / 1e3, f"{name} (km)") if numpy.abs(along).max() > 5000 else (along, f"{name} (m)")


def _draw_offsets(pyplot, data: Data, channels, title: str):
    """Amplitude and phase of electromagnetic fields over the place of the receivers: a column for each component, a colour
    for each frequency; what was observed as points. Of several sources the first; of many frequencies six."""
    numpy = _need("numpy")
    there = {f.name: f for f in data.fields}
    chosen = choose(data, channels) if channels else [f for f in data.fields if f.name == base_of(f.name)] or data.fields
    sizes = {f.name: float(numpy.nanmax(numpy.abs(f.values))) for f in chosen}
    if not channels:  # components that are zero by symmetry say nothing
        most = {kind: max((v for n, v in sizes.items() if n[0] == kind), default=0) for kind in "eh"}
        chosen = [f for f in chosen if sizes[f.name] > 1e-6 * most.get(f.name[0], 0)] or chosen
    along, label = _along_of(data.easting, data.northing)
    order = numpy.argsort(along, kind="stable")
    frequencies = numpy.unique(numpy.linspace(0, len(data.frequency) - 1, min(len(data.frequency), 6)).round().astype(int))
    colours = pyplot.get_cmap("viridis")(numpy.linspace(0, 0.85, frequencies.size))
    figure, grid = pyplot.subplots(2, len(chosen), squeeze=False, sharex=True, sharey="row" if len(chosen) < 2 else False,
                                   layout="constrained", height_ratios=(3, 2), figsize=(2.5 * len(chosen) + 0.8, 4.0))
    for column, shown in enumerate(chosen):
        observed = there.get(f"{shown.name}_observed")
        for colour, n in zip(colours, frequencies):
            values = shown.values[0, n][order]
            few = along.size < 30
            style = {"color": colour, "linewidth": 1, "marker": "o" if few and observed is None else None, "markersize": 2.6}
            grid[0, column].semilogy(along[order], numpy.abs(values), label=f"{data.frequency[n]:g} Hz", **style)
            grid[1, column].plot(along[order], numpy.degrees(numpy.angle(values)), **style)
            if observed is not None:
                seen = observed.values[0, n][order]
                points = {"color": colour, "linewidth": 0, "marker": "o", "markersize": 2.6, "fillstyle": "none"}
                grid[0, column].semilogy(along[order], numpy.abs(seen), **points)
                grid[1, column].plot(along[order], numpy.degrees(numpy.angle(seen)), **points)
        grid[0, column].set_title(f"{title_of(shown.name)} ({unit_of(shown.unit)})", pad=4)
        grid[1, column].set_xlabel(label)
        grid[1, column].set_yticks([-180, -90, 0, 90, 180])
        for axes in grid[:, column]:
            axes.grid(linewidth=0.3)
    grid[0, 0].set_ylabel("amplitude")
    grid[1, 0].set_ylabel("phase (°)")
    grid[0, -1].legend(frameon=False)
    sources = chosen[0].values.shape[0]
    text = title + (f"{', ' if title else ''}source 1 of {sources}" if sources > 1 else "")
    if text:
        figure.suptitle(text, fontsize=10)
    return figure


def _draw_histories(pyplot, data: Data, fields, title: str):
    """A curve over time for each receiver; of many receivers eight."""
    numpy = _need("numpy")
    time = numpy.asarray(data.time)
    for unit, seconds in (("million years", 3.15576e13), ("years", 3.15576e7), ("days", 86400.0), ("h", 3600.0), ("s", 1.0)):
        if time[-1] >= 3 * seconds or unit == "s":
            break
    receivers = numpy.asarray(data.easting).size
    chosen = numpy.unique(numpy.linspace(0, receivers - 1, min(receivers, 8)).round().astype(int))
    figure, grid = pyplot.subplots(len(fields), 1, squeeze=False, sharex=True, layout="constrained",
                                   figsize=(5.6, 2.6 * len(fields) + 0.4))
    for axes, shown in zip(grid[:, 0], fields):
        for n in chosen:
            place = f"{data.easting[n]:.10g}, {data.northing[n]:.10g}, {data.up[n]:.10g} m".replace("-", "\N{MINUS SIGN}")
            axes.plot(time / seconds, shown.values[:, n], linewidth=1.2, label=place)
        axes.set_ylabel(f"{title_of(shown.name)} ({unit_of(shown.unit)})")
        axes.grid(linewidth=0.3)
    grid[-1, 0].set_xlabel(f"time ({unit})")
    grid[0, 0].legend(frameon=False, title="easting, northing, up", title_fontsize=7, fontsize=7)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


# -- waves -----------------------------------------------------------------------------------------------------


#: Traces beside each other that are still told apart as lines.
_MOST_WIGGLES = 60


def _draw_gathers(pyplot, data: Data, shown, title: str, kind: str):
    """The first, the last and two shots between them, side by side."""
    numpy = _need("numpy")
    shots = len(shown.values)
    chosen = numpy.unique(numpy.linspace(0, shots - 1, min(shots, 4)).round().astype(int))
    figure, grid = pyplot.subplots(1, chosen.size, squeeze=False, sharey=True, layout="constrained",
                                   figsize=(max(2.1 * chosen.size, 3.7) + 0.7, 3.4))
    for axes, shot in zip(grid[0], chosen):
        along, places = data.lines[shot]
        every = 1 if kind == "image" else -(-len(places) // _MOST_WIGGLES)
        order = numpy.argsort(places, kind="stable")[::every]
        _traces(axes, shown.values[shot][:, order], places[order], data.time, kind, 99.0)
        axes.set_xlabel(along)
        axes.set_title(data.shots[shot] + (f", one trace in {every}" if every > 1 else ""), pad=4)
    grid[0, 0].set_ylabel("time (s)")
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _traces(axes, values, along, time, kind: str, clip: float, most: float = 0.0):
    """Traces [time, receiver] into axes, time downward. most: what is as wide as traces are apart, or by ``clip``."""
    numpy = _need("numpy")
    values, along, time = (numpy.asarray(a, dtype=float) for a in (values, along, time))
    order = numpy.argsort(along, kind="stable")
    values, along = values[:, order], along[order]
    most = most or float(numpy.percentile(numpy.abs(values), clip)) or float(numpy.abs(values).max()) or 1.0
    # Receivers of a grid stand beside each other, but for rounding: what counts is how far its columns are apart.
    steps = numpy.diff(along)
    further = steps > 1e-6 * numpy.ptp(along)
    apart = float(numpy.median(steps[further])) if further.any() else 1.0
    if kind == "image":
        _grey(axes, values, along, numpy.flatnonzero(further) + 1, apart, time, most)
    elif kind == "wiggle":
        for trace, at in zip(values.T, along):
            line = at + apart * numpy.clip(trace / most, -1.5, 1.5)
            axes.plot(line, time, color="black", linewidth=0.4)
            axes.fill_betweenx(time, at, line, where=line > at, color="black", linewidth=0, interpolate=True)
        axes.set_xlim(along[0] - 1.5 * apart, along[-1] + 1.5 * apart)
        axes.set_ylim(time[-1], time[0])
    else:
        raise PlotError(f'kind "{kind}" is not known; allowed: image, wiggle')
    axes.set_xlabel("easting (m)")


def _grey(axes, values, along, starts, apart, time, most: float):
    """Traces as columns that meet half way, but for gaps; those at one place beside each other, evenly.

    starts: traces that stand further along than the one before; apart: how far such places are from each other.
    """
    numpy = _need("numpy")
    first = numpy.concatenate([[0], starts, [along.size]]).astype(int)
    places = along[first[:-1]]
    half = numpy.where(numpy.diff(places) > 1.5 * apart, apart, numpy.diff(places)) / 2
    left = places - numpy.append(apart / 2, half)
    right = places + numpy.append(half, apart / 2)
    edges, columns = [left[0]], []
    for n, (begin, end) in enumerate(zip(first, first[1:])):
        if left[n] - edges[-1] > 1e-6 * apart:  # a gap
            edges.append(left[n])
            columns.append(numpy.full((len(time), 1), numpy.nan))
        edges.extend(numpy.linspace(left[n], right[n], end - begin + 1)[1:])
        columns.append(values[:, begin:end])
    shades = {"cmap": "gray", "vmin": -most, "vmax": most}
    whole = len(columns) == places.size
    if whole and numpy.abs(edges - numpy.linspace(edges[0], edges[-1], len(edges))).max() <= apart / 4:
        axes.imshow(numpy.hstack(columns), aspect="auto", interpolation="bilinear",
                    extent=(edges[0], edges[-1], time[-1], time[0]), **shades)
    else:
        axes.pcolorfast(edges, numpy.linspace(time[0], time[-1], len(time) + 1), numpy.ma.masked_invalid(
            numpy.hstack(columns)), **shades)
        axes.set_ylim(time[-1], time[0])


def _draw_waves(pyplot, data: Data, channels, title: str, slice_at: str):
    """Seismograms as a record section; snapshots, or a map of the largest motion, where their channels are asked for."""
    snapshots = data.snapshots
    of_snapshots = {f.name: f for f in snapshots.fields} if snapshots else {}
    if not channels and slice_at and of_snapshots:
        channels = [next((n for n in of_snapshots if n.endswith("_up")), next(iter(of_snapshots)))]
    peaks = {f.name: f for f in data.peaks}
    if channels and all(name in peaks for name in channels) and not slice_at:
        places = Data("stations", data.easting, data.northing, source=data.source)
        return _draw_maps(pyplot, places, [peaks[name] for name in channels], title)
    there = [f.name for f in data.fields] + list(of_snapshots) + list(peaks)
    for name in channels or ():
        if name not in there:
            raise PlotError(f"{data.source}: there is no \"{name}\"; it has: {', '.join(there)}")
    asked = [name for name in channels or () if name in of_snapshots]
    if asked and len(channels) > 1:
        raise PlotError(f'--channels {",".join(channels)}: "{asked[0]}" is a snapshot, which has a figure of its own; '
                        "name it alone")
    if apart := [name for name in channels or () if name in peaks]:
        raise PlotError(f'--channels {",".join(channels)}: "{apart[0]}" is drawn as a map, and traces are not; '
                        "name maps alone")
    if asked:
        return _draw_snapshots(pyplot, data, of_snapshots[asked[0]], title, slice_at)
    if slice_at and of_snapshots:
        raise PlotError(f"--slice {slice_at}: {', '.join(channels)} are traces, which cannot be cut; "
                        f"cut one of the snapshots: {', '.join(of_snapshots)}")
    if slice_at:
        raise PlotError(f"{data.source}: only models and snapshots can be cut, and it has no snapshots")
    return _draw_record_section(pyplot, data, choose(data, channels), title)


def _draw_record_section(pyplot, data: Data, fields, title: str):
    """Each trace where its receiver is: along the axis that the receivers spread most. One scale for all."""
    numpy = _need("numpy")
    clip = 99.0  # percentile of the amplitudes
    most = max(float(numpy.percentile(numpy.abs(f.values), clip)) for f in fields)
    places = {"easting": data.easting, "northing": data.northing, "up": data.up}
    axis = max(places, key=lambda name: float(numpy.ptp(places[name])))
    along = places[axis]
    scale, unit = (1e3, "km") if numpy.abs(along).max() > 5000 else (1.0, "m")
    figure, grid = pyplot.subplots(1, len(fields), squeeze=False, sharex=True, sharey=True, layout="constrained",
                                   figsize=(2.6 * len(fields) + 0.7, 3.8))
    for axes, shown in zip(grid[0], fields):
        _traces(axes, shown.values.T, along / scale, data.time, "wiggle", clip, most)
        axes.set_title(title_of(shown.name), pad=4)
        axes.set_xlabel(f"{axis} ({unit})")
    grid[0, 0].set_ylabel("time (s)")
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


@dataclass
class _Seen:
    """Snapshots of the ground, or of a cut through bricks, as triangles in a plane; lengths in ``unit``."""

    x: object
    y: object
    triangles: object
    values: object  # [snapshot, point]
    labels: tuple
    name: str
    tall: float  # height over width

    def draw(self, axes, values, most):
        axes.set_aspect("equal")
        return axes.tripcolor(self.x, self.y, self.triangles, values, cmap="RdBu_r", vmin=-most, vmax=most,
                              shading="gouraud", rasterized=True)


@dataclass
class _SeenGrid:
    """A plane of a grid; lengths in ``unit``."""

    x: object
    y: object
    values: object  # [snapshot, y, x]
    labels: tuple
    name: str
    tall: float

    def draw(self, axes, values, most):
        ends = []
        for along in (self.x, self.y):  # halfway beyond the outermost nodes; those of one node are as wide as tall
            half = (along[-1] - along[0]) / (2 * (len(along) - 1)) if len(along) > 1 else 0.5
            ends += [along[0] - half, along[-1] + half]
        return axes.imshow(values, extent=ends, origin="lower", aspect="equal", cmap="RdBu_r", vmin=-most, vmax=most,
                           interpolation="bilinear", rasterized=True)


def _plane(points, values, slice_at: str, what: str):
    """The nodes nearest to a cut [snapshot, y, x] of values [snapshot, up, northing, easting]; axes, what they are."""
    numpy = _need("numpy")
    order = ("up", "northing", "easting")
    axis, position = _cut_asked_for(slice_at) if slice_at else _middle(points)
    along = points[axis]
    half = float(along[1] - along[0]) / 2 if len(along) > 1 else numpy.inf
    if not along[0] - half <= position <= along[-1] + half:
        raise PlotError(f"--slice {slice_at}: {what} reach from {along[0]:g} to {along[-1]:g} m")
    nearest = int(numpy.argmin(numpy.abs(along - position)))
    across = tuple(a for a in ("easting", "northing", "up") if a != axis)
    flat = len(along) == 1 and not slice_at
    where = "" if flat else f" at {axis} = {along[nearest]:.4g} m".replace("-", "\N{MINUS SIGN}")
    return values.take(nearest, axis=1 + order.index(axis)), across, where


def _seen(data: Data, shown, slice_at: str):
    numpy = _need("numpy")
    snapshots = data.snapshots
    points = snapshots.points
    if snapshots.cells is None:
        values, across, where = _plane(points, shown.values, slice_at, "the snapshots")
        x, y = (points[a] for a in across)
        scale, unit = (1e3, "km") if max(numpy.ptp(x), numpy.ptp(y)) > 5000 else (1.0, "m")
        return _SeenGrid(x / scale, y / scale, values, tuple(f"{a} ({unit})" for a in across),
                         title_of(shown.name.removeprefix("snapshot_")) + where,
                         float(numpy.clip(numpy.ptp(y) / (numpy.ptp(x) or 1.0), 0.3, 1.6)))
    if snapshots.cells.shape[1] == 4:
        if slice_at:
            raise PlotError(f"{data.source}: the snapshots show the surface, which cannot be cut")
        across, where = ("easting", "northing"), ""
        x, y = points["easting"], points["northing"]
        triangles = snapshots.cells[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
        values = shown.values
    else:
        axis, position = _cut_asked_for(slice_at) if slice_at else _middle(points)
        if not points[axis].min() <= position <= points[axis].max():
            raise PlotError(f"--slice {slice_at}: the snapshots reach from {points[axis].min():g} to "
                            f"{points[axis].max():g} m")
        across = tuple(a for a in ("easting", "northing", "up") if a != axis)
        ends, share, triangles = _cut_bricks(snapshots.cells, points[axis], position)

        def on_cut(v):
            return v[..., ends[:, 0]] * (1 - share) + v[..., ends[:, 1]] * share

        x, y, values = on_cut(points[across[0]]), on_cut(points[across[1]]), on_cut(shown.values)
        where = f" at {axis} = {position:.4g} m".replace("-", "\N{MINUS SIGN}")
    scale, unit = (1e3, "km") if max(numpy.ptp(x), numpy.ptp(y)) > 5000 else (1.0, "m")
    return _Seen(x / scale, y / scale, triangles, values, tuple(f"{a} ({unit})" for a in across),
                 title_of(shown.name.removeprefix("snapshot_")) + where,
                 float(numpy.clip(numpy.ptp(y) / (numpy.ptp(x) or 1.0), 0.3, 1.6)))


def _draw_snapshots(pyplot, data: Data, shown, title: str, slice_at: str):
    """Four snapshots, evenly chosen, of the ground, or of a cut through bricks. One scale for all."""
    numpy = _need("numpy")
    seen = _seen(data, shown, slice_at)
    count = min(len(seen.values), 4)
    chosen = ((numpy.arange(count) + 0.5) * len(seen.values) / count).astype(int)
    most = float(numpy.percentile(numpy.abs(seen.values[chosen]), 99.7)) or 1.0
    columns = 2 if chosen.size > 1 else 1
    rows = -(-chosen.size // columns)
    figure, grid = pyplot.subplots(rows, columns, squeeze=False, sharex=True, sharey=True, layout="constrained",
                                   figsize=(columns * 3.0 + 1.0, rows * (2.6 * seen.tall + 0.35) + 0.6))
    for place, axes in enumerate(grid.flat):
        if place >= chosen.size:
            axes.set_visible(False)
            continue
        image = seen.draw(axes, seen.values[chosen[place]], most)
        axes.set_title(f"{data.snapshots.time[chosen[place]]:.4g} s", pad=4)
        if place + columns >= chosen.size:
            axes.set_xlabel(seen.labels[0])
        if place % columns == 0:
            axes.set_ylabel(seen.labels[1])
    figure.colorbar(image, ax=grid, shrink=0.7, extend="both").set_label(unit_of(shown.unit))
    figure.suptitle(f"{title} · {seen.name}" if title else seen.name, fontsize=10)
    return figure


def film(data: Data, path, channel: str = "", *, title: str = "", slice_at: str = "", frames_per_second: int = 12,
         dpi: int = 100) -> None:
    """Write all snapshots of elastic or acoustic waves as a GIF, or as an MP4 where ffmpeg is installed.

    Parameters
    ----------
    data : what :func:`read` returns of a result with snapshots
    path : .gif or .mp4; the file appears whole or not at all
    channel : as ``"snapshot_velocity_east"``; otherwise the upward one, or the first
    title, slice_at : as of :func:`draw`
    """
    matplotlib = _need("matplotlib")
    numpy = _need("numpy")
    import matplotlib.pyplot as pyplot

    there = {f.name: f for f in data.snapshots.fields} if data.snapshots else {}
    if not there:
        raise PlotError(f"{data.source}: a film is made of snapshots, and there are none")
    if channel and channel not in there:
        raise PlotError(f"--channels {channel}: a film shows one of {', '.join(there)}")
    shown = there[channel] if channel else next((f for n, f in there.items() if n.endswith("_up")), next(iter(there.values())))
    with _style():
        seen = _seen(data, shown, slice_at)
        most = float(numpy.percentile(numpy.abs(seen.values), 99.7)) or 1.0
        figure, axes = pyplot.subplots(layout="constrained", figsize=(5.6, 4.6 * seen.tall + 0.8))
        image = seen.draw(axes, seen.values[0], most)
        axes.set(xlabel=seen.labels[0], ylabel=seen.labels[1])
        figure.colorbar(image, ax=axes, shrink=0.8, extend="both").set_label(unit_of(shown.unit))
        figure.suptitle(f"{title} · {seen.name}" if title else seen.name, fontsize=10)

        def frame(n):
            image.set_array(seen.values[n])
            axes.set_title(f"{data.snapshots.time[n]:.3f} s", pad=4)
            return (image,)

        _animate(figure, frame, len(seen.values), path, frames_per_second, dpi)


def _middle(points):
    """The cut that shows most: across a side of one node, else upright, across the shorter horizontal side."""
    numpy = _need("numpy")
    axis = min(("easting", "northing"), key=lambda a: float(numpy.ptp(points[a])))
    if numpy.ptp(points["up"]) == 0 < numpy.ptp(points[axis]):
        axis = "up"
    return axis, float(points[axis].min() + points[axis].max()) / 2


#: A brick with corners in VTK's order as six tetrahedra around its diagonal.
_TETRAHEDRA = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))


def _cut_bricks(cells, along, position):
    """Triangles in which the plane ``along == position`` cuts bricks.

    Returns what their corners are: edges between two points [corner, 2], how far along each [corner], and the
    triangles [triangle, 3] of these corners. Bricks that only touch the plane count on its lower side.
    """
    numpy = _need("numpy")
    above = along > position
    if not above.any():  # the top of everything
        above = along >= position
    crossed = above[cells].any(axis=1) & ~above[cells].all(axis=1)
    tetrahedra = cells[crossed][:, _TETRAHEDRA].reshape(-1, 4)
    # Those above first: one, two or three of the four; the cut is a triangle, or two.
    order = numpy.argsort(~above[tetrahedra], axis=1, kind="stable")
    tetrahedra = numpy.take_along_axis(tetrahedra, order, axis=1)
    count = above[tetrahedra].sum(axis=1)
    corners = []
    for number, edges in ((1, ((0, 1), (0, 2), (0, 3))), (3, ((0, 3), (1, 3), (2, 3))),
                          (2, ((0, 2), (0, 3), (1, 3))), (2, ((0, 2), (1, 3), (1, 2)))):
        corners.append(tetrahedra[count == number][:, edges].reshape(-1, 2))
    ends, triangles = numpy.unique(numpy.concatenate(corners), axis=0, return_inverse=True)
    share = (position - along[ends[:, 0]]) / (along[ends[:, 1]] - along[ends[:, 0]])
    return ends, share, triangles.reshape(-1, 3)


def gather(dataset, shot: int = 0, *, kind: str = "image", variable: str = "", clip: float = 99.0, title: str = ""):
    """One shot's traces over the receivers' easting; returns a matplotlib figure.

    Parameters
    ----------
    dataset : xarray.Dataset
        On shot, time and receiver, or on trace and time: what ``terrane.read`` gives of SEG-Y, SU, RSF and NetCDF.
    shot : int
        Counted from 0; without effect where the data are on traces.
    kind : {"image", "wiggle"}
    variable : str
        By default the first on time.
    clip : float
        Percentile of the amplitudes that is black or white, or a wiggle as wide as traces are apart.
    """
    matplotlib = _need("matplotlib")
    import matplotlib.pyplot as pyplot

    timed = [n for n, v in dataset.data_vars.items() if "time" in v.dims]
    if not timed or (variable and variable not in timed):
        raise PlotError(f"the data hold no {variable or 'variable'} on time; there are: {', '.join(timed) or 'none'}")
    name = variable or timed[0]
    shots = dataset.sizes.get("shot", 0)
    if shots and not 0 <= shot < shots:
        raise PlotError(f"shot {shot} is not there; allowed: 0 to {shots - 1}")
    part = dataset.isel(shot=shot) if shots else dataset
    traces = part[name].transpose("time", ...)
    with _style():
        figure, axes = pyplot.subplots(figsize=(4.4, 3.8), layout="constrained")
        _traces(axes, traces.values, part["receiver_easting"].values, part["time"].values, kind, clip)
        axes.set_ylabel("time (s)")
        axes.set_title(title or f"shot {shot + 1}", pad=4)
    return figure


def image(picture, velocity=None, *, clip: float = 99.0, top: float = 0.0, title: str = ""):
    """A migrated image, grey, over the velocities it was migrated with; returns a matplotlib figure.

    Parameters
    ----------
    picture : xarray.DataArray [up, northing, easting]
        The first slice along northing is drawn.
    velocity : array of the same shape, optional
        m/s, in colours below the image.
    clip : float
        Percentile of the amplitudes that is black or white.
    top : float
        Metres below the highest cell that the percentile leaves out: where shots were, images are loudest.
    """
    matplotlib = _need("matplotlib")
    numpy = _need("numpy")
    import matplotlib.pyplot as pyplot

    if set(getattr(picture, "dims", ())) != {"up", "northing", "easting"}:
        raise PlotError("an image on up, northing and easting is drawn, such as result[\"image_filtered\"]")
    values = numpy.asarray(picture.isel(northing=0).transpose("up", "easting"))
    up, easting = numpy.asarray(picture["up"]), numpy.asarray(picture["easting"])
    if up[0] < up[-1]:
        values, up = values[::-1], up[::-1]
    extent = (easting[0], easting[-1], up[-1], up[0])
    most = float(numpy.percentile(numpy.abs(values[up < up[0] - top]), clip)) or 1.0
    with _style():
        figure, axes = pyplot.subplots(figsize=(6.6, 2.9), layout="constrained")
        if velocity is not None:
            rock = numpy.asarray(velocity, dtype=float).reshape(picture.shape)
            rock = rock[:, 0, :] if float(picture["up"][0]) > float(picture["up"][-1]) else rock[::-1, 0, :]
            shown = axes.imshow(rock, extent=extent, aspect="auto", cmap="viridis")
            figure.colorbar(shown, ax=axes, pad=0.02, label="velocity (m/s)")
        axes.imshow(values, extent=extent, aspect="auto", cmap="gray", vmin=-most, vmax=most,
                    alpha=None if velocity is None else 0.6)
        axes.set(xlabel="easting (m)", ylabel="up (m)", title=title)
    return figure


def angle_gather(gathers, easting: float, *, clip: float = 99.5, title: str = ""):
    """The image below one place by angle: flat where the velocity is right; returns a matplotlib figure.

    Parameters
    ----------
    gathers : xarray.DataArray [angle, up, northing, easting]
        Of ``terrane.acoustic.angle_gathers``; the first slice along northing is drawn.
    easting : float
        m; the nearest column is drawn.
    clip : float
        Percentile of the amplitudes that is black or white.
    """
    matplotlib = _need("matplotlib")
    numpy = _need("numpy")
    import matplotlib.pyplot as pyplot

    column = gathers.isel(northing=0).sel(easting=easting, method="nearest").transpose("up", "angle")
    angles, up = numpy.asarray(column["angle"]), numpy.asarray(column["up"])
    most = float(numpy.percentile(numpy.abs(column.values), clip)) or 1.0
    with _style():
        figure, axes = pyplot.subplots(figsize=(3.2, 3.8), layout="constrained")
        axes.pcolormesh(angles, up, column.values, cmap="gray", vmin=-most, vmax=most, shading="nearest",
                        rasterized=True)
        axes.set(xlabel="angle (°)", ylabel="up (m)")
        axes.set_title(title or f"easting {float(column['easting']):g} m", pad=4)
    return figure


def movie(snapshots, path, velocity=None, *, slice_at: str = "", frames_per_second: int = 12, clip: float = 99.5,
          dpi: int = 80) -> None:
    """Write snapshots of waves as a GIF, or as an MP4 where ffmpeg is installed; the file appears whole or not at all.

    Parameters
    ----------
    snapshots : xarray.DataArray [time, up, northing, easting]
        As ``terrane.acoustic.Operators.snapshots`` makes them.
    path : .gif or .mp4
    velocity : array [up, northing, easting], optional
        Of the same nodes, drawn below the waves; or, where northing has one node, [up, easting].
    slice_at : str
        The plane that is drawn, as ``"up=-400"`` or ``"northing=0"`` (m): its nearest nodes. Without it the upright one
        across the middle of the shorter horizontal side.
    """
    matplotlib = _need("matplotlib")
    numpy = _need("numpy")
    import matplotlib.pyplot as pyplot

    points = {name: numpy.asarray(snapshots[name], dtype=float) for name in ("easting", "northing", "up")}
    times = numpy.asarray(snapshots["time"])
    fields, across, where = _plane(points, numpy.asarray(snapshots), slice_at, "the snapshots")
    x, y = (points[name] for name in across)
    extent = (x[0], x[-1], y[0], y[-1])
    most = float(numpy.percentile(numpy.abs(fields), clip)) or 1.0
    with _style():
        figure, axes = pyplot.subplots(figsize=(5.6, 2.8), layout="constrained")
        if velocity is not None:
            rock = numpy.asarray(velocity, dtype=float)
            rock = rock[:, None] if rock.ndim == 2 else rock
            if rock.shape != snapshots.shape[1:]:
                raise PlotError(f"velocity: has shape {rock.shape}, the snapshots {snapshots.shape[1:]}")
            axes.imshow(_plane(points, rock[None], slice_at, "the snapshots")[0][0], extent=extent, origin="lower", aspect="auto",
                        cmap="viridis")
        shown = axes.imshow(fields[0], extent=extent, origin="lower", aspect="auto", cmap="gray", vmin=-most,
                            vmax=most, alpha=None if velocity is None else 0.6)
        axes.set(xlabel=f"{across[0]} (m)", ylabel=f"{across[1]} (m)")

        def frame(n):
            shown.set_data(fields[n])
            axes.set_title(f"{times[n]:.3f} s{where}", pad=4)
            return (shown,)

        _animate(figure, frame, len(fields), path, frames_per_second, dpi)


def _animate(figure, frame, frames: int, path, frames_per_second: int, dpi: int) -> None:
    """Writes the film that frame(n) draws into the figure, and closes that."""
    import matplotlib.pyplot as pyplot
    from matplotlib import animation

    path = Path(path)
    writers = {".gif": animation.PillowWriter, ".mp4": animation.FFMpegWriter}
    pending = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        if path.suffix not in writers:
            raise PlotError(f"{path}: allowed: .gif, .mp4")
        if not writers[path.suffix].isAvailable():
            raise PlotError(f"{path}: needs {'pillow (pip install pillow)' if path.suffix == '.gif' else 'ffmpeg'}")
        animation.FuncAnimation(figure, frame, frames=frames, blit=False).save(
            pending, writer=writers[path.suffix](fps=frames_per_second), dpi=dpi)
        os.replace(pending, path)
    finally:
        pyplot.close(figure)
        pending.unlink(missing_ok=True)


def _draw_maps(pyplot, data: Data, fields, title: str, look: Look = Look()):
    numpy = _need("numpy")
    by_name = {f.name: f.values for f in fields}

    def together(name):
        """What was observed and what was computed have one scale."""
        pair = [numpy.ravel(by_name[n]) for n in (base_of(name), base_of(name) + "_observed") if n in by_name]
        return numpy.concatenate(pair) if len(pair) == 2 and not name.endswith(("_residual", "_uncertainty")) else None

    east, north = numpy.asarray(data.easting), numpy.asarray(data.northing)
    width, height = numpy.ptp(east), numpy.ptp(north)
    scale, x_label, y_label = _lengths(data, width, height)
    if data.kind == "grid" and (east.size < 2 or north.size < 2):
        return _draw_profile(pyplot, data, fields, title, scale, x_label, y_label)
    columns = _columns(len(fields))
    rows = -(-len(fields) // columns)
    tall = min(max(height / width if width > 0 else 1.0, 0.4), 2.0)
    figure, grid = pyplot.subplots(
        rows, columns, squeeze=False, sharex=True, sharey=True, layout="constrained",
        figsize=(columns * (MAP_WIDTH + 0.75) + 0.3, rows * (MAP_WIDTH * tall + 0.45) + 0.35 + 0.25 * bool(title)))
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05)
    for place, axes in enumerate(grid.flat):
        if place >= len(fields):
            axes.set_visible(False)
            continue
        field_ = fields[place]
        scale_ = scale_of(field_.values, field_.name, look, data.kind == "stations", together(field_.name))
        if data.kind == "grid":
            image = axes.pcolormesh(east / scale, north / scale, field_.values, cmap=scale_.cmap,
                                    norm=scale_.norm, shading="nearest", rasterized=True)
        else:
            # Strong values on top, so that they are not hidden where stations crowd.
            order = numpy.argsort(numpy.abs(numpy.nan_to_num(field_.values)))
            size = float(numpy.clip(9000 / max(east.size, 1), 0.6, 30))
            image = axes.scatter(east[order] / scale, north[order] / scale, c=field_.values[order], s=size,
                                 cmap=scale_.cmap, norm=scale_.norm, linewidths=0, rasterized=east.size > 2000)
            axes.margins(0.03)
            axes.set_facecolor("0.88")  # so that stations with values near zero are seen
        axes.set_aspect("equal" if not data.geographic else 1 / numpy.cos(numpy.radians(north.mean())),
                        adjustable="box")
        axes.set_title(title_of(field_.name), pad=4)
        if place + columns >= len(fields):
            axes.set_xlabel(x_label)
            axes.tick_params(labelbottom=True)
        if place % columns == 0:
            axes.set_ylabel(y_label)
        if look.region is not None:
            axes.set_xlim(look.region[0] / scale, look.region[1] / scale)
            axes.set_ylim(look.region[2] / scale, look.region[3] / scale)
        _colour_bar(figure, axes, image, field_.unit, scale_.extend)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _draw_profile(pyplot, data: Data, fields, title, scale, x_label, y_label):
    """A grid of one row or one column is a profile: curves say more than a strip of colour."""
    numpy = _need("numpy")
    along_east = numpy.size(data.easting) >= numpy.size(data.northing)
    along = numpy.asarray(data.easting if along_east else data.northing) / scale
    figure, grid = pyplot.subplots(len(fields), 1, squeeze=False, sharex=True, layout="constrained",
                                   figsize=(5.0, 1.3 * len(fields) + 0.6))
    for axes, field_ in zip(grid.flat, fields):
        axes.plot(along, numpy.ravel(field_.values), color="#1f4e79", linewidth=1.2,
                  marker="o" if along.size < 2 else None)
        axes.set_title(title_of(field_.name), pad=3)
        axes.set_ylabel(unit_of(field_.unit))
        axes.grid(linewidth=0.3)
    grid.flat[-1].set_xlabel(x_label if along_east else y_label)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _cut_asked_for(slice_at: str):
    """Axis and position in metres of ``--slice``."""
    match = re.fullmatch(r"\s*(easting|northing|up)\s*=\s*([-+.\deE]+)\s*(km|m)?\s*", slice_at)
    if not match:
        raise PlotError(f"--slice {slice_at}: write for example up=-4000 or northing=11km")
    return match[1], float(match[2]) * (1e3 if match[3] == "km" else 1)


#: What a file of a model has beside the answer, in the order in which it is drawn last.
_NOT_THE_ANSWER = ("active", "gradient", "illumination", "reference", "sensitivity", "weight", "standard_deviation",
                   "posterior", "uncertainty", "cell_volume")
_ANSWERS = ("resistivity", "density", "susceptibility", "chargeability", "velocity_p", "velocity", "image_filtered",
            "image_inverse_scattering", "image_even", "image", "temperature_at_end", "conductivity")


def answer_of(fields):
    """The field that a file of a model is about: a property, an image, and not which cells were active."""
    there = {f.name: f for f in fields}
    for name in _ANSWERS:
        if name in there:
            return there[name]
    return next((f for f in fields if not any(word in f.name for word in _NOT_THE_ANSWER)), fields[0])


def _core_of(faces):
    """The faces between which cells are small: those no wider than three times the narrowest, without the padding."""
    numpy = _need("numpy")
    widths = numpy.diff(faces)
    small = numpy.flatnonzero(widths <= 3 * widths.min())
    return float(faces[small[0]]), float(faces[small[-1] + 1])


def _draw_model(pyplot, data: Data, channels, title: str, slice_at: str, look: Look = Look()):
    """One property of a model: a map and a section through what stands out, or the cut that was asked for.

    Without a region what has small cells is drawn; cells that took no part (``active``) are left blank.
    """
    numpy = _need("numpy")
    fields = choose(data, channels)
    if not fields:
        raise PlotError(f"{data.source}: there is nothing to draw")
    property_ = fields[0] if channels else answer_of(fields)
    values = numpy.array(property_.values, dtype=float)
    active = next((f.values for f in data.fields if f.name == "active"), None)
    if active is not None and property_.name != "active":
        values[numpy.asarray(active) == 0] = numpy.nan
    faces = {"easting": numpy.asarray(data.easting), "northing": numpy.asarray(data.northing), "up": numpy.asarray(data.up)}
    shown = {axis: _core_of(f) for axis, f in faces.items()}
    # Downward cells grow all the way: at least as deep as a third of what is shown is wide.
    wide = max(shown["easting"][1] - shown["easting"][0], shown["northing"][1] - shown["northing"][0])
    if shown["up"][0] > faces["up"][0]:
        shown["up"] = (max(float(faces["up"][0]), min(shown["up"][0], float(faces["up"][-1]) - wide / 3)), float(faces["up"][-1]))
    if look.region is not None:
        shown["easting"], shown["northing"] = tuple(look.region[:2]), tuple(look.region[2:4])
        if len(look.region) == 6:
            shown["up"] = tuple(look.region[4:])
    axes_of = {"up": 0, "northing": 1, "easting": 2}
    if slice_at:
        axis, position = _cut_asked_for(slice_at)
        if not faces[axis][0] <= position <= faces[axis][-1]:
            raise PlotError(f"--slice {slice_at}: the mesh reaches from {faces[axis][0]:g} to {faces[axis][-1]:g} m")
        cuts = [(axis, position)]
    else:
        by_log = look.log or (look.log is None and property_.name.startswith(_LOGARITHMIC))
        cuts = [(axis, _where_most_stands_out(values, faces, shown, axis, axes_of[axis], by_log))
                for axis in ("up", "northing")]
        cuts = [(axis, at) for axis, at in cuts if all(faces[other].size > 2 for other in axes_of if other != axis)]
        cuts = cuts or [("northing" if faces["northing"].size == 2 else "easting",
                         float(faces["northing" if faces["northing"].size == 2 else "easting"][:2].mean()))]
    scale = 1e3 if max(numpy.ptp(shown["easting"]), numpy.ptp(shown["northing"])) > 5000 else 1.0
    unit = "km" if scale == 1e3 else "m"
    across = {"up": ("easting", "northing", 0), "northing": ("easting", "up", 1), "easting": ("northing", "up", 2)}
    ratios = [float(numpy.clip(numpy.ptp(shown[across[a][1]]) / (numpy.ptp(shown[across[a][0]]) or 1), 0.15, 1.5))
              for a, _ in cuts]
    width = 4.2
    figure, grid = pyplot.subplots(
        len(cuts), 1, squeeze=False, layout="constrained", height_ratios=ratios,
        figsize=(width + 1.0, width * sum(ratios) + 0.62 * len(cuts) + 0.25 * bool(title)))
    in_sight = values[numpy.ix_(*[(faces[a][1:] > shown[a][0]) & (faces[a][:-1] < shown[a][1])
                                  for a in ("up", "northing", "easting")])]
    scale_ = scale_of(values, property_.name, look, shared=in_sight if numpy.isfinite(in_sight).any() else None)
    for axes, (axis, position) in zip(grid.flat, cuts):
        x, y, along = across[axis]
        cell = int(numpy.clip(numpy.searchsorted(faces[axis], position, side="right") - 1, 0,
                              values.shape[along] - 1))
        image = axes.pcolormesh(faces[x] / scale, faces[y] / scale, numpy.ma.masked_invalid(values.take(cell, axis=along)),
                                cmap=scale_.cmap, norm=scale_.norm, rasterized=True)
        axes.set_facecolor("0.9")
        axes.set_xlim(shown[x][0] / scale, shown[x][1] / scale)
        axes.set_ylim(shown[y][0] / scale, shown[y][1] / scale)
        axes.set_aspect("equal" if numpy.ptp(shown[y]) > 0.1 * numpy.ptp(shown[x]) else "auto")
        axes.set_xlabel(f"{x} ({unit})")
        axes.set_ylabel(f"{y} ({unit})")
        axes.set_title(f"{title_of(property_.name)} at {axis} = {position / scale:.4g} {unit}".replace("-", "\N{MINUS SIGN}"),
                       pad=4)
        _colour_bar(figure, axes, image, property_.unit, scale_.extend)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _where_most_stands_out(values, faces, shown, axis: str, along: int, by_log: bool) -> float:
    """The middle of the layer of cells that differs most from the typical value, within what is shown.

    By the logarithm of resistivities, so that conductors count as resistors do.
    """
    numpy = _need("numpy")
    finite = values[numpy.isfinite(values)]
    if by_log:
        values = numpy.log(numpy.where(values > 0, values, numpy.nan))
        finite = values[numpy.isfinite(values)]
    typical = float(numpy.median(finite)) if finite.size else 0.0
    odd = numpy.abs(numpy.nan_to_num(values - typical))
    for name, place in (("up", 0), ("northing", 1), ("easting", 2)):
        inside = (faces[name][1:] > shown[name][0]) & (faces[name][:-1] < shown[name][1])
        odd = odd * inside.reshape([-1 if n == place else 1 for n in range(3)])
        if place != along:
            odd = odd * numpy.diff(faces[name]).reshape([-1 if n == place else 1 for n in range(3)])
    profile = odd.sum(axis=tuple(n for n in range(3) if n != along))
    cell = int(numpy.argmax(profile)) if profile.max() > 0 else len(profile) // 2
    return float(faces[axis][cell] + faces[axis][cell + 1]) / 2


def save(figure, path, dpi: int | None = None) -> None:
    """Write a figure; the file appears whole or not at all."""
    path = Path(path)
    pending = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        figure.savefig(pending, dpi=dpi or STYLE["savefig.dpi"], bbox_inches="tight", pad_inches=0.06,
                       metadata={"Date": None} if path.suffix == ".svg" else None)
        os.replace(pending, path)
    except OSError as error:
        raise PlotError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        pending.unlink(missing_ok=True)


def picture_beside(path: Path) -> Path:
    """The picture of a file: its name with .png; of several results of one name each its own."""
    others = [p for p in path.parent.glob(f"{path.stem}.*") if p.suffix in (".nc", ".h5", ".hdf5", ".csv") and p != path]
    own = not others or path.suffix == ".nc"
    return path.with_suffix(".png") if own else path.with_name(f"{path.stem}_{path.suffix[1:]}.png")


def _numbers(text: str, option: str):
    """Numbers between commas; None for nothing."""
    if not text:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise PlotError(f"{option} {text}: write numbers with commas between them") from None


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="terrane plot", description="Draw maps of a result, or slices of a model.")
    parser.add_argument("file")
    parser.add_argument("--out")
    parser.add_argument("--channels", default="")
    parser.add_argument("--title", default="")
    parser.add_argument("--slice", default="", dest="slice_at")
    parser.add_argument("--wiggle", action="store_true")
    parser.add_argument("--region", default="")
    parser.add_argument("--limits", default="")
    parser.add_argument("--log", action=argparse.BooleanOptionalAction, default=None)
    parser.add_argument("--cmap")
    parser.add_argument("--dpi", type=int)
    parser.add_argument("--source", help="what errors call the file")
    given = parser.parse_args(arguments)
    out = Path(given.out) if given.out else picture_beside(Path(given.file))
    try:
        if out.suffix not in (".png", ".svg", ".pdf", ".gif", ".mp4"):
            raise PlotError(f"--out {out}: allowed: .png, .svg, .pdf, and .gif and .mp4 of snapshots")
        _need("matplotlib").use("Agg")
        channels = [name.strip() for name in given.channels.split(",") if name.strip()]
        if out.suffix in (".gif", ".mp4"):
            film(read(given.file), out, ",".join(channels), title=given.title, slice_at=given.slice_at,
                 dpi=given.dpi or 100)
            return 0
        figure = draw(read(given.file), channels, title=given.title, slice_at=given.slice_at, wiggle=given.wiggle,
                      region=_numbers(given.region, "--region"), limits=_numbers(given.limits, "--limits"), log=given.log,
                      cmap=given.cmap)
        save(figure, out, given.dpi)
    except PlotError as error:
        said = str(error).replace(given.file, given.source or given.file)
        print(f"terrane: plot: {said}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if given.out is None:
        print(f"wrote {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
