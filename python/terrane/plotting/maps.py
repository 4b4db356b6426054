"""Maps of fields at stations and on grids, and profiles along lines; what was observed, computed and left beside each other."""

from __future__ import annotations

from dataclasses import replace

from .data import Data, Field, PlotError, base_of, need
from .style import Look, MAP_WIDTH, colour_bar, columns_of, lengths, scale_of, title_of, unit_of


def as_grid(data: Data) -> Data:
    """Stations that are all crossings of two axes, as tables of grids have them, as a grid; else as they are."""
    numpy = need("numpy")
    if data.kind != "stations":
        return data
    east, north = numpy.asarray(data.easting, dtype=float), numpy.asarray(data.northing, dtype=float)
    (columns, column), (rows, row) = (numpy.unique(a, return_inverse=True) for a in (east, north))
    if columns.size < 2 or rows.size < 2 or columns.size * rows.size != east.size:
        return data
    place = row.ravel() * columns.size + column.ravel()
    if numpy.unique(place).size != place.size:
        return data

    def on_axes(values):
        made = numpy.empty(place.size)
        made[place] = values
        return made.reshape(rows.size, columns.size)

    return replace(data, kind="grid", easting=columns, northing=rows,
                   fields=[Field(f.name, f.unit, on_axes(f.values)) for f in data.fields])


def _fit_of(fields, channels):
    """Observed, computed and residual of each field that was observed, side by side; None where nothing was, or where
    other fields are asked for."""
    there = {f.name: f for f in fields}
    bases = [n for n in there if f"{n}_observed" in there]
    if channels or not bases:
        return None
    return [[there[f"{n}_observed"], there[n], *([there[f"{n}_residual"]] if f"{n}_residual" in there else [])]
            for n in bases]


