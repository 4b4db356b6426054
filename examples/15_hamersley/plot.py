"""Data, what the model gives, the regional field and the densities along the line.

    python plot.py [--output FOLDER] [--picture hamersley.png]
"""

import argparse
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

fit = netCDF4.Dataset(given.output / "hamersley.nc")
model = netCDF4.Dataset(given.output / "model.nc")
along = np.asarray(fit["northing"][:]) / 1e3

figure, (line, residual, section) = plt.subplots(3, 1, figsize=(10, 8.5), sharex=True, constrained_layout=True,
                                                 height_ratios=[2, 1, 2])
line.plot(along, fit["g_z_observed"][:], "k.", label="observed")
line.plot(along, fit["g_z"][:], "-", color="tab:red", label="model and regional field")
line.plot(along, fit["g_z_trend"][:], "--", color="tab:blue", label="regional field")
line.set(ylabel="g_z [mGal]", title="Hamersley, easting 528.55 km")
line.legend()
residual.bar(along, fit["g_z_residual"][:], width=0.8, color="tab:gray")
residual.set(ylabel="residual [mGal]")
density = np.ma.filled(model["density"][:], np.nan)[:, :, 6]
image = section.imshow(density, origin="lower", extent=(7445.4, 7576.9, -24.6, 0), aspect="auto", cmap="RdBu_r",
                       vmin=-200, vmax=200)
section.set(xlabel="northing [km]", ylabel="up [km]")
figure.colorbar(image, ax=section, label="density [kg/m³], below the line", orientation="horizontal", shrink=0.6)
figure.savefig(given.picture or given.output / "hamersley.png", dpi=75)
