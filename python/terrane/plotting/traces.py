"""Traces: gathers of shots, record sections of seismograms."""

from __future__ import annotations

from .data import Data, PlotError, base_of, need
from .style import Look, plain_ticks, shared_power, styled, title_of, unit_of, with_unit

#: Traces beside each other that are still told apart as lines.
_MOST_WIGGLES = 60


def _most_of(values, look: Look, clip: float = 98.0) -> float:
    """What is black and white, or as wide as traces are apart: the limits, or a percentile of the amplitudes."""
    numpy = need("numpy")
    if look.limits is not None:
        most = float(numpy.abs(numpy.asarray(look.limits, dtype=float)).max())
        if not most > 0 or len(look.limits) != 2:
            raise PlotError("limits: two numbers of traces, such as -1, 1")
        return most
    sizes = numpy.concatenate([numpy.abs(numpy.ravel(v)) for v in values])
    sizes = sizes[numpy.isfinite(sizes)]
    return (float(numpy.percentile(sizes, clip)) or float(sizes.max()) or 1.0) if sizes.size else 1.0


def _rows_of_gathers(data: Data, fields, channels):
    """What is drawn of shots: what is asked for; observed, computed and residual where there are all; else the first."""
    if channels:
        return fields
    there = {f.name: f for f in data.fields}
    first = base_of(fields[0].name)
    fit = [there[n] for n in (f"{first}_observed", first, f"{first}_residual") if n in there]
    return fit if len(fit) == 3 else fields[:1]


