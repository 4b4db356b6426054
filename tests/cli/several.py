"""Several simulations in one job, over one earth."""


import os

import command
from command import CommandTest

EARTH = """\
[mesh]
box = [0, 2, 0, 2, -2, 0, "km"]
shape = [10, 10, 10]

[[model.unit]]
name = "ore"
density = 3200
susceptibility = 0.03

[[model.unit]]
name = "host"
density = 2700

[model.background]
unit = "host"

[[model.body]]
kind = "sphere"
centre = [1, 1, -1, "km"]
radius = "500 m"
unit = "ore"

[survey]
region = [0, 2, 0, 2, "km"]
shape = [4, 3]
height = 50

[[simulation]]
name = "gravity"
physics = "gravity"
reference_density = 2700

[[simulation]]
name = "magnetic"
physics = "magnetic"
intensity = "50000 nT"
inclination = 60
declination = 0

[output.gravity]
files = ["gravity.csv"]

[output.magnetic]
files = ["magnetic.csv"]
"""


class SeveralSimulations(CommandTest):
    def test_GiveWhatEachGivesByItself(self):
        self.write("tour.toml", EARTH)
        out, _ = self.terrane("run", "tour.toml")
        self.assertIn("tour.toml: gravity", out)
        self.assertIn("tour.toml: magnetic", out)
        alone = EARTH[:EARTH.index("[[simulation]]")]
        self.write("gravity.toml", alone + '[simulation]\nreference_density = 2700\n[output]\nfiles = ["alone.csv"]\n')
        self.terrane("run", "gravity.toml")
        folder = self.folder / "output"

        def rows(name):
            return [line for line in (folder / name).read_text().splitlines() if not line.startswith("#")]

        self.assertEqual(rows("gravity.csv"), rows("alone.csv"))
        self.assertEqual(sorted(p.name for p in folder.iterdir()), ["alone.csv", "gravity.csv", "magnetic.csv"])

    def test_AContrastIsTheDensityLessItsReference(self):
        self.write("tour.toml", EARTH)
        contrast = EARTH.replace("density = 3200", "density = 500").replace("density = 2700\n\n[model", "density = 0\n\n[model")
        self.write("contrast.toml", contrast.replace("reference_density = 2700\n", ""))
        self.terrane("run", "tour.toml", "--only", "gravity")
        self.terrane("run", "contrast.toml", "--only", "gravity", "-o", "other")
        values = [[float(line.split(",")[-1]) for line in (self.folder / folder / "gravity.csv").read_text().splitlines()
                   if line[:1].isdigit()] for folder in ("output", "other")]
        self.assertEqual(len(values[0]), 12)
        for a, b in zip(*values):
            self.assertAlmostEqual(a, b, delta=1e-12 * abs(b))

    def test_AreCheckedTogether(self):
        self.write("tour.toml", EARTH)
        out, _ = self.terrane("check", "tour.toml")
        self.assertIn("tour.toml: gravity is sound", out)
        self.assertIn("in all: 2 simulations", out)
        self.assertFalse((self.folder / "output").exists())

    def test_NoneRunsWhereTheLastIsWrong(self):
        self.write("tour.toml", EARTH.replace("inclination = 60", "inclination = 600"))
        self.terrane("run", "tour.toml", expect=2)
        self.assertFalse((self.folder / "output").exists())

    def test_NoneRunsWhereTheLastCannotWrite(self):
        self.write("tour.toml", EARTH.replace("magnetic.csv", "magnetic.gg"))
        self.terrane("run", "tour.toml", expect=2)
        self.assertFalse((self.folder / "output").exists())

    def test_MayNotWriteOneFile(self):
        self.write("tour.toml", EARTH.replace("magnetic.csv", "gravity.csv"))
        _, message = self.terrane("run", "tour.toml", expect=2)
        self.assertIn("both write", message)

    def test_OneIsChosenByName(self):
        self.write("tour.toml", EARTH)
        self.terrane("run", "tour.toml", "--only", "magnetic")
        self.assertEqual([p.name for p in (self.folder / "output").iterdir()], ["magnetic.csv"])
        _, message = self.terrane("run", "tour.toml", "--only", "magnetik", expect=2)
        self.assertIn('Did you mean "magnetic"', message)

    def test_ThatAreDoneAreNotRunAgainOnResume(self):
        self.write("tour.toml", EARTH)
        (self.folder / "output").mkdir()
        mark = self.folder / "output/.gravity.done"
        self.terrane("run", "tour.toml")
        source = self.folder / "output/gravity.csv"
        mark.write_text(self.folder.joinpath("tour.toml").read_text() + "# simulation: gravity\n")
        source.write_text("kept\n")
        out, _ = self.terrane("run", "tour.toml", "--resume")
        self.assertIn("gravity is done", out)
        self.assertEqual(source.read_text(), "kept\n")
        self.assertFalse(mark.exists())
        # Of another job the mark does not count, nor where the files are gone or the job is younger.
        done = self.folder.joinpath("tour.toml").read_text() + "# simulation: gravity\n"
        for spoil in (lambda: mark.write_text("another job\n"), source.unlink,
                      lambda: os.utime(self.folder / "tour.toml", (4e9, 4e9))):
            mark.write_text(done)
            source.write_text("kept\n")
            spoil()
            self.terrane("run", "tour.toml", "--resume")
            self.assertNotEqual(source.read_text(), "kept\n")

    def test_AUnitThatIsNotThereIsNamed(self):
        self.write("tour.toml", EARTH.replace('unit = "ore"', 'unit = "oar"'))
        _, message = self.terrane("check", "tour.toml", expect=2)
        self.assertIn('there is no unit "oar". Did you mean "ore"', message)


if __name__ == "__main__":
    command.main()
