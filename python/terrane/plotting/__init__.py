"""Pictures of results, models, meshes, surveys, arrays of electrodes and files, each as its field is used to see it.

:func:`terrane.plot` and the method ``plot`` of all objects return the axes of one figure; nothing else of matplotlib is
changed. As a script, which is what ``terrane plot`` runs, it needs no other part of the package::

    python -m terrane.plotting fields.nc --channels g_u,g_uu --out maps.png
    python -m terrane.plotting model.h5 --slice up=-4000
    python -m terrane.plotting seismograms.nc --channels snapshot_velocity_up

From Python::

    terrane.plot("fields.nc", "g_u")
    terrane.plot(mesh, "resistivity", region=[0, 400, -50, 50], limits=[1, 1000])
    figure = terrane.plotting.gather(terrane.read("line.segy"), shot=2, kind="wiggle")
"""

from __future__ import annotations

from .command import main
from .cuts import cut_bricks
from .data import Data, Field, PlotError, Snapshots
from .figure import axes_of, draw, picture_beside, save
from .files import read
from .images import angle_gather, image
from .objects import data_of
from .snapshots import film, movie
from .style import Look, styled
from .traces import gather

__all__ = ["Data", "Field", "Look", "PlotError", "Snapshots", "angle_gather", "axes_of", "cut_bricks", "data_of",
           "draw", "film", "gather", "image", "main", "movie", "picture_beside", "read", "save", "styled"]


def __dir__() -> list[str]:
    return sorted(__all__)
