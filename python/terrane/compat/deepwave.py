"""deepwave's ``scalar`` and ``scalar_born`` with the same call, on NumPy arrays (or torch tensors, without autograd).

::

    from terrane.compat import deepwave
    receivers = deepwave.scalar(v, 4.0, 0.001, source_amplitudes=f, source_locations=s, receiver_locations=r)[-1]

The equation is deepwave's, ∇²u − u_tt/v² = f, with f in the cell of the source as it is given; receivers hold u at
times 0, dt, 2 dt … Differences to deepwave: steps within dt are as long as Terrane's stencils allow; of what is
returned only the receivers' amplitudes are there, wave fields and layers are None. Gradients:
:meth:`terrane.acoustic.Operators.misfit` and ``jacobian``.
"""

from __future__ import annotations

import math
from typing import Any, Optional, Sequence, Union

import numpy as np

from ..acoustic import Operators
from ..errors import InputError, ShapeError, UnsupportedError

__all__ = ["IGNORE_LOCATION", "scalar", "scalar_born"]

#: A source or receiver that is not there.
IGNORE_LOCATION = -(1 << 31)
#: What changes only how deepwave computes, not what.
_IDLE = {"max_vel", "survey_pad", "model_gradient_sampling_interval", "callback_frequency", "python_backend",
         "storage_mode", "storage_path", "storage_compression"}


def _array(values: Any, name: str, dtype: type = float) -> Any:
    if getattr(values, "requires_grad", False):
        raise UnsupportedError(name, "gradients by autograd are not here",
                               "terrane.acoustic.Operators has misfit() and jacobian(); or take name.detach().")
    if hasattr(values, "detach"):
        values = values.detach().cpu().numpy()
    return np.asarray(values, dtype=dtype)


def _cells(values: Any, name: str) -> Any:
    found = _array(values, name)
    if not np.isfinite(found).all() or (found != np.round(found)).any():
        raise InputError(name, "are not whole numbers", "They are cells.")
    return found.astype(int)


def _each(values: Any, count: int, name: str) -> list[Any]:
    """One for all, or one of each."""
    found = _array(values, name)  # numpy.size() of a tensor is no number
    if found.size not in (1, count):
        raise ShapeError(name, f"has {found.size} values", f"Give one, or {count}.")
    return list(np.broadcast_to(found.ravel(), count))


def _like(values: Any, model: Any) -> Any:
    if not hasattr(model, "detach"):
        return values
    import torch

    return torch.as_tensor(values, dtype=model.dtype, device=model.device)


class _Call:
    """The arguments that scalar and scalar_born share, as Terrane means them."""

    def __init__(self, v: Any, grid_spacing: Union[float, Sequence[float]], dt: float, amplitudes: Any, sources: Any,
                 accuracy: int, pml_width: Union[int, Sequence[int]], pml_freq: Optional[float], nt: Optional[int],
                 others: dict[str, Any]) -> None:
        for name, value in others.items():
            idle = value is None or (isinstance(value, (bool, int, float)) and value == 0)
            if name not in _IDLE and not idle:
                raise UnsupportedError(name, "is not supported", "Leave it out.")
        self.v = _array(v, "v")
        if self.v.ndim not in (2, 3):
            raise ShapeError("v", f"has {self.v.ndim} axes", "Two or three are supported.")
        if amplitudes is None or sources is None:
            raise InputError("source_amplitudes", "missing", "source_amplitudes and source_locations are needed.")
        self.amplitudes = _array(amplitudes, "source_amplitudes")  # [shot, source, time]
        self.sources = _cells(sources, "source_locations")         # [shot, source, axis]
        if self.amplitudes.ndim != 3 or self.sources.shape != (*self.amplitudes.shape[:2], self.v.ndim):
            raise ShapeError("source_locations", f"have shape {self.sources.shape}, amplitudes {self.amplitudes.shape}",
                             "They are [shot, source, axis] and [shot, source, time].")
        if nt is not None and nt != self.amplitudes.shape[-1]:
            raise UnsupportedError("nt", f"is {nt}, and amplitudes have {self.amplitudes.shape[-1]} samples")
        self.dt, self.order = abs(float(dt)), int(accuracy)
        if self.dt == 0 or not math.isfinite(self.dt):
            raise InputError("dt", f"is {dt}", "It is more than zero, seconds.")
        self.h = [float(x) for x in _each(grid_spacing, self.v.ndim, "grid_spacing")]
        widths = [int(w) for w in _each(pml_width, 2 * self.v.ndim, "pml_width")]
        self.points = max(1, *widths)
        kinds = ["wall" if w == 0 else "cpml" for w in widths]
        if self.v.ndim == 2:  # down and along; one node across
            kinds[2:2] = ["wall", "wall"]
        self.sides = dict(zip(("bottom", "top", "south", "north", "west", "east"), kinds))
        self.frequency = float(pml_freq) if pml_freq else 25.0

    def places(self, cells: Any) -> Any:
        """Easting, northing, up of cells [n, axis]."""
        at = [cells[:, a] * self.h[a] for a in range(self.v.ndim)]
        return np.column_stack([at[-1], at[1] if self.v.ndim == 3 else np.zeros(len(cells)), at[0]])

    def gathers(self, locations: Any, compute: Any) -> Any:
        """compute(simulation), summed over the sources of each shot → [shot, receiver, time]; receivers that are to be
        ignored are zero."""
        receivers = _cells(locations, "receiver_locations")
        shots, each, nt = self.amplitudes.shape
        if receivers.ndim != 3 or receivers.shape[0] != shots or receivers.shape[2] != self.v.ndim:
            raise ShapeError("receiver_locations", f"have shape {receivers.shape}", "They are [shot, receiver, axis].")
        out = np.zeros((shots, receivers.shape[1], nt))
        for shot in range(shots):
            there = (receivers[shot] != IGNORE_LOCATION).all(axis=1)
            if not there.any():
                continue
            for source in range(each):
                wavelet = self.amplitudes[shot, source]
                cell = self.sources[shot, source]
                if not wavelet.any() or (cell == IGNORE_LOCATION).any():
                    continue
                simulation, ratio = self._simulation(cell[None], receivers[shot][there], wavelet)
                out[shot, there] += np.asarray(compute(simulation)).reshape(simulation.shape)[0, ::ratio].T
        return out

    def _simulation(self, cell: Any, receivers: Any, wavelet: Any) -> tuple[Operators, int]:
        shape = self.v.shape if self.v.ndim == 3 else (self.v.shape[0], 1, self.v.shape[1])
        spacing = self.h if self.v.ndim == 3 else (self.h[0], self.h[1], self.h[1])
        volume = math.prod(self.h)

        def made(step: float) -> Operators:
            return Operators.of(
                self.v.reshape(shape), spacing, sources=[self.places(cell)], receivers=[self.places(receivers)],
                wavelet=-volume * wavelet, sample_step=self.dt, end=(len(wavelet) - 1) * self.dt, step=step,
                sides=self.sides, order=self.order, layer_points=self.points, layer_frequency=self.frequency,
                exact_time=False)

        ratio = max(1, math.ceil(self.dt / made(0)._engine.longest_step - 1e-9))
        return made(self.dt / ratio), ratio


