"""Downward pull of one prism by the closed form of Nagy (1966), Geophysics 31, 362-371, eq. 8, in plain Python.

Nothing but the formula: eight corners, two logarithms and an arc tangent each.  Run it beside the job:

    python closed_form.py output/one_prism.csv
"""

import csv
import math
import sys

G = 6.67430e-11  # m3 kg-1 s-2
WEST, EAST, SOUTH, NORTH, BOTTOM, TOP = -1000.0, 1000.0, -500.0, 500.0, -1500.0, -500.0
DENSITY = 500.0  # kg/m3


def g_u(easting, northing, up):
    """Upward component of gravity in mGal: negative above a dense body."""
    total = 0.0
    for i, x in enumerate((WEST - easting, EAST - easting)):
        for j, y in enumerate((SOUTH - northing, NORTH - northing)):
            for k, z in enumerate((BOTTOM - up, TOP - up)):
                r = math.sqrt(x * x + y * y + z * z)
                sign = (-1) ** (i + j + k + 1)
                total += sign * (x * math.log(y + r) + y * math.log(x + r) - z * math.atan(x * y / (z * r)))
    return G * DENSITY * -total * 1e5


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    place = [name.split(" ")[0] for name in rows[0]].index("g_u")
    print("   easting  northing        up       closed form           terrane  difference")
    for row in rows[1:]:
        station = [float(value) for value in row[:3]]
        here, there = g_u(*station), float(row[place])
        print("{:10g}{:10g}{:10g}".format(*station), f"{here:17.12f} {there:17.12f}  {there - here:10.1e} mGal")


main()
