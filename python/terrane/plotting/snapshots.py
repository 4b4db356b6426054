"""Waves as they pass: snapshots of the ground, of a cut through bricks, of a plane of a grid; films of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from .cuts import cut_asked_for, cut_bricks, middle_cut, plane
from .data import Data, PlotError, choose, need
from .maps import draw_maps
from .style import Look, plain_ticks, styled, title_of
from .traces import draw_seismograms


@dataclass
class _Seen:
    """Snapshots of the ground, or of a cut through bricks, as triangles in a plane; lengths in ``unit``."""

    x: object
    y: object
    triangles: object
    values: object  # [snapshot, point]
    labels: tuple
    name: str
    tall: float  # height over width

    def draw(self, axes, values, most):
        axes.set_aspect("equal")
        return axes.tripcolor(self.x, self.y, self.triangles, values, cmap="RdBu_r", vmin=-most, vmax=most,
                              shading="gouraud", rasterized=True)


@dataclass
class _SeenGrid:
    """A plane of a grid; lengths in ``unit``."""

    x: object
    y: object
    values: object  # [snapshot, y, x]
    labels: tuple
    name: str
    tall: float

    def draw(self, axes, values, most):
        ends = []
        for along in (self.x, self.y):  # halfway beyond the outermost nodes; those of one node are as wide as tall
            half = (along[-1] - along[0]) / (2 * (len(along) - 1)) if len(along) > 1 else 0.5
            ends += [along[0] - half, along[-1] + half]
        return axes.imshow(values, extent=ends, origin="lower", aspect="equal", cmap="RdBu_r", vmin=-most, vmax=most,
                           interpolation="bilinear", rasterized=True)


def _seen(data: Data, shown, slice_at: str):
    numpy = need("numpy")
    snapshots = data.snapshots
    points = snapshots.points
    if snapshots.cells is None:
        values, across, where = plane(points, shown.values, slice_at, "the snapshots")
        x, y = (points[a] for a in across)
        scale, unit = (1e3, "km") if max(numpy.ptp(x), numpy.ptp(y)) > 5000 else (1.0, "m")
        return _SeenGrid(x / scale, y / scale, values, tuple(f"{a} ({unit})" for a in across),
                         title_of(shown.name.removeprefix("snapshot_")) + where,
                         float(numpy.clip(numpy.ptp(y) / (numpy.ptp(x) or 1.0), 0.3, 1.6)))
    if snapshots.cells.shape[1] == 4:
        if slice_at:
            raise PlotError(f"{data.source}: the snapshots show the surface, which cannot be cut")
        across, where = ("easting", "northing"), ""
        x, y = points["easting"], points["northing"]
        triangles = snapshots.cells[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
        values = shown.values
    else:
        axis, position = cut_asked_for(slice_at) if slice_at else middle_cut(points)
        if not points[axis].min() <= position <= points[axis].max():
            raise PlotError(f"--slice {slice_at}: the snapshots reach from {points[axis].min():g} to "
                            f"{points[axis].max():g} m")
        across = tuple(a for a in ("easting", "northing", "up") if a != axis)
        ends, share, triangles = cut_bricks(snapshots.cells, points[axis], position)

        def on_cut(v):
            return v[..., ends[:, 0]] * (1 - share) + v[..., ends[:, 1]] * share

        x, y, values = on_cut(points[across[0]]), on_cut(points[across[1]]), on_cut(shown.values)
        where = f" at {axis} = {position:.4g} m".replace("-", "\N{MINUS SIGN}")
    scale, unit = (1e3, "km") if max(numpy.ptp(x), numpy.ptp(y)) > 5000 else (1.0, "m")
    return _Seen(x / scale, y / scale, triangles, values, tuple(f"{a} ({unit})" for a in across),
                 title_of(shown.name.removeprefix("snapshot_")) + where,
                 float(numpy.clip(numpy.ptp(y) / (numpy.ptp(x) or 1.0), 0.3, 1.6)))


def draw_waves(pyplot, data: Data, channels, title: str, slice_at: str, look: Look = Look()):
    """Seismograms as a record section; snapshots, or a map of the largest motion, where their channels are asked for."""
    snapshots = data.snapshots
    of_snapshots = {f.name: f for f in snapshots.fields} if snapshots else {}
    if not channels and slice_at and of_snapshots:
        channels = [next((n for n in of_snapshots if n.endswith("_up")), next(iter(of_snapshots)))]
    peaks = {f.name: f for f in data.peaks}
    if channels and all(name in peaks for name in channels) and not slice_at:
        places = Data("stations", data.easting, data.northing, source=data.source)
        return draw_maps(pyplot, places, [peaks[name] for name in channels], channels, title, look)
    there = [f.name for f in data.fields] + list(of_snapshots) + list(peaks)
    for name in channels or ():
        if name not in there:
            raise PlotError(f"{data.source}: there is no \"{name}\"; it has: {', '.join(there)}")
    asked = [name for name in channels or () if name in of_snapshots]
    if asked and len(channels) > 1:
        raise PlotError(f'--channels {",".join(channels)}: "{asked[0]}" is a snapshot, which has a figure of its own; '
                        "name it alone")
    if apart := [name for name in channels or () if name in peaks]:
        raise PlotError(f'--channels {",".join(channels)}: "{apart[0]}" is drawn as a map, and traces are not; '
                        "name maps alone")
    if asked:
        return draw_snapshots(pyplot, data, of_snapshots[asked[0]], title, slice_at, look)
    if slice_at and of_snapshots:
        raise PlotError(f"--slice {slice_at}: {', '.join(channels)} are traces, which cannot be cut; "
                        f"cut one of the snapshots: {', '.join(of_snapshots)}")
    if slice_at:
        raise PlotError(f"{data.source}: only models and snapshots can be cut, and it has no snapshots")
    return draw_seismograms(pyplot, data, choose(data, channels), channels, title, look)


def draw_snapshots(pyplot, data: Data, shown, title: str, slice_at: str, look: Look = Look()):
    """Four snapshots, evenly chosen, of the ground, or of a cut through bricks. One scale for all."""
    numpy = need("numpy")
    seen = _seen(data, shown, slice_at)
    count = min(len(seen.values), 4)
    chosen = ((numpy.arange(count) + 0.5) * len(seen.values) / count).astype(int)
    look.only("limits", "cmap", what="of snapshots")
    most = float(numpy.percentile(numpy.abs(seen.values[chosen]), 99.7)) or 1.0
    low, high = look.limits if look.limits is not None else (-most, most)
    columns = 2 if chosen.size > 1 else 1
    rows = -(-chosen.size // columns)
    figure, grid = pyplot.subplots(rows, columns, squeeze=False, sharex=True, sharey=True, layout="constrained",
                                   figsize=(columns * 3.0 + 1.0, rows * (2.6 * seen.tall + 0.35) + 0.6))
    for place, axes in enumerate(grid.flat):
        if place >= chosen.size:
            axes.set_visible(False)
            continue
        image = seen.draw(axes, seen.values[chosen[place]], most)
        image.set_clim(low, high)
        if look.cmap is not None:
            image.set_cmap(look.cmap)
        axes.set_title(f"{data.snapshots.time[chosen[place]]:.4g} s", pad=4)
        if place + columns >= chosen.size:
            axes.set_xlabel(seen.labels[0])
        if place % columns == 0:
            axes.set_ylabel(seen.labels[1])
    bar = figure.colorbar(image, ax=grid, shrink=0.7, extend="both")
    bar.set_label(plain_ticks(bar, shown.unit))
    figure.suptitle(f"{title} · {seen.name}" if title else seen.name, fontsize=10)
    return figure


def film(data: Data, path, channel: str = "", *, title: str = "", slice_at: str = "", frames_per_second: int = 12,
         dpi: int = 100) -> None:
    """Write all snapshots of elastic or acoustic waves as a GIF, or as an MP4 where ffmpeg is installed.

    Parameters
    ----------
    data : what :func:`read` returns of a result with snapshots
    path : .gif or .mp4; the file appears whole or not at all
    channel : as ``"snapshot_velocity_east"``; otherwise the upward one, or the first
    title, slice_at : as of :func:`draw`
    """
    need("matplotlib")
    numpy = need("numpy")
    import matplotlib.pyplot as pyplot

    there = {f.name: f for f in data.snapshots.fields} if data.snapshots else {}
    if not there:
        raise PlotError(f"{data.source}: a film is made of snapshots, and there are none")
    if channel and channel not in there:
        raise PlotError(f"--channels {channel}: a film shows one of {', '.join(there)}")
    shown = there[channel] if channel else next((f for n, f in there.items() if n.endswith("_up")), next(iter(there.values())))
    with styled():
        seen = _seen(data, shown, slice_at)
        most = float(numpy.percentile(numpy.abs(seen.values), 99.7)) or 1.0
        figure, axes = pyplot.subplots(layout="constrained", figsize=(5.6, 4.6 * seen.tall + 0.8))
        image = seen.draw(axes, seen.values[0], most)
        axes.set(xlabel=seen.labels[0], ylabel=seen.labels[1])
        bar = figure.colorbar(image, ax=axes, shrink=0.8, extend="both")
        bar.set_label(plain_ticks(bar, shown.unit))
        figure.suptitle(f"{title} · {seen.name}" if title else seen.name, fontsize=10)

        def frame(n):
            image.set_array(seen.values[n])
            axes.set_title(f"{data.snapshots.time[n]:.3f} s", pad=4)
            return (image,)

        _animate(figure, frame, len(seen.values), path, frames_per_second, dpi)


def movie(snapshots, path, velocity=None, *, slice_at: str = "", frames_per_second: int = 12, clip: float = 99.5,
          dpi: int = 80) -> None:
    """Write snapshots of waves as a GIF, or as an MP4 where ffmpeg is installed; the file appears whole or not at all.

    Parameters
    ----------
    snapshots : xarray.DataArray [time, up, northing, easting]
        As ``terrane.acoustic.Operators.snapshots`` makes them.
    path : .gif or .mp4
    velocity : array [up, northing, easting], optional
        Of the same nodes, drawn below the waves; or, where northing has one node, [up, easting].
    slice_at : str
        The plane that is drawn, as ``"up=-400"`` or ``"northing=0"`` (m): its nearest nodes. Without it the upright one
        across the middle of the shorter horizontal side.
    """
    need("matplotlib")
    numpy = need("numpy")
    import matplotlib.pyplot as pyplot

    points = {name: numpy.asarray(snapshots[name], dtype=float) for name in ("easting", "northing", "up")}
    times = numpy.asarray(snapshots["time"])
    fields, across, where = plane(points, numpy.asarray(snapshots), slice_at, "the snapshots")
    x, y = (points[name] for name in across)
    extent = (x[0], x[-1], y[0], y[-1])
    most = float(numpy.percentile(numpy.abs(fields), clip)) or 1.0
    with styled():
        figure, axes = pyplot.subplots(figsize=(5.6, 2.8), layout="constrained")
        if velocity is not None:
            rock = numpy.asarray(velocity, dtype=float)
            rock = rock[:, None] if rock.ndim == 2 else rock
            if rock.shape != snapshots.shape[1:]:
                raise PlotError(f"velocity: has shape {rock.shape}, the snapshots {snapshots.shape[1:]}")
            axes.imshow(plane(points, rock[None], slice_at, "the snapshots")[0][0], extent=extent, origin="lower", aspect="auto",
                        cmap="viridis")
        shown = axes.imshow(fields[0], extent=extent, origin="lower", aspect="auto", cmap="gray", vmin=-most,
                            vmax=most, alpha=None if velocity is None else 0.6)
        axes.set(xlabel=f"{across[0]} (m)", ylabel=f"{across[1]} (m)")

        def frame(n):
            shown.set_data(fields[n])
            axes.set_title(f"{times[n]:.3f} s{where}", pad=4)
            return (shown,)

        _animate(figure, frame, len(fields), path, frames_per_second, dpi)


def _animate(figure, frame, frames: int, path, frames_per_second: int, dpi: int) -> None:
    """Writes the film that frame(n) draws into the figure, and closes that."""
    import matplotlib.pyplot as pyplot
    from matplotlib import animation

    path = Path(path)
    writers = {".gif": animation.PillowWriter, ".mp4": animation.FFMpegWriter}
    pending = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    try:
        if path.suffix not in writers:
            raise PlotError(f"{path}: allowed: .gif, .mp4")
        if not writers[path.suffix].isAvailable():
            raise PlotError(f"{path}: needs {'pillow (pip install pillow)' if path.suffix == '.gif' else 'ffmpeg'}")
        animation.FuncAnimation(figure, frame, frames=frames, blit=False).save(
            pending, writer=writers[path.suffix](fps=frames_per_second), dpi=dpi)
        os.replace(pending, path)
    finally:
        pyplot.close(figure)
        pending.unlink(missing_ok=True)
