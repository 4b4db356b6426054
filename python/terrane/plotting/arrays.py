"""Data of arrays of electrodes: pseudosections, and arrays between boreholes."""

from __future__ import annotations

from .data import Data, Field, PlotError, base_of, need
from .style import Look, plain_ticks, scale_of, title_of

_OF_ARRAYS = ("apparent_resistivity", "chargeability", "phase", "resistance")


def is_of_arrays(data: Data) -> bool:
    """Arrays of electrodes, drawn where they lie and as deep as they look."""
    names = {f.name for f in data.fields}
    known = _OF_ARRAYS if any(n.startswith(("a_", "m_")) for n in names) else _OF_ARRAYS[:3]
    return data.kind == "stations" and "up" in names and any(base_of(n) in known for n in names)


def panels_of_arrays(data: Data, fields):
    """Measured and computed, and the misfit in per cent of what was measured, where there are both; else the fields."""
    numpy = need("numpy")
    columns = {f.name: (f.unit, numpy.asarray(f.values, dtype=float)) for f in data.fields}
    known = set(columns)
    add_apparent(numpy, columns)
    data.fields = data.fields + [Field(n, *columns[n]) for n in columns if n not in known]
    there = {f.name: f for f in data.fields}
    for name in _OF_ARRAYS:
        measured, computed = there.get(f"{name}_observed"), there.get(name)
        if measured is None or not numpy.isfinite(measured.values).any():
            continue
        if computed is None:
            return [measured]
        if name == "apparent_resistivity" or name == "resistance":
            with numpy.errstate(divide="ignore", invalid="ignore"):
                misfit = Field(f"{name}_misfit", "%", 100 * (measured.values - computed.values) / measured.values)
        else:
            misfit = Field(f"{name}_misfit", measured.unit, measured.values - computed.values)
        return [measured, computed, misfit]
    shown = [there[name] for name in _OF_ARRAYS if name in there and name != "resistance"] or \
        [f for f in fields if base_of(f.name) in _OF_ARRAYS]
    return shown[:1]


def _lines_of(east, north):
    """The lines on which middles of arrays lie: metres along each of all, and rows of each line, side by side.

    Lines are parallel, so across them there are few places. One line where they are not.
    """
    numpy = need("numpy")
    centred = numpy.stack([east - east.mean(), north - north.mean()])
    main = numpy.linalg.svd(centred, full_matrices=False)[0][:, 0]
    steps = numpy.diff(centred, axis=1)
    steps = steps[:, numpy.hypot(*steps) > 0]
    ways = [main, numpy.array([1.0, 0]), numpy.array([0, 1.0])]
    if steps.size:  # most arrays stand beside the one before them
        angle = numpy.round(numpy.degrees(numpy.arctan2(steps[1], steps[0])) % 180, 1)
        often = numpy.radians(numpy.bincount((10 * angle).round().astype(int)).argmax() / 10)
        ways.insert(1, numpy.array([numpy.cos(often), numpy.sin(often)]))
    reach = numpy.hypot(*(centred.max(axis=1) - centred.min(axis=1)))
    best = None
    for way in ways:  # across the right one each line is narrow
        across = numpy.array([-way[1], way[0]]) @ centred
        order = numpy.argsort(across, kind="stable")
        lines = numpy.split(order, numpy.flatnonzero(numpy.diff(across[order]) > 0.01 * reach) + 1)
        if any(numpy.ptp(across[line]) > 0.02 * reach for line in lines) or \
                min(line.size for line in lines) < 3 or len(lines) > east.size / 5:
            continue
        if best is None or len(lines) < len(best[1]):
            best = way, lines
    direction, lines = best or (main, [numpy.arange(east.size)])
    # In the direction in which easting grows, or northing where lines run north; from south to north, or west to east.
    direction = direction * (numpy.sign(direction[numpy.argmax(numpy.abs(direction))]) or 1)
    beside = north if abs(direction[0]) > abs(direction[1]) else east
    lines = sorted(lines, key=lambda line: beside[line].mean())
    return direction @ numpy.stack([east, north]), direction, lines


