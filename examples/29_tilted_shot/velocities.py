"""Velocities between receivers in line with the source: along the axis of the rock, and twice across it.

    python velocities.py output/gather.nc [picture.png]
"""

import sys

import netCDF4
import numpy as np

with netCDF4.Dataset(sys.argv[1]) as file:
    time, pressure = np.array(file["time"][:]), np.array(file["pressure"][0])
    at = np.column_stack([file[f"receiver_{axis}"][:] for axis in ("easting", "northing", "up")])


def peak(trace):
    """Time of the largest value, by a parabola through it and its neighbours."""
    n = int(np.argmax(trace))
    before, here, after = trace[n - 1:n + 2]
    return time[n] + (time[1] - time[0]) * (before - after) / (2 * (before - 2 * here + after))


lines = [("along the axis", 0), ("across it, down to the east", 2), ("across it, to the north", 4)]
for name, near in lines:
    metres = np.linalg.norm(at[near + 1] - at[near])
    seconds = peak(pressure[:, near + 1]) - peak(pressure[:, near])
    print(f"{name}: {metres:.0f} m in {1e3 * seconds:.1f} ms, {metres / seconds:.0f} m/s")

if len(sys.argv) > 2:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as pyplot

    figure, axes = pyplot.subplots(figsize=(5.6, 2.6), layout="constrained")
    for name, near in lines:
        axes.plot(1e3 * time, 1e6 * pressure[:, near + 1], label=name, linewidth=1)
    axes.set(xlabel="time (ms)", ylabel="pressure (µPa)", title="200 m from the source")
    axes.legend(frameon=False, fontsize=8)
    figure.savefig(sys.argv[2], dpi=100)
