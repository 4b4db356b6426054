"""Where models and snapshots are cut, and what a plane cuts from them."""

from __future__ import annotations

import re

from .data import PlotError, need


def cut_asked_for(slice_at: str):
    """Axis and position in metres of ``--slice``."""
    match = re.fullmatch(r"\s*(easting|northing|up)\s*=\s*([-+.\deE]+)\s*(km|m)?\s*", slice_at)
    if not match:
        raise PlotError(f"--slice {slice_at}: write for example up=-4000 or northing=11km")
    return match[1], float(match[2]) * (1e3 if match[3] == "km" else 1)


def middle_cut(points):
    """The cut that shows most: across a side of one node, else upright, across the shorter horizontal side."""
    numpy = need("numpy")
    axis = min(("easting", "northing"), key=lambda a: float(numpy.ptp(points[a])))
    if numpy.ptp(points["up"]) == 0 < numpy.ptp(points[axis]):
        axis = "up"
    return axis, float(points[axis].min() + points[axis].max()) / 2


def plane(points, values, slice_at: str, what: str):
    """The nodes nearest to a cut [snapshot, y, x] of values [snapshot, up, northing, easting]; axes, what they are."""
    numpy = need("numpy")
    order = ("up", "northing", "easting")
    axis, position = cut_asked_for(slice_at) if slice_at else middle_cut(points)
    along = points[axis]
    half = float(along[1] - along[0]) / 2 if len(along) > 1 else numpy.inf
    if not along[0] - half <= position <= along[-1] + half:
        raise PlotError(f"--slice {slice_at}: {what} reach from {along[0]:g} to {along[-1]:g} m")
    nearest = int(numpy.argmin(numpy.abs(along - position)))
    across = tuple(a for a in ("easting", "northing", "up") if a != axis)
    flat = len(along) == 1 and not slice_at
    where = "" if flat else f" at {axis} = {along[nearest]:.4g} m".replace("-", "\N{MINUS SIGN}")
    return values.take(nearest, axis=1 + order.index(axis)), across, where


#: A brick with corners in VTK's order as six tetrahedra around its diagonal.
_TETRAHEDRA = ((0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6))


def cut_bricks(cells, along, position):
    """Triangles in which the plane ``along == position`` cuts bricks.

    Returns what their corners are: edges between two points [corner, 2], how far along each [corner], and the
    triangles [triangle, 3] of these corners. Bricks that only touch the plane count on its lower side.
    """
    numpy = need("numpy")
    above = along > position
    if not above.any():  # the top of everything
        above = along >= position
    crossed = above[cells].any(axis=1) & ~above[cells].all(axis=1)
    tetrahedra = cells[crossed][:, _TETRAHEDRA].reshape(-1, 4)
    # Those above first: one, two or three of the four; the cut is a triangle, or two.
    order = numpy.argsort(~above[tetrahedra], axis=1, kind="stable")
    tetrahedra = numpy.take_along_axis(tetrahedra, order, axis=1)
    count = above[tetrahedra].sum(axis=1)
    corners = []
    for number, edges in ((1, ((0, 1), (0, 2), (0, 3))), (3, ((0, 3), (1, 3), (2, 3))),
                          (2, ((0, 2), (0, 3), (1, 3))), (2, ((0, 2), (1, 3), (1, 2)))):
        corners.append(tetrahedra[count == number][:, edges].reshape(-1, 2))
    ends, triangles = numpy.unique(numpy.concatenate(corners), axis=0, return_inverse=True)
    share = (position - along[ends[:, 0]]) / (along[ends[:, 1]] - along[ends[:, 0]])
    return ends, share, triangles.reshape(-1, 3)
