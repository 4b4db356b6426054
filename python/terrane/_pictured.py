"""One way to draw whatever there is: ``terrane.plot``, and the method ``plot`` of results, models, surveys and arrays."""

from __future__ import annotations

from os import PathLike
from typing import Any, Optional, Sequence, Union

from .errors import InputError

__all__ = ["Pictured", "Plots", "plot"]


def plot(thing: Any, channels: Union[str, Sequence[str], None] = None, *, title: str = "",
         path: Union[str, PathLike[str], None] = None, slice: str = "", region: Optional[Sequence[float]] = None,
         limits: Optional[Sequence[float]] = None, log: Optional[bool] = None, cmap: Optional[str] = None,
         wiggle: bool = False) -> Any:
    """Draw a result, a model, a mesh, a survey, arrays of electrodes, a data set or a file, as its field is used to see it.

    Maps of fields; pseudosections, measured, computed and misfit on one scale; sections of models through what stands
    out; apparent resistivity and phase over the period; amplitude and phase over the offset; traces; seismograms; curves
    over time. Yellow is high; what has both signs is red and blue. Nothing of matplotlib's settings is changed.

    Parameters
    ----------
    thing : Result, TensorMesh, PrismSet, PrismLayer, Survey, electric.Arrays, xarray.Dataset, xarray.DataArray, or a path
    channels : name or names, optional
        What to draw; otherwise all, and of a model the answer.
    title : str
        Line above it.
    path : path, optional
        Picture to write: .png, .svg or .pdf.
    slice : str
        Where to cut cells or snapshots: ``"up=-400"``, ``"northing=11km"``; or at which frequency, period or time to map
        fields at receivers: ``"period=10"``.
    region : west, east, south, north, optional
        m; of cells also bottom and top. Otherwise all, and of cells where they are small.
    limits : two numbers, optional
        Values at both ends of the colours, or of the axis of amplitudes.
    log : bool, optional
        Whether colours are logarithmic; otherwise those of resistivities and wide amplitudes are.
    cmap : str, optional
        Colour map of matplotlib.
    wiggle : bool
        Traces of shots as lines.

    Returns
    -------
    matplotlib.axes.Axes, or an array of them
        Of the picture; ``.figure`` of one is the figure.

    Examples
    --------
    >>> import terrane
    >>> mesh = terrane.TensorMesh.regular([0, 400, 0, 400, -200, 0], shape=(8, 8, 4), density=0.0)
    >>> mesh.density[1:3, 3:5, 3:5] = 400
    >>> above, section = terrane.plot(mesh)  # doctest: +SKIP
    """
    from . import plotting

    names = [channels] if isinstance(channels, str) else channels
    try:
        figure = plotting.draw(plotting.data_of(thing), names, title=title, slice_at=slice, region=region, limits=limits,
                               log=log, cmap=cmap, wiggle=wiggle)
        if path is not None:
            plotting.save(figure, path, None)
    except plotting.PlotError as error:
        raise InputError("channels" if names else "plot", str(error)) from error
    return plotting.axes_of(figure)


class Pictured:
    """What has a picture."""

    def _for_pictures(self) -> Any:
        """What plotting draws."""
        raise NotImplementedError

    def plot(self, channels: Union[str, Sequence[str], None] = None, *, title: str = "",
             path: Union[str, PathLike[str], None] = None, slice: str = "", region: Optional[Sequence[float]] = None,
             limits: Optional[Sequence[float]] = None, log: Optional[bool] = None, cmap: Optional[str] = None,
             wiggle: bool = False) -> Any:
        """A picture, as its field is used to see it; arguments and what is returned (axes) as of :func:`terrane.plot`."""
        return plot(self, channels, title=title, path=path, slice=slice, region=region, limits=limits, log=log, cmap=cmap,
                    wiggle=wiggle)


class Plots:
    """The method ``plot`` of a result, which has xarray's own plots beside it: ``result.plot.scatter(x=..., y=...)``."""

    def __init__(self, result: Any) -> None:
        self._result = result

    def __call__(self, channels: Union[str, Sequence[str], None] = None, *, title: str = "",
                 path: Union[str, PathLike[str], None] = None, slice: str = "", region: Optional[Sequence[float]] = None,
                 limits: Optional[Sequence[float]] = None, log: Optional[bool] = None, cmap: Optional[str] = None,
                 wiggle: bool = False) -> Any:
        """A picture, as its field is used to see it; arguments and what is returned (axes) as of :func:`terrane.plot`."""
        return plot(self._result, channels, title=title, path=path, slice=slice, region=region, limits=limits, log=log,
                    cmap=cmap, wiggle=wiggle)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._result.dataset.plot, name)
