"""The earth of job.toml and its fields around it, as one picture.

    python picture.py OUTPUT PICTURE.png
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.colors import ListedColormap, LogNorm
from netCDF4 import Dataset

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

folder, picture = Path(sys.argv[1]), sys.argv[2]


def read(name):
    """Variables of a file by name, numbers only, without dimensions of one."""
    with Dataset(folder / name) as file:
        values = {}
        for key, variable in file.variables.items():
            if variable.dtype == str:
                continue
            value = np.ma.filled(np.squeeze(variable[...]).astype(float), np.nan)
            complex_one = "complex" in variable.dimensions and key != "complex"
            values[key] = value[..., 0] + 1j * value[..., 1] if complex_one else value
    return values


hills = np.loadtxt(Path(__file__).parent / "hills.asc", skiprows=6)[::-1]
nodes = np.arange(hills.shape[1]) * 0.2  # km

figure, axes = plt.subplots(3, 3, figsize=(13, 10.2), layout="constrained")
figure.get_layout_engine().set(w_pad=0.08, h_pad=0.08)


def field_map(ax, values, channel, title, colours):
    most = np.abs(values[channel]).max() if colours == "RdBu_r" else None  # white is zero
    shown = ax.pcolormesh(values["easting"] / 1e3, values["northing"] / 1e3, values[channel], cmap=colours,
                          vmin=most and -most, vmax=most, rasterized=True)
    figure.colorbar(shown, ax=ax, shrink=0.85)
    ax.contour(nodes, nodes, hills, levels=[50, 100, 150, 200], colors="black", linewidths=0.4, alpha=0.6)
    ax.axhline(4, color="black", lw=0.6, ls=":")  # the section below
    ax.set(title=title, xlabel="easting, km", ylabel="northing, km", aspect="equal")


gravity, magnetic, earth = read("gravity.nc"), read("magnetic.nc"), read("earth.nc")
field_map(axes[0, 0], gravity, "g_u", "gravity, upward, mGal", "viridis")
field_map(axes[0, 1], gravity, "g_uu", "vertical gradient of gravity, Eötvös", "RdBu_r")
field_map(axes[0, 2], magnetic, "tmi", "magnetic total-field anomaly, nT", "RdBu_r")

ax = axes[1, 1]
middle = earth["velocity_p"].shape[1] // 2
rocks = {2800: ("sediment", "#f3e3b0", 3.3, -0.2), 4500: ("salt", "#f4b9c7", 3.3, -0.8), 5200: ("basement", "#b8c4c9", 1.2, -2.4),
         5800: ("ore", "#c0392b", 7.3, -0.35), 6000: ("dike", "#5d6d75", 5.7, -1.6)}  # by velocity_p, m/s
velocity = earth["velocity_p"][:, middle, :]
apart = np.abs(velocity[..., None] - list(rocks))
section = np.where(apart.min(-1) < 1, apart.argmin(-1), -1)
for place in 3 * ((1, 0), (-1, 0), (1, 1), (-1, 1)):  # cells of more than one rock: as one beside them
    beside = np.roll(section, *place)
    section = np.where((section < 0) & (beside >= 0), beside, section)
section = np.ma.masked_where(np.isnan(velocity), section)
ax.pcolormesh(earth["easting"] / 1e3, earth["up"] / 1e3, section, vmin=0, vmax=len(rocks) - 1,
              cmap=ListedColormap([colour for _, colour, _, _ in rocks.values()]), rasterized=True)
ax.set(title="the earth, a section along northing 4 km", xlabel="easting, km", ylabel="up, km")
ax.plot(nodes, hills[hills.shape[0] // 2] / 1e3, color="black", lw=0.8)
for text, _, x, z in rocks.values():
    ax.text(x, z, text, ha="center", va="center")

ax = axes[1, 0]
dc = read("resistivity.nc")
middle = (dc["a_easting"] + dc["b_easting"] + dc["m_easting"] + dc["n_easting"]) / 4e3
apart = np.abs(dc["m_easting"] - dc["b_easting"]) / 2
shown = ax.scatter(middle, -apart, c=dc["apparent_resistivity"], s=18, cmap="viridis", marker="s",
                   norm=LogNorm())
bar = figure.colorbar(shown, ax=ax, shrink=0.85)
inside = [tick for tick in (20, 50, 100, 200, 500, 1000, 2000) if shown.norm.vmin <= tick <= shown.norm.vmax]
bar.set_ticks(inside, labels=[str(tick) for tick in inside])
bar.minorticks_off()
ax.set(title="direct current: apparent resistivity, ohm m", xlabel="easting, km", ylabel="pseudodepth, m")

ax = axes[1, 2]
em = read("electromagnetic.nc")
place = em["receiver_easting"] / 1e3
for n, frequency in enumerate(np.atleast_1d(em["frequency"])):
    ax.semilogy(place, np.abs(em["e_e"][n]), ".-", label=f"{frequency:g} Hz")
ax.legend()
ax.set(title="electromagnetics: |E east| of a wire, V/m", xlabel="easting, km")

ax = axes[2, 0]
mt = read("telluric.nc")
for n, place in enumerate(("over the basin's west", "over the salt", "over the ore")):
    ax.loglog(mt["frequency"], mt["rho_en"][:, n], "o-", label=place)
ax.legend(fontsize=8)
ax.set(title="magnetotellurics: apparent resistivity, ohm m", xlabel="frequency, Hz")


def gather(ax, values, data, title):
    """data [time, receiver], later arrivals louder."""
    data = data * np.maximum(values["time"], 0)[:, None] ** 1.2
    top = np.percentile(np.abs(data), 98)
    ax.imshow(data, aspect="auto", cmap="gray_r", vmin=-top, vmax=top,
              extent=[values["receiver_easting"][0] / 1e3, values["receiver_easting"][-1] / 1e3, values["time"][-1], values["time"][0]])
    ax.set(title=title, xlabel="easting, km", ylabel="time, s")


sound, waves = read("acoustic.nc"), read("elastic.nc")
gather(axes[2, 1], sound, sound["pressure"], "acoustic waves: pressure after a shot")
gather(axes[2, 2], waves, waves["velocity"][:, 2, :].T, "elastic waves: upward velocity")
figure.savefig(picture, dpi=90)
