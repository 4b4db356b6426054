"""Data sets: named dimensions, coordinates and variables, complex and single precision too."""

from __future__ import annotations

from os import PathLike
from typing import Any, Union

import numpy as np

from . import _core
from .errors import UnsupportedError

__all__ = ["read_dataset", "write_dataset"]

Path = Union[str, "PathLike[str]"]


def _xarray() -> Any:
    try:
        import xarray
    except ImportError as error:
        raise UnsupportedError("dataset", "there is no xarray", "pip install xarray") from error
    return xarray


def to_xarray(held: dict[str, Any]) -> Any:
    """An ``xarray.Dataset`` of what the engine hands over."""
    sizes = held["dimensions"]

    def entry(variable: Any) -> Any:
        _, dims, values, unit, long_name, attributes, *_ = variable
        given = {"units": unit, "long_name": long_name, **dict(attributes)}
        if isinstance(values, list):
            values = np.array(values, dtype=object).reshape([sizes[d] for d in dims])
        return tuple(dims), values, {name: value for name, value in given.items() if value != ""}

    variables, coordinates = ({v[0]: entry(v) for v in held[kind]} for kind in ("variables", "coordinates"))
    return _xarray().Dataset(variables, coords=coordinates, attrs=dict(held["attributes"]))


def _variable(name: Any, array: Any) -> tuple[Any, ...]:
    attributes = dict(array.attrs)
    values = array.values
    if values.dtype.kind in "OUS":
        values = [str(word) for word in values.ravel()]
    elif values.dtype.kind == "b":
        values = values.astype(np.uint8)
    elif values.dtype.kind in "iu" and values.dtype not in (np.int32, np.uint8):
        narrow = values.astype(np.int32)
        values = narrow if np.array_equal(narrow, values) else values.astype(np.float64)
    kept = values if isinstance(values, list) else np.ascontiguousarray(values).reshape(np.shape(values))
    unit, long_name = str(attributes.pop("units", "")), str(attributes.pop("long_name", ""))
    return (str(name), [str(d) for d in array.dims], kept, unit, long_name, _attributes(attributes))


def _attributes(attributes: Any) -> list[tuple[str, Any]]:
    return [(str(name), float(value) if isinstance(value, (int, float, np.number)) else str(value))
            for name, value in attributes.items()]


def write_dataset(dataset: Any, path: Path) -> None:
    """Write an ``xarray.Dataset``: to NetCDF (.nc) with complex numbers, which xarray itself refuses; else as a table.

    Complex values have a last dimension ``complex`` in the file, with the entries "real" and "imag".
    """
    _core.write_dataset(str(path), {
        "dimensions": {str(name): int(size) for name, size in dataset.sizes.items()},
        "coordinates": [_variable(name, array) for name, array in dataset.coords.items()],
        "variables": [_variable(name, array) for name, array in dataset.data_vars.items()],
        "attributes": _attributes(dataset.attrs)})


def read_dataset(path: Path) -> Any:
    """A NetCDF file as an ``xarray.Dataset``; what was written as complex is complex again.

    Examples
    --------
    >>> import xarray
    >>> field = xarray.Dataset({"e_x": ("station", [1 + 2j, 3 - 1j], {"units": "V/m"})})
    >>> write_dataset(field, "field.nc")
    >>> read_dataset("field.nc").e_x.values
    array([1.+2.j, 3.-1.j])
    """
    return to_xarray(_core.read_dataset(str(path)))
