"""Gravity on the ground and in a well, inverted with and without the well: bodies one below the other, which data on the
ground alone smear into one. Writes bodies.csv, well.nc and well.png.

    python script.py [--output FOLDER]
"""

import argparse
import csv
from pathlib import Path

import numpy as np

import terrane
from terrane.inversion import Inversion

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. The stations: those below the ground are in the well.
stations = terrane.Survey.read(Path(__file__).parent / "stations.csv")
ground = stations.up > 0
on_ground = terrane.Survey(stations.easting[ground], stations.northing[ground], stations.up[ground])
on_ground.set_column("g_u_observed", stations.columns["g_u_observed"].values[ground], "mGal")

# 2. The same cells, weights and bounds for both. Weights by distance count from all stations.
mesh = terrane.TensorMesh.regular([-600, 600, -600, 600, -600, 0], shape=(24, 24, 12))
found = []
for name, survey in (("ground", on_ground), ("ground and well", stations)):
    model = Inversion(mesh, survey, floor=0.01, weighting="distance", length_scale=[100, 100, 100], lower=0, upper=400).run()
    print(f"{name}: {model.report.data} data, chi2/N {model.report.chi_squared_g_u:.2f}, {model.stopped}")
    found.append((name, model))
found[-1][1].write(output / "well.nc")  # with the columns that the job file writes

# 3. The mean density in the upper body, in the gap below it, and in the lower body.
layers = {"upper": (-200, 100, -150, -100), "gap": (-50, 100, -350, -150), "lower": (-50, 250, -450, -350)}
middle = [(faces[1:] + faces[:-1]) / 2 for faces in (mesh.up, mesh.northing, mesh.easting)]
up, north, east = np.meshgrid(*middle, indexing="ij")
with (output / "bodies.csv").open("w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["data", *layers])
    for name, model in found:
        means = [model.model.density[(east > w) & (east < e) & (abs(north) < 150) & (up > b) & (up < t)].mean()
                 for w, e, b, t in layers.values()]
        writer.writerow([name, *(f"{mean:.1f}" for mean in means)])
        print(f"{name}: " + ", ".join(f"{layer} {mean:.0f} kg/m3" for layer, mean in zip(layers, means)))

# 4. Sections at northing 0, with the two bodies and the well.
try:
    import matplotlib
except ImportError:
    raise SystemExit(0)
matplotlib.use("Agg")
import matplotlib.pyplot as plt

BODIES = [(-200, 100, -150, -100), (-50, 250, -450, -350)]  # west, east, bottom, top
figure, axes = plt.subplots(1, 2, figsize=(10, 3.1), sharey=True, layout="constrained")
for axis, (name, model) in zip(axes, found):
    image = axis.pcolormesh(mesh.easting, mesh.up, model.model.density[:, 12], cmap="viridis", vmin=0, vmax=250)
    for west, east_, bottom, top in BODIES:
        axis.add_patch(plt.Rectangle((west, bottom), east_ - west, top - bottom, fill=False, ec="white", lw=1.2))
    if name != "ground":
        axis.plot(stations.easting[~ground], stations.up[~ground], ".", color="red", markersize=3)
    axis.set(title=name, xlabel="easting (m)", aspect="equal")
axes[0].set_ylabel("up (m)")
figure.colorbar(image, ax=axes, label="density (kg/m3)", shrink=0.8)
figure.savefig(output / "well.png", dpi=95)
