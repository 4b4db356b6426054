"""Compare a gather with the wave on paper: python compare.py output/gather.nc [picture.png]

A Ricker wavelet s(t) of 1 Pa m sends s(t - r/v) / (4 pi r) into water. The surface reflects it with the opposite sign,
as if there were a second source above it. Prints, of every second receiver, the largest pressure and how far the whole
trace is from these two waves, over its size.
"""

import sys

import netCDF4
import numpy as np

VELOCITY, FREQUENCY, SOURCE = 1500.0, 12.0, (100.0, 200.0, -200.0)


def ricker(time):
    a = (np.pi * FREQUENCY * (time - 1.5 / FREQUENCY)) ** 2
    return (1 - 2 * a) * np.exp(-a)


def on_paper(time, place):
    """Pressure at a place, Pa."""
    east, north, up = (a - b for a, b in zip(place, SOURCE))
    direct, ghost = np.sqrt(east**2 + north**2 + up**2), np.sqrt(east**2 + north**2 + (place[2] + SOURCE[2]) ** 2)
    return (ricker(time - direct / VELOCITY) / direct - ricker(time - ghost / VELOCITY) / ghost) / (4 * np.pi)


def main(file, picture=None):
    with netCDF4.Dataset(file) as data:
        time, pressure = data["time"][:].data, data["pressure"][0].data.T
        places = np.array([data[f"receiver_{axis}"][:].data for axis in ("easting", "northing", "up")]).T
    exact = np.array([on_paper(time, place) for place in places])
    for n in range(0, len(places), 2):
        apart = np.linalg.norm(pressure[n] - exact[n]) / np.linalg.norm(exact[n])
        print(f"{places[n, 0]:6.0f} m  {1e6 * abs(pressure[n]).max():7.1f} uPa  {100 * apart:.2f} %")
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6.5, 5), layout="constrained")
        for n, place in enumerate(places):
            size = 22 / abs(exact[n]).max()
            axes.plot(place[0] + size * exact[n], time, "tab:orange", lw=2.5, label=None if n else "on paper")
            axes.plot(place[0] + size * pressure[n], time, "k", lw=0.8, label=None if n else "computed")
        axes.set(xlabel="easting (m)", ylabel="time (s)", ylim=(time[-1], 0), title="A point source below the surface of water")
        axes.legend(loc="lower left")
        figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:3])
