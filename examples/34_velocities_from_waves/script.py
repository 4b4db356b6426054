"""Velocities from Python: the numbers of job.toml.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import picture
import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. The job, with another output folder.
result = terrane.inversion.invert(Path(__file__).parent / "job.toml", output=output)
print(result)

# 2. How far the velocities are from those that waves were recorded over.
picture.main(output / "velocities.nc")