def draw_gathers(pyplot, data: Data, fields, channels, title: str, kind: str, look: Look = Look()):
    """The first, the last and two shots between them, side by side; observed, computed and residual below each other."""
    numpy = need("numpy")
    look.only("limits", *(["cmap"] if kind == "image" else []), what="of traces")
    rows = _rows_of_gathers(data, fields, channels)
    shots = len(rows[0].values)
    chosen = numpy.unique(numpy.linspace(0, shots - 1, min(shots, 4)).round().astype(int))
    most = [_most_of([of.values[shot] for shot in chosen], look)
            for of in (rows[0] if base_of(f.name) == base_of(rows[0].name) else f for f in rows)]
    figure, grid = pyplot.subplots(
        len(rows), chosen.size, squeeze=False, sharey=True, sharex="col", layout="constrained",
        figsize=(max(2.1 * chosen.size, 3.7) + 0.9, 3.4 if len(rows) == 1 else 0.6 + 2.2 * len(rows)))
    for shown, axes_of_row, largest in zip(rows, grid, most):
        for axes, shot in zip(axes_of_row, chosen):
            along, places = data.lines[shot]
            every = 1 if kind == "image" else -(-len(places) // _MOST_WIGGLES)
            order = numpy.argsort(places, kind="stable")[::every]
            drawn = draw_traces(axes, shown.values[shot][:, order], places[order], data.time, kind, 99.0, largest, look.cmap)
            axes.set_xlabel(along if axes in grid[-1] else "")
            axes.set_title((f"{title_of(shown.name)}, " if len(rows) > 1 else "") + data.shots[shot]
                           + (f", one trace in {every}" if every > 1 else ""), pad=4)
        if kind == "image":
            bar = figure.colorbar(drawn, ax=list(axes_of_row), pad=0.02, fraction=0.05, extend="both")
            bar.set_label(with_unit(title_of(shown.name) if len(rows) == 1 else "", plain_ticks(bar, shown.unit)))
        axes_of_row[0].set_ylabel("time (s)")
    if kind == "wiggle":
        title = (f"{title}\n" if title else "") + f"{title_of(rows[0].name)}; traces are {_said(most[0], rows[0].unit)} apart"
    if title:
        figure.suptitle(title, fontsize=10 if kind == "image" else 9)
    return figure


def _said(value: float, unit: str) -> str:
    """An amplitude in words."""
    return f"{value:.2g} {unit_of(unit)}".replace("e-0", "e-").replace("-", "\N{MINUS SIGN}").strip()


def draw_traces(axes, values, along, time, kind: str, clip: float, most: float = 0.0, cmap=None):
    """Traces [time, receiver] into axes, time downward; returns the image. most: what is as wide as traces are apart, or
    by ``clip``."""
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
        axes.set_xlabel("easting (m)")
        return _grey(axes, values, along, numpy.flatnonzero(further) + 1, apart, time, most, cmap or "gray")
    if kind == "wiggle":
        for trace, at in zip(values.T, along):
            line = at + apart * numpy.clip(trace / most, -1.5, 1.5)
            axes.plot(line, time, color="black", linewidth=0.4)
            axes.fill_betweenx(time, at, line, where=line > at, color="black", linewidth=0, interpolate=True)
        axes.set_xlim(along[0] - 1.5 * apart, along[-1] + 1.5 * apart)
        axes.set_ylim(time[-1], time[0])
    else:
        raise PlotError(f'kind "{kind}" is not known; allowed: image, wiggle')
    axes.set_xlabel("easting (m)")
    return None


def _grey(axes, values, along, starts, apart, time, most: float, cmap: str):
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
    shades = {"cmap": cmap, "vmin": -most, "vmax": most}
    whole = len(columns) == places.size
    if whole and numpy.abs(edges - numpy.linspace(edges[0], edges[-1], len(edges))).max() <= apart / 4:
        return axes.imshow(numpy.hstack(columns), aspect="auto", interpolation="bilinear",
                           extent=(edges[0], edges[-1], time[-1], time[0]), **shades)
    image = axes.pcolorfast(edges, numpy.linspace(time[0], time[-1], len(time) + 1),
                            numpy.ma.masked_invalid(numpy.hstack(columns)), **shades)
    axes.set_ylim(time[-1], time[0])
    return image


def _moving(fields):
    """Without components that are zero by symmetry."""
    numpy = need("numpy")
    sizes = [float(numpy.nanmax(numpy.abs(f.values), initial=0)) for f in fields]
    return [f for f, size in zip(fields, sizes)
            if size > 1e-4 * max(s for s, other in zip(sizes, fields) if other.unit == f.unit)] or list(fields)


def draw_seismograms(pyplot, data: Data, fields, channels, title: str, look: Look = Look()):
    """What receivers recorded: of up to four receivers each trace with its amplitudes, of more a record section."""
    numpy = need("numpy")
    look.only("region", "limits", what="of seismograms")
    there = numpy.flatnonzero(look.inside(data.easting, data.northing))
    if not there.size:
        raise PlotError(f"{data.source}: no receiver is in the region")
    fields = fields if channels else _moving(fields)
    return (_draw_recordings if there.size <= 4 else _draw_record_section)(pyplot, data, fields, there, title, look)


def _draw_recordings(pyplot, data: Data, fields, there, title: str, look: Look):
    """A row for each receiver, a column for each component, with one scale of amplitudes for those of one unit."""
    figure, grid = pyplot.subplots(there.size, len(fields), squeeze=False, sharex=True, layout="constrained",
                                   figsize=(0.9 + 2.4 * len(fields), 0.8 + 1.15 * there.size))
    for column, shown in enumerate(fields):
        like = [f.values[there] for f in fields if f.unit == shown.unit]
        most = _most_of(like, look, 100.0) * (1.0 if look.limits is not None else 1.05)
        for axes, receiver in zip(grid[:, column], there):
            axes.plot(data.time, shown.values[receiver], color="black", linewidth=0.7)
            axes.set_ylim(*(look.limits if look.limits is not None else (-most, most)))
            axes.grid(linewidth=0.3)
            power = shared_power(axes)
            axes.margins(x=0)
        grid[0, column].set_title(with_unit(title_of(shown.name), power + unit_of(shown.unit)), pad=4)
        grid[-1, column].set_xlabel("time (s)")
    for axes, n in zip(grid[:, 0], there):
        place = ", ".join(f"{float(axis[n]):.10g}" for axis in (data.easting, data.northing, data.up))
        axes.set_ylabel(f"{place} m".replace("-", "\N{MINUS SIGN}"), fontsize=6.5)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _draw_record_section(pyplot, data: Data, fields, there, title: str, look: Look):
    """Each trace where its receiver is: along the axis that the receivers spread most. One scale for those of one unit."""
    numpy = need("numpy")
    places = {"easting": data.easting[there], "northing": data.northing[there], "up": data.up[there]}
    axis = max(places, key=lambda name: float(numpy.ptp(places[name])))
    along = places[axis]
    scale, unit = (1e3, "km") if numpy.abs(along).max() > 5000 else (1.0, "m")
    figure, grid = pyplot.subplots(1, len(fields), squeeze=False, sharex=True, sharey=True, layout="constrained",
                                   figsize=(2.6 * len(fields) + 0.7, 4.0))
    for axes, shown in zip(grid[0], fields):
        like = [f.values[there] for f in fields if f.unit == shown.unit]
        most = max(_most_of([values], look, 99.0) for values in like)
        draw_traces(axes, shown.values[there].T, along / scale, data.time, "wiggle", 99.0, most)
        axes.set_title(f"{title_of(shown.name)}\ntraces are {_said(most, shown.unit)} apart", pad=4, fontsize=8)
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
    need("matplotlib")
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
        drawn = draw_traces(axes, traces.values, part["receiver_easting"].values, part["time"].values, kind, clip)
        if drawn is not None:
            bar = figure.colorbar(drawn, ax=axes, pad=0.02, fraction=0.05, extend="both")
            bar.set_label(with_unit(title_of(name), plain_ticks(bar, traces.attrs.get("units", ""))))
        axes.set_ylabel("time (s)")
        axes.set_title(title or f"shot {shot + 1}", pad=4)
    return figure
