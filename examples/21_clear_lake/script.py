"""Clear Lake from Python: the numbers of job.toml, and where the lightest rock is.

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

# 1. The job: data, mesh, a regional field; β so that the misfit is 1.5 mGal.
result = terrane.run(Path(__file__).parent / "job.toml", output=output)
print(result)

# 2. The lightest rock.
model = terrane.read(output / "model.nc")
density = np.asarray(model["density"])
k, j, i = np.unravel_index(np.argmin(density), density.shape)
east, north, up = (0.5e-3 * (np.asarray(f)[n] + np.asarray(f)[n + 1])
                   for f, n in ((model.easting, i), (model.northing, j), (model.up, k)))
print(f"lightest: {density.min():.0f} kg/m³ at easting {east:.1f} km, northing {north:.1f} km, {-up:.1f} km deep")
