"""How gravity.csv, magnetic.csv and arrays.csv were made: the fields of truth.toml with noise, from sines so that any
machine gives the same.

    terrane run truth.toml && python data.py output .
"""

import csv
import math
import sys
from pathlib import Path


def noise(number):
    """Three sines of unlike periods are nearly normal, with a deviation of 1."""
    return sum(math.sqrt(2 / 3) * math.sin(rate * (number + 1)) for rate in (12.9898, 78.233, 37.719))


def table(path):
    """Rows as mappings from names, without units, to numbers."""
    rows = csv.reader(line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#"))
    names = [name.split(" [")[0] for name in next(rows)]
    return [dict(zip(names, map(float, row))) for row in rows]


def write(path, columns, rows):
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        file.write(",".join(columns) + "\n")
        file.writelines(",".join(row) + "\n" for row in rows)


def main(truth, out):
    truth, out = Path(truth), Path(out)
    for name, channel, unit, deviation, first in (("gravity", "g_u", "mGal", 0.01, 0), ("magnetic", "tmi", "nT", 5, 500)):
        write(out / f"{name}.csv", ["easting [m]", "northing [m]", "up [m]", f"{channel}_observed [{unit}]"],
              ([f"{at[axis]:g}" for axis in ("easting", "northing", "up")]
               + [f"{at[channel] + deviation * noise(first + number):.5g}"]
               for number, at in enumerate(table(truth / f"{name}.csv"))))
    places = [f"{letter}_{axis}" for letter in "abmn" for axis in ("easting", "northing")]
    write(out / "arrays.csv", [f"{name} [m]" for name in places] + ["apparent_resistivity_observed [ohm m]"],
          ([f"{at[name]:g}" for name in places] + [f"{at['apparent_resistivity'] * math.exp(0.03 * noise(number)):.4g}"]
           for number, at in enumerate(table(truth / "resistivity.csv"))))


if __name__ == "__main__":
    main(*sys.argv[1:])
