"""deepwave's ``scalar`` and ``scalar_born`` with the same call, on NumPy arrays or torch tensors, with gradients.

::

    from terrane.compat import deepwave
    receivers = deepwave.scalar(v, 4.0, 0.001, source_amplitudes=f, source_locations=s, receiver_locations=r)[-1]
    (receivers - observed).square().sum().backward()           # of torch tensors: v.grad, f.grad

The equation is deepwave's, ∇²u − u_tt/v² = f, with f in the cell of the source as it is given; receivers hold u at
times 0, dt, 2 dt … Steps within dt are as many as deepwave takes, and series are resampled as it does. Numbers of
single precision are computed in single precision. Gradients are those of the discrete scheme, by its exact adjoint:
Jᵀ r of v and of scatter, and of source amplitudes the same waves sent from the receivers to the sources, as the scheme
is reciprocal. In absorbing layers v is that of the model's edge, and no unknown: the gradient of cells at the edge does
not hold what the layers do with it. Of what deepwave returns, wavefields and layers are None.
"""

from __future__ import annotations

import math
from typing import Any, Callable, NamedTuple, Optional, Sequence, Union

import numpy as np

from ..acoustic import Operators
from ..errors import InputError, ShapeError, UnsupportedError

__all__ = ["IGNORE_LOCATION", "Born", "Scalar", "scalar", "scalar_born"]

#: A source or receiver that is not there.
IGNORE_LOCATION = -(1 << 31)
#: What changes only how deepwave computes, not what.
_IDLE = {"model_gradient_sampling_interval", "checkpoint_segments", "check_output_finite",
         "callback_frequency", "backward_callback_needs_forward_wavefield", "backend", "python_backend", "storage",
         "storage_mode", "storage_path", "storage_compression", "location_interpolation_halfwidth"}


class Scalar(NamedTuple):
    """What ``scalar`` returns, named as deepwave does."""

    wavefield_0: None
    wavefield_m1: None
    auxiliary_state: None
    receiver_amplitudes: Any


class Born(NamedTuple):
    """What ``scalar_born`` returns, named as deepwave does."""

    wavefield_0: None
    wavefield_m1: None
    auxiliary_state: None
    wavefield_sc_0: None
    wavefield_sc_m1: None
    bg_receiver_amplitudes: Any
    sc_receiver_amplitudes: Any

    @property
    def receiver_amplitudes(self) -> Any:
        """Of the scattered waves."""
        return self.sc_receiver_amplitudes


def _wants_gradient(values: Any) -> bool:
    return bool(getattr(values, "requires_grad", False))


def _array(values: Any, name: str, dtype: Optional[type] = float, differentiable: bool = False) -> Any:
    if _wants_gradient(values) and not differentiable:
        raise UnsupportedError(name, "has no gradient here", f"Take {name}.detach().")
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    try:
        return np.asarray(values, dtype=dtype)
    except (TypeError, ValueError):
        raise InputError(name, f"is {type(values).__name__}, no array", "Give an array or a tensor.") from None


def _cells(values: Any, name: str, mask: Any) -> tuple[Any, Any]:
    """Cells [shot, place, axis], and which of them are there [shot, place]."""
    found = _array(values, name)
    if not np.isfinite(found).all() or (found != np.round(found)).any():
        raise InputError(name, "are not whole numbers", "They are cells; places between cells are not supported.")
    if found.ndim != 3:
        raise ShapeError(name, f"have shape {found.shape}", "They are [shot, place, axis].")
    away = (found == IGNORE_LOCATION).all(axis=2)
    if mask is not None:
        active = _array(mask, name, bool)
        if active.shape != away.shape:
            raise ShapeError(name, f"have shape {found.shape}, their mask {active.shape}", "It is [shot, place].")
        away |= ~active
    return found.astype(int), ~away


