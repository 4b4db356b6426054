"""One picture of whatever there is, and its file."""

from __future__ import annotations

import os
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from .arrays import arrays_in_holes, draw_holes, draw_pseudosections, is_of_arrays, panels_of_arrays
from .curves import draw_histories, draw_offsets, draw_soundings
from .data import Data, PlotError, choose, need
from .maps import draw_maps
from .models import draw_model, draw_prisms
from .receivers import at_one, usual
from .snapshots import draw_waves
from .style import Look, STYLE, styled
from .times import draw_times, is_of_times
from .traces import draw_gathers


def axes_of(figure) -> Any:
    """The axes of a picture, or an array of them: without colour bars and what is not seen."""
    axes = [a for a in figure.axes if a.get_label() != "<colorbar>" and a.get_visible()]
    if len(axes) == 1:
        return axes[0]
    made = need("numpy").empty(len(axes), dtype=object)
    made[:] = axes
    return made


def draw(data: Data, channels=None, *, title: str = "", slice_at: str = "", wiggle: bool = False, region=None,
         limits=None, log=None, cmap=None):
    """Draw what a file or a result holds as its field is used to see it; returns a matplotlib figure.

    Maps of fields; pseudosections of arrays of electrodes, measured, computed and misfit; sections of models; apparent
    resistivity and phase of sites; amplitude and phase of electromagnetic fields over the offset; traces of shots;
    seismograms; curves over time; travel times over the line; snapshots.

    Parameters
    ----------
    data : what :func:`read` returns
    channels : names of fields; otherwise all, and of a model the answer
    title : line above the maps
    slice_at : where to cut a model or snapshots, such as ``"up=-4000"``, ``"northing=11000"``, ``"easting=0"`` (m); or where fields at
        receivers are mapped: ``"frequency=1"``, ``"period=10"``, ``"time=3600"`` (Hz, s)
    wiggle : traces of shots as lines, not grey
    region : west, east, south, north, m, and of models bottom, top; otherwise all, and of models what has small cells
    limits : values at both ends of the colours
    log : whether colours are logarithmic; otherwise those of resistivities and wide amplitudes are
    cmap : name of a colour map
    """
    need("matplotlib")
    import matplotlib.pyplot as pyplot

    look = Look(region, limits, log, cmap)
    if region is not None and len(region) not in (4, 6):
        raise PlotError("region: west, east, south, north, and of models bottom and top")
    if limits is not None and not (len(limits) == 2 and limits[0] < limits[1]):
        raise PlotError(f"limits {', '.join(f'{one:g}' for one in limits)}: two numbers, the first less than the second")
    if cmap is not None and cmap not in pyplot.colormaps():
        near = get_close_matches(str(cmap), pyplot.colormaps(), 3)
        raise PlotError(f"cmap: there is no \"{cmap}\"" + (f"; did you mean {', '.join(near)}?" if near else
                                                         "; viridis, magma, turbo, seismic and others are"))
    if wiggle and data.kind != "gathers":
        raise PlotError(f"{data.source}: --wiggle draws traces of shots, and it holds none")
    if slice_at and (one := at_one(data, slice_at, channels)) is not None:
        data, where = one
        channels, slice_at, title = usual(data, channels), "", ", ".join(filter(None, [title, where]))
    with styled():
        if data.kind == "mesh":
            return draw_model(pyplot, data, channels, title, slice_at, look)
        if data.kind == "prisms":
            return draw_prisms(pyplot, data, channels, title, slice_at, look)
        if data.cells is not None and (slice_at or any(f.name in (channels or ()) for f in data.cells.fields)):
            data.cells.source = data.source
            return draw_model(pyplot, data.cells, channels, title, slice_at, look)
        if data.kind == "seismograms" or (data.snapshots and (slice_at or _named(data, channels))):
            return draw_waves(pyplot, data, channels, title, slice_at, look)
        if slice_at:
            raise PlotError(f"{data.source}: only models and snapshots can be cut, and fields at receivers at one "
                            "frequency, period or time")
        if data.kind == "curves":
            return draw_soundings(pyplot, data, channels, title, look)
        if data.kind == "offsets":
            return draw_offsets(pyplot, data, channels, title, look)
        if data.kind == "histories":
            return draw_histories(pyplot, data, choose(data, channels), title, look)
        if data.kind == "gathers":
            return draw_gathers(pyplot, data, choose(data, channels), channels, title, "wiggle" if wiggle else "image", look)
        if is_of_times(data):
            return draw_times(pyplot, data, channels, title, look)
        fields = choose(data, channels)
        if not fields:
            raise PlotError(f"{data.source}: there is nothing to draw")
        if is_of_arrays(data):
            panels = fields if channels else panels_of_arrays(data, fields)
            holes = arrays_in_holes(data)
            return draw_holes(pyplot, panels[0], holes, title, look) if holes else \
                draw_pseudosections(pyplot, data, panels, title, look)
        return draw_maps(pyplot, data, fields, channels, title, look)


def _named(data: Data, channels) -> bool:
    """Whether a snapshot is among the channels that are asked for."""
    return any(f.name in (channels or ()) for f in data.snapshots.fields)


def save(figure, path, dpi: int | None = None) -> None:
    """Write a figure; the file appears whole or not at all."""
    path = Path(path)
    pending = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        figure.savefig(pending, dpi=dpi or STYLE["savefig.dpi"], bbox_inches="tight", pad_inches=0.06,
                       metadata={"Date": None} if path.suffix == ".svg" else None)
        os.replace(pending, path)
    except OSError as error:
        raise PlotError(f"{path}: cannot be written: {error.strerror}") from error
    finally:
        pending.unlink(missing_ok=True)


def picture_beside(path: Path) -> Path:
    """The picture of a file: its name with .png; of several results of one name each its own."""
    others = [p for p in path.parent.glob(f"{path.stem}.*") if p.suffix in (".nc", ".h5", ".hdf5", ".csv") and p != path]
    own = not others or path.suffix == ".nc"
    return path.with_suffix(".png") if own else path.with_name(f"{path.stem}_{path.suffix[1:]}.png")
