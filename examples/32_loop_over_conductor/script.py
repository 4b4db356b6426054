"""A loop beside a conductor, with and without it, from Python: the numbers of job.toml and a picture.

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

# 1. A mesh as in job.toml: 25 m around the loop and the line, and cells that grow from there.
side = [1795, 1329, 985, 729, 540, 400, 297, 220, 163, 121, 89, 66, 45, 34]
above = [17, 23, 31, 42, 57, 77, 104, 140, 189, 255, 344, 464, 626, 845, 1141, 1540]


def faces(low, *widths):
    return low + np.concatenate([[0], np.cumsum(np.concatenate(widths))])


easting = faces(-450 - sum(side), side, 36 * [25], side[::-1])
northing = faces(-250 - sum(side), side, 20 * [25], side[::-1])
up = faces(-250 - sum(side), side, 8 * [25], 4 * [12.5], above)


def centres(f):
    return (f[1:] + f[:-1]) / 2


# 2. The earth, [up, north, east], with the conductor and without.
e, n, u = np.meshgrid(centres(easting), centres(northing), centres(up), indexing="ij")
e, n, u = e.T, n.T, u.T
rho = np.where(u > 0, 1e8, 300.0)
inside = (e > 150) & (e < 225) & (abs(n) < 150) & (u > -200) & (u < -50)
loop = terrane.electromagnetic.Wire([[-250, -100, 0], [-50, -100, 0], [-50, 100, 0], [-250, 100, 0]], 10, closed=True)
places = np.array([0, 50, 100, 150, 187.5, 225, 275, 325, 375])
line = terrane.Survey(places, 0 * places, 0 * places)
frequencies = [30.0, 100.0, 400.0]


def field(resistivity):
    mesh = terrane.TensorMesh(easting, northing, up, resistivity=resistivity)
    simulation = terrane.electromagnetic.Simulation(mesh, line, loop, frequencies, components=["h_u", "h_e"])
    return simulation.run()


def parts(result):
    return np.asarray(result["h_u"])[0], np.asarray(result["h_e"])[0]  # [frequency, receiver]


whole = field(np.where(inside, 5.0, rho))
whole.to_netcdf(output / "loop.nc")
with_body, without = parts(whole), parts(field(rho))

# 3. What the conductor adds, in parts of the field that the loop has in free space.
free = without[0][0].real  # 30 Hz: the host hardly matters
for hertz, h, plain in zip(frequencies, with_body[0], without[0]):
    for x, value in zip(places, (h - plain) / abs(free)):
        print(f"{hertz:5.0f} Hz {x:6.1f} m  in phase {100 * value.real:7.2f} %, quadrature {100 * value.imag:7.2f} %")

# 4. The picture.
try:
    import matplotlib.pyplot as plt
except ImportError:
    raise SystemExit(0)
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
for a, component, name in zip(axes, (0, 1), ("upward", "eastward")):
    for number, hertz in enumerate(frequencies):
        change = 100 * (with_body[component][number] - without[component][number]) / abs(free)
        a.plot(places, change.real, "o-", color=f"C{number}", label=f"{hertz:.0f} Hz, in phase")
        a.plot(places, change.imag, "s--", color=f"C{number}", label=f"{hertz:.0f} Hz, quadrature")
    a.axvspan(150, 225, color="0.9", zorder=0)
    a.set(xlabel="easting, m", ylabel=f"{name} field, % of the loop's")
    a.grid(alpha=0.3)
axes[0].legend(frameon=False, fontsize=7)
figure.savefig(output / "loop_over_conductor.png", dpi=110)
