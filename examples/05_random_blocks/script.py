"""Poisson's equation in blocks of random size: the job from Python, then its blocks again through NumPy arrays.

    python script.py [--output FOLDER] [--edge 20]

Builds on 02_seven_spheres. run.py does the same with the command, for up to a million blocks.
"""

import argparse
from pathlib import Path

import numpy as np

import terrane

HERE = Path(__file__).parent
arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=HERE / "output")
arguments.add_argument("--edge", type=int, default=2)
given = arguments.parse_args()

# 1. Let the job draw the blocks and write them.
job = terrane.run(HERE / "job.toml", output=given.output, settings={"mesh.shape": [given.edge] * 3})

# 2. The same blocks as arrays, and the same stations.
mesh = terrane.TensorMesh.read(given.output / "blocks.msh", given.output / "blocks.npy")
print(mesh)
result = terrane.gravity.Simulation(mesh, job.survey, channels="tensor", accuracy="best").run()
result.to_netcdf(given.output / "blocks.nc")

# 3. The trace of the tensor: -4 pi G rho of the block around a station, and zero above.
prisms, density = mesh.prisms(), mesh.density.ravel()
trace = result.values("g_ee") + result.values("g_nn") + result.values("g_uu")
worst = 0.0
for n, station in enumerate(zip(job.survey.easting, job.survey.northing, job.survey.up)):
    low, high = prisms[:, 0::2], prisms[:, 1::2]
    around = np.all((low < station) & (station < high), axis=1)
    poisson = -4 * np.pi * 6.67430e-11 * density[around].sum() * 1e9  # Eötvös
    worst = max(worst, abs(trace[n] - poisson))
print(f"{mesh.size} blocks: Poisson's equation holds to {worst:.1e} E")
