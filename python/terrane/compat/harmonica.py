"""The functions of harmonica that compute gravity of prisms, with their names, fields and units."""

from __future__ import annotations

import warnings
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from .._arrays import Floats, faces, real, vector
from ..errors import InputError, ShapeError
from ..gravity import forward

__all__ = ["FIELDS", "prism_gravity", "prism_layer"]

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
        Kept for its name: checks cost nothing beside the sum.
    **options
        accuracy, method, threads, gravitational_constant, singular, as in :func:`terrane.gravity.forward`.

    Notes
    -----
    The tensor on faces is the limit from outside, and NaN on edges and corners, as in harmonica. Prisms without
    volume or density are left out.

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
    if len(coordinates) < 3:
        raise ShapeError("coordinates", f"has {len(coordinates)} arrays", "Expected easting, northing, upward.")
    box = faces(prisms)
    rho = real(density, "density", "kg/m3")
    rho = vector(rho.reshape(-1), "density", "kg/m3", box.shape[0], ": one for each prism")
    null = (rho == 0) | (box[:, 0] == box[:, 1]) | (box[:, 2] == box[:, 3]) | (box[:, 4] == box[:, 5])
    shape = np.broadcast(*(real(c, n, "m") for c, n in zip(coordinates, ("easting", "northing", "upward")))).shape
    if null.all():
        fields: dict[str, Any] = {name: np.zeros(shape) for name in names}
    else:
        if null.any():
            box, rho = box[~null], rho[~null]
        fields = forward(box, rho, *coordinates[:3], channels=names, frame="harmonica", progress=progressbar,
                         **{"singular": "outside", **({} if parallel else {"threads": 1}), **options})
    made = {name: fields[name].astype(dtype, copy=False) for name in names}
    return made[names[0]] if isinstance(field, str) else made


def _layer_prisms(layer: Any) -> Floats:
    easting, northing = layer["easting"].values, layer["northing"].values
    half = []
    for name, nodes in (("easting", easting), ("northing", northing)):
        steps = np.diff(nodes)
        if nodes.size < 2 or not np.allclose(steps, steps[0]):
            raise InputError(name, "is not evenly spaced", "A prism layer stands on a regular grid.")
        half.append(float(steps[0]) / 2)
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
        e, n = self._obj.easting.values, self._obj.northing.values
        return float(n[1] - n[0]), float(e[1] - e[0])

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
        """Gravity of the layer; prisms with NaN in top, bottom or density are left out.

        Parameters as in :func:`prism_gravity`; ``density_name``: the variable that is the density;
        ``thickness_threshold``: thinner prisms are left out, m.
        """
        prisms = _layer_prisms(self._obj)
        density = np.asarray(self._obj[density_name].transpose(*self.dims).values, dtype=float).ravel()
        held = np.isfinite(prisms[:, 4]) & np.isfinite(prisms[:, 5])
        if np.isnan(density[held]).any():
            warnings.warn(f'"{density_name}" of the prism layer has missing values; their prisms are left out.',
                          stacklevel=2)
        held &= ~np.isnan(density)
        if thickness_threshold is not None:
            held &= (prisms[:, 5] - prisms[:, 4]) >= thickness_threshold
        if not held.any():
            raise InputError("layer", "no prism is left", "All have NaN, or are thinner than thickness_threshold.")
        return prism_gravity(coordinates, prisms[held], density[held], field, progressbar=progressbar, **options)


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
            nodes = nodes[0, :] if place == 0 else nodes[:, 0]
        axes.append(nodes)
    layer = xarray.Dataset(coords={"easting": axes[0], "northing": axes[1]},
                           attrs={"coords_units": "meters", "properties_units": "SI"})
    PrismLayerAccessor(layer).update_top_bottom(surface, reference)
    for name, values in (properties or {}).items():
        layer[name] = (("northing", "easting"), real(values, name))
    return layer
