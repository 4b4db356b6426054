"""Equivalent sources: a layer of prisms that has the field of scattered data, and so gives it elsewhere.

A field outside of its sources is that of some layer below the data: ``EquivalentSources.fit`` finds one, by conjugate
gradients on the products of :class:`terrane.inversion.Sensitivity`, until the misfit is that of the noise. What the
layer gives on a grid, at another height, as another channel, or, of magnetic data, under a vertical main field, is the
data gridded, continued, transformed, reduced to the pole. It says nothing about where the sources are.

One prism stands under each square of a grid that has data, as wide as the square; its top is ``depth`` below the lowest
station there. Source of the idea: Dampney, Geophysics 34 (1969) 39; one prism for a block of data: Soler & Uieda,
Geophys. J. Int. 227 (2021) 1768.
"""

from __future__ import annotations

import warnings
from typing import Any, Optional, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import Floats, vector
from ._names import Storage
from ._strict import Strict
from .errors import InputError, ShapeError
from .inversion import Sensitivity

__all__ = ["EquivalentSources"]

_DENSE = 2e7  # entries up to which they are kept one by one


class EquivalentSources(Strict):
    """A layer of prisms that has the field of gravity or magnetic data.

    Parameters
    ----------
    spacing : float
        Side of the squares that have a prism each, m: about the distance of neighbouring data.
    depth : float, optional
        From the lowest station of a square to the top of its prism, m; three times the spacing. Deeper layers are
        smoother between the data, and take more iterations.
    channel : str
        Of the data: of gravity ``"g_u"`` and the others of :func:`terrane.gravity.forward`, mGal or Eötvös; with
        ``main_field`` ``"tmi"``, ``"b_e"``, ``"b_n"``, ``"b_u"``, nT.
    main_field : (intensity nT, inclination, declination), optional
        Of magnetic data. The layer is then of susceptible prisms, magnetized along it.
    storage : {"single", "tree", "fmm"}, optional
        How products are made, as in :class:`terrane.inversion.Sensitivity`; by size if not said.
    device : {"cpu", "cuda", "auto"}
        Where products are computed.
    threads : int, optional

    Examples
    --------
    >>> import numpy as np
    >>> import terrane
    >>> random = np.random.default_rng(1)
    >>> e, n = random.uniform(-1000, 1000, (2, 600))
    >>> body = [[-200, 200, -200, 200, -600, -300]], [400.0]
    >>> data = terrane.gravity.forward(*body, e, n, np.full(600, 10.0))["g_u"]
    >>> layer = EquivalentSources(100).fit(e, n, np.full(600, 10.0), data, uncertainty=0.002)
    >>> up = layer.predict([0.0], [0.0], [200.0])
    >>> bool(abs(up[0] / terrane.gravity.forward(*body, [0.0], [0.0], [200.0])["g_u"][0] - 1) < 0.02)
    True
    """

    channel: str
    prisms: Floats
    sources: Floats
    misfit: float
    iterations: int

    def __init__(self, spacing: float, *, depth: Optional[float] = None, channel: str = "g_u",
                 main_field: Optional[Sequence[float]] = None, storage: Optional[Storage] = None,
                 device: str = "cpu", threads: Optional[int] = None) -> None:
        if not (np.isfinite(spacing) and spacing > 0):
            raise InputError("spacing", f"is {spacing!r}", "A length above zero, m.")
        if depth is not None and not (np.isfinite(depth) and depth > 0):
            raise InputError("depth", f"is {depth!r}", "A length above zero, m.")
        if main_field is not None and len(main_field) != 3:
            raise InputError("main_field", f"has {len(main_field)} numbers",
                             "Intensity in nT, inclination, declination.")
        if storage not in (None, "single", "tree", "fmm"):
            raise InputError("storage", f"is {storage!r}", "Allowed: single, tree, fmm, None.")
        self._spacing, self._depth = float(spacing), 3.0 * spacing if depth is None else float(depth)
        self.channel, self._main_field = channel, None if main_field is None else tuple(float(v) for v in main_field)
        self._storage, self._device, self._threads = storage, device, threads
        self.prisms, self.sources = np.empty((0, 6)), np.empty(0)
        self.misfit, self.iterations = np.nan, 0
        self._sensitivity([0.0], [0.0], [0.0], channel, self._main_field, np.array([[-1.0, 1, -1, 1, -3, -2]]))

    def fit(self, easting: ArrayLike, northing: ArrayLike, up: ArrayLike, data: ArrayLike, *, uncertainty: ArrayLike,
            chi: float = 1.0, most_iterations: int = 500) -> "EquivalentSources":
        """Find the sources.

        Parameters
        ----------
        easting, northing, up : array_like [n]
            Where the data are, m.
        data : array_like [n]
            In the unit of the channel; NaN is no datum.
        uncertainty : float or array_like [n]
            Standard deviations, in the same unit: the layer is fitted until the mean of (residual / deviation)² is
            ``chi``.

        Returns
        -------
        EquivalentSources
            Itself, with ``prisms`` [m, 6], ``sources`` [m], ``misfit`` (the mean of squares) and ``iterations``.
        """
        e, n, u, d = (vector(a, name, "m" if name != "data" else "") for a, name in
                      ((easting, "easting"), (northing, "northing"), (up, "up"), (data, "data")))
        if len({a.size for a in (e, n, u, d)}) != 1:
            raise ShapeError("data", "easting, northing, up and data differ in length")
        s = vector(uncertainty, "uncertainty", size=d.size)
        there = ~np.isnan(d)
        if not there.any():
            raise InputError("data", "are all NaN", "Give data.")
        wrong = np.flatnonzero(there & ~(s > 0))
        if wrong.size:
            raise InputError("uncertainty", f"of datum {wrong[0] + 1} is {s[wrong[0]]:g}",
                             "Standard deviations above 0.")
        e, n, u, d, s = (a[there] for a in (e, n, u, d, s))
        self.prisms = self._layer(e, n, u)
        g = self._sensitivity(e, n, u, self.channel, self._main_field, self.prisms)
        self.sources, self.misfit, self.iterations = _least_squares(g, d, s, chi, most_iterations)
        if self.misfit > 1.05 * chi:
            warnings.warn(f"after {self.iterations} iterations the mean square of residuals over deviations is "
                          f"{self.misfit:.3g}, not {chi:g}. Take a smaller spacing or depth, or larger uncertainties.",
                          stacklevel=2)
        return self

    def predict(self, easting: ArrayLike, northing: ArrayLike, up: ArrayLike, *,
                channel: Optional[str] = None) -> Floats:
        """The field elsewhere, above the layer: continued, gridded, or as another channel of the same physics.

        Raises
        ------
        InputError
            Stations in or below the top of the layer's prisms, where it has no meaning.
        """
        return self._field(easting, northing, up, channel or self.channel, self._main_field)

    def reduce_to_pole(self, easting: ArrayLike, northing: ArrayLike, up: ArrayLike) -> Floats:
        """The anomaly of the total field, nT, if main field and magnetization were vertical."""
        if self._main_field is None:
            raise InputError("main_field", "is not given", "Only magnetic data can be reduced to the pole.")
        return self._field(easting, northing, up, "tmi", (self._main_field[0], 90.0, 0.0))

    def grid(self, easting: ArrayLike, northing: ArrayLike, up: float, *, channel: Optional[str] = None,
             pole: bool = False) -> Floats:
        """On a grid of one height: [northing, easting]. ``pole``: reduced to the pole."""
        e, n = vector(easting, "easting", "m"), vector(northing, "northing", "m")
        ee, nn = (a.ravel() for a in np.meshgrid(e, n))
        at = (ee, nn, np.full(ee.size, float(up)))
        if pole and channel not in (None, "tmi"):
            raise InputError("channel", f"is {channel!r}", "Reduced to the pole is the anomaly tmi.")
        values = self.reduce_to_pole(*at) if pole else self.predict(*at, channel=channel)
        return values.reshape(n.size, e.size)

    def _field(self, easting: ArrayLike, northing: ArrayLike, up: ArrayLike, channel: str,
               main_field: Optional[Sequence[float]]) -> Floats:
        if self.sources.size == 0:
            raise InputError("sources", "are not there yet", "Call fit() first.")
        e, n, u = (vector(a, name, "m") for a, name in ((easting, "easting"), (northing, "northing"), (up, "up")))
        low = np.flatnonzero(u <= self._tops(e, n))
        if low.size:
            raise InputError("up", f"{low.size} of {u.size} stations lie below the top of the layer (first: station "
                             f"{low[0] + 1}, up {u[low[0]]:g} m)", "Fields are continued to places above it.")
        return self._sensitivity(e, n, u, channel, main_field, self.prisms).apply(self.sources)

    def _layer(self, e: Floats, n: Floats, u: Floats) -> Floats:
        """West, east, south, north, bottom, top."""
        side = self._spacing
        places = np.stack([np.floor((e - e.min()) / side), np.floor((n - n.min()) / side)]).astype(np.int64)
        squares, of = np.unique(places, axis=1, return_inverse=True)
        lowest = np.full(squares.shape[1], np.inf)
        np.minimum.at(lowest, of.ravel(), u)
        west, south, top = e.min() + side * squares[0], n.min() + side * squares[1], lowest - self._depth
        return np.stack([west, west + side, south, south + side, top - side, top], axis=1)

    def _tops(self, e: Floats, n: Floats) -> Floats:
        """Of the prism below each place; where there is none, of the lowest."""
        def names(west: Floats, south: Floats) -> Any:
            columns = np.rint((west - self.prisms[0, 0]) / self._spacing).astype(np.int64)
            return columns * 2**32 + np.rint((south - self.prisms[0, 2]) / self._spacing).astype(np.int64)

        side, (west, south) = self._spacing, self.prisms[0, [0, 2]]
        known = names(self.prisms[:, 0], self.prisms[:, 2])
        order = np.argsort(known)
        asked = names(west + side * np.floor((e - west) / side), south + side * np.floor((n - south) / side))
        at = order[np.minimum(np.searchsorted(known[order], asked), known.size - 1)]
        tops: Floats = np.where(known[at] == asked, self.prisms[at, 5], self.prisms[:, 5].min())
        return tops

    def _sensitivity(self, e: ArrayLike, n: ArrayLike, u: ArrayLike, channel: str,
                     main_field: Optional[Sequence[float]], prisms: Floats) -> Sensitivity:
        storage: Storage = self._storage or ("single" if len(prisms) * np.size(e) <= _DENSE else "tree")
        return Sensitivity(prisms, e, n, u, channels=[channel], main_field=main_field, storage=storage,
                           device=self._device, threads=self._threads)

    def __repr__(self) -> str:
        return (f"EquivalentSources: {self.sources.size:,} prisms, {self.channel}, misfit {self.misfit:.3g} after "
                f"{self.iterations} iterations")


