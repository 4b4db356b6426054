"""Elastic waves by spectral elements: each cell of the mesh is one element.

Properties of the model: ``velocity_p``, ``velocity_s`` (m/s) and ``density`` (kg/m³) of every cell; ``quality_p`` and
``quality_s``, or ``quality_kappa`` and ``quality_mu``, where rock attenuates waves.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any, Mapping, Optional, Sequence, Union

from . import simulation
from .mesh import TensorMesh
from .simulation import Number, place, runtime
from .survey import Survey

__all__ = ["Simulation", "Source"]


@dataclass(frozen=True)
class Source:
    """A force or a moment tensor at a point.

    Parameters
    ----------
    at : three floats
        Easting, northing, up, m.
    force : three floats, optional
        East, north, up, N.
    moment : six floats, optional
        ee, nn, uu, nu, eu, en, N m, in place of a force.
    pulse : {"ricker", "gaussian", "step", "samples"}
    frequency : number or text, optional
        Peak frequency of a ricker, Hz.
    duration : number or text, optional
        τ of a gaussian exp(−t²/τ²) or of a step, s; for samples, the time between two.
    samples : sequence of float, optional
        The time function, from ``delay`` on.
    delay : number or text
        Time of the middle of the pulse, s.
    """

    at: Sequence[float]
    force: Optional[Sequence[float]] = None
    moment: Optional[Sequence[float]] = None
    pulse: str = "ricker"
    frequency: Optional[Number] = None
    duration: Optional[Number] = None
    samples: Optional[Sequence[float]] = None
    delay: Number = 0.0

    def _table(self) -> dict[str, Any]:
        def listed(values: Optional[Sequence[float]]) -> Optional[list[float]]:
            return None if values is None else [float(v) for v in values]

        return {"at": place(self.at, "source.at"), "force": listed(self.force), "moment": listed(self.moment),
                "pulse": self.pulse, "frequency": self.frequency, "duration": self.duration,
                "samples": listed(self.samples), "delay": self.delay}


class Simulation(simulation.Simulation):
    """Seismograms at receivers.

    Arguments that are None take the defaults of the job file (`terrane new elastic --reference`).

    Parameters
    ----------
    model : TensorMesh
    receivers : Survey
    sources : Source, or several
    end : number or text
        Last time, s.
    quantity : {"displacement", "velocity", "pressure"}, optional
    degree : int, optional
        Degree of the polynomials in an element, 2 to 8.
    absorbing : names, optional
        Absorbing sides: west, east, south, north, bottom, top; () for none.
    step : number or text, optional
    precision : {"single", "double"}, optional
    surface : path, optional
        Elevation grid of the ground, up to which columns of cells are stretched.
    snapshots : mapping, optional
        Keys of the table [snapshots], as {"every": 0.1}: the result then has ``snapshot_velocity`` at points of the
        surface or of a volume, and ``write("film.vtkhdf")`` makes a film of them for ParaView.
    settings : mapping, optional
        Further keys of the table [simulation].
    device, threads, memory
        As in :class:`terrane.heat.Simulation`.

    Examples
    --------
    >>> import terrane
    >>> mesh = terrane.TensorMesh.regular([0, 600, 0, 600, -600, 0], shape=(6, 6, 6))
    >>> mesh.velocity_p, mesh.velocity_s, mesh.density = 3000.0, 1800.0, 2500.0
    >>> receiver = terrane.Survey([450.0], [300.0], [0.0])
    >>> push = terrane.elastic.Source([300, 300, -300], force=[0, 0, 1e9], frequency=8)
    >>> terrane.elastic.Simulation(mesh, receiver, push, end=0.2).run()["displacement"].dims
    ('receiver', 'component', 'time')
    """

    physics = "elastic"

    def __init__(self, model: TensorMesh, receivers: Survey, sources: Union[Source, Sequence[Source]], *, end: Number,
                 quantity: Optional[str] = None, degree: Optional[int] = None,
                 absorbing: Optional[Sequence[str]] = None, step: Optional[Number] = None,
                 precision: Optional[str] = None, surface: Union[str, "PathLike[str]", None] = None,
                 snapshots: Optional[Mapping[str, Any]] = None, settings: Optional[Mapping[str, Any]] = None,
                 device: str = "auto", threads: Optional[int] = None, memory: Optional[str] = None) -> None:
        given = [sources] if isinstance(sources, Source) else list(sources)
        super().__init__(model, receivers, {
            "source": [source._table() for source in given],
            **({} if snapshots is None else {"snapshots": dict(snapshots)}),
            "simulation": {
                "end": end, "quantity": quantity, "degree": degree,
                "absorbing": None if absorbing is None else list(absorbing), "step": step, "precision": precision,
                "surface": surface, **(settings or {}), **runtime(device, threads, memory)}})


def __dir__() -> list[str]:
    return sorted(__all__)