def arrays_in_holes(data: Data):
    """Where all electrodes are in vertical holes (three depths or more): for each pair of the holes that current enters
    and those between which voltage is measured their name, the arrays, and up of both dipoles' middles. Else nothing.
    """
    numpy = need("numpy")
    given = {f.name: numpy.asarray(f.values, dtype=float) for f in data.fields}
    names = [f"{electrode}_{axis}" for electrode in "abmn" for axis in ("easting", "northing", "up")]
    if any(name not in given for name in names):
        return []
    place = numpy.stack([given[name] for name in names]).reshape(4, 3, -1)  # [electrode, axis, array]
    near = numpy.isfinite(place[:, 0])  # the others are far away
    holes, hole_of_near = numpy.unique(place[:, :2].transpose(0, 2, 1)[near].round(2), axis=0, return_inverse=True)
    depths = numpy.unique(numpy.stack([hole_of_near.ravel(), place[:, 2][near].round(2)]), axis=1)
    if not holes.size or numpy.bincount(depths[0].astype(int), minlength=len(holes)).min() < 3:
        return []
    hole = numpy.full(near.shape, -1)
    hole[near] = hole_of_near.ravel()
    used = numpy.sort(hole.reshape(2, 2, -1), axis=1).reshape(4, -1)  # of current, of voltage
    middle = numpy.nanmean(place[:, 2].reshape(2, 2, -1), axis=1)

    def name(numbers):
        there = sorted({int(n) + 1 for n in numbers if n >= 0})
        return ("hole " if len(there) == 1 else "holes ") + " and ".join(map(str, there))

    pairs, pair_of = numpy.unique(used, axis=1, return_inverse=True)
    panels = []
    for number, pair in enumerate(pairs.T):
        arrays = numpy.flatnonzero(pair_of.ravel() == number)
        panels.append((f"current in {name(pair[:2])}, voltage in {name(pair[2:])}", arrays,
                       middle[1, arrays], middle[0, arrays]))
    return panels


