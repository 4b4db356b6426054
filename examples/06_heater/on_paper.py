"""Compare the thermometers with the line on paper: python on_paper.py output/temperature.nc [picture.png]

A point that gives off P watts from time 0 on makes, in rock without walls (Carslaw & Jaeger 1959, 10.4 (2)),

    T(r, t) = P / (4 π k r) erfc(r / √(4 D t)),   D = k / C

and one that is turned off after a while the difference of two of these.
"""

import math
import sys

import netCDF4

POWER, CONDUCTIVITY, CAPACITY, OFF = 500.0, 2.8, 2.1e6, 30 * 86400.0


def on_paper(r, t):
    def since(begin):
        age = t - begin
        return math.erfc(r / math.sqrt(4 * CONDUCTIVITY / CAPACITY * age)) if age > 0 else 0.0

    return POWER / (4 * math.pi * CONDUCTIVITY * r) * (since(0.0) - since(OFF))


def main(file, picture=None):
    with netCDF4.Dataset(file) as data:
        time, temperature = data["time"][:].data, data["temperature"][:].data
        distance = data["receiver_easting"][:].data - 0.25
    curves = [[on_paper(r, t) for t in time] for r in distance]
    for n, r in enumerate(distance):
        print(f"{r:.0f} m  computed {max(temperature[:, n]):8.4f} K  on paper {max(curves[n]):8.4f} K")
    if picture:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
        for n, r in enumerate(distance):
            (line,) = axes.plot(time / 86400, temperature[:, n], label=f"{r:.0f} m")
            axes.plot(time / 86400, curves[n], ":", color=line.get_color())
        axes.set(xlabel="days", ylabel="temperature above the surroundings (K)",
                 title="A heater of 500 W, turned off after 30 days (dotted: exact)")
        axes.legend()
        figure.savefig(picture, dpi=120)


if __name__ == "__main__":
    main(*sys.argv[1:3])
