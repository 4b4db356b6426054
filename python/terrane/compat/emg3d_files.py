"""Files of emg3d (.npz, .h5, .json), in and out; emg3d itself is not needed.

What emg3d 1.x writes with ``emg3d.save`` is a tree of tables, each with its ``__class__``; a .npz file has them flat,
with ``>`` between the names. Here a ``Model`` is a :class:`terrane.TensorMesh` with its conductivity, a ``TensorMesh``
one without properties, a ``Field`` an ``xarray.Dataset`` on the edges, and a ``Survey`` an :class:`Emg3dSurvey`.

emg3d counts azimuths from east to north, and elevations upwards; here they are degrees east of north, and dips.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import datetime
from os import PathLike, fspath
from typing import Any, Callable, Mapping, Union

import numpy as np
from numpy.typing import NDArray

from .. import _core
from ..electromagnetic import Dipole, Wire
from ..errors import InputError, UnsupportedError
from ..mesh import TensorMesh
from ..survey import Survey

__all__ = ["Emg3dSurvey", "edge_field", "read_emg3d", "write_emg3d"]

Path = Union[str, "PathLike[str]"]
Tree = dict[str, Any]

#: Conductivity from what a model holds, and back.
_MAPS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "Conductivity": (lambda m: m, lambda s: s),
    "Resistivity": (lambda m: 1 / m, lambda s: 1 / s),
    "LgConductivity": (lambda m: 10.0**m, np.log10),
    "LgResistivity": (lambda m: 10.0**-m, lambda s: -np.log10(s)),
    "LnConductivity": (np.exp, np.log),
    "LnResistivity": (lambda m: np.exp(-m), lambda s: -np.log(s)),
}
_AXES = ("east", "north", "up")
_EDGES = (("face_up", "face_northing", "cell_easting"), ("face_up", "cell_northing", "face_easting"),
          ("cell_up", "face_northing", "face_easting"))


@dataclass
class Emg3dSurvey:
    """Sources, receivers, frequencies and data of a ``Survey`` of emg3d.

    sources : name → Dipole or Wire; sources of other kinds stay the tables that the file has
    receivers : Survey, in the order of `names`
    names, azimuths, dips, magnetic : of the receivers; degrees east of north, degrees downwards, whether they record H
    frequencies : name → Hz
    data : name → complex array [source, receiver, frequency]
    noise_floor, relative_error : as emg3d has them
    """

    sources: dict[str, Any]
    receivers: Survey
    names: list[str]
    azimuths: NDArray[Any]
    dips: NDArray[Any]
    magnetic: NDArray[Any]
    frequencies: dict[str, float]
    data: dict[str, NDArray[Any]] = field(default_factory=dict)
    noise_floor: Any = None
    relative_error: Any = None


def read_emg3d(path: Path) -> dict[str, Any]:
    """What a file of emg3d holds, by the names under which it was saved.

    Parameters
    ----------
    path : path
        ``.npz``, ``.json``, or ``.h5`` (by h5py), as ``emg3d.save`` writes them.

    Returns
    -------
    dict of TensorMesh (Model, TensorMesh), xarray.Dataset (Field), Emg3dSurvey (Survey), and of all else as it is
    """
    name = fspath(path)
    if name.endswith(".npz"):
        with np.load(name, allow_pickle=False) as file:
            tree = _nested({key: file[key] for key in file.files})
    elif name.endswith(".h5"):
        with _h5py().File(name, "r") as file:
            tree = _of_group(file)
    elif name.endswith(".json"):
        with open(name, encoding="utf-8") as file:
            tree = _of_lists(json.load(file))
    else:
        raise UnsupportedError(name, "files of emg3d end in .npz, .h5 or .json", "Others: emg3d.convert.")
    return {key: _understood(value, f"{name}: {key}") for key, value in tree.items() if not key.startswith("_")}


def write_emg3d(path: Path, **objects: Any) -> None:
    """Write what ``emg3d.load`` reads.

    Parameters
    ----------
    path : path
        ``.npz``, ``.json``, or ``.h5`` (by h5py).
    **objects
        By name: a TensorMesh (a Model if it has conductivity or resistivity, else a grid), a Dataset as
        :func:`read_emg3d` returns for a Field, an Emg3dSurvey; also numbers, texts, arrays and dictionaries of these.

    Examples
    --------
    >>> import terrane
    >>> mesh = terrane.TensorMesh([0, 10, 30], [0, 10, 20], [-20, -10, 0], conductivity=0.1)
    >>> write_emg3d("model.npz", model=mesh)
    >>> float(read_emg3d("model.npz")["model"].conductivity[0, 0, 0])
    0.1
    """
    name = fspath(path)
    tree = {key: _table(value, key) for key, value in objects.items()}
    tree.update(_date=datetime.now().isoformat(timespec="seconds"), _version=f"terrane v{_core.version}",
                _format="1.0")
    if name.endswith(".npz"):
        np.savez_compressed(name, **_flat(tree))
    elif name.endswith(".h5"):
        with _h5py().File(name, "w") as file:
            _into_group(file, tree)
    elif name.endswith(".json"):
        with open(name, "w", encoding="utf-8") as file:
            json.dump(_lists(tree), file, indent=2)
    else:
        raise UnsupportedError(name, "files of emg3d end in .npz, .h5 or .json")


# -- trees in files --


def _h5py() -> Any:
    try:
        import h5py
    except ImportError as error:
        raise UnsupportedError("emg3d", "there is no h5py", "pip install h5py, or use .npz") from error
    return h5py


def _plain(value: Any) -> Any:
    """As it was before it was saved: words, None, Python's numbers."""
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        return None if value == "NoneType" else str(value)
    return value.item() if isinstance(value, np.generic) else value


