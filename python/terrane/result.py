"""What a run returns: a data set, with everything needed to know how it came about."""

from __future__ import annotations

import functools
import os
import tempfile
from os import PathLike
from typing import Any, Iterator, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arrays import text_table
from ._pictured import Plots
from ._strict import Strict
from .dataset import to_xarray
from .errors import InputError, UnsupportedError
from .survey import Column, Survey, warn_left_out

__all__ = ["Report", "Result"]


class Report(Strict, dict[str, Any]):
    """Facts about a run, by name: ``report["seconds"]`` or ``report.seconds``."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"the report has no {name!r}; it has {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self})


def _dataset(one: Any) -> Any:
    return one.dataset if isinstance(one, Result) else one


def _datasets(many: Sequence[Any]) -> list[Any]:
    """Results in a list or a tuple, too."""
    return [type(one)(map(_dataset, one)) if type(one) in (list, tuple) else _dataset(one) for one in many]


def _numbers(one: Any) -> Any:
    """Of a result the data set of what can be computed with: no flags and no words."""
    if not isinstance(one, Result):
        return one
    made = one.dataset
    return made[[name for name, values in made.data_vars.items() if values.dtype.kind in "fciu"]]


class Result(Strict):
    """Fields at stations.

    It wraps an ``xarray.Dataset``, made when first asked for: ``result["g_u"]`` is its DataArray, and every
    attribute and method of the Dataset can be used on the result itself (``result.g_u``, ``result.sel(...)``), and
    results are added, subtracted and scaled as Datasets are (``result - other``). ``xarray.concat`` and
    ``xarray.merge`` take ``result.to_xarray()``.
    Gridded surveys give variables [northing, easting], lists give [station]. Where the survey has observed data of a
    field, they are ``g_u_observed``, ``g_u_uncertainty`` and ``g_u_residual`` (observed − computed), all in one frame;
    ``report["misfits"]`` has their rms and chi-squared.

    Attributes
    ----------
    survey : Survey
    attributes : dict of str
        Program, version, frame, gravitational constant, settings, and the job where there was one.
    report : dict
        Method and why, seconds, memory, estimated and verified error, what rounding takes of the potential, the
        vector and the tensor (``rounding_floor``), stations inside bodies.
    dataset : xarray.Dataset
    """

    attributes: dict[str, Any]
    report: Report

    def __init__(self, engine: _core.Result) -> None:
        self._engine = engine
        self._dataset: Optional[Any] = None
        self._survey: Optional[Survey] = None
        self._data = engine.data()
        self._at_stations: bool = engine.has_stations()
        self._fields, self._residuals = self._columns("computed"), self._columns("residual")
        self.attributes = dict(self._data["attributes"])
        self.report = Report(engine.report())

    def _columns(self, role: str, kind: str = "variables") -> list[Column]:
        """Of that role; of fields at stations those that are there, flat."""
        variables = [v for v in self._data[kind] if v[6] == role]
        if not self._at_stations:
            return [Column(name, unit, text, values) for name, _, values, unit, text, *_ in variables]
        return [Column(name, unit, text, np.asarray(values, float).reshape(-1))
                for name, on, values, unit, text, *_ in variables if on == self._data["variables"][0][1]]

    def _has_cells(self) -> bool:
        """Whether there are variables beside fields at stations."""
        return any(v[1] != self._data["variables"][0][1] for v in self._data["variables"])

    def __getstate__(self) -> _core.Result:
        return self._engine

    def __setstate__(self, engine: _core.Result) -> None:
        self.__init__(engine)  # type: ignore[misc]

    @property
    def survey(self) -> Survey:
        if not self._at_stations:
            raise InputError("result", "its fields are not at stations", "result.dataset has them and their coordinates.")
        if self._survey is None:
            easting, northing, up = (next(v[2] for v in self._data["coordinates"] if v[0] == name)
                                     for name in ("easting", "northing", "up"))
            projection = self.attributes.get("projection", "")
            survey = (Survey.grid(easting, northing, up, projection=projection) if up.ndim == 2
                      else Survey(easting, northing, up, projection=projection))
            survey.frame = self.attributes.get("frame", "")
            survey._columns = {column.name: column for kind in ("coordinates", "variables")
                               for column in self._columns("given", kind)}
            survey._texts = {name: list(words) for name, on, words, *_ in self._data["coordinates"]
                             if isinstance(words, list) and len(words) == len(survey)}
            self._survey = survey
        return self._survey

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the fields."""
        return tuple(field.name for field in self._fields)

    @property
    def units(self) -> dict[str, str]:
        """Unit of every field."""
        return {field.name: field.unit for field in self._fields}

    @property
    def singular(self) -> Optional[Any]:
        """Where the tensor has no single value, of the survey's shape; None when nowhere."""
        mask = [v[2] for v in self._data["variables"] if v[0] == "singular" and v[6] == "mark"]
        return mask[0].astype(bool) if mask else None

    def values(self, name: str) -> Any:
        """One field, or a residual, as a NumPy array of the survey's shape."""
        for there, _, values, *_, role in self._data["variables"]:
            if there == name and role in ("computed", "residual"):
                return values
        raise InputError("name", f"there is no field {name!r}", f"There are: {', '.join(self.channels)}.")

    @property
    def dataset(self) -> Any:
        """The ``xarray.Dataset``, with coordinates, units and all attributes."""
        if self._dataset is None:
            self._dataset = self._make_dataset()
        return self._dataset

    def _make_dataset(self) -> Any:
        try:
            import xarray
        except ImportError as error:
            raise UnsupportedError("result", "there is no xarray", "pip install xarray; or use result.values(name)") \
                from error
        made = to_xarray(self._data)
        if self.singular is not None:
            made = made.assign_coords(singular=(made["singular"].dims, self.singular,
                                                {"long_name": "the gradient tensor has no single value"}))
        if (projection := self.attributes.get("projection")) and (wkt := _core.crs_wkt(projection)):
            made.coords["spatial_ref"] = ((), 0, {"crs_wkt": wkt, "spatial_ref": wkt})  # of CF, rioxarray and GDAL
            for name in made.data_vars:
                made[name].encoding["grid_mapping"] = "spatial_ref"
        return made

    def __getitem__(self, name: Any) -> Any:
        return self.dataset[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        value = getattr(self.dataset, name)
        if not callable(value) or hasattr(value, "dims"):
            return value

        @functools.wraps(value)
        def method(*arguments: Any, **named: Any) -> Any:
            return value(*_datasets(arguments), **{key: _dataset(one) for key, one in named.items()})

        return method

    def to_xarray(self) -> Any:
        """The ``xarray.Dataset``: what ``xarray.concat`` and ``xarray.merge`` take."""
        return self.dataset

    def on_grid(self) -> Any:
        """The ``xarray.Dataset`` over receiver_northing and receiver_easting, where receivers are all crossings of two
        axes: fields of electromagnetics, heat and waves are over ``receiver`` otherwise. Of a gridded survey's stations
        the data set is over northing and easting already."""
        made = self.dataset
        if self._at_stations and self.survey.is_grid:
            return made
        along = "station" if self._at_stations else "receiver"
        names = ("northing", "easting") if self._at_stations else ("receiver_northing", "receiver_easting")
        if any(name not in made.coords or made[name].dims != (along,) for name in names):
            raise InputError("result", "its fields are not at receivers that all sources share",
                             "result.dataset has them and their coordinates.")
        north, east = (made[name].values for name in names)
        nodes = {(n, e) for n, e in zip(north.tolist(), east.tolist())}
        if len(nodes) != north.size or np.unique(north).size * np.unique(east).size != north.size:
            raise InputError("result", f"its {north.size} {along}s are not all crossings of two axes",
                             "Survey.grid makes such.")
        made = made.drop_vars(along, errors="ignore").set_index({along: list(names)}).unstack(along)
        for name in names:
            made[name].attrs.update(units="m")
        return made

    # -- arithmetic, with numbers, arrays, data sets and other results: a Dataset of the fields --

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        return getattr(ufunc, method)(*[_numbers(one) for one in inputs], **named)

    def __neg__(self) -> Any:
        return -_numbers(self)

    def __abs__(self) -> Any:
        return abs(_numbers(self))

    def __add__(self, other: Any) -> Any:
        return _numbers(self) + _numbers(other)

    def __radd__(self, other: Any) -> Any:
        return _numbers(other) + _numbers(self)

    def __sub__(self, other: Any) -> Any:
        return _numbers(self) - _numbers(other)

    def __rsub__(self, other: Any) -> Any:
        return _numbers(other) - _numbers(self)

    def __mul__(self, other: Any) -> Any:
        return _numbers(self) * _numbers(other)

    def __rmul__(self, other: Any) -> Any:
        return _numbers(other) * _numbers(self)

    def __truediv__(self, other: Any) -> Any:
        return _numbers(self) / _numbers(other)

    def __rtruediv__(self, other: Any) -> Any:
        return _numbers(other) / _numbers(self)

    def __pow__(self, other: Any) -> Any:
        return _numbers(self) ** _numbers(other)

    def __contains__(self, name: object) -> bool:
        return name in self.channels or name in self.dataset

    def __iter__(self) -> Iterator[str]:
        return iter(self.channels)

    def __len__(self) -> int:
        return len(self._fields)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self.dataset)})

    # -- files --

    def write(self, path: Union[str, PathLike[str]]) -> None:
        """Write to a file exactly as the terrane command does; the extension chooses: .nc, .csv, .vts, .npy, ..."""
        warn_left_out(str(path), self._engine.write(str(path)))

    def to_netcdf(self, path: Union[str, PathLike[str]]) -> None:
        """CF NetCDF with coordinates, units and provenance."""
        self._written(path, ".nc")

    def to_csv(self, path: Union[str, PathLike[str]]) -> None:
        """One row per station, units in the header, provenance in comment lines."""
        self._written(path, ".csv")

    def to_vtk(self, path: Union[str, PathLike[str]]) -> None:
        """VTK XML for ParaView: .vts, for gridded surveys."""
        self._written(path, ".vts")

    def _written(self, path: Union[str, PathLike[str]], extension: str) -> None:
        if not str(path).endswith(extension):
            raise InputError("path", f"is {str(path)!r}", f"Its extension must be {extension}.")
        self.write(path)

    def to_pandas(self) -> Any:
        """A DataFrame with one row per station."""
        if not self._at_stations:
            return self.dataset.to_dataframe()
        frame = self.survey.to_pandas()
        return frame.assign(**{field.name: field.values for field in [*self._fields, *self._residuals]})

    def to_pyvista(self) -> Any:
        """A ``pyvista.StructuredGrid`` (gridded surveys) or ``PolyData`` with the fields as point data."""
        from .mesh import _pyvista

        pyvista, survey = _pyvista(), self.survey
        if survey.axes is not None:
            shape = survey.shape
            points = pyvista.StructuredGrid(*(np.ascontiguousarray(a.reshape(shape).T)[..., None]
                                              for a in (survey.easting, survey.northing, survey.up)))
        else:
            points = pyvista.PolyData(np.column_stack([survey.easting, survey.northing, survey.up]))
        for field in self._fields:
            points.point_data[field.name] = field.values
        return points

    @property
    def plot(self) -> Plots:
        """``result.plot()`` draws as :func:`terrane.plot` does; xarray's own plots are ``result.plot.scatter`` and others."""
        return Plots(self)

    def _for_pictures(self) -> Any:
        """What plotting draws: of stations from memory, of all else as its file says it."""
        from . import plotting

        if self._at_stations and not self._has_cells():
            survey = self.survey
            observed = [c for c in survey.columns.values() if c.name.endswith("_observed")]
            fields = [plotting.Field(f.name, f.unit, f.values.reshape(survey.shape))
                      for f in [*self._fields, *observed, *self._residuals]]
            if survey.axes is not None:
                return plotting.Data("grid", *survey.axes, fields=fields, source="result")
            of_shots = "shot_easting" in survey.columns  # travel times, each with its shot
            columns = [plotting.Field(c.name, c.unit, c.values) for c in survey.columns.values()
                       if c.name[:2] in ("a_", "b_", "m_", "n_") or
                       (of_shots and (c.name.startswith("shot_") or c.name.endswith("_uncertainty")))]
            return plotting.Data("stations", survey.easting, survey.northing, source="result",
                                 fields=[*fields, plotting.Field("up", "m", survey.up), *columns])
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "result.nc")
            self.to_netcdf(file)
            data = plotting.read(file)
        data.source = "result"
        return data

    def _rows(self) -> list[tuple[str, str]]:
        if not self._at_stations:
            rows = [("size", " × ".join(f"{name} {size}" for name, size in self._data["dimensions"].items()))]
        else:
            rows = [("survey", self.survey._title().split(": ", 1)[1])]
        for field in self._fields:
            finite = field.values[np.isfinite(field.values)]
            if np.iscomplexobj(finite):  # numbers without an order have sizes
                finite, around = np.abs(finite), "|…| "
            else:
                around = ""
            low, high = (f"{end:.6g}" for end in (finite.min(), finite.max())) if finite.size else ("", "")
            unit = "" if field.unit == "1" else f" {field.unit}"
            rows.append((field.name, f"{around}{low}{'' if low == high else f' … {high}'}{unit}" if low else "not finite"))
        for name, misfit in self.report["misfits"].items():
            rows.append(("misfit", f"{name}: rms {misfit['rms']:.4g} {misfit['unit']} of {misfit['count']:,} data"))
        if self.attributes.get("frame"):
            rows.append(("frame", self.attributes["frame"]))
        rows.append(("method", str(self.report["method"])))
        rows.append(("time", f"{self.report['seconds']:.3g} s on {self.report['device']}"))
        rows += self._engine.report_lines()
        return rows

    def __repr__(self) -> str:
        return text_table("terrane.Result", self._rows())

    def _repr_html_(self) -> str:
        from ._notebook import card, table

        more = [("report", table([(name, str(value)) for name, value in self.report.items()])),
                ("attributes", table(list(self.attributes.items())))]
        try:
            more.insert(0, ("xarray.Dataset", self.dataset._repr_html_()))
        except UnsupportedError:  # there is no xarray
            pass
        first = self._fields[0]
        picture = "" if not self._at_stations else self.survey._picture(f"{first.name}, {first.unit}", first.values)
        return card("terrane.Result", self._rows(), picture, more)
