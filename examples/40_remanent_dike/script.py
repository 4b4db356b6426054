"""A dike with remanence, sought three times: as susceptibilities from the total-field anomaly, which assumes rock
magnetized along today's field; as susceptibilities from the strength of the anomalous field; and as magnetizations of
any direction. Writes bodies.csv and remanent_dike.png.

    python script.py [--output FOLDER]
"""

import argparse
import csv
from pathlib import Path

import numpy as np
import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

TRUTH = {"inclination": -20.0, "declination": 115.0}
STEPS = [(-120, -40, -140, -60), (-60, 20, -220, -140), (0, 80, -300, -220)]  # west, east, bottom, top of the dike
JOB = {"mesh": {"box": [-600, 600, -600, 600, -400, 0], "shape": [20, 20, 10]},
       "survey": {"file": str(Path(__file__).parent / "stations.csv")},
       "simulation": {"physics": "magnetic", "inclination": 60},
       "inversion": {"floor": [2], "exponent": 2, "length_scale": [60, 60, 60]}}


def find(folder, name, simulation, inversion):
    job = {**JOB, "simulation": {**JOB["simulation"], **simulation}, "inversion": {**JOB["inversion"], **inversion},
           "output": {"files": ["fit.csv"], "model": [f"{name}.nc"]}}
    return terrane.inversion.invert(job, output=folder)


def middle(mesh, strength):
    """The centre of the cells with at least half of the largest strength, weighted by it: easting, northing, up."""
    centres = [(faces[1:] + faces[:-1]) / 2 for faces in (mesh.up, mesh.northing, mesh.easting)]
    weight = np.where(strength >= 0.5 * strength.max(), strength, 0)
    return [float((weight.sum(axis=tuple(b for b in range(3) if b != axis)) * centres[axis]).sum() / weight.sum())
            for axis in (2, 1, 0)]


def unit(inclination, declination):
    i, d = np.radians([inclination, declination])
    return np.array([np.cos(i) * np.sin(d), np.cos(i) * np.cos(d), -np.sin(i)])


# 1. Three models of the same dike. Only susceptibilities of both signs explain the anomaly. Strengths of the field hardly
# depend on the direction, and susceptibilities above zero explain them.
compact = {"norms": [1, 1, 1, 1]}
found = [("susceptibility", "susceptibility from tmi", output / "tmi", {"channels": ["tmi"]}, compact),
         ("amplitude", "susceptibility from b_amplitude", output / "b_amplitude", {"channels": ["b_amplitude"]}, {"lower": 0}),
         ("magnetization", "magnetization from tmi", output, {"channels": ["tmi"], "property": "magnetization"}, compact)]
panels, rows = [], []
for name, title, folder, simulation, inversion in found:
    result = find(folder, name, simulation, inversion)
    mesh = result.model
    strength = result.cells["magnetization"] if name == "magnetization" else mesh.susceptibility
    rows.append([name, *middle(mesh, strength)])
    panels.append((title, mesh, strength))
    print(f"{title}: centre {rows[-1][1]:.0f} m east, {rows[-1][2]:.0f} m north, {rows[-1][3]:.0f} m up")

# 2. The direction of the dike's moment, beside the truth.
report = result.report
angle = np.degrees(np.arccos(unit(report.moment_inclination, report.moment_declination)
                             @ unit(TRUTH["inclination"], TRUTH["declination"])))
print(f"inclination {report.moment_inclination:.0f}, declination {report.moment_declination:.0f} degrees: "
      f"{angle:.0f} degrees from the truth")
with open(output / "bodies.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file)
    writer.writerow(["model", "easting", "northing", "up"])
    writer.writerows([name, *(f"{x:.1f}" for x in at)] for name, *at in rows)

# 3. Sections through the middle of the dike, whose steps are outlined.
try:
    import matplotlib
except ImportError:
    raise SystemExit(0)
matplotlib.use("Agg")
import matplotlib.pyplot as plt

figure, axes = plt.subplots(1, len(panels), figsize=(13, 3.1), sharey=True, layout="constrained")
for axis, (title, mesh, strength) in zip(axes, panels):
    row = len(mesh.northing) // 2
    signed = strength.min() < 0
    image = axis.pcolormesh(mesh.easting, mesh.up, strength[:, row], cmap="RdBu_r" if signed else "viridis",
                            vmin=min(0, strength.min()), vmax=-strength.min() if signed else strength.max())
    figure.colorbar(image, ax=axis, label="A/m" if title.startswith("magnetization") else "SI", shrink=0.8)
    for west, east, bottom, top in STEPS:
        axis.add_patch(plt.Rectangle((west, bottom), east - west, top - bottom, fill=False, ec="black" if signed else "white",
                                     lw=1.2))
    if title.startswith("magnetization"):
        east, up = mesh.magnetization_east[:, row], mesh.magnetization_up[:, row]
        x, y = np.meshgrid((mesh.easting[1:] + mesh.easting[:-1]) / 2, (mesh.up[1:] + mesh.up[:-1]) / 2)
        strong = strength[:, row] > 0.3 * strength.max()
        axis.quiver(x[strong], y[strong], east[strong], up[strong], color="red", scale_units="xy", angles="xy",
                    scale=strength.max() / 60)
    axis.set(title=title, xlabel="easting (m)", xlim=(-400, 400), aspect="equal")
axes[0].set_ylabel("up (m)")
figure.savefig(output / "remanent_dike.png", dpi=95)
