"""What notebooks show: a table, a small picture from above, and more to unfold. No picture takes part in the import."""

from __future__ import annotations

import base64
import struct
import zlib
from html import escape
from typing import Any, Optional, Sequence

import numpy as np

from ._arrays import Floats

WIDTH = 168  #: of a picture, pixels
_MOST = 500  #: marks in a picture
#: From low to high: dark blue, blue, green, light green, yellow; equal steps of lightness, so that grey prints hold.
_COLOURS = np.array([[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]], float)

Rows = Sequence[tuple[str, str]]


def table(rows: Rows) -> str:
    body = "".join(f"<tr><th style='text-align:left;padding:1px 12px 1px 0'>{escape(name)}</th>"
                   f"<td style='text-align:left;white-space:pre-wrap'>{escape(text)}</td></tr>" for name, text in rows)
    return f"<table style='border:none;margin:0'><tbody>{body}</tbody></table>"


def card(title: str, rows: Rows, picture: str = "", more: Sequence[tuple[str, str]] = ()) -> str:
    """The HTML of one object.  picture: HTML; more: (what it is, HTML) to unfold."""
    unfold = "".join(f"<details style='margin-top:4px'><summary style='cursor:pointer'>{escape(name)}</summary>{body}"
                     "</details>" for name, body in more)
    side = f"<div style='flex:none'>{picture}</div>" if picture else ""
    head = f"<div style='border-bottom:1px solid;margin-bottom:4px'><b>{escape(title)}</b></div>"
    return (f"<div style='font-size:90%'>{head}"
            f"<div style='display:flex;gap:24px;flex-wrap:wrap'><div>{table(rows)}{unfold}</div>{side}</div></div>")


def colours(values: Floats) -> Any:
    """RGBA bytes [..., 4] of numbers, from the least to the greatest; values that are not finite are transparent."""
    finite = np.isfinite(values)
    low, high = (values[finite].min(), values[finite].max()) if finite.any() else (0.0, 1.0)
    place = np.zeros(values.shape)
    if high > low:
        place[finite] = (values[finite] / 2 - low / 2) / (high / 2 - low / 2)  # halves: no overflow
    made = np.zeros((*values.shape, 4), np.uint8)
    for channel in range(3):
        made[..., channel] = np.interp(place, np.linspace(0, 1, len(_COLOURS)), _COLOURS[:, channel]).round()
    made[..., 3] = 255 * finite
    return made


def png(pixels: Any) -> bytes:
    """RGBA [rows, columns, 4] as a PNG file, the first row on top."""
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    height, width = pixels.shape[:2]
    rows = b"".join(b"\0" + row.tobytes() for row in np.ascontiguousarray(pixels))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def _height(east: float, north: float) -> int:
    return int(np.clip(round(WIDTH * north / east) if east > 0 and np.isfinite(north / east) else WIDTH, 24, 2 * WIDTH))


def map_of(values: Floats, easting: Floats, northing: Floats, what: str) -> str:
    """A map of cells between faces.  values [north, east], easting [n_east + 1], northing [n_north + 1], m."""
    width, height = WIDTH, _height(easting[-1] - easting[0], northing[-1] - northing[0])
    column, row = (np.clip(np.searchsorted(faces, faces[0] + (np.arange(size) + 0.5) / size * (faces[-1] - faces[0]),
                                           side="right") - 1, 0, faces.size - 2)
                   for faces, size in ((easting, width), (northing, height)))
    seen = values[np.ix_(row[::-1], column)]
    image = base64.b64encode(png(colours(seen))).decode()
    return (f"<img alt='{escape(what)}' title='{escape(what)}' width='{width}' height='{height}' "
            f"src='data:image/png;base64,{image}'><div style='font-size:80%'>{escape(what)}</div>")


def marks_of(easting: Floats, northing: Floats, what: str, values: Optional[Floats] = None) -> str:
    """Points in the colour of their value.  easting, northing, values [n]; only some of them are drawn where there are many."""
    step = -(-easting.size // _MOST)
    east, north = easting[::step], northing[::step]
    west, south = east.min(), north.min()
    across, along = float(east.max() - west), float(north.max() - south)
    least = 1e-9 * (max(across, along) or 1.0)
    paint = None if values is None else colours(np.asarray(values[::step], float))
    height = _height(across, along)
    scale = min(WIDTH / max(across, least), height / max(along, least))
    marks = []
    for n in range(east.size):
        fill = "currentColor" if paint is None else "rgb({},{},{})".format(*paint[n, :3])
        if paint is None or paint[n, 3]:
            x, y = 4 + (east[n] - west) * scale, 4 + height - (north[n] - south) * scale
            marks.append(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='2' fill='{fill}'/>")
    title = f"<title>{escape(what)}</title>"
    return (f"<svg role='img' width='{WIDTH + 8}' height='{height + 8}'>{title}{''.join(marks)}</svg>"
            f"<div style='font-size:80%'>{escape(what)}</div>")


def around(nodes: Floats) -> Floats:
    """Faces half-way between nodes."""
    if nodes.size == 1:
        return np.array([nodes[0] - 0.5, nodes[0] + 0.5])
    middle = (nodes[1:] + nodes[:-1]) / 2
    return np.concatenate([[2 * nodes[0] - middle[0]], middle, [2 * nodes[-1] - middle[-1]]])
