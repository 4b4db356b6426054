#!/usr/bin/env python3
"""One job on several GPUs, a rank each: its time on 1, 2, 4, ... ranks of mpirun.

    benchmarks/scaling/ranks.py TERRANE [--job direct] [--ranks 1 2 4] [--device cuda] [--size N] [--stations N]

Jobs, with what --size and --stations are:

    direct   gravity, N x N x N/4 blocks of random size at stations x stations, ten quantities at 1e-12, the direct sum
    tree     the same by the tree of multipole expansions, at 1e-9
    lattice  gravity, N x N x 32 equal cells at a station above each column, ten quantities at 1e-12, by FFT
    fields   electromagnetics, N x N x N cells, 16 dipoles times 4 frequencies
    shots    acoustic waves, N x N x N nodes with absorbing sides, 32 shots of 10,000 receivers, 1 s
    shot     the same, one shot, which all ranks share

Prints JSON with the seconds of the whole computation as the command reports them, those of the command from its start to its
end, and the speed-up over the first number of ranks. The results of all runs are compared: they must have the same bits.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GRAVITY = """
[simulation]
channels = ["all"]
method = "{method}"
accuracy = {accuracy}
device = "{device}"
[output]
files = ["field.npy"]
"""
RANDOM = """
title = "Random blocks"
[mesh]
kind = "random"
shape = [{size}, {size}, {layers}]
widths = [90, 110, "m"]
seed = 1
[model]
densities = [0.1, 3.0, "g/cm3"]
[survey]
kind = "grid"
region = [-10000, 30000, -10000, 30000]
shape = [{stations}, {stations}]
height = 150
""" + GRAVITY
LATTICE = """
title = "A lattice"
[mesh]
kind = "regular"
box = [0, {width}, 0, {width}, -3200, 0]
shape = [{size}, {size}, 32]
[[model.body]]
kind = "sphere"
centre = [{middle}, {middle}, -1600]
radius = 1500
density = 400
[survey]
region = [50, {last}, 50, {last}]
shape = [{size}, {size}]
height = 50
""" + GRAVITY
FIELDS = """
title = "Dipoles over a conductor"
[mesh]
kind = "tensor"
origin = [0, 0, 0]
easting_widths = {widths}
northing_widths = {widths}
up_widths = {widths}
[model.background]
resistivity = "100 ohm m"
[[model.body]]
kind = "layer"
bottom = {middle}
top = 1e7
resistivity = "1e8 ohm m"
[[model.body]]
kind = "box"
box = [{west}, {east}, {west}, {east}, {bottom}, {top}]
resistivity = "1 ohm m"
{sources}
[survey]
kind = "list"
stations = {receivers}
[simulation]
physics = "electromagnetic"
frequencies = [0.3, 1, 3, 10]
components = ["e_e", "h_n"]
device = "{device}"
[output]
files = ["fields.csv"]
"""
WAVES = """
title = "Shots over a sphere"
[mesh]
kind = "regular"
box = [0, {width}, 0, {width}, -{width}, 0]
shape = [{size}, {size}, {size}]
[[model.body]]
kind = "layer"
bottom = -{width}
top = 0
velocity_p = 2000
[[model.body]]
kind = "sphere"
centre = [{middle}, {middle}, -{middle}]
radius = {radius}
velocity_p = 2500
[survey]
region = [{first}, {last}, {first}, {last}]
shape = [100, 100]
height = -15
[source]
at = {sources}
frequency = "20 Hz"
[simulation]
physics = "acoustic"
end = "1 s"
device = "{device}"
[output]
files = ["gathers.npy"]
"""


def text_of(job, size, stations, device):
    if job in ("direct", "tree"):
        return RANDOM.format(size=size, layers=max(1, size // 4), stations=stations, device=device, method=job,
                             accuracy=1e-12 if job == "direct" else 1e-9)
    if job == "lattice":
        return LATTICE.format(size=size, width=100 * size, middle=50 * size, last=100 * size - 50, device=device,
                              method=job, accuracy=1e-12)
    if job == "fields":
        padding = min(size // 4, 20)
        ends = [round(100 * 1.3**n) for n in range(1, padding + 1)]
        widths = ends[::-1] + [f"{size - 2 * padding}*100"] + ends
        middle = sum(ends) + 50 * (size - 2 * padding)
        sources = "\n".join(f'[[source]]\nkind = "dipole"\nat = [{middle + 150 * n - 1200}, {middle - 400}, {middle - 60}]\n'
                            "azimuth = 90" for n in range(16))
        receivers = [[middle + 80 * n - 1000, middle + 100, middle - 10] for n in range(25)]
        return FIELDS.format(widths=json.dumps(widths), middle=middle, west=middle - 300, east=middle + 300,
                             bottom=middle - 900, top=middle - 300, sources=sources, receivers=receivers, device=device)
    width = 10 * size
    count = 1 if job == "shot" else 32
    sources = [[round(width * (n + 1) / (count + 1), 1), width / 2, -25] for n in range(count)]
    return WAVES.format(size=size, width=width, middle=width / 2, radius=width / 4, first=width * 0.1, last=width * 0.9,
                        sources=sources, device=device)


SIZES = {"direct": 200, "tree": 252, "lattice": 1000, "fields": 128, "shots": 320, "shot": 640}


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("terrane")
    parser.add_argument("--job", choices=sorted(SIZES), default="direct")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--size", "--blocks", type=int)
    parser.add_argument("--stations", type=int, default=2000)
    arguments = parser.parse_args()
    size = arguments.size or SIZES[arguments.job]
    results = []
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.toml"
        job.write_text(text_of(arguments.job, size, arguments.stations, arguments.device))
        for ranks in arguments.ranks:
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks),
                       arguments.terrane, "run", str(job), "--no-plots"]
            start = time.monotonic()
            done = subprocess.run(command, capture_output=True, text=True)
            whole = time.monotonic() - start
            if done.returncode != 0:
                sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
            said = dict(re.findall(r"^  (\w+) +(.*)$", done.stdout, re.MULTILINE))
            bits = hashlib.sha256()
            files = sorted(Path(folder, "output").glob("**/*.*"))
            if not files:
                sys.exit(f"{' '.join(command)} wrote no file")
            for file in files:
                bits.update(b"\n".join(row for row in file.read_bytes().split(b"\n") if not row.startswith(b"# ")))
            number, unit = re.match(r"([\d.e+-]+) (\w+)", said["time"]).groups()
            seconds = float(number) * {"s": 1, "ms": 1e-3, "min": 60}[unit]
            results.append({"ranks": ranks, "seconds": seconds, "command_s": round(whole, 2), "on": said["on"],
                            "method": said["method"], "of": said["of"], "bits": bits.hexdigest()[:16]})
            results[-1]["speed_up"] = round(results[0]["seconds"] / seconds * results[0]["ranks"], 3)
            print(results[-1], file=sys.stderr)
    print(json.dumps({"what": f"one job on several ranks: {arguments.job}", "size": size,
                      "same_bits": len({r["bits"] for r in results}) == 1, "runs": results}, indent=1))


if __name__ == "__main__":
    main()
