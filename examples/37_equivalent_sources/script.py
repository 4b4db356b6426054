"""Gravity of a buried block, measured at 400 stations, gridded 100 m up and as a gradient; and its magnetic anomaly,
reduced to the pole: by equivalent sources, beside the exact fields. Writes equivalent_sources.png.

    python script.py [--output FOLDER]
"""

import argparse
import csv
from pathlib import Path

import numpy as np

import terrane
from terrane.inversion import Sensitivity

HERE = Path(__file__).resolve().parent
BLOCK, DENSITY, SUSCEPTIBILITY = [[-100, 150, -150, 100, -275, -100]], [400.0], [0.05]
FIELD, POLE = (50_000.0, 50.0, 10.0), (50_000.0, 90.0, 0.0)
LINE = np.linspace(-400, 400, 17)


def stations():
    with open(HERE.parent / "10_buried_block/stations.csv", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    rows = list(csv.reader(lines))
    table = np.array(rows[1:], dtype=float)
    column = {name.split()[0]: values for name, values in zip(rows[0], table.T)}
    return (column["easting"], column["northing"], column["up"]), column["g_u_observed"], column["g_u_uncertainty"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="output")
    folder = Path(parser.parse_args().output)
    folder.mkdir(parents=True, exist_ok=True)
    at, observed, uncertainty = stations()
    grid = tuple(a.ravel() for a in np.meshgrid(LINE, LINE)) + (np.full(LINE.size**2, 100.0),)
    shape = (LINE.size, LINE.size)

    # 1. Gravity: one prism below each square of 50 m, and conjugate gradients until the misfit is that of the noise.
    layer = terrane.EquivalentSources(50, depth=150).fit(*at, observed, uncertainty=uncertainty)
    print(layer)
    panels = [("g_u 100 m up [mGal]", layer.grid(LINE, LINE, 100.0),
               terrane.gravity.forward(BLOCK, DENSITY, *grid)["g_u"].reshape(shape)),
              ("g_uu 100 m up [E]", layer.grid(LINE, LINE, 100.0, channel="g_uu"),
               terrane.gravity.forward(BLOCK, DENSITY, *grid, channels=["g_uu"])["g_uu"].reshape(shape))]

    # 2. The same block magnetized by a field that dips by 50 degrees: noise of 1 % of its largest anomaly.
    anomaly = Sensitivity(BLOCK, *at, channels=["tmi"], main_field=FIELD).apply(SUSCEPTIBILITY)
    noise = 0.01 * np.abs(anomaly).max()
    noisy = anomaly + noise * np.random.default_rng(1).standard_normal(anomaly.size)
    magnets = terrane.EquivalentSources(50, depth=100, channel="tmi", main_field=FIELD)
    magnets.fit(*at, noisy, uncertainty=noise)
    print(magnets)
    panels.append(("tmi reduced to the pole, 50 m up [nT]", magnets.grid(LINE, LINE, 50.0, pole=True),
                   Sensitivity(BLOCK, grid[0], grid[1], np.full(grid[0].size, 50.0), channels=["tmi"],
                               main_field=POLE).apply(SUSCEPTIBILITY).reshape(shape)))

    # 3. Beside the exact fields.
    with open(folder / "errors.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["field", "error"])
        for name, found, right in panels:
            error = np.abs(found - right).max() / np.abs(right).max()
            writer.writerow([name.split(",")[0].split(" [")[0], f"{error:.4f}"])
            print(f"{name}: off by {100 * error:.1f} % of the largest value")
    draw(folder, panels)


def draw(folder, panels):
    try:
        import matplotlib
    except ImportError:
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(panels), figsize=(11, 6.4), sharex=True, sharey=True, constrained_layout=True)
    for column, (name, found, right) in zip(axes.T, panels):
        low, high = min(found.min(), right.min()), max(found.max(), right.max())
        for axis, values, what in zip(column, (found, right), ("equivalent sources", "exact")):
            image = axis.pcolormesh(LINE, LINE, values, vmin=low, vmax=high, shading="nearest")
            axis.set_title(f"{name}: {what}" if what == "exact" else f"{name}\n{what}", fontsize=9)
            axis.set_aspect("equal")
            figure.colorbar(image, ax=axis, shrink=0.8)
    figure.savefig(folder / "equivalent_sources.png", dpi=100)


if __name__ == "__main__":
    main()
