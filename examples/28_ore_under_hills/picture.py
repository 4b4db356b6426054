"""The three models along two sections through the ore: each from its own data alone, and all together.

    python picture.py output ore_under_hills.png
"""

import sys
from pathlib import Path

import matplotlib
import netCDF4
import numpy as np
import terrane

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.patches import Ellipse  # noqa: E402

ROCKS = {"density": (0, 1050), "susceptibility": (0.002, 0.02), "resistivity": (2000, 0.5)}
HILLS = Path(__file__).parent.parent / "20_tour" / "hills.asc"


def share(values, name):
    """Of the ore in a cell: 0 in the basement, 1 in the ore."""
    host, ore = ROCKS[name]
    if name == "resistivity":
        values, host, ore = np.log(np.maximum(values, 1e-9)), np.log(host), np.log(ore)
    return (values - host) / (ore - host)


def main(folder, out):
    hills, node = np.loadtxt(HILLS, skiprows=6)[::-1], np.arange(41) * 200.0
    figure, panels = plt.subplots(3, 4, figsize=(13, 5.8), layout="constrained", sharey=True)
    for row, name in zip(panels, ROCKS):
        file = Path(folder) / f"{name}.nc"
        model, columns = terrane.TensorMesh.read(file), netCDF4.Dataset(file)
        active = columns["active"][...] == 1
        south = int(np.searchsorted(model.northing, 4000)) - 1
        west = int(np.searchsorted(model.easting, 6800)) - 1
        for n, (column, title) in enumerate(((f"{name}_apart", "alone"), (name, "together"))):
            shares = np.ma.masked_where(~active, share(columns[column][...].filled(np.nan), name))
            across, along = row[n], row[2 + n]
            image = across.pcolormesh(model.easting, model.up, shares[:, south], vmin=-0.8, vmax=0.8, cmap="RdBu_r")
            along.pcolormesh(model.northing, model.up, shares[:, :, west], vmin=-0.8, vmax=0.8, cmap="RdBu_r")
            for panel, ground in ((across, hills[20]), (along, hills[:, 34])):
                panel.fill_between(node, ground, 400, color="white")
                panel.plot(node, ground, color="black", lw=0.8)
            across.add_patch(Ellipse((6800, -60), 360, 220, fill=False, lw=1.2, ls="--"))
            along.add_patch(Ellipse((4000, -60), 600, 220, fill=False, lw=1.2, ls="--"))
            along.plot(3860, 130, "kv", ms=4)  # the line of electrodes
            across.set(xlim=(6300, 7300), ylim=(-350, 240))
            along.set(xlim=(3500, 4500))
            for panel in (across, along):
                panel.set_title(f"{name}, {title}", fontsize=10)
                panel.tick_params(labelbottom=name == "resistivity")
        row[0].set_ylabel("up (m)")
    for panel, axis in zip(panels[-1], 2 * ("easting (m)",) + 2 * ("northing (m)",)):
        panel.set_xlabel(axis)
    figure.colorbar(image, ax=panels, pad=0.01, label="share of ore")
    figure.savefig(out, dpi=95)


if __name__ == "__main__":
    main(*sys.argv[1:])
