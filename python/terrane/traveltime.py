"""Travel times: first arrivals of P waves from shots to receivers.

Property of the model: ``velocity_p``; cells without one are air, which no wave crosses.
"""

from __future__ import annotations

from typing import Any, Mapping, Optional

import numpy as np
from numpy.typing import ArrayLike

from . import simulation
from .errors import InputError
from .mesh import TensorMesh
from .simulation import Columns, runtime
from .survey import Survey

__all__ = ["Simulation"]

_TIMES = ("travel_time_observed", "travel_time", "travel_time_uncertainty")


class Simulation(simulation.Simulation):
    """Times of first arrivals: a row for each shot and receiver.

    Arguments that are None take the defaults of the job file (`terrane new traveltime --reference`).

    Parameters
    ----------
    model : TensorMesh
        With ``velocity_p``, m/s. An axis with one cell is flat: times are those in the plane of the others.
    receivers : Survey, optional
        Each records all shots.
    shots : array [n, 3], optional
        Easting, northing, up, m.
    picks : mapping of columns, optional
        In place of both: ``shot_easting``, ``shot_northing``, ``shot_up``, ``receiver_easting``, ... m, and, if there are
        such, ``travel_time_observed`` and ``travel_time_uncertainty``, s. A data frame is such a mapping.
    order : {2, 1}, optional
        Of the differences.
    verify : {"off", "estimate", "refine"}, optional
        ``estimate``: a second run on cells twice as wide states an error beside every time, ``travel_time_error``.
        ``refine``: where 95 % of times have a larger one than ``accuracy``, cells are split, up to three times.
    accuracy : float, optional
        Relative error that is asked for.
    settings : mapping, optional
        Further keys of the table [simulation].
    threads : int, optional
    memory : str, optional
        Most memory that the run may take, such as ``"2 GB"``.

    Examples
    --------
    >>> import terrane
    >>> ground = terrane.TensorMesh.regular([0, 100, -1, 1, -50, 0], shape=(50, 1, 25))
    >>> ground.velocity_p = 2000.0
    >>> ground.velocity_p[20:] = 800.0  # ten metres of soil
    >>> geophones = terrane.Survey([20, 90], 0, 0)
    >>> result = terrane.traveltime.Simulation(ground, geophones, shots=[[0, 0, 0]]).run()
    >>> print((1e3 * result["travel_time"]).round(1).values)
    [25.  67.9]
    """

    physics = "traveltime"

    def __init__(self, model: TensorMesh, receivers: Optional[Survey] = None, *, shots: Optional[ArrayLike] = None,
                 picks: Optional[Mapping[str, Any]] = None, order: Optional[int] = None,
                 verify: Optional[str] = None, accuracy: Optional[float] = None,
                 settings: Optional[Mapping[str, Any]] = None, threads: Optional[int] = None,
                 memory: Optional[str] = None) -> None:
        if (picks is None) == (receivers is None or shots is None):
            raise InputError("shots", "give receivers and shots, or picks", "picks has the places of both.")
        source: dict[str, Any]
        if picks is not None:
            source = {"file": Columns({str(name): ("s" if name in _TIMES else "m", picks[name]) for name in picks},
                                      "picks")}
        else:
            places = np.atleast_2d(np.asarray(shots, dtype=float))
            if places.ndim != 2 or places.shape[1] != 3:
                raise InputError("shots", f"have shape {places.shape}", "Expected [n, 3]: easting, northing, up.")
            source = {"at": places}
        tables: dict[str, Any] = {"source": source, "simulation": {
            "order": order, "verify": verify, "accuracy": accuracy, **(settings or {}),
            **runtime("auto", threads, memory)}}
        super().__init__(model, receivers if receivers is not None else {}, tables)

    def tables(self) -> dict[str, Any]:
        """The job: what :func:`terrane.run` takes."""
        made = super().tables()
        if not isinstance(self.survey, Survey):
            made.pop("survey")  # the picks have it
        return made


def __dir__() -> list[str]:
    return sorted(__all__)
