"""Draw the seismograms of all stations: python record_section.py output/chunk.nc [picture.png]

Prints the largest displacement at each station, and where the ground is left in the end, both in mm.
"""

import sys

import netCDF4


def main(file, picture=None):
    with netCDF4.Dataset(file) as data:
        names, times = list(data["receiver"][:]), data["time"][:].data
        millimetres = 1e3 * data["displacement"][:].data
    for name, (east, north, up) in zip(names, millimetres):
        largest = max((east**2 + north**2 + up**2) ** 0.5)
        print(f"{name:6} {largest:6.2f}  {east[-1]:6.2f} {north[-1]:6.2f} {up[-1]:6.2f}")
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 3, figsize=(9, 4.5), layout="constrained", sharey=True)
        scale = 0.6 / abs(millimetres).max()
        for axis, component, title in zip(axes, range(3), ("east", "north", "up")):
            for n in range(len(names)):
                axis.axhline(n, color="0.8", lw=0.5)
                axis.plot(times, n + scale * millimetres[n, component], "C0", lw=1)
            axis.set(xlabel="time (s)", title=title, xlim=(0, times[-1]))
        axes[0].set_yticks(range(len(names)), names)
        axes[0].annotate(f"one row: {1 / scale:.1f} mm", (0.04, 0.96), xycoords="axes fraction", va="top")
        figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:3])
