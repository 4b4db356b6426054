"""Physics check one another: where two physics obey one equation they give one answer, over one earth in one job."""

import math

import command
from command import CommandTest

ORE_BODY = """\
[mesh]
box = [0, 1000, 0, 1000, -1000, 0]
shape = [20, 20, 20]

[[model.unit]]
name = "ore"
density = 400
magnetization_east = 0.3
magnetization_north = -0.4
magnetization_up = 1.2

[[model.body]]
kind = "ellipsoid"
centre = [450, 550, -400]
semi_axes = [250, 150, 200]
unit = "ore"

[survey]
region = [0, 1000, 0, 1000]
shape = [5, 4]
height = 60

[[simulation]]
physics = "gravity"
channels = ["tensor"]

[[simulation]]
physics = "magnetic"
channels = ["b_e", "b_n", "b_u"]

[output.gravity]
files = ["gravity.csv"]
[output.magnetic]
files = ["magnetic.csv"]
"""

#: Heat flows from a source in the middle of a box, half of it down; current flows from an electrode on the ground. Rock
#: lies in mirror images below and above the ground, which makes it a plane that no heat crosses.
CONDUCTORS = """\
[[model.unit]]
name = "cover"
resistivity = 100
thermal_conductivity = 2
heat_capacity = 2e6

[[model.unit]]
name = "rock"
resistivity = 400
thermal_conductivity = 0.5
heat_capacity = 2e6

[model.background]
unit = "rock"

[[model.body]]
kind = "layer"
bottom = -{cover}
top = {cover}
unit = "cover"

[mesh.heat]
box = [-{half}, {half}, -{half}, {half}, -{half}, {half}]
shape = [{cells}, {cells}, {cells}]

[mesh.electric]
kind = "tensor"
origin = [-{half}, -{half}, -{half}]
easting_widths = ["{cells}*{width}"]
northing_widths = ["{cells}*{width}"]
up_widths = ["{below}*{width}", {half_width}]

[survey.heat]
kind = "list"
stations = [[40, 0, 0], [60, 0, 0], [80, 0, 0], [0, 100, 0]]

[survey.electric]
kind = "file"
file = "arrays.csv"

[source]
at = [0, 0, 0]
power = 400

[[simulation]]
physics = "heat"
method = "implicit"
boundary = "fixed"
end = 4e12
step = 5e11

[[simulation]]
physics = "electric"
boundary = "grounded"
potential = "total"

[output.heat]
files = ["heat.nc"]
[output.electric]
files = ["electric.nc"]
"""


#: A shot at the top of a hole through two layers; the earth has no mesh, and the interface lies in no plane of those
#: that both physics make.
HOLE = """\
[[model.unit]]
name = "shale"
density = 2300
velocity_p = 2500
velocity_s = 1400

[[model.unit]]
name = "limestone"
density = 2600
velocity_p = 4000
velocity_s = 2300

[model.background]
unit = "limestone"

[[model.body]]
kind = "layer"
bottom = -643
top = 100
unit = "shale"

[[survey]]
name = "hole"
kind = "list"
stations = [[0, 0, -400], [0, 0, -900]]

[source.acoustic]
at = [[30, 0, -20]]
frequency = 12
delay = 0.15

[source.elastic]
at = [30, 0, -20]
moment = [1e12, 1e12, 1e12, 0, 0, 0]
frequency = 12
delay = 0.15

[boundary.acoustic]
top = "cpml"

[mesh.elastic]
kind = "planned"
cell = 60
box = [-270, 330, -300, 300, -1140, 0]

[[simulation]]
physics = "acoustic"
survey = "hole"
equation = "variable_density"
end = 0.6

[[simulation]]
physics = "elastic"
survey = "hole"
absorbing = ["west", "east", "south", "north", "bottom", "top"]
end = 0.6

[output.acoustic]
files = ["acoustic.nc"]
[output.elastic]
files = ["elastic.nc"]
"""


def later(np, early, late, step):
    """By how much a trace is later than another, where they correlate best, to a part of a step."""
    both = np.correlate(late, early, "full")
    at = int(np.argmax(np.abs(both)))
    a, b, c = np.abs(both[at - 1:at + 2])
    return (at - (len(early) - 1) + 0.5 * (a - c) / (a - 2 * b + c)) * step


