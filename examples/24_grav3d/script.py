"""GRAV3D's files from Python: the numbers of job.toml, and the model in GRAV3D's order.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import numpy as np

import terrane

here = Path(__file__).parent
arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=here / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. The job: all input is GRAV3D's.
result = terrane.run(here / "job.toml", output=output)
print(result)

# 2. gzinv3d.den, as GRAV3D's own tools read it: one cell a line, down, then east, then north; -100 is air.
mesh = terrane.read(here / "mesh.msh")
values = np.loadtxt(output / "gzinv3d.den").reshape(len(mesh.northing) - 1, len(mesh.easting) - 1, len(mesh.up) - 1)
for name, found in (("densest", np.argmax), ("lightest", lambda a: np.argmin(np.where(a == -100, np.inf, a)))):
    j, i, k = np.unravel_index(found(values), values.shape)
    top = len(mesh.up) - 1 - k
    print(f"{name}: {values[j, i, k]:.4f} g/cm³ at easting {mesh.easting[i:i + 2].mean():.1f}, northing "
          f"{mesh.northing[j:j + 2].mean():.1f}, up {mesh.up[top - 1:top + 1].mean():.1f} m")
