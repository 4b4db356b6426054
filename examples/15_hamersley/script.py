"""Hamersley built in Python: the numbers of job.toml, and where the densest and the lightest rock is.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import numpy as np

import terrane
from terrane.inversion import Inversion

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. Data and cells. The frame counts g_z downward; β is found, so that the misfit is 1 mGal, and with the model a plane,
#    the regional field.
km = 1000
mesh = terrane.TensorMesh.regular([510.09 * km, 549.08 * km, 7445.4 * km, 7576.9 * km, -24.6 * km, 0], shape=(13, 133, 33))
survey = terrane.Survey.read(Path(__file__).parent / "stations.csv")
found = Inversion(mesh, survey, frame="harmonica", floor=1, trend="plane", length_scale=[20 * km, 4 * km, 4 * km],
                  lower="-0.4 g/cm3", upper="0.4 g/cm3").run()
found.data.write(output / "hamersley.nc")
found.write(output / "model.nc")
print(found)

# 2. The model below the line.
model = found.model
_, northing, up = model.centres
for name, at in (("densest", np.argmax(model.density)), ("lightest", np.argmin(model.density))):
    k, j, _ = np.unravel_index(at, model.density.shape)
    print(f"{name}: {model.density.flat[at]:.0f} kg/m³ at northing {northing[j] / km:.1f} km, {-up[k] / km:.1f} km deep")

# 3. A section along the line.
found.plot(path=output / "model.png")
