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

# 2. Each model against the truth, in shares of the ore: 1 in its box, 0 around it. The files hold the models of the
# single data sets too, as density_apart and so on.
ROCKS = {"density": (0, 500), "susceptibility": (0, 0.05), "resistivity": (100, 10)}
for name, (host, ore) in ROCKS.items():
    model, columns = terrane.TensorMesh.read(output / f"{name}.nc"), netCDF4.Dataset(output / f"{name}.nc")
    east, north, up = ((faces[1:] + faces[:-1]) / 2 for faces in (model.easting, model.northing, model.up))
    inside = [(centre > low) & (centre < high) for centre, low, high in ((up, -50, -15), (north, -30, 60), (east, -20, 60))]
    truth = inside[0][:, None, None] & inside[1][:, None] & inside[2]
    near = (up > -100)[:, None, None] & (abs(north) < 130)[:, None] & (abs(east) < 180)
    errors = {}
    for column in (f"{name}_apart", name):
        values, ends = columns[column][...].filled(np.nan), (host, ore)
        if name == "resistivity":
            values, ends = np.log(values), np.log(ends)
        share = (values - ends[0]) / (ends[1] - ends[0])
        errors[column] = np.sqrt(((share - truth)[near] ** 2).sum() / truth.sum())
    print(f"{name}: error {errors[f'{name}_apart']:.3f} alone, {errors[name]:.3f} together")
