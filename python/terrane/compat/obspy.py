"""Elastic seismograms as an ObsPy stream, and so as miniSEED, SAC, SEG-Y and what else ObsPy writes; and as ASDF.

Needs ObsPy, and pyasdf for ASDF. ``pip install obspy pyasdf``::

    import terrane
    from terrane.compat.obspy import asdf, stream

    waves = stream(terrane.run("job.toml"), start="2010-02-27T06:34:14", single=True)
    waves.write("waves.mseed", format="MSEED")
    waves.select(component="Z").filter("lowpass", freq=1.0).plot()
    waves.write("waves.segy", format="SEGY", data_encoding=5)
    asdf(terrane.run("job.toml"), "waves.h5", start="2010-02-27T06:34:14")
    inventory("STATIONS", waves).write("stations.xml", format="STATIONXML")
    obspy.read_events("CMTSOLUTION").write("event.xml", format="QUAKEML")  # ObsPy's own

What a job reads, from StationXML and QuakeML (``survey.file``, ``source.file``)::

    stations(obspy.read_inventory("stations.xml"), "STATIONS")
    obspy.read_events("event.xml").write("CMTSOLUTION", format="CMTSOLUTION")  # of one event with a moment tensor
"""

from __future__ import annotations

from os import PathLike, fspath
from typing import Any, Union

import numpy

__all__ = ["asdf", "inventory", "stations", "stream"]

#: What ends a SEED channel's name, by component: ObsPy rotates, filters and draws by these letters.
_LETTERS = {"east": "E", "north": "N", "up": "Z"}
#: The middle letter of FDSN's source identifiers: X is what is generated, as synthetic displacements and velocities are;
#: D is pressure.
_QUANTITIES = {"displacement": "X", "velocity": "X", "pressure": "D"}


def _band(step: float) -> str:
    """First letter of a synthetic channel by its sampling rate (FDSN source identifiers, broadband)."""
    rate = (1 + 1e-6) / step  # steps are rounded: 1 / 0.004 s, and means of times, may lie below 250 Hz
    return next((letter for least, letter in ((1000, "F"), (250, "C"), (80, "H"), (10, "B"), (1.0001, "M"),
                                              (0.5, "L"), (0.1, "V")) if rate >= least), "U")


def stream(dataset: Any, *, start: Any = 0, variable: str = "", network: str = "XX", single: bool = False) -> Any:
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
    single : bool
        Numbers of single precision, which SEG-Y and SU need.

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
            traces.append(Trace(numpy.ascontiguousarray(values, dtype="float32" if single else None), {
                "network": code or network, "station": station, "channel": _band(step) + _QUANTITIES[name] + letter,
                "starttime": begin, "delta": step}))
    return Stream(traces)


#: Azimuth and dip of components, degrees, as StationXML has them.
_DIRECTIONS = {"E": (90.0, 0.0), "N": (0.0, 0.0), "Z": (0.0, -90.0), "H": (0.0, 0.0)}


