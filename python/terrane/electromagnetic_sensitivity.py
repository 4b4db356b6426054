"""How electromagnetic data change with the conductivity of every cell."""

from __future__ import annotations

import os
import warnings
from os import PathLike
from typing import Any, Mapping, Optional, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._arrays import Floats, vector
from ._strict import Strict
from .errors import ShapeError
from .jobs import _arguments
from .simulation import Simulation, job_of

__all__ = ["Sensitivity"]

Job = Union[str, "PathLike[str]", Mapping[str, Any], Simulation]
Complex = NDArray[np.complex128]


def complex_of(parts: Floats) -> Complex:
    """Of real parts, then imaginary ones."""
    real, imaginary = np.split(parts, 2)
    return real + 1j * imaginary


def _warn(trouble: str) -> None:
    if trouble:
        warnings.warn(trouble, RuntimeWarning, stacklevel=3)


class Sensitivity(Strict):
    """d(m) and its derivative J by m = ln σ of every cell, along all axes alike: J v and Jᵀ w, by adjoint fields.

    Parameters
    ----------
    job : path, :class:`terrane.electromagnetic.Simulation`, or mapping of tables
        With ``physics = "electromagnetic"``; all solves share its mesh. The fields of all sources and frequencies are
        computed and kept: 48 bytes per cell and solve.
    settings, arguments, data, threads
        As in :func:`terrane.run`.

    Notes
    -----
    Data are those fields that receivers record, complex; of plane waves those of the two polarizations, from which
    impedances are made. Jᵀ is transposed, not conjugated: the gradient of ½ Σ |W (d − d_obs)|² is the real part of
    ``apply_transpose(W**2 * (d - d_obs).conj())``. Each product with J or Jᵀ takes a solve for each source and frequency.
    Source: Egbert & Kelbert 2012, Geophysical Journal International 189, 251-267.

    Examples
    --------
    >>> import numpy as np
    >>> import terrane
    >>> side = np.concatenate([[-4000, -2000], np.linspace(-1000, 1000, 9), [2000, 4000]])
    >>> mesh = terrane.TensorMesh(side, side, side, conductivity=0.1)
    >>> source = terrane.electromagnetic.Dipole([0, -600, 0], azimuth=90)
    >>> fields = terrane.electromagnetic.Simulation(mesh, terrane.Survey([0.0], [600.0], [0.0]), source, [1.0],
    ...                                             components=["e_e"])
    >>> J = terrane.electromagnetic.Sensitivity(fields)
    >>> J.data.shape, J.shape
    ((1, 1, 1, 1), (1, 1728))
    >>> v, w = np.ones(1728), np.ones(1)
    >>> bool(abs(w @ J.apply(v).ravel() - J.apply_transpose(w) @ v) < 1e-7 * abs(J.apply(v)).max())
    True
    """

    def __init__(self, job: Job, *, settings: Optional[Mapping[str, Any]] = None,
                 arguments: Optional[Mapping[str, Any]] = None, data: Optional[Union[str, "PathLike[str]"]] = None,
                 threads: Optional[int] = None) -> None:
        given = _arguments(settings, arguments, data, None, threads)
        if isinstance(job, (Mapping, Simulation)):
            text, contents = job_of(job.tables() if isinstance(job, Simulation) else job)
            self._engine = _core.electromagnetic_sensitivity_of(text, *given, contents)
        else:
            self._engine = _core.electromagnetic_sensitivity(os.fspath(job), *given)
        _warn(self._engine.trouble)

    @property
    def data(self) -> Complex:
        """Fields [source, frequency, component, receiver], V/m and A/m."""
        return complex_of(self._engine.data()).reshape(self._engine.shape)

    @property
    def shape(self) -> tuple[int, int]:
        """(data, cells)"""
        return int(np.prod(self._engine.shape)), self._engine.cells

    def apply(self, model: ArrayLike) -> Complex:
        """J v.  model: changes of ln σ, [cells] or [up, north, east] → as :attr:`data`"""
        given = np.asarray(model)
        changes, trouble = self._engine.apply(
            vector(given.ravel() if given.ndim == 3 else given, "model", size=self.shape[1]))
        _warn(trouble)
        return complex_of(changes).reshape(self._engine.shape)

    def apply_transpose(self, data: ArrayLike) -> Complex:
        """Jᵀ w.  data: complex, as :attr:`data` or flat → [cells], complex"""
        w = np.ravel(np.asarray(data, np.complex128))
        if w.size != self.shape[0]:
            raise ShapeError("data", f"has {w.size} values", f"Expected {self.shape[0]}, those of Sensitivity.data.")
        gradient, trouble = self._engine.apply_transpose(np.concatenate([w.real, w.imag]))
        _warn(trouble)
        return complex_of(gradient)

    def __repr__(self) -> str:
        return f"Sensitivity: {self.shape[0]:,} data of {self.shape[1]:,} cells"
