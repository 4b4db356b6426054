#!/usr/bin/env python3
"""A published block model of marine electromagnetics, held against the data of four other programs.

    benchmarks/accuracy/published_block.py TERRANE RESULTS [--field corrected] [--cells 4] [--stretching 1.3]
                                           [--within 1] [--every 1] [--verify estimate] [--json FILE]

RESULTS: the folder model-block/results of https://github.com/swung-research/3d-csem-open-source-landscape, with the
data that Werthmüller et al. (2021, Geophysical Journal International 227, doi:10.1093/gji/ggab238) published of emg3d,
custEM, PETGEM and SimPEG: E_x along three lines over three blocks in layers under a shallow sea, one of them conducting
by direction. The reference is the median of the four, of real and imaginary parts. Prints the median and the 95 %
quantile of |E − reference|/|reference| over the receivers at 500 m and more from the source, for this program, and for
each of the four against the median of the other three; with --verify also what the run itself states.

--cells        smallest cells: so many per skin depth (simulation.min_width_pps)
--within       factor by which cells grow from the source to the receivers (simulation.stretching); 1: they do not
--every        every n-th receiver alone
Needs NumPy and netCDF4. A run takes minutes and some gigabytes: see the line that the program prints.
"""

import argparse
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import netCDF4
import numpy as np

CODES = {"emg3d": "emg3d", "custEM": "custEM_p2", "PETGEM": "petgem", "SimPEG": "simpeg"}
EAST = np.linspace(-10e3, 10e3, 101)
NORTH = np.array([-3e3, 0.0, 3e3])
NEAREST = 500.0  # m: nearer to the wire the four differ by tens of percent
# Layers and blocks: lower and upper end, resistivity along layers and upwards, ohm m; west, east, south, north.
LAYERS = [(0, 1e6, 1e8, 1e8), (-600, 0, 0.3, 0.3), (-850, -600, 1, 1), (-3150, -850, 2, 4), (-1e6, -3150, 1e3, 1e3)]
BLOCKS = [((-500, 500, -4000, 4000, -1600, -850), 10), ((0, 5000, -3000, 0, -1850, -1600), 100),
          ((-5000, 0, 0, 3000, -2900, -1600), 500)]


def published(folder, name):
    """E_x, V/m, [line, receiver]."""
    with netCDF4.Dataset(Path(folder) / f"block_{name}.nc") as file:
        file.set_auto_maskandscale(False)
        lines = [np.array(file.variables[f"line_{n}"][:]) for n in (1, 2, 3)]
    return np.array([line[::2] + 1j * line[1::2] for line in lines])


def median(fields):
    return np.median(np.real(fields), 0) + 1j * np.median(np.imag(fields), 0)


def job(options):
    text = "[model.background]\nresistivity = 1e8\n"
    for bottom, top, along, up in LAYERS:
        text += (f'[[model.body]]\nkind = "layer"\nbottom = {bottom:.1f}\ntop = {top:.1f}\nresistivity = {along:.1f}\n'
                 f"resistivity_up = {up:.1f}\n")
    for box, rho in BLOCKS:
        text += f'[[model.body]]\nkind = "box"\nbox = {[float(v) for v in box]}\nresistivity = {rho:.1f}\n'
    stations = [[float(e), float(n), -600.0] for n in NORTH for e in EAST[::options.every] if np.hypot(e, n) >= NEAREST]
    return text + f"""[[source]]
kind = "wire"
points = [[-100.0, 0.0, -550.0], [100.0, 0.0, -550.0]]
current = 800.0
[survey]
kind = "list"
stations = {stations}
[simulation]
physics = "electromagnetic"
frequencies = [1.0]
components = ["e_e"]
field = "{options.field}"
min_width_pps = {options.cells}
stretching = {[options.within, options.stretching] if options.within > 1 else options.stretching}
{"center = [0.0, 0.0, -600.0]" if options.within > 1 else ""}
verify = "{options.verify}"
[output]
files = ["data.csv"]
"""


def computed(options):
    """E_x, V/m, and its stated error or None, at the receivers of the job; and what the report says of size and time."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "job.toml").write_text(job(options))
        done = subprocess.run([os.path.abspath(options.terrane), "run", "job.toml"], cwd=folder, capture_output=True,
                              text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr)
        with open(next(Path(folder).rglob("data.csv")), newline="") as file:
            rows = list(csv.reader(line for line in file if not line.startswith("#")))
    names = [re.sub(r" \[.*\]$", "", name) for name in rows[0]]
    def column(name):
        return np.array([float(row[names.index(name)]) for row in rows[1:]])
    told = [line.strip() for line in done.stdout.splitlines() if re.match(r"\s*(cells|memory|time|error|companion)", line)]
    return (column("e_e_real") + 1j * column("e_e_imag"), column("e_e_error") if "e_e_error" in names else None, told)


def deviations(field, reference, line):
    """Median and 95 % quantile of relative differences, at all receivers and on each line."""
    relative = np.abs(field - reference) / np.abs(reference)
    return {"median": np.median(relative), "at_95": np.percentile(relative, 95),
            "median_of_lines": [np.median(relative[line == n]) for n in range(len(NORTH))]}


def rounded(value):
    if isinstance(value, dict):
        return {k: rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [rounded(v) for v in value]
    return float(f"{value:.3g}") if isinstance(value, float) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("terrane")
    parser.add_argument("results")
    parser.add_argument("--field", choices=("total", "secondary", "corrected"), default="corrected")
    parser.add_argument("--cells", type=float, default=4)
    parser.add_argument("--stretching", type=float, default=1.3)
    parser.add_argument("--within", type=float, default=1)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--verify", choices=("off", "estimate"), default="off")
    parser.add_argument("--json")
    options = parser.parse_args()
    far = np.hypot(*np.meshgrid(EAST[::options.every], NORTH)) >= NEAREST
    line = np.nonzero(far)[0]
    codes = {name: published(options.results, file)[:, ::options.every][far] for name, file in CODES.items()}
    field, stated, told = computed(options)
    reference = median(list(codes.values()))
    found = {"terrane": deviations(field, reference, line), "report": told, "receivers": int(far.sum())}
    if stated is not None:
        found["stated"] = {"median": np.median(stated / np.abs(field)),
                           "at_95": np.percentile(stated / np.abs(field), 95)}
    for name in codes:
        others = median([codes[other] for other in codes if other != name])
        found[name + " against the other three"] = deviations(codes[name], others, line)
        found["terrane against " + name] = deviations(field, codes[name], line)
    found = {k: rounded(v) for k, v in found.items()}
    print(json.dumps(found, indent=1))
    if options.json:
        Path(options.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
