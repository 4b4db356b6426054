"""A dipole-dipole line built in Python: the numbers of job.toml.

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

# 1. Cells of 2.5 m around the line, then cells that grow to almost a kilometre away: faces from the widths.
side = [300, 200, 130, 85, 55, 35, 22, 14, 9, 6]


def faces(first, *widths):
    return first + np.concatenate([[0], np.cumsum(np.concatenate(widths))])


mesh = terrane.TensorMesh(faces(-976, side, 96 * [2.5], side[::-1]), faces(-896, side, 32 * [2.5], side[::-1]),
                          faces(-886, side, 12 * [2.5]))

# 2. Rock of 100 ohm m under a resistive cover, with a conductor in it; arrays are [up, north, east].
east, north, up = mesh.centres
e, n, u = east, north[:, None], up[:, None, None]
conductor = (abs(e) < 20) & (abs(n) < 30) & (u > -25) & (u < -10)
mesh.resistivity = np.where(conductor, 5, np.where(u > -5, 400, 100))

# 3. What 41 electrodes measure, 5 m apart.
line = terrane.electric.Line(start=[-100, 0], electrodes=41, spacing=5, array="dipole-dipole", levels=8)
result = terrane.electric.Simulation(mesh, line).run()
result.write(output / "dipole_dipole.nc")
print(result)

# 4. Every array is a row: its electrodes, resistance (V/A) and apparent resistivity (ohm m).
rho = result["apparent_resistivity"]
print(f"apparent resistivity from {float(rho.min()):.1f} to {float(rho.max()):.1f} ohm m over {rho.size} arrays")
