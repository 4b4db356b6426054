"""The buried block from Python: the numbers of job.toml, and the truth beside them.

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

# 1. Data and mesh; the scales of smoothness, and the bounds. β is found, so that the misfit is that of the noise.
mesh = terrane.TensorMesh.regular([-500, 500, -500, 500, -500, 0], shape=(40, 40, 20))
survey = terrane.Survey.read(Path(__file__).parent / "stations.csv")
found = Inversion(mesh, survey, physics="gravity", length_scale=[150, 150, 150], lower=0, upper="0.4 g/cm3").run()
found.data.write(output / "fit.nc")
found.write(output / "model.nc")  # with the columns that the job file writes
print(found)

# 2. The model against the truth: where it is densest, and how much mass it has.
model = found.model
volume = np.diff(model.up)[:, None, None] * np.diff(model.northing)[:, None] * np.diff(model.easting)
true = 400 * 250 * 250 * 175
print(f"mass {(model.density * volume).sum() / 1e9:.2f} Mt, of the block {true / 1e9:.2f} Mt")
