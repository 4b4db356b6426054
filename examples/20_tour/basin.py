"""Writes basin.asc: the floor of the basin, 1.5 km deep in its middle, deeper in the west than in the east."""

import numpy as np

east = north = np.arange(0, 8001, 200.0)
x, y = np.meshgrid(east, north)
depth = 1500 * np.exp(-(((x - 3300) / 2000) ** 2 + ((y - 4000) / 2600) ** 2))
floor = np.where(depth > 60, -depth, 0.0)
with open("basin.asc", "w") as file:
    file.write(f"ncols {east.size}\nnrows {north.size}\nxllcenter 0\nyllcenter 0\ncellsize 200\nnodata_value -99999\n")
    for row in floor[::-1]:
        file.write(" ".join(f"{v:.0f}" for v in row) + "\n")
