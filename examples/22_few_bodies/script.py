"""A lens of ore and a cavity, found as a box and a sphere by global search; with a picture of both, and of the cells.

    python script.py [--output FOLDER]      needs scipy, for the search, and matplotlib, for the picture
"""

import argparse
import csv
from pathlib import Path

import numpy as np

import terrane
from terrane.inversion import Box, Sphere, find_bodies

here = Path(__file__).parent
arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=here / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. The data: 225 stations, with noise of 0.01 mGal.
with (here / "stations.csv").open() as file:
    table = np.array([[float(v) for v in row] for row in list(csv.reader(file))[1:]])
easting, northing, up, observed, uncertainty = table.T

# 2. What is looked for anywhere below the stations: a box of ore whose density is known from cores, a sphere that is
# lighter than the rock, and a plane. Of a sphere only the mass can be known, so its radius is given.
anywhere = {"easting": (-450, 450), "northing": (-450, 450), "up": (-350, -40)}
lens = Box(**anywhere, size_e=(20, 300), size_n=(20, 300), size_u=(20, 300), property=(600, 600))
cavity = Sphere(**anywhere, radius=60.0, property=(-2700, 0))
found = find_bodies(easting, northing, up, observed, uncertainty, [lens, cavity], trend="plane", generations=150,
                    population=10, seed=1)
print(found)
size = [found.bodies[0][name] for name in ("size_e", "size_n", "size_u")]
print(f"ore: {600 * np.prod(size) / 1e9:.2f} Mt more than the rock in its place")
with (output / "bodies.csv").open("w") as file:
    file.write("body,parameter,value\n")
    for body in found.bodies:
        file.writelines(f"{body['kind']},{name},{value:.6g}\n" for name, value in body.items() if name != "kind")

# 3. The same data explained by 25,600 cells.
terrane.inversion.invert(here / "job.toml", output=output)

# 4. Both in one picture.
try:
    import matplotlib
except ImportError:
    raise SystemExit(0)
matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.patches import Circle, Rectangle

model = terrane.read(output / "model.nc")
density = np.asarray(model["density"])
figure, axes = plt.subplots(2, 2, figsize=(10, 7.2), height_ratios=(2.2, 1), constrained_layout=True)
for axis, values, title in ((axes[0, 0], observed - found.trend, "observed less the regional field [mGal]"),
                            (axes[0, 1], (found.predicted - observed) / uncertainty, "residual of two bodies / σ")):
    most = np.abs(values).max()
    dots = axis.scatter(easting, northing, c=values, s=40, cmap="RdBu_r", vmin=-most, vmax=most)
    axis.set(title=title, xlabel="easting [m]", ylabel="northing [m]", aspect="equal")
    figure.colorbar(dots, ax=axis, shrink=0.9)
for axis, body, truth in zip(axes[1], found.bodies, ((100, 50, 60, "lens"), (-200, -100, 60, "cavity"))):
    row = int(np.searchsorted(model.northing, truth[1])) - 1
    most = np.abs(density[:, row]).max()
    cells = axis.pcolormesh(model.easting, model.up, density[:, row], cmap="RdBu_r", vmin=-most, vmax=most)
    e, u = body["easting"], body["up"]
    if body["kind"] == "box":
        a, c = body["size_e"], body["size_u"]
        axis.add_patch(Rectangle((e - a / 2, u - c / 2), a, c, fill=False, lw=2, label="found"))
        axis.add_patch(Rectangle((40, -220), 120, 120, fill=False, lw=1, ls="--", ec="tab:green", label="truth"))
    else:
        axis.add_patch(Circle((e, u), 60, fill=False, lw=2, label="found"))
        axis.add_patch(Circle((-200, -120), 60, fill=False, lw=1, ls="--", ec="tab:green", label="truth"))
    axis.set(title=f"the {truth[3]} ({body['property']:.0f} kg/m³) and cells", xlabel="easting [m]",
             ylabel="up [m]", aspect="equal")
    axis.legend(loc="lower right" if body["kind"] == "sphere" else "lower left", fontsize=8)
    figure.colorbar(cells, ax=axis, label="kg/m³")
figure.savefig(output / "few_bodies.png", dpi=75)
