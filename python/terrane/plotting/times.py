"""Travel times: curves over the line, or over the depth of the receivers, of each shot."""

from __future__ import annotations

from .data import Data, PlotError, need
from .style import Look, plain_axis

#: More shots than this make lines that nobody tells apart: then every n-th is drawn.
MOST_SHOTS = 24


def is_of_times(data: Data) -> bool:
    """Rows of shots and receivers with a time."""
    names = {f.name for f in data.fields}
    return data.kind == "stations" and {"shot_easting", "shot_up", "up"} <= names and \
        bool({"travel_time", "travel_time_observed"} & names)


def draw_times(pyplot, data: Data, channels, title: str, look: Look):
    """Computed times as lines, with their errors as bands, observed ones as points with bars; ms, a colour for each shot."""
    look.only("limits", what="of travel times")
    numpy = need("numpy")
    held = {f.name: numpy.asarray(f.values, dtype=float) for f in data.fields}
    for name in channels or ():
        if not name.startswith("travel_time"):
            raise PlotError(f"{data.source}: {name} is no travel time; travel_time and travel_time_observed are")
    shown = [n for n in ("travel_time", "travel_time_observed") if n in held and (not channels or n in channels)]
    shots = numpy.column_stack([held["shot_easting"], held.get("shot_northing", 0 * held["shot_easting"]), held["shot_up"]])
    places = numpy.column_stack([data.easting, data.northing, held["up"]])
    along, label = _axis_of(numpy, places, shots)
    _, first, number = numpy.unique(shots, axis=0, return_index=True, return_inverse=True)
    number = number.reshape(-1)
    of_shots = numpy.unique(number)
    step = -(-of_shots.size // MOST_SHOTS)
    figure, axes = pyplot.subplots(figsize=(5.4, 3.4), layout="constrained")
    colours = pyplot.get_cmap("viridis")(numpy.linspace(0, 0.92, max(of_shots.size, 2)))
    for shot in sorted(of_shots, key=lambda n: along(shots[first[n]]))[::step]:
        rows = numpy.flatnonzero(number == shot)
        rows = rows[numpy.argsort(along(places[rows]), kind="stable")]
        x, colour = along(places[rows]), colours[shot]
        if "travel_time" in shown:
            ms = 1e3 * held["travel_time"][rows]
            axes.plot(x, ms, color=colour, linewidth=0.9)
            if "travel_time_error" in held:
                spread = 1e3 * held["travel_time_error"][rows]
                axes.fill_between(x, ms - spread, ms + spread, color=colour, alpha=0.25, linewidth=0)
        if "travel_time_observed" in shown:
            spread = held.get("travel_time_uncertainty")
            axes.errorbar(x, 1e3 * held["travel_time_observed"][rows], fmt="o", color=colour, markersize=2,
                          yerr=None if spread is None else 1e3 * spread[rows], elinewidth=0.6)
    axes.set_xlabel(label)
    axes.set_ylabel("travel time (ms)")
    if look.limits is not None:
        axes.set_ylim(look.limits)
    else:
        axes.set_ylim(bottom=0)
    if title:
        axes.set_title(title)
    elif step > 1:
        axes.set_title(f"every {step}th of {of_shots.size} shots")
    plain_axis(axes)
    return figure


def _axis_of(numpy, places, shots):
    """Where receivers lie on the axis of the picture: metres along the line, or up where they lie in a hole."""
    spread = numpy.ptp(places, axis=0)
    if spread[2] > numpy.hypot(spread[0], spread[1]):
        return (lambda at: numpy.asarray(at)[..., 2]), "height of the receiver (m)"
    if spread[1] <= 1e-3 * spread[0]:
        return (lambda at: numpy.asarray(at)[..., 0]), "easting of the receiver (m)"
    if spread[0] <= 1e-3 * spread[1]:
        return (lambda at: numpy.asarray(at)[..., 1]), "northing of the receiver (m)"
    flat = numpy.concatenate([places, shots])[:, :2]
    middle = flat.mean(axis=0)
    way = numpy.linalg.svd(flat - middle, full_matrices=False)[2][0]
    way = way if way[numpy.abs(way).argmax()] > 0 else -way
    start = ((flat - middle) @ way).min()
    return (lambda at: (numpy.asarray(at)[..., :2] - middle) @ way - start), "distance along the line (m)"
