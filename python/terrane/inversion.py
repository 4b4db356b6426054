"""Models of cells from data, sensitivities of gravity and magnetics, and few-parameter bodies by global search."""

from __future__ import annotations

import os
import tempfile
import warnings
from difflib import get_close_matches
from os import PathLike
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _core, jobs
from ._arrays import Floats, faces, text_table, vector
from ._names import InversionPhysics, Singular, Storage, Units
from ._progress import Progress
from ._strict import Strict
from .bodies import Box, Dike, FoundBodies, Sphere, find_bodies
from .earth import Earth
from .electric import Arrays
from .errors import InputError
from .gravity import CHANNELS, GRAVITATIONAL_CONSTANT
from .inverted import Inverted
from .mesh import TensorMesh
from .result import Result
from .simulation import Columns, Number, job_of
from .survey import Survey

__all__ = ["Box", "Dike", "FoundBodies", "Inversion", "Inverted", "Joint", "Sensitivity", "Sphere", "find_bodies", "invert"]

Path = Union[str, "PathLike[str]"]
#: A number in the SI unit or with a unit, a file, cells [up, north, east], or a mesh with the property.
Cells = Union[float, str, "PathLike[str]", Floats, TensorMesh]

_UNITS = {"geo": {"potential": 1.0, "g": 1e5, "tensor": 1e9}, "si": {"potential": 1.0, "g": 1.0, "tensor": 1.0}}
_POLICIES = ("nan", "mean", "outside", "inside")
_STORAGES = ("single", "double", "none", "lattice", "tree", "fmm")


def _gravity_weights(channel: str, units: str, constant: float) -> Floats:
    if channel not in CHANNELS:
        raise InputError("channels", f"{channel!r} is not known", f"Allowed: {', '.join(CHANNELS)}.")
    kind = "potential" if channel == "potential" else "g" if len(channel) == 3 else "tensor"
    weights = np.zeros(10)
    weights[CHANNELS.index(channel)] = constant * _UNITS[units][kind]
    return weights


