"""Writes basin.asc, the floor of the basin, 1.5 km deep in its middle, and hills.asc, the ground: a ridge of 220 m that
the dike bears in the east, and a lower hill in the south."""

import numpy as np


def write(name, values, spacing, digits):
    with open(name, "w") as file:
        file.write(f"ncols {values.shape[1]}\nnrows {values.shape[0]}\nxllcenter 0\nyllcenter 0\ncellsize {spacing:g}\n"
                   "nodata_value -99999\n")
        for row in values[::-1]:
            file.write(" ".join(f"{v:.{digits}f}" for v in row) + "\n")


east = north = np.arange(0, 8001, 200.0)
x, y = np.meshgrid(east, north)
floor = 300 - 1800 * np.exp(-(((x - 3300) / 2000) ** 2 + ((y - 4000) / 2600) ** 2))  # above the ground: no basin
write("basin.asc", floor, 200, 0)

ridge = 220 * np.exp(-(((x - 6200) / 700) ** 2 + ((y - 4200) / 2600) ** 2))
hill = 140 * np.exp(-(((x - 3000) / 900) ** 2 + ((y - 1800) / 800) ** 2))
write("hills.asc", np.where(ridge + hill > 0.5, ridge + hill, 0.0), 200, 1)
