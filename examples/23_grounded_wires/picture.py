"""What was measured, what the model gives, the model beside the truth, and how the steps went.

    python picture.py output grounded_wires.png
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


def fields(panels, fit):
    easting = fit["receiver_easting"][:]
    observed, computed = (np.array(fit[name][:, 0, :, 0] + 1j * fit[name][:, 0, :, 1]) for name in ("e_e_observed", "e_e"))
    for source, colour in enumerate(("C0", "C1")):
        for panel, of in zip(panels, (np.abs, lambda e: np.angle(e, deg=True))):
            panel.plot(easting, of(observed[source]), "o", color=colour, label=f"wire {source + 1}, measured")
            panel.plot(easting, of(computed[source]), "-", color=colour, label="from the model")
    panels[0].set(yscale="log", title="east field at 4 Hz: amplitude (V/m)", xlabel="easting (m)")
    panels[1].set(title="phase (degrees)", xlabel="easting (m)")
    panels[0].legend(fontsize=8)


def section(panel, mesh):
    image = panel.pcolormesh(mesh.easting, mesh.up, mesh["resistivity"][:, mesh.shape[1] // 2],
                             norm=LogNorm(3, 100), cmap="viridis")
    panel.add_patch(Rectangle((-750, -750), 1250, 500, fill=False, lw=1.2, ls="--", color="white"))
    panel.text(-125, -850, "3 ohm m in truth", ha="center", color="white")
    for west in (-2500, 1500):
        panel.plot([west, west + 1000], [0, 0], "k-", lw=4, clip_on=False)
    panel.set(xlim=(-2500, 2500), ylim=(-1650, 0), title="model, the conductor of the truth, and the wires",
              ylabel="up (m)", xlabel="easting (m)")
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
    fit = netCDF4.Dataset(folder / "fit.nc")
    figure, panels = plt.subplots(2, 2, figsize=(9.5, 6), layout="constrained")
    fields(panels[0], fit)
    bar = figure.colorbar(section(panels[1, 0], terrane.TensorMesh.read(folder / "model.nc")), ax=panels[1, 0],
                          label="ohm m")
    bar.set_ticks([3, 10, 30, 100], labels=["3", "10", "30", "100"])
    bar.minorticks_off()
    convergence(panels[1, 1], list(csv.DictReader(fit.getncattr("iterations").splitlines())),
                2 * np.isfinite(fit["e_e_uncertainty"][:].filled(np.nan)).sum())
    figure.savefig(out, dpi=130)


if __name__ == "__main__":
    main(*sys.argv[1:])
