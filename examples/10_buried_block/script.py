"""The buried block from Python: the numbers of job.toml, and the truth beside them.

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

# 1. The job: data, mesh, bounds; β so that the misfit is that of the noise.
result = terrane.run(Path(__file__).parent / "job.toml", output=output)
print(result)

# 2. The model against the truth: where it is densest, and how much mass it has.
model = terrane.read(output / "model.nc")
density = np.asarray(model["density"])
easting, northing, up = (np.asarray(faces) for faces in (model.easting, model.northing, model.up))
volume = np.diff(up)[:, None, None] * np.diff(northing)[:, None] * np.diff(easting)
true = 400 * 250 * 250 * 175
print(f"mass {(density * volume).sum() / 1e9:.2f} Mt, of the block {true / 1e9:.2f} Mt")
