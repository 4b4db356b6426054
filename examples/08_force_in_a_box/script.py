"""The record section built in Python: the numbers of job.toml.

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

# 1. Rock in elements of 80 m, the upper two rows of softer rock.
mesh = terrane.TensorMesh.regular([0, 2400, 0, 800, -800, 0], shape=(30, 10, 10))
mesh.density, mesh.velocity_p, mesh.velocity_s = 2500, 4000, 2300
mesh.density[8:], mesh.velocity_p[8:], mesh.velocity_s[8:] = 2200, 2600, 1400

# 2. Geophones every 50 m, a force below them, and snapshots of one row of elements.
geophones = terrane.Survey(np.arange(200.0, 2201, 50), 400.0, 0.0)
force = terrane.elastic.Source([400, 400, -40], force=[0, 0, 1e9], frequency=5)
result = terrane.elastic.Simulation(
    mesh, geophones, force, end=1.5, quantity="velocity",
    snapshots={"of": "volume", "box": [0, 2400, 360, 360, -800, 0], "every": 0.1}).run()
result.write(output / "seismograms.nc")
print(result)

# 3. Velocity [receiver, component, time], m/s.
velocity = result["velocity"]
print(f"{velocity.shape[0]} receivers, {velocity.shape[2]} times, up to {float(abs(velocity).max()):.4f} m/s")
