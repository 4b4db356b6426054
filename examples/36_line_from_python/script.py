"""A line of electrodes from nothing to a section: an earth, what a dipole-dipole line measures there, and what it tells.

    python script.py [--output FOLDER]      needs xarray; matplotlib for the picture
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

# 1. An earth: clay and a wall in ground of 100 ohm m, and what 25 electrodes measure above them, with noise of 2 %.
CLAY, WALL = [-30, -10, -20, 20, -12, -4], [12, 24, -20, 20, -14, -3]
earth = terrane.Earth(background={"resistivity": 100})
earth.body("box", box=CLAY, resistivity=15)
earth.body("box", box=WALL, resistivity=800)
line = {"kind": "line", "start": [-48, 0], "electrodes": 25, "spacing": 4, "array": "dipole-dipole", "levels": 7}
terrane.run(earth, {"physics": "electric", "survey": line, "output": {"folder": str(output), "files": ["true.ohm"]}})
arrays = terrane.electric.read_arrays(output / "true.ohm")
unit, resistance, _ = arrays.columns["resistance"]
noise = 1 + 0.02 * np.random.default_rng(7).standard_normal(resistance.size)
measured = arrays._replace(columns={"resistance": (unit, resistance * noise, 0.02 * abs(resistance))})
terrane.electric.write_arrays(output / "measured.ohm", measured)  # which section.toml reads, too

# 2. The model that explains them. The mesh is planned: half the distance of electrodes, growing downwards.
found = Inversion(None, output / "measured.ohm", physics="electric", length_scale=[8, 40, 4]).run()
found.write(output / "model.nc")
print(found)

# 3. What it says of both bodies: the mean in each.
e, n, u = found.model.centres
inside = {name: found.model.resistivity[np.ix_((u > b[4]) & (u < b[5]), abs(n) < 3, (e > b[0]) & (e < b[1]))]
          for name, b in (("clay", CLAY), ("wall", WALL))}
with (output / "bodies.csv").open("w") as file:
    file.write("body,resistivity\n")
    for name, cells in inside.items():
        mean = float(np.exp(np.log(cells).mean()))
        print(f"{name}: {mean:.4g} ohm m")
        file.write(f"{name},{mean:.6g}\n")

# 4. Pictures: the section, and measured beside computed.
try:
    import matplotlib
except ImportError:
    raise SystemExit(0)
matplotlib.use("Agg")
from matplotlib.patches import Rectangle

found.plot("data", path=output / "data.png")
axes = found.plot(slice="northing=0", region=[-50, 50, -20, 20, -20, 0], limits=[15, 500], title="clay and a wall, as found")
for box in (CLAY, WALL):
    np.ravel(axes)[0].add_patch(Rectangle((box[0], box[4]), box[1] - box[0], box[5] - box[4], fill=False, lw=1.5))
np.ravel(axes)[0].figure.savefig(output / "line_from_python.png", dpi=90)
