"""Angle gathers: the images of a migration by the angle at which waves meet the reflector.

A wave that arrives at a reflector at the angle γ from its normal, sent ``h`` to the west and received ``h`` to the east
of an image point, focuses where ``up`` has changed by −h tan γ, whatever the dip (Sava & Fomel 2003, Geophysics 68,
1065–1074). So the sum of the images at lags along that line is the image of γ alone. Where the velocity is right a
reflector lies equally deep at all angles; where rock is too slow it curves upward with |γ|, where too fast downward.
"""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike

from .dataset import _xarray
from .errors import InputError, ShapeError

__all__ = ["angle_gathers"]


def angle_gathers(images: Any, angles: Optional[ArrayLike] = None, *, filtered: bool = True) -> Any:
    """Images by angle from images at lags, as an ``xarray.DataArray`` (angle, up, northing, easting).

    Parameters
    ----------
    images : xarray.Dataset or DataArray
        A migration with ``lags``, or its ``image_at_lags`` (lag, up, northing, easting).
    angles : array, optional
        Degrees from the normal of the reflector; positive where the source's wave runs to the east. By default from
        −50 to 50, 2 apart. Above 75 a slant stack has nothing to add up.
    filtered : bool
        Take the second difference along up first: what waves that run the same way add to all lags, smooth, goes.

    Notes
    -----
    Angles are told apart as far as the lags reach: one cell up or down along the largest lag, H, is h_up/H of tan γ.
    """
    stack = images if getattr(images, "data_vars", None) is None else images.data_vars.get("image_at_lags")
    if stack is None:
        raise InputError("images", "hold no image_at_lags", "Run the migration with lags = 20, say.")
    if set(stack.dims) != {"lag", "up", "northing", "easting"}:
        raise ShapeError("images", f"have the dimensions {tuple(stack.dims)}",
                         "Expected lag, up, northing and easting.")
    degrees = np.asarray(np.arange(-50.0, 51.0, 2.0) if angles is None else angles, dtype=float).ravel()
    if degrees.size == 0 or not (np.abs(degrees) <= 75).all():
        raise InputError("angles", "are none, or reach beyond 75 degrees", "Allowed: −75 to 75.")
    stack = stack.transpose("lag", "up", "northing", "easting")
    values = np.asarray(stack.values, dtype=float)
    up = np.asarray(stack["up"].values, dtype=float)
    cell = (up[-1] - up[0]) / (up.size - 1)
    if filtered:
        edged = np.pad(values, ((0, 0), (1, 1), (0, 0), (0, 0)), mode="edge")
        values = (edged[:, 2:] - 2 * values + edged[:, :-2]) / cell**2
    lags = np.asarray(stack["lag"].values, dtype=float)
    # A straight line that ends suddenly leaves a tail at all angles.
    weights = np.cos(0.5 * np.pi * lags / (np.abs(lags).max() + cell)) ** 2 if lags.size > 1 else np.ones(1)
    out = np.zeros((degrees.size, *values.shape[1:]))
    rows = np.arange(up.size)
    for n, slope in enumerate(np.tan(np.radians(degrees))):
        for image, lag, weight in zip(values, lags, weights):
            at = rows - lag * slope / cell
            below = np.floor(at).astype(int)
            for row, share in ((below, 1 - (at - below)), (below + 1, at - below)):
                there = (row >= 0) & (row < up.size)
                out[n, there] += (weight * share[there])[:, None, None] * image[row[there]]
    coordinates = {"angle": ("angle", degrees, {"units": "degree"}),
                   **{name: stack[name] for name in ("up", "northing", "easting")}}
    return _xarray().DataArray(out, coordinates, ("angle", "up", "northing", "easting"), "image_at_angles",
                               {"long_name": "image by the angle from the reflector's normal"})
