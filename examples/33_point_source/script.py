"""The gather built in Python, beside the waves on paper: the numbers of job.toml.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import compare
import numpy as np

import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. Water with a free surface: cells of 10 m, one velocity.
mesh = terrane.TensorMesh.regular([0, 800, 0, 400, -400, 0], shape=(80, 40, 40))
mesh.velocity_p = 1500.0

# 2. One shot, and receivers every 50 m along a line; the sides other than the top absorb.
receivers = terrane.Survey(np.arange(200, 701, 50), 200.0, -120.0)
simulation = terrane.acoustic.Simulation(
    mesh, receivers, [[100, 200, -200]], terrane.acoustic.Wavelet(12), end=0.7,
    boundary={"top": "free_surface"}, settings={"interpolation": 6})
result = simulation.run()
result.write(output / "gather.nc")
print(result)

# 3. Pressures beside those on paper.
compare.main(output / "gather.nc")
