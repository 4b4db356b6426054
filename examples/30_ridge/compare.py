"""Shaking along the line, with the ridge and without: python compare.py output/hill.nc output/flat.nc [picture.png]

Prints the largest velocity at every fourth station over the ridge and on flat ground, and their ratio.
"""

import sys

import netCDF4


def read(file, *names):
    with netCDF4.Dataset(file) as data:
        return [data[name][:].data for name in names]


def main(hill, flat, picture=None):
    easting, up, shaken = read(hill, "receiver_easting", "receiver_up", "peak_velocity")
    (still,) = read(flat, "peak_velocity")
    for n in range(0, len(easting), 4):
        print(f"{easting[n]:5.0f} m  at {up[n]:4.0f} m  {shaken[n]:.4f} m/s  flat {still[n]:.4f} m/s  "
              f"ratio {shaken[n] / still[n]:.2f}")
    if picture:
        draw(hill, flat, picture)


def draw(hill, flat, picture):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplot_mosaic("aabb;cdef", figsize=(9, 7.6), height_ratios=[3, 1], layout="constrained")
    easting, up, time, velocity = read(hill, "receiver_easting", "receiver_up", "time", "velocity")
    time_flat, velocity_flat = read(flat, "time", "velocity")
    most = abs(velocity_flat).max()
    for axis, t, values, title in ((axes["a"], time, velocity, "with the ridge"),
                                   (axes["b"], time_flat, velocity_flat, "flat ground")):
        for x, trace in zip(easting, values[:, 2]):
            line = x + 250 * trace / most
            axis.plot(line, t, "k", lw=0.5)
            axis.fill_betweenx(t, x, line, where=line > x, color="k", lw=0)
        axis.set(xlabel="easting (m)", ylabel="time (s)", ylim=(2.5, 0.1), title=f"upward velocity, {title}")
    axes["a"].plot(easting, 0.5 - up / 1000, "C3", lw=1, label="the ground, 1 s high for 1 km")
    axes["a"].legend(loc="lower left")
    east, north, height, taken, film = read(hill, "point_easting", "point_northing", "point_up", "snapshot",
                                            "snapshot_velocity")
    chosen = [abs(taken - wanted).argmin() for wanted in (0.5, 0.75, 1.0, 1.5)]
    most = abs(film[chosen, :, 2]).max() / 2
    for name, n in zip("cdef", chosen):
        axis = axes[name]
        shown = axis.tripcolor(east, north, film[n, :, 2], cmap="RdBu_r", vmin=-most, vmax=most, shading="gouraud",
                               rasterized=True)
        axis.tricontour(east, north, height, levels=[75, 150, 225], colors="k", linewidths=0.5)
        axis.set(aspect="equal", title=f"{taken[n]:.2f} s", xticks=[0, 1000, 2000, 3000], yticks=[])
    figure.colorbar(shown, ax=[axes[name] for name in "cdef"], location="bottom", shrink=0.4, aspect=40,
                    label="upward velocity of the ground (m/s)")
    figure.savefig(picture, dpi=100)


if __name__ == "__main__":
    main(*sys.argv[1:4])
