"""Plane waves over a block, built in Python: the numbers of job.toml, and a picture of its phase tensors.

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

# 1. Cells of 250 m over the block, thin ones under the ground; then cells that grow for half a wavelength.
side = [14400, 9600, 6400, 4300, 2800, 1900, 1300, 840, 560, 380]
below = [12800, 8500, 5700, 3800, 2500, 1700, 1100, 750, *7 * [250], *2 * [125], *4 * [62.5]]
above = [62.5, 100, 160, 250, 410, 650, 1000, 1700, 2700, 4300, 6800, 10900, 17500]


def faces(first, *widths):
    return first + np.concatenate([[0], np.cumsum(np.concatenate(widths))])


mesh = terrane.TensorMesh(faces(-43980, side, 12 * [250], side[::-1]), faces(-44480, side, 16 * [250], side[::-1]),
                          faces(-39100, below, above))
east, north, up = mesh.centres
e, n, u = east, north[:, None], up[:, None, None]
block = (abs(e) < 500) & (abs(n) < 1000) & (u > -2250) & (u < -250)
mesh.resistivity = np.where(u > 0, 1e8, np.where(block, 0.5, 100.0))  # air, the block, rock; ohm m

sites = terrane.Survey([0, 500, 1000, 2000, 0], [0, 0, 0, 0, 2000], 0.0)
waves = terrane.electromagnetic.PlaneWaves()
result = terrane.electromagnetic.Simulation(mesh, sites, waves, [0.3, 1, 3, 10, 30]).run()
result.write(output / "block.nc")
print(result)

# 2. Apparent resistivities, [frequency, site].
frequency = np.asarray(result["frequency"])
places = np.stack([np.asarray(result["receiver_easting"]), np.asarray(result["receiver_northing"])], axis=1)
rho = {pair: np.asarray(result[f"rho_{pair}"]) for pair in ("en", "ne")}
for f, hertz in enumerate(frequency):
    for n, (east, north) in enumerate(places):
        print(f"{hertz:5} Hz at {east:5.0f} m east, {north:5.0f} m north: {rho['en'][f, n]:7.2f} and {rho['ne'][f, n]:7.2f} ohm m")

# 3. The same from the impedance itself: |Z|^2 / (omega mu0).
z = np.asarray(result["z_ne"])
omega_mu = 2 * np.pi * frequency[:, None] * 4e-7 * np.pi
assert np.allclose(np.abs(z) ** 2 / omega_mu, rho["ne"])

# 4. Phase tensors: the ellipse that a circle of directions becomes; its colour is the mean phase.
try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit(0)
tensor = np.stack([np.asarray(result[f"phase_tensor_{pair}"]) for pair in ("ee", "en", "ne", "nn")], axis=-1)
tensor = tensor.reshape(*tensor.shape[:-1], 2, 2)
angle = np.linspace(0, 2 * np.pi, 73)
circle = np.stack([np.cos(angle), np.sin(angle)])
figure, axes = plt.subplots(figsize=(7, 4), constrained_layout=True)
colours = plt.get_cmap("viridis")
for f in range(len(frequency)):
    for n in range(len(places)):
        e, u = tensor[f, n] @ circle / np.linalg.norm(tensor[f, n], 2) * 0.4
        phase = np.degrees(np.arctan(np.sqrt(np.linalg.det(tensor[f, n]))))
        axes.fill(n + e, f + u, color=colours((phase - 30) / 50))
        axes.text(n, f, f"{phase:.0f}°", ha="center", va="center", fontsize=7, color="white")
axes.set(xticks=range(len(places)), xticklabels=[f"{e:.0f}, {n:.0f} m" for e, n in places], yticks=range(len(frequency)),
         yticklabels=[f"{x:g} Hz" for x in frequency], aspect="equal")
figure.savefig(output / "phase_tensors.png", dpi=110)
