"""Line 46800 of the Century deposit from Python: the numbers of job.toml, and the misfit to the data.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import numpy as np
import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. The job, with another output folder and without the picture.
result = terrane.run(Path(__file__).parent / "job.toml", output=output, plots=False)
print(result)

# 2. Computed beside observed: both in ohm m, by the same geometric factors.
rho, factor = result["apparent_resistivity"], result["geometric_factor"]
print(f"apparent resistivity from {rho.min():.0f} to {rho.max():.0f} ohm m over {rho.size} arrays, "
      f"chargeability up to {np.max(result['chargeability']):.1f} mV/V")
