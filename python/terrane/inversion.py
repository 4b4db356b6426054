"""Sensitivities of gravity and magnetics, inversions from job files, and few-parameter bodies by global search."""

from __future__ import annotations

import warnings
from os import PathLike
from typing import Any, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import _core, jobs
from ._arrays import Floats, faces, vector
from .bodies import Box, Dike, FoundBodies, Sphere, find_bodies
from .earth import Results
from ._strict import Strict
from .errors import InputError
from .gravity import CHANNELS, GRAVITATIONAL_CONSTANT
from .result import Result

__all__ = ["Box", "Dike", "FoundBodies", "Sensitivity", "Sphere", "find_bodies", "invert"]

_UNITS = {"geo": {"potential": 1.0, "g": 1e5, "tensor": 1e9}, "si": {"potential": 1.0, "g": 1.0, "tensor": 1.0}}
_POLICIES = ("nan", "mean", "outside", "inside")
_STORAGES = ("single", "double", "none", "lattice", "tree")


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
    storage : {"single", "double", "none", "lattice", "tree"}
        All entries in memory in float32 or float64, or none: computed anew for each product. By FFT, exact to rounding,
        where prisms and stations form a lattice. By a tree, near G to ``tree_accuracy`` and with an exact transpose.
    accuracy : float
        Relative, of every entry.
    tree_accuracy : float
        Of products by the tree, relative to the largest value that prisms all alike give.
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
                 storage: str = "single", accuracy: float = 1e-9, tree_accuracy: float = 1e-6, device: str = "cpu",
                 units: str = "geo", gravitational_constant: float = GRAVITATIONAL_CONSTANT, singular: str = "nan",
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


def invert(job: Union[str, "PathLike[str]"], **options: Any) -> Union[Result, Results]:
    """The model that explains the data of a job with a table [inversion]: ``terrane invert`` without its words.

    Options as in :func:`terrane.run_all`. The result has what the model gives at the stations, residuals and the
    report; the model is in the files of output.model. A job of several simulations, found together where it has a table
    [joint], returns :class:`terrane.Results`, by name.
    """
    results = jobs.run_all(job, **options)
    return results[""] if list(results) == [""] else results
