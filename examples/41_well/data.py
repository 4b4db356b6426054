"""How stations.csv was made: the gravity of two bodies on the ground and in a well, with noise from sines, so that any machine
gives the same.

    python data.py stations.csv
"""

import csv
import math
import sys

import numpy as np

import terrane

BODIES = [[-200, 100, -150, 150, -150, -100], [-50, 250, -150, 150, -450, -350]]  # west, east, south, north, bottom, top
DENSITIES = [300.0, 400.0]  # contrasts, kg/m3
DEVIATION = 0.01  # mGal


def noise(number):
    """Three sines of unlike periods are nearly normal, with a deviation of 1."""
    return sum(math.sqrt(2 / 3) * math.sin(rate * (number + 1)) for rate in (12.9898, 78.233, 37.719))


def main(out):
    line = np.arange(-600.0, 601, 100)
    east, north = (values.ravel() for values in np.meshgrid(line, line))
    down = np.arange(-10.0, -600, -20)
    e, n = np.r_[east, np.full(down.size, 260.0)], np.r_[north, np.full(down.size, 20.0)]
    u = np.r_[np.full(east.size, 1.0), down]
    g = terrane.gravity.forward(BODIES, DENSITIES, e, n, u)["g_u"]
    with open(out, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["easting [m]", "northing [m]", "up [m]", "g_u_observed [mGal]"])
        for number, row in enumerate(zip(e, n, u, g)):
            writer.writerow([*(f"{x:g}" for x in row[:3]), f"{row[3] + DEVIATION * noise(number):.4f}"])


if __name__ == "__main__":
    main(*sys.argv[1:])