def _places(stations: Any) -> "dict[str, Any]":
    """{"NETWORK.STATION": (latitude, longitude, elevation, burial)}"""
    found: dict[str, Any] = {}
    if hasattr(stations, "data_vars"):
        raise ValueError("stations: a result has its receivers at metres east and north, and StationXML wants degrees\n"
                         "Give the file STATIONS, or {\"XX.1\": (latitude, longitude, elevation), ...}; the result's "
                         "traces are the second argument: inventory(\"STATIONS\", stream(result)).")
    if not isinstance(stations, (str, PathLike)):
        for name, place in stations.items():
            found[str(name)] = tuple(float(v) for v in [*place, 0, 0][:4])
        return found
    with open(stations, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            words = line.split()
            if not words or words[0].startswith(("#", "!")):
                continue
            if len(words) < 4:
                raise ValueError(f"{fspath(stations)}:{number}: a line has station, network, latitude, longitude, "
                                 "elevation and burial")
            found[f"{words[1]}.{words[0]}"] = tuple(float(v) for v in [*words[2:6], "0", "0"][:4])
    return found


def inventory(stations: Any, traces: Any = ()) -> Any:
    """Where stations are, as :class:`obspy.Inventory`, and so as StationXML.

    Parameters
    ----------
    stations : path or mapping
        A file STATIONS of SPECFEM3D whose places are degrees, or
        ``{"NETWORK.STATION": (latitude, longitude, elevation)}``.
    traces : obspy.Stream, optional
        Of :func:`stream`: their channels go with their stations.

    Returns
    -------
    obspy.Inventory
        Networks with their stations.

    Raises
    ------
    ImportError
        ObsPy is not installed.
    ValueError
        A trace has a station that is not among these, a line of the file is short, or a place is not in degrees; or a
        result is given, whose receivers stand at metres.
    """
    try:
        from obspy.core.inventory import Channel, Inventory, Network, Station
    except ImportError as error:
        raise ImportError("ObsPy is not installed: pip install obspy") from error
    places = _places(stations)
    channels: dict[str, dict[str, Any]] = {name: {} for name in places}
    for trace in traces:
        name = f"{trace.stats.network}.{trace.stats.station}"
        if name not in places:
            raise ValueError(f"there is no station {name}; there are: {', '.join(sorted(places))}")
        latitude, longitude, elevation, burial = places[name]
        azimuth, dip = _DIRECTIONS[trace.stats.channel[-1]]
        channels[name][trace.stats.channel] = Channel(
            code=trace.stats.channel, location_code="", latitude=latitude, longitude=longitude, elevation=elevation,
            depth=burial, azimuth=azimuth, dip=dip, sample_rate=trace.stats.sampling_rate)
    networks: dict[str, list[Any]] = {}
    for name, (latitude, longitude, elevation, _) in places.items():
        if not (abs(latitude) <= 90 and abs(longitude) <= 360):
            raise ValueError(f"{name}: latitude {latitude:g}, longitude {longitude:g} are not degrees, which StationXML "
                             "wants")
        code, _, station = name.rpartition(".")
        networks.setdefault(code or "XX", []).append(Station(
            code=station, latitude=latitude, longitude=longitude, elevation=elevation,
            channels=list(channels[name].values())))
    return Inventory(networks=[Network(code=code, stations=all_of) for code, all_of in networks.items()],
                     source="Terrane")


def stations(inventory: Any, path: Union[str, "PathLike[str]"]) -> None:
    """Write the stations of an inventory as a file STATIONS of SPECFEM3D, which ``survey.file`` of elastic jobs takes.

    Parameters
    ----------
    inventory : obspy.Inventory
        Such as ``obspy.read_inventory("stations.xml")``; epochs of one station at one place are one.
    path : path
        Of the file.

    Raises
    ------
    ValueError
        There are no stations, or one has two places.

    Notes
    -----
    The burial is the depth of the first channel, 0 where a station has none.
    """
    lines: dict[str, str] = {}
    for network in inventory:
        for station in network:
            burial = next((float(channel.depth) for channel in station.channels if channel.depth is not None), 0.0)
            line = " ".join([station.code, network.code, *(repr(float(v)) for v in (
                station.latitude, station.longitude, station.elevation, burial))])
            name = f"{network.code}.{station.code}"
            if lines.setdefault(name, line) != line:
                raise ValueError(f"{name} has two places: select one epoch with inventory.select(time=...)")
    if not lines:
        raise ValueError("the inventory has no stations: read it with level \"station\" or \"channel\"")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines.values()) + "\n")


def asdf(dataset: Any, path: Union[str, "PathLike[str]"], *, start: Any = 0, variable: str = "", network: str = "XX",
         tag: str = "synthetic") -> None:
    """All receivers' traces in a new file of the Adaptable Seismic Data Format (ASDF), which pyasdf writes.

    Parameters
    ----------
    dataset, start, variable, network
        As in :func:`stream`.
    path : path
        Of the file, which must not be there yet.
    tag : str
        What ASDF calls this kind of waveform.

    Raises
    ------
    ImportError
        ObsPy or pyasdf is not installed.
    FileExistsError
        There is such a file: pyasdf would add to it.
    ValueError
        As in :func:`stream`.

    Notes
    -----
    Stations have no StationXML: receivers stand at metres east and north, and StationXML wants degrees. Where these are
    known, :func:`inventory` makes it: ``pyasdf.ASDFDataSet(path).add_stationxml(inventory("STATIONS"))``. An event goes
    into the same file by ``pyasdf.ASDFDataSet(path).add_quakeml("CMTSOLUTION")``.
    """
    traces = stream(dataset, start=start, variable=variable, network=network)
    try:
        import pyasdf
    except ImportError as error:
        raise ImportError("pyasdf is not installed: pip install pyasdf") from error
    with open(path, "xb"):  # refuses a file that is there
        pass
    with pyasdf.ASDFDataSet(fspath(path), mode="w", mpi=False) as file:
        file.add_waveforms(traces, tag=tag)


def __dir__() -> list[str]:
    return sorted(__all__)