def draw_maps(pyplot, data: Data, fields, channels, title: str, look: Look = Look()):
    """A map of each field, observed and computed on one scale; along a line curves."""
    numpy = need("numpy")
    fit = _fit_of(fields, channels)
    fields = [f for row in fit for f in row] if fit else fields
    data = as_grid(replace(data, fields=fields))
    east, north = numpy.asarray(data.easting), numpy.asarray(data.northing)
    line = line_of(data)
    if line is not None:
        return _draw_profile(pyplot, data, fit, title, look, *line)
    lengths_ = lengths(data, numpy.ptp(east), numpy.ptp(north))
    columns, *size = _size_of_maps(data, look, max(map(len, fit)) if fit else columns_of(len(fields)))
    rows = -(-len(fields) // columns)
    figure, grid = pyplot.subplots(
        rows, columns, squeeze=False, sharex=True, sharey=True, layout="constrained",
        figsize=(columns * (max(size[0], 1.1) + 0.75) + 0.3, rows * (size[1] + 0.45) + 0.35 + 0.25 * bool(title)))
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05)
    for place, axes in enumerate(grid.flat):
        if place >= len(data.fields):
            axes.set_visible(False)
            continue
        _draw_map(figure, axes, data, data.fields[place], lengths_[0], look, size)
        if place + columns >= len(data.fields):
            axes.set_xlabel(lengths_[1])
            axes.tick_params(labelbottom=True)
        if place % columns == 0 and (size[1] >= 1.2 or place // columns == rows // 2):  # of low maps one for all
            axes.set_ylabel(lengths_[2])
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _size_of_maps(data: Data, look: Look, columns: int):
    """Maps side by side, and the width and height of each, inches: areas much wider than high stand below each other."""
    numpy = need("numpy")
    west, east, south, north = look.region[:4] if look.region is not None else (
        numpy.min(data.easting), numpy.max(data.easting), numpy.min(data.northing), numpy.max(data.northing))
    width = (east - west) * (numpy.cos(numpy.radians(numpy.mean(data.northing))) if data.geographic else 1.0)
    ratio = (north - south) / width if width > 0 else 1.0
    if ratio < 0.4:
        across = 5.0 if ratio < 0.2 else 3.6
        return (1 if ratio < 0.2 else min(columns, 2)), across, max(across * ratio, 0.4)
    return columns, min(MAP_WIDTH, max(2.2 * MAP_WIDTH / ratio, 0.5)), MAP_WIDTH * min(ratio, 2.2)


def _deciding(data: Data, shown, inside):
    """Values that decide on the scale of a field: of observed and computed both, and of the region alone."""
    numpy = need("numpy")
    by_name = {f.name: f.values for f in data.fields}
    names = [base_of(shown.name), base_of(shown.name) + "_observed"]
    of_both = all(n in by_name for n in names) and shown.name in names
    made = numpy.concatenate([numpy.asarray(by_name[n], dtype=float)[inside] for n in (names if of_both else [shown.name])])
    return made if of_both or not inside.all() else None


def _draw_map(figure, axes, data: Data, shown, scale: float, look: Look, size) -> None:
    """One field, with its colour bar; size: width and height of the map, inches."""
    from matplotlib.ticker import MaxNLocator

    numpy = need("numpy")
    east, north = numpy.asarray(data.easting), numpy.asarray(data.northing)
    on_grid = data.kind == "grid"
    inside = look.inside(*numpy.meshgrid(east, north)) if on_grid else look.inside(east, north)
    if not inside.any():
        raise PlotError(f"{data.source}: nothing is in the region")
    colours = scale_of(shown.values, shown.name, look, not on_grid, _deciding(data, shown, inside))
    if on_grid:
        image = axes.pcolormesh(east / scale, north / scale, shown.values, cmap=colours.cmap, norm=colours.norm,
                                shading="nearest", rasterized=True)
    else:
        # Strong values on top, so that they are not hidden where stations crowd.
        order = numpy.argsort(numpy.abs(numpy.nan_to_num(shown.values)))
        dot = float(numpy.clip(9000 / max(east.size, 1), 0.6, 30))
        image = axes.scatter(east[order] / scale, north[order] / scale, c=shown.values[order], s=dot,
                             cmap=colours.cmap, norm=colours.norm, linewidths=0, rasterized=east.size > 2000)
        radius = dot**0.5 / 2 / 72  # inches; dots at the edge stay whole
        axes.margins(*(max(0.03, 1.3 * radius / inches) for inches in size))
        axes.set_facecolor("0.88")  # so that stations with values near zero are seen
    axes.set_aspect("equal" if not data.geographic else 1 / numpy.cos(numpy.radians(north.mean())), adjustable="box")
    axes.set_title(title_of(shown.name), pad=4)
    if look.region is not None:
        axes.set_xlim(look.region[0] / scale, look.region[1] / scale)
        axes.set_ylim(look.region[2] / scale, look.region[3] / scale)
    for axis, inches in ((axes.xaxis, size[0]), (axes.yaxis, size[1])):
        if inches < 1.2:
            axis.set_major_locator(MaxNLocator(2 if inches >= 0.6 or axis is axes.yaxis else 1, min_n_ticks=1))
    colour_bar(figure, axes, image, shown.unit, colours.extend, size)


def line_of(data: Data):
    """Of stations along one line, or a grid of one row or column: places along it [n], and what they are called."""
    numpy = need("numpy")
    east, north = numpy.asarray(data.easting, dtype=float), numpy.asarray(data.northing, dtype=float)
    if data.kind == "grid" and min(east.size, north.size) > 1:
        return None
    if data.kind == "grid":
        along, name = (east, "easting") if east.size > 1 else (north, "northing")
    else:
        wide, high = numpy.ptp(east), numpy.ptp(north)
        if east.size > 1 and min(wide, high) > 0.005 * max(wide, high):
            centred = numpy.stack([east - east.mean(), north - north.mean()])
            direction, spread, _ = numpy.linalg.svd(centred, full_matrices=False)
            if data.geographic or spread[1] > 0.005 * spread[0]:
                return None
            along, name = direction[:, 0] @ centred * (numpy.sign(direction[numpy.argmax(abs(direction[:, 0])), 0]) or 1), ""
            along = along - along.min()
        else:
            along, name = (east, "easting") if wide >= high else (north, "northing")
    if data.geographic:
        return along, f"{'longitude' if name == 'easting' else 'latitude'} (°)"
    scale, unit = (1e3, "km") if numpy.ptp(along) > 5000 else (1.0, "m")
    return along / scale, f"{name} ({unit})" if name else f"along the line ({unit})"


def _draw_profile(pyplot, data: Data, fit, title: str, look: Look, along, label: str):
    """Along a line curves say more than a strip of colour; what was observed are points beside what was computed."""
    numpy = need("numpy")
    look.only("region", "limits", "log", what="along a line")
    easts, norths = numpy.meshgrid(data.easting, data.northing) if data.kind == "grid" else (data.easting, data.northing)
    inside = numpy.ravel(look.inside(easts, norths))
    if not inside.any():
        raise PlotError(f"{data.source}: nothing is in the region")
    order = numpy.flatnonzero(inside)[numpy.argsort(along[inside], kind="stable")]
    panels = fit or [[f] for f in data.fields]
    figure, grid = pyplot.subplots(len(panels), 1, squeeze=False, sharex=True, layout="constrained",
                                   figsize=(5.0, (2.2 if fit else 1.3) * len(panels) + 0.6))
    for axes, shown in zip(grid.flat, panels):
        if fit:
            observed, computed = (numpy.ravel(f.values)[order] for f in shown[:2])
            axes.plot(along[order], observed, linewidth=0, marker="o", markersize=2.6, fillstyle="none", color="0.3",
                      label="observed")
            axes.plot(along[order], computed, linewidth=1.2, color="#1f4e79", label="computed")
            axes.legend(frameon=False)
        else:
            axes.plot(along[order], numpy.ravel(shown[0].values)[order], color="#1f4e79", linewidth=1.2,
                      marker="o" if order.size < 30 else None, markersize=2.6)
        axes.set_title(title_of(base_of(shown[0].name) if fit else shown[0].name), pad=3)
        axes.set_ylabel(unit_of(shown[0].unit))
        axes.grid(linewidth=0.3)
        if look.log:
            axes.set_yscale("log")
        if look.limits is not None:
            axes.set_ylim(look.limits)
    grid.flat[-1].set_xlabel(label)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure
