"""How gravity.csv, times.csv and sites.modem were made: the data of truth.toml with noise, from sines so that any machine
gives the same.

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
    places = ("easting", "northing", "up")
    write(out / "gravity.csv", [*(f"{axis} [m]" for axis in places), "g_u_observed [mGal]"],
          ([f"{at[axis]:g}" for axis in places] + [f"{at['g_u'] + 0.1 * noise(number):.4f}"]
           for number, at in enumerate(table(truth / "gravity.csv"))))
    names = [f"{what}{axis}" for what in ("shot_", "") for axis in places]
    write(out / "times.csv", [*(f"{name} [m]" for name in names), "travel_time_observed [s]"],
          ([f"{at[name]:g}" for name in names] + [f"{at['travel_time'] + 0.005 * noise(500 + number):.4f}"]
           for number, at in enumerate(table(truth / "times.csv"))))
    lines, number = [], 1000
    for line in (truth / "sites.modem").read_text(encoding="utf-8").splitlines():
        words = line.split()
        if line[:1] not in "#>" and words[7].startswith("Z"):  # period, site, latitude, longitude, x, y, z, element, two parts
            size = math.hypot(*map(float, words[8:10]))
            for part in (8, 9):
                words[part] = f"{float(words[part]) + 0.05 * size * noise(number):.6e}"
                number += 1
            words[10] = f"{0.05 * size:.6e}"
            line = " ".join(words)
        lines.append(line)
    (out / "sites.modem").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
