"""Draw the seismograms along the line: python record_section.py output/seismograms.nc [picture.png]

Prints the largest upward velocity at every tenth geophone, and the time at which it is reached.
"""

import sys

import netCDF4


def main(file, picture=None):
    with netCDF4.Dataset(file) as data:
        time, up = data["time"][:].data, data["velocity"][:, 2, :].data
        easting = data["receiver_easting"][:].data
    for n in range(0, len(easting), 10):
        at = abs(up[n]).argmax()
        print(f"{easting[n]:6.0f} m  {abs(up[n, at]):.4f} m/s  at {time[at]:.3f} s")
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(6, 6), layout="constrained")
        for x, trace in zip(easting, up):
            line = x + 60 * trace / max(abs(trace))  # each trace by itself
            axes.plot(line, time, "k", lw=0.6)
            axes.fill_betweenx(time, x, line, where=line > x, color="k", lw=0)
        axes.set(xlabel="easting (m)", ylabel="time (s)", ylim=(time[-1], time[0]),
                 title="Upward velocity above a soft layer")
        figure.savefig(picture, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:3])
