"""Models and other values of cells: a map and a section through what stands out; prisms from above and from the side."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .cuts import cut_asked_for
from .data import Data, PlotError, choose, need
from .style import LOGARITHMIC, Look, colour_bar, scale_of, title_of

#: What a file of a model has beside the answer, in the order in which it is drawn last.
_NOT_THE_ANSWER = ("active", "gradient", "illumination", "reference", "sensitivity", "weight", "standard_deviation",
                   "resolution", "posterior", "uncertainty", "cell_volume")
_ANSWERS = ("resistivity", "density", "susceptibility", "chargeability", "velocity_p", "velocity", "image_filtered",
            "image_inverse_scattering", "image_even", "image", "temperature_at_end", "conductivity")
#: Resistivity of what counts as air, ohm m.
_AIR = 1e7
#: Of a cut across an axis: the axes of the picture, and the place of the axis in values [up, northing, easting].
_ACROSS = {"up": ("easting", "northing", 0), "northing": ("easting", "up", 1), "easting": ("northing", "up", 2)}
_ORDER = ("up", "northing", "easting")


def answer_of(fields):
    """The field that a file of a model is about: a property, an image, and not which cells were active."""
    there = {f.name: f for f in fields}
    for name in _ANSWERS:
        if name in there:
            return there[name]
    return next((f for f in fields if not any(word in f.name for word in _NOT_THE_ANSWER)), fields[0])


@dataclass
class _Cells:
    """Values [up, northing, easting] between faces, and from where to where they are shown, m."""

    values: object
    faces: dict
    shown: dict

    def inside(self, axis: str):
        """Which cells along an axis are shown."""
        faces, (low, high) = self.faces[axis], self.shown[axis]
        return (faces[1:] > low) & (faces[:-1] < high)

    def in_sight(self):
        return self.values[need("numpy").ix_(*[self.inside(axis) for axis in _ORDER])]

    def ratio(self, axis: str) -> float:
        """Height over width of a cut across the axis."""
        (left, right), (low, high) = (self.shown[a] for a in _ACROSS[axis][:2])
        return min(max((high - low) / ((right - left) or 1.0), 0.15), 1.5)


def _core_of(faces):
    """The faces between which cells are small: those no wider than three times the narrowest, without the padding."""
    numpy = need("numpy")
    widths = numpy.diff(faces)
    small = numpy.flatnonzero(widths <= 3 * widths.min())
    return float(faces[small[0]]), float(faces[small[-1] + 1])


def _shown_of(faces, look: Look):
    """From where to where each axis is drawn: the region, or where cells are small."""
    if look.region is not None:
        shown = {"easting": tuple(look.region[:2]), "northing": tuple(look.region[2:4])}
        shown["up"] = tuple(look.region[4:]) if len(look.region) == 6 else (float(faces["up"][0]), float(faces["up"][-1]))
        if any(low >= high for low, high in shown.values()):
            raise PlotError("region: west, east, south, north, and bottom, top; each first is less than its second")
        return shown
    shown = {axis: _core_of(f) for axis, f in faces.items()}
    # Downward cells grow all the way: at least as deep as a third of what is shown is wide.
    wide = max(shown["easting"][1] - shown["easting"][0], shown["northing"][1] - shown["northing"][0])
    bottom, top = float(faces["up"][0]), float(faces["up"][-1])
    if shown["up"][0] > bottom:
        shown["up"] = (max(bottom, min(shown["up"][0], top - wide / 3)), top)
    return shown


def _cells_of(data: Data, property_, look: Look) -> _Cells:
    """The cells that took part; those that did not (``active``) have no value."""
    numpy = need("numpy")
    values = numpy.array(property_.values, dtype=float)
    active = next((f.values for f in data.fields if f.name == "active"), None)
    if active is not None and property_.name != "active":
        values[numpy.asarray(active) == 0] = numpy.nan
    if property_.name.startswith("resistivity"):
        values[values >= _AIR] = numpy.nan
    elif property_.name.startswith("conductivity"):
        values[values <= 1 / _AIR] = numpy.nan
    faces = {axis: numpy.asarray(getattr(data, axis), dtype=float) for axis in ("easting", "northing", "up")}
    shown = _shown_of(faces, look)
    there = numpy.flatnonzero(numpy.isfinite(values).any(axis=(1, 2)))
    if look.region is None and there.size:  # no air without end
        top = float(faces["up"][there[-1] + 1])
        shown["up"] = (shown["up"][0], min(shown["up"][1], top + 0.03 * (top - shown["up"][0])))
    return _Cells(values, faces, shown)


def _along_stations(through):
    """The cut along stations that stand in one line from west to east, or from south to north; or None."""
    if through is None:
        return None
    numpy = need("numpy")
    east, north = (numpy.asarray(one, dtype=float) for one in through)
    wide, long = (float(numpy.ptp(one)) if one.size else 0.0 for one in (east, north))
    if max(wide, long) == 0 or min(wide, long) > 0.1 * max(wide, long):
        return None
    return ("northing", float(numpy.median(north))) if wide > long else ("easting", float(numpy.median(east)))


def _cuts_of(cells: _Cells, name: str, slice_at: str, look: Look, through=None):
    """Axis and position of each cut: what is asked for; else a map, and a section along the stations or the longer side,
    through what stands out."""
    faces = cells.faces
    if slice_at:
        axis, position = cut_asked_for(slice_at)
        if not faces[axis][0] <= position <= faces[axis][-1]:
            raise PlotError(f"--slice {slice_at}: the mesh reaches from {faces[axis][0]:g} to {faces[axis][-1]:g} m")
        return [(axis, position)]
    by_log = look.log or (look.log is None and name.startswith(LOGARITHMIC))
    wide, long = (high - low for low, high in (cells.shown["easting"], cells.shown["northing"]))
    upright = "easting" if long > 1.5 * wide else "northing"
    axes = [axis for axis in ("up", upright) if all(faces[other].size > 2 for other in _ORDER if other != axis)]
    if not axes:  # cells in one row, or one plane
        axes = ["northing" if faces["northing"].size == 2 else "easting"]
    along = _along_stations(through)
    if along and axes[-1] == upright and \
            faces[along[0]][0] <= along[1] <= faces[along[0]][-1]:
        return [(axis, _where_most_stands_out(cells, axis, by_log)) for axis in axes[:-1]] + [along]
    return [(axis, _where_most_stands_out(cells, axis, by_log)) for axis in axes]


#: From the sensitivity of what data see best down to that of what is drawn palest, in powers of ten.
_DECADES = 3.0


def _alpha_of(data: Data, cells: _Cells):
    """How much of each cell's colour is seen [up, northing, easting]: all, or less where data do not resolve it, or hardly
    change with it (``sensitivity``), such as beyond the rays of travel times."""
    numpy = need("numpy")
    there = {f.name: f.values for f in data.fields if f.name in ("resolution", "sensitivity")}
    if not there or not numpy.isfinite(cells.values).any():
        return None
    seen = numpy.nan_to_num(numpy.asarray(there.get("resolution", there.get("sensitivity")), dtype=float))
    most = float(numpy.percentile(seen[numpy.isfinite(cells.values) & (seen > 0)], 95)) if (seen > 0).any() else 0.0
    if most <= 0:
        return None
    share = numpy.clip(seen / most, 0, 1)
    if "resolution" in there:
        share = numpy.sqrt(share)
    else:  # it falls by powers of ten from electrodes and shots downwards: only what is far below is pale
        share = numpy.clip(1.5 * (1 + numpy.log10(numpy.maximum(share, 1e-30)) / _DECADES), 0, 1)
    return 0.2 + 0.8 * share


def _grid_of_cuts(pyplot, ratios, title: str):
    width = 4.2
    figure, grid = pyplot.subplots(
        len(ratios), 1, squeeze=False, layout="constrained", height_ratios=ratios,
        figsize=(width + 1.2, width * sum(ratios) + 0.62 * len(ratios) + 0.25 * bool(title)))
    figure.get_layout_engine().set(w_pad=0.12)  # words at bars beside the axes
    if title:
        figure.suptitle(title, fontsize=10)
    return figure, list(grid.flat)


def _size_of(figure, ratio: float):
    """Width and height of a cut, inches."""
    width = figure.get_figwidth() - 1.2
    return width, width * ratio


def _length_of(shown):
    """What to divide coordinates by, and the unit."""
    wide = max(shown[axis][1] - shown[axis][0] for axis in ("easting", "northing"))
    return (1e3, "km") if wide > 5000 else (1.0, "m")


def _finish(axes, name: str, axis: str, shown, scale: float, unit: str, where: str) -> None:
    """Limits, aspect and words of a cut."""
    x, y, _ = _ACROSS[axis]
    axes.set_facecolor("0.9")
    axes.set_xlim(shown[x][0] / scale, shown[x][1] / scale)
    axes.set_ylim(shown[y][0] / scale, shown[y][1] / scale)
    flat = (shown[y][1] - shown[y][0]) <= 0.1 * (shown[x][1] - shown[x][0])
    axes.set_aspect("auto" if flat else "equal")
    axes.set_xlabel(f"{x} ({unit})")
    axes.set_ylabel(f"{y} ({unit})")
    axes.set_title(f"{title_of(name)}{where}".replace("-", "\N{MINUS SIGN}"), pad=4)


def _scale_of_cells(cells: _Cells, name: str, look: Look):
    """Of what is in sight; images are grey, and loudest where shots were."""
    numpy = need("numpy")
    in_sight = cells.in_sight()
    if name.startswith("image") and numpy.isfinite(in_sight).any():
        most = float(numpy.nanpercentile(numpy.abs(in_sight), 98)) or 1.0
        look = replace(look, limits=look.limits or (-most, most), cmap=look.cmap or "gray")
    return scale_of(cells.values, name, look, shared=in_sight if numpy.isfinite(in_sight).any() else None)


def draw_model(pyplot, data: Data, channels, title: str, slice_at: str, look: Look = Look()):
    """One property of a model: a map and a section through what stands out, or the cut that was asked for.

    Without a region what has small cells is drawn; cells that took no part (``active``) are left blank, those that the
    data hardly resolve (``resolution``) or are hardly sensitive to (``sensitivity``) are pale.
    """
    numpy = need("numpy")
    fields = choose(data, channels)
    if not fields:
        raise PlotError(f"{data.source}: there is nothing to draw")
    property_ = fields[0] if channels else answer_of(fields)
    cells = _cells_of(data, property_, look)
    cuts = _cuts_of(cells, property_.name, slice_at, look, data.through)
    alpha = _alpha_of(data, cells) if property_.name == answer_of(fields).name else None
    figure, grid = _grid_of_cuts(pyplot, [cells.ratio(axis) for axis, _ in cuts], title)
    scale_ = _scale_of_cells(cells, property_.name, look)
    scale, unit = _length_of(cells.shown)
    for axes, (axis, position) in zip(grid, cuts):
        x, y, along = _ACROSS[axis]
        if abs(position) < 1e-9 * numpy.ptp(cells.faces[axis]):  # the middle of faces that are not quite opposite
            position = 0.0
        cell = int(numpy.clip(numpy.searchsorted(cells.faces[axis], position, side="right") - 1, 0,
                              cells.values.shape[along] - 1))
        image = axes.pcolormesh(cells.faces[x] / scale, cells.faces[y] / scale,
                                numpy.ma.masked_invalid(cells.values.take(cell, axis=along)), cmap=scale_.cmap,
                                norm=scale_.norm, rasterized=True,
                                alpha=None if alpha is None else alpha.take(cell, axis=along))
        only = cells.values.shape[along] == 1
        _finish(axes, property_.name, axis, cells.shown, scale, unit,
                "" if only else f" at {axis} = {position / scale:.4g} {unit}")
        colour_bar(figure, axes, image, property_.unit, scale_.extend, _size_of(figure, cells.ratio(axis)))
    return figure


def _where_most_stands_out(cells: _Cells, axis: str, by_log: bool) -> float:
    """The middle of the layer of cells that differs most from the typical value, within what is shown.

    By the logarithm of resistivities, so that conductors count as resistors do.
    """
    numpy = need("numpy")
    values, faces = cells.values, cells.faces
    if by_log:
        values = numpy.log(numpy.where(values > 0, values, numpy.nan))
    finite = values[numpy.isfinite(values)]
    typical = float(numpy.median(finite)) if finite.size else 0.0
    odd = numpy.nan_to_num(values - typical)
    odd = (odd / (numpy.abs(odd).max() or 1.0)) ** 4  # the strong part of a body, not where it is widest
    for place, name in enumerate(_ORDER):
        odd = odd * cells.inside(name).reshape([-1 if n == place else 1 for n in range(3)])
        if name != axis:
            odd = odd * numpy.diff(faces[name]).reshape([-1 if n == place else 1 for n in range(3)])
    profile = odd.sum(axis=tuple(n for n in range(3) if _ORDER[n] != axis))
    cell = int(numpy.argmax(profile)) if profile.max() > 0 else len(profile) // 2
    return float(faces[axis][cell] + faces[axis][cell + 1]) / 2


#: Prisms of a picture; of more the strongest.
_MOST_PRISMS = 20000


def draw_prisms(pyplot, data: Data, channels, title: str, slice_at: str, look: Look = Look()):
    """Prisms as they are seen from above, and from the south; strong values in front."""
    numpy = need("numpy")
    from matplotlib.collections import PolyCollection

    if slice_at:
        raise PlotError(f"{data.source}: prisms are seen from above and from the side, and not cut")
    fields = choose(data, channels)
    shown_field = fields[0] if channels else answer_of(fields)
    values, boxes = numpy.asarray(shown_field.values, dtype=float), data.prisms
    ends = {"easting": boxes[:, 0:2], "northing": boxes[:, 2:4], "up": boxes[:, 4:6]}
    shown = {axis: (float(e.min()), float(e.max())) for axis, e in ends.items()}
    if look.region is not None:
        shown = _shown_of({axis: numpy.array(low_high) for axis, low_high in shown.items()}, look)
    order = numpy.argsort(numpy.abs(numpy.nan_to_num(values - numpy.nanmedian(values))), kind="stable")[-_MOST_PRISMS:]
    few = _Cells(values, {}, shown)
    figure, grid = _grid_of_cuts(pyplot, [few.ratio(axis) for axis in ("up", "northing")], title)
    scale_ = scale_of(values, shown_field.name, look)
    scale, unit = _length_of(shown)
    for axes, axis, where in zip(grid, ("up", "northing"), (" from above", " from the south")):
        (left, right), (low, high) = (ends[a][order].T / scale for a in _ACROSS[axis][:2])
        corners = numpy.stack([numpy.stack(c, axis=1) for c in ((left, low), (right, low), (right, high), (left, high))],
                              axis=1)
        image = axes.add_collection(PolyCollection(corners, array=values[order], cmap=scale_.cmap, norm=scale_.norm,
                                                   linewidths=0.2, edgecolors="face", rasterized=order.size > 2000))
        _finish(axes, shown_field.name, axis, shown, scale, unit, where)
        colour_bar(figure, axes, image, shown_field.unit, scale_.extend, _size_of(figure, few.ratio(axis)))
    return figure
