"""The record section from Python: the numbers of job.toml.

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

# 2. Velocity [receiver, component, time], m/s.
velocity = result["velocity"]
print(f"{velocity.shape[0]} receivers, {velocity.shape[2]} times, up to {float(abs(velocity).max()):.4f} m/s")
