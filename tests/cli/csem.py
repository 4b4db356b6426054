"""terrane invert of electromagnetic fields: an example whose truth is known, what is refused, and runs that go on."""

import json
import math
import re
import signal
import subprocess
import time

import command
from command import SOURCE, CommandTest

EXAMPLE = SOURCE / "examples/23_grounded_wires"

JOB = """
[mesh]
kind = "tensor"
easting_widths = [1500, 700, 350, "8*200", 350, 700, 1500]
northing_widths = [1500, 700, 350, "4*250", 350, 700, 1500]
up_widths = [1500, 700, 350, "4*150", 250, 500, 1000, 2000]
origin = [-3350, -3050, -3150]
[model.background]
resistivity = 20
[[model.body]]
kind = "layer"
bottom = 0
top = 3750
resistivity = 1e8
[source]
kind = "wire"
points = [[-700, 0, 0], [-300, 0, 0]]
[survey]
kind = "list"
stations = [[100, 0, 0], [400, 0, 0], [700, 0, 0]]
[simulation]
physics = "electromagnetic"
frequencies = [10]
components = ["e_e", "h_n"]
tolerance = 1e-5
[output]
files = ["fields.csv"]
"""
INVERSION = JOB.replace("fields.csv", "fit.csv") + """model = ["model.csv"]
[inversion]
observed = "data.csv"
percent = [2, 2]
"""


class GroundedWires(CommandTest):
    def measure(self):
        """data.csv: fields over a better conductor under the receivers."""
        self.write("truth.toml", JOB + '[[model.body]]\nkind = "box"\nbox = [0, 800, -500, 500, -450, -150]\n'
                   'resistivity = 5\n')
        self.terrane("run", "truth.toml", "--output", "truth")
        self.data = (self.folder / "truth/fields.csv").read_text(encoding="utf-8")
        self.write("data.csv", self.data)
        self.write("job.toml", INVERSION)

    def invert(self, *words, expect=0, verb="invert"):
        return self.terrane(verb, "job.toml", *(w for word in words for w in ("--set", word)), expect=expect)

    def test_TheExampleFindsItsConductor(self):
        out, message = self.terrane("invert", EXAMPLE / "job.toml", "--output", self.folder / "output",
                                    "--set", 'output.model=["model.csv"]')
        self.assertEqual(message, "")
        self.assertIn("stopped    converged", out)
        rows, expected = self.rows(self.folder / "output/fit.csv"), self.rows(EXAMPLE / "expected.csv")
        at = {place: n for n, place in enumerate(zip(rows["source"], rows["receiver"]))}
        for source, receiver, re, im in zip(expected["source"], expected["receiver"], expected["e_e_real"],
                                            expected["e_e_imag"]):
            n = at[source, receiver]
            self.assertLess(abs(complex(rows["e_e_real"][n] - re, rows["e_e_imag"][n] - im)), 3e-3 * math.hypot(re, im))
        model = self.rows(self.folder / "output/model.csv")
        least = min(range(len(model["resistivity"])), key=model["resistivity"].__getitem__)
        self.assertLess(model["resistivity"][least], 12)
        self.assertLess(abs(model["west"][least]), 626)
        self.assertLess(abs(model["top"][least] + 500), 251)
        self.assertEqual(max(model["resistivity"]), 1e8)  # air is as it was

    def test_BothKindsOfDataFindTheConductorAndTheSeaStaysAsItIs(self):
        self.measure()
        out, _ = self.invert(verb="check")
        for words in ("cells      980\n", "data       12\n", "amplitudes and phases as data, sensitivities in memory"):
            self.assertIn(words, out)
        least = []
        for datum in ("amplitude_phase", "real_imaginary"):
            out, _ = self.invert(f"inversion.datum={datum}", "inversion.topography=-150")
            self.assertIn("of 840 of 1,540 cells from 6 complex data: e_e, h_n", out)
            self.assertIn("stopped    converged", out)
            model = self.rows(self.folder / "output/model.csv")
            layer = [rho for rho, up in zip(model["resistivity"], model["top"]) if -150 < up <= 0]
            self.assertEqual(set(layer), {20.0})
            least.append(min(model["resistivity"]))
        self.assertLess(max(least), 17)
        self.assertLess(abs(least[0] / least[1] - 1), 0.2)

    def test_AStoppedInversionGoesOnWithTheSameBits(self):
        self.measure()
        self.invert("output.checkpoint=never")
        whole = self.rows(self.folder / "output/model.csv")["resistivity"]
        checkpoint = self.folder / "output/fit.csv.checkpoint"
        for _ in range(10):  # until one is killed before its end
            process = subprocess.Popen([command.TERRANE, "invert", "job.toml", "--set", 'output.checkpoint="0.001 s"'],
                                       cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            while not checkpoint.exists() and process.poll() is None:
                time.sleep(0.005)
            process.kill()
            if process.wait() == -signal.SIGKILL and checkpoint.exists():
                break
        _, message = self.terrane("invert", "job.toml", "--resume", "--set", "inversion.datum=real_imaginary", expect=2)
        self.assertIn("datum", message)
        charges = ("chargeability=0.2", "cole_cole_time=0.1", "cole_cole_exponent=0.5")
        _, message = self.terrane("invert", "job.toml", "--resume", expect=2,
                                  *(w for one in charges for w in ("--set", "model.background." + one)))
        self.assertIn("charges of the medium", message)
        out, _ = self.terrane("invert", "job.toml", "--resume")
        self.assertIn("resumed", out)
        self.assertEqual(self.rows(self.folder / "output/model.csv")["resistivity"], whole)

    def test_WhatIsWrongIsSaidWithItsPlace(self):
        self.measure()
        self.write("job.toml", INVERSION.replace('observed = "data.csv"\n', ""))
        _, message = self.invert(expect=2)
        self.assertIn("Name the table of what was measured", message)
        self.write("job.toml", INVERSION)
        for words, complaint in ((["inversion.percent=[1, 2, 3]"], "3 numbers for 2 observed channels"),
                                 (["inversion.datum=resistance"], "amplitude_phase"),
                                 (['simulation.components=["e_u"]'], "no measured component"),
                                 (["inversion.elements=[\"z_ne\"]"], "simulation.components"),
                                 (['simulation.volume=["e"]'], "Leave the key out"),
                                 (["inversion.topography=-4000"], "no cell is active"),
                                 (["inversion.lower=-1"], "is not above zero")):
            _, message = self.invert(*words, expect=2)
            self.assertIn(complaint, message, words)
        lines = self.data.splitlines()
        head = next(n for n, line in enumerate(lines) if not line.startswith("#"))
        names = [name.split(" [")[0] for name in lines[head].split(",")]
        for column, value, complaint in (("receiver", "4", "receiver 4 is none of the 3"),
                                         ("frequency", "11", "11 Hz is none of simulation.frequencies"),
                                         ("receiver", "0", "They are counted from 1."),
                                         ("receiver", "1", "were there before")):
            row = lines[head + 2].split(",")
            row[names.index(column)] = value
            self.write("data.csv", "\n".join([*lines[:head + 2], ",".join(row), *lines[head + 3:]]) + "\n")
            _, message = self.invert(expect=2)
            self.assertIn(f"data.csv:{head + 3}: ", message)
            self.assertIn(complaint, message)
        # Receivers 4 and 5: there are numbers to compare with.
        self.write("job.toml", INVERSION.replace("[700, 0, 0]]", "[700, 0, 0], [200, 0, 0], [300, 0, 0]]"))
        rows = [line.split(",") for line in lines[head:]]
        for receiver in (4, 5):
            rows.append(list(rows[2]))
            rows[-1][names.index("receiver")] = str(receiver)
        for column in ("e_e_real", "h_n_imag"):
            none = [list(row) for row in rows]
            none[2][names.index(column)] = "-9999"
            self.write("data.csv", "\n".join(map(",".join, none)) + "\n")
            _, message = self.invert(expect=2, verb="check")
            self.assertIn(f"inversion.observed: {column}: -9999 (value 2) is far from all others", message)


SITES = """
[mesh]
kind = "tensor"
easting_widths = [6000, 3000, 1500, 700, "4*600", 700, 1500, 3000, 6000]
northing_widths = [6000, 3000, 1500, 700, "4*600", 700, 1500, 3000, 6000]
up_widths = [6000, 3000, 1500, 700, "5*240", 400, 800, 1600, 3200, 6400]
origin = [-12400, -12400, -12400]
[model.background]
resistivity = 100
[[model.body]]
kind = "layer"
bottom = 0
top = 12400
resistivity = 1e8
[source]
kind = "plane_wave"
[survey]
kind = "list"
stations = [[-600, -600, 0], [600, -600, 0], [-600, 600, 0], [600, 600, 0]]
[simulation]
physics = "electromagnetic"
frequencies = [10]
tolerance = 1e-6
[output]
files = ["fields.csv"]
"""


class TelluricSites(CommandTest):
    NUMBERS = ("z_ee", "z_en", "z_ne", "z_nn", "tipper_e", "tipper_n")

    def measure(self, numbers=NUMBERS):
        """sites.csv, as other programs would give it: responses over a conductor, with a second frequency and a gap."""
        self.write("truth.toml", SITES.replace("[10]", "[10, 3]") +
                   '[[model.body]]\nkind = "box"\nbox = [-600, 600, -600, 600, -960, -240]\nresistivity = 10\n')
        self.terrane("run", "truth.toml", "--output", "truth")
        rows = self.rows(self.folder / "truth/fields.csv")
        names = [f"{name}_{part}" for name in numbers for part in ("real", "imag", "uncertainty")]
        lines = ["easting [m],northing [m],up [m],frequency [Hz]," + ",".join(
            f"{name} [{'1' if name.startswith('tipper') else 'ohm'}]" for name in names)]
        for n, hertz in enumerate(rows["frequency"]):
            spread = 0.02 * math.hypot(rows["z_ne_real"][n], rows["z_ne_imag"][n])
            values = [0.01 if name.startswith("tipper") and name.endswith("y") else
                      spread if name.endswith("y") else rows[name][n] for name in names]
            if n == 0 and "z_nn_real" in names:
                gap = names.index("z_nn_real")
                values[gap:gap + 3] = [""] * 3
            place = [rows[f"receiver_{axis}"][n] for axis in ("easting", "northing", "up")]
            lines.append(",".join(str(value) for value in [*place, hertz, *values]))
        self.write("sites.csv", "\n".join(lines) + "\n")
        self.job("sites.csv")

    def job(self, file, more=""):
        head, tail = SITES.replace("fields.csv", "fit.csv").split("stations = ")
        self.write("job.toml", head + f'file = "{file}"\n' + tail[tail.index("[simulation]"):] +
                   'model = ["model.csv"]\n[inversion]\nlength_scale = [900, 900, 500]\n' + more)

    def least(self):
        """The best conductor: its resistivity, and where it is."""
        model = self.rows(self.folder / "output/model.csv")
        n = min(range(len(model["resistivity"])), key=model["resistivity"].__getitem__)
        return model["resistivity"][n], *(abs(model[a][n] + model[b][n]) / 2
                                          for a, b in (("west", "east"), ("south", "north"), ("bottom", "top")))

    def test_ImpedancesAndTippersFindTheConductorFromATableAndFromAListOfModem(self):
        self.measure()
        out, _ = self.terrane("invert", "job.toml")
        self.assertIn("from 23 complex data: z_ee, z_en, z_ne, z_nn, tipper_e, tipper_n", out)
        self.assertIn("4 of 8 rows of the survey's file are of other frequencies", out)
        self.assertIn("apparent resistivities and phases as data", out)
        self.assertIn("stopped    converged", out)
        found = self.least()
        self.assertLess(found[0], 45)  # of 10 and 100
        for place, most in zip(found[1:], (301, 301, 961)):
            self.assertLess(place, most)
        fit, measured = self.rows(self.folder / "output/fit.csv"), self.rows(self.folder / "sites.csv")
        self.assertEqual(fit["z_ne_observed_real"], measured["z_ne_real"][:4])
        for n in range(4):
            size = math.hypot(measured["z_en_real"][n], measured["z_en_imag"][n])
            self.assertLess(abs(complex(fit["z_en_residual_real"][n], fit["z_en_residual_imag"][n])), 0.1 * size)
        self.terrane("convert", "sites.csv", "sites.modem")
        self.job("sites.modem")
        out, _ = self.terrane("invert", "job.toml")
        self.assertIn("from 23 complex data: z_ee, z_en, z_ne, z_nn, tipper_e, tipper_n", out)
        for one, other in zip(found, self.least()):  # the list has seven digits
            self.assertLess(abs(one / other - 1), 1e-3)

    def test_PercentagesFollowTheOrderOfElements(self):
        self.measure(("z_en", "z_ne"))
        with open(self.folder / "sites.csv", encoding="utf-8") as file:
            rows = [line.rstrip("\n").split(",") for line in file]
        kept = [n for n, name in enumerate(rows[0]) if "uncertainty" not in name]
        self.write("sites.csv", "".join(",".join(row[n] for n in kept) + "\n" for row in rows))
        self.job("sites.csv", 'elements = ["z_ne", "z_en"]\npercent = [2, 10]\n')
        self.terrane("invert", "job.toml", "--set", "inversion.most_steps=1")
        fit = self.rows(self.folder / "output/fit.csv")
        for name, share in (("z_ne", 0.02), ("z_en", 0.1)):
            size = math.hypot(fit[f"{name}_observed_real"][0], fit[f"{name}_observed_imag"][0])
            self.assertAlmostEqual(fit[f"{name}_uncertainty"][0] / size, share, places=6)

    def test_ErrorsOfTheMeshCountBesideThoseOfData(self):
        self.measure(("z_en", "z_ne"))
        out, message = self.terrane("invert", "job.toml", "--set", "simulation.verify=estimate",
                                    "--set", "inversion.most_steps=1")
        share = float(re.search(r"mesh       its errors are above the data's uncertainties for ([\d.]+) % of data", out)[1])
        self.assertGreater(share, 5)  # cells of half a skin depth, and uncertainties of 2 %
        self.assertIn("the mesh, not the data, limits the model", message)
        _, message = self.terrane("check", "job.toml", "--set", "simulation.verify=refine", expect=2)
        self.assertIn("simulation.verify: the mesh is given", message)

    def test_WhatIsWrongWithSitesIsSaid(self):
        self.measure(("z_en", "z_ne"))
        for words, complaint in (('elements = ["z_nn"]', "has no z_nn"), ('elements = ["rho"]', "Allowed: z_ee"),
                                 ('elements = ["z_en", "z_en"]', "stands there twice"),
                                 ('observed = "sites.csv"', "is in survey.file")):
            self.job("sites.csv", words + "\n")
            _, message = self.terrane("check", "job.toml", expect=2)
            self.assertIn(complaint, message, words)
        text = (self.folder / "sites.csv").read_text(encoding="utf-8")
        rows = [line.split(",") for line in text.splitlines()]
        for word, unsure in (("-9999", False), ("1e32", False), ("-9999", True)):
            names = [name.split(" [")[0] for name in rows[0]]
            changed = [list(row) for row in rows]
            changed[3][names.index("z_ne_real")] = word
            if unsure:  # as lists of ModEM mark data that are missing
                changed[3][names.index("z_ne_uncertainty")] = "2e15"
            self.write("sites.csv", "\n".join(map(",".join, changed)) + "\n")
            self.job("sites.csv")
            _, message = self.terrane("check", "job.toml", expect=0 if unsure else 2)
            if not unsure:
                self.assertIn(f"survey.file: z_ne_real: {float(word):g} (value 3) is far from all others", message)
        self.write("sites.csv", text)
        self.job("sites.csv")
        for word, complaint in (("simulation.frequencies=[11]", "has none of them"),
                                ('simulation.responses=["tipper"]', "inversion.elements")):
            _, message = self.terrane("check", "job.toml", "--set", word, expect=2)
            self.assertIn(complaint, message, word)
        text = (self.folder / "sites.csv").read_text(encoding="utf-8").splitlines()
        self.write("sites.csv", "\n".join([*text, text[1]]) + "\n")
        _, message = self.terrane("check", "job.toml", expect=2)
        self.assertIn("row 9: its place and frequency, 10 Hz, were there before", message)
        self.write("sites.csv", "easting [m],northing [m],up [m]\n0,0,0\n")
        _, message = self.terrane("check", "job.toml", expect=2)
        self.assertIn("it has no frequencies", message)


SIDES = [1500.0, 700.0, 350.0, *[200.0] * 8, 350.0, 700.0, 1500.0]
UP = [1500.0, 700.0, 350.0, *[150.0] * 4, 250.0, 500.0, 1000.0, 2000.0]


def arrays(**lists):
    """As emg3d writes them to .json."""
    return {f"{name}__array-float64": values for name, values in lists.items()}


def model_of_emg3d():
    """20 ohm m under air, 8 ohm m under the receivers; [x, y, z]."""
    def rho(i, j, k):
        return 1e8 if k > 6 else 8.0 if 6 <= i < 9 and 4 <= j < 7 and k in (4, 5) else 20.0

    grid = {"__class__": "TensorMesh", **arrays(hx=SIDES, hy=SIDES, hz=UP, origin=[-3350.0, -3350.0, -3150.0])}
    values = [[[rho(i, j, k) for k in range(len(UP))] for j in range(len(SIDES))] for i in range(len(SIDES))]
    return {"model": {"__class__": "Model", "grid": grid, "mapping": "Resistivity", **arrays(property_x=values),
                      "property_y": "NoneType", "property_z": "NoneType", "mu_r": "NoneType"}}


def survey_of_emg3d():
    def one(kind, *at, **more):
        return {"__class__": kind, **arrays(coordinates=list(at)), **more}

    return {"survey": {
        "__class__": "Survey", "frequencies": {"f-1": 3.0, "f-2": 10.0}, "data": {},
        "sources": {"TxED-1": one("TxElectricDipole", -700.0, -300.0, 10.0, 60.0, -20.0, -20.0, strength=2.0),
                    "TxEP-2": one("TxElectricPoint", -420.0, 30.0, -60.0, 30.0, 10.0, strength=3.0)},
        "receivers": {f"RxEP-{n}": one("RxElectricPoint", x, 50.0, -10.0, 0.0, 0.0, relative=False)
                      for n, x in enumerate((250.0, 500.0))}}}


EMG3D = """
[mesh]
kind = "file"
file = "model.json"
[[source]]
kind = "file"
file = "survey.json"
[survey]
kind = "list"
file = "survey.json"
[simulation]
physics = "electromagnetic"
components = ["e_e", "h_n"]
[output]
files = ["fields.csv"]
"""


class FilesOfEmg3d(CommandTest):
    def setUp(self):
        super().setUp()
        self.write("model.json", json.dumps(model_of_emg3d()))
        self.write("survey.json", json.dumps(survey_of_emg3d()))
        self.write("job.toml", EMG3D)

    def test_AreTheModelTheSourcesTheReceiversAndTheFrequenciesOfAJob(self):
        out, _ = self.terrane("info", "model.json")
        self.assertIn("11 up x 14 north x 14 east", out.replace("×", "x"))
        self.terrane("run", "job.toml")
        found = self.rows(self.folder / "output/fields.csv")
        self.write("plain.toml", EMG3D.replace("""[[source]]
kind = "file"
file = "survey.json"
""", """[[source]]
kind = "wire"
points = [[-700, 10, -20], [-300, 60, -20]]
current = 2
[[source]]
kind = "dipole"
at = [-420, 30, -60]
azimuth = 60
dip = -10
moment = 3
""").replace('file = "survey.json"', "stations = [[250, 50, -10], [500, 50, -10]]").replace(
            "[simulation]", "[simulation]\nfrequencies = [3, 10]"))
        self.terrane("run", "plain.toml", "--output", "plain")
        plain = self.rows(self.folder / "plain/fields.csv")
        self.assertEqual(found["frequency"], plain["frequency"])
        self.assertEqual(len(found["e_e_real"]), 8)
        for name in ("e_e_real", "e_e_imag", "h_n_real", "h_n_imag"):
            size = max(map(abs, plain[name]))
            for one, other in zip(found[name], plain[name]):
                self.assertLess(abs(one - other), 1e-9 * size)

    def test_ThatDoNotFitAreRefusedWithWhatFits(self):
        model = model_of_emg3d()
        for change, complaint in (({"mu_r": 2.0}, "mu_r"), ({"mapping": "Conductance"}, "Allowed: Conductivity"),
                                  ({"grid": {}}, "has no origin")):
            self.write("model.json", json.dumps({"model": {**model["model"], **change}}))
            _, message = self.terrane("check", "job.toml", expect=2)
            self.assertIn("model.json", message)
            self.assertIn(complaint, message)
        self.write("model.json", json.dumps(model))
        for words, complaint in ((('source=[{kind="file",file="model.json"}]',), "no Survey of emg3d"),
                                 (('mesh.file="survey.json"',), "survey.json"),
                                 (('source=[{kind="file",file="other.npz"}]',), "other.npz"),
                                 (('source=[{kind="dipole",at=[0,0,-50]}]',), "there are none")):
            _, message = self.terrane("check", "job.toml", *(w for word in words for w in ("--set", word)), expect=2)
            self.assertIn(complaint, message)


class ChargedRock(CommandTest):
    """Cole and Cole's model in a job."""

    def run_with(self, *words):
        body = '[[model.body]]\nkind = "box"\nbox = [0, 800, -500, 500, -450, -150]\nresistivity = 5\n'
        self.write("job.toml", JOB + body + "\n".join(words) + "\n")
        out, message = self.terrane("run", "job.toml")
        return out + message, self.rows(self.folder / "output/fields.csv")

    def test_TurnsTheFieldAndWithoutATimeConstantIsSaidToDoNothing(self):
        charges = ("chargeability = 0.4", 'cole_cole_time = "20 ms"', "cole_cole_exponent = 0.5")
        _, rest = self.run_with()
        said, same = self.run_with(charges[0])
        self.assertIn("chargeability has no effect", said)
        self.assertEqual(rest["e_e_imag"], same["e_e_imag"])
        said, turned = self.run_with(*charges)
        self.assertNotIn("no effect", said)
        change = max(abs(complex(a - c, b - d)) / abs(complex(c, d)) for a, b, c, d in zip(
            turned["e_e_real"], turned["e_e_imag"], rest["e_e_real"], rest["e_e_imag"]))
        self.assertGreater(change, 0.01)
        self.assertLess(change, 0.4)


if __name__ == "__main__":
    command.main()
