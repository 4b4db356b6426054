"""Resistivities below a line built in Python: the numbers of job.toml, and the truth beside them.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import numpy as np

import terrane
from terrane.inversion import Inversion

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. Half the distance of electrodes around the line; cells that grow to a kilometre away.
growing = [9, 14, 22, 35, 55, 85, 130, 200, 300]
across = [20, 35, 55, 85, 130, 200, 300]
easting = -980 + np.cumsum([0, *growing[::-1], *[5] * 52, *growing])
northing = -865 + np.cumsum([0, *across[::-1], *[10] * 8, *across])
up = -908 + np.cumsum([0, *growing[::-1], 7, 6, *[5] * 8, 2.5, 2.5])
mesh = terrane.TensorMesh(easting, northing, up)

# 2. The data, known to 3 %. β is found, so that the misfit is that of the noise; the line sees little of what is
#    across it.
arrays = terrane.electric.read_arrays(Path(__file__).parent / "arrays.csv")
found = Inversion(mesh, arrays, physics="electric", percent=3, length_scale=[20, 60, 10]).run()
found.data.write(output / "fit.nc")
found.data.write(output / "fit.csv")
found.write(output / "model.nc")
print(found)

# 3. The model below the line against the truth: a conductor of 10 and rock of 600 ohm m in ground of 100.
east, north, up = found.model.centres
section = found.model.resistivity[:, north.size // 2]
for name, west, right, bottom, top, true in (("conductor", -50, -15, -30, -12.5, 10),
                                             ("resistive rock", 25, 65, -30, -7.5, 600)):
    inside = section[np.ix_((up > bottom) & (up < top), (east > west) & (east < right))]
    print(f"{name}: {np.exp(np.log(inside).mean()):.0f} ohm m in the mean, {true} in truth")

# 4. The section.
found.plot(path=output / "model.png", limits=[10, 400])
