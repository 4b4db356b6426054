"""The magnetized dike from Python: the numbers of job.toml.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. The job, with another output folder and without the picture.
result = terrane.run(Path(__file__).parent / "job.toml", output=output, plots=False)
print(result)

# 2. The anomaly is positive over the dike, with a low to the north of it; over the sphere it is turned round.
tmi = result["tmi"]
print(f"total-field anomaly from {float(tmi.min()):.1f} to {float(tmi.max()):.1f} nT")
