"""The earth of job.toml and its fields around it, as one picture.

    python picture.py OUTPUT PICTURE.png
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np
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


figure, axes = plt.subplots(3, 3, figsize=(13, 10.5), layout="constrained")


def field_map(ax, values, channel, title, colours):
    shown = ax.pcolormesh(values["easting"] / 1e3, values["northing"] / 1e3, values[channel], cmap=colours,
                          rasterized=True)
    figure.colorbar(shown, ax=ax, shrink=0.85)
    ax.axhline(4, color="black", lw=0.5, ls=":")
    ax.set(title=title, xlabel="easting, km", ylabel="northing, km", aspect="equal")


gravity, magnetic, earth = read("gravity.nc"), read("magnetic.nc"), read("earth.nc")
field_map(axes[0, 0], gravity, "g_u", "gravity g_u, mGal", "viridis")
field_map(axes[0, 1], gravity, "g_uu", "gradient g_uu, E", "RdBu_r")
field_map(axes[0, 2], magnetic, "tmi", "total-field anomaly, nT", "RdBu_r")

ax = axes[1, 1]
middle = earth["density"].shape[1] // 2
shown = ax.pcolormesh(earth["easting"] / 1e3, earth["up"] / 1e3, earth["velocity_p"][:, middle, :] / 1e3, cmap="terrain_r",
                      rasterized=True)
figure.colorbar(shown, ax=ax, shrink=0.85)
ax.set(title="the earth along northing 4 km: velocity_p, km/s", xlabel="easting, km", ylabel="up, km")
for text, x, z in (("salt", 3.3, -0.8), ("sediment", 3.3, -0.2), ("dike", 6.0, -1.6), ("ore", 7.0, -0.4), ("basement", 1.2, -2.4)):
    ax.text(x, z, text, ha="center", va="center", fontsize=8)

ax = axes[1, 0]
dc = read("resistivity.nc")
middle = (dc["a_easting"] + dc["b_easting"] + dc["m_easting"] + dc["n_easting"]) / 4e3
apart = np.abs(dc["m_easting"] - dc["b_easting"]) / 2
shown = ax.scatter(middle, -apart, c=np.log10(dc["apparent_resistivity"]), s=18, cmap="Spectral", marker="s")
figure.colorbar(shown, ax=ax, shrink=0.85)
ax.set(title="direct current: log10 apparent resistivity, ohm m", xlabel="easting, km", ylabel="- half the distance, m")

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
gather(axes[2, 1], sound, sound["pressure"], "sound: pressure after a shot")
gather(axes[2, 2], waves, waves["velocity"][:, 2, :].T, "elastic waves: velocity upward")
figure.suptitle("One earth, every field")
figure.savefig(picture, dpi=90)