class PhysicsAgree(CommandTest):
    def test_SoundAndElasticWavesTravelThroughRockInTheSameTime(self):
        try:
            import numpy as np
            from netCDF4 import Dataset
        except ImportError:
            self.skipTest("needs netCDF4")
        self.write("job.toml", HOLE)
        self.terrane("run", "job.toml")
        times = {}
        with Dataset(self.folder / "output/acoustic.nc") as file:
            traces = file["pressure"][...].filled(np.nan).squeeze()
            step = float(file["time"][1] - file["time"][0])
            times["acoustic"] = later(np, traces[:, 0], traces[:, 1], step)
        with Dataset(self.folder / "output/elastic.nc") as file:
            up = file["displacement"][...].filled(np.nan)[:, 2, :]
            step = float(file["time"][1] - file["time"][0])
            times["elastic"] = later(np, up[0], up[1], step)
        expected = (643 - 400) / 2500 + (900 - 643) / 4000
        for physics, found in times.items():
            self.assertAlmostEqual(found, expected, delta=2.5e-3, msg=physics)
        self.assertAlmostEqual(times["acoustic"], times["elastic"], delta=2.5e-3)

    def test_EachPhysicsOfWavesReadsTheReceiversOfTheOther(self):
        try:
            from netCDF4 import Dataset
        except ImportError:
            self.skipTest("needs netCDF4")
        short = HOLE.replace("end = 0.6", "end = 0.02")
        self.write("job.toml", short)
        self.terrane("run", "job.toml")

        def read(folder, physics, name):
            with Dataset(self.folder / folder / f"{physics}.nc") as file:
                return file[name][...].filled(math.nan).tolist()

        for writer, reader, field in (("acoustic", "elastic", "displacement"), ("elastic", "acoustic", "pressure")):
            self.write("again.toml", short.replace("stations = [[0, 0, -400], [0, 0, -900]]", f'file = "output/{writer}.nc"'))
            self.terrane("run", "again.toml", "--only", reader, "-o", "again")
            for name in ("receiver_easting", "receiver_northing", "receiver_up", field):
                self.assertEqual(read("again", reader, name), read("output", reader, name), f"{name}, receivers of {writer}")

    def test_MagneticFieldsAreGradientsOfGravityByPoissonsRelation(self):
        self.write("job.toml", ORE_BODY)
        self.terrane("run", "job.toml")
        gravity = self.rows(self.folder / "output/gravity.csv")
        magnetic = self.rows(self.folder / "output/magnetic.csv")
        moment, density, G = {"e": 0.3, "n": -0.4, "u": 1.2}, 400, 6.67430e-11
        per_eotvos = 1.00000000055e-7 / (G * density)  # B = mu0 / (4 pi G rho) Gamma M; nT from E as T from 1/s2
        tensor = {a + b: gravity.get(f"g_{a}{b}") or gravity[f"g_{b}{a}"] for a in "enu" for b in "enu"}
        largest = max(abs(b) for c in "enu" for b in magnetic[f"b_{c}"])
        self.assertGreater(largest, 10)
        for c in "enu":
            for i, b in enumerate(magnetic[f"b_{c}"]):
                expected = per_eotvos * sum(tensor[c + d][i] * moment[d] for d in "enu")
                self.assertAlmostEqual(b, expected, delta=1e-10 * largest)

    def test_AnotherPhysicsReadsTheStationsOfAResult(self):
        self.write("job.toml", ORE_BODY.replace('["gravity.csv"]', '["gravity.csv", "gravity.nc"]'))
        self.terrane("run", "job.toml")
        expected = self.rows(self.folder / "output/magnetic.csv")
        begin, end = ORE_BODY.index("region ="), ORE_BODY.index("[[simulation]]")
        for name in ("gravity.csv", "gravity.nc"):
            survey = f'kind = "list"\nfile = "output/{name}"\n\n'
            self.write("again.toml", ORE_BODY[:begin] + survey + ORE_BODY[end:])
            self.terrane("run", "again.toml", "--only", "magnetic", "-o", "again")
            found = self.rows(self.folder / "again/magnetic.csv")
            for c in ("easting", "northing", "up", "b_e", "b_n", "b_u"):
                self.assertEqual(found[c], expected[c], msg=f"{c} at the stations of {name}")

    def test_CurrentSpreadsAsHeatThatHasBecomeSteady(self):
        try:
            import netCDF4
        except ImportError:
            self.skipTest("needs netCDF4")
        columns = [f"{e}_{c}" for e in "abmn" for c in ("easting", "northing", "up")]
        receivers = [(40, 0), (60, 0), (80, 0), (0, 100)]
        self.write("arrays.csv", "\n".join([",".join(columns)] + [f"0,0,0,,,,{x},{y},0,,," for x, y in receivers]) + "\n")
        differences = []
        for width in (10, 5):
            below = 200 // width
            self.write("job.toml", CONDUCTORS.format(width=width, half_width=width / 2, half=200 + width / 2, below=below,
                                                     cells=2 * below + 1, cover=60 + width / 2))
            self.terrane("run", "job.toml")
            with netCDF4.Dataset(self.folder / "output/electric.nc") as file:
                ohms = [float(value) for value in file["resistance"]]
            with netCDF4.Dataset(self.folder / "output/heat.nc") as file:
                kelvins = [float(value) for value in file["temperature"][-1, :]]
            # sigma = k / 200, and half of the 400 W goes down: ohms are kelvins.
            self.assertEqual((len(ohms), len(kelvins)), (len(receivers), len(receivers)))
            self.assertTrue(all(math.isfinite(value) for value in ohms + kelvins), (ohms, kelvins))
            differences.append(max(abs(a / b - 1) for a, b in zip(ohms, kelvins)))
        self.assertLess(differences[0], 0.04)  # heat beside the source is exact, current has the error of cells
        self.assertLess(differences[1], 0.6 * differences[0])  # as the cells become smaller the two become one


if __name__ == "__main__":
    command.main()
