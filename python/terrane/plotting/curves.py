"""Curves: soundings over the period, electromagnetic fields over the offset, temperatures over time."""

from __future__ import annotations

from .data import Data, base_of, choose, need
from .style import title_of, unit_of


def draw_soundings(pyplot, data: Data, title: str):
    """Apparent resistivity and phase of the two off-diagonal impedances over the period, a column per site."""
    numpy = need("numpy")
    there = {f.name: f.values for f in data.fields}
    sites = numpy.asarray(data.easting).size
    shown = numpy.unique(numpy.linspace(0, sites - 1, min(sites, 6)).round().astype(int))
    period = 1 / numpy.asarray(data.frequency)
    order = numpy.argsort(period)
    figure, grid = pyplot.subplots(2, shown.size, squeeze=False, sharex=True, sharey="row", layout="constrained",
                                   height_ratios=(3, 2), figsize=(1.55 * shown.size + 0.7, 3.6))
    # The phase of Z_en lies in the third quadrant: turned by 180° it is drawn beside the other. What was observed has
    # points with error bars, what was computed lines.
    for name, turn, colour, mark in (("ne", 0, "#1f4e79", "o"), ("en", 180, "#b3541e", "s")):
        rho, phase = there[f"rho_{name}"], there[f"phase_{name}"]
        seen = there.get(f"rho_{name}_observed"), there.get(f"phase_{name}_observed")
        spread = there.get(f"rho_{name}_uncertainty"), there.get(f"phase_{name}_uncertainty")
        for column, site in enumerate(shown):
            lone = seen[0] is None
            style = {"color": colour, "marker": mark if lone else None, "markersize": 2.6, "linewidth": 1,
                     "label": f"$Z_{{{name}}}$"}
            grid[0, column].loglog(period[order], rho[order, site], **style)
            grid[1, column].semilogx(period[order], (phase[order, site] + turn + 180) % 360 - 180, **style)
            for row, (values, errors) in enumerate(zip(seen, spread)):
                if values is None:
                    continue
                values = values[order, site] if row == 0 else (values[order, site] + turn + 180) % 360 - 180
                grid[row, column].errorbar(period[order], values, None if errors is None else errors[order, site],
                                           color=colour, fmt=mark, markersize=2.6, elinewidth=0.6, fillstyle="none")
    for column, site in enumerate(shown):
        place = f"{data.easting[site]:.10g}, {data.northing[site]:.10g} m".replace("-", "\N{MINUS SIGN}")
        grid[0, column].set_title(place, pad=4)
        grid[1, column].set_xlabel("period (s)")
        for axes in grid[:, column]:
            axes.grid(linewidth=0.3)
    grid[0, 0].set_ylabel("apparent resistivity (Ω·m)")
    grid[1, 0].set_ylabel("phase (°)")
    grid[0, 0].legend(frameon=False)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def along_of(easting, northing):
    """Where receivers stand along the axis on which they spread more, and what that is called."""
    numpy = need("numpy")
    east, north = numpy.asarray(easting), numpy.asarray(northing)
    name, along = ("easting", east) if numpy.ptp(east) >= numpy.ptp(north) else ("northing", north)
    return (along / 1e3, f"{name} (km)") if numpy.abs(along).max() > 5000 else (along, f"{name} (m)")


