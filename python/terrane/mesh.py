"""Earth models: densities on tensor meshes, of free prisms, and of layers of prisms."""

from __future__ import annotations

import warnings
from difflib import get_close_matches
from functools import cache
from os import PathLike
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Floats, _check_unit, axis, bounds_text, count, faces, real, text_table, vector
from ._pictured import Pictured
from ._strict import Strict
from .errors import InputError, ShapeError, UnsupportedError

__all__ = ["PrismLayer", "PrismSet", "TensorMesh"]

Path = Union[str, "PathLike[str]"]


def _range_text(values: Floats, unit: str = "kg/m³") -> str:
    some = int(np.count_nonzero(values))
    if not values.size or not some:
        return "zero everywhere"
    low, high = np.nanmin(values), np.nanmax(values)
    return f"{low:g} … {high:g} {unit}".rstrip() + f", {some:,} of {values.size:,} not zero"


@cache
def _kinds() -> dict[str, tuple[str, str, float]]:
    """Unit, meaning and the value where nobody set it, of every property there is."""
    return {name: (unit, meaning, absent) for name, unit, meaning, absent in _core.properties()}


def say_note(path: Path, held: Mapping[str, Any]) -> None:
    """Warn of what reading a mesh took for granted, from the call of the user's call."""
    if note := held["attributes"].get("note"):
        warnings.warn(f"{path}: {note}", stacklevel=3)


class _Shown(Pictured, Strict):
    """Text for terminals and notebooks."""

    def _title(self) -> str:
        raise NotImplementedError

    def _rows(self) -> list[tuple[str, str]]:
        raise NotImplementedError

    def __repr__(self) -> str:
        return text_table(self._title(), self._rows())

    def _picture(self) -> str:
        raise NotImplementedError

    def _repr_html_(self) -> str:
        from ._notebook import card

        return card(self._title(), self._rows(), self._picture())


class _Properties(_Shown):
    """Named properties with one value per cell or prism: ``model["conductivity"]`` or ``model.conductivity``."""

    _values: dict[str, Floats]

    if TYPE_CHECKING:  # every property there is (tests/python/test_strict.py compares): arrays, or one number for all
        porosity: Any
        susceptibility: Any
        permeability: Any
        magnetization_east: Any
        magnetization_north: Any
        magnetization_up: Any
        conductivity: Any
        conductivity_east: Any
        conductivity_north: Any
        conductivity_up: Any
        resistivity: Any
        resistivity_east: Any
        resistivity_north: Any
        resistivity_up: Any
        chargeability: Any
        cole_cole_time: Any
        cole_cole_exponent: Any
        permittivity: Any
        velocity_p: Any
        velocity_s: Any
        quality_p: Any
        quality_s: Any
        quality_kappa: Any
        quality_mu: Any
        epsilon: Any
        delta: Any
        gamma: Any
        tilt: Any
        tilt_azimuth: Any
        thermal_conductivity: Any
        specific_heat: Any
        heat_capacity: Any
        heat_production: Any
        diffusivity: Any
        temperature: Any

    def _shaped(self, value: ArrayLike, name: str, unit: str) -> Floats:
        raise NotImplementedError

    @property
    def properties(self) -> tuple[str, ...]:
        """Names of the properties that are set."""
        return tuple(self._values)

    def __contains__(self, name: object) -> bool:
        return name in self._values

    def __getitem__(self, name: str) -> Floats:
        if name not in self._values:
            self._kind(name)
            raise InputError(name, "is not set", f"There is: {', '.join(self._values) or 'nothing'}.")
        return self._values[name]

    def __setitem__(self, name: str, value: ArrayLike) -> None:
        self._values[name] = self._shaped(value, name, self._kind(name)[0])

    def __getattr__(self, name: str) -> Floats:
        if not name.startswith("_") and name in self._values:
            return self._values[name]
        raise AttributeError(f"{type(self).__name__} has no {name}")

    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None:
            if not name.startswith("_") and name in _kinds() and not hasattr(type(self), name):
                self[name] = value
            else:
                super().__setattr__(name, value)

    def _attributes(self) -> tuple[str, ...]:
        return tuple(_kinds())

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *_kinds()})

    @staticmethod
    def _kind(name: str) -> tuple[str, str, float]:
        kind = _kinds().get(name)
        if kind is None:
            near = get_close_matches(name, _kinds(), 1)
            raise InputError(name, "is not a property known here" + (f"; did you mean {near[0]}?" if near else ""),
                             f"Allowed: {', '.join(_kinds())}.")
        return kind

    def _columns(self) -> list[tuple[str, str, str, Floats]]:
        return [(name, _kinds()[name][0], name, values.reshape(-1)) for name, values in self._values.items()]

    def _property_rows(self) -> list[tuple[str, str]]:
        shown = {"kg/m3": "kg/m³", "1": ""}
        units = ((name, _kinds()[name][0]) for name in self._values)
        return [(name, _range_text(self._values[name], shown.get(unit, unit))) for name, unit in units]


