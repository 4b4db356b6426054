"""One earth without a mesh: every physics plans its own and says why, and what is averaged into it keeps its mass."""

import command
from command import CommandTest

EARTH = """\
[model]
topography = "hills.asc"
[model.air]
resistivity = 1e8
[[model.unit]]
name = "host"
velocity_p = 3000
resistivity = 200
maps = ["velocity_s from velocity_p by castagna", "density from velocity_p by gardner"]
[[model.unit]]
name = "ore"
density = 3800
susceptibility = 0.01
resistivity = 1
velocity_p = 5000
velocity_s = 2800
[model.background]
unit = "host"
[[model.body]]
kind = "sphere"
centre = [0, 0, -120]
radius = 60
unit = "ore"
"""

SIMULATIONS = """
[[survey]]
name = "map"
region = [-300, 300, -300, 300]
shape = [13, 13]
height = 60
[[survey]]
name = "line"
kind = "lines"
start = [-250, 0]
end = [250, 0]
spacing = 50
clearance = -5
elevation = "hills.asc"
[[survey]]
name = "resistivity"
start = [-150, 0]
electrodes = 16
spacing = 20
levels = 3

[[simulation]]
name = "gravity"
physics = "gravity"
survey = "map"
reference_density = 2294.217
[[simulation]]
physics = "magnetic"
survey = "map"
[[simulation]]
name = "resistivity"
physics = "electric"
[[simulation]]
physics = "electromagnetic"
survey = "line"
frequencies = [100]
[[simulation]]
physics = "acoustic"
survey = "line"
end = 0.1
[[simulation]]
physics = "elastic"
survey = "line"
end = 0.1

[model.acoustic.air]
velocity_p = 3000
[source.electromagnetic]
at = [-250, 0, -5]
[source.acoustic]
at = [[0, 0, -10]]
frequency = 40
[source.elastic]
at = [0, 0, -10]
force = [0, 0, 1e6]
frequency = 20
[output.gravity]
files = ["gravity.csv"]
model = ["gravity_model.nc"]
[output.magnetic]
files = ["magnetic.nc"]
[output.resistivity]
files = ["resistivity.nc"]
[output.electromagnetic]
files = ["electromagnetic.nc"]
[output.acoustic]
files = ["acoustic.nc"]
[output.elastic]
files = ["elastic.nc"]
"""


class AnEarthWithoutAMesh(CommandTest):
    def hills(self):
        """40 m at most, in the east."""
        nodes = range(-2000, 2001, 200)
        rows = [" ".join(f"{40 / (1 + ((x - 200) / 300) ** 2 + (y / 300) ** 2):.2f}" for x in nodes) for y in nodes]
        self.write("hills.asc", "\n".join([f"ncols {len(nodes)}", f"nrows {len(nodes)}", "xllcenter -2000",
                                           "yllcenter -2000", "cellsize 200", *rows]) + "\n")

    def test_EveryPhysicsPlansAMeshAndSaysWhy(self):
        self.hills()
        self.write("job.toml", EARTH + SIMULATIONS)
        text, _ = self.terrane("check", "job.toml")
        for words in ("as wide as stations are apart", "half the distance between electrodes", "in the skin depth of",
                      "in the shortest wave, 100 Hz at 3000 m/s", "one cell across", "points in the shortest wave",
                      "unit host: velocity_s 1414 m/s"):
            self.assertIn(words, text)

    def test_TheMassOfABodyIsThatOfItsVolumeHoweverCoarseTheCells(self):
        self.hills()
        self.write("job.toml", EARTH.replace('topography = "hills.asc"\n[model.air]\nresistivity = 1e8\n', "")
                   .replace('[model.background]\nunit = "host"\n', "") + SIMULATIONS)
        try:
            from netCDF4 import Dataset
        except ImportError:
            self.skipTest("needs netCDF4")
        exact = 3800 * 4 / 3 * 3.141592653589793 * 60**3
        for cell, largest in ((50, 2e-2), (10, 1e-3)):
            self.terrane("run", "job.toml", "--only", "gravity", "--set", f"mesh.gravity.cell={cell}", "--set",
                         "mesh.gravity.kind=planned", "--set", "simulation.gravity.reference_density=0")
            with Dataset(self.folder / "output/gravity_model.nc") as file:
                density = file["density"][...].filled(0)
                faces = [file[f"{axis}_faces" if f"{axis}_faces" in file.variables else axis][...] for axis in ("up", "northing", "easting")]
            width = [(f.max() - f.min()) / (len(f) - 1) for f in faces]
            self.assertAlmostEqual(float(density.sum()) * width[0] * width[1] * width[2], exact, delta=largest * exact)


if __name__ == "__main__":
    command.main()
