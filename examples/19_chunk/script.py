"""An earthquake in a chunk of PREM from Python: the numbers of job.toml.

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

# 2. The largest displacement at each station, m.
for name, peak in zip(result["receiver"].values, result["peak_displacement"].values):
    print(f"{name}  {float(peak) * 1e3:.2f} mm")
