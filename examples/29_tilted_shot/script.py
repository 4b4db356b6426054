"""The shot from Python: the numbers of job.toml.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. The job, with another output folder.
result = terrane.run(Path(__file__).parent / "job.toml", output=output)
print(result)

# 2. The gather [shot, time, receiver].
pressure = result["pressure"]
print(f"{pressure.shape[1]} samples at {pressure.shape[2]} receivers, up to {float(abs(pressure).max()):.3g} Pa")