class Sensitivity(Strict):
    """What every prism does at every station: d = G m, m = Gᵀ d, and rows of G.

    Parameters
    ----------
    prisms : array_like [m, 6]
        West, east, south, north, bottom, top, m.
    easting, northing, up : array_like [n]
        Stations, m.
    channels : names
        Of gravity: mGal or Eötvös per kg/m³. With ``main_field``, of magnetics: ``tmi b_e b_n b_u``, nT per unit of
        susceptibility (SI).
    main_field : (intensity nT, inclination, declination), optional
    storage : {"single", "double", "none", "lattice", "tree", "fmm"}
        All entries in memory in float32 or float64, or none: computed anew for each product. By FFT, exact to rounding,
        where prisms and stations form a lattice. By a tree, or by fast multipoles where there are very many stations,
        near G to ``tree_accuracy`` and with an exact transpose.
    accuracy : float
        Relative, of every entry.
    tree_accuracy : float
        Of products by tree and fmm, relative to the largest value that prisms all alike give.
    device : {"cpu", "cuda", "cuda:1", "debug", "auto"}
        Where products are done.
    units : {"geo", "si"}
    gravitational_constant : float
    singular : {"nan", "mean", "outside", "inside"}
        Gradients and magnetic fields at stations on faces of prisms, as in :func:`terrane.gravity.forward`.
    threads : int, optional

    Notes
    -----
    ``apply`` gives what the forward run of the same model gives, also at stations inside prisms and on their faces,
    edges and corners. What has no value there, or none that is a sum over the prisms, is NaN in ``row`` and
    ``apply_transpose``; a warning says how many stations have such rows.

    Rows are ordered by channel, then station. Products are summed in float64 in a fixed order: any number of threads
    gives the same bits, and ⟨G m, d⟩ = ⟨m, Gᵀ d⟩ to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> g = Sensitivity([[-50, 50, -50, 50, -150, -50]], [0.0], [0.0], [10.0], channels=["g_u"])
    >>> print(g.shape, round(float(g.apply([400.0])[0]), 5))
    (1, 1) -0.21158
    """

    channels: tuple[str, ...]

    def __init__(self, prisms: ArrayLike, easting: ArrayLike, northing: ArrayLike, up: ArrayLike, *,
                 channels: Union[str, Sequence[str]] = ("g_u",), main_field: Optional[Sequence[float]] = None,
                 storage: Storage = "single", accuracy: float = 1e-9, tree_accuracy: float = 1e-6, device: str = "cpu",
                 units: Units = "geo", gravitational_constant: float = GRAVITATIONAL_CONSTANT, singular: Singular = "nan",
                 threads: Optional[int] = None) -> None:
        if storage not in _STORAGES:
            raise InputError("storage", f"is {storage!r}", f"Allowed: {', '.join(_STORAGES)}.")
        if units not in _UNITS:
            raise InputError("units", f"is {units!r}", "Allowed: geo, si.")
        if singular not in _POLICIES:
            raise InputError("singular", f"is {singular!r}", f"Allowed: {', '.join(_POLICIES)}.")
        self.channels = (channels,) if isinstance(channels, str) else tuple(channels)
        if main_field is None:
            weights = [_gravity_weights(c, units, gravitational_constant) for c in self.channels]
        else:
            intensity, inclination, declination = (float(v) for v in main_field)
            scale = 1.0 if units == "si" else 1e9
            weights = [scale * np.asarray(_core.magnetic_weights(c, intensity * 1e-9, inclination, declination))
                       for c in self.channels]
        stations = [vector(a, n, "m") for a, n in ((easting, "easting"), (northing, "northing"), (up, "up"))]
        self._build(faces(prisms), stations, np.array(weights), accuracy, storage, threads, tree_accuracy, device,
                    0 if main_field is None else 7, singular)
        if self._engine.undefined:
            warnings.warn(f"{self._engine.undefined} of {stations[0].size} stations lie where rows of the matrix have "
                          "no value: on edges or corners of prisms, or on faces. Move them off, or take another "
                          "singular=.", stacklevel=2)

    def _build(self, box: Floats, stations: Sequence[Floats], weights: Floats, accuracy: float, storage: str,
               threads: Optional[int], tree_accuracy: float = 1e-6, device: str = "cpu", flux: int = 0,
               singular: str = "nan") -> None:
        if len({s.shape[0] for s in stations}) != 1:
            raise InputError("stations", "easting, northing and up differ in length")
        easting, northing, up = stations
        self._engine = _core.sensitivity(box, easting, northing, up, weights, float(accuracy), storage,
                                         float(tree_accuracy), device, threads or 0, flux, singular)

    @classmethod
    def _of_weights(cls, box: Floats, stations: Sequence[Floats], weights: Floats, accuracy: float, storage: str,
                    threads: Optional[int], flux: int = 0, singular: str = "mean") -> "Sensitivity":
        made = cls.__new__(cls)
        made.channels = ()
        made._build(box, stations, weights, accuracy, storage, threads, flux=flux, singular=singular)
        return made

    @property
    def shape(self) -> tuple[int, int]:
        """(channels · stations, prisms)"""
        return self._engine.rows, self._engine.columns

    def apply(self, model: ArrayLike) -> Floats:
        """G m.  model [prisms] → [rows]"""
        return self._engine.apply(vector(model, "model", size=self.shape[1]))

    def apply_transpose(self, data: ArrayLike) -> Floats:
        """Gᵀ d.  data [rows] → [prisms]"""
        return self._engine.apply_transpose(vector(data, "data", size=self.shape[0]))

    def diagonal(self, weight: Optional[ArrayLike] = None) -> Floats:
        """diag(GᵀWG): Σ w_i G_ij².  weight [rows], by default 1 → [prisms]"""
        return self._engine.weighted_diagonal(vector(1.0 if weight is None else weight, "weight", size=self.shape[0]))

    def row(self, index: int) -> Floats:
        """[prisms]"""
        if not 0 <= index < self.shape[0]:
            raise InputError("index", f"is {index}", f"There are {self.shape[0]} rows.")
        return self._engine.row(index)

    def matrix(self) -> Floats:
        """G as an array [rows, prisms] of float64."""
        return np.stack([self._engine.row(i) for i in range(self.shape[0])])

    def __repr__(self) -> str:
        return f"Sensitivity: {self.shape[0]:,} data of {self.shape[1]:,} prisms"


