"""Data, residuals, convergence and a section of the model.

    python plot.py [--output FOLDER] [--picture grav3d.png]
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

fit, model = netCDF4.Dataset(given.output / "fit.nc"), netCDF4.Dataset(given.output / "model.nc")
easting, northing = fit["easting"][:], fit["northing"][:]
figure, axes = plt.subplots(2, 2, figsize=(11, 8), constrained_layout=True)
for axis, values, title in (
        (axes[0, 0], 1e3 * fit["g_u_observed"][:], "observed g_u [µGal]: a dense body pulls down"),
        (axes[0, 1], fit["g_u_residual"][:] / fit["g_u_uncertainty"][:], "residual / σ")):
    most = np.abs(values).max()
    dots = axis.scatter(easting, northing, c=values, s=60, cmap="RdBu_r", vmin=-most, vmax=most)
    axis.set(title=title, xlabel="easting [m]", ylabel="northing [m]", aspect="equal")
    figure.colorbar(dots, ax=axis, shrink=0.9)

steps = list(csv.DictReader(io.StringIO(fit.getncattr("iterations"))))
target = float(fit.getncattr("target"))
axes[1, 0].semilogy([float(s["products"]) for s in steps], [float(s["phi_d"]) / target for s in steps], ".-")
axes[1, 0].axhline(1, color="k", lw=0.8, ls="--")
axes[1, 0].set(title="convergence", xlabel="products with G and its transpose", ylabel="φ_d / target")

density = np.ma.filled(model["density"][:], np.nan)
density[np.ma.filled(model["active"][:], 0) == 0] = np.nan
e, n, u = (np.append(model[f"{a}_bounds"][:, 0], model[f"{a}_bounds"][-1, 1]) for a in ("easting", "northing", "up"))
image = axes[1, 1].pcolormesh(e, u, density[:, np.searchsorted(n, -2.5) - 1], cmap="RdBu_r", vmin=-60, vmax=60)
axes[1, 1].set(title="density along northing −2.5 m [kg/m³]", xlabel="easting [m]", ylabel="up [m]", aspect="equal",
               xlim=(-110, 110), ylim=(10, 105))
figure.colorbar(image, ax=axes[1, 1], shrink=0.8)
figure.savefig(given.picture or given.output / "grav3d.png", dpi=75)
