"""Prisms from a file, flight lines from NumPy, z down: the numbers of job.toml. Builds on 02_seven_spheres.

    python script.py [--output FOLDER]
"""

import argparse
from pathlib import Path

import numpy as np

import terrane

HERE = Path(__file__).parent
arguments = argparse.ArgumentParser()
arguments.add_argument("--output", type=Path, default=HERE / "output")
output = arguments.parse_args().output
output.mkdir(parents=True, exist_ok=True)

# 1. Eight prisms; the file says its units.
prisms = terrane.PrismSet.read(HERE / "prisms.csv")
print(prisms)

# 2. Seven lines of 24 km, eastward, 3 km apart; a station every 100 m, 80 m up.
distance = np.arange(0, 24001, 100.0)
line = np.arange(7)
easting = np.tile(-12000 + distance, 7)
northing = np.repeat(9000 - 3000.0 * line, distance.size)
survey = terrane.Survey(easting, northing, 80, columns={"line": np.repeat(line + 1, distance.size),
                                                        "distance": np.tile(distance, 7)})

# 3. Names, axes and signs of harmonica: g_z is positive above a dense body.
result = terrane.gravity.Simulation(prisms, survey, channels=["g_z", "g_ez", "g_nz", "g_zz"], frame="harmonica",
                                    verify=7).run()
print(result)
result.to_netcdf(output / "lines.nc")

# 4. The same with one changed import, for who comes from harmonica.
from terrane.compat import prism_gravity  # noqa: E402

g_z = prism_gravity((easting, northing, np.full_like(easting, 80)), prisms.prisms, prisms.density, field="g_z")
print("largest difference:", np.abs(g_z - result.values("g_z")).max(), "mGal")
