"""Traces: gathers of shots, record sections of seismograms."""

from __future__ import annotations

from .data import Data, PlotError, need
from .style import styled, title_of

#: Traces beside each other that are still told apart as lines.
_MOST_WIGGLES = 60


def draw_gathers(pyplot, data: Data, shown, title: str, kind: str):
    """The first, the last and two shots between them, side by side."""
    numpy = need("numpy")
    shots = len(shown.values)
    chosen = numpy.unique(numpy.linspace(0, shots - 1, min(shots, 4)).round().astype(int))
    figure, grid = pyplot.subplots(1, chosen.size, squeeze=False, sharey=True, layout="constrained",
                                   figsize=(max(2.1 * chosen.size, 3.7) + 0.7, 3.4))
    for axes, shot in zip(grid[0], chosen):
        along, places = data.lines[shot]
        every = 1 if kind == "image" else -(-len(places) // _MOST_WIGGLES)
        order = numpy.argsort(places, kind="stable")[::every]
        draw_traces(axes, shown.values[shot][:, order], places[order], data.time, kind, 99.0)
        axes.set_xlabel(along)
        axes.set_title(data.shots[shot] + (f", one trace in {every}" if every > 1 else ""), pad=4)
    grid[0, 0].set_ylabel("time (s)")
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def draw_traces(axes, values, along, time, kind: str, clip: float, most: float = 0.0):
    """Traces [time, receiver] into axes, time downward. most: what is as wide as traces are apart, or by ``clip``."""
    numpy = need("numpy")
    values, along, time = (numpy.asarray(a, dtype=float) for a in (values, along, time))
    order = numpy.argsort(along, kind="stable")
    values, along = values[:, order], along[order]
    most = most or float(numpy.percentile(numpy.abs(values), clip)) or float(numpy.abs(values).max()) or 1.0
    # Receivers of a grid stand beside each other, but for rounding: what counts is how far its columns are apart.
    steps = numpy.diff(along)
    further = steps > 1e-6 * numpy.ptp(along)
    apart = float(numpy.median(steps[further])) if further.any() else 1.0
    if kind == "image":
        _grey(axes, values, along, numpy.flatnonzero(further) + 1, apart, time, most)
    elif kind == "wiggle":
        for trace, at in zip(values.T, along):
            line = at + apart * numpy.clip(trace / most, -1.5, 1.5)
            axes.plot(line, time, color="black", linewidth=0.4)
            axes.fill_betweenx(time, at, line, where=line > at, color="black", linewidth=0, interpolate=True)
        axes.set_xlim(along[0] - 1.5 * apart, along[-1] + 1.5 * apart)
        axes.set_ylim(time[-1], time[0])
    else:
        raise PlotError(f'kind "{kind}" is not known; allowed: image, wiggle')
    axes.set_xlabel("easting (m)")


def _grey(axes, values, along, starts, apart, time, most: float):
    """Traces as columns that meet half way, but for gaps; those at one place beside each other, evenly.

    starts: traces that stand further along than the one before; apart: how far such places are from each other.
    """
    numpy = need("numpy")
    first = numpy.concatenate([[0], starts, [along.size]]).astype(int)
    places = along[first[:-1]]
    half = numpy.where(numpy.diff(places) > 1.5 * apart, apart, numpy.diff(places)) / 2
    left = places - numpy.append(apart / 2, half)
    right = places + numpy.append(half, apart / 2)
    edges, columns = [left[0]], []
    for n, (begin, end) in enumerate(zip(first, first[1:])):
        if left[n] - edges[-1] > 1e-6 * apart:  # a gap
            edges.append(left[n])
            columns.append(numpy.full((len(time), 1), numpy.nan))
        edges.extend(numpy.linspace(left[n], right[n], end - begin + 1)[1:])
        columns.append(values[:, begin:end])
    shades = {"cmap": "gray", "vmin": -most, "vmax": most}
    whole = len(columns) == places.size
    if whole and numpy.abs(edges - numpy.linspace(edges[0], edges[-1], len(edges))).max() <= apart / 4:
        axes.imshow(numpy.hstack(columns), aspect="auto", interpolation="bilinear",
                    extent=(edges[0], edges[-1], time[-1], time[0]), **shades)
    else:
        axes.pcolorfast(edges, numpy.linspace(time[0], time[-1], len(time) + 1), numpy.ma.masked_invalid(
            numpy.hstack(columns)), **shades)
        axes.set_ylim(time[-1], time[0])


def draw_record_section(pyplot, data: Data, fields, title: str):
    """Each trace where its receiver is: along the axis that the receivers spread most. One scale for all."""
    numpy = need("numpy")
    clip = 99.0  # percentile of the amplitudes
    most = max(float(numpy.percentile(numpy.abs(f.values), clip)) for f in fields)
    places = {"easting": data.easting, "northing": data.northing, "up": data.up}
    axis = max(places, key=lambda name: float(numpy.ptp(places[name])))
    along = places[axis]
    scale, unit = (1e3, "km") if numpy.abs(along).max() > 5000 else (1.0, "m")
    figure, grid = pyplot.subplots(1, len(fields), squeeze=False, sharex=True, sharey=True, layout="constrained",
                                   figsize=(2.6 * len(fields) + 0.7, 3.8))
    for axes, shown in zip(grid[0], fields):
        draw_traces(axes, shown.values.T, along / scale, data.time, "wiggle", clip, most)
        axes.set_title(title_of(shown.name), pad=4)
        axes.set_xlabel(f"{axis} ({unit})")
    grid[0, 0].set_ylabel("time (s)")
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def gather(dataset, shot: int = 0, *, kind: str = "image", variable: str = "", clip: float = 99.0, title: str = ""):
    """One shot's traces over the receivers' easting; returns a matplotlib figure.

    Parameters
    ----------
    dataset : xarray.Dataset
        On shot, time and receiver, or on trace and time: what ``terrane.read`` gives of SEG-Y, SU, RSF and NetCDF.
    shot : int
        Counted from 0; without effect where the data are on traces.
    kind : {"image", "wiggle"}
    variable : str
        By default the first on time.
    clip : float
        Percentile of the amplitudes that is black or white, or a wiggle as wide as traces are apart.
    """
    matplotlib = need("matplotlib")
    import matplotlib.pyplot as pyplot

    timed = [n for n, v in dataset.data_vars.items() if "time" in v.dims]
    if not timed or (variable and variable not in timed):
        raise PlotError(f"the data hold no {variable or 'variable'} on time; there are: {', '.join(timed) or 'none'}")
    name = variable or timed[0]
    shots = dataset.sizes.get("shot", 0)
    if shots and not 0 <= shot < shots:
        raise PlotError(f"shot {shot} is not there; allowed: 0 to {shots - 1}")
    part = dataset.isel(shot=shot) if shots else dataset
    traces = part[name].transpose("time", ...)
    with styled():
        figure, axes = pyplot.subplots(figsize=(4.4, 3.8), layout="constrained")
        draw_traces(axes, traces.values, part["receiver_easting"].values, part["time"].values, kind, clip)
        axes.set_ylabel("time (s)")
        axes.set_title(title or f"shot {shot + 1}", pad=4)
    return figure
