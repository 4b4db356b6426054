"""Few-parameter bodies: spheres, boxes and dikes whose field explains the data best, found by global search.

The field is linear in the density, so only places and sizes are searched; the best density of each trial follows from
least squares. All trials of a generation are one call of Terrane's kernels.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, fields
from typing import Any, Iterator, Optional, Sequence, Union

import numpy as np
from numpy.typing import ArrayLike

from ._arrays import Floats, vector
from .errors import InputError, UnsupportedError

__all__ = ["Body", "Box", "Dike", "FoundBodies", "Sphere", "find_bodies"]

#: A number that is known, or (least, most).
Range = Union[float, Sequence[float]]


@dataclass(frozen=True)
class Body:
    """A kind of body and what is known of it: each parameter a number, or the least and the most it may be.

    ``property`` is its density contrast in kg/m³, or with a main field its susceptibility; it is found last.
    """

    easting: Range
    northing: Range
    up: Range
    property: Range = (-np.inf, np.inf)

    def parameters(self) -> Iterator[tuple[str, float, float]]:
        """Name, least and most of all but the property."""
        for field in fields(self):
            if field.name != "property":
                yield (field.name, *_bounds(field.name, getattr(self, field.name)))

    def faces(self, values: dict[str, Floats]) -> Floats:
        """Prisms of the trials [trials, prisms, 6] that stand for the body."""
        raise NotImplementedError

    def density_of_prisms(self) -> float:
        """Of the prisms, where the body's is 1."""
        return 1.0


@dataclass(frozen=True)
class Sphere(Body):
    """A sphere: its centre and ``radius``, m. Density and radius are told apart by nothing: fix one of them."""

    radius: Range = 1.0

    def faces(self, values: dict[str, Floats]) -> Floats:
        # Outside a sphere only its mass counts, so a small cube of that mass serves: a tenth of its side leaves 1e-6 of
        # the field one radius from the centre. Its density is a thousand times as large (`density_of_prisms`).
        side = 0.1 * (4 / 3 * np.pi) ** (1 / 3) * values["radius"]
        return _bricks(values, (side, side, side))

    def density_of_prisms(self) -> float:
        return 1000.0


@dataclass(frozen=True)
class Box(Body):
    """An upright box: its centre and its sizes along easting, northing and up, m."""

    size_e: Range = 1.0
    size_n: Range = 1.0
    size_u: Range = 1.0

    def faces(self, values: dict[str, Floats]) -> Floats:
        return _bricks(values, tuple(values[f"size_{a}"] for a in "enu"))


@dataclass(frozen=True)
class Dike(Body):
    """A sheet of rock: the middle of its upper edge, ``strike`` and ``dip`` in degrees (strike clockwise from north,
    dip to the right of it, down from the horizontal), ``length`` along strike, ``depth_extent`` down the dip,
    ``thickness``.

    12 × 12 cubes of its volume stand for it, which is right to a per cent where it is deeper than they are apart.
    """

    strike: Range = 0.0
    dip: Range = 90.0
    length: Range = 1.0
    depth_extent: Range = 1.0
    thickness: Range = 1.0

    def faces(self, values: dict[str, Floats]) -> Floats:
        strike, dip = np.radians(values["strike"]), np.radians(values["dip"])
        along = np.stack([np.sin(strike), np.cos(strike), np.zeros_like(strike)], axis=-1)
        down = np.stack([np.cos(strike) * np.cos(dip), -np.sin(strike) * np.cos(dip), -np.sin(dip)], axis=-1)
        part = (np.arange(12) + 0.5) / 12
        middle = (np.stack([values[n] for n in ("easting", "northing", "up")], axis=-1)[:, None, None, :]
                  + ((part - 0.5)[None, :, None] * values["length"][:, None, None])[..., None] * along[:, None, None, :]
                  + (part[None, None, :] * values["depth_extent"][:, None, None])[..., None] * down[:, None, None, :])
        side = (values["length"] * values["depth_extent"] * values["thickness"] / 144) ** (1 / 3)
        middle = middle.reshape(strike.size, 144, 3)
        low, high = middle - side[:, None, None] / 2, middle + side[:, None, None] / 2
        return np.stack([low[..., 0], high[..., 0], low[..., 1], high[..., 1], low[..., 2], high[..., 2]], axis=-1)


@dataclass(frozen=True)
class FoundBodies:
    """What the search found."""

    bodies: list[dict[str, Any]]  #: of each: its kind, its parameters and its property
    predicted: Floats             #: in the order of the data
    trend: Floats                 #: part of it
    chi_squared: float            #: Σ ((observed − predicted) / uncertainty)² / number of data
    trials: int                   #: how many sets of bodies were computed
    converged: bool
    message: str                  #: why the search stopped

    def __str__(self) -> str:
        lines = [f"χ²/N {self.chi_squared:.4g} after {self.trials:,} trials: {self.message}"]
        for body in self.bodies:
            numbers = ", ".join(f"{k} {v:.5g}" for k, v in body.items() if k != "kind")
            lines.append(f"{body['kind']}: {numbers}")
        return "\n".join(lines)


