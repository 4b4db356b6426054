"""Hamersley from Python: the numbers of job.toml, and where the densest and the lightest rock is.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import numpy as np

import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. The job: data, mesh, a regional field; β so that the misfit is 1 mGal.
result = terrane.run(Path(__file__).parent / "job.toml", output=output)
print(result)

# 2. The model below the line.
model = terrane.read(output / "model.nc")
density = np.asarray(model["density"])
northing, up = (np.asarray(faces) for faces in (model.northing, model.up))
for name, at in (("densest", np.argmax(density)), ("lightest", np.argmin(density))):
    k, j, _ = np.unravel_index(at, density.shape)
    print(f"{name}: {density.flat[at]:.0f} kg/m³ at northing {0.5e-3 * (northing[j] + northing[j + 1]):.1f} km,"
          f" {-0.5e-3 * (up[k] + up[k + 1]):.1f} km deep")
