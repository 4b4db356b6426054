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

# 2. The Laplacian of the image [up, northing, easting].
image = result["image_filtered"]
print(f"image of {image.shape[0]} x {image.shape[2]} cells, up to {float(abs(image).max()):.3g} Pa2/m2")
