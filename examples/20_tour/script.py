"""The tour from Python: the fields of job.toml, as a dictionary of results.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
arguments.add_argument("--only", nargs="*", default=[])
given = arguments.parse_args()
given.output.mkdir(parents=True, exist_ok=True)

# 1. What it would cost.
job = Path(__file__).parent / "job.toml"
for name, plan in terrane.check_all(job, output=given.output, only=given.only).items():
    print(f"{name}: about {plan['seconds']:.2g} s, {plan['memory_bytes'] / 1e6:.0f} MB")

# 2. All fields.
results = terrane.run_all(job, output=given.output, only=given.only)
for name, result in results.items():
    print(name, result)
