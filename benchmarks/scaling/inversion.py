"""What inversions of gravity take on this machine: the sizes that docs/theory/inversion.md names.

    tools/record_benchmark --build build/release inversion_sizes -- \
        python3 benchmarks/scaling/inversion.py build/release/terrane

scattered   100 x 100 x 20 cells of 50 m, 700 stations anywhere, 10 to 25 m up; a matrix in memory
lattice     200 x 200 x 40 cells of 25 m, 100 x 100 stations over every second cell centre, 12 m up; only spectra
Each has two blocks, noise of 0.01 mGal + 2 %, lengths of 150 m, and is inverted to phi_d = N without bounds and within
them. Processor time and peak memory are what the system counts for each process; the wall time is that of a machine
which may be busy, and its load stands beside it. Prints JSON. --only NAME runs one of them.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import tempfile
import time
from pathlib import Path

BLOCKS = [([-0.4, -0.1, -0.2, 0.3, -250, -100], 400.0), ([0.1, 0.4, -0.3, 0.1, -350, -150], -300.0)]


class Size:
    def __init__(self, cells, width, stations, storage, bounds):
        self.cells, self.width, self.stations, self.storage, self.bounds = cells, width, stations, storage, bounds
        self.half = [0.5 * n * width for n in cells[:2]]

    def mesh(self):
        return (f"[mesh]\nbox = [{-self.half[0]}, {self.half[0]}, {-self.half[1]}, {self.half[1]}, "
                f"{-self.width * self.cells[2]}, 0]\nshape = {list(self.cells)}\n")

    def bodies(self):
        text = ""
        for box, density in BLOCKS:
            scaled = [x * self.half[n // 2] if n < 4 else x for n, x in enumerate(box)]
            text += f'[[model.body]]\nkind = "box"\nbox = {scaled}\ndensity = {density}\n'
        return text


def anywhere(size, chance):
    inside = [h - size.width for h in size.half]
    return [(chance.uniform(-inside[0], inside[0]), chance.uniform(-inside[1], inside[1]), chance.uniform(10, 25))
            for _ in range(700)]


def over_cells(size, _):
    return [(-size.half[0] + (2 * i + 0.5) * size.width, -size.half[1] + (2 * j + 0.5) * size.width, 12.0)
            for j in range(100) for i in range(100)]


SIZES = {"scattered": Size((100, 100, 20), 50.0, anywhere, "single", (-120, 160)),
         "lattice": Size((200, 200, 40), 25.0, over_cells, "lattice", (-200, 260))}


def write(path, header, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])


def measured(words, folder):
    begin, load = time.perf_counter(), os.getloadavg()[0]
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, text=True)
    told = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{words} ended with {status}\n{told}")
    wanted = ("misfit", "chi", "products", "stopped", "matrix", "on bounds", "storage", "density")
    return {"user_seconds": round(usage.ru_utime, 2), "system_seconds": round(usage.ru_stime, 2),
            "wall_seconds": round(time.perf_counter() - begin, 2), "load": round(load, 1),
            "peak_bytes": usage.ru_maxrss * 1024,
            "told": [line.strip() for line in told.splitlines() if any(w in line for w in wanted)]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("terrane", type=Path)
    parser.add_argument("--only", choices=SIZES)
    given = parser.parse_args()
    terrane, record = str(given.terrane.resolve()), {}
    for name, size in SIZES.items():
        if given.only not in (None, name):
            continue
        chance = random.Random(20260701)
        with tempfile.TemporaryDirectory() as folder:
            places, units = size.stations(size, chance), ["easting [m]", "northing [m]", "up [m]"]
            write(Path(folder, "places.csv"), units, places)
            Path(folder, "forward.toml").write_text(
                size.mesh() + size.bodies() + '[survey]\nkind = "list"\nfile = "places.csv"\n[simulation]\n'
                'physics = "gravity"\nchannels = ["g_u"]\n[output]\nfiles = ["exact.csv"]\n', encoding="utf-8")
            subprocess.run([terrane, "run", "forward.toml", "-q"], cwd=folder, check=True)
            with open(Path(folder, "output", "exact.csv"), encoding="utf-8") as file:
                rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
            column = next(key for key in rows[0] if key.startswith("g_u"))
            exact = [float(row[column]) for row in rows]
            sigma = [0.01 + 0.02 * abs(g) for g in exact]
            write(Path(folder, "observed.csv"), [*units, "g_u_observed [mGal]", "g_u_uncertainty [mGal]"],
                  [(*place, g + s * chance.gauss(0, 1), s) for place, g, s in zip(places, exact, sigma)])
            record[name] = {"cells": size.cells[0] * size.cells[1] * size.cells[2], "stations": len(places)}
            for case in ("smooth", "bounds"):
                bounds = f"lower = {size.bounds[0]}\nupper = {size.bounds[1]}\n" if case == "bounds" else ""
                Path(folder, "job.toml").write_text(
                    size.mesh() + '[survey]\nkind = "list"\nfile = "observed.csv"\n[simulation]\nphysics = "gravity"\n'
                    f'device = "cpu"\n[inversion]\nlength_scale = [150, 150, 150]\nstorage = "{size.storage}"\n{bounds}'
                    '[output]\nfiles = ["fit.csv"]\nmodel = ["model.nc"]\n', encoding="utf-8")
                record[name][case] = measured([terrane, "invert", "job.toml"], folder)
    print(json.dumps(record, indent=1))


if __name__ == "__main__":
    main()
