"""Gravity of right rectangular prisms: potential, vector and gradient tensor.

Channels are derivatives of V = Gρ∫1/r along easting, northing and up: ``g_u`` is negative above a dense body.
"""

from __future__ import annotations

import warnings
from functools import lru_cache, wraps
from typing import Any, Callable, Literal, Mapping, NamedTuple, Optional, Sequence, TypeVar, Union, cast

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._arrays import Floats, count, faces, real, text, text_table, vector
from ._names import Frame, GravityChannels, Method, Partition, Precision, Singular, Units
from ._progress import Progress, reporting
from ._strict import Strict
from .errors import InputError, ShapeError, UnsupportedError
from .mesh import PrismLayer, PrismSet, TensorMesh
from .result import Report, Result
from .survey import Survey

__all__ = ["CHANNELS", "FRAMES", "Fields", "Simulation", "forward"]

#: The ten channels, in the frame enu.
CHANNELS = ("potential", "g_e", "g_n", "g_u", "g_ee", "g_nn", "g_uu", "g_en", "g_eu", "g_nu")
#: Names, axes and signs of other programs.
FRAMES = ("enu", "harmonica", "simpeg", "ubc", "tomofast")
#: CODATA 2018, m³ kg⁻¹ s⁻².
GRAVITATIONAL_CONSTANT = 6.67430e-11

_METHODS = {"auto": 0, "direct": 1, "lattice": 2, "tree": 3, "fmm": 4}
_SINGULAR = {"nan": 0, "mean": 1, "outside": 2, "inside": 3}
_PRECISIONS = {"double": False, "single": True}
_PARTITIONS = {"auto": 0, "stations": 1, "prisms": 2}
BEST_ACCURACY: float = _core.best_accuracy
DEFAULT_ACCURACY: float = _core.default_accuracy


class Fields(Strict, dict[str, Any]):
    """Arrays by channel, with numbers about the run.

    Attributes
    ----------
    report : dict
        Method, seconds, threads, estimated error, stations inside prisms, ...
    singular : array of bool or None
        Where the tensor has no single value; None if there is no such station.
    """

    singular: Optional[Any]

    def __init__(self) -> None:
        super().__init__()
        self._report: Any = None
        self.singular = None

    @property
    def report(self) -> Report:
        return Report(self._report.to_dict())

    def _repr_html_(self) -> str:
        from ._notebook import card, table

        rows = []
        for name, values in self.items():
            finite = values[np.isfinite(values)]
            span = f"{finite.min():.6g} … {finite.max():.6g}" if finite.size else "not finite"
            rows.append((name, f"{span} at {' × '.join(map(str, values.shape)) or 'one'} stations"))
        more = [("report", table([(name, str(value)) for name, value in self.report.items()]))] if self._report else []
        return card("gravity.forward", rows, more=more)


class _Channel(NamedTuple):
    name: str  #: in the frame
    divisor: float  #: SI value of one unit, with the frame's sign
    unit: str
    description: str
    enu: str


@lru_cache(maxsize=256)
def _channels(names: tuple[str, ...], frame: str, units: str) -> tuple[int, list[_Channel], tuple[float, ...]]:
    bits, listed = _core.channels(list(names), frame, units)
    if not bits:
        raise InputError("channels", "no channel is asked for", f"Allowed: {', '.join(CHANNELS)}, all, vector, tensor.")
    channels = [_Channel(*channel) for channel in listed]
    return bits, channels, tuple(c.divisor for c in channels)


def _wanted(channels: Union[str, Sequence[str]]) -> tuple[str, ...]:
    if isinstance(channels, str):
        return (channels,)
    try:
        names = tuple(channels)
    except TypeError:
        raise InputError("channels", f"is {channels!r}", f"Allowed: {', '.join(CHANNELS)}, all, vector, tensor.") \
            from None
    for name in names:
        if not isinstance(name, str):
            raise InputError("channels", f"{name!r} is not a name", f"Allowed: {', '.join(CHANNELS)}.")
    return names


def _in_frame(channels: Any, frame: Any, units: Any) -> tuple[int, list[_Channel], tuple[float, ...]]:
    return _channels(_wanted(channels), text(frame, "frame", ", ".join(FRAMES)), text(units, "units", "geo, si"))


def _choice(name: str, given: Any, allowed: Mapping[str, Any]) -> Any:
    try:
        return allowed[given]
    except (KeyError, TypeError):
        raise InputError(name, f"is {given!r}", f"Allowed: {', '.join(allowed)}.") from None


