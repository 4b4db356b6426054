"""Gravity of southern Africa: the job from Python, and what the Bushveld window holds. Builds on 03_irregular_prisms.

    python script.py --data FOLDER [--output FOLDER]
"""

import argparse
from pathlib import Path

import terrane

HERE = Path(__file__).parent
arguments = argparse.ArgumentParser()
arguments.add_argument("--data", type=Path, required=True)
arguments.add_argument("--output", type=Path, default=HERE / "output")
given = arguments.parse_args()

# 1. The job, as the command runs it.
result = terrane.run(HERE / "job.toml", data=given.data, output=given.output, plots=False)
print(result)

# 2. The result is an xarray.Dataset: take the stations of a window.
inside = (result.longitude > 25) & (result.longitude < 32) & (result.latitude > -27) & (result.latitude < -23)
bushveld = result.dataset.where(inside, drop=True)
for name in ("disturbance", "terrain_effect", "topography_free_disturbance"):
    values = bushveld[name]
    print(f"{name:<28} {values.size} stations, {float(values.min()):8.2f} … {float(values.max()):8.2f} mGal, "
          f"mean {float(values.mean()):8.3f}, sd {float(values.std()):6.2f}")