def draw_offsets(pyplot, data: Data, channels, title: str):
    """Amplitude and phase of electromagnetic fields over the place of the receivers: a column for each component, a colour
    for each frequency; what was observed as points. Of several sources the first; of many frequencies six."""
    numpy = need("numpy")
    there = {f.name: f for f in data.fields}
    chosen = choose(data, channels) if channels else [f for f in data.fields if f.name == base_of(f.name)] or data.fields
    sizes = {f.name: float(numpy.nanmax(numpy.abs(f.values))) for f in chosen}
    if not channels:  # components that are zero by symmetry say nothing
        most = {kind: max((v for n, v in sizes.items() if n[0] == kind), default=0) for kind in "eh"}
        chosen = [f for f in chosen if sizes[f.name] > 1e-6 * most.get(f.name[0], 0)] or chosen
    along, label = along_of(data.easting, data.northing)
    order = numpy.argsort(along, kind="stable")
    frequencies = numpy.unique(numpy.linspace(0, len(data.frequency) - 1, min(len(data.frequency), 6)).round().astype(int))
    colours = pyplot.get_cmap("viridis")(numpy.linspace(0, 0.85, frequencies.size))
    figure, grid = pyplot.subplots(2, len(chosen), squeeze=False, sharex=True, sharey="row" if len(chosen) < 2 else False,
                                   layout="constrained", height_ratios=(3, 2), figsize=(2.5 * len(chosen) + 0.8, 4.0))
    for column, shown in enumerate(chosen):
        observed = there.get(f"{shown.name}_observed")
        for colour, n in zip(colours, frequencies):
            values = shown.values[0, n][order]
            few = along.size < 30
            style = {"color": colour, "linewidth": 1, "marker": "o" if few and observed is None else None, "markersize": 2.6}
            grid[0, column].semilogy(along[order], numpy.abs(values), label=f"{data.frequency[n]:g} Hz", **style)
            grid[1, column].plot(along[order], numpy.degrees(numpy.angle(values)), **style)
            if observed is not None:
                seen = observed.values[0, n][order]
                points = {"color": colour, "linewidth": 0, "marker": "o", "markersize": 2.6, "fillstyle": "none"}
                grid[0, column].semilogy(along[order], numpy.abs(seen), **points)
                grid[1, column].plot(along[order], numpy.degrees(numpy.angle(seen)), **points)
        grid[0, column].set_title(f"{title_of(shown.name)} ({unit_of(shown.unit)})", pad=4)
        grid[1, column].set_xlabel(label)
        grid[1, column].set_yticks([-180, -90, 0, 90, 180])
        for axes in grid[:, column]:
            axes.grid(linewidth=0.3)
    grid[0, 0].set_ylabel("amplitude")
    grid[1, 0].set_ylabel("phase (°)")
    grid[0, -1].legend(frameon=False)
    sources = chosen[0].values.shape[0]
    text = title + (f"{', ' if title else ''}source 1 of {sources}" if sources > 1 else "")
    if text:
        figure.suptitle(text, fontsize=10)
    return figure


def draw_histories(pyplot, data: Data, fields, title: str):
    """A curve over time for each receiver; of many receivers eight."""
    numpy = need("numpy")
    time = numpy.asarray(data.time)
    for unit, seconds in (("million years", 3.15576e13), ("years", 3.15576e7), ("days", 86400.0), ("h", 3600.0), ("s", 1.0)):
        if time[-1] >= 3 * seconds or unit == "s":
            break
    receivers = numpy.asarray(data.easting).size
    chosen = numpy.unique(numpy.linspace(0, receivers - 1, min(receivers, 8)).round().astype(int))
    figure, grid = pyplot.subplots(len(fields), 1, squeeze=False, sharex=True, layout="constrained",
                                   figsize=(5.6, 2.6 * len(fields) + 0.4))
    for axes, shown in zip(grid[:, 0], fields):
        for n in chosen:
            place = f"{data.easting[n]:.10g}, {data.northing[n]:.10g}, {data.up[n]:.10g} m".replace("-", "\N{MINUS SIGN}")
            axes.plot(time / seconds, shown.values[:, n], linewidth=1.2, label=place)
        axes.set_ylabel(f"{title_of(shown.name)} ({unit_of(shown.unit)})")
        axes.grid(linewidth=0.3)
    grid[-1, 0].set_xlabel(f"time ({unit})")
    grid[0, 0].legend(frameon=False, title="easting, northing, up", title_fontsize=7, fontsize=7)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure
