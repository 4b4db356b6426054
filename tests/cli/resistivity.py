"""terrane invert of direct current: arrays of electrodes in every file that has some, and what is refused."""

import csv
import math
import signal
import subprocess
import time

import command
from command import SOURCE, CommandTest

EXAMPLE = SOURCE / "examples/18_resistivities"

MESH = """
[mesh]
kind = "tensor"
easting_widths = [120, 60, 30, 15, "16*10", 15, 30, 60, 120]
northing_widths = [120, 60, 30, "4*20", 30, 60, 120]
up_widths = [120, 60, 30, 20, "2*10", "4*5"]
origin = [-305, -250, -270]
"""

JOB = MESH + """
[survey]
kind = "file"
file = "arrays.csv"
[simulation]
physics = "electric"
[inversion]
percent = [3]
length_scale = [20, 60, 10]
[output]
files = ["fit.csv"]
model = ["model.csv"]
"""


def arrays(spacing=10, count=11, levels=5):
    """a, b, m, n along easting, dipole-dipole."""
    x = [spacing * (i - (count - 1) / 2) for i in range(count)]
    return [(x[i + 1], x[i], x[i + 1 + n], x[i + 2 + n]) for n in range(1, levels + 1) for i in range(count - 2 - n)]


def factor(a, b, m, n):
    return 2 * math.pi / (1 / abs(a - m) - 1 / abs(b - m) - 1 / abs(a - n) + 1 / abs(b - n))


def apparent(a, b, m, n):
    """Some section with a low in the middle."""
    middle, depth = (b + n) / 2, (n - b) / 4
    return 100 * (1 - 0.5 * math.exp(-(middle / 20)**2 - ((depth - 12) / 8)**2))


