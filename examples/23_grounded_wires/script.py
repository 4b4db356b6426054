"""A conductor below grounded wires from Python: the numbers of job.toml, and the truth beside them.

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

# 1. The job: complex fields and their uncertainties, a mesh with its reference model; β so that the misfit is that of
#    the noise.
result = terrane.inversion.invert(Path(__file__).parent / "job.toml", output=output)
print(result)

# 2. The model below the line against the truth: a conductor of 3 ohm m in ground of 30.
model = terrane.TensorMesh.read(output / "model.nc")
section = model["resistivity"][:, model.shape[1] // 2]
east, up = ((faces[1:] + faces[:-1]) / 2 for faces in (model.easting, model.up))
for name, west, right, bottom, top, true in (("conductor", -750, 500, -750, -250, 3),
                                             ("ground beside it", 1000, 2000, -750, -250, 30)):
    inside = section[np.ix_((up > bottom) & (up < top), (east > west) & (east < right))]
    print(f"{name}: {np.exp(np.log(inside).mean()):.1f} ohm m in the mean, {true} in truth")
