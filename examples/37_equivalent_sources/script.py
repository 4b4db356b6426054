"""Gravity of a buried block, measured at 400 stations, gridded 100 m up and as a gradient; and its magnetic anomaly,
reduced to the pole: by equivalent sources, beside the exact fields. Writes equivalent_sources.png.

    python script.py [--output FOLDER]
"""

import argparse
import csv
from pathlib import Path

import numpy as np

import terrane
from terrane.inversion import Sensitivity

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. What was measured, and the block below, whose exact fields are known.
stations = terrane.Survey.read(Path(__file__).parent / "../10_buried_block/stations.csv")
at = stations.easting, stations.northing, stations.up
block, density, susceptibility = [[-100, 150, -150, 100, -275, -100]], [400.0], [0.05]
axis = np.linspace(-400, 400, 17)
east, north = (values.ravel() for values in np.meshgrid(axis, axis))

# 2. Gravity: one prism below each square of 50 m, and conjugate gradients until the misfit is that of the noise.
layer = terrane.EquivalentSources(50, depth=150)
layer.fit(*at, stations.columns["g_u_observed"].values,
          uncertainty=stations.columns["g_u_uncertainty"].values)
print(layer)
exact = terrane.gravity.forward(block, density, east, north, 100.0, channels=["g_u", "g_uu"])
fields = [("g_u 100 m up", "mGal", layer.grid(axis, axis, 100.0), exact["g_u"]),
          ("g_uu 100 m up", "E", layer.grid(axis, axis, 100.0, channel="g_uu"), exact["g_uu"])]

# 3. The same block magnetized by a field that dips by 50 degrees: noise of 1 % of its largest anomaly, and what the
#    layer gives at the pole.
field, pole = (50_000.0, 50.0, 10.0), (50_000.0, 90.0, 0.0)
anomaly = Sensitivity(block, *at, channels=["tmi"], main_field=field).apply(susceptibility)
noise = 0.01 * np.abs(anomaly).max()
magnets = terrane.EquivalentSources(50, depth=100, channel="tmi", main_field=field)
magnets.fit(*at, anomaly + noise * np.random.default_rng(1).standard_normal(anomaly.size), uncertainty=noise)
print(magnets)
at_pole = Sensitivity(block, east, north, np.full(east.size, 50.0), channels=["tmi"], main_field=pole)
fields.append(("tmi reduced to the pole", "nT", magnets.grid(axis, axis, 50.0, pole=True), at_pole.apply(susceptibility)))

# 4. Beside the exact fields.
with (output / "errors.csv").open("w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["field", "error"])
    for name, _, found, right in fields:
        error = np.abs(found.ravel() - right).max() / np.abs(right).max()
        writer.writerow([name, f"{error:.4f}"])
        print(f"{name}: off by {100 * error:.1f} % of the largest value")

# 5. Pictures: found above, exact below.
try:
    import matplotlib
except ImportError:
    raise SystemExit(0)
matplotlib.use("Agg")
import matplotlib.pyplot as plt

figure, axes = plt.subplots(2, len(fields), figsize=(11, 6.4), sharex=True, sharey=True, layout="constrained")
for column, (name, unit, found, right) in zip(axes.T, fields):
    low, high = min(found.min(), right.min()), max(found.max(), right.max())
    for panel, values, what in zip(column, (found, right), ("equivalent sources", "exact")):
        image = panel.pcolormesh(axis, axis, values.reshape(axis.size, axis.size), vmin=low, vmax=high, shading="nearest")
        panel.set_title(f"{name}\n{what}", fontsize=9)
        panel.set_aspect("equal")
        figure.colorbar(image, ax=panel, shrink=0.8, label=unit)
for panel in axes[-1]:
    panel.set_xlabel("easting (m)")
for panel in axes[:, 0]:
    panel.set_ylabel("northing (m)")
figure.savefig(output / "equivalent_sources.png", dpi=100)
