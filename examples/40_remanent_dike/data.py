"""How stations.csv was made from output/truth.csv, which `terrane run truth.toml` writes: with noise from sines, so that any
machine gives the same.

    python data.py output/truth.csv stations.csv
"""

import csv
import math
import sys

DEVIATION = 2.0  # nT, of tmi and of each component, from which the strength of the field is computed


def noise(number):
    """Three sines of unlike periods are nearly normal, with a deviation of 1."""
    return sum(math.sqrt(2 / 3) * math.sin(rate * (number + 1)) for rate in (12.9898, 78.233, 37.719))


def main(truth, out):
    with open(truth, encoding="utf-8") as file:
        rows = csv.reader(line for line in file if not line.startswith("#"))
        names = [name.split(" [")[0] for name in next(rows)]
        stations = [dict(zip(names, map(float, row))) for row in rows]
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["easting [m]", "northing [m]", "up [m]", "tmi_observed [nT]", "b_amplitude_observed [nT]"])
        for n, at in enumerate(stations):
            b = [at[name] + DEVIATION * noise(1000 * (k + 1) + n) for k, name in enumerate(("b_e", "b_n", "b_u"))]
            writer.writerow([f"{at[axis]:g}" for axis in ("easting", "northing", "up")]
                            + [f"{at['tmi'] + DEVIATION * noise(n):.2f}", f"{math.hypot(*b):.2f}"])


if __name__ == "__main__":
    main(*sys.argv[1:])