def _pyvista() -> Any:
    try:
        import pyvista
    except ImportError as error:
        raise UnsupportedError("to_pyvista", "there is no pyvista", "pip install pyvista") from error
    return pyvista


def hexahedra(prisms: Floats) -> Any:
    """A ``pyvista.UnstructuredGrid`` of prisms [m, 6]."""
    pyvista = _pyvista()
    w, e, s, n, b, t = prisms.T
    corners = np.stack([np.stack(c, axis=-1) for c in (
        (w, s, b), (e, s, b), (e, n, b), (w, n, b), (w, s, t), (e, s, t), (e, n, t), (w, n, t))], axis=1)
    count = prisms.shape[0]
    cells = np.column_stack([np.full(count, 8), np.arange(8 * count).reshape(count, 8)])
    return pyvista.UnstructuredGrid(cells.ravel(), np.full(count, 12, np.uint8), corners.reshape(-1, 3))


class TensorMesh(_Properties):
    """A rectilinear mesh with a density, and other properties, in every cell.

    Parameters
    ----------
    easting, northing, up : array_like [n + 1]
        Faces along each axis, ascending, m.
    density : array_like [n_up, n_north, n_east] or float, optional
        kg/m³; zero otherwise.
    **properties : array_like or float
        Others by name, SI: ``susceptibility``, ``conductivity``, ``velocity_p``, ...

    Examples
    --------
    >>> mesh = TensorMesh([0, 10, 30], [0, 10], [-20, -10, 0], density=100.0)
    >>> mesh.shape
    (2, 1, 2)
    >>> mesh.prisms()[1]
    array([ 10.,  30.,   0.,  10., -20., -10.])
    >>> mesh.conductivity = 0.01
    >>> mesh["conductivity"].shape, mesh.properties
    ((2, 1, 2), ('density', 'conductivity'))
    """

    easting: Floats
    northing: Floats
    up: Floats

    def __init__(self, easting: ArrayLike, northing: ArrayLike, up: ArrayLike,
                 density: Optional[ArrayLike] = None, **properties: ArrayLike) -> None:
        self._values = {}
        self.easting = axis(easting, "easting", 2)
        self.northing = axis(northing, "northing", 2)
        self.up = axis(up, "up", 2)
        if density is not None:
            self.density = density
        for name, values in properties.items():
            self[name] = values

    @classmethod
    def regular(cls, box: ArrayLike, shape: Sequence[int], density: Optional[ArrayLike] = None) -> TensorMesh:
        """A box cut into equal cells.

        Parameters
        ----------
        box : array_like [6]
            West, east, south, north, bottom, top, m.
        shape : three ints
            Cells along easting, northing and up.
        """
        edges = vector(box, "box", "m", 6)
        given = list(shape) if isinstance(shape, (Sequence, np.ndarray)) else [shape]
        if len(given) != 3:
            raise ShapeError("shape", f"is {shape!r}", "Expected three counts: along easting, northing, up.")
        counts = [count(n, f"shape[{place}]") for place, n in enumerate(given)]
        if not (edges[0] < edges[1] and edges[2] < edges[3] and edges[4] < edges[5]):
            raise InputError("box", f"has no volume: {edges.tolist()}", "It reads west, east, south, north, bottom, top.")
        easting, northing, up = (np.linspace(edges[2 * a], edges[2 * a + 1], counts[a] + 1) for a in range(3))
        return cls(easting, northing, up, density)

    @property
    def density(self) -> Floats:
        """[n_up, n_north, n_east] kg/m³, easting contiguous."""
        if "density" not in self._values:
            self._values["density"] = np.zeros(self.shape)
        return self._values["density"]

    @density.setter
    def density(self, value: ArrayLike) -> None:
        self["density"] = value

    def _shaped(self, value: ArrayLike, name: str, unit: str) -> Floats:
        given = real(value, name, unit)
        if given.ndim == 0:
            given = np.full(self.shape, float(given))
        elif given.shape != self.shape:
            if given.ndim != 1 or given.size != self.size:
                raise ShapeError(name, f"has shape {given.shape}",
                                 f"Expected {self.shape}: [up, north, east], or [{self.size}] in that order.")
            given = given.reshape(self.shape)
        return np.ascontiguousarray(given)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Cells along up, northing, easting: the shape of `density`."""
        return self.up.size - 1, self.northing.size - 1, self.easting.size - 1

    @property
    def size(self) -> int:
        """How many cells."""
        n_up, n_north, n_east = self.shape
        return n_up * n_north * n_east

    @property
    def bounds(self) -> tuple[float, float, float, float, float, float]:
        """West, east, south, north, bottom, top, m."""
        return (float(self.easting[0]), float(self.easting[-1]), float(self.northing[0]), float(self.northing[-1]),
                float(self.up[0]), float(self.up[-1]))

    @property
    def centres(self) -> tuple[Floats, Floats, Floats]:
        """Easting [n_east], northing [n_north], up [n_up] of the cells' centres, m."""
        e, n, u = ((f[1:] + f[:-1]) / 2 for f in (self.easting, self.northing, self.up))
        return e, n, u

    def prisms(self) -> Floats:
        """[cells, 6]: west, east, south, north, bottom, top of every cell, in the order of `density`."""
        made: Floats = np.empty((6, *self.shape))
        for place, (low, along) in enumerate(((self.easting, (1, 1, -1)), (self.northing, (1, -1, 1)),
                                              (self.up, (-1, 1, 1)))):
            made[2 * place] = low[:-1].reshape(along)
            made[2 * place + 1] = low[1:].reshape(along)
        columns: Floats = made.reshape(6, -1).T
        return columns

    def to_prisms(self) -> PrismSet:
        """The cells in which some property is set (a density other than zero), as free prisms."""
        if not self._values:
            self["density"] = 0.0
        held = np.zeros(self.size, bool)
        for name, values in self._values.items():
            flat, absent = values.ravel(), _kinds()[name][2]
            held |= ~np.isnan(flat) if np.isnan(absent) else flat != absent
        columns = {name: values.ravel()[held] for name, values in self._values.items()}
        return PrismSet(self.prisms()[held], **columns)

    # -- files --

    @classmethod
    def read(cls, path: Path, density: Optional[Path] = None, *, field: str = "density",
             property: str = "") -> TensorMesh:
        """A mesh from a file of any format that ``terrane info`` knows: UBC .msh, .h5, .nc.

        An octree of UBC becomes the tensor mesh that has all of its faces, with a warning that says how many cells each
        of its cells became; they have its values.

        Parameters
        ----------
        path : path
            The mesh; .h5 and .nc hold properties too, all of which are taken.
        density : path, optional
            Values of the cells: UBC .den, .sus, .con, .npy.
        field : str
            Which variable of the file is the density.
        property : str
            What values without a name are: "density" unless the extension (.sus, .con) says more.
        """
        if density is not None:
            held = _core.read(str(density), mesh=str(path), property=property)
        else:
            held = _core.read(str(path))
        if held["kind"] != "mesh":
            raise InputError(str(density or path), f"holds a {held['kind']}, not a mesh")
        say_note(path, held)
        mesh = cls(held["easting"], held["northing"], held["up"])
        cells = {name: values for name, _, _, values in held["cells"]}
        known = {name: values for name, values in cells.items() if name in _kinds()}
        if field in cells and field not in known:
            known["density"] = cells[field]
        for name, values in known.items():
            mesh[name] = values
        if not known and cells:
            raise InputError(str(density or path), f'has no "{field}"', f"It has: {', '.join(cells)}.")
        return mesh

    def write(self, path: Path, *, attributes: Optional[Mapping[str, str]] = None) -> None:
        """Write mesh or properties; the extension chooses: .h5, .nc, .vtr, .msh, .den, .sus, .con (UBC), .npy."""
        if not self._values:
            self["density"] = 0.0
        _core.write(str(path), {
            "kind": "mesh", "easting": self.easting, "northing": self.northing, "up": self.up, "cells": self._columns(),
            "attributes": {"program": "terrane", **(attributes or {})}})

    # -- other programs --

    @classmethod
    def from_discretize(cls, mesh: Any, density: Optional[ArrayLike] = None) -> TensorMesh:
        """From a ``discretize.TensorMesh`` (x east, y north, z up); density [cells] in its order, kg/m³."""
        return cls(mesh.nodes_x, mesh.nodes_y, mesh.nodes_z, density)

    def to_discretize(self) -> Any:
        """A ``discretize.TensorMesh``; ``density.ravel()`` is in the order of its cells."""
        try:
            from discretize import TensorMesh as Discretized
        except ImportError as error:
            raise UnsupportedError("to_discretize", "there is no discretize", "pip install discretize") from error
        return Discretized([np.diff(self.easting), np.diff(self.northing), np.diff(self.up)],
                           origin=[self.easting[0], self.northing[0], self.up[0]])

    def to_xarray(self) -> Any:
        """An ``xarray.DataArray`` of the density, with the cells' centres as coordinates."""
        import xarray

        e, n, u = self.centres
        return xarray.DataArray(
            self.density, dims=("up", "northing", "easting"), name="density",
            coords={"up": ("up", u, {"units": "m"}), "northing": ("northing", n, {"units": "m"}),
                    "easting": ("easting", e, {"units": "m"})},
            attrs={"units": "kg/m3", "long_name": "density"})

    def to_pyvista(self) -> Any:
        """A ``pyvista.RectilinearGrid`` with the properties as cell data."""
        grid = _pyvista().RectilinearGrid(self.easting, self.northing, self.up)
        for name, values in self._values.items() or (("density", self.density),):
            grid.cell_data[name] = values.ravel()
        return grid

    def _engine(self) -> tuple[Any, ...]:
        if not self._values:
            self["density"] = 0.0
        return "mesh", self.easting, self.northing, self.up, self._columns()

    def _title(self) -> str:
        n_up, n_north, n_east = self.shape
        return f"TensorMesh: {n_east} × {n_north} × {n_up} cells (east × north × up)"

    def _rows(self) -> list[tuple[str, str]]:
        if not self._values:
            self["density"] = 0.0
        return [("extent", bounds_text(self.bounds)), *self._property_rows()]

    def _picture(self) -> str:
        from ._notebook import map_of

        name, values = self._shown_first()
        thickness = np.diff(self.up)
        mean = np.tensordot(thickness / thickness.sum(), values, 1)
        return map_of(mean, self.easting, self.northing, f"mean {name} of each column, from above".replace("_", " "))

    def _shown_first(self) -> tuple[str, Floats]:
        """A property that differs from cell to cell, else the first; density of zero where there is none."""
        shown = self._values or {"density": np.zeros(self.shape)}
        name = next((n for n, values in shown.items() if np.ptp(values) > 0), next(iter(shown)))
        return name, np.broadcast_to(shown[name], self.shape)

    def _for_pictures(self) -> Any:
        from .plotting import objects

        first, values = self._shown_first()
        held = {first: values, **self._values}
        return objects.of_mesh(self.easting, self.northing, self.up,
                               [(name, _kinds()[name][0], np.broadcast_to(v, self.shape)) for name, v in held.items()])


