"""terrane invert of recorded waves: velocities by waveform inversion, their change by least-squares migration."""

import math
import os
import re
import shutil
import struct
import subprocess

import cluster
import command
from command import CommandTest

EARTH = """
[mesh]
box = [0, 200, 0, 10, 0, 200]
shape = [20, 1, 20]
[model]
BODIES
[source]
at = [[25, 5, 185], [100, 5, 185], [175, 5, 185]]
frequency = "20 Hz"
[boundary]
top = "cpml"
[survey]
kind = "lines"
start = [15, 5]
end = [195, 5]
spacing = 20
lines = 1
height = 15
[simulation]
physics = "acoustic"
end = "0.22 s"
sample = "4 ms"
"""
EVEN = """[[model.body]]
kind = "layer"
top = 200
bottom = 0
velocity_p = "2000 m/s"
"""
BODY = EVEN + """[[model.body]]
kind = "sphere"
centre = [110, 5, 90]
radius = 30
velocity_p = "2120 m/s"
"""
OUTPUT = """[output]
files = ["gathers.nc"]
"""
INVERSION = """[inversion]
observed = "made/gathers.nc"
percent = [2]
length_scale = [30, 30, 30]
most_products = 10
[output]
files = ["fit.nc"]
model = ["model.csv"]
"""


def earth(bodies):
    return EARTH.replace("[model]\nBODIES\n", bodies)


def numbers_of(path):
    """Of an .npy file: what stands before them, their letter for struct, and they themselves."""
    content = path.read_bytes()
    first = 10 + int.from_bytes(content[8:10], "little")
    letter = "d" if b"<f8" in content[:first] else "f"
    values = struct.unpack(f"<{(len(content) - first) // struct.calcsize(letter)}{letter}", content[first:])
    return content[:first], letter, list(values)


