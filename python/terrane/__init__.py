"""Terrane: one earth model in, every field out.

>>> import numpy as np
>>> import terrane
>>> field = terrane.gravity.forward(
...     prisms=[[-500, 500, -500, 500, -1500, -500]], density=[300.0],
...     easting=[0.0], northing=[0.0], up=[0.0], channels=["g_u", "g_uu"])
>>> print({name: np.round(values, 6) for name, values in field.items()})
{'g_u': array([-1.888155]), 'g_uu': array([33.913295])}

Lengths are metres, densities kg/m³, axes easting, northing, up; fields come in J/kg, mGal and Eötvös unless asked otherwise.
Nouns are those of the job file: :class:`TensorMesh`, :class:`PrismSet`, :class:`PrismLayer`, :class:`Survey`,
:class:`Result`, and of every physics a ``Simulation``: :class:`gravity.Simulation`, :class:`heat.Simulation`, ...
What is imported is only what is used.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import acoustic, compat, elastic, electric, electromagnetic, errors, gravity, heat, inversion, magnetic
    from . import plotting, simulation, traveltime
    from ._pictured import plot
    from ._core import commit as __commit__
    from ._core import version as __version__
    from .earth import Earth, Results, Surface
    from .equivalent import EquivalentSources
    from .errors import Error, FileError, InputError, MemoryError, ShapeError, UnsupportedError
    from .files import info, read, sample
    from .jobs import check, check_all, devices, run, run_all
    from .mesh import PrismLayer, PrismSet, TensorMesh
    from .result import Result
    from .survey import Survey

_HOMES = {
    "TensorMesh": "mesh", "PrismSet": "mesh", "PrismLayer": "mesh", "Survey": "survey", "Result": "result",
    "Earth": "earth", "Results": "earth", "Surface": "earth",
    "run": "jobs", "run_all": "jobs", "check": "jobs", "check_all": "jobs", "devices": "jobs",
    "read": "files", "info": "files", "sample": "files", "plot": "_pictured",
    "EquivalentSources": "equivalent", "read_dataset": "dataset", "write_dataset": "dataset",
    "Error": "errors", "InputError": "errors", "ShapeError": "errors", "FileError": "errors",
    "MemoryError": "errors", "UnsupportedError": "errors",
}
_COMPONENTS = ("compat", "errors", "inversion", "plotting", "simulation")

__all__ = [
    "Earth", "EquivalentSources", "Error", "FileError", "InputError", "MemoryError", "PrismLayer", "PrismSet", "Result",
    "Results", "ShapeError", "Surface", "Survey",
    "TensorMesh", "UnsupportedError", "check", "check_all", "compat", "devices", "errors", "gravity", "info",
    "inversion", "plot", "plotting", "read", "read_dataset", "run", "run_all", "sample", "write_dataset",
]


def _all_physics() -> list[str]:
    """The physics that have a module of their own, by its file: terrane/<physics>.py."""
    folder = os.path.dirname(__file__)
    return [name for name in importlib.import_module(f"{__name__}._core").physics()
            if os.path.isfile(os.path.join(folder, f"{name}.py"))]


def __getattr__(name: str) -> Any:
    if name in _COMPONENTS:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _HOMES:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    elif name == "__version__":
        value = importlib.import_module(f"{__name__}._core").version
    elif name == "__commit__":
        value = importlib.import_module(f"{__name__}._core").commit
    elif not name.startswith("_") and name in _all_physics():
        return importlib.import_module(f"{__name__}.{name}")
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    own = [name for name in globals() if name.startswith("__")]
    return sorted({*own, *__all__, *_all_physics(), "__version__", "__commit__"})