class PrismSet(_Properties):
    """Free prisms, each with a density or other properties.

    Parameters
    ----------
    prisms : array_like [m, 6]
        West, east, south, north, bottom, top, m.
    density : array_like [m] or float
        kg/m³.
    **properties : array_like [m] or float
        Others by name, SI: ``susceptibility``, ``conductivity``, ...

    Examples
    --------
    >>> PrismSet([[0, 10, 0, 10, -10, 0], [10, 20, 0, 10, -10, 0]], [100.0, -50.0])
    PrismSet: 2 prisms
      extent   easting 0 … 20 m, northing 0 … 10 m, up -10 … 0 m
      density  -50 … 100 kg/m³, 2 of 2 not zero
    """

    prisms: Floats

    def __init__(self, prisms: ArrayLike, density: Optional[ArrayLike] = None, **properties: ArrayLike) -> None:
        self._values = {}
        self.prisms = faces(prisms)
        if density is not None:
            self.density = density
        for name, values in properties.items():
            self[name] = values
        if not self._values:
            raise InputError("density", "missing", "Give the prisms a density, or another property.")

    def _shaped(self, value: ArrayLike, name: str, unit: str) -> Floats:
        return vector(value, name, unit, self.prisms.shape[0], ": one for each prism")

    def __len__(self) -> int:
        return int(self.prisms.shape[0])

    @property
    def bounds(self) -> tuple[float, float, float, float, float, float]:
        """West, east, south, north, bottom, top of all, m."""
        low, high = self.prisms.min(axis=0), self.prisms.max(axis=0)
        return float(low[0]), float(high[1]), float(low[2]), float(high[3]), float(low[4]), float(high[5])

    @classmethod
    def read(cls, path: Path, *, length_unit: str = "", density_unit: str = "") -> PrismSet:
        """Prisms from a file: columns west, east, south, north, bottom, top, density, or two corners and rho."""
        held = _core.read(str(path), length_unit=length_unit, unit=density_unit)
        if held["kind"] == "mesh":
            return TensorMesh.read(path).to_prisms()
        if held["kind"] != "prisms":
            raise InputError(str(path), f"holds a {held['kind']}, not prisms")
        return cls(np.column_stack(held["faces"]), **{name: values for name, _, _, values in held["properties"]})

    def write(self, path: Path, *, attributes: Optional[Mapping[str, str]] = None) -> None:
        """Write them: .csv, .h5, .nc, and what else ``terrane convert --formats`` lists for prisms."""
        _core.write(str(path), {
            "kind": "prisms", "faces": [np.ascontiguousarray(c) for c in self.prisms.T], "properties": self._columns(),
            "attributes": {"program": "terrane", **(attributes or {})}})

    @classmethod
    def from_pandas(cls, frame: Any) -> PrismSet:
        """From columns west, east, south, north, bottom, top, density of a DataFrame, or other properties."""
        names = ["west", "east", "south", "north", "bottom", "top"]
        held = [name for name in _kinds() if name in frame]
        missing = [name for name in [*names, *(() if held else ("density",))] if name not in frame]
        if missing:
            raise InputError("frame", f"has no column {', '.join(missing)}", f"Expected {', '.join(names)}, density.")
        return cls(frame[names].to_numpy(), **{name: frame[name].to_numpy() for name in held})

    def to_pandas(self) -> Any:
        """A DataFrame with columns west, east, south, north, bottom, top and the properties."""
        import pandas

        frame = pandas.DataFrame(self.prisms, columns=["west", "east", "south", "north", "bottom", "top"])
        return frame.assign(**self._values)

    def to_pyvista(self) -> Any:
        """A ``pyvista.UnstructuredGrid`` of hexahedra with the properties as cell data."""
        grid = hexahedra(self.prisms)
        for name, values in self._values.items():
            grid.cell_data[name] = values
        return grid

    def _engine(self) -> tuple[Any, ...]:
        return "prisms", self.prisms, self._columns()

    def _title(self) -> str:
        return f"PrismSet: {len(self):,} prisms"

    def _rows(self) -> list[tuple[str, str]]:
        return [("extent", bounds_text(self.bounds)), *self._property_rows()]

    def _picture(self) -> str:
        from ._notebook import marks_of

        middle = self.prisms[:, 0:4:2] / 2 + self.prisms[:, 1:4:2] / 2
        name, values = next(iter(self._values.items()))
        return marks_of(middle[:, 0], middle[:, 1], f"{name} at the middles, from above", values)

    def _for_pictures(self) -> Any:
        from .plotting import objects

        held = self._values or {"density": np.zeros(len(self))}
        return objects.of_prisms(self.prisms, [(name, _kinds()[name][0], values) for name, values in held.items()])


