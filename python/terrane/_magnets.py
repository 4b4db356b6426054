"""The flux density of magnetized prisms on arrays, for the functions of other programs."""

from __future__ import annotations

from typing import Any, Optional, Union

import numpy as np

from . import _core
from ._arrays import Floats
from ._progress import Progress, reporting
from .gravity import DEFAULT_ACCURACY, _METHODS, _SINGULAR, _accuracy, _choice, _device, _threads

#: μ₀, CODATA 2018, N/A².
VACUUM_PERMEABILITY = 1.25663706212e-6


def flux_density(box: Floats, magnetization: Floats, stations: Floats, *,
                 accuracy: Union[float, str] = DEFAULT_ACCURACY, method: str = "auto", singular: str = "nan", device: str = "auto", threads: Optional[int] = None,
                 progress: Progress = False) -> tuple[Floats, Any]:
    """B [3, n] in T, and a mask [n] of the stations inside of prisms.

    box [m, 6] m, magnetization [3, m] A/m, stations [3, n] m: along easting, northing, up.
    """
    east, north, high = (np.ascontiguousarray(one, dtype=float) for one in magnetization)
    places = [np.ascontiguousarray(one, dtype=float) for one in stations]
    with reporting(progress) as report:
        *field, inside, _ = _core.field_of_magnets(
            box, east, north, high, places[0], places[1], places[2], _accuracy(accuracy), _choice("method", method, _METHODS),
            _choice("singular", singular, _SINGULAR), _device(device), _threads(threads), report)
    mask = np.zeros(stations.shape[1], bool)
    mask[inside.astype(int)] = True
    return np.stack(field), mask
