"""Writes hill.asc, the ground: a ridge of 300 m on a plain; and base.asc, where the cover ends."""

import numpy as np


def write(name, values, spacing):
    with open(name, "w") as file:
        file.write(f"ncols {values.shape[1]}\nnrows {values.shape[0]}\nxllcenter 0\nyllcenter 0\ncellsize {spacing:g}\n"
                   "nodata_value -99999\n")
        for row in values[::-1]:
            file.write(" ".join(f"{v:.1f}" for v in row) + "\n")


x, y = np.meshgrid(np.arange(0, 3501, 125.0), np.arange(0, 2501, 125.0))
ridge = 300 * np.exp(-(((x - 2100) / 500) ** 2 + ((y - 1250) / 750) ** 2))
ridge[ridge < 0.5] = 0
write("hill.asc", ridge, 125)
write("base.asc", ridge - 120, 125)
