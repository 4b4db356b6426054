"""Migrated images: grey over the velocities, and by angle."""

from __future__ import annotations

from .data import PlotError, need
from .style import styled


def image(picture, velocity=None, *, clip: float = 99.0, top: float = 0.0, title: str = ""):
    """A migrated image, grey, over the velocities it was migrated with; returns a matplotlib figure.

    Parameters
    ----------
    picture : xarray.DataArray [up, northing, easting]
        The first slice along northing is drawn.
    velocity : array of the same shape, optional
        m/s, in colours below the image.
    clip : float
        Percentile of the amplitudes that is black or white.
    top : float
        Metres below the highest cell that the percentile leaves out: where shots were, images are loudest.
    """
    need("matplotlib")
    numpy = need("numpy")
    import matplotlib.pyplot as pyplot

    if set(getattr(picture, "dims", ())) != {"up", "northing", "easting"}:
        raise PlotError("an image on up, northing and easting is drawn, such as result[\"image_filtered\"]")
    values = numpy.asarray(picture.isel(northing=0).transpose("up", "easting"))
    up, easting = numpy.asarray(picture["up"]), numpy.asarray(picture["easting"])
    if up[0] < up[-1]:
        values, up = values[::-1], up[::-1]
    extent = (easting[0], easting[-1], up[-1], up[0])
    most = float(numpy.percentile(numpy.abs(values[up < up[0] - top]), clip)) or 1.0
    with styled():
        figure, axes = pyplot.subplots(figsize=(6.6, 2.9), layout="constrained")
        if velocity is not None:
            rock = numpy.asarray(velocity, dtype=float).reshape(picture.shape)
            rock = rock[:, 0, :] if float(picture["up"][0]) > float(picture["up"][-1]) else rock[::-1, 0, :]
            shown = axes.imshow(rock, extent=extent, aspect="auto", cmap="viridis")
            figure.colorbar(shown, ax=axes, pad=0.02, label="velocity (m/s)")
        axes.imshow(values, extent=extent, aspect="auto", cmap="gray", vmin=-most, vmax=most,
                    alpha=None if velocity is None else 0.6)
        axes.set(xlabel="easting (m)", ylabel="up (m)", title=title)
    return figure


def angle_gather(gathers, easting: float, *, clip: float = 99.5, title: str = ""):
    """The image below one place by angle: flat where the velocity is right; returns a matplotlib figure.

    Parameters
    ----------
    gathers : xarray.DataArray [angle, up, northing, easting]
        Of ``terrane.acoustic.angle_gathers``; the first slice along northing is drawn.
    easting : float
        m; the nearest column is drawn.
    clip : float
        Percentile of the amplitudes that is black or white.
    """
    need("matplotlib")
    numpy = need("numpy")
    import matplotlib.pyplot as pyplot

    column = gathers.isel(northing=0).sel(easting=easting, method="nearest").transpose("up", "angle")
    angles, up = numpy.asarray(column["angle"]), numpy.asarray(column["up"])
    most = float(numpy.percentile(numpy.abs(column.values), clip)) or 1.0
    with styled():
        figure, axes = pyplot.subplots(figsize=(3.2, 3.8), layout="constrained")
        axes.pcolormesh(angles, up, column.values, cmap="gray", vmin=-most, vmax=most, shading="nearest",
                        rasterized=True)
        axes.set(xlabel="angle (°)", ylabel="up (m)")
        axes.set_title(title or f"easting {float(column['easting']):g} m", pad=4)
    return figure
