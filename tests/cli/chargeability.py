"""terrane invert of induced polarization: a chargeable block from noisy data, and what is refused."""

import math
import os
import shutil
import signal
import subprocess
import time

import cluster
import command
from command import SOURCE, CommandTest

EXAMPLE = SOURCE / "examples/35_clay_and_ore"

MESH = """
[mesh]
kind = "tensor"
easting_widths = [120, 60, 30, 15, "16*10", 15, 30, 60, 120]
northing_widths = [120, 60, 30, "4*20", 30, 60, 120]
up_widths = [120, 60, 30, 20, "2*10", "4*5"]
origin = [-305, -250, -270]
"""

#: A block that conducts and is chargeable, in rock that is neither.
TRUTH = MESH + """
[model.background]
resistivity = "100 ohm m"
chargeability = 0.005
[[model.body]]
kind = "box"
box = [-20, 10, -40, 40, -20, -5]
resistivity = "50 ohm m"
chargeability = "80 mV/V"
[survey]
kind = "line"
start = [-60, 0]
electrodes = 13
spacing = 10
levels = 6
[simulation]
physics = "electric"
potential = "total"
[output]
files = ["truth.csv"]
model = ["rock.nc"]
"""

JOB = MESH + """
[survey]
kind = "file"
file = "arrays.csv"
[simulation]
physics = "electric"
[inversion]
datum = "chargeability"
resistivity = "output/rock.nc"
floor = [1]
length_scale = [20, 60, 10]
[output]
files = ["fit.csv"]
model = ["charges.csv"]
"""


def noise(number):
    """Three sines of unlike periods: nearly normal, with a deviation of 1."""
    return sum(math.sqrt(2 / 3) * math.sin(rate * (number + 1)) for rate in (12.9898, 78.233, 37.719))


