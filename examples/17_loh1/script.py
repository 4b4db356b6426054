"""A layer over a half-space from Python: the numbers of job.toml.

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

# 2. The largest velocity at each receiver, m/s.
for east, north, peak in zip(result["receiver_easting"], result["receiver_northing"], result["peak_velocity"]):
    print(f"{float(east**2 + north**2) ** 0.5 / 1e3:4.0f} km  {float(peak):.3f} m/s")
