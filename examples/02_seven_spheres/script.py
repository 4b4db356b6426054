"""Seven spheres painted into a mesh with NumPy: the numbers of job.toml. Builds on 01_one_prism.

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

# 1. A mesh of 24.5 million cells; density is an array [up, north, east].
mesh = terrane.TensorMesh.regular([0, 22e3, 0, 22e3, -8e3, 0], shape=(700, 700, 50))
easting, northing, up = mesh.centres

# 2. A cell belongs to a sphere when its centre does: easting, northing, up, density contrast.
spheres = [(5500, 5500, -2000, 400), (11000, 4500, -2600, -300), (16500, 5500, -2000, 250), (11000, 11000, -3200, 900),
           (5500, 16500, -2000, -400), (11000, 17500, -2600, 500), (16500, 16500, -2000, -200)]
for e, n, u, density in spheres:
    inside = ((easting - e) ** 2 + (northing[:, None] - n) ** 2 + (up[:, None, None] - u) ** 2) < 1108.0**2
    mesh.density[inside] = density

# 3. A grid of 150 × 100 stations, 100 m up.
survey = terrane.Survey.grid(np.linspace(0, 22e3, 150), np.linspace(0, 22e3, 100), up=100)

# 4. All ten channels, and how exact they are at eight stations.
result = terrane.gravity.Simulation(mesh, survey, channels="all", verify=8).run(progress=False)
print(result)
result.to_netcdf(output / "seven_spheres.nc")
result.plot(path=output / "seven_spheres_python.png")
