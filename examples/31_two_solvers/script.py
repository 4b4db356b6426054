"""Both simulations of the tank from Python, and by how much they differ: the numbers of job.toml.

    python script.py [--output FOLDER] [--only acoustic]
"""

import argparse
from pathlib import Path

import compare
import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
arguments.add_argument("--only", nargs="*", default=[])
given = arguments.parse_args()
given.output.mkdir(parents=True, exist_ok=True)

# 1. The job, with another output folder.
results = terrane.run_all(Path(__file__).parent / "job.toml", output=given.output, only=given.only)
for name, result in results.items():
    print(name, result)

# 2. Pressures of both, in parts of the pressure.
if len(results) == 2:
    compare.main(given.output / "acoustic.nc", given.output / "elastic.nc")
