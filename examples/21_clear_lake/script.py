"""Clear Lake built in Python: the numbers of job.toml, and where the lightest rock is.

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

# 1. Data and cells. The frame counts g_z downward; β is found, so that the misfit is 1.5 mGal, and with the model a
#    plane, the regional field.
km = 1000
mesh = terrane.TensorMesh.regular([490 * km, 550 * km, 4268 * km, 4336 * km, -16 * km, 0], shape=(40, 45, 20))
survey = terrane.Survey.read(Path(__file__).parent / "stations.csv")
found = Inversion(mesh, survey, frame="harmonica", floor=1.5, trend="plane",
                  length_scale=[4 * km, 4 * km, 3 * km]).run()
found.data.write(output / "clear_lake.nc")
found.write(output / "model.nc")
print(found)

# 2. The lightest rock.
model = found.model
k, j, i = np.unravel_index(np.argmin(model.density), model.density.shape)
east, north, up = (centres[n] / km for centres, n in zip(model.centres, (i, j, k)))
print(f"lightest: {model.density.min():.0f} kg/m³ at easting {east:.1f} km, northing {north:.1f} km, {-up:.1f} km deep")

# 3. A map and a section through it.
found.plot(path=output / "model.png")