def _each(values: Any, count: int, name: str) -> list[Any]:
    """One for all, or one of each."""
    found = _array(values, name)  # numpy.size() of a tensor is no number
    if found.size not in (1, count):
        raise ShapeError(name, f"has {found.size} values", f"Give one, or {count}.")
    return list(np.broadcast_to(found.ravel(), count))


def _channel(given: Any, name: str, flat: Sequence[Any]) -> list[Any]:
    """What the mapping of channels holds, or else what the flat arguments hold."""
    if given is None:
        return list(flat)
    if set(given) != {"u"} or any(one is not None for one in flat):
        raise InputError(name, "it is given twice, or has another channel than u", 'Give {"u": …} alone.')
    values = given["u"] if isinstance(given["u"], tuple) else (given["u"],)
    return [*values, None][:len(flat)]


class _Resampling:
    """From samples dt apart to steps and back, by Fourier series as deepwave does; each the other's transpose but for
    the ratio."""

    def __init__(self, ratio: int, frequency_taper: float, time_pad: float, time_taper: bool) -> None:
        self.ratio, self.frequency_taper, self.time_taper = ratio, frequency_taper, time_taper
        self.time_pad = time_pad

    def _between(self, values: Any, count: int, samples: int) -> Any:
        """The frequencies that both rates have; Nyquist's is none of them."""
        spectrum = np.fft.rfft(values)
        least = min(count, samples)
        kept = np.zeros((*values.shape[:-1], count // 2 + 1), complex)
        weight = np.ones(least // 2 + 1)
        if tapered := int(self.frequency_taper * len(weight)):
            weight[-tapered:] = (1 + np.cos(np.arange(1, tapered + 1) / tapered * np.pi)) / 2
        if least % 2 == 0 and least > 1:
            weight[-1] = 0
        kept[..., :len(weight)] = spectrum[..., :len(weight)] * weight
        return np.fft.irfft(kept, n=count)

    def up(self, values: Any) -> Any:
        samples, ratio = values.shape[-1], self.ratio
        if ratio == 1:
            return values
        padded = _longer(values, samples + int(self.time_pad * samples))
        found = ratio * self._between(padded, padded.shape[-1] * ratio, padded.shape[-1])[..., :samples * ratio]
        return found * np.hanning(samples * ratio) if self.time_taper else found

    def down(self, values: Any) -> Any:
        steps, ratio = values.shape[-1], self.ratio
        if ratio == 1:
            return values
        samples = steps // ratio
        if self.time_taper:
            values = values * np.hanning(steps)
        padded = _longer(values, steps + int(self.time_pad * samples) * ratio)
        return self._between(padded, padded.shape[-1] // ratio, padded.shape[-1])[..., :samples] / ratio


def _longer(values: Any, count: int) -> Any:
    """With zeros behind, or cut off."""
    values = values[..., :count]
    return np.pad(values, [(0, 0)] * (values.ndim - 1) + [(0, count - values.shape[-1])])


class _Call:
    """The arguments that scalar and scalar_born share, as Terrane means them."""

    def __init__(self, v: Any, grid_spacing: Any, dt: float, sources: list[Any], accuracy: int, pml_width: Any,
                 pml_freq: Optional[float], nt: Optional[int], others: dict[str, Any]) -> None:
        amplitudes, locations, mask = sources
        if amplitudes is None or locations is None:
            raise InputError("source_amplitudes", "missing", "source_amplitudes and source_locations are needed.")
        given = _array(amplitudes, "source_amplitudes", differentiable=True)  # [shot, source, time]
        self.sources, self.sending = _cells(locations, "source_locations", mask)
        if given.ndim != 3 or self.sources.shape[:2] != given.shape[:2]:
            raise ShapeError("source_locations", f"have shape {self.sources.shape}, amplitudes {given.shape}",
                             "They are [shot, source, axis] and [shot, source, time].")
        self.given_samples = given.shape[-1]
        self.amplitudes = _longer(given, self.given_samples if nt is None else int(nt)) * self.sending[..., None]
        self.shots, self.samples, self.axes = len(given), self.amplitudes.shape[-1], self.sources.shape[-1]
        self._take_rock(v)
        self.dt = abs(float(dt))
        if self.dt == 0 or not math.isfinite(self.dt):
            raise InputError("dt", f"is {dt}", "It is more than zero, seconds.")
        self.h = [float(x) for x in _each(grid_spacing, self.axes, "grid_spacing")]
        self._take_steps(others)
        self.order = int(accuracy)
        widths = [int(w) for w in _each(pml_width, 2 * self.axes, "pml_width")]
        self.points = max(1, *widths)
        kinds = ["wall" if w == 0 else "cpml" for w in widths]
        if self.axes == 2:  # down and along; one node across
            kinds[2:2] = ["wall", "wall"]
        self.sides = dict(zip(("bottom", "top", "south", "north", "west", "east"), kinds))
        self.frequency = float(pml_freq) if pml_freq else 0.0
        for name, value in others.items():
            idle = value is None or (isinstance(value, (bool, int, float)) and value == 0 and name != "survey_pad")
            if name not in _IDLE and not idle:
                raise UnsupportedError(name, "is not supported", "Leave it out.")

    def _take_rock(self, v: Any) -> None:
        rock = _array(v, "v", None, differentiable=True)
        self.precision = "single" if rock.dtype == np.float32 else "double"
        if self.axes not in (2, 3):
            raise ShapeError("source_locations", f"have {self.axes} axes", "Two or three are supported.")
        self.batched = rock.ndim == self.axes + 1
        if rock.ndim != self.axes and not (self.batched and len(rock) == self.shots):
            raise ShapeError("v", f"has shape {rock.shape} for {self.shots} shots in {self.axes} dimensions",
                             "It is [*model], or [shot, *model].")
        self.v = rock.astype(float)
        if not np.isfinite(self.v).all():
            raise InputError("v", "holds values that are not finite", "It is the velocity, more than zero.")

    def _take_steps(self, others: dict[str, Any]) -> None:
        """As many within dt as deepwave takes."""
        fastest = float(others.pop("max_vel", None) or np.abs(self.v).max())
        courant = float(others.pop("courant_number", None) or 0.6)
        root = math.sqrt(sum(1 / h**2 for h in self.h))
        ratio = max(1, math.ceil(self.dt * fastest * root / courant))
        self.resampling = _Resampling(ratio, float(others.pop("freq_taper_frac", None) or 0),
                                      float(others.pop("time_pad_frac", None) or 0),
                                      bool(others.pop("time_taper", False)))
        self.step, self.steps = self.dt / ratio, self.samples * ratio
        for name, usual in (("boundary", "pml"), ("location_interpolation", ("auto", "none"))):
            value = others.pop(name, None)
            if value is not None and not set([value] if isinstance(value, str) else value) <= (
                    {usual} if isinstance(usual, str) else set(usual)):
                raise UnsupportedError(name, f"is {value!r}", "Supported: pml; and pml_width = 0, where u is zero "
                                       "beyond the model." if name == "boundary" else "Sources are in cells.")

    def _places(self, cells: Any, there: Any) -> list[Any]:
        """Easting, northing, up of cells [shot, place, axis]; of what is not there those of any cell."""
        middle = np.array(self.v.shape[-self.axes:]) // 2
        at = np.where(there[..., None], cells, middle) * np.array(self.h)
        across = at[..., 1] if self.axes == 3 else np.zeros(at.shape[:-1])
        return list(np.stack([at[..., -1], across, at[..., 0]], axis=-1))

    def recorders_at(self, given: Sequence[Any], name: str) -> Optional[tuple[Any, Any]]:
        locations, mask = given
        if locations is None:
            return None
        cells, there = _cells(locations, name, mask)
        if len(cells) != self.shots or cells.shape[2] != self.axes:
            raise ShapeError(name, f"have shape {cells.shape}", "They are [shot, receiver, axis].")
        return cells, there

    def rocks(self) -> list[tuple[Any, slice]]:
        """Each, and its shots."""
        return [(v, slice(n, n + 1)) for n, v in enumerate(self.v)] if self.batched else [(self.v, slice(None))]

    def waves(self, v: Any, shots: slice, series: Any, senders: tuple[Any, Any], recorders: tuple[Any, Any]) -> Operators:
        """That send series [shot, sender, step] and are recorded."""
        shape = v.shape if self.axes == 3 else (v.shape[0], 1, v.shape[1])
        spacing = self.h if self.axes == 3 else (self.h[0], self.h[1], self.h[1])
        made = Operators.of(
            v.reshape(shape), spacing, sources=self._places(senders[0][shots], senders[1][shots]),
            receivers=self._places(recorders[0][shots], recorders[1][shots]), wavelet=self._loudest(),
            sample_step=self.step, end=(self.steps - 1) * self.step, step=self.step, sides=self.sides,
            order=self.order, layer_points=self.points, layer_frequency=self.frequency, exact_time=False,
            precision=self.precision)
        made._engine.send([-math.prod(self.h) * one.T.ravel() for one in np.ascontiguousarray(series[shots])])
        return made

    def _loudest(self) -> Any:
        """A wavelet with the spectrum of all amplitudes, by which the grid is judged and layers are tuned."""
        spectrum = np.sqrt((np.abs(np.fft.rfft(self.resampling.up(self.amplitudes)))**2).sum(axis=(0, 1)))
        if not spectrum.any():
            spectrum[min(1, len(spectrum) - 1)] = 1
        return np.fft.fftshift(np.fft.irfft(spectrum, n=self.steps))

    def recorded(self, recorders: tuple[Any, Any], compute: Callable[[Operators], Any]) -> Any:
        """What compute() has of the sources' waves → [shot, receiver, time]."""
        series = self.resampling.up(self.amplitudes)
        return self.resampling.down(self._sent(series, (self.sources, self.sending), recorders, compute))

    def _sent(self, series: Any, senders: tuple[Any, Any], recorders: tuple[Any, Any],
              compute: Callable[[Operators], Any]) -> Any:
        out = np.zeros((*recorders[1].shape, self.steps))
        if recorders[1].any():
            for v, shots in self.rocks():
                simulation = self.waves(v, shots, series, senders, recorders)
                out[shots] = np.asarray(compute(simulation)).reshape(simulation.shape).transpose(0, 2, 1)
        return out * recorders[1][..., None]

    def of_amplitudes(self, recorders: tuple[Any, Any], slope: Any, compute: Callable[[Operators], Any]) -> Any:
        """The gradient of source amplitudes of one by amplitudes: slope [shot, receiver, time] is sent, from the last
        to the first, from the receivers to the sources."""
        back = (self.resampling.up(slope) / self.resampling.ratio * recorders[1][..., None])[..., ::-1]
        found = self._sent(back, recorders, (self.sources, self.sending), compute)[..., ::-1]
        return _longer(self.resampling.ratio * self.resampling.down(found), self.given_samples)

    def of_rock(self, recorders: tuple[Any, Any], slope: Any) -> Any:
        """The gradient of v: ∂m/∂v Jᵀ slope, m = 1/v²."""
        series = self.resampling.up(self.amplitudes)
        traces = self.resampling.up(slope) / self.resampling.ratio * recorders[1][..., None]
        found = np.zeros(self.v.shape)
        if recorders[1].any():
            for n, (v, shots) in enumerate(self.rocks()):
                simulation = self.waves(v, shots, series, (self.sources, self.sending), recorders)
                kernel = simulation.adjoint(traces[shots].transpose(0, 2, 1)).reshape(v.shape)
                found[n if self.batched else slice(None)] = kernel
        return -2 * found / self.v**3


def _model(simulation: Operators) -> Any:
    return simulation._engine.model(None)


def _linked(compute: Callable[[], tuple[Any, ...]], pull: Callable[..., tuple[Any, ...]], *given: Any) -> Any:
    """compute() as tensors like the first of what is given, whose gradients pull(slopes of what is computed, which of
    given want one) has; as arrays where that is none."""
    tensors = [one for one in given if hasattr(one, "detach")]
    if not tensors:
        return compute()
    import torch

    def tensor(values: Any, like: Any) -> Any:
        return torch.as_tensor(np.ascontiguousarray(values), dtype=like.dtype, device=like.device)

    class Waves(torch.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(_: Any, *__: Any) -> Any:
            return tuple(tensor(values, tensors[0]) for values in compute())

        @staticmethod
        @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
        def backward(context: Any, *slopes: Any) -> Any:
            wanted = list(context.needs_input_grad)
            found = pull([_array(slope, "slope") for slope in slopes], wanted)
            return tuple(tensor(one, like) if want else None for one, like, want in zip(found, given, wanted))

    return Waves.apply(*given)


def scalar(v: Any, grid_spacing: Union[float, Sequence[float]], dt: float, source_amplitudes: Any = None,
           source_locations: Any = None, receiver_locations: Any = None, accuracy: int = 4,
           pml_width: Union[int, Sequence[int]] = 20, pml_freq: Optional[float] = None, nt: Optional[int] = None,
           *, sources: Any = None, receivers: Any = None, source_mask: Any = None, receiver_mask: Any = None,
           **others: Any) -> Scalar:
    """Waves of sources in cells: as ``deepwave.scalar``.

    Parameters
    ----------
    v : array [y, x] or [z, y, x], or [shot, …]
        m/s. float32 is computed in single precision.
    source_amplitudes : array [shot, source, time]
    source_locations, receiver_locations : integer arrays [shot, source or receiver, axis]
        Cells. Masks [shot, source or receiver] say which are there.
    sources, receivers : mapping
        ``{"u": (amplitudes, locations)}`` and ``{"u": locations}`` in their place.
    pml_width : int or sequence
        Cells; 0: u is zero beyond that side.
    nt : int
        As many samples: amplitudes are cut off, or zeros follow.
    **others
        ``max_vel``, ``courant_number``, ``freq_taper_frac``, ``time_pad_frac`` and ``time_taper`` are as deepwave's.
        What changes only how deepwave computes (storage, backend …) does nothing.

    Returns
    -------
    Scalar
        A tuple as deepwave's, with its names; the last is ``receiver_amplitudes`` [shot, receiver, time], the others
        are None. Of torch tensors it has gradients of v and of source_amplitudes, once.
    """
    source = _channel(sources, "sources", (source_amplitudes, source_locations, source_mask))
    recorded = _channel(receivers, "receivers", (receiver_locations, receiver_mask))
    call = _Call(v, grid_spacing, dt, source, accuracy, pml_width, pml_freq, nt, others)
    recorders = call.recorders_at(recorded, "receiver_locations")
    if recorders is None:
        raise InputError("receiver_locations", "missing", "Without receivers nothing is returned here.")

    def pull(slopes: Sequence[Any], wanted: Sequence[bool]) -> tuple[Any, ...]:
        return (call.of_rock(recorders, slopes[0]) if wanted[0] else None,
                call.of_amplitudes(recorders, slopes[0], _model) if wanted[1] else None)

    return Scalar(None, None, None, *_linked(lambda: (call.recorded(recorders, _model),), pull, v, source[0]))


def scalar_born(v: Any, *places: Any, grid_spacing: Any = None, dt: Any = None, dv: Any = None, scatter: Any = None,
                source_amplitudes: Any = None, source_locations: Any = None, receiver_locations: Any = None,
                sc_receiver_locations: Any = None, bg_receiver_locations: Any = None, accuracy: int = 4,
                pml_width: Union[int, Sequence[int]] = 20, pml_freq: Optional[float] = None,
                nt: Optional[int] = None, sources: Any = None, receivers: Any = None, bg_receivers: Any = None,
                source_mask: Any = None, sc_receiver_mask: Any = None, bg_receiver_mask: Any = None,
                **others: Any) -> Born:
    """Waves that a change of velocity scatters once: as ``deepwave.scalar_born``.

    Parameters
    ----------
    v, grid_spacing, dt
        As of :func:`scalar`, in this order; or v, scatter, grid_spacing, dt as before deepwave 0.1.
    dv : array like v
        The change of v, m/s; scatter is the same.
    sc_receiver_locations
        Of the scattered waves; receiver_locations is the same. ``bg_receiver_locations``: of the waves in v.

    Returns
    -------
    Born
        A tuple as deepwave's, with its names; the last two are ``bg_receiver_amplitudes`` of the waves in v and
        ``sc_receiver_amplitudes`` of the scattered ones, [shot, receiver, time]; the others are None. Of torch tensors
        they have gradients of dv and of source_amplitudes, once; v may want none, as that would take second
        derivatives of the waves.
    """
    left = list(places)
    if left and _array(left[0], "grid_spacing", None, differentiable=True).ndim > 1:
        scatter = left.pop(0)
    grid_spacing, dt = [*left, *[one for one in (grid_spacing, dt)[len(left):]]][:2]
    if grid_spacing is None or dt is None or len(left) > 2:
        raise InputError("scalar_born", "it takes v, grid_spacing and dt, or v, scatter, grid_spacing and dt",
                         "Name all others.")
    if (dv is None) == (scatter is None):
        raise InputError("dv", "missing, or there is scatter too", "Give the change of v once.")
    change = scatter if dv is None else dv
    if receiver_locations is not None and sc_receiver_locations is not None:
        raise InputError("receiver_locations", "there are sc_receiver_locations too", "They are the same.")
    if _wants_gradient(v):
        raise UnsupportedError("v", "has no gradient in scalar_born: it takes second derivatives of the waves",
                               "Take v.detach(); scalar has the gradient of v, and that of scatter is here.")
    source = _channel(sources, "sources", (source_amplitudes, source_locations, source_mask))
    scattered = _channel(receivers, "receivers",
                         (receiver_locations if sc_receiver_locations is None else sc_receiver_locations,
                          sc_receiver_mask))
    below = _channel(bg_receivers, "bg_receivers", (bg_receiver_locations, bg_receiver_mask))
    call = _Call(v, grid_spacing, dt, source, accuracy, pml_width, pml_freq, nt, others)
    faster = _array(change, "dv", differentiable=True)
    if faster.shape != call.v.shape and not (call.batched and faster.shape == call.v.shape[1:]):
        raise ShapeError("dv", f"has shape {faster.shape}", f"v has {call.v.shape}.")
    rock = -2 * np.broadcast_to(faster, call.v.shape) / call.v**3
    nothing = np.zeros((call.shots, 0, call.axes), int), np.zeros((call.shots, 0), bool)
    at_bg = call.recorders_at(below, "bg_receiver_locations") or nothing
    at_sc = call.recorders_at(scattered, "receiver_locations") or nothing
    changes = iter(())

    def scatter_once(simulation: Operators) -> Any:
        return simulation.born(next(changes))

    def born(of: Callable[..., Any], *words: Any) -> Any:
        nonlocal changes
        changes = iter(rock if call.batched else [rock])
        return of(*words, scatter_once)

    def pull(slopes: Sequence[Any], wanted: Sequence[bool]) -> tuple[Any, ...]:
        of_amplitudes, of_change = None, None
        if wanted[1]:
            of_amplitudes = (call.of_amplitudes(at_bg, slopes[0], _model) +
                             born(call.of_amplitudes, at_sc, slopes[1]))
        if wanted[2]:
            of_change = call.of_rock(at_sc, slopes[1])
            if of_change.shape != faster.shape:
                of_change = of_change.sum(axis=0)
        return None, of_amplitudes, of_change

    return Born(None, None, None, None, None,
                *_linked(lambda: (call.recorded(at_bg, _model), born(call.recorded, at_sc)), pull, v, source[0], change))
