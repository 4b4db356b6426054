"""Arrays at the door: float64 without copies where the layout allows, errors that name the argument."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .errors import InputError, ShapeError

Floats = NDArray[np.float64]

_FLOAT64 = np.dtype(np.float64)
_SI = {"m": {"m", "metre", "meter", "metres", "meters"},
       "kg/m3": {"kg/m3", "kg/m^3", "kg m-3", "kg m**-3", "kg m^-3", "kg.m-3", "kg/m**3", "kg/m³", "kg m⁻³"}}


def real(value: ArrayLike, name: str, unit: str = "") -> Floats:
    """An array of float64, native byte order, any strides. Raises InputError that names the argument."""
    if type(value) is np.ndarray and value.dtype == _FLOAT64:
        return value
    return _cast(value, name, unit)


def _cast(value: Any, name: str, unit: str) -> Floats:
    mask = getattr(value, "mask", None)
    if isinstance(value, np.ma.MaskedArray) and np.any(mask):
        raise InputError(name, "has masked entries", "Leave them out, or fill them.")
    _check_unit(value, name, unit)
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ShapeError(name, f"is not an array: {error}", "Rows of a list must be equally long.") from error
    if array.dtype == _FLOAT64:
        return array
    if array.dtype.kind not in "fiu":
        raise InputError(name, f"has dtype {array.dtype}", "Numbers are expected: floats or integers.")
    return array.astype(np.float64)


def _check_unit(value: Any, name: str, unit: str) -> None:
    """Arrays that carry a unit must carry the right one."""
    if not unit or type(value) in (list, tuple, float, int):
        return
    attributes = getattr(value, "attrs", None)
    given: Optional[Any] = attributes.get("units") if isinstance(attributes, dict) else None
    if given is None and hasattr(value, "magnitude"):  # pint
        given = getattr(value, "units", None)
    if given is None and hasattr(value, "to_value"):  # astropy
        given = getattr(value, "unit", None)
    if given is None:
        return
    text = str(given).strip().replace("kilogram", "kg").replace(" ** ", "^").replace(" / ", "/")
    text = text.replace("meter", "m") if unit != "m" else text
    if text and text not in _SI.get(unit, {unit}):
        raise InputError(name, f"is in {given}", f"Convert it to {unit}.")


def vector(value: ArrayLike, name: str, unit: str = "", size: Optional[int] = None, of: str = "") -> Floats:
    """[n]; a single number becomes an array of `size` when that is given."""
    array = real(value, name, unit)
    if array.ndim == 0 and size is not None:
        return np.full(size, float(array))
    if array.ndim != 1:
        raise ShapeError(name, f"has shape {array.shape}",
                         f"Expected [{size if size is not None else 'n'}]: one dimension.")
    if size is not None and array.shape[0] != size:
        raise ShapeError(name, f"has shape {array.shape}", f"Expected [{size}]{of}, or a single number.")
    return array


def count(value: Any, name: str, least: int = 1) -> int:
    """A whole number, not one that is cut to a whole one."""
    try:
        whole = value.__index__() if hasattr(value, "__index__") and not isinstance(value, bool) else None
        if whole is None and isinstance(value, (float, np.floating)) and float(value).is_integer():
            whole = int(value)
    except TypeError:  # an array of several
        whole = None
    if whole is None or whole < least:
        raise InputError(name, f"is {value!r}", f"A whole number of at least {least} is expected.")
    return int(whole)


def text(value: Any, name: str, allowed: str) -> str:
    if not isinstance(value, str):
        raise InputError(name, f"is {value!r}", f"Allowed: {allowed}.")
    return value


def axis(value: ArrayLike, name: str, least: int = 1) -> Floats:
    """Ascending coordinates, contiguous."""
    array = np.ascontiguousarray(vector(value, name, "m"))
    if array.size < least:
        raise ShapeError(name, f"has {array.size} entries", f"Expected at least {least}.")
    if not np.all(np.isfinite(array)):
        raise InputError(name, f"entry {int(np.flatnonzero(~np.isfinite(array))[0])} is not finite")
    wrong = np.flatnonzero(np.diff(array) <= 0)
    if wrong.size:
        at = int(wrong[0])
        raise InputError(name, f"does not ascend: entry {at} is {array[at]:g} and entry {at + 1} is {array[at + 1]:g}",
                         "Coordinates are in metres, each greater than the one before.")
    return array


def faces(prisms: ArrayLike, name: str = "prisms") -> Floats:
    """[m, 6]: west, east, south, north, bottom, top."""
    array = real(prisms, name, "m")
    if array.ndim == 1 and array.shape[0] == 6:
        array = array.reshape(1, 6)
    if array.ndim != 2 or array.shape[1] != 6:
        hint = " Give prisms.T ?" if array.ndim == 2 and array.shape[0] == 6 else ""
        raise ShapeError(name, f"has shape {array.shape}",
                         f"Expected [m, 6]: west, east, south, north, bottom, top, in metres.{hint}")
    if array.shape[0] == 0:
        raise ShapeError(name, "there are no prisms", "Expected [m, 6] with m of at least 1.")
    return array


def bounds_text(box: Any) -> str:
    w, e, s, n, b, t = (float(v) for v in box)
    return f"easting {w:.10g} … {e:.10g} m, northing {s:.10g} … {n:.10g} m, up {b:.10g} … {t:.10g} m"


def text_table(title: str, rows: list[tuple[str, str]]) -> str:
    width = max((len(name) for name, _ in rows), default=0)
    return "\n".join([title, *(f"  {name:<{width}}  {text}" for name, text in rows)])
