"""Electromagnetic fields over layers, by Hankel transforms: without a mesh, and exact."""

from __future__ import annotations

from typing import Any, Optional

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Floats, real, vector
from .electromagnetic_sensitivity import Complex, complex_of
from .errors import InputError, ShapeError
from .simulation import place

__all__ = ["layered", "layered_impedance"]


def _layers(interfaces: ArrayLike, conductivity: ArrayLike, vertical: Optional[ArrayLike]) -> tuple[Floats, Floats, Floats]:
    heights, sigma = vector(interfaces, "interfaces"), vector(conductivity, "conductivity")
    if len(sigma) != len(heights) + 1:
        raise ShapeError("conductivity", f"has {len(sigma)} values for {len(heights)} interfaces",
                         "Give one more, from the deepest layer up; air is a layer of 1e-8 S/m or less.")
    upright = sigma if vertical is None else vector(vertical, "vertical", size=len(sigma))
    for name, values in (("conductivity", sigma), ("vertical", upright)):
        if bad := [n for n, value in enumerate(values) if not (value > 0 and np.isfinite(value))]:
            raise InputError(name, f"is {values[bad[0]]} in layer {bad[0] + 1}", "It is above zero in every layer, air too.")
    if bad := [n for n in range(1, len(heights)) if not heights[n] > heights[n - 1]]:
        raise InputError("interfaces", f"{heights[bad[0]]} m follows {heights[bad[0] - 1]} m", "They ascend.")
    return heights, sigma, upright


def _frequencies(value: ArrayLike) -> Floats:
    hertz = vector(np.atleast_1d(real(value, "frequencies")), "frequencies")
    if hertz.size == 0:
        raise ShapeError("frequencies", "there are none", "Give one or more, Hz.")
    if not (np.isfinite(hertz) & (hertz > 0)).all():
        raise InputError("frequencies", f"are {hertz}", "They are above zero, Hz.")
    return hertz


def layered(source: Any, receivers: ArrayLike, frequencies: ArrayLike, interfaces: ArrayLike,
            conductivity: ArrayLike, *, vertical: Optional[ArrayLike] = None) -> dict[str, Complex]:
    """E (V/m) and H (A/m) of a point dipole in a layered earth; time dependence exp(+iωt).

    Parameters
    ----------
    source : :class:`Dipole`
        Electric of any direction, without a length; or magnetic and vertical (``dip=90`` or ``-90``).
    receivers : array_like [n, 3]
        Easting, northing, up, m; not straight above or below the source.
    frequencies : array_like
        Hz.
    interfaces : array_like [layers - 1]
        Heights, ascending, m.
    conductivity : array_like [layers]
        S/m, from the deepest layer up; of horizontal currents where there is ``vertical``.
    vertical : array_like [layers], optional
        S/m, of vertical currents.

    Returns
    -------
    dict of ``e_e e_n e_u h_e h_n h_u``, complex [frequency, receiver], to 1e-8 or better of the field where it is not
    exponentially small. Source: Ward & Hohmann 1988; Michalski & Mosig 1997.

    Examples
    --------
    >>> import numpy as np
    >>> import terrane
    >>> dipole = terrane.electromagnetic.Dipole([0, 0, -950], azimuth=90)
    >>> sea = terrane.electromagnetic.layered(dipole, [[2000, 0, -1000 + 1]], [1.0], [-1000, 0], [1.0, 3.3, 1e-8])
    >>> print(f"{abs(sea['e_e'][0, 0]):.2e}")
    8.00e-13
    """
    from .electromagnetic import Dipole

    if not isinstance(source, Dipole):
        raise InputError("source", f"is a {type(source).__name__}", "Fields over layers are those of a Dipole.")
    from_ = np.asarray(place(source.at, "source.at"))
    at = np.atleast_2d(real(receivers, "receivers", "m"))
    if at.ndim != 2 or at.shape[1] != 3:
        raise ShapeError("receivers", f"has shape {at.shape}", "Expected [n, 3]: easting, northing, up.")
    if not np.isfinite(at).all():
        raise InputError("receivers", "have numbers that are not finite", "Leave those receivers out.")
    if source.length is not None:
        raise InputError("source.length", "is given", "Leave it out: fields over layers are those of points.")
    azimuth, dip = np.radians(source.azimuth), np.radians(source.dip)
    direction = [np.sin(azimuth) * np.cos(dip), np.cos(azimuth) * np.cos(dip), -np.sin(dip)]
    if source.magnetic and abs(abs(direction[2]) - 1) > 1e-12:
        raise InputError("source.dip", f"is {source.dip}", "A magnetic dipole over layers is vertical: 90 or -90.")
    heights, sigma, upright = _layers(interfaces, conductivity, vertical)
    for points in (from_[None, :], at):
        if len(heights) and (np.abs(points[:, 2, None] - heights) == 0).any():
            raise InputError("interfaces", "a source or receiver lies on one", "Move it to one side, by a millimetre.")
    moment = [float(source.moment * d) for d in direction]
    rows = [complex_of(_core.layered_fields(heights, sigma, upright, float(f), from_.tolist(), moment,
                                            bool(source.magnetic), at)).reshape(-1, 6) for f in _frequencies(frequencies)]
    fields = np.array(rows)
    return {name: fields[:, :, n] for n, name in enumerate(("e_e", "e_n", "e_u", "h_e", "h_n", "h_u"))}


def layered_impedance(frequencies: ArrayLike, interfaces: ArrayLike, conductivity: ArrayLike) -> Complex:
    """E/H of a plane wave at the top interface, ohm, [frequency], of the layers below it.

    interfaces, conductivity: as of :func:`layered`; the last layer is the air.

    Examples
    --------
    >>> import numpy as np
    >>> from terrane.electromagnetic import layered_impedance
    >>> z = layered_impedance([10.0], [0.0], [0.01, 1e-8])
    >>> round(float(abs(z[0])**2 / (2 * np.pi * 10 * 4e-7 * np.pi)), 6)
    100.0
    """
    heights, sigma, _ = _layers(interfaces, conductivity, None)
    if len(heights) == 0:
        raise ShapeError("interfaces", "there are none", "Give the surface, between the ground and the air.")
    return np.array([complex(*_core.layered_impedance(heights, sigma, float(f))) for f in _frequencies(frequencies)])