def _nested(flat: Mapping[str, Any]) -> Tree:
    tree: Tree = {}
    for key, value in flat.items():
        *parents, last = key.split(">")
        at = tree
        for parent in parents:
            at = at.setdefault(parent, {})
        at[last] = _plain(value)
    return tree


def _flat(tree: Tree, prefix: str = "") -> Tree:
    flat: Tree = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            flat.update(_flat(value, f"{prefix}{key}>"))
        else:
            flat[prefix + key] = "NoneType" if value is None else value
    return flat


def _of_group(group: Any) -> Tree:
    return {key: _plain(value[()]) if hasattr(value, "shape") else _of_group(value) for key, value in group.items()}


def _into_group(group: Any, tree: Tree) -> None:
    for key, value in tree.items():
        if isinstance(value, dict):
            _into_group(group.create_group(key, track_order=True), value)
        elif np.ndim(value) > 0:
            group.create_dataset(key, data=value, compression="gzip")
        else:
            group.create_dataset(key, data="NoneType" if value is None else value)


def _of_lists(table: Mapping[str, Any]) -> Tree:
    """JSON says in a name what a list is: hx__array-float64, data__complex__array-float64."""
    tree: Tree = {}
    for key, value in table.items():
        name, _, kind = key.partition("__array-")
        if isinstance(value, dict):
            tree[key] = _of_lists(value)
            continue
        found: Any = np.asarray(value, dtype=kind) if kind else value
        if name.endswith("__complex"):
            name, found = name[:-len("__complex")], np.asarray(found)[0] + 1j * np.asarray(found)[1]
        tree[name] = _plain(found)
    return tree


def _lists(tree: Tree) -> Tree:
    table: Tree = {}
    for key, value in tree.items():
        if isinstance(value, dict):
            table[key] = _lists(value)
            continue
        if value is not None and not isinstance(value, str):
            if np.iscomplexobj(value):
                key, value = key + "__complex", np.stack([np.real(value), np.imag(value)])
            if isinstance(value, np.ndarray) and value.ndim > 0:
                key, value = f"{key}__array-{value.dtype.name}", value.tolist()
            elif isinstance(value, (np.ndarray, np.generic)):
                value = value.item()
        table[key] = "NoneType" if value is None else value
    return table


# -- tables of emg3d's classes --


