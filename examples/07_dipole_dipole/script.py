"""A dipole-dipole line from Python: the numbers of job.toml.

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

# 2. Every array is a row: its electrodes, resistance (V/A) and apparent resistivity (ohm m).
rho = result["apparent_resistivity"]
print(f"apparent resistivity from {float(rho.min()):.1f} to {float(rho.max()):.1f} ohm m over {rho.size} arrays")
