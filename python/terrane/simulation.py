"""What the modules of the physics share: a job whose mesh, stations and arrays come from memory.

A job is made of tables, as a job file is (`terrane new PHYSICS` writes one). In Python each table is a mapping, and
``mesh`` and ``survey`` may be the objects themselves::

    terrane.run({"mesh": mesh, "survey": survey, "source": {"at": [0, 0, -50], "power": 500},
                 "simulation": {"physics": "heat", "end": "60 day"}})

:class:`terrane.heat.Simulation` and its like make these tables from arguments; they add no physics.
"""

from __future__ import annotations

import json
import os
import re
from typing import Any, ClassVar, Mapping, Optional, Sequence, Union

import numpy as np

from . import _core
from ._arrays import text_table
from ._progress import Progress, reporting
from ._strict import Strict
from .errors import InputError
from .mesh import PrismLayer, PrismSet, TensorMesh
from .result import Result
from .survey import Survey

__all__ = ["Simulation"]

Model = Union[TensorMesh, PrismSet, PrismLayer]
#: A number in the SI unit, or a text with a unit: 3600, "1 h".
Number = Union[float, str]
Tables = Mapping[str, Any]


def toml(value: Any) -> str:
    """A value as a job file has it."""
    if isinstance(value, np.generic):
        value = value.item()
    elif isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(k)} = {toml(v)}" for k, v in value.items() if v is not None) + "}"
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007F")
    if isinstance(value, (int, float)):
        return repr(value)
    raise InputError("job", f"a {type(value).__name__} has no place in it",
                     "Numbers, texts, flags, lists, arrays and mappings have.")


def _key(name: Any) -> str:
    return str(name) if re.fullmatch(r"[A-Za-z0-9_-]+", str(name)) else json.dumps(str(name))


class Surface(Strict):
    """A surface over a map, such as the floor of a basin: ``values`` [northing, easting], m."""

    easting: np.ndarray[Any, Any]
    northing: np.ndarray[Any, Any]
    values: np.ndarray[Any, Any]

    def __init__(self, easting: Any, northing: Any, values: Any) -> None:
        self.easting = np.ascontiguousarray(easting, np.float64).reshape(-1)
        self.northing = np.ascontiguousarray(northing, np.float64).reshape(-1)
        shape = (self.northing.size, self.easting.size)
        values = np.ascontiguousarray(values, np.float64)
        if values.shape != shape:
            raise InputError("surface", f"has shape {values.shape}", f"Expected [northing, easting]: {shape}.")
        self.values = values.reshape(-1)

    @property
    def shape(self) -> tuple[int, int]:
        return self.northing.size, self.easting.size

    def __repr__(self) -> str:
        return f"Surface of {self.shape[0]} x {self.shape[1]} nodes, {np.nanmin(self.values):g} to " \
               f"{np.nanmax(self.values):g} m"


class Columns(Strict):
    """A table in place of a file: {name: (unit, values)}. ``name``: what errors call it."""

    name: str

    def __init__(self, columns: Mapping[str, tuple[str, Any]], name: str) -> None:
        self.name = name
        self._columns = [(key, unit, "", np.ascontiguousarray(values, np.float64).reshape(-1))
                         for key, (unit, values) in columns.items()]
        for key, _, _, values in self._columns:
            if values.size != self._columns[0][3].size:
                raise InputError(f"{name}[{key!r}]", f"has {values.size} entries",
                                 f"Expected {self._columns[0][3].size}, as {self._columns[0][0]} has.")


def _name(path: str, name: str) -> str:
    """What a job calls a content in place of a file: "stations", and of [survey.map] "survey.map.stations"."""
    return f"{path}.{name}" if "." in path else name


