"""A marine line with and without its resistor, from Python: the numbers of job.toml and a picture.

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

# 1. Cells of 100 m around the line and of 50 m above and below the sea floor, then cells that grow to 8 km away.
side = [1790, 1380, 1060, 816, 627, 483, 371, 286, 220, 172, 132]
below = [1968, 1514, 1165, 896, 689, 530, 408, 314, 241, 186, 143, 110, 85, 65, 50, 50, 160, 140, 140, 110, 85, 65]
above = [65, 85, 110, 140, 150, 150, 150, 195, 254, 330, 428, 557, 724, 941, 1224, 1591, 2068]


def faces(first, *widths):
    return first + np.concatenate([[0], np.cumsum(np.concatenate(widths))])


easting = faces(-7837, side, 46 * [100], side[::-1])
northing = faces(-8037, side, 14 * [100], side[::-1])
up = faces(-10414, below, 12 * [50], above)


# 2. Air, sea and sediment, [up, north, east]; in the sediment a layer 100 m thick that holds oil or gas, or sediment.
def field(resistor):
    mesh = terrane.TensorMesh(easting, northing, up)
    east, north, height = mesh.centres
    e, n, u = east, north[:, None], height[:, None, None]
    layer = (e > 500) & (e < 3500) & (abs(n) < 1000) & (u > -2100) & (u < -2000)
    mesh.resistivity = np.where(layer, resistor, np.where(u > 0, 1e8, np.where(u > -1000, 0.3, 1.0)))
    simulation = terrane.electromagnetic.Simulation(mesh, receivers, source, [0.25, 0.5], components=["e_e", "e_u", "h_n"])
    return simulation.run()


# 3. A dipole along the line, 50 m above receivers on the sea floor.
source = terrane.electromagnetic.Dipole([0, 0, -950], azimuth=90)
receivers = terrane.Survey(np.arange(1000, 3501, 500), 0.0, -1000.0)
with_resistor, without = field(100.0), field(1.0)
with_resistor.write(output / "marine_line.nc")
print(with_resistor)

# 4. The inline field at the receivers, source 0: complex, [frequency, receiver].
e, e_without = (np.asarray(result["e_e"])[0] for result in (with_resistor, without))
offset = np.asarray(with_resistor["receiver_easting"])
for frequency, there, plain in zip((0.25, 0.5), np.abs(e), np.abs(e_without)):
    for x, a, b in zip(offset, there, plain):
        print(f"{frequency:5} Hz {x:6.0f} m  {a:.3e} V/m, without the resistor {b:.3e}: {a / b:.2f} times")

# 5. The picture.
try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit(0)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
for n, frequency in enumerate((0.25, 0.5)):
    colour = f"C{n}"
    axes[0].semilogy(offset / 1000, np.abs(e[n]), "o-", color=colour, label=f"{frequency} Hz")
    axes[0].semilogy(offset / 1000, np.abs(e_without[n]), "--", color=colour, label=f"{frequency} Hz, no resistor")
    axes[1].plot(offset / 1000, np.abs(e[n]) / np.abs(e_without[n]), "o-", color=colour, label=f"{frequency} Hz")
axes[0].set(xlabel="offset, km", ylabel="inline electric field, V/m per A m")
axes[1].set(xlabel="offset, km", ylabel="with over without the resistor")
for a in axes:
    a.legend(frameon=False, fontsize=8)
    a.grid(alpha=0.3)
figure.savefig(output / "marine_line.png", dpi=110)
