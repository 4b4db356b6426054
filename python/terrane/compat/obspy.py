"""Elastic seismograms as an ObsPy stream, and so as miniSEED, SAC, GSE2 and what else ObsPy writes.

Needs ObsPy. ``pip install obspy``::

    import terrane
    from terrane.compat.obspy import stream

    waves = stream(terrane.run("job.toml"), start="2010-02-27T06:34:14")
    waves.write("waves.mseed", format="MSEED")
    waves.select(component="Z").filter("lowpass", freq=1.0).plot()
"""

from __future__ import annotations

from typing import Any

import numpy

__all__ = ["stream"]

#: What ends a SEED channel's name, by component: ObsPy rotates, filters and draws by these letters.
_LETTERS = {"east": "E", "north": "N", "up": "Z"}
#: The middle letter: L is what a seismometer measures, D pressure; displacement and velocity share L.
_QUANTITIES = {"displacement": "L", "velocity": "L", "pressure": "D"}


def _band(step: float) -> str:
    """First letter of a synthetic channel by its sampling rate (SEED manual, appendix A, broadband)."""
    rate = (1 + 1e-6) / step  # steps are rounded: 1 / 0.004 s, and means of times, may lie below 250 Hz
    return next((letter for least, letter in ((1000, "F"), (250, "C"), (80, "H"), (10, "B"), (1.0001, "M"),
                                              (0.5, "L"), (0.1, "V")) if rate >= least), "U")


def stream(dataset: Any, *, start: Any = 0, variable: str = "", network: str = "XX") -> Any:
    """All receivers' traces, as :class:`obspy.Stream`.

    Parameters
    ----------
    dataset : xarray.Dataset
        What an elastic simulation returns, or ``terrane.read`` of its file.
    start : UTCDateTime or what it takes
        When the time 0 of the simulation was: the sources' origin time.
    variable : {"displacement", "velocity", "pressure"}, optional
        By default the one that is there.
    network : str
        Of receivers whose name has none. Receivers of a STATIONS file are called NETWORK.STATION, others by number.

    Returns
    -------
    obspy.Stream
        Traces in SI units: channels end in E, N, Z (up); pressure has one, ending in H.

    Raises
    ------
    ImportError
        ObsPy is not installed.
    ValueError
        There are no seismograms in the data set, or a name does not fit into miniSEED: two characters of a network,
        five of a station.
    """
    try:
        from obspy import Stream, Trace, UTCDateTime
    except ImportError as error:
        raise ImportError("ObsPy is not installed: pip install obspy") from error
    there = [name for name in _QUANTITIES if name in dataset and {"receiver", "time"} <= set(dataset[name].dims)]
    if not there or (variable and variable not in there):
        wanted = f'no "{variable}"' if variable else "no displacement, velocity or pressure"
        raise ValueError(f"there is {wanted} on receiver and time; there is: {', '.join(map(str, dataset)) or 'nothing'}")
    name = variable or there[0]
    time = numpy.asarray(dataset["time"], dtype=float)
    step = float(time[-1] - time[0]) / (time.size - 1) if time.size > 1 else 1.0
    begin = UTCDateTime(start) + float(time[0])
    traces = []
    for receiver, label in enumerate(numpy.asarray(dataset["receiver"]).tolist()):
        code, _, station = str(label).rpartition(".")
        for kind, part, most in (("network", code or network, 2), ("station", station, 5)):
            if len(part) > most:
                raise ValueError(f'receiver "{label}": {kind} "{part}" has {len(part)} characters; miniSEED holds '
                                 f"{most} of a {kind}. Rename it: dataset.assign_coords(receiver=[...])")
        one = dataset[name].isel(receiver=receiver)
        components = [(_LETTERS[str(c)], one.sel(component=c)) for c in one["component"].values] \
            if "component" in one.dims else [("H", one)]
        for letter, values in components:
            traces.append(Trace(numpy.ascontiguousarray(values), {
                "network": code or network, "station": station, "channel": _band(step) + _QUANTITIES[name] + letter,
                "starttime": begin, "delta": step}))
    return Stream(traces)