class Resistivity(CommandTest):
    def write_table(self, name="arrays.csv", column="apparent_resistivity_observed [ohm m]", value=apparent):
        lines = [",".join(f"{p}_easting [m],{p}_northing [m]" for p in "abmn") + "," + column]
        lines += [",".join(f"{x},0" for x in four) + f",{value(*four)!r}" for four in arrays()]
        self.write(name, "\n".join(lines) + "\n")

    def invert(self, *words, expect=0, verb="invert"):
        self.write("job.toml", JOB)
        return self.terrane(verb, "job.toml", *(w for word in words for w in ("--set", word)), expect=expect)

    def test_TheExampleFindsItsBlocks(self):
        out, message = self.terrane("invert", EXAMPLE / "job.toml", "--output", self.folder / "output")
        self.assertEqual(message, "")
        self.assertIn("stopped    converged", out)
        rows, expected = self.rows(self.folder / "output/fit.csv"), self.rows(EXAMPLE / "expected.csv")
        at = {(a, n): i for i, (a, n) in enumerate(zip(rows["a_easting"], rows["n_easting"]))}
        for a, n, rho in zip(expected["a_easting"], expected["n_easting"], expected["apparent_resistivity"]):
            self.assertAlmostEqual(rows["apparent_resistivity"][at[a, n]], rho, delta=2e-3 * rho)
        chi = sum((r / s)**2 for r, s in zip(rows["apparent_resistivity_residual"],
                                             rows["apparent_resistivity_uncertainty"])) / len(rows["easting"])
        self.assertAlmostEqual(chi, 1, delta=0.05)

    def test_TheCenturyLineIsFittedInAFewSteps(self):
        job = SOURCE / "examples/14_century/invert.toml"
        out, _ = self.terrane("invert", job, "--output", self.folder / "output")
        self.assertIn("stopped    converged", out)
        steps = [line for line in out.splitlines() if "newton" in line and "note" in line]
        self.assertLessEqual(len(steps), 8)
        rows = self.rows(self.folder / "output/inverted.csv")
        chi = [(r / s)**2 for r, s in zip(rows["resistance_residual"], rows["resistance_uncertainty"])]
        self.assertAlmostEqual(sum(chi) / len(chi), 1, delta=0.1)

    def test_CheckSaysWhatItTakes(self):
        self.write_table()
        out, _ = self.invert(verb="check")
        for words in ("cells      2400", "arrays     30", "electrodes 11"):
            self.assertIn(words, out)
        self.assertIn("the median of the apparent resistivities", out)
        self.assertIn("memory", out)

    def test_TablesUbcAndBertFilesGiveTheSameModel(self):
        self.write_table()
        self.invert()
        table = self.rows(self.folder / "output/model.csv")["resistivity"]
        self.assertLess(min(table), 80)
        fit = self.rows(self.folder / "output/fit.csv")
        for r, k, rho in zip(fit["resistance_observed"], fit["geometric_factor"], fit["apparent_resistivity_observed"]):
            self.assertAlmostEqual(r * k, rho, delta=1e-9 * rho)
        ohms = {four: apparent(*four) / factor(*four) for four in arrays()}
        x = sorted({place for four in ohms for place in four})
        self.write("line.ohm", f"{len(x)}\n# x z\n" + "".join(f"{place} 0\n" for place in x) + f"{len(ohms)}\n# a b m n r\n"
                   + "".join(" ".join(str(x.index(p) + 1) for p in four) + f" {r!r}\n" for four, r in ohms.items()))
        pairs = sorted({four[:2] for four in ohms})
        text = "".join(f"{a} 0 {b} 0 {sum(four[:2] == (a, b) for four in ohms)}\n"
                       + "".join(f"{m} 0 {n} 0 {r!r}\n" for (c, d, m, n), r in ohms.items() if (c, d) == (a, b))
                       for a, b in pairs)
        self.write("line.obs", "a line\n" + text)
        for name in ("line.ohm", "line.obs"):
            self.invert(f"survey.file={name}")
            for one, other in zip(self.rows(self.folder / "output/model.csv")["resistivity"], table):
                self.assertAlmostEqual(one, other, delta=1e-3 * other, msg=name)

    def test_SolvesOnADeviceGiveTheSameModel(self):
        self.write_table()
        models = []
        for device in ("cpu", "debug"):
            out, _ = self.invert(f'simulation.device="{device}"', "inversion.most_steps=2")
            models.append(self.rows(self.folder / "output/model.csv")["resistivity"])
            self.assertIn(f"on         {device}", out)
        self.assertEqual(*models)

    def test_BoundsAndAReferenceHold(self):
        self.write_table()
        out, _ = self.invert('inversion.lower="80 ohm m"', "inversion.upper=120", "inversion.reference=105",
                             "inversion.most_steps=6")
        rows = self.rows(self.folder / "output/model.csv")["resistivity"]
        self.assertGreaterEqual(min(rows), 80 * (1 - 1e-12))
        self.assertLessEqual(max(rows), 120 * (1 + 1e-12))
        self.assertIn("on bounds", out)
        self.assertIn("105 ohm m", out)
        out, _ = self.invert("inversion.weighting=sensitivity", "inversion.start=60")
        self.assertIn("stopped    converged", out)
        _, message = self.invert("inversion.lower=80", "inversion.reference=50", expect=2)
        self.assertIn("the reference model", message)

    def test_ArraysThatCannotBeUsedAreNamedAndLeftOutWhereAskedFor(self):
        bad = arrays()[4]
        self.write_table(value=lambda *four: -1.0 if four == bad else apparent(*four))
        _, message = self.invert(verb="check", expect=2)
        self.assertIn('inversion.leave_out = "unusable"', message)
        self.assertIn("5", message)
        whole, _ = self.invert("inversion.leave_out=unusable", "inversion.most_steps=1")
        self.assertRegex(whole, r"left out as unusable, 1 of 30 arrays with an apparent resistivity that is not above zero: 5\b")
        self.assertEqual(len(self.rows(self.folder / "output/fit.csv")["a_easting"]), len(arrays()) - 1)
        self.write_table()
        by_number, _ = self.invert('inversion.leave_out=["5"]', "inversion.most_steps=1")
        self.assertRegex(by_number, r"left out[^\n]*array 5\b")
        rows = self.rows(self.folder / "output/fit.csv")
        self.assertNotIn(bad, list(zip(*(rows[f"{p}_easting"] for p in "abmn"))))
        for wrong in ("999", "3-1", "those"):
            _, message = self.invert(f'inversion.leave_out=["{wrong}"]', verb="check", expect=2)
            self.assertIn("inversion.leave_out", message)

    def write_ground(self, name="ground.asc", low=-14):
        self.write(name, "ncols 4\nnrows 4\nxllcenter -400\nyllcenter -400\ncellsize 267\nNODATA_value -9999\n"
                   + "\n".join(" ".join(str(low if n == 1 else -2) for n in range(4)) for _ in range(4)) + "\n")

    def test_UnderUnevenGroundAKilledInversionIsResumedToTheSameModel(self):
        self.write_ground()
        self.write_ground("other.asc", -13)
        self.write_table()
        slow = ("simulation.topography=ground.asc", "inversion.chi=0.05", "inversion.most_steps=4")
        self.invert(*slow)
        whole = self.rows(self.folder / "output/model.csv")["resistivity"]
        kept = self.folder / "output/fit.csv.checkpoint"
        words = [w for word in (*slow, 'output.checkpoint="0.001 s"') for w in ("--set", word)]
        for _ in range(10):  # until one is killed before its end
            process = subprocess.Popen([command.TERRANE, "invert", "job.toml", *words], cwd=self.folder,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not kept.exists() and process.poll() is None:
                time.sleep(0.002)
            process.kill()
            if process.wait() == -signal.SIGKILL and kept.exists():
                break
        self.terrane("invert", "job.toml", "--resume", *words, "--set", "simulation.topography=other.asc", expect=2)
        out, _ = self.terrane("invert", "job.toml", "--resume", *words)
        self.assertIn("resumed from", out)
        self.assertEqual(self.rows(self.folder / "output/model.csv")["resistivity"], whole)

    def test_UnevenGroundHasItsOwnFactors(self):
        self.write_ground()
        self.write_table()
        out, _ = self.invert("simulation.topography=ground.asc")
        self.assertIn("resistivity of 2,160 cells", out)
        self.assertIn("the ground is uneven", out)
        rows = self.rows(self.folder / "output/fit.csv")
        above_flat = []
        for n, four in enumerate(arrays()):
            k = rows["geometric_factor"][n]
            above_flat.append(k / factor(*four))
            self.assertAlmostEqual(rows["resistance"][n] * k, rows["apparent_resistivity"][n],
                                   delta=1e-6 * rows["apparent_resistivity"][n])
        self.assertTrue(all(0.3 < ratio < 3 for ratio in above_flat), above_flat)
        self.assertGreater(max(abs(ratio - 1) for ratio in above_flat), 0.005)  # a slope of 4.5 %

    def test_ASecondJobSharesItsStructure(self):
        self.write_table()
        self.write("job.toml", JOB)
        stations = ["easting [m],northing [m],up [m],g_u_observed [mGal]"]
        stations += [f"{x},{y},1,{-0.05 * math.exp(-(x * x + y * y) / 900)}" for x in range(-50, 51, 10) for y in (-20, 0, 20)]
        self.write("stations.csv", "\n".join(stations) + "\n")
        self.write("gravity.toml", MESH + '[survey]\nkind = "list"\nfile = "stations.csv"\n[simulation]\nphysics = "gravity"\n'
                   '[inversion]\nfloor = [0.005]\nlength_scale = [20, 60, 10]\n[output]\nfiles = ["gravity.csv"]\n'
                   'model = ["density.csv"]\n')
        out, _ = self.terrane("invert", "job.toml", "--with", "gravity.toml")
        self.assertEqual(out.count("coupling   cross-gradient"), 2)
        self.assertTrue((self.folder / "output/density.csv").exists())

    def test_WhatCannotBeInvertedIsRefusedWithTheNextMove(self):
        self.write_table()
        for words, complaint in ((["inversion.percent=[]"], "inversion.floor"),
                                 (["inversion.percent=[0]"], "data without an error would be sure"),
                                 (['survey={kind="line", start=[-50, 0], electrodes=11, spacing=10}'],
                                  "no measured resistances"),
                                 (['inversion.reference="-3 ohm m"'], "is not above zero"),
                                 (["inversion.norms=[0, 1, 1, 1]"], "norms"),
                                 (['inversion.weighting="depth"'], "Take none or sensitivity"),
                                 (["simulation.frequency=1"], "Leave the key out"),
                                 (["inversion.datum=voltage"], "log_apparent_resistivity")):
            _, message = self.invert(*words, expect=2)
            self.assertIn(complaint, message, words)
        self.write_table(value=lambda *four: -5.0 if four[0] == 0 else 100.0)
        _, message = self.invert(expect=2)
        self.assertIn("apparent resistivities are not above zero", message)
        lines = (self.folder / "arrays.csv").read_text(encoding="utf-8").splitlines()
        self.write("arrays.csv", "\n".join(lines[:1] + [lines[1].replace("-50.0", "-5000.0")]) + "\n")
        _, message = self.invert(expect=2)
        self.assertIn("outside", message)


if __name__ == "__main__":
    command.main()
