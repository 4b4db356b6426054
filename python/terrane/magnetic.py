"""Magnetic fields of prisms and cells.

Properties of the model: ``susceptibility`` (SI); ``magnetization_east``, ``magnetization_north``,
``magnetization_up`` (A/m) for what is remanent.
"""

from __future__ import annotations

from typing import Any, Literal, Mapping, Optional, Sequence, Union

from . import simulation
from ._names import Frame, MagneticChannels, Method, Singular, Units
from .simulation import Model, Tables, runtime
from .survey import Survey

__all__ = ["Simulation"]


class Simulation(simulation.Simulation):
    """Flux density and total-field anomaly at stations.

    Arguments that are None take the defaults of the job file (`terrane new magnetic --reference`).

    Parameters
    ----------
    model : TensorMesh, PrismSet or PrismLayer
    survey : Survey or mapping
        A mapping has the keys of the table [survey]; of a grid (region, shape, height) the result is on a grid.
    channels : names
        ``b_e b_n b_u``, ``tmi`` and ``b_amplitude``, the strength of the anomalous field; or the frame's own names.
    main_field : (intensity, inclination, declination), optional
        nT, and degrees downward and east of north; the job file has them as three keys.
    anomaly : {"projection", "exact"}, optional
    frame : {"enu", "harmonica", "simpeg", "ubc"}, optional
    units : {"geo", "si"}, optional
        nT or T.
    accuracy : float, optional
    method : {"auto", "direct", "lattice", "tree", "fmm"}, optional
    singular : {"nan", "mean", "outside", "inside"}, optional
    settings : mapping, optional
        Further keys of the table [simulation].
    device, threads, memory
        As in :class:`terrane.heat.Simulation`.

    Examples
    --------
    >>> import terrane
    >>> dike = terrane.PrismSet([[-50, 50, -500, 500, -400, -50]], susceptibility=0.02)
    >>> survey = terrane.Survey([-200.0, 0.0, 200.0], 0.0, 30.0)
    >>> result = terrane.magnetic.Simulation(dike, survey, main_field=(50_000, 65, -12)).run()
    >>> result["tmi"].round(1).values.tolist()
    [-7.1, 117.4, 10.0]
    """

    physics = "magnetic"

    def __init__(self, model: Model, survey: Union[Survey, Tables], channels: MagneticChannels = ("tmi",), *,
                 main_field: Optional[Sequence[float]] = None, anomaly: Optional[Literal["projection", "exact"]] = None,
                 frame: Optional[Frame] = None, units: Optional[Units] = None, accuracy: Optional[float] = None,
                 method: Optional[Method] = None, singular: Optional[Singular] = None,
                 settings: Optional[Mapping[str, Any]] = None, device: str = "auto",
                 threads: Optional[int] = None, memory: Optional[str] = None) -> None:
        intensity, inclination, declination = (None, None, None) if main_field is None else main_field
        super().__init__(model, survey, {"simulation": {
            "channels": [channels] if isinstance(channels, str) else list(channels),
            "intensity": None if intensity is None else f"{float(intensity)!r} nT", "inclination": inclination,
            "declination": declination, "anomaly": anomaly, "frame": frame, "units": units, "accuracy": accuracy,
            "method": method, "singular": singular, **(settings or {}), **runtime(device, threads, memory)}})


def __dir__() -> list[str]:
    return sorted(__all__)
