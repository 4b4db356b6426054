"""Beside the solution on paper: python compare.py output/loh1.nc [picture.png]

Prints, for each receiver, the difference between the computed and the exact velocities over the latter, in all
components together (L2).
"""

import sys

import netCDF4
import numpy as np

import reference


def main(file, picture=None):
    with netCDF4.Dataset(file) as data:
        times, velocity = data["time"][:].data, data["velocity"][:].data
        at = np.stack([data["receiver_easting"][:].data, data["receiver_northing"][:].data], axis=1)
    exact = reference.seismograms(at, moment=1e18, tau=0.25, times=times, highest=3.5)
    for place, computed, paper in zip(at, velocity, exact):
        error = np.linalg.norm(computed - paper) / np.linalg.norm(paper)
        print(f"{np.hypot(*place) / 1e3:4.0f} km  {abs(paper).max():.3f} m/s  differs by {100 * error:.1f} %")
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        along, across = np.array([0.6, 0.8]), np.array([-0.8, 0.6])
        parts = {"radial": lambda v: along @ v[:2], "transverse": lambda v: across @ v[:2], "up": lambda v: v[2]}
        figure, axes = plt.subplots(1, 3, figsize=(9, 5), layout="constrained", sharey=True)
        for axis, (name, part) in zip(axes, parts.items()):
            for place, computed, paper in zip(at, velocity, exact):
                x, scale = np.hypot(*place) / 1e3, 0.7 / abs(paper).max()
                axis.plot(x + scale * part(paper), times, "0.6", lw=2.5, label="exact" if x < 1.5 else None)
                axis.plot(x + scale * part(computed), times, "C3", lw=0.7, label="computed" if x < 1.5 else None)
            axis.set(xlabel="distance (km)", title=name, ylim=(times[-1], 0))
        axes[0].set(ylabel="time (s)")
        axes[0].legend(loc="lower left")
        figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:3])
