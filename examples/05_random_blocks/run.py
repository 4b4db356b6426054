"""Runs job.toml with 8 to a million random blocks and compares the trace of the tensor with -4 pi G rho.

    python run.py [--terrane COMMAND] [--largest CELLS] [--output FOLDER]

Outside the blocks the trace is zero, inside it is -4 pi G rho of the block at the station (Poisson). What remains is the error
of the sum over all blocks, here beside the size of the tensor at the station.
"""

import argparse
import array
import ast
import bisect
import csv
import math
import struct
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
G = 6.67430e-11  # m3 kg-1 s-2
EDGES = (2, 4, 8, 16, 32, 64, 100)  # cells along each axis


def read_npy(path):
    """Densities [up, north, east], flat; float64."""
    data = path.read_bytes()
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10:10 + length].decode())
    assert header["descr"] == "<f8" and not header["fortran_order"]
    return array.array("d", data[10 + length:])


def read_mesh(path):
    """Faces along easting, northing and up (UBC: from the top south-west corner, thicknesses downward)."""
    words = [w for line in path.read_text().splitlines() for w in line.split("!")[0].split()]
    shape = [int(w) for w in words[:3]]
    west, south, top = (float(w) for w in words[3:6])
    widths = []
    for word in words[6:]:
        count, _, width = word.rpartition("*")
        widths += [float(width)] * int(count or 1)
    axes = []
    for start, count, sign in ((west, shape[0], 1), (south, shape[1], 1), (top, shape[2], -1)):
        faces = [start]
        for width in widths[:count]:
            faces.append(faces[-1] + sign * width)
        widths = widths[count:]
        axes.append(faces if sign > 0 else faces[::-1])
    return axes


def density_at(axes, density, station):
    cell, stride = 0, 1
    for faces, x in zip(axes, station):
        if not faces[0] < x < faces[-1]:
            return 0.0
        cell += stride * (bisect.bisect_right(faces, x) - 1)
        stride *= len(faces) - 1
    return density[cell]


def measure(folder):
    """Largest |trace + 4 pi G rho| beside the size of the tensor, for stations outside and inside."""
    axes, density = read_mesh(folder / "blocks.msh"), read_npy(folder / "blocks.npy")
    with open(folder / "blocks.csv", encoding="utf-8") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    names = [name.split(" ")[0] for name in rows[0]]
    worst = {"outside": 0.0, "inside": 0.0}
    for row in rows[1:]:
        at = {name: float(value) for name, value in zip(names, row)}
        rho = density_at(axes, density, (at["easting"], at["northing"], at["up"]))
        trace = at["g_ee"] + at["g_nn"] + at["g_uu"]  # Eotvos
        size = math.sqrt(at["g_ee"]**2 + at["g_nn"]**2 + at["g_uu"]**2
                         + 2 * (at["g_en"]**2 + at["g_eu"]**2 + at["g_nu"]**2))
        where = "inside" if rho else "outside"
        worst[where] = max(worst[where], abs(trace + 4 * math.pi * G * rho * 1e9) / size)
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--terrane", default="terrane")
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--output", type=Path, default=HERE / "output")
    given = parser.parse_args()
    print("   blocks      outside       inside     (error of the trace beside the size of the tensor)")
    for n in EDGES:
        if n**3 > given.largest:
            break
        folder = given.output / f"blocks_{n**3}"
        subprocess.run([given.terrane, "run", str(HERE / "job.toml"), "--quiet", "--output", str(folder),
                        "--set", f"mesh.shape=[{n},{n},{n}]"], check=True)
        worst = measure(folder)
        print(f"{n**3:9}  {worst['outside']:11.1e}  {worst['inside']:11.1e}")
        if max(worst.values()) > 1e-12:
            sys.exit("Poisson's equation does not hold")


main()
