"""One earth for every physics: kinds of rock, surfaces, bodies and the ground, described without a mesh.

    earth = terrane.Earth(background="granite", topography=hills, air={"resistivity": 1e8})
    earth.unit("granite", density=2700, resistivity=5000, velocity_p=5500,
               maps=["velocity_s from velocity_p by brocher"])
    earth.unit("ore", density=3800, resistivity=0.5)
    earth.body("sphere", "ore", centre=[1000, 1000, -300], radius=150)
    line = {"start": [500, 1000], "electrodes": 31, "spacing": 30}
    fields = terrane.run(earth, [{"physics": "gravity", "survey": survey, "reference_density": 2700},
                                 {"physics": "electric", "survey": line}])
    fields["gravity"]                 # each a terrane.Result
    fields.tree                       # all of them as one xarray.DataTree
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from ._arrays import text_table
from ._strict import Strict
from .errors import InputError
from .result import Result
from .simulation import Surface

__all__ = ["Earth", "Results", "Surface"]

#: A level (m, or a text with a unit), the name of a surface, a file of a grid, or a grid.
Level = Union[float, str, "PathLike[str]", Surface]
Rock = Union[str, Mapping[str, Any]]


def _level(value: Any) -> Any:
    if hasattr(value, "coords") and hasattr(value, "dims"):  # an xarray.DataArray over northing and easting
        array = value.transpose("northing", "easting")
        return Surface(array["easting"].values, array["northing"].values, array.values)
    if isinstance(value, Surface) or value is None:
        return value
    if isinstance(value, tuple) and len(value) == 3 and np.ndim(value[2]) == 2:
        return Surface(*value)
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, PathLike):
        return fspath(value)
    raise InputError("surface", f"is a {type(value).__name__}",
                     "Expected a level, a name, a file, Surface(easting, northing, values) or a DataArray.")


def _rock(rock: Optional[Rock]) -> Optional[dict[str, Any]]:
    if rock is None:
        return None
    return {"unit": rock} if isinstance(rock, str) else dict(rock)


class Earth(Strict):
    """What an earth is made of, and where.

    Parameters
    ----------
    background, air : str or mapping, optional
        The rock of all that nothing else is said of, and what is above the topography: the name of a unit, or
        properties.
    topography : level, optional
        The ground: a level, m, a file, a :class:`Surface` or ``xarray.DataArray`` of elevations, or the name of a
        surface.
    maps : sequence of str, optional
        Laws between properties, such as ``"density from velocity_p by gardner"``.
    overlap, transfer : str, optional
        As in job files: model.overlap, model.transfer.

    Examples
    --------
    >>> import terrane
    >>> earth = terrane.Earth(background="host")
    >>> earth = earth.unit("host", density=2700).unit("ore", density=3700)
    >>> earth = earth.body("sphere", "ore", centre=[0, 0, -200], radius=100)
    >>> survey = terrane.Survey([0.0, 50.0], [0.0, 0.0], [1.0, 1.0])
    >>> mesh = {"kind": "planned", "cell": 20, "box": [-200, 200, -200, 200, -400, 0]}
    >>> gravity = {"physics": "gravity", "survey": survey, "mesh": mesh, "reference_density": 2700}
    >>> fields = terrane.run(earth, [gravity])
    >>> print(fields["gravity"]["g_u"].round(2).values)
    [-0.69 -0.63]
    """

    units: dict[str, dict[str, Any]]
    surfaces: dict[str, dict[str, Any]]
    bodies: list[dict[str, Any]]
    background: Optional[dict[str, Any]]
    air: Optional[dict[str, Any]]
    topography: Any
    maps: list[str]
    overlap: Optional[str]
    transfer: Optional[str]

    def __init__(self, *, background: Optional[Rock] = None, topography: Optional[Any] = None,
                 air: Optional[Rock] = None, maps: Sequence[str] = (), overlap: Optional[str] = None, transfer: Optional[str] = None) -> None:
        self.units = {}
        self.surfaces = {}
        self.bodies = []
        self.background, self.air = _rock(background), _rock(air)
        self.topography = _level(topography)
        self.maps, self.overlap, self.transfer = list(maps), overlap, transfer

    def unit(self, name: str, *, maps: Sequence[str] = (), **properties: Any) -> Earth:
        """A kind of rock: properties in SI units, or texts with a unit; ``maps``: laws that give it more of them."""
        if name in self.units:
            raise InputError("name", f"there is a unit {name!r} already")
        self.units[name] = {**properties, "maps": list(maps) or None}
        return self

    def surface(self, name: str, elevation: Any = None, *, depth: Any = None, below: Any = None) -> Earth:
        """A surface that layers and the topography may name: its elevation, or its depth below another one."""
        if name in self.surfaces:
            raise InputError("name", f"there is a surface {name!r} already")
        self.surfaces[name] = {"elevation": _level(elevation), "depth": _level(depth), "below": _level(below)}
        return self

    def body(self, kind: str, unit: Optional[str] = None, **keys: Any) -> Earth:
        """A body, painted over those before it. ``kind``: sphere, ellipsoid, box, polygon or layer, with its keys as
        in job files ([[model.body]]); ``unit``, or properties of its own."""
        self.bodies.append({"kind": kind, "unit": unit, **keys})
        return self

    def layer(self, unit: Optional[str] = None, *, top: Any, bottom: Any, **keys: Any) -> Earth:
        """What lies between two surfaces: levels, names, files, :class:`Surface` or ``xarray.DataArray``."""
        return self.body("layer", unit, top=_level(top), bottom=_level(bottom), **keys)

    def table(self) -> dict[str, Any]:
        """Its table ``model`` of a job."""
        return {"overlap": self.overlap, "transfer": self.transfer, "maps": self.maps or None,
                "topography": self.topography, "background": self.background, "air": self.air,
                "surface": [{"name": name, **keys} for name, keys in self.surfaces.items()] or None,
                "unit": [{"name": name, **keys} for name, keys in self.units.items()] or None,
                "body": self.bodies or None}

    def __repr__(self) -> str:
        rows = [(f"unit {name}", ", ".join(f"{k} {v}" for k, v in keys.items() if v is not None))
                for name, keys in self.units.items()]
        rows += [(f"surface {name}", ", ".join(f"{k} {v}" for k, v in keys.items() if v is not None))
                 for name, keys in self.surfaces.items()]
        rows += [(body["kind"], body["unit"] or "") for body in self.bodies]
        if self.topography is not None:
            rows.append(("topography", str(self.topography)))
        return text_table("Earth", rows)


#: Tables of a job that a simulation may bring along; all else are keys of [simulation].
_TABLES = ("mesh", "survey", "source", "boundary", "elements", "output")


def job(earth: Earth, simulations: Union[Mapping[str, Any], Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    """The job, as tables, that computes these simulations of an earth.

    A simulation is a mapping of the keys of its table [simulation], with its ``survey``, ``mesh``, ``source`` and other
    tables beside them. ``survey`` may be a :class:`Survey`. Without a ``mesh`` the physics makes one.
    """
    given = [simulations] if isinstance(simulations, Mapping) else list(simulations)
    tables: dict[str, Any] = {"model": earth.table(), "simulation": []}
    for simulation in given:
        if "physics" not in simulation:
            raise InputError("simulations", "one of them has no physics", 'Write {"physics": "gravity", ...}.')
        name = str(simulation.get("name", simulation["physics"]))
        settings = {key: value for key, value in simulation.items() if key not in _TABLES}
        for table in _TABLES:
            if simulation.get(table) is not None:
                tables.setdefault(table, {})[name] = simulation[table]
        # Files have names of their own; they are written only where a simulation asks for some.
        tables.setdefault("output", {}).setdefault(name, {"files": [f"{name}.nc"]})
        tables["simulation"].append({**settings, "name": name})
    return tables


def has_files(simulations: Union[Mapping[str, Any], Sequence[Mapping[str, Any]]]) -> bool:
    """Whether one of them asks for files."""
    given = [simulations] if isinstance(simulations, Mapping) else simulations
    return any(simulation.get("output") is not None for simulation in given)


class Results(dict[str, Result]):
    """Results of several simulations, by name."""

    @property
    def tree(self) -> Any:
        """All as one ``xarray.DataTree`` where xarray has it (2024.10 and later), else a dict of data sets."""
        import xarray

        sets = {name: result.dataset for name, result in self.items()}
        return xarray.DataTree.from_dict(sets) if hasattr(xarray, "DataTree") else sets