def _bounds(name: str, value: Range) -> tuple[float, float]:
    low, high = (float(v) for v in np.broadcast_to(np.asarray(value, dtype=float), (2,)))
    if not low <= high:
        raise InputError(name, f"({low:g}, {high:g}) is no range", "Give (least, most), or one number.")
    return low, high


def _bricks(values: dict[str, Floats], size: Sequence[Floats]) -> Floats:
    """A box around each trial's centre: [trials, 1, 6]."""
    faces = []
    for centre, side in zip((values["easting"], values["northing"], values["up"]), size):
        faces += [centre - side / 2, centre + side / 2]
    return np.stack(faces, axis=-1)[:, None, :]


def _trend_columns(trend: str, easting: Floats, northing: Floats, channels: int) -> Floats:
    """What a regional field of each channel may be made of: [rows, columns]."""
    if trend not in ("none", "constant", "plane"):
        raise InputError("trend", f"is {trend!r}", "Allowed: none, constant, plane.")
    if trend == "none":
        return np.zeros((channels * easting.size, 0))
    x, y = ((a - a.mean()) / (np.ptp(a) or 1.0) for a in (easting, northing))
    one = np.stack([np.ones_like(x), x, y][: 1 if trend == "constant" else 3], axis=1)
    return np.kron(np.eye(channels), one)


class _Search:
    """The misfit of trials, a generation at a time."""

    def __init__(self, stations: Sequence[Floats], data: Floats, weight: Floats, bodies: Sequence[Body], trend: Floats,
                 options: dict[str, Any]) -> None:
        self.stations, self.bodies, self.options = stations, bodies, options
        self.data, self.weight, self.trend = data, weight, trend
        self.names = [(b, name) for b, body in enumerate(bodies) for name, _, _ in body.parameters()]
        self.limits = [(low, high) for body in bodies for _, low, high in body.parameters()]
        self.least, self.most = (np.array(v) for v in zip(*(_bounds("property", b.property) for b in bodies)))
        self.trials = 0

    def values(self, trials: Floats) -> list[dict[str, Floats]]:
        """Of each body, its parameters by name: [trials]."""
        found: list[dict[str, Floats]] = [{} for _ in self.bodies]
        for row, (body, name) in zip(trials, self.names):
            found[body][name] = row
        return found

    def fields(self, trials: Floats) -> Floats:
        """Of each body with a unit of its property: [trials, rows, bodies].  trials [parameters, trials]"""
        from .inversion import Sensitivity  # which has these bodies among its names

        faces = [body.faces(values) for body, values in zip(self.bodies, self.values(trials))]
        prisms = np.concatenate(faces, axis=1)
        count = prisms.shape[1]
        matrix = Sensitivity(prisms.reshape(-1, 6), *self.stations, **{"singular": "mean", **self.options}).matrix()
        matrix = matrix.reshape(matrix.shape[0], -1, count)
        starts = np.cumsum([0] + [f.shape[1] for f in faces[:-1]])
        self.trials += trials.shape[1]
        unit = np.array([body.density_of_prisms() for body in self.bodies])
        summed: Floats = np.add.reduceat(matrix, starts, axis=2).transpose(1, 0, 2) * unit
        return summed

    def solve(self, fields: Floats) -> tuple[Floats, Floats]:
        """Properties and trends that fit each trial best, and what is left: [trials, columns], [trials]."""
        trials, bodies = fields.shape[0], fields.shape[2]
        trend = np.broadcast_to(self.trend, (trials, *self.trend.shape))
        matrix = np.concatenate([fields, trend], axis=2) * self.weight[None, :, None]
        size = np.linalg.norm(matrix, axis=1, keepdims=True)
        size[size == 0] = 1
        matrix, right = matrix / size, self.data * self.weight
        normal = np.einsum("tij,tik->tjk", matrix, matrix) + 1e-12 * np.eye(matrix.shape[2])
        found = np.linalg.solve(normal, np.einsum("tij,i->tj", matrix, right)[..., None])[..., 0] / size[:, 0]
        # Properties beyond their bounds go there; the others are found once more without them.
        clipped = np.clip(found[:, :bodies], self.least, self.most)
        fixed = clipped != found[:, :bodies]
        if fixed.any():
            held = np.zeros_like(found, dtype=bool)
            held[:, :bodies] = fixed
            known = np.where(held, np.concatenate([clipped, found[:, bodies:]], axis=1), 0.0) * size[:, 0]
            rest = right - np.einsum("tij,tj->ti", matrix, known)
            free = ~held
            normal = normal * (free[:, :, None] & free[:, None, :]) + np.eye(found.shape[1]) * held[:, :, None]
            again = np.linalg.solve(normal, (np.einsum("tij,ti->tj", matrix, rest) * free)[..., None])[..., 0]
            found = np.where(held, known, again) / size[:, 0]
            found[:, :bodies] = np.clip(found[:, :bodies], self.least, self.most)
        residual = right - np.einsum("tij,tj->ti", matrix, found * size[:, 0])
        return found, np.einsum("ti,ti->t", residual, residual)

    def __call__(self, trials: Floats) -> Floats:
        trials = trials.reshape(len(self.names), -1)
        return self.solve(self.fields(trials))[1] / self.data.size


