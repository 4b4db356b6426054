"""One picture of an inversion: data, fit, residuals, convergence, trade-off, and a section of the model.

    python plot.py [--output FOLDER] [--picture buried_block.png]
"""

import argparse
import csv
import io
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import netCDF4
import numpy as np

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
arguments.add_argument("--picture", type=Path, default=None)
given = arguments.parse_args()

fit = netCDF4.Dataset(given.output / "fit.nc")
model = netCDF4.Dataset(given.output / "model.nc")


def table(name):
    """An attribute that holds CSV, as columns."""
    rows = list(csv.DictReader(io.StringIO(fit.getncattr(name))))
    return {k: np.array([r[k] if k == "what" else float(r[k]) for r in rows]) for k in rows[0]}


def grid(name):
    return np.ma.filled(fit[name][:], np.nan).reshape(20, 20)


figure, axes = plt.subplots(2, 3, figsize=(13, 7.6), constrained_layout=True)
(observed, computed, residual), (convergence, trade_off, section) = axes
extent = (-0.5, 0.5, -0.5, 0.5)
low, high = np.nanmin(grid("g_u_observed")), np.nanmax(grid("g_u_observed"))
for axis, name, title in ((observed, "g_u_observed", "observed g_u [mGal]"), (computed, "g_u", "computed g_u [mGal]")):
    image = axis.imshow(grid(name), origin="lower", extent=extent, vmin=low, vmax=high, cmap="viridis")
    axis.set_title(title)
figure.colorbar(image, ax=[observed, computed], shrink=0.85)
image = residual.imshow(grid("g_u_residual") / grid("g_u_uncertainty"), origin="lower", extent=extent, vmin=-3, vmax=3,
                        cmap="RdBu_r")
residual.set_title("residual / σ")
figure.colorbar(image, ax=residual, shrink=0.85)
for axis in (observed, computed, residual):
    axis.plot([-0.1, 0.15, 0.15, -0.1, -0.1], [-0.15, -0.15, 0.1, 0.1, -0.15], "k--", lw=1)
    axis.set(xlabel="easting [km]", ylabel="northing [km]")

steps = table("iterations")
target = float(fit.getncattr("target"))
for what, colour in (("lanczos", "tab:blue"), ("bounds", "tab:red"), ("sparse", "tab:green")):
    at = steps["what"] == what
    if at.any():
        convergence.semilogy(steps["products"][at], steps["phi_d"][at] / target, "o-", ms=3, color=colour, label=what)
convergence.axhline(1, color="k", lw=0.8, ls="--")
convergence.set(title="convergence", xlabel="products with G and its transpose", ylabel="φ_d / target")
convergence.legend()

curve = table("curve")
trade_off.semilogy(curve["phi_m"], curve["phi_d"], "-")
trade_off.semilogy(float(fit.getncattr("phi_m")), float(fit.getncattr("phi_d")), "ro", label="the model, within bounds")
trade_off.axhline(target, color="k", lw=0.8, ls="--", label="target")
trade_off.set(title="trade-off, without bounds", xlabel="φ_m", ylabel="φ_d")
trade_off.legend()

density = np.ma.filled(model["density"][:], np.nan)
middle = density.shape[1] // 2
image = section.imshow(density[:, middle, :], origin="lower", extent=(-0.5, 0.5, -0.5, 0), aspect="equal", cmap="viridis",
                       vmin=0)
section.plot([-0.1, 0.15, 0.15, -0.1, -0.1], [-0.275, -0.275, -0.1, -0.1, -0.275], "w--", lw=1.5, label="the block, 400 kg/m³")
section.set(title="density along northing 0 [kg/m³]", xlabel="easting [km]", ylabel="up [km]")
section.legend(loc="lower right", fontsize=8)
figure.colorbar(image, ax=section, shrink=0.7)
figure.savefig(given.picture or given.output / "buried_block.png", dpi=75)
