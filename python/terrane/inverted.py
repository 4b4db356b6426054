"""What an inversion returns: the model that was found, what it gives beside what was observed, and how it came about."""

from __future__ import annotations

import builtins
import os
import tempfile
from os import PathLike
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arrays import Floats, text_table
from ._pictured import plot
from ._strict import Strict
from .errors import InputError
from .mesh import TensorMesh
from .result import Report, Result

__all__ = ["Inverted"]


def _as_table(columns: Mapping[str, Any]) -> Any:
    """A DataFrame, or where there is no pandas a structured array."""
    try:
        import pandas
    except ImportError:
        kinds = [(name, "U16" if name == "what" else float) for name in columns]
        return np.array(list(zip(*columns.values())), dtype=kinds)
    return pandas.DataFrame(dict(columns))


class Inverted(Strict):
    """A model and the data that it was found from.

    Attributes
    ----------
    model : TensorMesh
        With the property that was found, SI, [up, north, east]: ``inverted.model.density``. In cells that took no part
        it is NaN, or 0 of properties that are 0 where there is no rock, such as a density contrast. Of magnetizations of
        any direction with their components, ``magnetization_east``, ``_north`` and ``_up``, as
        :class:`terrane.magnetic.Simulation` takes them; their lengths, inclinations and declinations are in ``cells``.
    data : Result
        What the model gives at the stations, beside what was observed: of gravity ``g_u``, ``g_u_observed``,
        ``g_u_uncertainty`` and ``g_u_residual`` (observed − computed), all in the unit of the data. Its items are those
        of this object, too: ``inverted["g_u_residual"]``.
    curve : pandas.DataFrame, or structured array where there is no pandas
        φ_d and φ_m over β, a row for each β that was tried: columns ``beta``, ``phi_d``, ``phi_m``.
    steps : pandas.DataFrame, or structured array
        A row for each step: ``what``, ``number``, ``beta``, ``phi_d``, ``phi_m``, ``products`` (with each of G or J and
        its transpose, so far) and ``seconds`` (so far).
    cells : dict of str to array [up, north, east]
        What else is known of the cells: ``weight`` in the model's norm; ``active`` (1 or 0) where some take no part;
        ``density_deviation`` and ``resolution`` where ``posterior`` was asked for; ``density_apart`` of models that were
        found together.
    report : Report
        As of every run: ``report.converged``, ``report.chi_squared_g_u``, ``report.notes``, ...
    stopped : str
        Why it stopped: "converged", or what was in the way.
    property : str
        What was found: "density", "susceptibility", "magnetization", "resistivity", "chargeability" or "velocity_p".
    """

    model: TensorMesh
    data: Result
    curve: Any
    steps: Any
    cells: dict[str, Floats]
    property: str

    def __init__(self, data: Result, found: Mapping[str, Any]) -> None:
        self.data = data
        self.property = found["property"]
        self._columns: list[tuple[str, str, str, Floats]] = found["cells"]
        self.model = TensorMesh(found["easting"], found["northing"], found["up"])
        absent = {name: value for name, _, _, value in _core.properties()}
        of_model = [self.property] if self.property in absent else [f"{self.property}_{a}" for a in ("east", "north", "up")]
        columns = {name: values.reshape(self.model.shape) for name, _, _, values in self._columns}
        self.cells = {name: values for name, values in columns.items() if name not in of_model}
        for name in of_model:
            here = columns[name]
            self.model[name] = np.where(self.cells["active"] == 1, here, absent[name]) if "active" in self.cells else here
        self.steps = _as_table(found["steps"])
        curve = found["curve"]
        if not len(curve["beta"]):  # of steps of Gauss and Newton, each has a β
            curve = {name: found["steps"][name] for name in ("beta", "phi_d", "phi_m")}
        self.curve = _as_table(curve)

    @builtins.property
    def report(self) -> Report:
        return self.data.report

    @builtins.property
    def stopped(self) -> str:
        """Why it stopped: "converged", or what was in the way."""
        return str(self.data.attributes["stopped"])

    @builtins.property
    def dataset(self) -> Any:
        """The ``xarray.Dataset`` of ``data``."""
        return self.data.dataset

    def __getitem__(self, name: Any) -> Any:
        return self.data[name]

    def __contains__(self, name: object) -> bool:
        return name in self.data

    def write(self, path: Union[str, PathLike[str]]) -> None:
        """Write the model with all its cells' columns: .nc, .h5, .vtr, or the property alone: .den, .sus, .con, .npy."""
        _core.write(os.fspath(path), {
            "kind": "mesh", "easting": self.model.easting, "northing": self.model.northing, "up": self.model.up,
            "cells": self._columns, "attributes": {**{k: str(v) for k, v in self.data.attributes.items()}}})

    def plot(self, what: str = "model", *, title: str = "", path: Union[str, PathLike[str], None] = None, slice: str = "",
             region: Optional[Sequence[float]] = None, limits: Optional[Sequence[float]] = None,
             log: Optional[bool] = None, cmap: Optional[str] = None) -> Any:
        """A picture of the model, of the data, or of φ_d over φ_m.

        Parameters
        ----------
        what : {"model", "data", "curve"}
            ``data``: what was observed and what the model gives, as :meth:`terrane.Result.plot`.
        title, path, slice, region, limits, log, cmap
            As of :meth:`terrane.Result.plot`; of a curve title and path alone.

        Returns
        -------
        matplotlib.axes.Axes, or an array of them
        """
        looks = {"slice": slice, "region": region, "limits": limits, "log": log, "cmap": cmap}
        if what == "data":
            return self.data.plot(title=title, path=path, **looks)  # type: ignore[arg-type]
        if what == "curve":
            given = [name for name, value in looks.items() if value not in (None, "")]
            if given:
                raise InputError(given[0], "a curve has no such thing", "Allowed: title, path.")
            return self._draw_curve(title, path)
        if what != "model":
            raise InputError("what", f"is {what!r}", "Allowed: model, data, curve.")
        from . import plotting

        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "model.nc")
            self.write(file)
            drawn = plotting.read(file)
        drawn.source, drawn.through = "model", self._places()
        return plot(drawn, self.property, title=title, path=path, **looks)  # type: ignore[arg-type]

    def _places(self) -> Any:
        """Easting and northing of stations, arrays of electrodes or receivers, where there are any."""
        if self.data._data is None:
            return self.data.survey.easting, self.data.survey.northing
        held = self.data.dataset
        names = ("receiver_easting", "receiver_northing")
        return tuple(np.ravel(held[name]) for name in names) if all(name in held for name in names) else None

    def _draw_curve(self, title: str, path: Union[str, PathLike[str], None]) -> Any:
        from matplotlib import pyplot

        phi_m, phi_d = np.asarray(self.curve["phi_m"]), np.asarray(self.curve["phi_d"])
        figure, axes = pyplot.subplots(figsize=(4.5, 3.4), layout="constrained")
        axes.loglog(phi_m[phi_m > 0], phi_d[phi_m > 0], ".-", linewidth=1)
        if phi_m.size and self.report["phi_m"] > 0:
            axes.loglog([self.report["phi_m"]], [self.report["phi_d"]], "o", fillstyle="none", color="black",
                        label="the model")
            axes.legend()
        axes.set(xlabel="φ_m", ylabel="φ_d", title=title)
        if path is not None:
            figure.savefig(path, dpi=150)
        return axes

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _rows(self) -> list[tuple[str, str]]:
        report = self.report
        values = np.asarray(self.cells[self.property] if self.property in self.cells else self.model[self.property])
        if "active" in self.cells:
            values = values[self.cells["active"] == 1]
        unit = self._columns[0][1]
        rows = [("model", f"{self.property} {values.min():.5g} … {values.max():.5g}{'' if unit == '1' else ' ' + unit} in "
                          f"{values.size:,} of {self.model.size:,} cells"),
                ("stopped", self.stopped)]
        rows += [("chi² / N", f"{name[12:]} {value:.4g}") for name, value in report.items()
                 if name.startswith("chi_squared_")]
        rows += [row for row in self.data._rows() if row[0] in ("time", "misfit")]
        return rows

    def __repr__(self) -> str:
        return text_table("terrane.inversion.Inverted", self._rows())

    def _repr_html_(self) -> str:
        from ._notebook import card

        return card("terrane.inversion.Inverted", self._rows(),
                    more=[("model", self.model._repr_html_()), ("data", self.data._repr_html_())])
