"""The three models along a section: each from its own data alone, and all together, beside the truth.

    python picture.py output slow_light_conducting.png
"""

import sys
from pathlib import Path

import matplotlib
import netCDF4
import numpy as np

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

ROCKS = {"density": ("density", 0, -300), "velocity": ("velocity_p", 4500, 3600), "resistivity": ("resistivity", 100, 10)}


def share(values, name):
    """Of the body in a cell: 0 in its host, 1 in the body."""
    _, host, body = ROCKS[name]
    if name == "resistivity":
        values, host, body = np.log(values), np.log(host), np.log(body)
    return (values - host) / (body - host)


def main(folder, out):
    figure, panels = plt.subplots(3, 2, figsize=(9.5, 6), layout="constrained", sharex=True, sharey=True)
    for row, name in zip(panels, ROCKS):
        file = netCDF4.Dataset(Path(folder) / f"{name}.nc")
        east, north, up = (np.append(file[f"{axis}_bounds"][:, 0], file[f"{axis}_bounds"][-1, 1])
                           for axis in ("easting", "northing", "up"))
        section = int(np.searchsorted(north, 500)) - 1
        for panel, end, title in zip(row, ("_apart", ""), ("alone", "together")):
            values = np.ma.filled(file[ROCKS[name][0] + end][:, section], np.nan)
            image = panel.pcolormesh(east / 1e3, up / 1e3, share(values, name), vmin=0, vmax=0.8, cmap="viridis")
            panel.add_patch(Rectangle((-2, -2.3), 3, 1.5, fill=False, lw=1.2, ls="--", color="white"))
            panel.set_title(f"{name}, {title}", fontsize=10)
        row[0].set_ylabel("up (km)")
    panels[0, 0].set(xlim=(-4, 4), ylim=(-4.7, 0))
    for panel in panels[-1]:
        panel.set_xlabel("easting (km)")
    figure.colorbar(image, ax=panels, pad=0.01, label="share of the body")
    figure.savefig(out, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
