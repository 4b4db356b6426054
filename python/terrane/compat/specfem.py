"""Elastic seismograms as the text files that SPECFEM3D writes, for programs that read those::

    import terrane
    from terrane.compat import specfem

    specfem.write(terrane.run("job.toml"), "OUTPUT_FILES")   # OUTPUT_FILES/IU.ANMO.BXZ.semd, ...

Two columns: time in s and displacement in m (``.semd``), velocity in m/s (``.semv``) or pressure in Pa (``.semp``).
"""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, Union

import numpy

from .obspy import _band

__all__ = ["write"]

_LETTERS = {"east": "E", "north": "N", "up": "Z"}
_ENDINGS = {"displacement": "semd", "velocity": "semv", "pressure": "semp"}


def write(dataset: Any, folder: Union[str, "PathLike[str]"], *, variable: str = "", network: str = "XX") -> list[Path]:
    """A file for every trace, NETWORK.STATION.CHANNEL.ENDING, in a folder that is made when it is not there.

    Parameters
    ----------
    dataset : xarray.Dataset
        What an elastic simulation returns, or ``terrane.read`` of its file.
    folder : path
    variable : {"displacement", "velocity", "pressure"}, optional
        By default all that are there.
    network : str
        Of receivers whose name has none. Receivers of a STATIONS file are called NETWORK.STATION, others by number.

    Returns
    -------
    list of Path
        The files. Channels have three letters: the band by the sampling rate, X, and E, N or Z (up); P of pressure.

    Raises
    ------
    ValueError
        There are no seismograms in the data set.
    """
    there = [name for name in _ENDINGS if name in dataset and {"receiver", "time"} <= set(dataset[name].dims)]
    wanted = [variable] if variable else there
    if not wanted or not set(wanted) <= set(there):
        raise ValueError(f"there is no {variable or 'displacement, velocity or pressure'} on receiver and time; there is: "
                         f"{', '.join(map(str, dataset)) or 'nothing'}")
    time = numpy.asarray(dataset["time"], dtype=float)
    band = _band(float(time[-1] - time[0]) / (time.size - 1) if time.size > 1 else 1.0)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name in wanted:
        for receiver, label in enumerate(numpy.asarray(dataset["receiver"]).tolist()):
            one = dataset[name].isel(receiver=receiver)
            components = [(_LETTERS[str(c)], one.sel(component=c)) for c in one["component"].values] \
                if "component" in one.dims else [("P", one)]
            for letter, values in components:
                code = str(label) if "." in str(label) else f"{network}.{label}"
                files.append(folder / f"{code}.{band}X{letter}.{_ENDINGS[name]}")
                numpy.savetxt(files[-1], numpy.column_stack([time, values]), fmt="%.9g")
    return files
