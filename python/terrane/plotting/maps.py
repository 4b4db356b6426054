"""Maps of fields at stations and on grids, and profiles."""

from __future__ import annotations

from .data import Data, base_of, need
from .style import Look, MAP_WIDTH, colour_bar, columns_of, lengths, scale_of, title_of, unit_of


def draw_maps(pyplot, data: Data, fields, title: str, look: Look = Look()):
    numpy = need("numpy")
    by_name = {f.name: f.values for f in fields}

    def together(name):
        """What was observed and what was computed have one scale."""
        pair = [numpy.ravel(by_name[n]) for n in (base_of(name), base_of(name) + "_observed") if n in by_name]
        return numpy.concatenate(pair) if len(pair) == 2 and not name.endswith(("_residual", "_uncertainty")) else None

    east, north = numpy.asarray(data.easting), numpy.asarray(data.northing)
    width, height = numpy.ptp(east), numpy.ptp(north)
    scale, x_label, y_label = lengths(data, width, height)
    if data.kind == "grid" and (east.size < 2 or north.size < 2):
        return _draw_profile(pyplot, data, fields, title, scale, x_label, y_label)
    columns = columns_of(len(fields))
    rows = -(-len(fields) // columns)
    tall = min(max(height / width if width > 0 else 1.0, 0.4), 2.0)
    figure, grid = pyplot.subplots(
        rows, columns, squeeze=False, sharex=True, sharey=True, layout="constrained",
        figsize=(columns * (MAP_WIDTH + 0.75) + 0.3, rows * (MAP_WIDTH * tall + 0.45) + 0.35 + 0.25 * bool(title)))
    figure.get_layout_engine().set(w_pad=0.06, h_pad=0.05)
    for place, axes in enumerate(grid.flat):
        if place >= len(fields):
            axes.set_visible(False)
            continue
        field_ = fields[place]
        scale_ = scale_of(field_.values, field_.name, look, data.kind == "stations", together(field_.name))
        if data.kind == "grid":
            image = axes.pcolormesh(east / scale, north / scale, field_.values, cmap=scale_.cmap,
                                    norm=scale_.norm, shading="nearest", rasterized=True)
        else:
            # Strong values on top, so that they are not hidden where stations crowd.
            order = numpy.argsort(numpy.abs(numpy.nan_to_num(field_.values)))
            size = float(numpy.clip(9000 / max(east.size, 1), 0.6, 30))
            image = axes.scatter(east[order] / scale, north[order] / scale, c=field_.values[order], s=size,
                                 cmap=scale_.cmap, norm=scale_.norm, linewidths=0, rasterized=east.size > 2000)
            axes.margins(0.03)
            axes.set_facecolor("0.88")  # so that stations with values near zero are seen
        axes.set_aspect("equal" if not data.geographic else 1 / numpy.cos(numpy.radians(north.mean())),
                        adjustable="box")
        axes.set_title(title_of(field_.name), pad=4)
        if place + columns >= len(fields):
            axes.set_xlabel(x_label)
            axes.tick_params(labelbottom=True)
        if place % columns == 0:
            axes.set_ylabel(y_label)
        if look.region is not None:
            axes.set_xlim(look.region[0] / scale, look.region[1] / scale)
            axes.set_ylim(look.region[2] / scale, look.region[3] / scale)
        colour_bar(figure, axes, image, field_.unit, scale_.extend)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure


def _draw_profile(pyplot, data: Data, fields, title, scale, x_label, y_label):
    """A grid of one row or one column is a profile: curves say more than a strip of colour."""
    numpy = need("numpy")
    along_east = numpy.size(data.easting) >= numpy.size(data.northing)
    along = numpy.asarray(data.easting if along_east else data.northing) / scale
    figure, grid = pyplot.subplots(len(fields), 1, squeeze=False, sharex=True, layout="constrained",
                                   figsize=(5.0, 1.3 * len(fields) + 0.6))
    for axes, field_ in zip(grid.flat, fields):
        axes.plot(along, numpy.ravel(field_.values), color="#1f4e79", linewidth=1.2,
                  marker="o" if along.size < 2 else None)
        axes.set_title(title_of(field_.name), pad=3)
        axes.set_ylabel(unit_of(field_.unit))
        axes.grid(linewidth=0.3)
    grid.flat[-1].set_xlabel(x_label if along_east else y_label)
    if title:
        figure.suptitle(title, fontsize=10)
    return figure
