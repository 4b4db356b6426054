"""Two solvers, one tank: python compare.py output/acoustic.nc output/elastic.nc [picture.png]

Prints by how much the pressures of both differ, in parts of the pressure (L2, all receivers together), up to some
times. Both have the same time steps.
"""

import sys

import netCDF4
import numpy as np

SPEED, TAU = 1500.0, 1 / (np.pi * 15)  # of water, m/s; of the pulse, s


def read(acoustic, elastic):
    """Times and pressure [receiver][time], Pa, of a wave of 1 Pa m."""
    with netCDF4.Dataset(acoustic) as data:
        times, sound = data["time"][:].data, data["pressure"][0].data.T
    with netCDF4.Dataset(elastic) as data:
        waves = data["pressure"][:].data
    # p = M s"(t - r/c) / (4 π c² r) of a moment M; s" of this Gaussian is -2 / (√π τ³) times a Ricker wavelet.
    waves = waves * -(SPEED**2) * np.sqrt(np.pi) * TAU**3 / 2
    steps = min(sound.shape[1], waves.shape[1])
    return times[:steps], sound[:, :steps], waves[:, :steps]


def main(acoustic, elastic, picture=None):
    times, sound, waves = read(acoustic, elastic)
    for end in (0.2, 0.4, 0.6):
        part = times <= end
        error = np.linalg.norm(sound[:, part] - waves[:, part]) / np.linalg.norm(waves[:, part])
        print(f"up to {end} s: {100 * error:.2f} %")
    if picture:
        draw(times, sound, waves, picture)


def draw(times, sound, waves, picture):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(11, 4.6), layout="constrained", width_ratios=[1, 1, 1, 1.2])
    most = 0.5 * abs(waves).max()
    for axis, values, title in zip(axes, (sound, waves, 100 * (sound - waves)),
                                   ("finite differences", "spectral elements", "difference × 100")):
        axis.imshow(values.T, extent=(45, 355, times[-1], times[0]), aspect="auto", cmap="RdBu_r", vmin=-most, vmax=most)
        axis.set(xlabel="easting (m)", title=title, ylim=(0.6, 0.1))
    axes[0].set(ylabel="time (s)")
    middle = len(sound) // 2
    axes[3].plot(1e3 * waves[middle], times, "0.6", lw=2.5, label="spectral elements")
    axes[3].plot(1e3 * sound[middle], times, "C3", lw=0.8, label="finite differences")
    axes[3].set(ylim=(0.6, 0.1), xlabel="pressure at easting 200 m (mPa)", title="one receiver")
    figure.legend(loc="outside lower right", ncols=2, fontsize=8)
    figure.savefig(picture, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:4])
