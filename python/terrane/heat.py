"""Heat conduction in a box of rock.

Properties of the model: ``thermal_conductivity``; ``heat_capacity``, or ``density`` and ``specific_heat``;
``heat_production``; ``temperature`` at time 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Mapping, Optional, Sequence

from . import simulation
from .mesh import TensorMesh
from .simulation import Number, place, runtime
from .survey import Survey

__all__ = ["Simulation", "Source"]


@dataclass(frozen=True)
class Source:
    """Heat put in at a point: the cell there takes it.

    Parameters
    ----------
    at : three floats
        Easting, northing, up, m.
    power : float
        Power from time 0 on, W.
    until : number or text, optional
        When the power is turned off: s, or ``"30 day"``. Otherwise at the end.
    heat : float
        Heat released at time 0, J.
    """

    at: Sequence[float]
    power: float = 0.0
    until: Optional[Number] = None
    heat: float = 0.0


class Simulation(simulation.Simulation):
    """Temperature of the rock at receivers over time, and everywhere at the end.

    Arguments that are None take the defaults of the job file (`terrane new heat --reference`).

    Parameters
    ----------
    model : TensorMesh
        May have ``thermal_conductivity`` W/(m K), ``heat_capacity`` J/(m³ K), ``temperature`` K and
        ``heat_production`` W/m³.
    receivers : Survey
        Points; the temperature of their cells is recorded at every step.
    end : number or text
        Last time: s, or ``"60 day"``.
    source : Source, optional
    step : number or text, optional
    method : {"auto", "explicit", "implicit"}, optional
    boundary : {"insulated", "fixed"}, optional
        Faces of the box: no heat passes, or they stay at the temperature of the surroundings.
    thermal_conductivity, heat_capacity, temperature : number or text, optional
        Values for rock where the model has none.
    tolerance : float, optional
        Of the implicit solver.
    verify : {"off", "estimate", "refine"}, optional
        ``estimate``: a second run on cells twice as wide states an error beside every datum, as ``NAME_error``.
        ``refine``: where 95 % of data have a larger one than ``accuracy``, cells are split, up to three times
        (``settings={"most_cells": 1_000_000}``); the report says whether it is kept.
    accuracy : float, optional
        Relative error that is asked for: the report warns of the first datum whose error is larger.
    settings : mapping, optional
        Further keys of the table [simulation].
    device : str
    threads : int, optional
    memory : str, optional
        Most memory that the run may take, such as ``"2 GB"``.

    Examples
    --------
    >>> import terrane
    >>> mesh = terrane.TensorMesh.regular([-10, 10, -10, 10, -10, 10], shape=(20, 20, 20))
    >>> mesh.thermal_conductivity = 2.8
    >>> thermometers = terrane.Survey([2.5, 4.5], 0.5, 0.5)
    >>> heater = terrane.heat.Source([0.5, 0.5, 0.5], power=500, until="30 day")
    >>> result = terrane.heat.Simulation(mesh, thermometers, end="60 day", source=heater, heat_capacity=2.1e6).run()
    >>> result["temperature"].dims
    ('time', 'receiver')
    >>> print(f"{result.report.heat_put_in:.4g} J put in, {result.report.heat_after:.4g} J in the rock")
    1.296e+09 J put in, 1.296e+09 J in the rock
    """

    physics = "heat"

    def __init__(self, model: TensorMesh, receivers: Survey, *, end: Number, source: Optional[Source] = None,
                 step: Optional[Number] = None, method: Optional[str] = None, boundary: Optional[str] = None,
                 thermal_conductivity: Optional[Number] = None, heat_capacity: Optional[Number] = None,
                 temperature: Optional[Number] = None, tolerance: Optional[float] = None,
                 verify: Optional[str] = None, accuracy: Optional[float] = None,
                 settings: Optional[Mapping[str, Any]] = None, device: str = "auto",
                 threads: Optional[int] = None, memory: Optional[str] = None) -> None:
        tables: dict[str, Any] = {"simulation": {
            "end": end, "step": step, "method": method, "boundary": boundary,
            "thermal_conductivity": thermal_conductivity, "heat_capacity": heat_capacity, "temperature": temperature,
            "tolerance": tolerance, "verify": verify, "accuracy": accuracy, **(settings or {}),
            **runtime(device, threads, memory)}}
        if source is not None:
            tables["source"] = {"at": place(source.at, "source.at"), "power": source.power, "until": source.until,
                                "heat": source.heat}
        super().__init__(model, receivers, tables)


def __dir__() -> list[str]:
    return sorted(__all__)