class Chargeability(CommandTest):
    def measure(self, unit="V/V", times=1.0):
        """arrays.csv: computed by both conductivities of chargeable rock, no linear formula, and noise."""
        self.write("truth.toml", TRUTH)
        self.terrane("run", "truth.toml")
        rows = self.rows(self.folder / "output/truth.csv")
        places = [f"{letter}_{axis}" for letter in "abmn" for axis in ("easting", "northing")]
        lines = [",".join(f"{name} [m]" for name in places) + f",chargeability_observed [{unit}]"]
        lines += [",".join(f"{rows[name][n]:g}" for name in places) + f",{times * (m / 1000 + 1e-3 * noise(n))!r}"
                  for n, m in enumerate(rows["chargeability"])]
        self.write("arrays.csv", "\n".join(lines) + "\n")
        return len(lines) - 1

    def invert(self, *words, expect=0, verb="invert"):
        self.write("job.toml", JOB)
        return self.terrane(verb, "job.toml", *(w for word in words for w in ("--set", word)), expect=expect)

    def test_AChargeableBlockIsFoundFromNoisyData(self):
        count = self.measure()
        out, message = self.invert()
        self.assertEqual(message, "")
        self.assertIn("stopped    converged", out)
        self.assertIn("resistivity 50 … 100 ohm m", out)
        fit = self.rows(self.folder / "output/fit.csv")
        chi = sum(r**2 for r in fit["chargeability_residual"]) / count
        self.assertAlmostEqual(chi, 1, delta=0.05)
        cells = self.rows(self.folder / "output/charges.csv")
        self.assertGreaterEqual(min(cells["chargeability"]), 0)
        inside, near = [], []
        faces = [[cells[low], cells[high]] for low, high in (("west", "east"), ("south", "north"), ("bottom", "top"))]
        middles = [[(a + b) / 2 for a, b in zip(*both)] for both in faces]
        for e, n, u, m in zip(*middles, cells["chargeability"]):
            if abs(n) > 20 or abs(e) > 60 or u < -40:
                continue
            (inside if -20 < e < 10 and -20 < u < -5 else near).append(m)
        mean, beside = sum(inside) / len(inside), sum(near) / len(near)
        self.assertGreater(mean, 0.02)
        self.assertLess(mean, 0.1)
        self.assertGreater(mean, 3 * beside)
        self.assertGreater(max(inside), max(near))

    def test_TheExampleTellsClayFromOre(self):
        output = self.folder / "output"
        self.terrane("invert", EXAMPLE / "resistivity.toml", "--output", output, "--no-plots")
        self.terrane("invert", EXAMPLE / "chargeability.toml", "--output", output, "--no-plots", "--set",
                     f"inversion.resistivity={output / 'resistivity.nc'}", "--set", "output.model=['charges.csv']")
        for name, column in (("resistivity", "apparent_resistivity"), ("chargeability", "chargeability")):
            rows, expected = self.rows(output / f"{name}_fit.csv"), self.rows(EXAMPLE / "expected.csv")
            at = {place: n for n, place in enumerate(zip(rows["a_easting"], rows["n_easting"]))}
            for a, n, value in zip(expected["a_easting"], expected["n_easting"], expected[column]):
                self.assertAlmostEqual(rows[column][at[a, n]], value, delta=0.01 * max(abs(v) for v in expected[column]))
        model = self.rows(output / "charges.csv")
        best = max(range(len(model["chargeability"])), key=model["chargeability"].__getitem__)
        for low, high, west, east in (("west", "east", 20, 60), ("bottom", "top", -30, -10)):  # the line sees little across
            self.assertTrue(west <= model[low][best] and model[high][best] <= east, (low, model[low][best]))

    def test_UnitsAndSparseNormsAndBoundsHold(self):
        self.measure("mV/V", 1000)
        self.invert()
        first = self.rows(self.folder / "output/charges.csv")["chargeability"]
        self.measure()
        self.invert()
        again = self.rows(self.folder / "output/charges.csv")["chargeability"]
        for one, other in zip(first, again):
            self.assertAlmostEqual(one, other, delta=1e-6)
        out, _ = self.invert("inversion.upper=0.03", 'inversion.lower="1 mV/V"', "inversion.reference=0.005",
                             "inversion.weighting=none")
        cells = self.rows(self.folder / "output/charges.csv")["chargeability"]
        self.assertTrue(0.001 <= min(cells) and max(cells) <= 0.03, (min(cells), max(cells)))
        self.invert("inversion.norms=[0, 1, 1, 1]")
        compact = self.rows(self.folder / "output/charges.csv")["chargeability"]
        self.assertLess(sum(m > 0.01 for m in compact), 0.7 * sum(m > 0.01 for m in again))

    def test_CheckForeseesIt(self):
        count = self.measure()
        out, _ = self.invert(verb="check")
        for words in ("cells      2400", f"arrays     {count}", "electrodes 13", "memory", "chargeability as data"):
            self.assertIn(words, out)
        self.assertFalse((self.folder / "output/charges.csv").exists())

    def test_DevicesGiveTheSameModel(self):
        self.measure()
        models = []
        for device in ("cpu", "debug"):
            self.invert(f'simulation.device="{device}"')
            models.append(self.rows(self.folder / "output/charges.csv")["chargeability"])
        self.assertEqual(*models)

    def test_RanksAndSumsOverPotentialsGiveTheSameModel(self):
        self.measure()
        self.invert()
        whole = self.rows(self.folder / "output/charges.csv")["chargeability"]
        few = 'simulation.memory="8 MB"'
        out, _ = self.invert(few)
        self.assertIn("sensitivities as sums over potentials", out)
        sums = self.rows(self.folder / "output/charges.csv")["chargeability"]
        for one, other in zip(sums, whole):
            self.assertAlmostEqual(one, other, delta=1e-4)
        devices, _ = self.terrane("devices")
        if shutil.which("mpirun") is None or "mpi\n  not in this build" in devices:
            self.skipTest("needs MPI")
        alone = {(): whole, ("--set", few.replace("8", "10")): sums}
        for words, expected in alone.items():  # the budget is that of all ranks of a machine
            done = subprocess.run(["mpirun", "-n", "3", command.TERRANE, "invert", "job.toml", *words], cwd=self.folder,
                                  capture_output=True, text=True, timeout=120, check=False,
                                  env={**os.environ, **cluster.RANKS, "OMP_NUM_THREADS": "2"})
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("as sums" if words else "3 ranks", done.stdout)
            self.assertEqual(self.rows(self.folder / "output/charges.csv")["chargeability"], expected)

    def test_AStoppedInversionGoesOnWithTheSameBits(self):
        self.measure()
        slow = ["inversion.tolerance=1e-9", "inversion.floor=[0.5]"]
        self.invert(*slow, "output.checkpoint=never")
        whole = self.rows(self.folder / "output/charges.csv")["chargeability"]
        checkpoint = self.folder / "output/fit.csv.checkpoint"
        words = [w for word in (*slow, 'output.checkpoint="0.001 s"') for w in ("--set", word)]
        for _ in range(10):  # until one is killed before its end
            process = subprocess.Popen([command.TERRANE, "invert", "job.toml", *words], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not checkpoint.exists() and process.poll() is None:
                time.sleep(0.002)
            process.kill()
            if process.wait() == -signal.SIGKILL and checkpoint.exists():
                break
        for other, what in (("inversion.resistivity=70", "resistivities"), ("inversion.upper=0.5", "bounds")):
            _, message = self.terrane("invert", "job.toml", "--resume", *words, "--set", other, expect=2)
            self.assertIn(what, message)
        out, _ = self.terrane("invert", "job.toml", "--resume", *words)
        self.assertIn("resumed", out)
        self.assertEqual(self.rows(self.folder / "output/charges.csv")["chargeability"], whole)

    def test_TheResistivitiesMayBeThoseThatWereFound(self):
        """The way of Oldenburg & Li: resistivities from the resistances first, then chargeabilities."""
        self.measure()
        rows = self.rows(self.folder / "output/truth.csv")
        lines = (self.folder / "arrays.csv").read_text(encoding="utf-8").splitlines()
        both = [lines[0] + ",apparent_resistivity_observed [ohm m]"]
        both += [f"{line},{rho!r}" for line, rho in zip(lines[1:], rows["apparent_resistivity"])]
        self.write("arrays.csv", "\n".join(both) + "\n")
        job = JOB.replace('datum = "chargeability"\nresistivity = "output/rock.nc"\nfloor = [1]', "percent = [1]")
        self.write("resistivity.toml", job.replace("charges.csv", "found.nc").replace("fit.csv", "dc.csv"))
        self.terrane("invert", "resistivity.toml")
        out, _ = self.invert("inversion.resistivity=output/found.nc", "inversion.floor=[1.5]")
        self.assertIn("stopped    converged", out)
        found = self.rows(self.folder / "output/charges.csv")
        self.assertGreater(max(found["chargeability"]), 0.02)

    def test_WhatCannotBeInvertedIsRefusedWithTheNextMove(self):
        self.measure()
        self.write("job.toml", JOB.replace("charges.csv", "charge.nc"))
        self.terrane("invert", "job.toml")
        for words, *complaints in (
                (['inversion.resistivity="none"'], "inversion.resistivity", "missing"),
                (['inversion.resistivity="-5 ohm m"'], "is not above zero"),
                (["inversion.resistivity=output/charge.nc"], "holds chargeability, no resistivity"),
                (["inversion.reference=-0.1"], "a chargeability is -0.1 V/V", "below 1 V/V"),
                (["inversion.reference=1"], "a chargeability is 1 V/V"),
                (["inversion.upper=20"], "inversion.upper: a chargeability is 20 V/V", "mV/V"),
                (["inversion.lower=-1"], "inversion.lower"),
                (["inversion.lower=0.2", "inversion.upper=0.1"], "they cross"),
                (['inversion.weighting="depth"'], "Take none or sensitivity"),
                (["inversion.most_steps=3"], "most_steps"),
                (["inversion.start=0.1"], "start"),
                (['inversion.trend="plane"'], "trend"),
                (["inversion.floor=[]"], "inversion.floor"),
                (["simulation.frequency=1"], "Leave the key out"),
                (["inversion.datum=apparent_resistivity"], "no measured resistances")):
            _, message = self.invert(*words, expect=2)
            for complaint in complaints:
                self.assertIn(complaint, message, words)
        rows = (self.folder / "arrays.csv").read_text(encoding="utf-8").splitlines()
        none = rows[4].rsplit(",", 1)[0] + ",-9999"
        self.write("arrays.csv", "\n".join([*rows[:4], none, *rows[5:]]) + "\n")
        _, message = self.invert(expect=2, verb="check")
        self.assertIn("survey.file: chargeability: -9.999e+06 (value 4) is far from all others", message)
        self.measure(times=1000)
        _, message = self.invert(expect=2)
        self.assertIn("are not below 1 V/V", message)
        self.assertIn("mV/V", message)
        self.measure(times=-1)
        _, message = self.invert(expect=2)
        self.assertIn("no model within the bounds", message)
        lines = (self.folder / "arrays.csv").read_text(encoding="utf-8").replace("chargeability", "resistance")
        self.write("arrays.csv", lines.replace("V/V", "V/A"))
        _, message = self.invert(expect=2)
        self.assertIn("no measured chargeabilities", message)

    def test_ErrorsOfTheMeshAreRefusedWhereAModelIsFound(self):
        self.measure()
        for key in ('verify="estimate"', "accuracy=0.01"):
            _, message = self.invert(f"simulation.{key}", expect=2)
            self.assertIn(f"simulation.{key.partition('=')[0]}: this inversion states no errors of its mesh", message)


if __name__ == "__main__":
    command.main()
