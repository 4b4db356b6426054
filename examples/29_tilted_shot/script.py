"""The shot built in Python: the numbers of job.toml.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. Rock whose axis of symmetry is tilted by 35 degrees to the east: 2000 m/s along it, 2366 m/s across it.
mesh = terrane.TensorMesh.regular([-320, 320, -320, 320, -320, 320], shape=(40, 40, 40))
mesh.velocity_p, mesh.epsilon, mesh.delta = 2000, 0.2, 0.2
mesh.tilt, mesh.tilt_azimuth = 35, 90

# 2. One shot in its middle; all sides absorb.
receivers = terrane.Survey.read(Path(__file__).parent / "receivers.csv")
sides = {side: "sponge" for side in ("top", "bottom", "west", "east", "south", "north")}
result = terrane.acoustic.Simulation(
    mesh, receivers, [[0, 0, 0]], terrane.acoustic.Wavelet("8 Hz"), end="0.32 s", order=8,
    boundary={"points": 12, "reflection": 1e-4, **sides}, settings={"equation": "tti"}).run()
result.write(output / "gather.nc")
print(result)

# 3. The gather [shot, time, receiver].
pressure = result["pressure"]
print(f"{pressure.shape[1]} samples at {pressure.shape[2]} receivers, up to {float(abs(pressure).max()):.3g} Pa")
