"""Acoustic waves: gathers, Born modelling and migration.

Property of the model: ``velocity_p`` (m/s) of every cell; all cells are equally wide along an axis. One cell along
northing makes a model of two dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from . import simulation
from .acoustic_angles import angle_gathers
from .acoustic_operators import Operators
from .acoustic_shots import run_shots
from .errors import ShapeError
from .mesh import TensorMesh
from .simulation import Number, runtime
from .survey import Survey

__all__ = ["Operators", "Simulation", "Wavelet", "angle_gathers", "run_shots"]


@dataclass(frozen=True)
class Wavelet:
    """The wavelet that every shot sends.

    Parameters
    ----------
    frequency : number or text, optional
        Peak frequency of a ricker or a gabor, Hz.
    kind : {"ricker", "gabor", "ormsby"}
    corners : four floats, optional
        Of an ormsby: the four corners of its trapezoidal spectrum, Hz.
    delay : number or text, optional
        Time of the middle; by default late enough for the wavelet to begin at zero.
    amplitude : float
        Peak amplitude, Pa m; in two dimensions Pa.
    """

    frequency: Optional[Number] = None
    kind: str = "ricker"
    corners: Optional[Sequence[float]] = None
    delay: Optional[Number] = None
    amplitude: float = 1.0

    def _table(self) -> dict[str, Any]:
        return {"wavelet": self.kind, "frequency": self.frequency,
                "corners": None if self.corners is None else list(self.corners), "delay": self.delay,
                "amplitude": self.amplitude}


class Simulation(simulation.Simulation):
    """Pressure at receivers for every shot, or an image of the ground.

    Arguments that are None take the defaults of the job file (`terrane new acoustic --reference`).

    Parameters
    ----------
    model : TensorMesh
    receivers : Survey
        The same for every shot.
    shots : array_like [n, 3]
        Easting, northing, up of each, m.
    wavelet : Wavelet
    end : number or text
        Length of the gathers: s, or ``"800 ms"``.
    kind : {"modelling", "born", "migration"}, optional
    smoothing : number or text, optional
        For born and migration: standard deviation of the Gaussian that smooths the model.
    observed : array_like [shot, time, receiver], optional
        Of migration: the gathers to migrate, at the time steps of the run.
    boundary : mapping, optional
        ``{"top": "cpml", "points": 20}``: keys of the table [boundary].
    step : number or text, optional
    record : sequence of str, optional
        What receivers record: pressure, velocity_east, velocity_north, velocity_up (of particles, m/s).
    density : number or text, optional
        What velocities of particles are over; ``variable_density`` has that of the model.
    order : int, optional
        Order of the differences in space, 2 to 16.
    precision : {"single", "double"}, optional
    wavefield : {"auto", "store", "checkpoints", "boundary", "random_walls", "compressed", ...}, optional
        How a migration gets the source's waves backwards in time.
    kept_in : {"auto", "memory", "host", "disk"}, optional
        Where what it keeps lies.
    scratch : path, optional
        Folder for ``kept_in="disk"``.
    lags : int, optional
        Of migration: cells to either side by which waves are shifted for ``image_at_lags``, whose dimension ``lag``
        is in m; :func:`angle_gathers` makes images by angle of them.
    settings : mapping, optional
        Further keys of the table [simulation].
    device, threads, memory
        As in :class:`terrane.heat.Simulation`.

    Examples
    --------
    >>> import terrane
    >>> mesh = terrane.TensorMesh.regular([0, 400, 0, 10, -400, 0], shape=(40, 1, 40))
    >>> mesh.velocity_p = 2000.0
    >>> receivers = terrane.Survey([100.0, 200.0, 300.0], 5.0, -20.0)
    >>> shots = terrane.acoustic.Simulation(mesh, receivers, [[200, 5, -200]], terrane.acoustic.Wavelet(20), end=0.2)
    >>> shots.run()["pressure"].dims
    ('shot', 'time', 'receiver')
    """

    physics = "acoustic"

    def __init__(self, model: TensorMesh, receivers: Survey, shots: ArrayLike, wavelet: Wavelet, *, end: Number,
                 kind: Optional[str] = None, smoothing: Optional[Number] = None, observed: Optional[ArrayLike] = None,
                 boundary: Optional[Mapping[str, Any]] = None, step: Optional[Number] = None,
                 order: Optional[int] = None, precision: Optional[str] = None, wavefield: Optional[str] = None,
                 lags: Optional[int] = None, record: Optional[Sequence[str]] = None, density: Optional[Number] = None,
                 kept_in: Optional[str] = None, scratch: Optional[str] = None, settings: Optional[Mapping[str, Any]] = None, device: str = "auto",
                 threads: Optional[int] = None, memory: Optional[str] = None) -> None:
        at = np.atleast_2d(np.asarray(shots, np.float64))
        if at.ndim != 2 or at.shape[1] != 3:
            raise ShapeError("shots", f"has shape {at.shape}", "Expected [n, 3]: easting, northing, up.")
        data: Union[None, Any] = None if observed is None else np.asarray(observed, np.float64)
        if data is not None and data.ndim != 3:
            raise ShapeError("observed", f"has shape {data.shape}", "Expected [shot, time, receiver].")
        tables: dict[str, Any] = {
            "source": {"at": at.tolist(), **wavelet._table()},
            "simulation": {"end": end, "kind": kind, "smoothing": smoothing, "observed": data, "step": step,
                           "order": order, "precision": precision, "wavefield": wavefield, "lags": lags,
                           "record": record if record is None or isinstance(record, str) else list(record),
                           "density": density,
                           "kept_in": kept_in, "scratch": None if scratch is None else str(scratch),
                           **(settings or {}), **runtime(device, threads, memory)}}
        if boundary:
            tables["boundary"] = dict(boundary)
        super().__init__(model, receivers, tables)


def __dir__() -> list[str]:
    return sorted(__all__)