def _understood(value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        return value
    readers = {"Model": _model, "TensorMesh": _grid, "Field": _field, "Survey": _survey}
    kind = value.get("__class__")
    if kind not in readers:
        return {key: _understood(entry, f"{where}>{key}") for key, entry in value.items()}
    try:
        return readers[kind](value)
    except KeyError as error:
        raise InputError(where, f"the {kind} has no {error}", "emg3d 1.0 and later write it.") from error


def _table(value: Any, where: str) -> Any:
    if isinstance(value, TensorMesh):
        return _model_table(value) if _is_model(value) else _grid_table(value)
    if isinstance(value, Emg3dSurvey):
        return _survey_table(value)
    if hasattr(value, "data_vars"):
        return _field_table(value, where)
    if isinstance(value, Mapping):
        return {str(key): _table(entry, f"{where}>{key}") for key, entry in value.items()}
    return value


def _grid(table: Tree) -> TensorMesh:
    return TensorMesh(*(start + np.concatenate([[0], np.cumsum(table[name])])
                        for name, start in zip(("hx", "hy", "hz"), table["origin"])))


def _grid_table(mesh: TensorMesh) -> Tree:
    faces = (mesh.easting, mesh.northing, mesh.up)
    return {"hx": np.diff(faces[0]), "hy": np.diff(faces[1]), "hz": np.diff(faces[2]),
            "origin": np.array([f[0] for f in faces]), "__class__": "TensorMesh"}


def _model(table: Tree) -> TensorMesh:
    for name in ("mu_r", "epsilon_r"):
        if table.get(name) is not None:
            raise UnsupportedError("emg3d", f"the model has {name}, which Terrane leaves out", "Use emg3d itself.")
    mesh = _grid(table["grid"])
    to_conductivity = _MAPS[table["mapping"]][0]
    along = [table["property_x"], table.get("property_y"), table.get("property_z")]
    shape = mesh.shape[::-1]
    values: list[Any] = [None if a is None else np.broadcast_to(to_conductivity(np.asarray(a, float)), shape).T
                         for a in along]
    if values[1] is None and values[2] is None:
        mesh["conductivity"] = values[0]
    else:
        for name, one in zip(_AXES, values):
            mesh["conductivity_" + name] = values[0] if one is None else one
    return mesh


def _is_model(mesh: TensorMesh) -> bool:
    return any(name in mesh for name in ("conductivity", "resistivity", "conductivity_east"))


def _model_table(mesh: TensorMesh) -> Tree:
    table: Tree = {"__class__": "Model", "grid": _grid_table(mesh)}
    mapping = "Resistivity" if "resistivity" in mesh and "conductivity" not in mesh else "Conductivity"
    values: list[Any]
    if "conductivity_east" in mesh:
        values = [mesh["conductivity_" + name] for name in _AXES]
    else:
        values = [mesh[mapping.lower()], None, None]
    for name, one in zip("xyz", values):
        table["property_" + name] = None if one is None else np.asfortranarray(one.T)
    return {**table, "mu_r": None, "epsilon_r": None, "mapping": mapping}


def _field(table: Tree) -> Any:
    """On the edges (of H: on the faces) of the grid, walls included."""
    import xarray

    grid = _grid(table["grid"])
    electric = bool(table["electric"])
    faces = {"easting": grid.easting, "northing": grid.northing, "up": grid.up}
    coords = {f"{kind}_{axis}": (f"{kind}_{axis}", f if kind == "face" else (f[1:] + f[:-1]) / 2, {"units": "m"})
              for axis, f in faces.items() for kind in ("face", "cell")}
    variables, at, data = {}, 0, np.asarray(table["data"])
    for name, dims in zip(_AXES, _dims(electric)):
        shape = tuple(coords[d][1].size for d in dims)
        count = int(np.prod(shape))
        variables[("e_" if electric else "h_") + name[0]] = (dims, data[at:at + count].reshape(shape),
                                                             {"units": "V/m" if electric else "A/m"})
        at += count
    attributes = {} if table["frequency"] is None else {"frequency": float(table["frequency"])}
    return xarray.Dataset(variables, coords=coords, attrs=attributes)


def edge_field(result: Any, source: int = 0, frequency: int = 0) -> Any:
    """E on the edges of one solve, as :func:`write_emg3d` takes it.

    Parameters
    ----------
    result : Result or xarray.Dataset
        Of an electromagnetic simulation with ``volume=["edges"]``.
    source, frequency : int
        Their places in the result, from 0.
    """
    import xarray

    given = getattr(result, "dataset", result)
    if "e_e_edges" not in given:
        raise InputError("result", "it has no E on edges", 'Compute it with volume=["edges"].')
    one = given[[f"e_{axis[0]}_edges" for axis in _AXES]].isel(source=source, frequency=frequency)
    named = {f"e_{axis[0]}": one[f"e_{axis[0]}_edges"].drop_vars(["source", "frequency"]) for axis in _AXES}
    return xarray.Dataset(named, attrs={"frequency": float(one["frequency"])})


def _dims(electric: bool) -> tuple[tuple[str, ...], ...]:
    if electric:
        return _EDGES
    swapped = {"face": "cell", "cell": "face"}
    return tuple(tuple(f"{swapped[d[:4]]}{d[4:]}" for d in dims) for dims in _EDGES)


def _field_table(held: Any, where: str) -> Tree:
    electric = "e_e" in held
    parts = []
    for name, dims in zip(_AXES, _dims(electric)):
        variable = ("e_" if electric else "h_") + name[0]
        if variable not in held or held[variable].dims != dims:
            raise InputError(where, f"the field has no {variable} on {', '.join(dims)}",
                             "Give all three components on edges, walls included, as read_emg3d returns them.")
        parts.append(np.asarray(held[variable]).ravel())
    grid = TensorMesh(*(held[f"face_{axis}"].values for axis in ("easting", "northing", "up")))
    return {"__class__": "Field", "grid": _grid_table(grid), "data": np.concatenate(parts),
            "frequency": held.attrs.get("frequency"), "electric": electric}


def _source(table: Tree) -> Any:
    kind, at = table["__class__"], np.asarray(table["coordinates"], float)
    strength = float(table.get("strength", 1.0))
    if kind == "TxElectricPoint":
        return Dipole(at[:3].tolist(), 90 - float(at[3]), -float(at[4]), moment=strength)
    if kind == "TxElectricWire":
        closed = len(at) > 2 and np.array_equal(at[0], at[-1])
        return Wire(at[:-1] if closed else at, current=strength, closed=closed)
    if kind == "TxElectricDipole":
        if at.ndim == 1 and at.size == 5:
            length = float(table.get("length") or 1.0)
            return Dipole(at[:3].tolist(), 90 - float(at[3]), -float(at[4]), moment=strength * length, length=length)
        return Wire(at if at.ndim == 2 else at.reshape(3, 2).T, current=strength)
    return table


def _source_table(source: Any, name: str) -> Tree:
    if isinstance(source, dict):
        return source
    if isinstance(source, Wire):
        points = np.asarray(source.points, float)
        return {"__class__": "TxElectricWire", "strength": float(source.current),
                "coordinates": np.vstack([points, points[:1]]) if source.closed else points}
    if isinstance(source, Dipole) and not source.magnetic:
        at = np.array([*source.at, 90 - source.azimuth, -source.dip], float)
        if source.length is None:
            return {"__class__": "TxElectricPoint", "coordinates": at, "strength": float(source.moment)}
        return {"__class__": "TxElectricDipole", "coordinates": at, "strength": source.moment / source.length,
                "length": float(source.length)}
    raise UnsupportedError(name, "only electric dipoles and wires are written", "A loop is Wire(..., closed=True).")


def _survey(table: Tree) -> Emg3dSurvey:
    receivers = table["receivers"]
    at = np.array([np.asarray(r["coordinates"], float) for r in receivers.values()])
    for name, receiver in receivers.items():
        if receiver.get("relative"):
            raise UnsupportedError(name, "a receiver has its place relative to sources", "Use emg3d itself.")
    frequencies = table["frequencies"]
    if not isinstance(frequencies, dict):
        frequencies = {f"f-{n + 1}": value for n, value in enumerate(np.atleast_1d(frequencies))}
    return Emg3dSurvey(
        {name: _source(source) for name, source in table["sources"].items()}, Survey(at[:, 0], at[:, 1], at[:, 2]),
        list(receivers), 90 - at[:, 3], -at[:, 4],
        np.array(["Magnetic" in str(r["__class__"]) for r in receivers.values()]),
        {name: float(value) for name, value in frequencies.items()},
        {name: np.asarray(values) for name, values in (table.get("data") or {}).items()}, table.get("noise_floor"),
        table.get("relative_error"))


def _survey_table(survey: Emg3dSurvey) -> Tree:
    receivers: Tree = {}
    places = zip(survey.receivers.easting, survey.receivers.northing, survey.receivers.up, survey.azimuths, survey.dips)
    for name, magnetic, (e, n, u, azimuth, dip) in zip(survey.names, survey.magnetic, places):
        receivers[name] = {"__class__": "RxMagneticPoint" if magnetic else "RxElectricPoint", "relative": False,
                           "coordinates": np.array([e, n, u, 90 - azimuth, -dip]), "data_type": "complex"}
    return {"__class__": "Survey", "receivers": receivers,
            "sources": {name: _source_table(source, name) for name, source in survey.sources.items()},
            "frequencies": dict(survey.frequencies), "data": dict(survey.data), "noise_floor": survey.noise_floor,
            "relative_error": survey.relative_error, "name": None, "date": None, "info": None}
