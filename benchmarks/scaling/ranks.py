#!/usr/bin/env python3
"""One job on several GPUs, a rank each: the time of the direct sum on 1, 2, 4, ... ranks of mpirun.

    benchmarks/scaling/ranks.py TERRANE [--ranks 1 2 4] [--device cuda] [--blocks 200] [--stations 2000]

Two million blocks of random size and density at four million stations, ten quantities at 1e-12: prints JSON with the seconds
of the whole computation as the command reports them (planning, distribution, sorting, upload, sums, collection) and the
speed-up over one rank. The fields of all runs are compared: they must have the same bits.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

JOB = """
title = "Random blocks"
[mesh]
kind = "random"
shape = [{blocks}, {blocks}, {layers}]
widths = [90, 110, "m"]
seed = 1
[model]
densities = [0.1, 3.0, "g/cm3"]
[survey]
kind = "grid"
region = [-10000, 30000, -10000, 30000]
shape = [{stations}, {stations}]
height = 150
[simulation]
channels = ["all"]
method = "direct"
device = "{device}"
[output]
files = ["field.npy"]
"""


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("terrane")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--blocks", type=int, default=200)
    parser.add_argument("--stations", type=int, default=2000)
    arguments = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as folder:
        job = Path(folder) / "job.toml"
        job.write_text(JOB.format(blocks=arguments.blocks, layers=max(1, arguments.blocks // 4),
                                  stations=arguments.stations, device=arguments.device))
        for ranks in arguments.ranks:
            command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks),
                       arguments.terrane, "run", str(job), "--no-plots"]
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
            said = dict(re.findall(r"^  (\w+) +(.*)$", done.stdout, re.MULTILINE))
            bits = hashlib.sha256()
            for file in sorted(Path(folder).glob("**/*.npy")):
                bits.update(file.read_bytes())
            results.append({"ranks": ranks, "seconds": float(said["time"].split()[0]), "on": said["on"],
                            "method": said["method"], "of": said["of"], "bits": bits.hexdigest()[:16]})
            results[-1]["speed_up"] = round(results[0]["seconds"] / results[-1]["seconds"] * results[0]["ranks"], 3)
            print(results[-1], file=sys.stderr)
    print(json.dumps({"what": "direct sum on several GPUs", "same_bits": len({r["bits"] for r in results}) == 1,
                      "runs": results}, indent=1))


if __name__ == "__main__":
    main()
