"""Where fields are observed."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, Mapping, NamedTuple, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Floats, axis, real, text_table
from ._pictured import Pictured
from ._strict import Strict
from .errors import InputError, ShapeError

__all__ = ["Column", "Survey"]


def warn_left_out(path: str, names: Sequence[str]) -> None:
    """Warns of what a file just written has no room for."""
    if names:
        warnings.warn(f"{path}: this format leaves out {', '.join(names)}", stacklevel=3)


def words_of(values: ArrayLike) -> Optional[list[str]]:
    """Of an array of texts these, a gap being none; None where there is a number."""
    array = np.asarray(values)
    if array.dtype.kind == "O":
        flat = ["" if one is None or one != one else one for one in array.reshape(-1)]
        return list(map(str, flat)) if any(flat) and all(isinstance(one, str) for one in flat) else None
    if array.dtype.kind not in "UST":
        return None
    return [str(one) for one in array.reshape(-1)]


class Column(NamedTuple):
    """Numbers with a name and a unit."""

    name: str
    unit: str
    description: str
    values: Floats


class Survey(Pictured, Strict):
    """Stations, in the model's coordinates.

    Parameters
    ----------
    easting, northing : array_like [n]
        m.
    up : array_like [n] or float
        m.
    columns : mapping of name to array_like [n], optional
        Further columns of the stations, numbers or words (names, dates); they are copied into the result.
    projection : str
        PROJ string or EPSG code of easting and northing, when there is one.

    Attributes
    ----------
    frame : str
        Frame of those columns that are channels ("enu", "ubc", ...), when their file states it. Such a column with a
        unit is observed data: a result has it as ``g_u_observed``, beside ``g_u_uncertainty`` and ``g_u_residual``.

    Examples
    --------
    >>> Survey.grid([0, 100, 200], [0, 100], up=10)
    Survey: 6 stations, a grid of 3 × 2 (east × north)
      easting   0 … 200 m
      northing  0 … 100 m
      up        10 m
    """

    easting: Floats
    northing: Floats
    up: Floats
    projection: str
    frame: str

    def __init__(self, easting: ArrayLike, northing: ArrayLike, up: ArrayLike, *,
                 columns: Optional[Mapping[str, ArrayLike]] = None, projection: str = "") -> None:
        self._made_as: Optional[tuple[int, int]] = None
        arrays = [real(a, name, "m") for a, name in ((easting, "easting"), (northing, "northing"), (up, "up"))]
        try:
            arrays = [np.ascontiguousarray(a).reshape(-1) for a in np.broadcast_arrays(*arrays)]
        except ValueError:
            raise ShapeError("easting, northing, up", f"have shapes {', '.join(str(a.shape) for a in arrays)}",
                             "Expected one entry for each station.") from None
        self.easting, self.northing, self.up = arrays
        if len(self) == 0:
            raise ShapeError("easting", "there are no stations", "Expected at least one.")
        for name, array in (("easting", self.easting), ("northing", self.northing), ("up", self.up)):
            if not np.all(np.isfinite(array)):
                raise InputError(name, f"station {int(np.flatnonzero(~np.isfinite(array))[0])} is not finite",
                                 "Coordinates are finite numbers in metres.")
        self.projection = projection
        self.frame = ""
        self._columns: dict[str, Column] = {}
        self._texts: dict[str, list[str]] = {}
        for name, values in (columns or {}).items():
            self.set_column(name, values)

    @classmethod
    def grid(cls, easting: ArrayLike, northing: ArrayLike, up: ArrayLike, *, projection: str = "") -> Survey:
        """Stations at every crossing of two ascending axes; ``up`` is a number or [n_north, n_east], m."""
        east, north = axis(easting, "easting"), axis(northing, "northing")
        height = real(up, "up", "m")
        if height.ndim and height.shape != (north.size, east.size):
            raise ShapeError("up", f"has shape {height.shape}", f"Expected ({north.size}, {east.size}), or a number.")
        e, n = np.meshgrid(east, north)
        survey = cls(e, n, np.broadcast_to(height, e.shape), projection=projection)
        survey._made_as = (north.size, east.size)
        return survey

    def set_column(self, name: str, values: ArrayLike, unit: str = "", description: str = "") -> None:
        """Add or replace a column [n] of numbers, or of words, which have no unit."""
        words = words_of(values)
        if words is not None:
            if len(words) != len(self):
                raise ShapeError(f"columns[{name!r}]", f"has {len(words)} entries",
                                 f"Expected {len(self)}, one per station.")
            if unit:
                raise InputError(f"columns[{name!r}]", f"holds words, in {unit}", "Leave the unit out.")
            self._columns.pop(name, None)
            self._texts[name] = words
            return
        self._texts.pop(name, None)
        array = real(values, f"columns[{name!r}]")
        array = np.ascontiguousarray(array).reshape(-1)
        if array.size != len(self):
            raise ShapeError(f"columns[{name!r}]", f"has {array.size} entries", f"Expected {len(self)}, one per station.")
        self._columns[name] = Column(name, unit, description, array)

    @property
    def columns(self) -> dict[str, Column]:
        """Columns of numbers beside the coordinates, by name."""
        return dict(self._columns)

    @property
    def texts(self) -> dict[str, list[str]]:
        """Columns of words, such as names of stations, by name."""
        return {name: list(words) for name, words in self._texts.items()}

    @property
    def shape(self) -> tuple[int, ...]:
        """(n_north, n_east) of a grid, otherwise (n,)."""
        axes = self.axes
        return (len(self),) if axes is None else (axes[1].size, axes[0].size)

    @property
    def is_grid(self) -> bool:
        return self.axes is not None

    @property
    def axes(self) -> Optional[tuple[Floats, Floats]]:
        """Easting and northing of a grid's nodes; None for a list, and where stations were moved off their grid."""
        if self._made_as is None or self.easting.size != np.prod(self._made_as):
            return None
        east, north = self.easting.reshape(self._made_as), self.northing.reshape(self._made_as)
        axes = np.ascontiguousarray(east[0]), np.ascontiguousarray(north[:, 0])
        on_nodes = np.all(east == axes[0]) and np.all(north.T == axes[1])
        return axes if on_nodes and all(np.all(np.diff(one) > 0) for one in axes) else None

    def __len__(self) -> int:
        return int(self.easting.size)

    @classmethod
    def read(cls, path: Union[str, PathLike[str]], *, length_unit: str = "") -> Survey:
        """Stations from a file with columns easting, northing, up, or a grid with a field up."""
        return cls._from_content(str(path), _core.read(str(path), length_unit=length_unit))

    @classmethod
    def _from_content(cls, path: str, held: dict[str, Any]) -> Survey:
        if held["kind"] == "grid":
            fields = {c[0]: Column(*c) for c in held["fields"]}
            if "up" not in fields:
                raise InputError(path, "is a grid without heights", "Stations need a field up, in metres.")
            shape = (held["northing"].size, held["easting"].size)
            survey = cls.grid(held["easting"], held["northing"], fields.pop("up").values.reshape(shape),
                              projection=held["projection"])
        elif held["kind"] == "table":
            fields = {c[0]: Column(*c) for c in held["columns"]}
            missing = [name for name in ("easting", "northing", "up") if name not in fields]
            if missing:
                raise InputError(path, f"has no column {', '.join(missing)}", f"It has: {', '.join(fields)}.")
            e, n, u = (fields.pop(name) for name in ("easting", "northing", "up"))
            for column in (e, n, u):
                if column.unit not in ("", "m"):
                    raise InputError(path, f"{column.name} is in {column.unit}", "Convert it to m.")
            survey = cls(e.values, n.values, u.values, projection=held["projection"])
            survey._texts = {name: list(words) for name, words in held["texts"].items()}
        else:
            raise InputError(path, f"holds a {held['kind']}, not stations")
        survey._columns = fields
        survey.frame = held["attributes"].get("frame", "")
        return survey

    def write(self, path: Union[str, PathLike[str]]) -> None:
        """Write stations and columns: .csv, .nc, and other formats by extension."""
        content = {"kind": "table", "survey": self._engine(), "attributes": {"program": "terrane"}}
        warn_left_out(str(path), _core.write(str(path), content))

    @classmethod
    def from_pandas(cls, frame: Any) -> Survey:
        """From a DataFrame with columns easting, northing, up; its other columns of numbers and of words are kept."""
        missing = [name for name in ("easting", "northing", "up") if name not in frame]
        if missing:
            raise InputError("frame", f"has no column {', '.join(missing)}", "Expected easting, northing, up, in metres.")
        survey = cls(frame["easting"].to_numpy(), frame["northing"].to_numpy(), frame["up"].to_numpy())
        for name in frame.columns:
            values = frame[name]
            if name not in ("easting", "northing", "up") and (values.dtype.kind in "fiu"
                                                              or words_of(values.to_numpy()) is not None):
                survey.set_column(str(name), frame[name].to_numpy())
        return survey

    def to_pandas(self) -> Any:
        """A DataFrame with columns easting, northing, up and the others."""
        import pandas

        return pandas.DataFrame({"easting": self.easting, "northing": self.northing, "up": self.up,
                                 **{name: column.values for name, column in self._columns.items()}, **self._texts})

    def _for_pictures(self) -> Any:
        from .plotting import objects

        return objects.of_stations(self.easting, self.northing, self.up, self.shape, self.axes,
                                   [(c.name, c.unit, c.values) for c in self._columns.values()])

    def _engine(self) -> tuple[Any, ...]:
        return (self.easting, self.northing, self.up, list(self._columns.values()), self.axes, self.projection,
                self.frame, self._texts)

    def _title(self) -> str:
        text = f"Survey: {len(self):,} stations"
        return text if self.axes is None else f"{text}, a grid of {self.shape[1]} × {self.shape[0]} (east × north)"

    def _rows(self) -> list[tuple[str, str]]:
        def span(values: Floats) -> str:
            low, high = values.min(), values.max()
            return f"{low:.10g} m" if low == high else f"{low:.10g} … {high:.10g} m"

        rows = [("easting", span(self.easting)), ("northing", span(self.northing)), ("up", span(self.up))]
        if self._columns or self._texts:
            rows.append(("columns", ", ".join([*self._columns, *self._texts])))
        if self.projection:
            rows.append(("projection", self.projection))
        return rows

    def __repr__(self) -> str:
        return text_table(self._title(), self._rows())

    def _picture(self, name: str = "up", values: Optional[Floats] = None) -> str:
        """A map of the heights, or of values [n]."""
        from ._notebook import around, map_of, marks_of

        values = self.up if values is None else values
        axes = self.axes
        if axes is None:
            return marks_of(self.easting, self.northing, name, values)
        return map_of(values.reshape(self.shape), around(axes[0]), around(axes[1]), name)

    def _repr_html_(self) -> str:
        from ._notebook import card, table

        rows = [(name, f"{column.unit} {column.description}".strip()) for name, column in self._columns.items()]
        return card(self._title(), self._rows(), self._picture(), [("columns", table(rows))] if rows else [])
