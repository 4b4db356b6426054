"""The image built in Python: the numbers of job.toml.

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

# 1. Three layers and a slow lens, in cells of 10 m; one cell across: two dimensions.
mesh = terrane.TensorMesh.regular([0, 2400, -5, 5, -1000, 0], shape=(240, 1, 100))
e, n, u = mesh.centres
mesh.velocity_p = 2000
mesh.velocity_p[u < -400] = 2300
mesh.velocity_p[u < -700] = 2700
lens = ((e - 1700) / 180)**2 + (n[:, None] / 100)**2 + ((u[:, None, None] + 550) / 40)**2 < 1
mesh.velocity_p[lens] = 2000

# 2. Eleven shots, and receivers every 20 m; the top absorbs, so that there are no multiples of a free surface. The
#    waves are sent back through a smooth model.
receivers = terrane.Survey(np.arange(50.0, 2351, 20), 0.0, -10.0)
shots = [[east, 0, -10] for east in np.linspace(200, 2200, 11)]
result = terrane.acoustic.Simulation(
    mesh, receivers, shots, terrane.acoustic.Wavelet("14 Hz"), kind="migration", end="1.3 s", smoothing="60 m",
    boundary={"top": "cpml"}).run()
result.write(output / "image.nc")
print(result)

# 3. The Laplacian of the image [up, northing, easting].
image = result["image_filtered"]
print(f"image of {image.shape[0]} x {image.shape[2]} cells, up to {float(abs(image).max()):.3g} Pa2/m2")
