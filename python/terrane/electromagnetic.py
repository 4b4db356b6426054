"""Electromagnetic fields of dipoles, wires and loops at given frequencies; time dependence exp(+iωt).

Properties of the model: ``conductivity`` (S/m) or ``resistivity`` (ohm m) of every cell, air and sea included; where it
differs by axis, ``conductivity_up``, ``resistivity_up`` and so on take their place. With ``chargeability`` (V/V),
``cole_cole_time`` (s) and ``cole_cole_exponent`` it is complex, and differs from frequency to frequency.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import simulation
from .electromagnetic_layers import layered, layered_impedance
from .electromagnetic_sensitivity import Sensitivity
from .electromagnetic_solves import run_solves
from .mesh import TensorMesh
from .simulation import place, runtime
from .survey import Survey

__all__ = ["Dipole", "PlaneWaves", "Sensitivity", "Simulation", "Wire", "layered", "layered_impedance", "run_solves"]


@dataclass(frozen=True)
class Dipole:
    """An electric or a magnetic dipole at any place and angle.

    Parameters
    ----------
    at : three floats
        Easting, northing, up, m.
    azimuth, dip : float
        Degrees east of north, and below the horizontal: 90 points down.
    moment : float
        Dipole moment: A m of an electric, A m² of a magnetic dipole.
    length : float, optional
        Of an electric dipole, m: a straight wire with the current moment / length.
    magnetic : bool
    """

    at: Sequence[float]
    azimuth: float = 90.0
    dip: float = 0.0
    moment: float = 1.0
    length: Optional[float] = None
    magnetic: bool = False

    def _table(self) -> dict[str, Any]:
        return {"kind": "magnetic_dipole" if self.magnetic else "dipole", "at": place(self.at, "source.at"),
                "azimuth": self.azimuth, "dip": self.dip, "moment": self.moment, "length": self.length}


@dataclass(frozen=True)
class Wire:
    """A wire through points [n, 3], m, grounded at both ends; or, closed, a loop.

    Parameters
    ----------
    points : array_like [n, 3]
        Easting, northing, up of its corners, m.
    current : float
        Current, A.
    closed : bool
        Back to the first point: a loop.
    """

    points: ArrayLike
    current: float = 1.0
    closed: bool = False

    def _table(self) -> dict[str, Any]:
        return {"kind": "loop" if self.closed else "wire", "points": np.asarray(self.points, np.float64).tolist(),
                "current": self.current}


@dataclass(frozen=True)
class PlaneWaves:
    """Magnetotellurics: plane waves from above, in both polarizations; no other source is allowed beside them."""

    def _table(self) -> dict[str, Any]:
        return {"kind": "plane_wave"}


#: The source of a simulation.
Source = Union[Dipole, Wire, PlaneWaves]


class Simulation(simulation.Simulation):
    """Complex fields at receivers, of every source at every frequency; of plane waves impedance, tipper and so on.

    Arguments that are None take the defaults of the job file (`terrane new electromagnetic --reference`).

    Parameters
    ----------
    model : TensorMesh
        A mesh that reaches some skin depths beyond sources and receivers; the report warns where it does not.
    receivers : Survey
    sources : Dipole or Wire, or several; or PlaneWaves
    frequencies : array_like
        Hz.
    components : names, optional
        ``e_e e_n e_u`` (V/m) and ``h_e h_n h_u`` (A/m).
    responses : names, optional
        For plane waves, in place of components: ``impedance``, ``apparent_resistivity``, ``phase``, ``tipper``,
        ``phase_tensor``.
    volume : names, optional
        ``e``, ``h``: fields of all cells beside those at receivers, as ``e_e_cells`` and so on; the result then also
        writes files ``.vtr`` (VTK) and ``.h5`` (HDF5) of the cells. ``edges``: E on the edges of the mesh, as
        ``e_e_edges`` and so on.
    tolerance, receiver_tolerance : float, optional
    most_iterations : int, optional
    gridding : str, optional
        Which solves share a mesh, in emg3d's words. ``same``: all, the model's own. Else meshes are planned, and take
        averages of the model, which goes on beyond its sides: ``single`` for all; ``frequency``, ``source`` or ``both``
        for each of them. The report says why each mesh is as it is; ``min_width_pps``, ``lambda_factor`` and so on in
        ``settings`` change it.
    verify : {"off", "estimate", "refine"}, optional
        ``estimate``: a second run on cells twice as wide states an error beside every datum, as ``NAME_error``.
        ``refine``: where 95 % of data have a larger one than ``accuracy``, cells are split, up to three times
        (``settings={"most_cells": 1_000_000}``); the report says whether it is kept.
    accuracy : float, optional
        Relative error that is asked for: the report warns of the first datum whose error is larger.
    settings : mapping, optional
        Further keys of the table [simulation].
    device, threads, memory
        As in :class:`terrane.heat.Simulation`.

    Examples
    --------
    >>> import numpy as np
    >>> import terrane
    >>> side = np.concatenate([[-8000, -4000, -2000], np.linspace(-1000, 1000, 11), [2000, 4000, 8000]])
    >>> mesh = terrane.TensorMesh(side, side, side, conductivity=0.1)
    >>> receiver = terrane.Survey([0.0], [600.0], [0.0])
    >>> source = terrane.electromagnetic.Dipole([0, -600, 0], azimuth=90)
    >>> result = terrane.electromagnetic.Simulation(mesh, receiver, source, [1.0], components=["e_e"]).run()
    >>> result["e_e"].dims, str(result["e_e"].dtype)
    (('source', 'frequency', 'receiver'), 'complex128')
    """

    physics = "electromagnetic"

    def __init__(self, model: TensorMesh, receivers: Survey, sources: Union[Source, Sequence[Source]],
                 frequencies: ArrayLike, *, components: Optional[Sequence[str]] = None,
                 responses: Optional[Sequence[str]] = None, volume: Optional[Sequence[str]] = None,
                 tolerance: Optional[float] = None, receiver_tolerance: Optional[float] = None,
                 most_iterations: Optional[int] = None, gridding: Optional[str] = None,
                 verify: Optional[str] = None, accuracy: Optional[float] = None,
                 settings: Optional[Mapping[str, Any]] = None, device: str = "auto", threads: Optional[int] = None,
                 memory: Optional[str] = None) -> None:
        given = [sources] if isinstance(sources, (Dipole, Wire, PlaneWaves)) else list(sources)
        super().__init__(model, receivers, {
            "source": [source._table() for source in given],
            "simulation": {
                "frequencies": np.atleast_1d(np.asarray(frequencies, np.float64)).tolist(),
                "components": None if components is None else list(components),
                "responses": None if responses is None else list(responses),
                "volume": None if volume is None else list(volume), "tolerance": tolerance,
                "receiver_tolerance": receiver_tolerance, "most_iterations": most_iterations, "gridding": gridding,
                "verify": verify, "accuracy": accuracy,
                **(settings or {}), **runtime(device, threads, memory)}})

    def tables(self) -> dict[str, Any]:
        """The job: what :func:`terrane.run` takes."""
        tables = super().tables()
        if tables["simulation"].get("gridding") in (None, "same"):
            return tables
        projection = self.survey.projection if isinstance(self.survey, Survey) else ""
        return {**tables, "mesh": {"kind": "planned", "projection": projection or None}, "model": {"file": self.model}}


def __dir__() -> list[str]:
    return sorted(__all__)
