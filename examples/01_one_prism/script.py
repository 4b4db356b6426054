"""One prism from Python: the numbers of job.toml.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. A model: west, east, south, north, bottom, top in metres; kg/m3.
prism = terrane.PrismSet([[-1000, 1000, -500, 500, -1500, -500]], density=500)

# 2. Stations: above the middle, above a corner, beside it, far away, inside.
stations = terrane.Survey(
    easting=[0, 1000, 3000, 50000, 100], northing=[0, 500, -2000, 20000, -50], up=[0, 10, 100, 1000, -1000])

# 3. Run.
result = terrane.gravity.Simulation(prism, stations, channels="all", accuracy="best", verify=5).run()
print(result)
result.to_netcdf(output / "one_prism.nc")
