"""The three models from Python, together and each alone, and how far both are from the truth.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import netCDF4
import numpy as np
import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. All three at once: a result for each, by name.
results = terrane.inversion.invert(Path(__file__).parent / "job.toml", output=output)
for name, result in results.items():
    print(name, result)

# 2. Each model against the truth, in shares of the body: 1 in its box, 0 around it. The files hold the models of the
# single data sets too, as density_apart and so on.
ROCKS = {"density": ("density", 0, -300), "velocity": ("velocity_p", 4500, 3600), "resistivity": ("resistivity", 100, 10)}
print("model,alone,together")
for file, (name, host, body) in ROCKS.items():
    model, columns = terrane.TensorMesh.read(output / f"{file}.nc"), netCDF4.Dataset(output / f"{file}.nc")
    east, north, up = ((faces[1:] + faces[:-1]) / 2 for faces in (model.easting, model.northing, model.up))
    up, north = up[:, None, None], north[:, None]
    truth = (east > -2000) & (east < 1000) & (abs(north) < 2000) & (up > -2300) & (up < -800)
    near = (abs(east) < 4000) & (abs(north) < 2000) & (up > -4700) & (up < 0)
    errors = []
    for column in (f"{name}_apart", name):
        values, ends = columns[column][...].filled(np.nan)[near], (host, body)
        if name == "resistivity":
            values, ends = np.log(values), np.log(ends)
        share = (values - ends[0]) / (ends[1] - ends[0])
        errors.append(np.sqrt(((share - truth[near]) ** 2).sum() / truth.sum()))
    print(f"{name},{errors[0]:.4f},{errors[1]:.4f}")
