"""What pictures are made of: fields with names and units, on stations, grids, cells, times; and which of them are drawn."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field


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
    #            "prisms": values [prism]
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
    names: list = field(default_factory=list)  #: of sites of curves
    through: object = None  #: of a mesh: easting and northing of stations; along a line of them its section is cut
    prisms: object = None  #: [prism, 6] west, east, south, north, bottom, top, m


@dataclass
class Snapshots:
    """A field now and then: at points that cells join, quadrilaterals of a surface or bricks; or on a grid."""

    time: object  # [snapshot] s
    points: dict  # easting, northing, up: [point] m; of a grid along its axes
    cells: object = None  # [cell, corner] points; of a grid none
    fields: list = field(default_factory=list)  # values [snapshot, point]; of a grid [snapshot, up, northing, easting]


def need(module: str):
    try:
        return __import__(module)
    except ImportError as error:
        raise PlotError(
            f"Python ({sys.executable}) has no {module}\n"
            "         Install it: pip install matplotlib numpy netCDF4 h5py"
            " (or apt install python3-matplotlib python3-netcdf4 python3-h5py),\n"
            "         or name another Python with TERRANE_PYTHON."
        ) from error


#: Channels of all frames in the order in which they are drawn; others follow in the order of the file.
ORDER = (
    "potential g_e g_n g_u g_z g_ee g_nn g_uu g_zz g_en g_eu g_nu g_ez g_nz "
    "gx gy gz gxx gyy gzz gxy gxz gyz xx yy zz xy xz yz"
).split()


#: Columns that say where a station is, or how it was made, not what its field is.
NOT_DRAWN = {
    "easting", "northing", "up", "longitude", "latitude", "singular", "line", "distance", "height",
    "ellipsoidal_height", "geoid_height", "observed", "normal_gravity", "resistance", "geometric_factor",
    "main_field_intensity", "main_field_inclination", "main_field_declination",
    *(f"{electrode}_{axis}" for electrode in "abmn" for axis in ("easting", "northing", "up")),
}


_SUFFIX = re.compile(r"_(observed|residual|uncertainty|error|trust)$")


def base_of(name: str) -> str:
    """The field that observed data, residuals and uncertainties are of."""
    return _SUFFIX.sub("", name)


def _is_constant(values) -> bool:
    numpy = need("numpy")
    finite = numpy.asarray(values)[numpy.isfinite(values)]
    return not finite.size or bool(numpy.ptp(finite) <= 1e-9 * numpy.abs(finite).max())


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
    others = [f for f in others if not (f.name.endswith(("_error", "_trust")) and base_of(f.name) in there)
              and not (f.name.endswith("_uncertainty") and _is_constant(f.values))] or others
    return known + others or [f for f in data.fields if f.name == "up"]
