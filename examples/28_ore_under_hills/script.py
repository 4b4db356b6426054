"""The three models from Python, together and each alone, and how far both are from the truth.

    python script.py [--output FOLDER] [--only gravity ...]
"""

import argparse
from pathlib import Path

import netCDF4
import numpy as np
import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
arguments.add_argument("--only", nargs="*", default=[], help="simulations; one is found by itself")
given = arguments.parse_args()
output = given.output
output.mkdir(parents=True, exist_ok=True)

# 1. All three at once: a result for each, by name.
results = terrane.inversion.invert(Path(__file__).parent / "job.toml", output=output, only=given.only)
for name, result in results.items():
    print(name, result)

# 2. Each model against the truth, in shares of the ore: 1 in its ellipsoid, 0 in the basement around it, where all cells
# are of one size. The files hold the models of the single data sets too, as density_apart and so on.
ROCKS = {"gravity": ("density", 0, 1050), "magnetic": ("susceptibility", 0.002, 0.02),
         "resistivity": ("resistivity", 2000, 0.5)}
print("model,alone,together")
for name, host, ore in (ROCKS[simulation] for simulation in results if len(results) > 1):
    model, columns = terrane.TensorMesh.read(output / f"{name}.nc"), netCDF4.Dataset(output / f"{name}.nc")
    east, north, up = ((faces[1:] + faces[:-1]) / 2 for faces in (model.easting, model.northing, model.up))
    up, north = up[:, None, None], north[:, None]
    truth = ((east - 6800) / 180) ** 2 + ((north - 4000) / 300) ** 2 + ((up + 60) / 110) ** 2 < 1
    near = (abs(east - 6800) < 300) & (abs(north - 4000) < 420) & (up > -260) & (columns["active"][...] == 1)
    errors = []
    for column in (f"{name}_apart", name):
        values, ends = columns[column][...].filled(np.nan)[near], (host, ore)
        if name == "resistivity":
            values, ends = np.log(values), np.log(ends)
        share = (values - ends[0]) / (ends[1] - ends[0])
        errors.append(np.sqrt(((share - truth[near]) ** 2).sum() / truth.sum()))
    print(f"{name},{errors[0]:.4f},{errors[1]:.4f}")