def _survey(survey: Any, physics: str) -> Any:
    """The table [survey]."""
    if isinstance(survey, Arrays):
        return {"kind": "file", "file": _of_arrays(survey)}
    if isinstance(survey, (str, os.PathLike)):
        return {"kind": "file" if physics == "electric" else "list", "file": survey}
    if isinstance(survey, (list, tuple)):  # several files of sites
        return {"kind": "list", "file": [os.fspath(file) for file in survey]}
    if isinstance(survey, (Survey, Mapping)):
        return survey
    if isinstance(survey, Result):  # what a simulation computed, as if it had been measured
        return {"kind": "file" if physics == "electric" else "list", "file": _of_result(survey, "stations")}
    raise InputError("survey", f"is a {type(survey).__name__}",
                     "Expected Survey, terrane.electric.Arrays, a path, several in a list, a Result, or a table.")


def _of_result(result: Result, name: str) -> Columns:
    """As the result's table has it."""
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "data.csv")
        result._engine.write(file)
        held = _core.read(file)
    return Columns({column: (unit, values) for column, unit, _, values in held["columns"]}, name)


def _of_arrays(data: Arrays) -> Columns:
    places, four = np.asarray(data.electrodes, float), np.asarray(data.arrays)
    columns = {}
    for place, name in enumerate("abmn"):
        at = np.where((four[:, place] < 0)[:, None], np.nan, places[four[:, place]])
        for axis, values in zip(("easting", "northing", "up"), at.T):
            columns[f"{name}_{axis}"] = ("m", values)
    for name, (unit, values, uncertainty) in data.columns.items():
        columns[f"{name}_observed"] = (unit, values)
        if np.size(uncertainty):
            columns[f"{name}_uncertainty"] = (unit, uncertainty)
    return Columns(columns, "arrays")


def _observed(observed: Any, physics: str) -> Any:
    """inversion.observed: gathers as they are, a table of fields as columns."""
    if isinstance(observed, Result) and physics != "acoustic":  # of a simulation, as its files have it
        return _of_result(observed, "observed")
    if isinstance(observed, Mapping) or hasattr(observed, "columns"):
        return Columns({str(name): ("", observed[name]) for name in observed}, "observed")
    return observed


