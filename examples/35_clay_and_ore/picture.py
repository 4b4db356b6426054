"""Both pseudosections, and below them the models beside the truth.

    python picture.py output clay_and_ore.png
"""

import csv
import sys
from pathlib import Path

import matplotlib
import numpy as np
import terrane

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.colors import LogNorm, Normalize  # noqa: E402
from matplotlib.patches import Rectangle  # noqa: E402

BODIES = {"clay": ((-65, -25), 35, 17.5), "ore": ((20, -30), 40, 20)}
#: Of each model: its data, unit and colours, and what the model times this is in the data's unit.
SHOWN = {"resistivity": ("apparent_resistivity", "ohm m", LogNorm(10, 200), "viridis", 1),
         "chargeability": ("chargeability", "mV/V", Normalize(0, 100), "viridis", 1000)}


def table(path):
    """Columns by name, without units."""
    rows = list(csv.reader(line for line in open(path, encoding="utf-8") if not line.startswith("#")))
    return {name.split(" [")[0]: np.array(values, float) for name, *values in zip(*rows)}


def main(folder, out):
    folder = Path(folder)
    figure, panels = plt.subplots(2, 2, figsize=(9.5, 4.6), layout="constrained", sharex=True)
    for column, (name, (datum, unit, norm, colours, scale)) in enumerate(SHOWN.items()):
        above, below = panels[:, column]
        data = table(folder / f"{name}_fit.csv")
        seen = data[f"{datum}_observed"]
        of_data = norm if column == 0 else Normalize(0, 40)
        image = above.scatter(data["easting"], data["up"], c=seen, norm=of_data, cmap=colours, s=36, marker="s")
        above.set(title=f"measured: {datum.replace('_', ' ')}", xlim=(-130, 130), ylabel="pseudo-depth (m)")
        bar(figure, image, above, unit, column == 0)
        mesh = terrane.TensorMesh.read(folder / f"{name}.nc")
        section = scale * mesh[name][:, mesh.shape[1] // 2]
        image = below.pcolormesh(mesh.easting, mesh.up, section, norm=norm, cmap=colours)
        for body, (corner, width, height) in BODIES.items():
            below.add_patch(Rectangle(corner, width, height, fill=False, lw=1.2, ls="--", color="white"))
            below.text(corner[0] + width / 2, corner[1] - 7, body, ha="center", color="white")
        below.set(title=f"model: {name}", ylim=(-55, 0), ylabel="up (m)", xlabel="easting (m)")
        bar(figure, image, below, unit, column == 0)
    figure.savefig(out, dpi=130)


def bar(figure, image, panel, unit, logarithmic):
    made = figure.colorbar(image, ax=panel, pad=0.01, label=unit)
    if logarithmic:
        made.set_ticks([10, 20, 50, 100, 200], labels=["10", "20", "50", "100", "200"])
        made.minorticks_off()


if __name__ == "__main__":
    main(*sys.argv[1:])
