"""A line over the Overthrust model: python line.py --data FOLDER [--shots 6] [--output FOLDER] [--picture PNG]

FOLDER has overthrust_model_401x121_25m.h5, or a folder seismic with it.
"""

import argparse
from pathlib import Path

import netCDF4
import numpy as np
import terrane

arguments = argparse.ArgumentParser()
arguments.add_argument("--data", type=Path, required=True)
arguments.add_argument("--shots", type=int, default=6)
arguments.add_argument("--output", type=Path, default=Path(__file__).parent / "output")
arguments.add_argument("--picture", type=Path)
given = arguments.parse_args()
name = "overthrust_model_401x121_25m.h5"
file = next(f for f in (given.data / name, given.data / "seismic" / name) if f.is_file())

# 1. Slowness squared (depth, along), s²/km², of the model and of a smooth one. Terrane's first row is the deepest.
with netCDF4.Dataset(file) as data:
    true, smooth = (1000 / np.sqrt(np.asarray(data[key][:], float)[::-1, None]) for key in ("m", "m0"))
print(f"velocities {true.min():.0f} to {true.max():.0f} m/s")

# 2. Shots at sea over both, with receivers every 50 m: what the smooth model lacks is in the difference.
receivers = terrane.Survey(np.arange(25.0, 10_001, 50), 0.0, -37.5)
shots = [[easting, 0, -37.5] for easting in np.linspace(500, 9500, given.shots)]


def waves(velocity, kind, **more):
    mesh = terrane.TensorMesh.regular([0, 10_025, -12.5, 12.5, -3025, 0], shape=(401, 1, 121))
    mesh.velocity_p = velocity
    return terrane.acoustic.Simulation(
        mesh, receivers, shots, terrane.acoustic.Wavelet("7 Hz"), kind=kind, end=2.4, step=0.002,
        boundary={"top": "cpml"}, settings={"coefficients": "optimised"}, **more).run()


gathers = [waves(velocity, "modelling")["pressure"].values for velocity in (true, smooth)]
scattered = gathers[0] - gathers[1]
print(f"{len(shots)} shots, {scattered.shape[2]} receivers, {scattered.shape[1]} samples")

# 3. The image, in the smooth model, and the model and gathers for migrate.toml.
result = waves(smooth, "migration", observed=scattered)
given.output.mkdir(parents=True, exist_ok=True)
np.save(given.output / "smooth.npy", smooth)
np.save(given.output / "scattered.npy", scattered)
np.save(given.output / "image.npy", result["image_even"])

# 4. How well the image, over the illumination, agrees with what the smooth model lacks, below the sea floor and away
#    from the ends of the line; also when the image is moved up or down by some cells.
lacking, image = (1 / true**2 - 1 / smooth**2)[:, 0], result["image_even"].values[:, 0]
below = (slice(10, 95), slice(40, 361))


def agreement(cells):
    return np.corrcoef(np.roll(image, cells, axis=0)[below].ravel(), lacking[below].ravel())[0, 1]


best = max(range(-8, 9), key=agreement)
print(f"agreement {agreement(0):.2f}, at best {agreement(best):.2f} with the image {25 * best} m higher")

if given.picture:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (upper, lower) = plt.subplots(2, 1, figsize=(9, 6.5), layout="constrained", sharex=True)
    extent = (0, 10.025, -3.025, 0)
    drawn = upper.imshow(true[::-1, 0], extent=extent, aspect="auto")
    figure.colorbar(drawn, ax=upper, label="velocity (m/s)")
    illumination = result["illumination"].values[:, 0]
    filtered = result["image_filtered"].values[:, 0] / (illumination + 1e-3 * illumination.max())
    most = 2.5 * filtered[below].std()
    drawn = lower.imshow(filtered[::-1], extent=extent, aspect="auto", cmap="gray", vmin=-most, vmax=most)
    upper.set(ylabel="up (km)", title="Overthrust")
    lower.set(ylabel="up (km)", xlabel="easting (km)", title=f"Image of {given.shots} shots")
    figure.savefig(given.picture, dpi=70)