class Inversion(Strict):
    """A mesh, data and settings, ready to find a model: what ``terrane invert`` does with a job file.

    The keywords are keys of the job file (`terrane new inversion --reference`, and the page of the physics): those
    below of its table [inversion], all others of its table [simulation] (``channels``, ``frame``, ``inclination``,
    ``frequencies``, ...) or, where they are mappings, its tables (``source``, ``boundary``, ``sides``, ``output``). A
    name that the physics does not have is refused. What is None takes the job file's default.

    Parameters
    ----------
    mesh : TensorMesh or mapping, optional
        The cells; without it, or as a mapping of the table [mesh] such as ``{"kind": "planned", "cell": 2.0}``, a mesh
        is planned for the survey. Of waves and electromagnetic fields its properties are the first model.
    survey : Survey, terrane.electric.Arrays, Result, path, or mapping of the table [survey]
        Stations with what was observed there, in columns ``g_u_observed`` and ``g_u_uncertainty`` with units; arrays of
        electrodes with what they measured; a file of either, of magnetotelluric sites also several in a list; or what a
        simulation computed, as if it had been measured.
    physics : {"gravity", "magnetic", "electric", "electromagnetic", "acoustic", "traveltime"}
    floor, percent : float, or one for each observed channel, optional
        Standard deviations: floor, in the unit of the data, plus a percentage of each datum.
    reference, start, lower, upper : number, text with a unit, path, array [up, north, east] or TensorMesh, optional
        Reference and first model, and bounds, in SI units of what is found. Magnetizations have ``upper`` alone, the
        largest strength.
    length_scale : three numbers, optional
        Lengths over which models are smooth along easting, northing and up, m.
    observed : array [shot, time, receiver], mapping of columns, DataFrame, Result or path, optional
        Of waves and of fields of electromagnetic sources: what was recorded.
    active : array [up, north, east] of 0 and 1, or path, optional
        Cells that take part (``active_file``).
    model : Earth or mapping, optional
        Table [model]: the ground; of waves and electromagnetic fields the first model.
    inversion, simulation : mapping, optional
        Further keys of these tables, where both have one of a name: ``simulation={"tolerance": 1e-7}``.

    Raises
    ------
    InputError
        A name is not known, or what a key says cannot be used: when the object is made.

    Examples
    --------
    >>> import numpy as np
    >>> import terrane
    >>> e, n = (a.ravel() for a in np.meshgrid(np.arange(-200.0, 201, 50), np.arange(-200.0, 201, 50)))
    >>> field = terrane.gravity.forward([[-50, 50, -50, 50, -150, -50]], [400.0], e, n, np.full(e.size, 1.0))
    >>> survey = terrane.Survey(e, n, 1.0)
    >>> survey.set_column("g_u_observed", field["g_u"], "mGal")
    >>> mesh = terrane.TensorMesh.regular([-250, 250, -250, 250, -250, 0], shape=(10, 10, 5))
    >>> found = Inversion(mesh, survey, floor=0.003, lower=0).run()
    >>> bool(found.report.converged), found.model.density.shape
    (True, (5, 10, 10))
    """

    mesh: Any
    survey: Any
    physics: str

    def __init__(self, mesh: Union[TensorMesh, Mapping[str, Any], None] = None, survey: Any = None, *,
                 physics: InversionPhysics = "gravity",
                 floor: Union[float, Sequence[float], None] = None, percent: Union[float, Sequence[float], None] = None,
                 reference: Optional[Cells] = None, start: Optional[Cells] = None, lower: Optional[Cells] = None,
                 upper: Optional[Cells] = None, length_scale: Optional[Sequence[Number]] = None,
                 observed: Any = None, active: Any = None, model: Union[Earth, Mapping[str, Any], None] = None,
                 inversion: Optional[Mapping[str, Any]] = None, simulation: Optional[Mapping[str, Any]] = None,
                 **keywords: Any) -> None:
        known = [(table, key) for one, table, key in _core.inversion_keys() if one == physics]
        if not known:
            raise InputError("physics", f"is {physics!r}",
                             f"Allowed: {', '.join(sorted({one for one, _, _ in _core.inversion_keys()}))}.")
        self.mesh, self.physics = mesh, physics
        self.survey = None if survey is None else _survey(survey, physics)
        table: dict[str, Any] = {"floor": _each(floor), "percent": _each(percent), "reference": reference, "start": start,
                                 "lower": lower, "upper": upper, "length_scale": length_scale,
                                 "observed": _observed(observed, physics), "active_file": active}
        of_simulation: dict[str, Any] = {"physics": physics}
        self._tables: dict[str, Any] = {"model": model.table() if isinstance(model, Earth) else model}
        for key, value in keywords.items():
            if isinstance(value, (Mapping, list)) and key in {path for path, _ in known} and _is_table(value):
                self._tables[key] = value
            elif ("inversion", key) in known:
                table[key] = value
            elif ("simulation", key) in known:
                of_simulation[key] = value
            else:
                names = sorted({name for path, name in known if path in ("inversion", "simulation")})
                near = get_close_matches(key, names, 1)
                raise InputError(key, f"is no key of inversions with physics = {physics!r}"
                                 + (f"; did you mean {near[0]}?" if near else ""), f"There are: {', '.join(names)}.")
        self._tables["inversion"] = {**table, **(inversion or {})}
        self._tables["simulation"] = {**of_simulation, **(simulation or {})}
        if isinstance(mesh, TensorMesh) and physics in ("gravity", "magnetic", "electric") and mesh.properties:
            raise InputError("mesh", f"has a {next(iter(mesh.properties))}, which the inversion would not use",
                             "Give it as reference= or start=, and a mesh without properties.")
        self.job()  # what has no place in a job is found here

    def tables(self) -> dict[str, Any]:
        """The job: what :func:`terrane.inversion.invert` takes."""
        return {key: value for key, value in {"mesh": self.mesh, "survey": self.survey, **self._tables}.items()
                if value is not None}

    def job(self) -> str:
        """The same as a job file; names such as ``file = "stations"`` stand for what comes from memory."""
        return job_of(self.tables())[0]

    def check(self) -> dict[str, Any]:
        """Everything except the computation: cells, data, memory, the mesh that was planned, and expected time."""
        return jobs.check(self.tables())

    def run(self, progress: Progress = False) -> Inverted:
        """Find the model. ``progress``: True for a bar, or a function of (what, done, total)."""
        found = invert(self.tables(), progress=progress)
        assert isinstance(found, Inverted)
        return found

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("mesh", "planned" if self.mesh is None else repr(self.mesh).splitlines()[0])]
        for path in ("simulation", "inversion"):
            rows += [(f"{path}.{key}", _short(value)) for key, value in self._tables[path].items() if value is not None]
        return rows

    def __repr__(self) -> str:
        return text_table("terrane.inversion.Inversion", self._rows())


def _each(value: Any) -> Any:
    return [float(value)] if isinstance(value, (int, float)) else value


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or (bool(value) and all(isinstance(v, Mapping) for v in value))


