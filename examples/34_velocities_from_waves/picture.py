"""Draw the velocities that were found beside those that were recorded over: python picture.py output/velocities.nc [picture.png]

Prints how far they are apart, over the bodies and over all cells, before the inversion and after it.
"""

import sys

import netCDF4
import numpy as np


def truth(easting, up, bodies=True):
    """Velocity of shots.toml at places, m/s."""
    velocity = np.where(up < -300, 2200.0, 2000.0)
    if bodies:
        velocity = np.where(np.hypot(easting - 350, up + 220) <= 80, 2300, velocity)
        velocity = np.where(np.hypot(easting - 680, up + 400) <= 70, 1900, velocity)
    return velocity


def main(file, picture=None):
    with netCDF4.Dataset(file) as data:
        found = data["velocity_p"][:, 0].data
        easting, up = data["easting"][:].data, data["up"][:].data
    east, height = np.meshgrid(easting, up)
    true, first = truth(east, height), truth(east, height, bodies=False)
    inside = true != first
    for name, model in (("before", first), ("after", found)):
        apart = [np.sqrt(np.mean((model - true)[where] ** 2)) for where in (inside, np.ones_like(inside))]
        print(f"{name:7s} {apart[0]:6.1f} m/s over the bodies  {apart[1]:6.1f} m/s over all cells")
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(2, 1, figsize=(6.5, 7), sharex=True, layout="constrained")
        for ax, model, title in zip(axes, (true, found), ("Velocities that waves were recorded over", "found from the waves")):
            image = ax.pcolormesh(easting, up, model, vmin=1850, vmax=2350, cmap="viridis", shading="nearest")
            ax.set(ylabel="up (m)", title=title, aspect="equal")
            ax.plot(np.linspace(60, 940, 8), [-20] * 8, "r*", clip_on=False)
            ax.plot(np.arange(50, 951, 25), [-590] * 37, "wv", ms=3, clip_on=False)
        axes[1].set(xlabel="easting (m)")
        figure.colorbar(image, ax=axes, label="m/s")
        figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:3])
