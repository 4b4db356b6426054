"""Clay and ore from Python: the numbers of both jobs, and the truth beside them.

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

# 1. Resistivities, from the voltages while currents flow.
print(terrane.inversion.invert(Path(__file__).parent / "resistivity.toml", output=output))

# 2. Chargeabilities in this rock, from the share of these voltages that decays when currents end.
print(terrane.inversion.invert(Path(__file__).parent / "chargeability.toml", output=output,
                               settings={"inversion.resistivity": str((output / "resistivity.nc").resolve())}))

# 3. Below the line: the clay only conducts, the ore is only chargeable.
for name, unit, mean in (("resistivity", "ohm m", lambda inside: np.exp(np.log(inside).mean())),
                         ("chargeability", "V/V", np.mean)):
    model = terrane.TensorMesh.read(output / f"{name}.nc")
    section = model[name][:, model.shape[1] // 2]
    east, up = ((faces[1:] + faces[:-1]) / 2 for faces in (model.easting, model.up))
    for what, west, right, bottom, top, true in (("clay", -65, -30, -25, -7.5, (15, 0.005)),
                                                 ("ore", 20, 60, -30, -10, (100, 0.1))):
        inside = section[np.ix_((up > bottom) & (up < top), (east > west) & (east < right))]
        print(f"{what}: {name} {mean(inside):.3g} {unit} in the mean, {true[name == 'chargeability']:g} in truth")
