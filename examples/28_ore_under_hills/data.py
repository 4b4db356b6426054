"""How gravity.csv, magnetic.csv and arrays.csv were made: fields of the earth of ../20_tour, over its ore and with noise,
from sines so that any machine gives the same. Needs Python 3.11.

    python data.py [FOLDER]
"""

import csv
import math
import sys
import tomllib
from pathlib import Path

import terrane

TOUR = Path(__file__).parent.parent / "20_tour"
MAP = {"region": [6200, 7400, 3400, 4600], "shape": [13, 13], "clearance": 40, "elevation": str(TOUR / "hills.asc")}
FINE = {"kind": "planned", "cell": 40}  # the inversion's cells are 40 m × 70 m × 40 m
SIMULATIONS = [
    {"name": "gravity", "physics": "gravity", "reference_density": 2750, "survey": "map", "mesh": "map"},
    {"name": "magnetic", "physics": "magnetic", "inclination": 60, "survey": "map", "mesh": "map"},
    {"name": "resistivity", "physics": "electric"},
]
LINE = {"start": [6440, 3860], "electrodes": 13, "spacing": 80, "levels": 8}  # south of the ore's middle


def noise(number):
    """Three sines of unlike periods are nearly normal, with a deviation of 1."""
    return sum(math.sqrt(2 / 3) * math.sin(rate * (number + 1)) for rate in (12.9898, 78.233, 37.719))


def earth():
    """The table [model] of the tour, whose files are beside it, without what is for its simulation of sound alone."""
    model = tomllib.loads((TOUR / "job.toml").read_text(encoding="utf-8"))["model"]
    del model["acoustic"]
    for surface in model["surface"]:
        surface["elevation"] = str(TOUR / surface["elevation"])
    return model


def table(path):
    """Rows as mappings from names, without units, to numbers."""
    rows = csv.reader(line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    names = [name.split(" [")[0] for name in next(rows)]
    return [dict(zip(names, map(float, row))) for row in rows]


def write(path, columns, rows):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(",".join(row) + "\n" for row in rows)


def main(folder="."):
    # 1. The fields, without noise.
    out = Path(folder)
    names = [simulation["name"] for simulation in SIMULATIONS]
    terrane.run_all({"model": earth(), "simulation": SIMULATIONS, "survey": {"map": MAP, "resistivity": LINE},
                     "mesh": {"map": FINE, "resistivity": {"kind": "planned", "cell": 20}},
                     "output": {name: {"files": [f"{name}.csv"]} for name in names}}, output=out / "truth")

    # 2. Data: 0.05 mGal, 5 nT and 3 % of noise.
    for name, channel, unit, deviation, first in (("gravity", "g_u", "mGal", 0.05, 0), ("magnetic", "tmi", "nT", 5, 500)):
        write(out / f"{name}.csv", ["easting [m]", "northing [m]", "up [m]", f"{channel}_observed [{unit}]"],
              ([f"{at[axis]:.7g}" for axis in ("easting", "northing", "up")]
               + [f"{at[channel] + deviation * noise(first + number):.5g}"]
               for number, at in enumerate(table(out / f"truth/{name}.csv"))))
    places = [f"{letter}_{axis}" for letter in "abmn" for axis in ("easting", "northing")]
    write(out / "arrays.csv", [f"{name} [m]" for name in places] + ["apparent_resistivity_observed [ohm m]"],
          ([f"{at[name]:g}" for name in places] + [f"{at['apparent_resistivity'] * math.exp(0.03 * noise(number)):.4g}"]
           for number, at in enumerate(table(out / "truth/resistivity.csv"))))


if __name__ == "__main__":
    main(*sys.argv[1:])
