"""A marine line read, looked at and written for another program: python line.py --data FOLDER [--picture PNG]

FOLDER has viking_small.segy, or a folder seismic with it.
"""

import argparse
from pathlib import Path

import numpy as np
import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--data", type=Path, required=True)
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
arguments.add_argument("--picture", type=Path)
given = arguments.parse_args()
file = next(f for f in (given.data / "viking_small.segy", given.data / "seismic" / "viking_small.segy") if f.is_file())

# 1. Four shots, each with a cable of its own: pressure (shot, time, receiver).
line = terrane.read(file)
print(f"{line.sizes['shot']} shots, {line.sizes['receiver']} receivers, {line.sizes['time']} samples "
      f"of {1e3 * float(line.time[1]):.0f} ms")
print(line.attrs["note"])

# 2. The cable: how far receivers are behind the ship.
offset = line.receiver_easting - line.source_easting
print(f"offsets {float(offset.min()):.0f} to {float(offset.max()):.0f} m, "
      f"shots every {float(line.source_easting.diff('shot').mean()):.0f} m")

# 3. The first arrivals: the sample at which a trace has a twentieth of its largest amplitude. They run faster than
#    sound in water (1,480 m/s): along the rock below the sea floor.
loud = abs(line.pressure) > 0.05 * abs(line.pressure).max("time")
first = line.time[loud.argmax("time")]
slope = np.polyfit(np.abs(offset).values.ravel(), first.values.ravel(), 1)[0]
print(f"first arrivals run at {1 / slope:.0f} m/s")

# 4. For Seismic Unix.
given.output.mkdir(parents=True, exist_ok=True)
terrane.write_dataset(line, given.output / "viking.su")
again = terrane.read(given.output / "viking.su")
print(f"as SU the same samples: {bool((again.pressure == line.pressure).all())}")

if given.picture:
    from terrane import plotting

    # Amplitudes fall with time as the wave spreads: a gain of t² shows what comes late.
    gained = line.assign(pressure=line.pressure * line.time**2)
    plotting.save(plotting.gather(gained, 1, title="Viking Graben, shot 102"), given.picture, 110)
