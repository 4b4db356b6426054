"""PREM of figure 7 on a CPU: seconds of the processor of a run, and seismograms in single beside double precision.

    python steps.py TERRANE        prints JSON; needs netCDF4
"""

import json
import re
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import netCDF4
import numpy as np

JOB = Path(__file__).parent / "job.toml"


def run(terrane, precision, folder):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = subprocess.run([terrane, "run", JOB, "--output", folder, "--set", f'simulation.precision="{precision}"'],
                          capture_output=True, text=True, check=True)
    seconds = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    with netCDF4.Dataset(Path(folder) / "prem.nc") as data:
        return seconds, data["displacement"][:].data.astype(float), done.stdout + done.stderr


def main():
    terrane = sys.argv[1]
    check = subprocess.run([terrane, "check", JOB], capture_output=True, text=True, check=True).stdout
    number = lambda key: int(re.search(rf"^ +{key} +(\d+)", check, re.MULTILINE).group(1))
    with tempfile.TemporaryDirectory() as folder:
        single, of_single, _ = run(terrane, "single", Path(folder) / "single")
        double, of_double, _ = run(terrane, "double", Path(folder) / "double")
    peak = np.abs(of_double).max()
    print(json.dumps({"elements": number("elements"), "steps": number("steps"), "processor_s": single,
                      "processor_double_s": double, "peak_m": float(peak),
                      "apart": float(np.abs(of_single - of_double).max() / peak)}, indent=1))


if __name__ == "__main__":
    main()
