"""Fields at receivers at one frequency, period or time, as fields at stations, so that they are drawn as maps."""

from __future__ import annotations

import re
from dataclasses import replace

from .curves import complete
from .data import Data, Field, PlotError, base_of, need
from .maps import line_of

_AT = re.compile(r"\s*(frequency|period|time)\s*=\s*([-+.\deE]+)\s*(?:Hz|s)?\s*")


def at_one(data: Data, slice_at: str, channels=None):
    """(fields at stations, "frequency 1 Hz") of the value nearest to the one asked for; None where a cut in space is.

    Complex fields become an amplitude and a phase; their errors are left out where they are not asked for. Of several
    sources the first is taken. Electromagnetic fields along a line stay curves over the offset, of one frequency.
    """
    numpy = need("numpy")
    match = _AT.fullmatch(slice_at)
    if not match:
        return None
    try:
        along, wanted = match[1], float(match[2])
    except ValueError:
        raise PlotError(f"{data.source}: --slice {slice_at}: write a number in Hz or s, as period=10") from None
    if data.kind not in (("histories",) if along == "time" else ("curves", "offsets")):
        raise PlotError(f"{data.source}: --slice {slice_at}: there are no fields at receivers over {along}")
    axis = numpy.asarray(data.time if along == "time" else data.frequency, dtype=float)
    if along == "period":
        axis = 1 / axis
    at = int(numpy.argmin(numpy.abs(axis - wanted) if along == "time" else numpy.abs(numpy.log(axis / wanted))))
    if along != "time" and wanted <= 0:
        raise PlotError(f"--slice {slice_at}: a {along} is above zero")
    where = f"{along} {axis[at]:.4g} {'Hz' if along == 'frequency' else 's'}"
    of_parts = any(name.endswith(("_amplitude", "_phase")) for name in channels or ())
    if data.kind == "offsets" and not of_parts and len(data.easting) > 1 and line_of(data) is not None:
        fields = [Field(one.name, one.unit, one.values[:, at:at + 1]) for one in data.fields]
        return replace(data, frequency=numpy.asarray(data.frequency)[at:at + 1], fields=fields), where
    fields = []
    for one in (complete(data) if data.kind == "curves" else data).fields:
        if base_of(one.name) != one.name and one.name.endswith("_error") and one.name not in (channels or ()):
            continue
        values = one.values[0, at] if data.kind == "offsets" else one.values[at]
        if numpy.iscomplexobj(values):
            fields += [Field(f"{one.name}_amplitude", one.unit, numpy.abs(values)),
                       Field(f"{one.name}_phase", "degree", numpy.degrees(numpy.angle(values)))]
        else:
            fields.append(Field(one.name, one.unit, values))
    sources = data.fields[0].values.shape[0] if data.kind == "offsets" else 1
    return (Data("stations", data.easting, data.northing, fields=fields, geographic=data.geographic, source=data.source),
            where + (f", source 1 of {sources}" if sources > 1 else ""))


def usual(data: Data, channels):
    """Of soundings apparent resistivities and phases where nothing else is asked for; of all else everything."""
    there = {f.name for f in data.fields}
    shown = [n for n in ("rho_ne", "rho_en", "phase_ne", "phase_en") if n in there]
    return channels or (shown if shown and shown[0].startswith("rho") else None)
