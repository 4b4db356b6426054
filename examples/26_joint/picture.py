"""The three models along a section: each from its own data alone, and all together, beside the truth.

    python picture.py output joint.png
"""

import sys
from pathlib import Path

import matplotlib
import netCDF4
import numpy as np
import terrane

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

ROCKS = {"density": (0, 500), "susceptibility": (0, 0.05), "resistivity": (100, 10)}


def share(values, name):
    """Of the ore in a cell: 0 in the host rock, 1 in the ore."""
    host, ore = ROCKS[name]
    if name == "resistivity":
        values, host, ore = np.log(values), np.log(host), np.log(ore)
    return (values - host) / (ore - host)


def main(folder, out):
    figure, panels = plt.subplots(3, 2, figsize=(9.5, 5.4), layout="constrained", sharex=True, sharey=True)
    for row, name in zip(panels, ROCKS):
        file = Path(folder) / f"{name}.nc"
        model, columns = terrane.TensorMesh.read(file), netCDF4.Dataset(file)
        north = (model.northing[1:] + model.northing[:-1]) / 2
        section = int(np.argmin(abs(north - 15)))
        for panel, column, title in zip(row, (f"{name}_apart", name), ("alone", "together")):
            image = panel.pcolormesh(model.easting, model.up, share(columns[column][:, section], name), vmin=0, vmax=0.6,
                                     cmap="viridis")
            panel.add_patch(Rectangle((-20, -50), 80, 35, fill=False, lw=1.2, ls="--", color="white"))
            panel.set_title(f"{name}, {title}", fontsize=10)
        row[0].set_ylabel("up (m)")
    panels[0, 0].set(xlim=(-150, 150), ylim=(-100, 0))
    for panel in panels[-1]:
        panel.set_xlabel("easting (m)")
    figure.colorbar(image, ax=panels, pad=0.01, label="share of ore")
    figure.savefig(out, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:])