def _least_squares(g: Sensitivity, data: Floats, sigma: Floats, chi: float, most: int) -> tuple[Floats, float, int]:
    """min ‖(G m − d)/σ‖ by conjugate gradients from 0, until the mean square is chi: stopping early keeps m small."""
    m = np.zeros(g.shape[1])
    scale = 1.0 / np.sqrt(np.maximum(g.diagonal(1.0 / sigma**2), np.finfo(float).tiny))
    residual = data / sigma
    misfit, steps = float(np.mean(residual**2)), 0
    s = scale * g.apply_transpose(residual / sigma)
    p, gamma = s.copy(), float(s @ s)
    for steps in range(1, most + 1):
        if misfit <= chi or gamma == 0:
            return m, misfit, steps - 1
        q = g.apply(scale * p) / sigma
        alpha = gamma / float(q @ q)
        before = residual
        residual = residual - alpha * q
        now = float(np.mean(residual**2))
        if now < chi:  # the part of the step that ends at chi
            a, b, c = float(np.mean(q**2)), -2 * float(np.mean(before * q)), misfit - chi
            alpha = (-b - np.sqrt(max(b * b - 4 * a * c, 0.0))) / (2 * a)
            m += alpha * scale * p
            return m, float(np.mean((before - alpha * q)**2)), steps
        m += alpha * scale * p
        misfit = now
        s = scale * g.apply_transpose(residual / sigma)
        after = float(s @ s)
        p, gamma = s + after / gamma * p, after
    return m, misfit, steps
