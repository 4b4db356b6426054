"""Six pseudosections and sections of the line: what was measured, what the model gives, and the model.

    python picture.py output/century.csv output/chargeability.csv century.png
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


def table(path):
    """Columns by name, without units."""
    rows = list(csv.reader(line for line in open(path, encoding="utf-8") if not line.startswith("#")))
    return {name.split(" [")[0]: np.array(values, float) for name, *values in zip(*rows)}


def bar(figure, panel, image, norm):
    """Plain numbers beside a logarithmic scale, too."""
    made = figure.colorbar(image, ax=panel, pad=0.02)
    if isinstance(norm, LogNorm):
        made.set_ticks([30, 60, 100, 200, 400], labels=["30", "60", "100", "200", "400"])
        made.minorticks_off()


def draw(dc, ip, mesh):
    figure, panels = plt.subplots(3, 2, figsize=(9, 6.2), sharex=True, sharey="row", layout="constrained")
    rho, charge = LogNorm(30, 700), Normalize(0, 20)
    factor = dc["geometric_factor"]
    pseudo = [(dc, factor * dc["resistance_observed"], "measured resistivity (ohm m)", rho, "viridis"),
              (ip, ip["chargeability_observed"], "measured chargeability (mV/V)", charge, "viridis"),
              (dc, dc["apparent_resistivity"], "computed resistivity (ohm m)", rho, "viridis"),
              (ip, ip["chargeability"], "computed chargeability (mV/V)", charge, "viridis")]
    for panel, (data, values, title, norm, colours) in zip(panels.ravel(), pseudo):
        image = panel.scatter(data["easting"], data["up"], c=values, norm=norm, cmap=colours, s=42, marker="s")
        panel.set_title(title)
        bar(figure, panel, image, norm)
        panel.set_ylabel("pseudo-depth (m)" if panel in panels[:, 0] else "")
    middle = mesh.shape[1] // 2
    for panel, values, title, norm, colours in (
            (panels[2, 0], 1 / mesh["conductivity"][:, middle], "model: resistivity (ohm m)", rho, "viridis"),
            (panels[2, 1], 1e3 * mesh["chargeability"][:, middle], "model: chargeability (mV/V)", Normalize(0, 30),
             "viridis")):
        image = panel.pcolormesh(mesh.easting, mesh.up, values, norm=norm, cmap=colours)
        panel.set_title(title)
        panel.set_xlabel("station (m)")
        bar(figure, panel, image, norm)
        panel.set_ylim(-420, 0)
        panel.set_xlim(dc["easting"].min() - 250, dc["easting"].max() + 250)
    panels[2, 0].set_ylabel("up (m)")
    return figure


if __name__ == "__main__":
    dc, ip, out = sys.argv[1:]
    figure = draw(table(dc), table(ip), terrane.TensorMesh.read(Path(__file__).parent / "section.nc"))
    figure.savefig(out, dpi=130)
