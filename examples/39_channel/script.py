"""The image from Python: the numbers of job.toml.

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

# 2. The strength of the image [up, northing, easting] at the channel's level and above it; cells are 20 m high.
image = result["image_filtered"]
for top in (200, 320):
    level = image[(640 - top) // 20 - 3:(640 - top) // 20]
    print(f"{top} to {top + 60} m: rms {float((level ** 2).mean() ** 0.5):.3g} Pa2/m2")