class PrismLayer(_Shown):
    """One column per node of a grid, between a surface and a reference.

    Side faces lie half-way between nodes, so that columns tile without gap. Where the surface lies below the
    reference, the column reaches from the surface up to the reference; its density is taken as it is given.
    Columns whose surface, reference or density is NaN, and those without height, are left out.

    Parameters
    ----------
    easting, northing : array_like [n_east], [n_north]
        Nodes, ascending, m.
    surface, reference : array_like [n_north, n_east] or float
        m.
    density : array_like [n_north, n_east] or float
        kg/m³.

    Examples
    --------
    >>> layer = PrismLayer([0, 10, 20], [0, 10], surface=[[5, 5, 5], [5, 0, -5]], reference=0, density=2670)
    >>> len(layer.to_prisms())
    5
    """

    easting: Floats
    northing: Floats
    surface: Floats
    reference: Floats
    density: Floats

    def __init__(self, easting: ArrayLike, northing: ArrayLike, surface: ArrayLike, reference: ArrayLike = 0.0,
                 density: ArrayLike = 2670.0) -> None:
        self.easting = axis(easting, "easting", 2)
        self.northing = axis(northing, "northing", 2)
        self.surface = self._on_nodes(surface, "surface", "m")
        self.reference = self._on_nodes(reference, "reference", "m")
        self.density = self._on_nodes(density, "density", "kg/m3")

    def _on_nodes(self, value: ArrayLike, name: str, unit: str) -> Floats:
        _check_unit(value, name, unit)
        array = real(value, name, unit)
        if array.ndim == 0:
            return np.full(self.shape, float(array))
        if array.shape != self.shape:
            raise ShapeError(name, f"has shape {array.shape}", f"Expected {self.shape}: [north, east].")
        return array

    @property
    def shape(self) -> tuple[int, int]:
        """Nodes along northing and easting."""
        return self.northing.size, self.easting.size

    def to_prisms(self) -> PrismSet:
        """The columns that have height and density, row by row from the south-west."""
        east, north = _between(self.easting), _between(self.northing)
        made = np.empty((6, *self.shape))
        made[0], made[1] = east[:-1], east[1:]
        made[2], made[3] = north[:-1, None], north[1:, None]
        made[4] = np.minimum(self.surface, self.reference)
        made[5] = np.maximum(self.surface, self.reference)
        held = (made[5] > made[4]) & np.isfinite(self.density) & (self.density != 0)
        if not held.any():
            raise InputError("surface", "no column has height and density", "It lies on the reference everywhere.")
        return PrismSet(made[:, held].T, self.density[held])

    @classmethod
    def from_xarray(cls, layer: Any, density_name: str = "density") -> PrismLayer:
        """From a harmonica prism layer: a Dataset with easting, northing, top, bottom and a density."""
        if density_name not in layer:
            raise InputError("layer", f'has no "{density_name}"', f"It has: {', '.join(map(str, layer.data_vars))}.")
        dims = ("northing", "easting")
        return cls(layer["easting"].values, layer["northing"].values, layer["top"].transpose(*dims).values,
                   layer["bottom"].transpose(*dims).values, layer[density_name].transpose(*dims).values)

    def to_xarray(self) -> Any:
        """A Dataset as ``harmonica.prism_layer`` makes it: coordinates top and bottom, variable density."""
        import xarray

        dims = ("northing", "easting")
        return xarray.Dataset(
            {"density": (dims, self.density, {"units": "kg/m3"})},
            coords={"easting": ("easting", self.easting, {"units": "m"}),
                    "northing": ("northing", self.northing, {"units": "m"}),
                    "top": (dims, np.maximum(self.surface, self.reference), {"units": "m"}),
                    "bottom": (dims, np.minimum(self.surface, self.reference), {"units": "m"})},
            attrs={"coords_units": "meters", "properties_units": "SI"})

    def _engine(self) -> tuple[Any, ...]:
        return self.to_prisms()._engine()

    def _title(self) -> str:
        return f"PrismLayer: {self.shape[1]} × {self.shape[0]} columns (east × north)"

    def _rows(self) -> list[tuple[str, str]]:
        low, high = np.nanmin(self.surface), np.nanmax(self.surface)
        return [("easting", f"{self.easting[0]:.10g} … {self.easting[-1]:.10g} m"),
                ("northing", f"{self.northing[0]:.10g} … {self.northing[-1]:.10g} m"),
                ("surface", f"{low:g} … {high:g} m"),
                ("density", _range_text(self.density))]

    def _picture(self) -> str:
        from ._notebook import map_of

        return map_of(self.surface, _between(self.easting), _between(self.northing), "surface")

    def _for_pictures(self) -> Any:
        from .plotting import objects

        columns = [("surface", "m", self.surface), ("reference", "m", self.reference), ("density", "kg/m3", self.density)]
        return objects.of_stations(self.easting, self.northing, self.surface, self.shape, (self.easting, self.northing),
                                   [c for n, c in enumerate(columns) if n == 0 or np.ptp(c[2]) > 0], "the layer")


def _between(nodes: Floats) -> Floats:
    """Faces half-way between nodes, the outermost as far out as the next one in."""
    middle = (nodes[1:] + nodes[:-1]) / 2
    return np.concatenate([[2 * nodes[0] - middle[0]], middle, [2 * nodes[-1] - middle[-1]]])