class Waves(CommandTest):
    def observe(self, *words):
        self.write("true.toml", earth(BODY) + OUTPUT)
        self.terrane("run", "true.toml", "--output", "made", *words)

    def invert(self, *words, verb="invert", bodies=EVEN, **more):
        self.write("job.toml", earth(bodies) + INVERSION)
        return self.terrane(verb, "job.toml", *(w for word in words for w in ("--set", word)), **more)

    def test_VelocitiesAreFoundWhereTheBodyIs(self):
        self.observe()
        out, _ = self.invert(verb="check")
        self.assertIn("wavefield", out)
        self.assertIn("10 at most in each", out)
        out, _ = self.invert("simulation.threads=2")
        self.assertIn("stopped", out)
        misfits = [float(found) for found in re.findall(r"newton .*φ_d/N ([0-9.e+-]+)", out)]
        self.assertLess(misfits[-1], misfits[0] / 30)
        rows = self.rows(self.folder / "output/model.csv")
        fast = max(zip(rows["velocity_p"], rows["west"], rows["bottom"]))
        self.assertGreater(fast[0], 2050)
        self.assertLess(abs(fast[1] + 5 - 110), 21)
        self.assertLess(abs(fast[2] + 5 - 90), 31)
        self.invert("simulation.threads=1", "output.model=[\"again.csv\"]")
        self.assertEqual(self.rows(self.folder / "output/again.csv"), rows)

    def test_GapsInWhatWasRecordedCountForNothing(self):
        every = ("--set", "simulation.step=0.001", "--set", "simulation.sample=0.001",
                 "--set", 'output.files=["gathers.npy"]')
        self.observe(*every)
        before, letter, values = numbers_of(self.folder / "made/gathers.npy")
        traces, steps = 10, len(values) // 30
        for n in range(steps):
            values[n * traces + 3] = float("nan")  # a trace of the first shot
            if n > steps // 2:
                values[(steps + n) * traces + 5] = float("nan")  # the end of one of the second
        gaps = self.folder / "made/gaps.npy"
        gaps.write_bytes(before + struct.pack(f"<{len(values)}{letter}", *values))
        words = ("simulation.step=0.001", "inversion.observed=made/gaps.npy", "inversion.most_steps=4")
        out, _ = self.invert(*words)
        kept = len(range(0, steps, 4)), len([n for n in range(0, steps, 4) if n > steps // 2])
        self.assertIn(f"gaps       {sum(kept)} of {kept[0] * 30:,} samples were not recorded", out)
        misfits = [float(found) for found in re.findall(r"newton .*φ_d/N ([0-9.e+-]+)", out)]
        self.assertLess(misfits[-1], misfits[0] / 10)
        rows = self.rows(self.folder / "output/model.csv")
        self.assertLess(abs(max(zip(rows["velocity_p"], rows["west"]))[1] + 5 - 110), 21)
        gaps.write_bytes(before + struct.pack(f"<{len(values)}{letter}", *[float("nan")] * len(values)))
        _, message = self.invert(*words, expect=2)
        self.assertIn("all are gaps", message)
        gaps.write_bytes(before + struct.pack(f"<{len(values)}{letter}", *[float("inf")] * len(values)))
        _, message = self.invert(*words, expect=2)
        self.assertIn("Gaps are NaN", message)

    def test_RanksShareShotsWithTheBitsOfOneProcess(self):
        out, _ = self.terrane("devices")
        if shutil.which("mpirun") is None or "mpi\n  not in this build" in out:
            self.skipTest("needs MPI")
        self.observe()
        self.invert("inversion.most_steps=1")
        alone = self.rows(self.folder / "output/model.csv")
        done = subprocess.run(["mpirun", "-n", "2", command.TERRANE, "invert", "job.toml", "--set",
                               "inversion.most_steps=1", "--set", "simulation.threads=1", "--output", "shared"],
                              cwd=self.folder, capture_output=True, text=True, timeout=300,
                              env={**os.environ, **cluster.RANKS})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(self.rows(self.folder / "shared/model.csv"), alone)

    def test_AChangeIsFoundThatExplainsWavesScatteredOnce(self):
        self.observe("--set", "simulation.kind=born", "--set", "simulation.smoothing=60")
        out, _ = self.invert("simulation.kind=migration", "inversion.percent=[10]")
        self.assertIn("least-squares migration", out)
        self.assertLess(float(re.search(r"chi² / N +pressure ([0-9.e+-]+)", out)[1]), 1.2)
        rows = self.rows(self.folder / "output/model.csv")
        fast = max(zip(rows["velocity_p"], rows["west"]))
        self.assertLess(abs(fast[1] + 5 - 110), 31)

    def test_WhatCannotBeIsRefusedWithTheNextMove(self):
        self.observe()
        for words, pieces in (
                (["simulation.kind=born"], ["simulation.kind", 'kind = "migration"']),
                (["inversion.observed=other.nc"], ["other.nc"]),
                (["inversion.percent=[]"], ["inversion.floor", "no uncertainties"]),
                (["inversion.percent=[1, 2]"], ["2 numbers for 1 recorded components"]),
                (["inversion.percent=[-1]"], ["below zero"]),
                (["inversion.weighting=sensitivity"], ["a run of its own"]),
                (["inversion.upper=9000", "simulation.step=0.001"], ["simulation.step", "not stable"]),
                (["inversion.lower=2100"], ["reference model"]),
                (["inversion.lower=300"], ["inversion.lower", "resolve no waves slower than"]),
                (["simulation.wavefield=compressed"], ["16 bits"]),
                (["simulation.kind=migration", "inversion.choice=gcv"], ["inversion.choice", "each datum"]),
                (["simulation.kind=migration", "inversion.upper=10"], ["one linear problem"]),
                (["simulation.wavefield=random_walls"], ["exact adjoint"]),
                (["simulation.observed=made/gathers.nc"], ["inversion.observed"]),
                (["inversion.norms=[0, 1, 1, 1]"], ["inversion.norms"]),
        ):
            with self.subTest(words=words):
                _, message = self.invert(*words, expect=2)
                for piece in pieces:
                    self.assertIn(piece, message)
                self.assertEqual(list((self.folder / "output").glob("**/*")), [])
        _, message = self.invert("simulation.memory=1 MB", expect=1)
        self.assertIn("a smaller inversion.most_products", message)


CROSSWISE = """
[mesh]
box = [0, 800, -10, 10, -800, 0]
shape = [40, 1, 40]
BODIES
[source]
first = [25, 0, -40]
last = [25, 0, -760]
count = 5
frequency = 8
[boundary]
top = "TOP"
[survey]
kind = "list"
stations = STATIONS
[simulation]
physics = "acoustic"
end = 1
sample = "12 ms"
"""
RISING = "".join(f'[[model.body]]\nkind = "layer"\ntop = {-200 * n}\nbottom = {-200 * n - 200}\nvelocity_p = {2030 + 60 * n}\n'
                 for n in range(4)) + "".join(
    f'[[model.body]]\nkind = "sphere"\ncentre = [{e}, 0, {u}]\nradius = 90\nvelocity_p = {v}\n'
    for e, u, v in ((300, -300, 2240), (500, -520, 2000)))
FIRST = '[[model.body]]\nkind = "layer"\ntop = 0\nbottom = -800\nvelocity_p = 2110\n'


class LongWaveforms(CommandTest):
    def velocities(self, bodies, top):
        text = CROSSWISE.replace("BODIES\n", bodies).replace("TOP", top)
        return text.replace("STATIONS", str([[775, 0, -30 - 40 * n] for n in range(19)]))

    def found(self, top):
        """(φ_d/N of the model, rms error of its velocities over that of the first model)."""
        self.write("true.toml", self.velocities(RISING, top) + '[output]\nfiles = ["gathers.nc"]\nmodel = ["true.csv"]\n')
        self.terrane("run", "true.toml", "--output", "made", timeout=1000)
        inversion = INVERSION.replace("[30, 30, 30]", "[80, 80, 80]").replace("most_products = 10", "most_products = 12")
        self.write("job.toml", self.velocities(FIRST, top) + inversion)
        out, _ = self.terrane("invert", "job.toml", timeout=3000)
        true, found = (self.rows(self.folder / file)["velocity_p"] for file in ("made/true.csv", "output/model.csv"))
        errors = [math.hypot(*(a - b for a, b in zip(velocities, true))) for velocities in ([2110] * len(true), found)]
        return float(re.search(r"chi² / N +pressure ([0-9.e+-]+)", out)[1]), errors[1] / errors[0]

    def test_FromAnEvenModelFitWhereTheSidesAreWrongToo(self):
        misfit, error = self.found("cpml")
        self.assertLess(misfit, 1.05)
        self.assertLess(error, 0.5)

    def test_BelowAFreeSurfaceFindTheModelThoughTheDataAreNotFittedToTheLast(self):
        misfit, error = self.found("free_surface")
        self.assertLess(misfit, 1.5)
        self.assertLess(error, 0.45)


if __name__ == "__main__":
    command.main()
