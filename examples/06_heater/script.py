"""The heater from Python, without a job file: the numbers of job.toml.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. The rock: cells of half a metre. A property may differ from cell to cell: mesh.thermal_conductivity[0:5] = 3.1.
mesh = terrane.TensorMesh.regular([-10, 10, -10, 10, -10, 10], shape=(40, 40, 40))
mesh.thermal_conductivity = 2.8  # W/(m K)
mesh.heat_capacity = 2.1e6  # J/(m3 K)

# 2. The heater and the thermometers, in the middles of cells.
heater = terrane.heat.Source([0.25, 0.25, 0.25], power=500, until="30 day")
thermometers = terrane.Survey([2.25, 4.25, 6.25], 0.25, 0.25)

# 3. What it will cost, and the run.
simulation = terrane.heat.Simulation(mesh, thermometers, end="60 day", source=heater)
print(simulation.check()["text"])
result = simulation.run()
print(result)
result.write(output / "temperature.nc")

# 4. The highest temperature of each thermometer, K.
for distance, kelvin in zip((2, 4, 6), result["temperature"].max("time").values):
    print(f"{distance} m  {kelvin:.3f} K")
