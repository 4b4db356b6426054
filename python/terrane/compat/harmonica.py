"""The functions of harmonica that compute gravity and magnetics of prisms, with their names, fields and units."""

from __future__ import annotations

import warnings
from typing import Any, Optional, Sequence, Union, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .._arrays import Floats, faces, real, vector
from .._magnets import flux_density
from ..errors import InputError, ShapeError
from ..gravity import forward_in_silence as forward
from ..mesh import hexahedra

__all__ = ["FIELDS", "MAGNETIC_FIELDS", "prism_gravity", "prism_layer", "prism_magnetic"]

MAGNETIC_FIELDS = ("b", "b_e", "b_n", "b_u")
FIELDS = ("potential", "g_e", "g_n", "g_z", "g_ee", "g_nn", "g_zz", "g_en", "g_ez", "g_nz")


def prism_gravity(
    coordinates: Sequence[ArrayLike],
    prisms: ArrayLike,
    density: ArrayLike,
    field: Union[str, Sequence[str]],
    parallel: bool = True,
    dtype: DTypeLike = "float64",
    progressbar: bool = False,
    disable_checks: bool = False,
    **options: Any,
) -> Any:
    """Gravity field of right rectangular prisms, as ``harmonica.prism_gravity``.

    Parameters
    ----------
    coordinates : sequence of arrays
        Easting, northing, upward of the stations, m.
    prisms : array_like [m, 6] or [6]
        West, east, south, north, bottom, top, m.
    density : array_like [m] or float
        kg/m³.
    field : str or list of str
        potential (J/kg), g_e g_n g_z (mGal, g_z downward), g_ee g_nn g_zz g_en g_ez g_nz (Eötvös, z downward).
        A list computes several in one pass and returns a dict; harmonica takes one at a time.
    parallel : bool
        False uses one thread.
    dtype : data type
        Of the result.
    progressbar : bool
    disable_checks : bool
        Otherwise prisms whose faces are in the wrong order are refused, and a station where the tensor has no value
        brings a UserWarning. Unchecked, faces in the wrong order change the sign of the prism's field.
    **options
        accuracy, method, threads, gravitational_constant, singular, as in :func:`terrane.gravity.forward`.

    Notes
    -----
    As in harmonica, the tensor on faces is the limit from outside, and NaN on edges and corners; prisms without volume
    or density are left out; stations that are not finite get NaN, and so does every station when a prism is not finite;
    no stations give an empty array, and no prisms zero. The page "Instead of harmonica or SimPEG" lists what differs.

    Examples
    --------
    >>> prism = [-34, 5, -18, 14, -345, -146]
    >>> coordinates = ([-40, 0, 40], [0, 0, 0], [30, 30, 30])
    >>> print("({:.5f}, {:.5f}, {:.5f})".format(*prism_gravity(coordinates, prism, 2670, field="g_z")))
    (0.06552, 0.06629, 0.06174)
    """
    names = [field] if isinstance(field, str) else list(field)
    for name in names:
        if name not in FIELDS:
            raise InputError("field", f"is {name!r}", f"Allowed: {', '.join(FIELDS)}.")
    stations, shape = _stations(coordinates)
    box, rho = _prisms(prisms, density, disable_checks)
    values = {name: np.zeros(stations.shape[1]) for name in names}
    finite = bool(np.isfinite(box).all() and np.isfinite(rho).all())
    held = np.isfinite(stations).all(axis=0) & (finite or not rho.size)
    if rho.size:
        for one in values.values():
            one[~held] = np.nan
    if rho.size and held.any():
        at = stations if held.all() else stations[:, held]
        fields = forward(box, rho, *at, channels=cast(Any, names), frame="harmonica", progress=progressbar,
                         **{"singular": "outside", **({} if parallel else {"threads": 1}), **options})
        for name in names:
            values[name][held] = fields[name]
        if not disable_checks and fields.singular is not None and any(np.isnan(fields[name]).any() for name in names):
            warnings.warn("Found observation point on singular point of a prism.", UserWarning, stacklevel=2)
    made = {name: one.reshape(shape).astype(dtype, copy=False) for name, one in values.items()}
    return made[names[0]] if isinstance(field, str) else made