def _short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array of shape {value.shape}"
    text = repr(value).splitlines()[0]
    return text if len(text) <= 70 else text[:67] + "..."


class Joint(Strict):
    """Inversions over one mesh whose models share their structure, or are mixtures of two rocks: found together.

    Parameters
    ----------
    inversions : mapping of name to Inversion
        Of gravity, magnetics, direct current and electromagnetic fields, all on the same mesh.
    coupling, rocks, most_rounds, tolerance : numbers, optional
        Keys of the table [joint].

    Examples
    --------
    ``Joint({"gravity": Inversion(mesh, stations, floor=0.01), "magnetic": Inversion(mesh, flights, physics="magnetic",
    floor=1)}).run()`` returns a dict of :class:`Inverted` by these names.
    """

    inversions: dict[str, Inversion]

    def __init__(self, inversions: Mapping[str, Inversion], *, coupling: Optional[float] = None,
                 rocks: Optional[float] = None, most_rounds: Optional[int] = None,
                 tolerance: Optional[float] = None) -> None:
        if len(inversions) < 2:
            raise InputError("inversions", f"there are {len(inversions)}", "Expected two or more, by name.")
        self.inversions = dict(inversions)
        self._joint = {"coupling": coupling, "rocks": rocks, "most_rounds": most_rounds, "tolerance": tolerance}
        first = next(iter(self.inversions.values()))
        for name, one in self.inversions.items():
            if one.mesh is not first.mesh:
                raise InputError(f"inversions[{name!r}]", "its mesh is another one", "All have the same mesh object.")

    def tables(self) -> dict[str, Any]:
        """The job: what :func:`terrane.inversion.invert` takes."""
        made: dict[str, Any] = {"simulation": [], "joint": self._joint,
                                "output": {name: {"files": [f"{name}.nc"]} for name in self.inversions}}
        for name, one in self.inversions.items():
            for key, value in one.tables().items():
                if key == "mesh":
                    made[key] = value
                elif key == "simulation":
                    made[key].append({"name": name, **value})
                elif key == "model":
                    if made.setdefault(key, value) != value:
                        raise InputError(f"inversions[{name!r}]", "its model is another one", "All have one ground.")
                else:
                    made.setdefault(key, {})[name] = value
        return made

    def _writes(self) -> bool:
        return any("output" in one.tables() for one in self.inversions.values())

    def check(self) -> dict[str, dict[str, Any]]:
        """Everything except the computation, by name."""
        return {name: made.check() for name, made in jobs._jobs(self.tables(), None, None, None, None, None)}

    def run(self, progress: Progress = False) -> dict[str, Inverted]:
        """Find all models, and return them by name. ``progress`` as of :meth:`Inversion.run`."""
        found = invert(self.tables(), write=self._writes(), progress=progress)
        assert isinstance(found, dict)
        return found


def invert(job: Union[Path, Mapping[str, Any]], *, only: Sequence[str] = (), settings: Optional[Mapping[str, Any]] = None,
           arguments: Optional[Mapping[str, Any]] = None, data: Optional[Path] = None, output: Optional[Path] = None,
           threads: Optional[int] = None, write: bool = True, plots: bool = True,
           progress: Progress = False) -> Union[Inverted, dict[str, Inverted]]:
    """The model that explains the data of a job with a table [inversion]: ``terrane invert`` without its words.

    Parameters
    ----------
    job : path, or mapping of tables
        As in :func:`terrane.run`.
    only, settings, arguments, data, output, threads, write, plots, progress
        As in :func:`terrane.run_all`.

    Returns
    -------
    Inverted
        ``.model``, ``.data``, ``.curve``. Of a job of several simulations a dict of them by name; they are found
        together where it has a table [joint].

    Raises
    ------
    InputError
        With file, line and key of what cannot be used; also where the job has no table [inversion].
    FileError, MemoryError
    """
    write = write and jobs._has_files(job, output)
    found: dict[str, Inverted] = {}
    read = jobs._jobs(job, settings, arguments, data, output, threads, only)
    if not all(made.inverts for _, made in read):
        raise InputError("job", "it has no table [inversion]", "terrane.run computes what it asks for.")
    for name, made in read:
        result = jobs._run(made, write, plots, progress)
        found[name] = Inverted(result, made.found())
    return found[""] if list(found) == [""] else found


def __dir__() -> list[str]:
    return sorted(__all__)
