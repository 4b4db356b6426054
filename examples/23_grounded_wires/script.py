"""A conductor below grounded wires built in Python: the numbers of job.toml, and the truth beside them.

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

# 1. Cells of 250 m along the line, which grow for a wavelength in the ground; the reference and first model, and the
#    air, which takes no part.
growing = [400, 700, 1200, 2000, 3200]
across = [450, 700, 1200, 2000, 3200]
easting = -10000 + np.cumsum([0, *growing[::-1], *[250] * 20, *growing])
northing = -8450 + np.cumsum([0, *across[::-1], *[300] * 6, *across])
up = -8050 + np.cumsum([0, 2800, 1800, 1100, 700, 400, 250, *[125] * 8, 250, 500, 1000, 2000, 4000])
mesh = terrane.TensorMesh(easting, northing, up)
mesh.resistivity = 30
mesh.resistivity[mesh.centres[2] > 0] = 1e8

# 2. Two wires of a kilometre, grounded at both ends, and nine receivers between them; β is found, so that the misfit
#    is that of the noise.
wires = [{"kind": "wire", "points": [[west, 0, 0], [west + 1000, 0, 0]], "current": 10} for west in (-2500, 1500)]
receivers = terrane.Survey(np.arange(-2000.0, 2001, 500), 0.0, 0.0)
found = Inversion(mesh, receivers, physics="electromagnetic", source=wires, frequencies=[4], components=["e_e"],
                  observed=Path(__file__).parent / "data.csv", percent=3, length_scale=[500, 1500, 250],
                  simulation={"tolerance": 1e-6}).run()
found.data.write(output / "fit.nc")
found.data.write(output / "fit.csv")
found.write(output / "model.nc")
print(found)

# 3. The model below the line against the truth: a conductor of 3 ohm m in ground of 30.
east, north, up = found.model.centres
section = found.model.resistivity[:, north.size // 2]
for name, west, right, bottom, top, true in (("conductor", -750, 500, -750, -250, 3),
                                             ("ground beside it", 1000, 2000, -750, -250, 30)):
    inside = section[np.ix_((up > bottom) & (up < top), (east > west) & (east < right))]
    print(f"{name}: {np.exp(np.log(inside).mean()):.1f} ohm m in the mean, {true} in truth")

# 4. The section below the wires.
found.plot(path=output / "model.png", slice="northing=0", region=[-2500, 2500, -1000, 1000, -1500, 0])
