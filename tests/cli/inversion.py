"""terrane invert: models from data, and what it refuses."""

import math
import os
import re
import signal
import subprocess
import time

import command
from command import SOURCE, CommandTest

EXAMPLE = SOURCE / "examples/10_buried_block"

JOB = f"""
[mesh]
box = [-500, 500, -500, 500, -500, 0]
shape = [20, 20, 10]
[survey]
kind = "list"
file = "{EXAMPLE}/stations.csv"
[simulation]
physics = "gravity"
[inversion]
length_scale = [150, 150, 150]
z0 = 25
[output]
files = ["fit.csv"]
model = ["model.csv"]
"""


class Inversion(CommandTest):
    def invert(self, *words, expect=0):
        self.write("job.toml", JOB)
        return self.terrane("invert", "job.toml", *(w for word in words for w in ("--set", word)), expect=expect)

    def test_TheBuriedBlockIsWhereItIs(self):
        out, message = self.terrane("invert", EXAMPLE / "job.toml", "--output", self.folder / "output")
        self.assertEqual(message, "")
        self.assertIn("stopped    converged", out)
        rows, expected = self.rows(self.folder / "output/fit.csv"), self.rows(EXAMPLE / "expected.csv")
        at = {(e, n): i for i, (e, n) in enumerate(zip(rows["easting"], rows["northing"]))}
        for e, n, g in zip(expected["easting"], expected["northing"], expected["g_u"]):
            self.assertAlmostEqual(rows["g_u"][at[e, n]], g, delta=1e-3)
        chi = sum((r / s)**2 for r, s in zip(rows["g_u_residual"], rows["g_u_uncertainty"]))
        self.assertAlmostEqual(chi / 400, 1, delta=0.021)

    def test_HamersleyIsExplainedWithARegionalField(self):
        example = SOURCE / "examples/15_hamersley"
        out, message = self.terrane("invert", example / "job.toml", "--output", self.folder / "output")
        self.assertEqual(message, "")
        self.assertIn("stopped    converged", out)
        rows, expected = self.rows(self.folder / "output/hamersley.csv"), self.rows(example / "expected.csv")
        at = {n: i for i, n in enumerate(rows["northing"])}
        for n, g, trend in zip(expected["northing"], expected["g_z"], expected["g_z_trend"]):
            self.assertAlmostEqual(rows["g_z"][at[n]], g, delta=0.05)
            self.assertAlmostEqual(rows["g_z_trend"][at[n]], trend, delta=0.05)

    def test_ClearLakeIsExplainedInThreeDimensionsByEveryWayToHoldTheMatrix(self):
        example = SOURCE / "examples/21_clear_lake"
        for way in ((), ("--set", "inversion.storage=tree")):
            out, message = self.terrane("invert", example / "job.toml", "--output", self.folder / "output", *way)
            self.assertEqual(message, "")
            self.assertIn("stopped    converged", out)
            rows, expected = self.rows(self.folder / "output/clear_lake.csv"), self.rows(example / "expected.csv")
            at = {place: i for i, place in enumerate(zip(rows["easting"], rows["northing"]))}
            for e, n, g, trend in zip(*(expected[k] for k in ("easting", "northing", "g_z", "g_z_trend"))):
                self.assertAlmostEqual(rows["g_z"][at[e, n]], g, delta=0.02)
                self.assertAlmostEqual(rows["g_z_trend"][at[e, n]], trend, delta=0.02)

    def test_TheTerrainOfClearLakePullsAsExpected(self):
        example = SOURCE / "examples/21_clear_lake"
        _, message = self.terrane("run", example / "terrain.toml", "--output", self.folder / "output")
        self.assertNotIn("error", message)
        rows, expected = self.rows(self.folder / "output/terrain.csv"), self.rows(example / "expected_terrain.csv")
        at = {round(e): i for i, e in enumerate(rows["easting"])}
        for e, disturbance, terrain in zip(*(expected[k] for k in ("easting", "disturbance", "terrain_effect"))):
            self.assertAlmostEqual(rows["disturbance"][at[round(e)]], disturbance, delta=2e-3)
            self.assertAlmostEqual(rows["terrain_effect"][at[round(e)]], terrain, delta=2e-3)

    def test_EveryStorageFindsTheSameModel(self):
        models = []
        for storage in ("lattice", "tree", "fmm", "single", "dense", "none", "disk"):
            self.invert(f"inversion.storage={storage}", "inversion.storage_file=g.sens", "inversion.tolerance=1e-6")
            models.append(self.rows(self.folder / "output/model.csv")["density"])
        largest = max(map(abs, models[0]))
        self.assertAlmostEqual(largest, 172.295746, delta=1e-3)
        for storage in ("lattice", "single", "dense", "none", "tree"):  # and by device code
            self.invert(f"inversion.storage={storage}", "simulation.device=debug", "inversion.tolerance=1e-6")
            models.append(self.rows(self.folder / "output/model.csv")["density"])
        for model in models[1:]:
            self.assertLess(max(abs(a - b) for a, b in zip(model, models[0])), 1e-5 * largest)

    def test_AStoredMatrixIsUsedAgainAndThatOfAnotherProblemRefused(self):
        disk = ("inversion.storage=disk", "inversion.storage_file=g.sens")
        out, _ = self.invert(*disk)
        self.assertIn("sensitivities kept in", out)
        before = os.stat(self.folder / "g.sens").st_mtime_ns
        out, _ = self.invert(*disk, "inversion.chi=1.2")
        self.assertIn("sensitivities read from", out)
        self.assertEqual(os.stat(self.folder / "g.sens").st_mtime_ns, before)
        for change, what in (("mesh.shape=[10, 10, 10]", "another mesh"), ("survey.every=2", "another survey"),
                             ("inversion.accuracy=1e-6", "with accuracy 1e-09, and not 1e-06"),
                             ("simulation.gravitational_constant=6.674e-11", "another set of channels")):
            _, message = self.invert(*disk, change, expect=2)
            self.assertIn(what, message)
        with open(self.folder / "g.sens", "r+b") as file:
            file.seek(100000)
            file.write(b"\x7f\x7f")
        _, message = self.invert(*disk, expect=1)
        self.assertIn("damaged", message)

    def test_CheckSaysHowSensitivitiesAreHeldAndComputesNothing(self):
        self.write("job.toml", JOB)
        out, _ = self.terrane("check", "job.toml")
        for piece in ("storage lattice", "matrix", "memory", "frame      enu", "would write"):
            self.assertIn(piece, out)
        out, _ = self.terrane("check", "job.toml", "--set", "inversion.storage=dense")
        self.assertIn("storage dense: as asked for", out)
        out, _ = self.terrane("check", "job.toml", "--set", "inversion.storage=tree", "--set", "simulation.device=debug")
        self.assertRegex(out, r"matrix .* on the device(.|\n)*storage tree: as asked for")
        self.assertFalse((self.folder / "output").exists())

    def test_AnInversionOfMinutesSaysSoBeforeItBegins(self):
        out, _ = self.invert()
        self.assertNotIn("time       about", out)
        process = subprocess.Popen([command.TERRANE, "invert", "job.toml", "--set", "inversion.storage=none", "--set",
                                    "mesh.shape=[200, 100, 50]"], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True)
        try:
            said = [process.stdout.readline() for _ in range(2)]
        finally:
            process.kill()
            process.communicate()
        self.assertEqual(said[0], "job.toml\n")
        self.assertRegex(said[1], r"^  time +about [\d.]+ (s|min|h); `terrane check` says of what$")

    def test_StationsInsideCellsAreToldOfAndThoseOnFacesNeedASide(self):
        self.write("job.toml", JOB)
        out, _ = self.terrane("check", "job.toml", "--set", "mesh.box=[-500, 500, -500, 500, -480, 20]")
        self.assertRegex(out, r"400 of 400 stations lie inside active cells \(first: station 1, up 10 m\)")
        self.write("d.csv", "easting [m],northing [m],up [m],g_uu_observed [E],g_uu_uncertainty [E]\n"
                            "10,20,0,-3,1\n60,20,0,-2,1\n")
        words = ("survey.file=d.csv", )
        _, message = self.invert(*words, expect=2)
        self.assertIn("2 of 2 lie on faces, edges or corners of cells", message)
        self.invert(*words, "simulation.singular=outside")
        self.write("d.csv", "easting [m],northing [m],up [m],g_uu_observed [E],g_uu_uncertainty [E]\n"
                            "10,20,0,-3,1\n50,20,0,-2,1\n")
        _, message = self.invert(*words, "simulation.singular=outside", expect=2)
        self.assertIn("1 of 2 lie on faces, edges or corners of cells", message)

    def test_PercentAndFloorRuleOverUncertaintiesOfTheSurvey(self):
        out, _ = self.invert("inversion.floor=[0.05]")
        self.assertIn("uncertainties of g_u are those of the job, floor 0.05 mGal", out)
        self.assertEqual(set(self.rows(self.folder / "output/fit.csv")["g_u_uncertainty"]), {0.05})
        self.invert("inversion.floor=[0]", "inversion.percent=[0]")
        self.assertNotIn(0.05, self.rows(self.folder / "output/fit.csv")["g_u_uncertainty"])

    FIXED = """
[mesh]
box = [0, 80, 0, 60, -40, 0]
shape = [8, 6, 4]
[[model.body]]
kind = "box"
box = [0, 20, 10, 40, -30, -10]
density = 500
[survey]
region = [5, 75, 5, 55]
shape = [8, 6]
height = 2
[simulation]
channels = ["g_u"]
[output]
files = ["g.csv"]
model = ["known.nc"]
"""

    def test_TheReferenceOfCellsThatAreNotActiveIsPartOfTheData(self):
        self.write("run.toml", self.FIXED)
        self.terrane("run", "run.toml")
        data = (self.folder / "output/g.csv").read_text(encoding="utf-8")
        self.write("d.csv", data.replace("g_u [mGal]", "g_u_observed [mGal]"))
        active = [[[0 if e < 2 else 1 for e in range(8)] for n in range(6)] for u in range(4)]
        ubc = [active[u][n][e] for n in range(6) for e in range(8) for u in reversed(range(4))]
        self.write("active.den", "\n".join(map(str, ubc)) + "\n")
        self.write("active.txt", "\n".join(map(str, ubc)) + "\n")
        rows = [f"{10 * e + 5},{10 * n + 5},{10 * u - 35},{active[u][n][e]}"
                for u in range(4) for n in range(6) for e in range(8)]
        self.write("active.csv", "\n".join(["easting [m],northing [m],up [m],active", *rows]) + "\n")
        self.write("inv.toml", """
[mesh]
box = [0, 80, 0, 60, -40, 0]
shape = [8, 6, 4]
[survey]
kind = "list"
file = "d.csv"
[simulation]
physics = "gravity"
[inversion]
floor = [1e-4]
reference = "output/known.nc"
[output]
files = ["fit.csv"]
model = ["model.csv"]
""")
        for file in ("active.den", "active.txt", "active.csv"):
            out, _ = self.terrane("invert", "inv.toml", "--set", f"inversion.active_file={file}")
            self.assertIn("12 cells that are not active keep the values of inversion.reference", out)
            fit, model = self.rows(self.folder / "output/fit.csv"), self.rows(self.folder / "output/model.csv")
            self.assertLess(max(map(abs, fit["g_u_residual"])), 1e-7)
            self.assertGreater(max(map(abs, fit["g_u"])), 0.01)
            self.assertAlmostEqual(max(model["density"]), 500, delta=1e-6)
            self.assertEqual(sum(d != 0 for d in model["density"]), 12)

    def test_BadInputIsRefusedWithTheNextMove(self):
        for change, what in (
                ("inversion.lower=10", "the reference model, 0, is not between 10"),
                ("inversion.lower=[1]", "lower"),
                ("inversion.choice=best", "discrepancy"),
                ("inversion.floor=[0.1, 0.2]", "2 numbers for 1 observed channels"),
                ("inversion.length_scale=[1, 1, -1]", "below zero"),
                ("inversion.alpha_s=0", "Keep one of the two"),
                ("inversion.storage=disk", "storage_file"),
                ("inversion.norms=[0, 3, 1, 1]", "not between 0 and 2"),
                ("inversion.trend=cubic", "quadratic"),
                ("inversion.huber=0.2", "0.2 is not 0.5 or more"),
                ("inversion={lower=10, upper=-10}", "they cross: lower 10, upper -10"),
                ("inversion.lowr=1", "lower"),
                ("simulation.channels=[\"g_e\"]", "no observed \"g_e\""),
                ("mesh.kind=prisms", "prisms")):
            _, message = self.invert(change, expect=2)
            self.assertIn(what, message)
        self.write("turned.csv", (EXAMPLE / "stations.csv").read_text(encoding="utf-8").replace(",-0.", ",0."))
        _, message = self.invert("inversion.lower=0", "inversion.upper=500", "survey.file=turned.csv", expect=2)
        self.assertIn("read as down", message)

        lines = (EXAMPLE / "stations.csv").read_text(encoding="utf-8").splitlines()
        self.write("short.csv", "\n".join([*lines[:7], ",".join(lines[7].split(",")[:3]), *lines[8:]]) + "\n")
        _, message = self.invert("survey.file=short.csv", expect=2)
        self.assertIn("short.csv:8", message)
        self.write("sure.csv", "\n".join([*lines[:4], ",".join([*lines[4].split(",")[:4], "0"]), *lines[5:]]) + "\n")
        _, message = self.invert("survey.file=sure.csv", expect=2)
        self.assertIn("1 of 400 data have none above zero", message)
        words = lines[6].split(",")
        self.write("huge.csv", "\n".join([*lines[:6], ",".join([*words[:3], "1e31", *words[4:]]), *lines[7:]]) + "\n")
        _, message = self.invert("survey.file=huge.csv", expect=2)
        self.assertIn("g_u_observed: 1e+31 (value 6) is far from all others", " ".join(message.split()))
        self.assertIn("empty", message)

    def test_ARegionalFieldAndOutliersAreToldApartFromTheModel(self):
        self.invert("inversion.tolerance=1e-6", "inversion.trend=plane")
        plain = self.rows(self.folder / "output/model.csv")["density"]
        lines = (EXAMPLE / "stations.csv").read_text(encoding="utf-8").splitlines()
        rows = [line.split(",") for line in lines[1:]]
        for row in rows:
            row[3] = repr(float(row[3]) + 5 + 0.002 * float(row[0]) - 0.001 * float(row[1]))
        self.write("regional.csv", "\n".join([lines[0], *map(",".join, rows)]) + "\n")
        self.invert("inversion.tolerance=1e-6", "inversion.trend=plane", "survey.file=regional.csv")
        again = self.rows(self.folder / "output/model.csv")["density"]
        self.assertLess(max(abs(a - b) for a, b in zip(plain, again)), 1e-3)
        fit = self.rows(self.folder / "output/fit.csv")
        self.assertAlmostEqual(sum(fit["g_u_trend"]) / 400, 5, delta=0.2)
        rows[123][3] = "50"
        self.write("wild.csv", "\n".join([lines[0], *map(",".join, rows)]) + "\n")
        out, _ = self.invert("inversion.trend=plane", "inversion.huber=1.5", "survey.file=wild.csv")
        self.assertIn("outliers", out)
        fit = self.rows(self.folder / "output/fit.csv")
        self.assertLess(fit["g_u_trust"][123], 0.01)
        self.assertGreater(sorted(fit["g_u_trust"])[40], 0.6)

    def test_AnInversionThatIsStoppedGoesOn(self):
        slow = ["inversion.storage=none", "inversion.tolerance=1e-8", "mesh.shape=[30, 30, 12]",
                "output.checkpoint=0 s"]
        whole, _ = self.invert(*slow)
        model = self.rows(self.folder / "output/model.csv")["density"]
        words = [w for word in slow for w in ("--set", word)]
        process = subprocess.Popen([command.TERRANE, "invert", "job.toml", *words], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        kept = self.folder / "output/fit.csv.checkpoint"
        until = time.monotonic() + 60
        while not kept.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, message)
        self.assertIn("`terrane invert job.toml --resume` goes on", message)
        _, message = self.terrane("invert", "job.toml", "--resume", *words, "--set", "inversion.chi=1.1", expect=2)
        self.assertIn("was made with chi 1; this run has 1.1", message)
        out, _ = self.terrane("invert", "job.toml", "--resume", *words)
        self.assertIn("resumed from", out)
        self.assertEqual(self.rows(self.folder / "output/model.csv")["density"], model)
        self.assertFalse(kept.exists())

    def two_jobs(self):
        """Coarse jobs of gravity, and of a magnetic field in its shape, which is written to magnetic.csv."""
        rows = self.rows(EXAMPLE / "stations.csv")
        lines = ["easting [m],northing [m],up [m],tmi_observed [nT]"]
        lines += [f"{e},{n},{u},{-90 * g}" for e, n, u, g in
                  zip(rows["easting"], rows["northing"], rows["up"], rows["g_u_observed"])]
        self.write("magnetic.csv", "\n".join(lines) + "\n")
        coarse = JOB.replace("[20, 20, 10]", "[10, 10, 5]")
        second = (coarse.replace('"gravity"', '"magnetic"').replace(f"{EXAMPLE}/stations.csv", "magnetic.csv")
                  .replace("[inversion]", "[inversion]\nfloor = [2]"))
        return coarse, second

    def test_TwoJobsFindModelsThatShareTheirStructure(self):
        coarse, second = self.two_jobs()
        self.write("job.toml", coarse)
        self.write("magnetic.toml", second.replace('"fit.csv"', '"magnetic_fit.csv"')
                   .replace('"model.csv"', '"susceptibility.csv"'))
        out, _ = self.terrane("invert", "job.toml", "--with", "magnetic.toml")
        self.assertEqual(out.count("coupling   cross-gradient"), 2)
        one = self.rows(self.folder / "output/model.csv")["density"]
        two = self.rows(self.folder / "output/susceptibility.csv")["susceptibility"]
        self.assertEqual(len(one), len(two))
        self.write("clash.toml", second)
        _, message = self.terrane("invert", "job.toml", "--with", "clash.toml", expect=2)
        self.assertIn("both write", message)
        self.write("other.toml", second.replace("[10, 10, 5]", "[10, 10, 4]").replace("fit.csv", "f.csv")
                   .replace("model.csv", "m.csv"))
        _, message = self.terrane("invert", "job.toml", "--with", "other.toml", expect=2)
        self.assertIn("different meshes", message)

    def test_OneJobFindsAllItsModelsTogetherAsTwoJobsDo(self):
        coarse, second = self.two_jobs()
        self.write("one.toml", coarse)
        self.write("two.toml", second.replace('"fit.csv"', '"magnetic_fit.csv"')
                   .replace('"model.csv"', '"susceptibility.csv"'))
        self.terrane("invert", "one.toml", "--with", "two.toml", "-o", "apart")
        joint = f"""\
[mesh]
box = [-500, 500, -500, 500, -500, 0]
shape = [10, 10, 5]
[[simulation]]
physics = "gravity"
[[simulation]]
physics = "magnetic"
[survey.gravity]
kind = "list"
file = "{EXAMPLE}/stations.csv"
[survey.magnetic]
kind = "list"
file = "magnetic.csv"
[inversion]
length_scale = [150, 150, 150]
z0 = 25
[inversion.magnetic]
floor = [2]
[joint]
[output.gravity]
files = ["fit.csv"]
model = ["model.csv"]
[output.magnetic]
files = ["magnetic_fit.csv"]
model = ["susceptibility.csv"]
"""
        self.write("job.toml", joint)
        more = ("--set", "model.background.permittivity=5")
        plan, _ = self.terrane("check", "job.toml", *more)
        for words in ("gravity is sound", "found together with magnetic", "in all: 2 models found together"):
            self.assertIn(words, plan)
        out, _ = self.terrane("invert", "job.toml", *more)
        # Once for each model, in the plan and in the report.
        notes = [line.split(None, 1)[1] for line in plan.splitlines() if re.match(r"\s*note ", line)]
        self.assertGreaterEqual(len(notes), 2)
        for note in notes:
            self.assertGreaterEqual(out.count(note), notes.count(note), note)
        self.assertEqual(out.count("coupling   cross-gradient"), 2)
        for file, column in (("model.csv", "density"), ("susceptibility.csv", "susceptibility")):
            found, other = (self.rows(self.folder / folder / file) for folder in ("output", "apart"))
            self.assertEqual(found[column], other[column])
        out, _ = self.terrane("invert", "job.toml", "--only", "gravity", "-o", "only")
        self.assertNotEqual(self.rows(self.folder / "only/model.csv"), self.rows(self.folder / "output/model.csv"))
        for text, complaint in (("[joint]\ncoupling = -1", "joint.coupling: it is below zero"),
                                ("[joint]\nrocks = 1", "inversion.rocks"),
                                ("[mesh.magnetic]\nshape = [10, 10, 4]\n[joint]", "different meshes"),
                                ("[inversion.gravity]\nposterior = true\n[joint]", "of one model alone")):
            self.write("bad.toml", joint.replace("[joint]", text))
            for verb in ("check", "invert"):
                _, message = self.terrane(verb, "bad.toml", expect=2)
                self.assertRegex(message, r"bad\.toml:\d+: ")
                self.assertIn(complaint, message)
        self.write("bad.toml", coarse + "[joint]\n")
        _, message = self.terrane("invert", "bad.toml", expect=2)
        self.assertIn("the job has one simulation", message)

    def test_ModelsFoundTogetherShareTheMemoryOfTheirDevice(self):
        job = command.SOURCE / "examples/26_joint/job.toml"

        def check(megabytes, **more):
            return self.terrane("check", job, "--set", "simulation.device=debug",
                                environment={"TERRANE_DEBUG_MEMORY": str(int(megabytes * 1e6))}, **more)
        out, _ = check(100)
        matrix = [float(size) for size in re.findall(r"matrix +([\d.]+) MB on the device", out)]
        self.assertEqual(len(matrix), 2)  # resistivities are found on the CPU
        _, message = check(1.5 * max(matrix), expect=1)  # enough for each of them
        needed = float(re.search(r"would need ([\d.]+) MB", message)[1])  # inverses of regularisers, too
        self.assertTrue(sum(matrix) < needed < 1.5 * sum(matrix), (matrix, needed))
        check(1.1 * needed)
        for words in ("for 2 models together on debug", "available", 'device = "cpu"'):
            self.assertIn(words, message)

    def test_FilesOfMag3dBringTheirMainField(self):
        lines = ["65 -12 50000", "65 -12 1", "16"]
        lines += [f"{x} {y} 10 {20 * math.exp(-(x * x + y * y) / 4e4)} 1" for y in (-300, -100, 100, 300)
                  for x in (-300, -100, 100, 300)]
        self.write("survey.mag", "\n".join(lines) + "\n")
        job = JOB.replace('"gravity"', '"magnetic"').replace(f"{EXAMPLE}/stations.csv", "survey.mag")
        models = []
        for field in ("", "inclination = 65\ndeclination = -12\nintensity = \"50000 nT\"\n"):
            self.write("job.toml", job.replace("[inversion]", field + "[inversion]"))
            self.terrane("invert", "job.toml")
            models.append(self.rows(self.folder / "output/model.csv")["susceptibility"])
        self.assertEqual(models[0], models[1])
        self.write("job.toml", job.replace("[inversion]", "inclination = 66\n[inversion]"))
        _, message = self.terrane("invert", "job.toml", expect=2)
        self.assertIn("the file of the survey has 65, and the job 66", message)

    def test_UncertaintiesMayBeAFloorAndAPercentage(self):
        lines = (EXAMPLE / "stations.csv").read_text(encoding="utf-8").splitlines()
        self.write("bare.csv", "\n".join(",".join(line.split(",")[:4]) for line in lines) + "\n")
        _, message = self.invert("survey.file=bare.csv", expect=2)
        self.assertIn("inversion.floor", message)
        self.invert("survey.file=bare.csv", "inversion.floor=[0.01]", "inversion.percent=[2]")
        rows = self.rows(self.folder / "output/fit.csv")
        for g, s in zip(rows["g_u_observed"], rows["g_u_uncertainty"]):
            self.assertAlmostEqual(s, 0.01 + 0.02 * abs(g), delta=1e-9)

    def test_CellsAboveTheTopographyAreLeftOut(self):
        nodes = [-600, -200, 200, 600]
        self.write("ground.asc", "ncols 4\nnrows 4\nxllcenter -600\nyllcenter -600\ncellsize 400\nNODATA_value -9999\n"
                   + "\n".join(" ".join(str(-60 if x < 0 else 0) for x in nodes) for _ in nodes) + "\n")
        self.invert("inversion.topography=ground.asc")
        out, _ = self.terrane("check", "job.toml", "--set", "inversion.topography=ground.asc")
        self.assertIn("storage", out)
        rows = self.rows(self.folder / "output/model.csv")
        west = [d for d, w, t in zip(rows["density"], rows["west"], rows["top"]) if w < -300 and t > -10]
        self.assertEqual(len([d for d in west if d != 0]), 0)
        self.assertGreater(len([d for d in rows["density"] if d != 0]), 3000)
        self.write("high.asc", "ncols 4\nnrows 4\nxllcenter -600\nyllcenter -600\ncellsize 400\nNODATA_value -9999\n"
                   + "\n".join("-900 -900 -900 -900" for _ in nodes) + "\n")
        _, message = self.invert("inversion.topography=high.asc", expect=2)
        self.assertIn("no cell is active", message)

    def test_SusceptibilitiesComeOutOfTotalFieldAnomalies(self):
        field = 'physics = "magnetic"\nintensity = "50000 nT"\ninclination = 65\ndeclination = -12\n'
        grid = '[survey]\nregion = [-475, 475, -475, 475]\nshape = [20, 20]\nheight = 10\n'
        mesh = '[mesh]\nbox = [-500, 500, -500, 500, -500, 0]\nshape = [20, 20, 10]\n'
        self.write("true.toml", mesh + '[[model.body]]\nkind = "box"\nbox = [-100, 150, -150, 100, -250, -100]\n'
                   'susceptibility = 0.05\n' + grid + "[simulation]\n" + field + '[output]\nfiles = ["true.csv"]\n')
        self.terrane("run", "true.toml")
        true = self.rows(self.folder / "output/true.csv")["tmi"]
        rows = self.rows(self.folder / "output/true.csv")
        lines = ["easting [m],northing [m],up [m],tmi_observed [nT]"]
        lines += [f"{e},{n},{u},{t + 2 * math.sin(12.9898 * i)}" for i, (e, n, u, t) in
                  enumerate(zip(rows["easting"], rows["northing"], rows["up"], true))]
        self.write("stations.csv", "\n".join(lines) + "\n")
        self.write("job.toml", mesh + '[survey]\nkind = "list"\nfile = "stations.csv"\n[simulation]\n' + field
                   + '[inversion]\nfloor = [1.5]\nlower = 0\nupper = 0.2\n[output]\nfiles = ["fit.csv"]\nmodel = ["model.csv"]\n')
        out, _ = self.terrane("invert", "job.toml")
        self.assertIn("exponent 3", out)
        model = self.rows(self.folder / "output/model.csv")
        self.assertGreaterEqual(min(model["susceptibility"]), 0)
        weight = sum(model["susceptibility"])
        centre = [sum(m * (a + b) / 2 for m, a, b in zip(model["susceptibility"], model[low], model[high])) / weight
                  for low, high in (("west", "east"), ("south", "north"), ("bottom", "top"))]
        for found, at in zip(centre, (25, -25, -175)):
            self.assertAlmostEqual(found, at, delta=60)

    def test_MeshObservationsAndModelsOfUbcAreReadAsTheyAre(self):
        self.invert()
        self.terrane("convert", EXAMPLE / "stations.csv", "grav.obs")
        widths = "20*50"
        self.write("mesh.msh", f"20 20 10\n-500 -500 0\n{widths}\n{widths}\n10*50\n")
        self.write("ref.den", "\n".join(["0.0"] * 4000) + "\n")
        smooth = self.rows(self.folder / "output/model.csv")["density"]
        self.invert("mesh={kind=\"file\", file=\"mesh.msh\"}", "survey.file=grav.obs", "inversion.reference=ref.den",
                    'output.model=["model.den"]')
        values = [float(v) for v in (self.folder / "output/model.den").read_text(encoding="utf-8").split()]
        self.assertEqual(len(values), 4000)
        self.assertAlmostEqual(1e3 * max(values), max(smooth), delta=1e-3)

    def test_ControlFilesOfGrav3dAreTheJobOfTheExample(self):
        example = SOURCE / "examples/24_grav3d"
        for name in ("mesh.msh", "gravity.grv", "topography.topo", "gzsen3d.inp", "gzinv3d.inp"):
            (self.folder / name).write_bytes((example / name).read_bytes())
        controls = ("new", "inversion", "--from", "gzsen3d.inp", "gzinv3d.inp")
        self.terrane(*controls, "-o", "job.toml")
        self.assertEqual((self.folder / "job.toml").read_text(encoding="utf-8"),
                         (example / "job.toml").read_text(encoding="utf-8"))
        out, message = self.terrane("invert", "job.toml")
        self.assertEqual(message, "")
        self.assertIn("stopped    converged", out)
        rows, expected = self.rows(self.folder / "output/fit.csv"), self.rows(example / "expected.csv")
        at = {place: i for i, place in enumerate(zip(rows["easting"], rows["northing"]))}
        for e, n, g in zip(expected["easting"], expected["northing"], expected["g_u"]):
            self.assertAlmostEqual(rows["g_u"][at[e, n]], g, delta=2e-4)
        text = (example / "gzinv3d.inp").read_text(encoding="utf-8")
        for change, what in (("SMOOTH_MOD_DIF", "SMOOTHER"), ("VALUE -1 ", "VALUE x "),
                             ("1                ! mode", "4")):
            self.write("gzinv3d.inp", text.replace(change, what))
            _, message = self.terrane(*controls, expect=2)
            self.assertIn("gzinv3d.inp:", message)
        self.write("gzinv3d.inp", text.split("SMOOTH")[0])
        _, message = self.terrane(*controls, expect=2)
        self.assertIn("the file ends before SMOOTH_MOD", message)

    def test_ControlFilesOfMag3dAndGg3dAreReadAsTheyAre(self):
        self.write("mesh.msh", "10 10 5\n-500 -500 0\n10*100\n10*100\n5*100\n")
        at = [(x, y) for y in (-350, -150, 50, 250) for x in (-350, -150, 50, 250)]
        bell = [math.exp(-(x * x + y * y) / 4e4) for x, y in at]
        self.write("total.mag", "65 -12 50000\n65 -12 1\n16\n" + "".join(
            f"{x} {y} 10 {20 * b} 1\n" for (x, y), b in zip(at, bell)))
        self.write("tensor.gg", "datacomp=xx,zz\n16\n" + "".join(
            f"{x} {y} 10 {-10 * b} {20 * b} 1 1\n" for (x, y), b in zip(at, bell)))
        for data, found, property_, bound in (("total.mag", "maginv3d.sus", "susceptibility", "0.5"),
                                              ("tensor.gg", "gzinv3d.den", "density", "2")):
            self.write("sen3d.inp", f"mesh.msh ! mesh\n{data} ! data\nnull ! topography\n2 ! distance\n2 50\nNONE\n")
            self.write("inv3d.inp", f"1\n1.0 0.02\n{data}\nsen3d.mtx\nnull\nVALUE 0\nnull\nVALUE 0\nVALUE {bound}\n"
                                    "150 150 150\nSMOOTH_MOD_DIF\nnull\nnull\n")
            job = f"{property_}.toml"
            self.terrane("new", "inversion", "--from", "sen3d.inp", "inv3d.inp", "-o", job)
            out, message = self.terrane("invert", job)
            self.assertEqual(message, "")
            self.assertIn("stopped    converged", out)
            self.assertRegex(out, "weights +distance")
            values = [float(v) for v in (self.folder / "output" / found).read_text(encoding="utf-8").split()]
            self.assertEqual(len(values), 500)
            # The largest under the middle of the bell: the cells beside easting and northing 0.
            best = max(range(500), key=values.__getitem__)
            self.assertIn(best // 5 % 10, (4, 5), property_)
            self.assertIn(best // 50, (4, 5), property_)
            self.assertTrue(0 <= min(values) and max(values) <= float(bound))
        # From version 6 on the weights of the cells are a file; and the active cells are one, of 1 and 0.
        self.write("w.txt", "".join(f"{1 / (k + 1)}\n" for _ in range(100) for k in range(5)))
        self.write("active.txt", "".join(f"{0 if k == 4 else 1}\n" for _ in range(100) for k in range(5)))
        self.write("sen3d.inp", "mesh.msh\ntotal.mag\nnull\nw.txt\nNONE\n")
        self.write("inv3d.inp", "1\n1.0 0.02\ntotal.mag\nsen3d.mtx\nnull\nVALUE 0\nactive.txt\nVALUE 0\nVALUE 0.5\n"
                                "150 150 150\nSMOOTH_MOD\nnull\nVALUE 1 2 2 2\n")
        self.terrane("new", "inversion", "--from", "sen3d.inp", "inv3d.inp", "-o", "six.toml")
        out, _ = self.terrane("invert", "six.toml", "--set", 'output.model=["model.csv"]')
        self.assertIn("susceptibility of 400 active cells from 16 data", out)
        model = self.rows(self.folder / "output/model.csv")
        self.assertTrue(all(chi == 0 for chi, top in zip(model["susceptibility"], model["top"]) if top < -350))
        self.assertTrue(any(chi != 0 for chi in model["susceptibility"]))

    def test_WeightsOfCellsAndFacesKeepTheModelWhereItShallNotBe(self):
        coarse = ["mesh.shape=[10, 10, 5]"]
        ones = 500 + 9 * 10 * 5 + 10 * 9 * 5 + 10 * 10 * 4
        self.write("ones.txt", "1 " * ones + "\n")
        self.invert(*coarse)
        plain = self.rows(self.folder / "output/model.csv")["density"]
        self.invert(*coarse, "inversion.weights_file=ones.txt", "inversion.tolerance=1e-6")
        same = self.rows(self.folder / "output/model.csv")["density"]
        self.assertLess(max(abs(a - b) for a, b in zip(plain, same)), 0.01 * max(plain))
        # Down first, then east, then north: the lowest layer costs a thousand times as much.
        self.write("deep.txt", "1 1 1 1 1000 " * 100 + "1 " * (ones - 500) + "\n")
        self.invert(*coarse, "inversion.weights_file=deep.txt")
        rows = self.rows(self.folder / "output/model.csv")
        deep = max(abs(d) for d, b in zip(rows["density"], rows["bottom"]) if b < -450)
        before = max(abs(d) for d, b in zip(plain, rows["bottom"]) if b < -450)
        self.assertLess(deep, 0.1 * before)
        # Faces across northing, below the uppermost layer alone, cost nearly everything.
        self.write("north.txt", "1 " * 950 + "1 1e6 1e6 1e6 1e6 " * 90 + "1 " * 400 + "\n")
        self.invert(*coarse, "inversion.weights_file=north.txt")
        rows = self.rows(self.folder / "output/model.csv")

        def spread(layer, axis):
            lines = {}
            for d, b, at in zip(rows["density"], rows["bottom"], rows[axis]):
                if (b > -150) == (layer == "top"):
                    lines.setdefault((b, at), []).append(d)
            return max(max(line) - min(line) for line in lines.values())

        self.assertLess(spread("below", "west"), 0.01 * spread("below", "south"))
        self.assertGreater(spread("top", "west"), 0.2 * spread("top", "south"))
        self.write("short.txt", "1 " * (ones - 1) + "\n")
        _, message = self.invert(*coarse, "inversion.weights_file=short.txt", expect=2)
        self.assertIn("W.Z", message)
        self.write("zero.txt", "0 " + "1 " * (ones - 1) + "\n")
        _, message = self.invert(*coarse, "inversion.weights_file=zero.txt", expect=2)
        self.assertIn("0 is not above zero", message)

    def test_AJobOfAnInversionIsNotRunAsAForwardCalculation(self):
        self.write("job.toml", JOB)
        _, message = self.terrane("run", "job.toml", expect=2)
        self.assertIn("terrane invert job.toml", message)

    def test_NewWritesAJobAndItsReferencePage(self):
        out, _ = self.terrane("new", "inversion", "-o", "job.toml")
        self.assertIn("of this earth stations.csv", out)
        out, _ = self.terrane("check", "job.toml")
        self.assertIn("the job is sound", out)
        (self.folder / "job.toml").unlink()
        (self.folder / "stations.csv").write_bytes((EXAMPLE / "stations.csv").read_bytes())
        self.terrane("new", "inversion", "-o", "job.toml")
        self.assertEqual((self.folder / "stations.csv").read_bytes(), (EXAMPLE / "stations.csv").read_bytes())
        out, _ = self.terrane("new", "inversion", "--reference")
        page = SOURCE / "docs/reference/job_inversion.md"
        self.assertEqual(page.read_text(encoding="utf-8"), out,
                         "write it anew: terrane new inversion --reference > docs/reference/job_inversion.md")


if __name__ == "__main__":
    command.main()
