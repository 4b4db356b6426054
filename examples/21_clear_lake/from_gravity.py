"""Clear Lake from what gravimeters read: normal gravity and the pull of the terrain taken off, then job.toml.

    python from_gravity.py [--output FOLDER]
"""

import argparse
import csv
from pathlib import Path

import numpy as np

import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output" / "from_gravity")
output = arguments.parse_args().output.resolve()
output.mkdir(parents=True, exist_ok=True)
here = Path(__file__).parent

# 1. Observed gravity less normal gravity at the height of the station, less the pull of the rock above the ellipsoid.
free = terrane.run(here / "terrain.toml", output=output)
left, terrain = (np.asarray(free.values(name)) for name in ("topography_free_disturbance", "terrain_effect"))
print(f"terrain: {terrain.min():.1f} to {terrain.max():.1f} mGal; left: {left.min():.1f} to {left.max():.1f} mGal")

# 2. What is left are the data of job.toml, beside the regional field of roots and of mountains far away.
with open(output / "free.csv", "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["easting [m]", "northing [m]", "up [m]", "g_z_observed [mGal]"])
    writer.writerows(zip(free.survey.easting, free.survey.northing, free.survey.up, left))
job = (here / "job.toml").read_text(encoding="utf-8")
for was, is_now in (("stations.csv", "free.csv"), ("floor = [1.5]", "floor = [2.5]"), ('"plane"', '"quadratic"')):
    assert was in job
    job = job.replace(was, is_now)
(output / "job.toml").write_text(job, encoding="utf-8")
print(terrane.inversion.invert(output / "job.toml", output=output))

# 3. The lightest rock.
model = terrane.read(output / "model.nc")
density = np.asarray(model["density"])
k, j, i = np.unravel_index(np.argmin(density), density.shape)
east, north, up = (0.5e-3 * (np.asarray(f)[n] + np.asarray(f)[n + 1])
                   for f, n in ((model.easting, i), (model.northing, j), (model.up, k)))
print(f"lightest: {density.min():.0f} kg/m³ at easting {east:.1f} km, northing {north:.1f} km, {-up:.1f} km deep")
