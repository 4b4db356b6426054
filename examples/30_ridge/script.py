"""The earthquake beside the ridge from Python: the numbers of job.toml.

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

# 2. Velocity [receiver, component, time] of the line, and of the ground [snapshot, point, component], m/s.
line, ground = result["velocity"], result["snapshot_velocity"]
print(f"{line.shape[0]} receivers, up to {float(abs(line).max()):.4f} m/s")
print(f"{ground.shape[0]} snapshots of {ground.shape[1]} points, up to {float(abs(ground).max()):.4f} m/s")
