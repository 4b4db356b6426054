"""The magnetized dike built in Python: the numbers of job.toml.

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

# 1. The mesh, and the centres of its cells as arrays that broadcast to [up, north, east].
mesh = terrane.TensorMesh.regular([-1000, 1000, -1000, 1000, -800, 0], shape=(80, 80, 32))
east, north, up = mesh.centres
e, n, u = east, north[:, None], up[:, None, None]

# 2. The dike, magnetized by the main field: it steps to the east with depth. The sphere keeps a direction of its own.
dike = np.zeros(mesh.shape, dtype=bool)
for west, bottom, top in ((-150, -200, -50), (-100, -350, -200), (-50, -500, -350)):
    dike |= (e > west) & (e < west + 100) & (abs(n) < 600) & (u > bottom) & (u < top)
sphere = (e - 500) ** 2 + (n - 300) ** 2 + (u + 300) ** 2 < 150**2
mesh.susceptibility = np.where(dike, 0.03, 0)
for axis, magnetization in (("east", -0.6), ("north", 0.3), ("up", 1.2)):  # A/m
    mesh[f"magnetization_{axis}"] = np.where(sphere, magnetization, 0)

# 3. Stations 60 m above the ground; strength (nT), inclination and declination (degrees) of the main field.
line = np.linspace(-1000, 1000, 81)
survey = terrane.Survey.grid(line, line, up=60)
simulation = terrane.magnetic.Simulation(mesh, survey, channels=["tmi", "b_e", "b_n", "b_u"], main_field=(50_000, 65, -12))
result = simulation.run()
result.write(output / "dike.nc")
print(result)

# 4. The anomaly is positive over the dike, with a low to the north of it; over the sphere it is turned round.
tmi = result["tmi"]
print(f"total-field anomaly from {float(tmi.min()):.1f} to {float(tmi.max()):.1f} nT")