def scalar(v: Any, grid_spacing: Union[float, Sequence[float]], dt: float, source_amplitudes: Any = None,
           source_locations: Any = None, receiver_locations: Any = None, accuracy: int = 4,
           pml_width: Union[int, Sequence[int]] = 20, pml_freq: Optional[float] = None, nt: Optional[int] = None,
           **others: Any) -> tuple[Any, ...]:
    """Waves of sources in cells: as ``deepwave.scalar``.

    Parameters
    ----------
    v : array [y, x] or [z, y, x]
        m/s.
    source_amplitudes : array [shot, source, time]
    source_locations, receiver_locations : integer arrays [shot, source or receiver, axis]
        Cells.
    pml_width : int or sequence
        Cells; 0: u is zero beyond that side.

    Returns
    -------
    tuple
        As long as deepwave's; the last is ``receiver_amplitudes`` [shot, receiver, time], the others are None.
    """
    call = _Call(v, grid_spacing, dt, source_amplitudes, source_locations, accuracy, pml_width, pml_freq, nt, others)
    if receiver_locations is None:
        raise InputError("receiver_locations", "missing", "Without receivers nothing is returned here.")
    heard = call.gathers(receiver_locations, lambda simulation: simulation._engine.model(None))
    return (*[None] * (2 + 2 * call.v.ndim), _like(heard, v))


def scalar_born(v: Any, scatter: Any, grid_spacing: Union[float, Sequence[float]], dt: float,
                source_amplitudes: Any = None, source_locations: Any = None, receiver_locations: Any = None,
                bg_receiver_locations: Any = None, accuracy: int = 4, pml_width: Union[int, Sequence[int]] = 20,
                pml_freq: Optional[float] = None, nt: Optional[int] = None, **others: Any) -> tuple[Any, ...]:
    """Waves that a change of velocity scatters once: as ``deepwave.scalar_born``.

    Parameters
    ----------
    scatter : array like v
        The change of v, m/s.

    Returns
    -------
    tuple
        As long as deepwave's; the last two are ``bg_receiver_amplitudes`` of the waves in v and
        ``receiver_amplitudes`` of the scattered ones, [shot, receiver, time]; the others are None.
    """
    call = _Call(v, grid_spacing, dt, source_amplitudes, source_locations, accuracy, pml_width, pml_freq, nt, others)
    change = -2 * _array(scatter, "scatter") / call.v**3
    if change.shape != call.v.shape:
        raise ShapeError("scatter", f"has shape {change.shape}", f"v has {call.v.shape}.")
    nothing = np.zeros((len(call.amplitudes), 0, call.amplitudes.shape[-1]))
    below, scattered = nothing, nothing
    if bg_receiver_locations is not None:
        below = call.gathers(bg_receiver_locations, lambda simulation: simulation._engine.model(None))
    if receiver_locations is not None:
        scattered = call.gathers(receiver_locations, lambda simulation: simulation.born(change))
    return (*[None] * (4 + 4 * call.v.ndim), _like(below, v), _like(scattered, v))
