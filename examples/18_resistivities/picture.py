"""What was measured, what the model gives, the model beside the truth, and how the steps went.

    python picture.py output resistivities.png
"""

import csv
import sys
from pathlib import Path

import matplotlib
import netCDF4
import numpy as np
import terrane

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import LogNorm  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

NORM, COLOURS = LogNorm(10, 400), "viridis"
BLOCKS = [((-50, -30), 35, 17.5, "10"), ((25, -30), 40, 22.5, "600")]


def table(path):
    """Columns by name, without units."""
    rows = list(csv.reader(line for line in open(path, encoding="utf-8") if not line.startswith("#")))
    return {name.split(" [")[0]: np.array(values, float) for name, *values in zip(*rows)}


def pseudosection(panel, data, values, title):
    image = panel.scatter(data["easting"], data["up"], c=values, norm=NORM, cmap=COLOURS, s=42, marker="s")
    panel.set_title(title)
    panel.set_ylabel("pseudo-depth (m)")
    panel.set_xlim(-130, 130)
    return image


def section(panel, mesh):
    middle = mesh.shape[1] // 2
    image = panel.pcolormesh(mesh.easting, mesh.up, mesh["resistivity"][:, middle], norm=NORM, cmap=COLOURS)
    for corner, width, height, name in BLOCKS:
        panel.add_patch(Rectangle(corner, width, height, fill=False, lw=1.2, ls="--", color="white"))
        panel.text(corner[0] + width / 2, corner[1] - 7, f"{name} ohm m", ha="center", color="white")
    panel.set(xlim=(-130, 130), ylim=(-55, 0), title="model, and the blocks of the truth", ylabel="up (m)",
              xlabel="easting (m)")
    return image


def convergence(panel, steps, data):
    number, misfit, size = (np.array([float(row[name]) for row in steps]) for name in ("number", "phi_d", "phi_m"))
    panel.semilogy(number, misfit / data, "o-", label=r"$\varphi_d/N$")
    panel.axhline(1, color="0.6", lw=0.8)
    panel.set(xlabel="step", title="misfit per datum, and the model's norm", xticks=number)
    other = panel.twinx()
    other.plot(number, size / size.max(), "s--", color="C1", label=r"$\varphi_m$ (of its largest)")
    panel.legend(handles=panel.lines[:1] + other.lines, loc="center right")


def main(folder, out):
    folder = Path(folder)
    data = table(folder / "fit.csv")
    steps = list(csv.DictReader(netCDF4.Dataset(folder / "fit.nc").getncattr("iterations").splitlines()))
    figure, panels = plt.subplots(2, 2, figsize=(9.5, 5), layout="constrained")
    pseudosection(panels[0, 0], data, data["apparent_resistivity_observed"], "measured")
    pseudosection(panels[0, 1], data, data["apparent_resistivity"], "computed from the model")
    image = section(panels[1, 0], terrane.TensorMesh.read(folder / "model.nc"))
    convergence(panels[1, 1], steps, data["up"].size)
    bar = figure.colorbar(image, ax=panels[0], pad=0.01, label="ohm m")
    bar.set_ticks([10, 20, 50, 100, 200, 400], labels=["10", "20", "50", "100", "200", "400"])
    bar.minorticks_off()
    figure.savefig(out, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