def _accuracy(accuracy: Union[float, str]) -> float:
    if isinstance(accuracy, str):
        if accuracy == "best":
            return BEST_ACCURACY
        raise InputError("accuracy", f"is {accuracy!r}", f'Allowed: "best", or a number such as {DEFAULT_ACCURACY}.')
    return _number("accuracy", accuracy)


def _number(name: str, given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise InputError(name, f"is {given!r}", "A number is expected.") from None


def _text(name: str, given: Optional[str], example: str) -> str:
    if given is not None and not isinstance(given, str):
        raise InputError(name, f"is {given!r}", f"Allowed: None, or a text such as {example}.")
    return given or ""


def _device(device: str) -> str:
    if not isinstance(device, str):
        raise InputError("device", f"is {device!r}", "Allowed: auto, cpu, cuda, cuda:N with the number of a GPU, debug.")
    return device


def _threads(threads: Optional[int]) -> int:
    if threads is None:
        return 0
    if isinstance(threads, bool) or not isinstance(threads, (int, np.integer)) or not 1 <= threads <= 65536:
        raise InputError("threads", f"is {threads!r}", "Allowed: None for OMP_NUM_THREADS or every core, or 1 … 65536.")
    return int(threads)


_Forward = TypeVar("_Forward", bound=Callable[..., "Fields"])


def _warning(compute: _Forward) -> _Forward:
    """The same, with what its report has as warnings."""
    @wraps(compute)
    def computed(*args: Any, **options: Any) -> Fields:
        fields = compute(*args, **options)
        for trouble in fields.report["warnings"]:
            warnings.warn(trouble, RuntimeWarning, stacklevel=2)
        return fields

    return cast(_Forward, computed)


@_warning
def forward(
    prisms: ArrayLike,
    density: ArrayLike,
    easting: ArrayLike,
    northing: ArrayLike,
    up: ArrayLike,
    *,
    channels: GravityChannels = ("g_u",),
    units: Units = "geo",
    frame: Frame = "enu",
    accuracy: Union[float, Literal["best"]] = DEFAULT_ACCURACY,
    method: Method = "auto",
    precision: Precision = "double",
    singular: Singular = "nan",
    gravitational_constant: float = GRAVITATIONAL_CONSTANT,
    device: str = "auto",
    threads: Optional[int] = None,
    progress: Progress = False,
    out: Optional[Mapping[str, Any]] = None,
) -> Fields:
    """Gravity field of prisms at stations.

    Parameters
    ----------
    prisms : array_like [m, 6]
        West, east, south, north, bottom, top of every prism, m.
    density : array_like [m] or float
        kg/m³.
    easting, northing, up : array_like
        Stations, m; any shapes that broadcast against each other. The results have their common shape.
    channels : names, or "all", "vector", "tensor"
        ``potential``, ``g_e g_n g_u``, ``g_ee g_nn g_uu g_en g_eu g_nu``, or the frame's own names.
    units : {"geo", "si"}
        J/kg, mGal, Eötvös; or m²/s², m/s², 1/s².
    frame : {"enu", "harmonica", "simpeg", "ubc", "tomofast"}
        Names, axes and signs of the results. The stations and prisms are easting, northing, up in every frame.
    accuracy : float or "best"
        Relative error allowed, from 1e-3 to 2e-15, which is "best".
    method : {"auto", "direct", "lattice", "tree", "fmm"}
        How the sum is computed; "auto" takes the cheapest method that keeps the accuracy.
    precision : {"double", "single"}
        Of the results: float64 or float32. On a GPU single also computes distant pairs in float32, right to
        2e-6. Sums are formed in float64.
    singular : {"nan", "mean", "outside", "inside"}
        The tensor on faces, edges and corners of prisms: NaN, or on faces the mean of both limits or one of them.
    gravitational_constant : float
        m³ kg⁻¹ s⁻².
    device : {"auto", "cpu", "cuda", "cuda:N", "debug"}
        Where to compute: "auto" takes a GPU if there is one and the run is long enough; `terrane.devices` lists
        them; "debug" runs device code on the CPU, to find faults.
    threads : int, optional
        By default OMP_NUM_THREADS, or one per core. Any number of threads gives the same bits.
    progress : bool or function
        True draws a bar (tqdm); a function is called with (what, done, total).
    out : mapping of arrays, optional
        Arrays for the results: one C-contiguous float64 array of the stations' shape per channel.

    Returns
    -------
    Fields
        A dict of arrays by channel, with ``.report`` and ``.singular``.

    Raises
    ------
    InputError, ShapeError
        Both are ValueErrors; they name the argument.
    KeyboardInterrupt
        On Ctrl-C, within a second.

    Warns
    -----
    RuntimeWarning
        What the report has as warnings, such as contributions that cancel below the accuracy.

    Examples
    --------
    >>> import terrane
    >>> field = terrane.gravity.forward([[-500, 500, -500, 500, -1500, -500]], 300.0, [0.0, 2000.0], 0.0, 0.0,
    ...                                 channels=["potential", "g_u"])
    >>> field["g_u"].round(4)
    array([-1.8882, -0.1785])
    >>> terrane.gravity.forward([[-500, 500, -500, 500, -1500, -500]], 300.0, [0.0], [0.0], [0.0],
    ...                         channels=["g_z"], frame="harmonica")["g_z"].round(4)
    array([1.8882])
    """
    bits, listed, divisors = _in_frame(channels, frame, units)
    box = faces(prisms)
    rho = vector(density, "density", "kg/m3", box.shape[0], ": one for each prism")
    east, north, high, shape = _stations(easting, northing, up)
    size = east.shape[0]

    single = _choice("precision", precision, _PRECISIONS)
    if out is None:
        values = [np.empty(size) for _ in listed]
    else:
        if not isinstance(out, Mapping):
            raise InputError("out", f"is a {type(out).__name__}", "Expected a mapping of channels to arrays.")
        values = [_given(out, channel.name, shape, single) for channel in listed]
    mask = np.empty(size, np.uint8)
    fields = Fields()
    with reporting(progress) as report:
        fields._report = _core.forward(
            box, rho, east, north, high, bits, values, divisors, mask, _accuracy(accuracy),
            _choice("method", method, _METHODS), _choice("singular", singular, _SINGULAR), single,
            _number("gravitational_constant", gravitational_constant), 0, _device(device), _threads(threads), report)
    for channel, array in zip(listed, values):
        if single:
            array = array.astype(np.float32)
        fields[channel.name] = array.reshape(shape) if array.shape != shape else array
    if fields._report.singular_stations:
        fields.singular = mask.astype(bool).reshape(shape)
    return fields


#: forward() for calls that stand for those of another program, which has no such warnings.
forward_in_silence: Callable[..., Fields] = getattr(forward, "__wrapped__", forward)


def _stations(easting: ArrayLike, northing: ArrayLike, up: ArrayLike) -> tuple[Floats, Floats, Floats, tuple[int, ...]]:
    east, north, high = real(easting, "easting", "m"), real(northing, "northing", "m"), real(up, "up", "m")
    shape = east.shape
    if not shape == north.shape == high.shape:
        try:
            east, north, high = np.broadcast_arrays(east, north, high)
        except ValueError:
            raise ShapeError("easting, northing, up", f"have shapes {shape}, {north.shape} and {high.shape}",
                             "Expected one shape, or shapes that broadcast against each other.") from None
        shape = east.shape
    if len(shape) != 1:
        east, north, high = east.reshape(-1), north.reshape(-1), high.reshape(-1)
    if east.shape[0] == 0:
        raise ShapeError("easting", f"has shape {shape}: there are no stations", "Expected at least one.")
    return east, north, high, shape


def _given(out: Mapping[str, Any], name: str, shape: tuple[int, ...], single: bool) -> Floats:
    where = f"out[{name!r}]"
    array = out.get(name)
    if not isinstance(array, np.ndarray):
        raise InputError(where, "is missing" if array is None else f"is a {type(array).__name__}",
                         "Expected an array for every channel.")
    if single or array.dtype != np.float64:
        raise InputError(where, f"has dtype {array.dtype}", 'Expected float64, and precision="double".')
    if array.shape != shape:
        raise ShapeError(where, f"has shape {array.shape}", f"Expected {shape}, the stations' shape.")
    if not array.flags.writeable:
        raise InputError(where, "is read-only", "Give an array that can be written.")
    if not array.flags.c_contiguous:
        raise InputError(where, "is not contiguous", "Give np.ascontiguousarray(...), or leave out away.")
    return array.reshape(-1)


class Simulation(Strict):
    """Fields of a model at a survey.

    Parameters
    ----------
    model : TensorMesh, PrismSet or PrismLayer
        With its ``density``, kg/m³.
    survey : Survey
    channels, frame, units, accuracy, method, precision, singular, gravitational_constant, device, threads
        As in :func:`forward`.
    verify : int
        Stations, spread over the survey, to recompute in quadruple precision; the report has the largest error.
    partition : {"auto", "stations", "prisms"}
        What the ranks of a run would share.
    memory : str, optional
        The most memory that the run may take, such as "2 GB"; by default what the machine has left.
    normal_gravity : {"WGS84", "GRS80"}, optional
        Adds normal gravity at the stations, for a survey with a column ``latitude``, and where gravity was
        ``observed``, the disturbance.
    subtract_terrain : bool
        The model is terrain: adds its downward attraction, and the disturbance without it.

    Examples
    --------
    >>> import terrane
    >>> mesh = terrane.TensorMesh.regular([0, 4000, 0, 4000, -2000, 0], shape=(4, 4, 2))
    >>> mesh.density[0, 1:3, 1:3] = 400.0
    >>> survey = terrane.Survey.grid([0, 1000, 2000], [0, 2000], up=100)
    >>> result = terrane.gravity.Simulation(mesh, survey, channels=["g_u", "g_uu"]).run()
    >>> result["g_u"].shape
    (2, 3)
    """

    model: Union[TensorMesh, PrismSet, PrismLayer]
    survey: Survey

    def __init__(
        self,
        model: Union[TensorMesh, PrismSet, PrismLayer],
        survey: Survey,
        channels: GravityChannels = ("g_u",),
        *,
        frame: Frame = "enu",
        units: Units = "geo",
        accuracy: Union[float, Literal["best"]] = DEFAULT_ACCURACY,
        method: Method = "auto",
        precision: Precision = "double",
        singular: Singular = "nan",
        gravitational_constant: float = GRAVITATIONAL_CONSTANT,
        verify: int = 0,
        device: str = "auto",
        threads: Optional[int] = None,
        partition: Partition = "auto",
        memory: Optional[str] = None,
        normal_gravity: Optional[str] = None,
        subtract_terrain: bool = False,
    ) -> None:
        if not isinstance(model, (TensorMesh, PrismSet, PrismLayer)):
            raise InputError("model", f"is a {type(model).__name__}", "Expected TensorMesh, PrismSet or PrismLayer.")
        if not isinstance(survey, Survey):
            raise InputError("survey", f"is a {type(survey).__name__}", "Expected Survey.")
        self.model = model
        self.survey = survey
        self._frame, self._units, self._accuracy, self._method = frame, units, accuracy, method
        bits, listed, _ = _in_frame(channels, frame, units)
        self._channels = tuple(channel.name for channel in listed)
        self._make = (bits, _accuracy(accuracy), _choice("method", method, _METHODS),
                      _choice("singular", singular, _SINGULAR), _choice("precision", precision, _PRECISIONS),
                      _number("gravitational_constant", gravitational_constant), count(verify, "verify", 0),
                      _device(device), _threads(threads), frame, units, _choice("partition", partition, _PARTITIONS),
                      _text("memory", memory, '"2 GB"'), _text("normal_gravity", normal_gravity, '"WGS84"'),
                      bool(subtract_terrain))

    @property
    def channels(self) -> tuple[str, ...]:
        """Names of the fields."""
        return self._channels

    @property
    def frame(self) -> str:
        return self._frame

    @property
    def units(self) -> str:
        return self._units

    @property
    def accuracy(self) -> Union[float, str]:
        return self._accuracy

    @property
    def method(self) -> str:
        return self._method

    def _engine(self) -> _core.GravitySimulation:
        return _core.simulation(self.model._engine(), self.survey._engine(), *self._make)

    def check(self) -> dict[str, Any]:
        """Everything except the computation: sources, stations, memory, method and expected time."""
        return self._engine().check()

    def run(self, progress: Progress = False) -> Result:
        """Compute. ``progress``: True for a bar, or a function of (what, done, total)."""
        engine = self._engine()
        with reporting(progress) as report:
            return Result(engine.run(report))

    def _rows(self) -> list[tuple[str, str]]:
        return [("model", repr(self.model).splitlines()[0]), ("survey", repr(self.survey).splitlines()[0]),
                ("channels", ", ".join(self.channels)), ("frame", self.frame), ("units", self.units),
                ("accuracy", str(self.accuracy)), ("method", self.method)]

    def __repr__(self) -> str:
        return text_table("gravity.Simulation", self._rows())

    def _repr_html_(self) -> str:
        from ._notebook import card

        return card("gravity.Simulation", self._rows(), more=[("model", self.model._repr_html_()),
                                                              ("survey", self.survey._repr_html_())])


def __dir__() -> list[str]:
    return sorted(__all__)