def find_bodies(easting: ArrayLike, northing: ArrayLike, up: ArrayLike, observed: ArrayLike, uncertainty: ArrayLike,
                bodies: Union[Body, Sequence[Body]], *, channels: Union[str, Sequence[str]] = ("g_u",),
                main_field: Optional[Sequence[float]] = None, trend: str = "none", generations: int = 300,
                population: int = 15, tolerance: float = 1e-6, seed: int = 0, units: str = "geo", device: str = "cpu",
                threads: Optional[int] = None) -> FoundBodies:
    """Bodies whose field explains the data best.

    Places and sizes are found by differential evolution, densities by least squares.

    Parameters
    ----------
    easting, northing, up : array_like [n]
        Stations, m.
    observed, uncertainty : array_like [channels · n]
        Data and their standard deviations, channel by channel, in mGal, Eötvös or nT; one uncertainty serves all.
    bodies : Body or list of them
        :class:`Sphere`, :class:`Box`, :class:`Dike` with the ranges of their parameters.
    channels, main_field, units
        As of :class:`Sensitivity`.
    trend : {"none", "constant", "plane"}
        A regional field of each channel, found beside the bodies.
    generations, population, tolerance, seed
        Of ``scipy.optimize.differential_evolution``; the same seed gives the same bodies.
    device : str
        Where the fields of a generation are computed, all in one call.

    Examples
    --------
    >>> import numpy as np
    >>> from terrane.inversion import Sensitivity, Sphere, find_bodies
    >>> x, y = (a.ravel() for a in np.meshgrid(np.linspace(-400, 400, 9), np.linspace(-400, 400, 9)))
    >>> truth = Sensitivity([[-60, 40, -30, 70, -200, -120]], x, y, np.full(81, 5.0)).apply([500.0])
    >>> sphere = Sphere((-300, 300), (-300, 300), (-500, -50), radius=50.0)
    >>> found = find_bodies(x, y, np.full(81, 5.0), truth, 0.001, sphere, generations=60)
    >>> print([round(found.bodies[0][name], -1) for name in ("easting", "northing", "up")])
    [-10.0, 20.0, -160.0]
    """
    try:
        from scipy.optimize import differential_evolution
    except ImportError as error:
        raise UnsupportedError("find_bodies", "there is no scipy", "pip install scipy") from error
    some = [bodies] if isinstance(bodies, Body) else list(bodies)
    if not some:
        raise InputError("bodies", "there are none", "Give Sphere(...), Box(...) or Dike(...).")
    names = (channels,) if isinstance(channels, str) else tuple(channels)
    stations = [vector(a, n, "m") for a, n in ((easting, "easting"), (northing, "northing"), (up, "up"))]
    rows = len(names) * stations[0].size
    data, sigma = vector(observed, "observed", size=rows), vector(uncertainty, "uncertainty", size=rows)
    if not (sigma > 0).all():
        raise InputError("uncertainty", "is not above zero everywhere", "Give the noise of the data, 0.05 for example.")
    options = {"channels": names, "main_field": main_field, "units": units, "storage": "double", "threads": threads,
               "device": device}
    search = _Search(stations, data, 1 / sigma, some, _trend_columns(trend, stations[0], stations[1], len(names)),
                     options)
    named = "rng" if "rng" in inspect.signature(differential_evolution).parameters else "seed"  # before scipy 1.15
    done = differential_evolution(search, search.limits, vectorized=True, updating="deferred", polish=False,
                                  maxiter=generations, popsize=population, tol=tolerance, **{named: seed})
    best = done.x.reshape(-1, 1)
    fields_of_best = search.fields(best)
    (found,), (left,) = search.solve(fields_of_best)
    regional = search.trend @ found[len(some):]
    described = [{"kind": type(body).__name__.lower(), **{k: float(v[0]) for k, v in values.items()},
                  "property": float(p)}
                 for body, values, p in zip(some, search.values(best), found)]
    return FoundBodies(described, fields_of_best[0] @ found[:len(some)] + regional, regional, float(left) / rows,
                       search.trials, bool(done.success), str(done.message))
