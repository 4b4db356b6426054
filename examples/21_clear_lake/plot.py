"""The residuals of gravity, what the model leaves of them, and the densities at depth and in a section.

    python plot.py [--output FOLDER] [--picture clear_lake.png]
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

fit = netCDF4.Dataset(given.output / "clear_lake.nc")
model = netCDF4.Dataset(given.output / "model.nc")
east, north = (np.asarray(fit[name][:]) / 1e3 for name in ("easting", "northing"))
density = np.ma.filled(model["density"][:], np.nan)
k, j, i = np.unravel_index(np.nanargmin(density), density.shape)
box = (490, 550, 4268, 4336)
middle = 4268 + (j + 0.5) * 68 / density.shape[1]
depth = 16 - (k + 0.5) * 16 / density.shape[0]

data = np.asarray(fit["g_z_observed"][:])
whole = abs(np.median(data)) > 15  # from_gravity.py: with the field of the roots

figure, ((observed, residual), (level, section)) = plt.subplots(2, 2, figsize=(11, 10), constrained_layout=True)
for axes, values, limit, title in (
        (observed, data - (np.mean(data) if whole else 0), 30,
         "gravity less its mean [mGal]" if whole else "isostatic residual [mGal]"),
        (residual, fit["g_z_residual"][:], 5, "observed less computed [mGal]")):
    shown = axes.scatter(east, north, c=values, s=12, cmap="RdBu_r", vmin=-limit, vmax=limit)
    axes.set(title=title, xlabel="easting [km]", ylabel="northing [km]", aspect="equal", xlim=box[:2], ylim=box[2:])
    figure.colorbar(shown, ax=axes, shrink=0.8)
image = level.imshow(density[k], origin="lower", extent=box, cmap="RdBu_r", vmin=-200, vmax=200)
level.plot(east, north, "k.", ms=1)
level.axhline(middle, color="k", lw=0.5)
level.set(title=f"density [kg/m³], {depth:.1f} km deep", xlabel="easting [km]", ylabel="northing [km]")
figure.colorbar(image, ax=level, shrink=0.8)
image = section.imshow(density[:, j, :], origin="lower", extent=(490, 550, -16, 0), aspect=2, cmap="RdBu_r", vmin=-200,
                       vmax=200)
section.set(title=f"density [kg/m³], northing {middle:.0f} km", xlabel="easting [km]", ylabel="up [km]")
figure.colorbar(image, ax=section, shrink=0.6)
figure.savefig(given.picture or given.output / "clear_lake.png", dpi=70, bbox_inches="tight")