class _Writer:
    """The text of a job, and what its keys name instead of files."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.contents: dict[str, dict[str, Any]] = {}

    def give(self, name: str, **content: Any) -> str:
        self.contents[name] = {"attributes": {}, **content}
        return name

    def mesh(self, model: Model, projection: str, path: str = "mesh") -> None:
        table: dict[str, Any] = {"projection": projection or None}
        if isinstance(model, PrismLayer):
            model = model.to_prisms()
        if isinstance(model, PrismSet):
            faces = [np.ascontiguousarray(column) for column in model.prisms.T]
            table |= {"kind": "prisms", "file": self.give(_name(path, "prisms"), kind="prisms", faces=faces,
                                                          properties=model._columns())}
        elif model.properties:
            table |= {"kind": "file", "file": self.give(_name(path, "mesh"), kind="mesh", easting=model.easting,
                                                        northing=model.northing, up=model.up, cells=model._columns())}
        else:
            table |= {"kind": "tensor", "easting": model.easting, "northing": model.northing, "up": model.up}
        self.table(path, table)

    def survey(self, survey: Survey, path: str = "survey") -> None:
        frame = {"frame": survey.frame} if survey.frame else {}
        self.table(path, {"kind": "list", "file": self.give(_name(path, "stations"), kind="table",
                                                            survey=survey._engine(), attributes=frame)})

    def table(self, path: str, table: Tables, head: str = "[{}]") -> None:
        self.lines += ["", head.format(path)]
        inner = []
        for key, value in table.items():
            if isinstance(value, Surface):
                value = self.give(f"{path}.{key}.{len(self.contents)}", kind="grid", easting=value.easting,
                                  northing=value.northing, values=value.values)
            if isinstance(value, Result):  # traces
                value = self.give(f"{path}.{key}", kind="dataset", dataset=value._engine.data())
            if isinstance(value, Columns):
                value = self.give(f"{path}.{key}", kind="columns", columns=value._columns, source=value.name)
            if path.split(".")[0] == "inversion" and isinstance(value, TensorMesh):  # a reference, a bound
                value = self.give(f"{path}.{key}", kind="mesh", easting=value.easting, northing=value.northing,
                                  up=value.up, cells=value._columns())
            if key == "file" and isinstance(value, TensorMesh):  # of a model on a mesh of its own
                value = self.give(_name(path, "cells"), kind="mesh", easting=value.easting, northing=value.northing,
                                  up=value.up, cells=value._columns())
            if isinstance(value, np.ndarray) and value.ndim > 2:
                value = self.give(f"{path}.{key}", kind="array", shape=list(value.shape),
                                  values=np.ascontiguousarray(value, np.float64).reshape(-1))
            if isinstance(value, (Mapping, TensorMesh, PrismSet, PrismLayer, Survey)) or _are_tables(value):
                inner.append((f"{path}.{_key(key)}", value))
            elif value is not None:
                self.lines.append(f"{_key(key)} = {toml(value)}")
        for name, value in inner:
            self.any(name, value)

    def any(self, path: str, value: Any) -> None:
        if isinstance(value, Survey):
            self.survey(value, path)
        elif isinstance(value, (TensorMesh, PrismSet, PrismLayer)):
            self.mesh(value, "", path)
        elif isinstance(value, Mapping):
            self.table(path, value)
        else:
            for entry in value:
                self.table(path, entry, "[[{}]]")


def _are_tables(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, Mapping) for v in value)


def job_of(tables: Tables) -> tuple[str, dict[str, dict[str, Any]]]:
    """The text of the job file that says the same, and what it names instead of files."""
    made, survey, mesh = _Writer(), tables.get("survey"), tables.get("mesh")
    for name, value in tables.items():
        if value is None:
            continue
        if isinstance(value, (TensorMesh, PrismSet, PrismLayer)):
            made.mesh(value, survey.projection if isinstance(survey, Survey) else "")
        elif isinstance(value, Survey):
            made.survey(value)
        elif isinstance(value, Mapping) or _are_tables(value):
            made.any(_key(name), value)
        elif isinstance(value, (str, int, float, bool)):
            made.lines.insert(0, f"{_key(name)} = {toml(value)}")  # before the first table
        else:
            raise InputError(f"job[{name!r}]", f"is a {type(value).__name__}",
                             "A table is a mapping, or several of them in a list; mesh and survey may be "
                             "TensorMesh or PrismSet, and Survey.")
    if isinstance(mesh, TensorMesh) and mesh.properties and "model" not in tables:
        made.table("model", {})  # its properties are of the mesh
    return "\n".join(made.lines).strip() + "\n", made.contents


class Simulation(Strict):
    """A model, a survey and settings, ready to run. Each physics has its own: :class:`terrane.heat.Simulation`, ..."""

    physics: ClassVar[str] = ""
    model: Model
    survey: Union[Survey, Tables]

    def __init__(self, model: Model, survey: Union[Survey, Tables], tables: Tables) -> None:
        if not isinstance(model, (TensorMesh, PrismSet, PrismLayer)):
            raise InputError("model", f"is a {type(model).__name__}", "Expected TensorMesh, PrismSet or PrismLayer.")
        if not isinstance(survey, (Survey, Mapping)):
            raise InputError("survey", f"is a {type(survey).__name__}", "Expected Survey.")
        self.model = model
        self.survey = survey
        self._tables = {**tables, "simulation": {"physics": self.physics, **tables.get("simulation", {})}}
        self.job()  # what has no place in a job is found here

    def tables(self) -> dict[str, Any]:
        """The job: what :func:`terrane.run` takes."""
        return {"mesh": self.model, "survey": self.survey, **self._tables}

    def job(self) -> str:
        """The same as a job file; ``file = "mesh"`` and ``file = "stations"`` stand for what comes from memory."""
        return job_of(self.tables())[0]

    def _engine(self) -> _core.Job:
        text, contents = job_of(self.tables())
        try:
            return _core.jobs_of(text, "", [], {}, contents, [])[0][1]
        except InputError as error:  # there is a job and its lines for the engine alone
            where = re.sub(r"^job:\d+(: )?", "", error.where)
            raise type(error)(where or "job", error.problem, error.next) from None

    def check(self) -> dict[str, Any]:
        """Everything except the computation: sizes, memory, method and expected time."""
        return self._engine().check()

    def run(self, progress: Progress = False) -> Result:
        """Compute. ``progress``: True for a bar, or a function of (what, done, total)."""
        engine = self._engine()
        with reporting(progress) as report:
            return Result(engine.run(report))

    def write_model(self, path: Union[str, "os.PathLike[str]"]) -> None:
        """The model as this physics sees it, for viewers and other programs: .vtr, .h5, .nc."""
        self._engine().write_model(str(path))

    def _rows(self) -> list[tuple[str, str]]:
        shown = [("model", repr(self.model).splitlines()[0])]
        if isinstance(self.survey, Survey):
            shown.append(("survey", repr(self.survey).splitlines()[0]))
        for path, table in self._tables.items():
            for entry in [table] if isinstance(table, Mapping) else table:
                shown += [(f"{path}.{key}", _short(value)) for key, value in entry.items() if value is not None]
        return shown

    def __repr__(self) -> str:
        return text_table(f"{self.physics}.Simulation", self._rows())

    def _repr_html_(self) -> str:
        from ._notebook import card

        more = [("model", self.model._repr_html_())]
        if isinstance(self.survey, Survey):
            more.append(("survey", self.survey._repr_html_()))
        return card(f"{self.physics}.Simulation", self._rows(), more=more)


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray) and value.size > 8:
        return f"array of shape {value.shape}"
    text = value if isinstance(value, str) else toml(value)
    return text if len(text) <= 70 else text[:67] + "..."


def runtime(device: str, threads: Optional[int], memory: Optional[str]) -> dict[str, Any]:
    """The keys of [simulation] that every physics has."""
    return {"device": None if device == "auto" else device, "threads": threads, "memory": memory}


def place(at: Sequence[float], name: str) -> list[float]:
    """Easting, northing, up."""
    array = np.asarray(at, dtype=np.float64)
    if array.shape != (3,):
        raise InputError(name, f"has shape {array.shape}", "Expected easting, northing, up, m.")
    made: list[float] = array.tolist()
    return made