def draw_holes(pyplot, shown, panels, title: str, look: Look):
    """Arrays between boreholes, for which no depth stands: where the current enters over where voltage is measured.

    Holes are numbered from west to east. Of many pairs of holes eight are shown.
    """
    numpy = need("numpy")
    scale = scale_of(shown.values, shown.name, look)
    good = scale.good
    few = [panels[n] for n in numpy.unique(numpy.linspace(0, len(panels) - 1, min(len(panels), 8)).round().astype(int))]
    columns = min(len(few), 2)
    rows = -(-len(few) // columns)
    figure, grid = pyplot.subplots(rows, columns, squeeze=False, sharex=True, sharey=True, layout="constrained",
                                   figsize=(4.2 * columns + 0.6, 3.9 * rows + 0.3))
    size = float(numpy.clip(16000 / max(arrays.size for _, arrays, _, _ in few), 6, 90))
    for axes in grid.flat[len(few):]:
        axes.set_visible(False)
    for place, (axes, (name, arrays, voltage, current)) in enumerate(zip(grid.flat, few)):
        there = good[arrays]
        image = axes.scatter(voltage[there], current[there], c=shown.values[arrays[there]], norm=scale.norm,
                             cmap=scale.cmap, s=size, marker="s", linewidths=0)
        axes.scatter(voltage[~there], current[~there], s=6, color="0.7", marker="x", linewidths=0.6)
        axes.margins(0.06)
        axes.set_aspect("equal", adjustable="box")
        axes.set_title(name, pad=3, fontsize=8, loc="left")
        axes.tick_params(labelbottom=place + columns >= len(few))
    figure.supxlabel("up of the voltage electrodes (m)", fontsize=9)
    figure.supylabel("up of the current electrodes (m)", fontsize=9)
    figure.suptitle(title or title_of(shown.name), fontsize=10)
    bar = figure.colorbar(image, ax=list(grid.flat), pad=0.02, fraction=0.05, extend=scale.extend)
    bar.set_label(plain_ticks(bar, shown.unit))
    return figure


def _draw_data(axes, along, up, values, there, line, scale, size: float):
    """Data of one line as cells that fill the section where arrays stand on levels; else as squares."""
    numpy = need("numpy")
    from matplotlib.collections import PolyCollection
    from matplotlib.transforms import AffineDeltaTransform

    half = _halves_of(along[line], up[line])
    if half is None:
        return axes.scatter(along[there], up[there], c=values[there], norm=scale.norm, cmap=scale.cmap, s=size, marker="s",
                            linewidths=0)
    row = numpy.searchsorted(line, there, sorter=numpy.argsort(line))
    left, below, above = half[:, numpy.argsort(line)[row]]
    corners = numpy.stack([numpy.stack(c, axis=1) for c in ((-left, -below), (left, -below), (left, above), (-left, above))],
                          axis=1)
    cells = PolyCollection(corners, offsets=numpy.column_stack([along[there], up[there]]), offset_transform=axes.transData,
                           array=values[there], norm=scale.norm, cmap=scale.cmap, linewidths=0.2, edgecolors="face")
    cells.set_transform(AffineDeltaTransform(axes.transData))
    axes.add_collection(cells, autolim=False)
    places = numpy.column_stack([along[there], up[there]])
    for x, y in ((-left, -below), (left, above)):
        axes.update_datalim(places + numpy.column_stack([x, y]))
    axes.autoscale_view()
    return cells


def _halves_of(along, up):
    """Half widths, and how far down and up the cell of each array reaches [3, array]; None where there are no levels."""
    numpy = need("numpy")
    order = numpy.argsort(-up, kind="stable")
    reach = numpy.ptp(up)
    level = numpy.empty(up.size, dtype=int)
    level[order] = numpy.concatenate([[0], numpy.cumsum(-numpy.diff(up[order]) > 0.01 * reach)]) if reach > 0 else 0
    count = level.max() + 1
    if up.size < 3 * count or count > 40:
        return None
    depths = numpy.array([up[level == n].mean() for n in range(count)])
    if any(numpy.ptp(up[level == n]) > 0.02 * reach for n in range(count)):
        return None
    gaps = -numpy.diff(depths) / 2 if count > 1 else numpy.array([0.25 * (numpy.ptp(along) or 1.0)])
    half = numpy.empty((3, up.size))
    for n in range(count):
        steps = numpy.diff(numpy.unique(along[level == n].round(6)))
        half[0, level == n] = numpy.median(steps) / 2 if steps.size else numpy.nan
        half[1, level == n] = gaps[min(n, gaps.size - 1)]
        half[2, level == n] = gaps[max(n - 1, 0)]
    if not numpy.isfinite(half[0]).any():
        return None
    half[0, numpy.isnan(half[0])] = numpy.nanmedian(half[0])
    return half


#: What is beside data, with a scale of its own.
_BESIDE = ("_misfit", "_residual", "_uncertainty", "_error")


def _scale_of_panel(panels, shown, look: Look):
    """Of what was measured and computed one; of misfits one that the limits are not of."""
    numpy = need("numpy")
    if shown.name.endswith(_BESIDE):
        return scale_of(shown.values, shown.name, Look(look.region), robust=shown.name.endswith("_misfit"))
    by_name = {f.name: f.values for f in panels}
    pair = [by_name[n] for n in (base_of(shown.name), base_of(shown.name) + "_observed") if n in by_name]
    return scale_of(shown.values, shown.name, look, shared=numpy.concatenate(pair) if len(pair) == 2 else None)


def _lines_shown(data: Data, look: Look):
    """Metres along the lines [array], their direction, and of each line that is shown its number, its arrays and name;
    of many lines eight."""
    numpy = need("numpy")
    east, north = numpy.asarray(data.easting), numpy.asarray(data.northing)
    along, direction, lines = _lines_of(east, north)
    inside = look.inside(east, north)
    kept = [(number, line[inside[line]]) for number, line in enumerate(lines) if inside[line].any()]
    if not kept:
        raise PlotError(f"{data.source}: no array has its middle in the region")
    chosen = numpy.unique(numpy.linspace(0, len(kept) - 1, min(len(kept), 8)).round().astype(int))
    named = []
    for number, line in (kept[n] for n in chosen):
        beside = f", northing {north[line].mean():.10g} m" if abs(direction[0]) > 0.999 else \
            f", easting {east[line].mean():.10g} m" if abs(direction[1]) > 0.999 else ""
        text = f"line {number + 1} of {len(lines)}{beside}".replace("-", "\N{MINUS SIGN}") if len(lines) > 1 else ""
        named.append((line, text))
    return along, named


def draw_pseudosections(pyplot, data: Data, panels, title: str, look: Look):
    """Each array at its middle and half its widest gap deep; a row for each line, a column for each field.

    Apparent resistivity has a logarithmic scale; what was measured and computed have one scale together.
    """
    numpy = need("numpy")
    up = next(f.values for f in data.fields if f.name == "up")
    along, lines = _lines_shown(data, look)
    stacked = len(lines) == 1  # the fields below each other, so that one sees them beside the line
    rows, columns = (len(panels), 1) if stacked else (len(lines), len(panels))
    figure, grid = pyplot.subplots(rows, columns, squeeze=False, sharex=True, sharey=True, layout="constrained",
                                   figsize=(6.4 if columns == 1 else 0.8 + 3.6 * columns,
                                            (2.9 if rows == 1 else 0.7 + 1.75 * rows)))
    size = float(numpy.clip(16000 / max(line.size for line, _ in lines), 6, 90 if rows == 1 else 45))
    for column, shown in enumerate(panels):
        scale = _scale_of_panel(panels, shown, look)
        block = [grid[column, 0]] if stacked else list(grid[:, column])
        for axes, (line, text) in zip(block, lines):
            there, not_there = line[scale.good[line]], line[~scale.good[line]]
            image = _draw_data(axes, along, up, numpy.asarray(shown.values), there, line, scale, size)
            axes.scatter(along[not_there], up[not_there], s=6, color="0.7", marker="x", linewidths=0.6)
            axes.margins(0.04, 0.04 if rows == 1 else 0.12)
            if text:
                axes.set_title(text, pad=3, fontsize=8, loc="left")
        bar = figure.colorbar(image, ax=block, pad=0.02, fraction=0.05, extend=scale.extend)
        bar.set_label(plain_ticks(bar, shown.unit))
        block[0].set_title(title_of(shown.name), pad=4 if stacked else 14)
    flat = numpy.nanmax(up) <= 0
    name = "pseudo-depth (m)" if flat else "elevation at pseudo-depth (m)"
    if flat:  # depths count downward
        for axes in grid.flat:
            axes.yaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
    for axes in grid[-1]:
        axes.set_xlabel("along the line (m)")
    if rows == 1:
        grid[0, 0].set_ylabel(name)
    else:
        figure.supylabel(name, fontsize=8)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def place_arrays(numpy, columns) -> None:
    """Adds easting, northing and up of each array: its middle, half its widest gap below the electrodes; and where there
    are resistances alone the apparent resistivities of flat ground."""
    nothing = ("m", numpy.full(columns["a_easting"][1].size, numpy.nan))
    place = numpy.stack([numpy.stack([columns.get(f"{electrode}_{axis}", nothing)[1]
                                      for axis in ("easting", "northing", "up")]) for electrode in "abmn"])
    near = numpy.isfinite(place[:, 0])
    place[:, 2] = numpy.where(near & ~numpy.isfinite(place[:, 2]), 0.0, place[:, 2])  # on the ground
    columns.update({f"{electrode}_up": ("m", place[n, 2]) for n, electrode in enumerate("abmn")})
    middle = numpy.nanmean(place, axis=0)
    along = numpy.sort(numpy.where(near, _along_their_line(numpy, place[:, :2], near), numpy.nan), axis=0)
    gaps = numpy.nanmax(numpy.diff(along, axis=0), axis=0)
    for axis, values in zip(("easting", "northing", "up"), (middle[0], middle[1], middle[2] - gaps / 2)):
        columns[axis] = ("m", values)
    add_apparent(numpy, columns)


def _along_their_line(numpy, place, near):
    """How far electrodes stand from the first that is near, with a sign: towards the farthest, or away from it.

    place [4, 2, array], near [4, array] → [4, array]
    """
    arrays = numpy.arange(place.shape[2])
    apart = place - place[near.argmax(axis=0), :, arrays].T
    apart = numpy.where(near[:, None], apart, 0.0)
    farthest = apart[(apart**2).sum(axis=1).argmax(axis=0), :, arrays].T
    return (apart * farthest).sum(axis=1) / numpy.maximum(numpy.sqrt((farthest**2).sum(axis=0)), 1e-300)


def add_apparent(numpy, columns) -> None:
    """Where there are resistances alone the apparent resistivities of flat ground; columns: {name: (unit, values)}."""
    if not {"a_easting", "m_easting"} <= set(columns) or not {"resistance", "resistance_observed"} & set(columns):
        return
    nothing = numpy.full(columns["a_easting"][1].size, numpy.nan)
    place = numpy.stack([numpy.stack([columns.get(f"{electrode}_{axis}", ("m", nothing))[1]
                                      for axis in ("easting", "northing", "up")]) for electrode in "abmn"])
    place[:, 2] = numpy.where(numpy.isfinite(place[:, 0]), numpy.nan_to_num(place[:, 2]), numpy.nan)
    for role in ("", "_observed"):
        if f"resistance{role}" in columns and f"apparent_resistivity{role}" not in columns:
            columns[f"apparent_resistivity{role}"] = ("ohm m", columns[f"resistance{role}"][1] * _factor(numpy, place))


def _factor(numpy, place):
    """Metres by which a resistance is an apparent resistivity: 2π / (1/AM − 1/BM − 1/AN + 1/BN).  place [4, 3, array]"""
    def inverse(one, other):
        return numpy.nan_to_num(1 / numpy.sqrt(((place[one] - place[other]) ** 2).sum(axis=0)), posinf=numpy.nan)

    with numpy.errstate(divide="ignore", invalid="ignore"):
        return 2 * numpy.pi / (inverse(0, 2) - inverse(1, 2) - inverse(0, 3) + inverse(1, 3))