def prism_magnetic(
    coordinates: Sequence[ArrayLike],
    prisms: ArrayLike,
    magnetization: Sequence[ArrayLike],
    field: str,
    parallel: bool = True,
    dtype: DTypeLike = "float64",
    progressbar: bool = False,
    disable_checks: bool = False,
    **options: Any,
) -> Any:
    """Magnetic field of right rectangular prisms, as ``harmonica.prism_magnetic``.

    Parameters
    ----------
    coordinates : sequence of arrays
        Easting, northing, upward of the stations, m.
    prisms : array_like [m, 6] or [6]
        West, east, south, north, bottom, top, m.
    magnetization : (easting, northing, upward), arrays [m] or numbers
        A/m.
    field : {"b", "b_e", "b_n", "b_u"}
        nT; "b" returns all three components.
    parallel, dtype, progressbar, disable_checks
        As of :func:`prism_gravity`.
    **options
        accuracy, method, threads, as in :func:`terrane.gravity.forward`.

    Notes
    -----
    By Poisson's relation from the gravity gradients. As in harmonica, the field inside of prisms is NaN, also between
    two of them, and so it is on edges and corners of the body; on its faces it is the limit from outside.

    Examples
    --------
    >>> b = prism_magnetic(([0.0], [0.0], [10.0]), [-50, 50, -50, 50, -150, -50], (0.0, 0.0, 1.0), field="b_u")
    >>> print(round(float(b[0]), 3))
    133.275
    """
    if field not in MAGNETIC_FIELDS:
        raise InputError("field", f"is {field!r}", f"Allowed: {', '.join(MAGNETIC_FIELDS)}.")
    if len(magnetization) != 3:
        raise ShapeError("magnetization", f"has {len(magnetization)} components", "Expected easting, northing, upward.")
    stations, shape = _stations(coordinates)
    wanted = [0, 1, 2] if field == "b" else [MAGNETIC_FIELDS[1:].index(field)]
    values = np.zeros((3, stations.shape[1]))
    held = np.isfinite(stations).all(axis=0)
    values[:, ~held] = np.nan
    box, magnets = _magnets(prisms, magnetization, disable_checks)
    if magnets.size and held.any():
        given = {"singular": "outside", **({} if parallel else {"threads": 1}), **options}
        got, inside = flux_density(box, magnets, stations[:, held], progress=progressbar, **given)
        got[:, inside] = np.nan
        values[:, held] = 1e9 * got
    values = values[wanted]
    if not disable_checks and np.isnan(values[:, held]).any():
        warnings.warn("Found observation point on singular point or inside of a prism.", UserWarning, stacklevel=2)
    made = tuple(one.reshape(shape).astype(dtype, copy=False) for one in values)
    return made if field == "b" else made[0]


def _magnets(prisms: ArrayLike, magnetization: Sequence[ArrayLike], unchecked: bool) -> tuple[Floats, Floats]:
    """Faces [m, 6] and magnetizations [3, m] of the prisms that have volume and magnetization; m may be 0."""
    count = np.size(real(prisms, "prisms", "m")) // 6
    m = np.stack([vector(real(one, "magnetization", "A/m").reshape(-1), "magnetization", "A/m", count,
                         ": one for each prism") for one in magnetization])
    box, number = _prisms(prisms, np.arange(1.0, count + 1), unchecked)  # negative: of a prism turned around
    m = np.sign(number) * m[:, np.abs(number).astype(int) - 1]
    held = m.any(axis=0)
    return box[held], m[:, held]


def _stations(coordinates: Sequence[ArrayLike]) -> tuple[Floats, tuple[int, ...]]:
    """[3, n] and the common shape; n may be 0."""
    if len(coordinates) < 3:
        raise ShapeError("coordinates", f"has {len(coordinates)} arrays", "Expected easting, northing, upward.")
    arrays = [real(c, n, "m") for c, n in zip(coordinates, ("easting", "northing", "upward"))]
    try:
        common = np.broadcast_arrays(*arrays)
    except ValueError:
        raise ShapeError("coordinates", f"have shapes {', '.join(str(a.shape) for a in arrays)}",
                         "Expected one shape, or shapes that broadcast against each other.") from None
    return np.stack([c.reshape(-1) for c in common]), common[0].shape


def _prisms(prisms: ArrayLike, density: ArrayLike, unchecked: bool) -> tuple[Floats, Floats]:
    """Faces [m, 6] in order and densities [m] of the prisms that have volume and density; m may be 0."""
    box = real(prisms, "prisms", "m")
    box = box if box.shape == (0, 6) else faces(box)
    rho = real(density, "density", "kg/m3")
    rho = vector(rho.reshape(-1), "density", "kg/m3", box.shape[0], ": one for each prism")
    for axis, (low, high) in enumerate((("west", "east"), ("south", "north"), ("bottom", "top"))):
        lower, upper = box[:, 2 * axis], box[:, 2 * axis + 1]
        turned = lower > upper
        if not turned.any():
            continue
        if not unchecked:
            at = int(np.flatnonzero(turned)[0])
            raise InputError(f"prisms[{at}]", f"{low} is {lower[at]:g} m and {high} {upper[at]:g} m",
                             f"{low} must not be greater than {high}.")
        box = box.copy()
        box[turned, 2 * axis], box[turned, 2 * axis + 1] = upper[turned], lower[turned]
        rho = np.where(turned, -rho, rho)
    null = (rho == 0) | (box[:, 0] == box[:, 1]) | (box[:, 2] == box[:, 3]) | (box[:, 4] == box[:, 5])
    return (box[~null], rho[~null]) if null.any() else (box, rho)


def _spacing(nodes: Floats, name: str) -> float:
    steps = np.diff(nodes)
    if nodes.ndim != 1 or nodes.size < 2:
        raise ShapeError(name, f"has shape {nodes.shape}", "Expected two nodes or more along each axis.")
    if not np.allclose(steps, steps[0]):
        raise InputError(name, "is not evenly spaced", "A prism layer stands on a regular grid.")
    return float(steps[0])


def _layer_prisms(layer: Any) -> Floats:
    easting, northing = layer["easting"].values, layer["northing"].values
    half = [_spacing(easting, "easting") / 2, _spacing(northing, "northing") / 2]
    e, n = np.meshgrid(easting, northing)
    dims = ("northing", "easting")
    columns = [e - half[0], e + half[0], n - half[1], n + half[1], layer["bottom"].transpose(*dims).values,
               layer["top"].transpose(*dims).values]
    return np.stack([np.asarray(c, dtype=float).ravel() for c in columns], axis=1)


class PrismLayerAccessor:
    """What ``dataset.prism_layer`` offers when harmonica is not loaded; always as ``dataset.terrane_layer``."""

    def __init__(self, dataset: Any) -> None:
        self._obj = dataset

    @property
    def dims(self) -> tuple[str, str]:
        return "northing", "easting"

    @property
    def shape(self) -> tuple[int, int]:
        """(n_north, n_east)"""
        return self._obj.northing.size, self._obj.easting.size

    @property
    def size(self) -> int:
        return int(self._obj.northing.size * self._obj.easting.size)

    @property
    def spacing(self) -> tuple[float, float]:
        """(along northing, along easting), m."""
        return _spacing(self._obj.northing.values, "northing"), _spacing(self._obj.easting.values, "easting")

    @property
    def boundaries(self) -> tuple[float, float, float, float]:
        """West, east, south, north, m."""
        prisms = _layer_prisms(self._obj)
        return (float(prisms[:, 0].min()), float(prisms[:, 1].max()), float(prisms[:, 2].min()),
                float(prisms[:, 3].max()))

    def update_top_bottom(self, surface: ArrayLike, reference: ArrayLike) -> None:
        """Set ``top`` and ``bottom`` from a surface [north, east] and a reference (m), whichever is higher."""
        top = real(surface, "surface", "m")
        if top.shape != self.shape:
            raise ShapeError("surface", f"has shape {top.shape}", f"Expected {self.shape}: [northing, easting].")
        low = real(reference, "reference", "m")
        if low.ndim and low.shape != self.shape:
            raise ShapeError("reference", f"has shape {low.shape}", f"Expected {self.shape}, or a number.")
        low = np.broadcast_to(low, self.shape)
        below = top < low
        self._obj.coords["top"] = (self.dims, np.where(below, low, top))
        self._obj.coords["bottom"] = (self.dims, np.where(below, top, low))

    def get_prism(self, indices: tuple[int, int]) -> tuple[float, ...]:
        """West, east, south, north, bottom, top of the prism at (northing, easting) indices."""
        prisms = _layer_prisms(self._obj).reshape(*self.shape, 6)
        return tuple(float(v) for v in prisms[indices])

    def gravity(self, coordinates: Sequence[ArrayLike], field: Union[str, Sequence[str]], progressbar: bool = False,
                density_name: str = "density", thickness_threshold: Optional[float] = None, **options: Any) -> Any:
        """Gravity of the layer; prisms with NaN in top, bottom or density are left out, and zero when none is left.

        Parameters as in :func:`prism_gravity`; ``density_name``: the variable that is the density;
        ``thickness_threshold``: thinner prisms are left out, m.
        """
        prisms = _layer_prisms(self._obj)
        density = np.asarray(self._obj[density_name].transpose(*self.dims).values, dtype=float).ravel()
        held = ~np.isnan(prisms[:, 4]) & ~np.isnan(prisms[:, 5])
        if np.isnan(density[held]).any():
            warnings.warn(f'"{density_name}" of the prism layer has missing values; their prisms are left out.',
                          stacklevel=2)
        held &= ~np.isnan(density)
        if thickness_threshold is not None:
            held &= (prisms[:, 5] - prisms[:, 4]) >= thickness_threshold
        return prism_gravity(coordinates, prisms[held], density[held], field, progressbar=progressbar, **options)

    def to_pyvista(self, drop_null_prisms: bool = True) -> Any:
        """A ``pyvista.UnstructuredGrid`` of hexahedra with the layer's variables as cell data.

        drop_null_prisms: whether prisms without height, or with NaN in top or bottom, are left out.
        """
        prisms = _layer_prisms(self._obj)
        thick = prisms[:, 5] - prisms[:, 4]
        held = ~(np.isnan(thick) | (thick == 0)) if drop_null_prisms else np.ones(prisms.shape[0], bool)
        grid = hexahedra(prisms[held])
        for name in self._obj.data_vars:
            grid.cell_data[name] = self._obj[name].transpose(*self.dims).values.ravel()[held]
        return grid


def _register() -> None:
    import xarray

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        register: Any = xarray.register_dataset_accessor
        register("terrane_layer")(PrismLayerAccessor)
        if not hasattr(xarray.Dataset, "prism_layer"):
            register("prism_layer")(PrismLayerAccessor)


def prism_layer(coordinates: Sequence[ArrayLike], surface: ArrayLike, reference: ArrayLike,
                properties: Optional[dict[str, ArrayLike]] = None) -> Any:
    """A layer of prisms of equal size, as ``harmonica.prism_layer``.

    Parameters
    ----------
    coordinates : (easting, northing)
        Centres of the prisms along both axes, or 2-D arrays of them, m.
    surface : array_like [n_north, n_east]
        m; where it lies below the reference the prism reaches from it up to the reference.
    reference : array_like [n_north, n_east] or float
        m.
    properties : mapping of name to array_like [n_north, n_east]
        Such as density, kg/m³.

    Returns
    -------
    xarray.Dataset
        With ``.prism_layer.gravity(coordinates, field)`` (also ``.terrane_layer``, whoever else is loaded).

    Examples
    --------
    >>> layer = prism_layer(([0.0, 10.0], [0.0, 10.0]), [[5.0, 6.0], [7.0, 8.0]], 0.0,
    ...                     properties={"density": [[2670.0, 2670.0], [2670.0, 2670.0]]})
    >>> print(round(float(layer.terrane_layer.gravity(([5.0], [5.0], [10.0]), "g_z")[0]), 6))
    0.364788
    """
    import xarray

    _register()
    axes = []
    for place, name in enumerate(("easting", "northing")):
        nodes = real(coordinates[place], name, "m")
        if nodes.ndim == 2:
            line = nodes[0, :] if place == 0 else nodes[:, 0]
            if not np.allclose(nodes, line if place == 0 else line[:, None]):
                raise InputError(name, "is not that of a regular grid", "Expected what np.meshgrid returns.")
            nodes = line
        _spacing(nodes, name)
        axes.append(nodes)
    layer = xarray.Dataset(coords={"easting": axes[0], "northing": axes[1]},
                           attrs={"coords_units": "meters", "properties_units": "SI"})
    PrismLayerAccessor(layer).update_top_bottom(surface, reference)
    for name, values in (properties or {}).items():
        layer[name] = (("northing", "easting"), real(values, name))
    return layer
