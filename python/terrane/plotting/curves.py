"""Curves: soundings over the period, electromagnetic fields over the offset, temperatures over time."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import ceil

from .data import Data, Field, PlotError, base_of, choose, need
from .style import Look, plain_axis, shared_power, title_of, unit_of


MU = 4e-7 * 3.141592653589793  #: H/m
#: What is called after the impedance that it is of: turned by 180°, its phase lies beside the other's; colour, mark.
_PAIRS = {"ne": (0, "#1f4e79", "o"), "en": (180, "#b3541e", "s"), "ee": (0, "#7a9a3a", "^"), "nn": (0, "#8a5a9e", "v")}


def complete(data: Data) -> Data:
    """Adds apparent resistivities and phases of impedances, with their uncertainties: ρ = |Z|²/(ωμ), Δρ = 2 ρ Δ|Z|/|Z|."""
    numpy = need("numpy")
    there = {f.name: f.values for f in data.fields}
    omega = 2 * numpy.pi * numpy.asarray(data.frequency)[:, None]
    for pair in _PAIRS:
        for role in ("", "_observed"):
            z = there.get(f"z_{pair}{role}")
            if z is None or not numpy.iscomplexobj(z) or f"rho_{pair}{role}" in there:
                continue
            size = numpy.abs(z)
            made = [(f"rho_{pair}{role}", "ohm m", size**2 / (omega * MU)),
                    (f"phase_{pair}{role}", "degree", numpy.degrees(numpy.angle(z)))]
            spread = there.get(f"z_{pair}_uncertainty")
            if spread is not None and f"rho_{pair}_uncertainty" not in there and \
                    (role or f"z_{pair}_observed" not in there):
                part = numpy.real(spread) / numpy.where(size > 0, size, numpy.nan)
                made += [(f"rho_{pair}_uncertainty", "ohm m", 2 * made[0][2] * part),
                         (f"phase_{pair}_uncertainty", "degree", numpy.degrees(part))]
            data.fields += [Field(*one) for one in made]
    return data


@dataclass
class _Chosen:
    """What of soundings is drawn."""

    there: dict  # name: values [frequency, site]
    pairs: list
    rows: list  # of "rho", "phase", "tipper"
    sites: object  # [site]
    inside: int  # sites of which these are taken
    order: object  # of frequencies, by period
    period: object


def _chosen_of(data: Data, channels, look: Look) -> _Chosen:
    numpy = need("numpy")
    there = {f.name: f.values for f in data.fields}
    for name in channels or ():
        if name not in there:
            raise PlotError(f"{data.source}: there is no \"{name}\"; it has: {', '.join(there)}")
        if not re.fullmatch(r"(z|rho|phase)_[en][en]|tipper_[en]", base_of(name)):
            raise PlotError(f"{data.source}: {name} is no curve over the period; z, rho, phase and tipper are")
    kinds = [base_of(n).split("_")[0] for n in channels or ()]
    pairs = [p for p in _PAIRS if any(base_of(n).endswith("_" + p) for n in channels or ()) or
             (not channels and p in ("ne", "en"))]
    pairs = [p for p in pairs if f"rho_{p}" in there or f"rho_{p}_observed" in there or f"phase_{p}" in there]
    def any_of(kind):
        return any(f"{kind}_{p}{role}" in there for p in pairs for role in ("", "_observed"))

    rows = [kind for kind in ("rho", "phase") if (not channels or {"z", kind} & set(kinds)) and any_of(kind)]
    tippers = [values for name, values in there.items() if name in ("tipper_e", "tipper_n", "tipper_e_observed",
                                                                     "tipper_n_observed")]
    if "tipper" in kinds or (not channels and any((numpy.abs(numpy.nan_to_num(t)) > 0).any() for t in tippers)):
        rows.append("tipper")
    if not rows:
        raise PlotError(f"{data.source}: there is nothing to draw; it has: {', '.join(there)}")
    sites = numpy.flatnonzero(look.inside(data.easting, data.northing))
    if not sites.size:
        raise PlotError(f"{data.source}: no site is in the region")
    some = sites[numpy.unique(numpy.linspace(0, sites.size - 1, min(sites.size, 6)).round().astype(int))]
    period = 1 / numpy.asarray(data.frequency)
    return _Chosen(there, pairs, rows, some, int(sites.size), numpy.argsort(period), period)


def draw_soundings(pyplot, data: Data, channels, title: str, look: Look = Look()):
    """Apparent resistivity and phase over the period, and tippers as arrows; a column for each site, of many six.

    What was computed is a line, what was observed are points with error bars.
    """
    look.only("region", "limits", "log", what="of soundings")
    chosen = _chosen_of(complete(data), channels, look)
    heights = {"rho": 3, "phase": 2, "tipper": 1.4}
    figure, grid = pyplot.subplots(
        len(chosen.rows), chosen.sites.size, squeeze=False, sharex=True, sharey="row", layout="constrained",
        height_ratios=[heights[row] for row in chosen.rows],
        figsize=(max(1.55 * chosen.sites.size + 0.7, 3.4), 0.9 + 0.62 * sum(heights[row] for row in chosen.rows)))
    grid[0, 0].set_xscale("log")
    grid[0, 0].set_xlim(chosen.period.min() / 1.6, chosen.period.max() * 1.6)  # of all: they share the axis
    for axes_of_row, row in zip(grid, chosen.rows):
        for axes, site in zip(axes_of_row, chosen.sites):
            (_draw_tippers if row == "tipper" else _draw_sounding)(axes, chosen, row, site)
            axes.grid(linewidth=0.3)
        axes_of_row[0].set_ylabel({"rho": "apparent resistivity (ohm m)", "phase": "phase (°)", "tipper": "tipper"}[row])
    _finish_soundings(grid, data, chosen, look)
    if chosen.sites.size < chosen.inside:
        title = ", ".join(filter(None, [title, f"{chosen.sites.size} of {chosen.inside} sites"]))
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _finish_soundings(grid, data: Data, chosen: _Chosen, look: Look) -> None:
    """Titles, limits and what lines are."""
    for column, site in enumerate(chosen.sites):
        grid[0, column].set_title(_name_of(data, site), pad=4)
        grid[-1, column].set_xlabel("period (s)")
    plain_axis(grid[0, 0], "x")  # which all share
    if chosen.rows[0] == "rho":
        axes = grid[0, 0]
        axes.set_yscale("linear" if look.log is False else "log")
        low, high = _range_of_points(grid[chosen.rows.index("rho")], above=0.0)
        if look.log is not False and 0 < low:  # error bars of single points may go beyond
            axes.set_ylim(low / 1.6, high * 1.6)
        low, high = axes.get_ylim()
        if look.limits is not None:
            axes.set_ylim(look.limits)
        elif look.log is not False and 0 < low and high < 10 * low:  # small changes stay small
            middle = (low * high) ** 0.5
            axes.set_ylim(middle / 10**0.5, middle * 10**0.5)
        plain_axis(axes)
    if "tipper" in chosen.rows:
        grid[-1, 0].set_title("real black, imaginary blue; north is up", fontsize=6, pad=2, loc="left")
    if "phase" in chosen.rows:
        axes = grid[chosen.rows.index("phase"), 0]
        low, high = _range_of_points(grid[chosen.rows.index("phase")], outside=4)
        if low >= 0 and high <= 90:
            axes.set_ylim(0, 90)
            axes.set_yticks([0, 45, 90])
        else:
            axes.set_ylim(min(low - 10, 0), max(high + 10, 90))
    labels = dict(zip(*reversed(grid[0, 0].get_legend_handles_labels())))
    if labels:  # beside the curves, which fill their axes
        grid[0, 0].figure.legend(labels.values(), labels.keys(), frameon=False, loc="outside lower center",
                                 ncols=min(len(labels), 2 if grid.shape[1] < 3 else 4))


def _range_of_points(row, above: float = -1e300, outside: float = 1) -> "tuple[float, float]":
    """Range of the values above a limit that a row of axes shows, without error bars and the outermost percent."""
    numpy = need("numpy")
    values = numpy.concatenate([numpy.asarray(line.get_ydata(), dtype=float) for axes in row for line in axes.lines] or
                               [numpy.zeros(0)])
    values = values[numpy.isfinite(values) & (values > above)]
    if not values.size:
        return 0.0, 0.0
    low, high = numpy.percentile(values, [outside, 100 - outside])
    return float(low), float(high)


def _name_of(data: Data, site: int) -> str:
    """What a site is called: its name, or its place."""
    if data.names:
        return str(data.names[site])
    unit = "°" if data.geographic else " m"
    return f"{data.easting[site]:.10g}, {data.northing[site]:.10g}{unit}".replace("-", "\N{MINUS SIGN}")


def _draw_sounding(axes, chosen: _Chosen, kind: str, site: int) -> None:
    """Curves of one quantity at one site."""
    numpy = need("numpy")
    order, period = chosen.order, chosen.period
    for pair in chosen.pairs:
        turn, colour, mark = _PAIRS[pair]

        def seen(name):
            values = chosen.there.get(name)
            if values is None:
                return None
            values = numpy.asarray(values[order, site], dtype=float)
            return (values + turn + 180) % 360 - 180 if kind == "phase" and "uncertainty" not in name else values

        name = f"{kind}_{pair}"
        computed, observed, spread = seen(name), seen(name + "_observed"), seen(name + "_uncertainty")
        if observed is None and spread is not None:  # a file of data
            computed, observed = None, computed
        label = f"$Z_{{{pair}}}$"
        if computed is not None:
            axes.plot(period[order], computed, color=colour, marker=mark if observed is None else None, markersize=2.6,
                      linewidth=1, label=label)
        if observed is not None:
            axes.errorbar(period[order], observed, spread, color=colour, fmt=mark, markersize=2.6, elinewidth=0.6,
                          fillstyle="none", label=label if computed is None else label + " observed")


def _draw_tippers(axes, chosen: _Chosen, kind: str, site: int) -> None:
    """Arrows of (T_e, T_n), north up; in black the real parts, in blue the imaginary ones, what was computed pale."""
    numpy = need("numpy")
    order, period, limit = chosen.order, chosen.period, _limit_of_tippers(chosen.there)
    for role, alpha in (("", 1.0 if "tipper_e_observed" not in chosen.there else 0.45), ("_observed", 1.0)):
        east, north = (chosen.there.get(f"tipper_{axis}{role}") for axis in "en")
        if east is None or north is None:
            continue
        for part, colour in ((numpy.real, "black"), (numpy.imag, "#3070b0")):
            lengths = part(east[order, site]), part(north[order, site])
            within = ~(numpy.hypot(*lengths) > limit)
            for kept, clipped in ((within, False), (~within, True)):  # at the first period one may leave the frame
                if not kept.any():
                    continue
                # Lengths are of the axis of tippers, whatever the period's axis is.
                arrows = axes.quiver(period[order][kept], numpy.zeros(int(kept.sum())), lengths[0][kept], lengths[1][kept],
                                     color=colour, alpha=alpha, angles="uv", scale_units="y", scale=1, width=0.006,
                                     headwidth=4, clip_on=clipped)
                arrows.set_in_layout(False)
    axes.set_ylim(-limit, limit)


def _limit_of_tippers(there) -> float:
    """What the axes of tippers reach to: beyond nearly all of them; single wrong ones of many may be longer."""
    numpy = need("numpy")
    lengths = numpy.concatenate([numpy.abs(v).ravel() for n, v in there.items()
                                 if n.startswith("tipper_") and numpy.iscomplexobj(v)])
    lengths = lengths[numpy.isfinite(lengths)]
    longest = float(numpy.percentile(lengths, 97 if lengths.size > 100 else 100)) if lengths.size else 0.0
    return max(1.8 * longest, 0.1)


def along_of(easting, northing):
    """Where receivers stand along the axis on which they spread more, and what that is called."""
    numpy = need("numpy")
    east, north = numpy.asarray(easting), numpy.asarray(northing)
    name, along = ("easting", east) if numpy.ptp(east) >= numpy.ptp(north) else ("northing", north)
    return (along / 1e3, f"{name} (km)") if numpy.abs(along).max() > 5000 else (along, f"{name} (m)")


def _spread_of(values):
    """Standard deviations of an amplitude and of its phase in degrees, of complex values with parts of these errors."""
    numpy = need("numpy")
    return lambda sigma: (sigma, numpy.degrees(sigma / numpy.where(numpy.abs(values) > 0, numpy.abs(values), numpy.nan)))


def _components_of(data: Data, channels):
    """Components that are drawn: what is asked for, or all but those that are zero by symmetry."""
    numpy = need("numpy")
    complex_ones = [f for f in data.fields if numpy.iscomplexobj(f.values)]
    if channels:
        chosen = choose(data, channels)
        for shown in chosen:
            if shown not in complex_ones:
                raise PlotError(f"{data.source}: {shown.name} has no amplitude and phase; "
                                f"{', '.join(f.name for f in complex_ones)} have")
        return chosen
    chosen = [f for f in complex_ones if f.name == base_of(f.name)] or complex_ones
    sizes = {f.name: float(numpy.nanmax(numpy.abs(f.values), initial=0.0)) for f in chosen}
    most = {kind: max((v for n, v in sizes.items() if n[0] == kind), default=0) for kind in "ehb"}
    return [f for f in chosen if sizes[f.name] > 1e-6 * most.get(f.name[0], 0)] or chosen


def draw_offsets(pyplot, data: Data, channels, title: str, look: Look = Look()):
    """Amplitude and phase of electromagnetic fields over the place of the receivers: a column for each component, a
    colour for each frequency; what was observed as points with error bars. Of several sources the first, of many
    frequencies six."""
    numpy = need("numpy")
    look.only("region", "limits", "log", "cmap", what="of fields over the offset")
    there = {f.name: f.values for f in data.fields}
    chosen = _components_of(data, channels)
    inside = numpy.flatnonzero(look.inside(data.easting, data.northing))
    if not inside.size:
        raise PlotError(f"{data.source}: no receiver is in the region")
    along, label = along_of(numpy.asarray(data.easting)[inside], numpy.asarray(data.northing)[inside])
    order = numpy.argsort(along, kind="stable")
    along, rows = along[order], inside[order]
    count = len(data.frequency)
    frequencies = numpy.unique(numpy.linspace(0, count - 1, min(count, 6)).round().astype(int))
    colours = pyplot.get_cmap(look.cmap or "viridis")(numpy.linspace(0, 0.85, frequencies.size))
    figure, grid = pyplot.subplots(2, len(chosen), squeeze=False, sharex=True, layout="constrained", height_ratios=(3, 2),
                                   figsize=(max(2.5 * len(chosen), 3.6) + 0.8, 4.2))
    for column, shown in enumerate(chosen):
        near = 0.0  # phases of all frequencies beside each other
        for colour, n in zip(colours, frequencies):
            near = _draw_offset(near, grid[:, column], along, shown.values[0, n, rows], _of(there, f"{shown.name}_observed", n, rows),
                         _of(there, f"{shown.name}_uncertainty", n, rows), colour, f"{data.frequency[n]:g} Hz")
        _finish_offsets(grid[:, column], shown, label, look)
    grid[0, 0].set_ylabel("amplitude")
    grid[1, 0].set_ylabel("phase (°)")
    grid[0, -1].legend(frameon=False)
    sources = chosen[0].values.shape[0]
    text = ", ".join(filter(None, [title, f"source 1 of {sources}" if sources > 1 else ""]))
    if text:
        figure.suptitle(text, fontsize=10)
    return figure


def _of(there, name: str, frequency: int, rows):
    """Values of the first source, or None."""
    return there[name][0, frequency, rows] if name in there else None


def _draw_offset(near: float, axes, along, computed, observed, sigma, colour, label: str) -> float:
    """Amplitude above, phase below, of one component at one frequency; returns the mean phase, which is beside ``near``."""
    numpy = need("numpy")
    few = along.size < 30
    style = {"color": colour, "linewidth": 1, "marker": "o" if few and observed is None else None, "markersize": 2.6}
    axes[0].plot(along, numpy.abs(computed), label=label, **style)
    phase = _unwrapped(numpy.degrees(numpy.angle(computed)), near)
    axes[1].plot(along, phase, **style)
    middle = float(numpy.nanmean(phase)) if numpy.isfinite(phase).any() else near
    if observed is None:
        return middle
    bars = (None, None) if sigma is None else _spread_of(observed)(numpy.real(sigma))
    seen = numpy.degrees(numpy.angle(observed))
    seen = seen - 360 * numpy.round(numpy.nan_to_num((seen - phase) / 360)) if numpy.isfinite(phase).any() else _unwrapped(seen, near)
    for one, values, errors in zip(axes, (numpy.abs(observed), seen), bars):
        one.errorbar(along, values, errors, color=colour, fmt="o", markersize=2.6, elinewidth=0.6, fillstyle="none")
    return middle


def _unwrapped(phase, near: float = 0.0):
    """Degrees without jumps of 360 from one receiver to the next, on the whole within 180 of ``near``."""
    numpy = need("numpy")
    made, good = numpy.array(phase, dtype=float), numpy.isfinite(phase)
    made[good] = numpy.degrees(numpy.unwrap(numpy.radians(made[good])))
    return made - 360 * numpy.round((made[good].mean() - near) / 360) if good.any() else made


def _finish_offsets(axes, shown, label: str, look: Look) -> None:
    """Axes and words of one component."""
    from matplotlib.ticker import MultipleLocator

    axes[0].set_yscale("linear" if look.log is False else "log")
    if look.limits is not None:
        axes[0].set_ylim(look.limits)
    unit = shared_power(axes[0]) + unit_of(shown.unit)
    axes[0].set_title(title_of(shown.name) + (f" ({unit})" if unit else ""), pad=4)
    axes[1].set_xlabel(label)
    low, high = axes[1].get_ylim()
    if high - low > 120:  # at most seven ticks, of parts or multiples of a turn
        axes[1].yaxis.set_major_locator(MultipleLocator(next(
            (step for step in (45, 90, 180) if high - low < 7 * step), 360 * ceil((high - low) / (7 * 360)))))
    elif high - low < 10:  # small changes stay small
        axes[1].set_ylim((low + high) / 2 - 5, (low + high) / 2 + 5)
    for one in axes:
        one.grid(linewidth=0.3)


#: Units of long times, and s.
_TIMES = (("million years", 3.15576e13), ("thousand years", 3.15576e10), ("years", 3.15576e7), ("days", 86400.0),
          ("h", 3600.0), ("s", 1.0))


def draw_histories(pyplot, data: Data, fields, title: str, look: Look = Look()):
    """A curve over time for each receiver; of many receivers eight."""
    numpy = need("numpy")
    look.only("region", "limits", "log", what="over time")
    time = numpy.asarray(data.time)
    unit, seconds = next((u, s) for u, s in _TIMES if time[-1] >= 3 * s or u == "s")
    inside = numpy.flatnonzero(look.inside(data.easting, data.northing))
    if not inside.size:
        raise PlotError(f"{data.source}: no receiver is in the region")
    chosen = inside[numpy.unique(numpy.linspace(0, inside.size - 1, min(inside.size, 8)).round().astype(int))]
    figure, grid = pyplot.subplots(len(fields), 1, squeeze=False, sharex=True, layout="constrained",
                                   figsize=(5.6, 2.6 * len(fields) + 0.4))
    for axes, shown in zip(grid[:, 0], fields):
        for n in chosen:
            place = f"{data.easting[n]:.10g}, {data.northing[n]:.10g}, {data.up[n]:.10g} m".replace("-", "\N{MINUS SIGN}")
            axes.plot(time / seconds, shown.values[:, n], linewidth=1.2, label=place)
        axes.set_ylabel(f"{title_of(shown.name)} ({unit_of(shown.unit)})")
        axes.grid(linewidth=0.3)
        if look.log:
            axes.set_yscale("log")
        if look.limits is not None:
            axes.set_ylim(look.limits)
    grid[-1, 0].set_xlabel(f"time ({unit})")
    grid[0, 0].legend(frameon=False, title="easting, northing, up", title_fontsize=7, fontsize=7)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure
