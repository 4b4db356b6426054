"""What every physics owes, whichever it is: notes, provenance, and errors at the key that is wrong."""

import re
import subprocess
from multiprocessing.pool import ThreadPool

import command
from command import CommandTest

SURVEY = """
[survey]
kind = "list"
file = "stations.csv"
window = [0, 500, -1, 1]
"""
STATIONS = "easting [m],northing [m],up [m],name\n" + "".join(f"{100 * n},0,-10,P{n}\n" for n in range(1, 10))
WAVES = """[source]
at = [[100, 0, -200]]
frequency = 10
"""

#: One small job of every physics; notes say that the survey's file has stations beyond the window.
JOBS = {
    "gravity": """
[mesh]
box = [0, 1000, -500, 500, -1000, -20]
shape = [4, 4, 4]
[[model.body]]
kind = "sphere"
centre = [500, 0, -500]
radius = 300
density = 3000
[simulation]
physics = "gravity"
reference_density = 2670
channels = ["g_u"]
""" + SURVEY,
    "magnetic": """
[mesh]
box = [0, 1000, -500, 500, -1000, -20]
shape = [4, 4, 4]
[[model.body]]
kind = "sphere"
centre = [500, 0, -500]
radius = 300
susceptibility = 0.1
[simulation]
physics = "magnetic"
inclination = 60
declination = 0
intensity = "50000 nT"
""" + SURVEY,
    "acoustic": """
[mesh]
box = [0, 1000, -10, 10, -400, 20]
shape = [50, 1, 21]
[model.background]
velocity_p = 2000
[simulation]
physics = "acoustic"
end = 0.05
""" + WAVES + SURVEY,
    "elastic": """
[mesh]
box = [0, 1000, -500, 500, -1000, 20]
shape = [5, 5, 5]
[model.background]
velocity_p = 3000
velocity_s = 1800
density = 2500
[source]
at = [300, 0, -300]
force = [0, 0, 1e9]
frequency = 3
[simulation]
physics = "elastic"
end = 0.1
""" + SURVEY,
    "heat": """
[mesh]
box = [0, 1000, -500, 500, -1000, 20]
shape = [4, 4, 4]
[source]
at = [50, 50, -50]
power = 500
[simulation]
physics = "heat"
end = "60 day"
""" + SURVEY,
    "traveltime": """
[mesh]
box = [0, 1000, -500, 500, -1000, 20]
shape = [4, 4, 4]
[model.background]
velocity_p = 3000
[source]
at = [[300, 0, -300]]
[simulation]
physics = "traveltime"
""" + SURVEY,
    "electromagnetic": """
[mesh]
box = [-1000, 1000, -1000, 1000, -1000, 1000]
shape = [8, 8, 8]
[model.background]
conductivity = 0.01
[source]
kind = "dipole"
at = [0, 0, -10]
[simulation]
physics = "electromagnetic"
frequencies = [10]
""" + SURVEY,
    "electric": """
[mesh]
kind = "tensor"
origin = [-160, -160, -160]
easting_widths = [80, 40, "16*5", 40, 80]
northing_widths = [80, 40, "16*5", 40, 80]
up_widths = [80, 40, "8*5"]
[[model.body]]
kind = "layer"
resistivity = "100 ohm m"
bottom = -160
top = 0
[survey]
kind = "line"
start = [-20, 0]
electrodes = 9
spacing = 5
array = "dipole-dipole"
[simulation]
physics = "electric"
""",
}
OUTPUT = '\n[output]\nfiles = ["out.nc"]\nmodel = ["model.h5"]\n'


#: What no length, time or count can be.
#: Where a value is wrong beside another key's, that one may be named: mesh: too few points per wavelength;
#: model: no rock with charges, which a frequency needs.
BESIDE = {("source.frequency", "1e300"): "mesh", ("simulation.frequency", "1e300"): "model",
          ("simulation.begin", "1e300"): "simulation.end"}
IMPOSSIBLE = ("-1", "0", "nan", "1e300")


def numeric_keys(reference):
    """"simulation.end" of all keys of the reference that take one number, of tables of a physics' own."""
    table, keys = "", []
    for line in reference.splitlines():
        if line.startswith("#"):
            found = re.search(r"\[+([a-z.]+)\]+", line)
            table = found.group(1) if found else ""
        row = re.match(r"\| `([a-z_0-9]+)` \| ([^|]*) \|", line)
        if row and table in ("simulation", "source", "boundary") and "list" not in row.group(2) and \
                row.group(2).strip() not in ("text", "path", "flag", "table", "true or false", "boolean"):
            keys.append(f"{table}.{row.group(1)}")
    return sorted(set(keys))


def mutations(value):
    """What the value of a key may not be: too large; of a list its last number, or one entry too few."""
    if not value.startswith("["):
        return ["1e300"] if re.fullmatch(r"-?[0-9.e]+", value) else []
    last = re.sub(r"-?[0-9.e]+(?=[\]\s]*$)", "1e300", value)
    entries = re.sub(r",[^,\[\]]*(?=\]+$)", "", value)
    return [changed for changed in (last, entries) if changed != value]


#: Of a list what is left may be as good: frequencies, widths of cells.
SHORTER = ("frequencies", "easting_widths", "northing_widths", "up_widths", "channels")


def jobs_with_one_mistake(text):
    """(line, key with its table, text of the job) of every number and list of numbers in a job, made impossible."""
    lines, table = text.split("\n"), ""
    for at, line in enumerate(lines):
        if found := re.match(r"\[+([\w.]+)\]+", line):
            table = found.group(1)
        elif (found := re.match(r"(\w+) = (.*)", line)) and table != "output":
            for value in mutations(found.group(2)):
                if "1e300" in value or found.group(1) not in SHORTER:
                    yield at + 1, f"{table}.{found.group(1)}", "\n".join(
                        [*lines[:at], f"{found.group(1)} = {value}", *lines[at + 1:]])


class ContractTest(CommandTest):
    def job(self, physics, output=OUTPUT, projection=False):
        self.write("stations.csv", STATIONS)
        text = JOBS[physics] + output
        if projection and physics != "electric":  # it has no coordinates of maps
            text = text.replace("[mesh]\n", '[mesh]\nprojection = "EPSG:32633"\n', 1)
        return self.write("job.toml", text)

    def notes_of(self, text):
        return {line.split(None, 1)[1] for line in text.splitlines() if re.match(r"\s*note ", line)}

    def test_NotesOfCheckAreNotesOfRun(self):
        for physics in JOBS:
            with self.subTest(physics):
                self.job(physics)
                more = ("--set", "model.background.permittivity=5")
                plan, plan_warns = self.terrane("check", "job.toml", *more)
                report, report_warns = self.terrane("run", "job.toml", *more)
                # What rounding takes is estimated before and measured in the run, which says it in a line of its own.
                notes = {note for note in self.notes_of(plan) if not note.startswith("rounding takes at most")}
                if physics != "electric":
                    self.assertTrue(any("of 9 stations" in note for note in notes), plan)
                self.assertIn(f'the model\'s permittivity is not used by this simulation (physics = "{physics}")',
                              notes)
                self.assertLessEqual(notes, self.notes_of(report))
                warnings = {line.split(None, 1)[1] for line in plan.splitlines() if re.match(r"\s*warning ", line)}
                for warning in warnings:
                    self.assertIn(warning, report + report_warns)

    def test_NamesOfStationsAreInEveryResult(self):
        for physics in JOBS:
            if physics == "electric":  # it has electrodes
                continue
            with self.subTest(physics):
                self.job(physics, '\n[output]\nfolder = "."\nfiles = ["out.nc", "out.csv"]\n')
                self.write("stations.csv", "easting [m],northing [m],up [m],ID,name\n" + "".join(
                    f"{100 * n},0,-10,{7 * n},P{n}\n" for n in range(1, 10)))
                report, _ = self.terrane("run", "job.toml")
                self.assertNotIn("stay out of the results", report)
                self.assertRegex(self.terrane("info", "out.nc")[0], r"(?m)^\s*(coordinates|text)?\s+name\b")
                rows = [line for line in (self.folder / "out.csv").read_text().splitlines() if line[:1] != "#"]
                names = [column.split(" ")[0] for column in rows[0].split(",")]
                for row in rows[1:]:
                    row = dict(zip(names, row.split(",")))
                    east = next(row[key] for key in ("easting", "receiver_easting") if key in row)
                    self.assertEqual((row["ID"], row["name"]), (str(7 * int(float(east)) // 100),
                                                                f"P{int(float(east)) // 100}"))
                    if physics == "elastic":  # in column 1, as in files of seismograms
                        self.assertEqual(row["receiver"], row["name"])

    def test_PropertiesThatALawReadsAreNotNoted(self):
        body = "velocity_p = 4000\nsusceptibility = 0.1\npermeability = 5\nmagnetization_up = 0"
        text = JOBS["gravity"].replace("density = 3000", body).replace("reference_density = 2670\n", "")
        text = text.replace("[mesh]", '[model]\nmaps = ["density from velocity_p by gardner"]\n[mesh]', 1)
        self.write("stations.csv", STATIONS)
        self.write("job.toml", text)
        said, _ = self.terrane("check", "job.toml")
        self.assertIn("the model's susceptibility, permeability are not used by this simulation", said)

    def test_EveryResultNamesProgramBuildDateAndProjection(self):
        for physics in JOBS:
            with self.subTest(physics):
                self.job(physics, projection=True)
                self.terrane("run", "job.toml")
                for name in ("out.nc", "model.h5"):
                    said, _ = self.terrane("info", f"output/{name}")
                    for piece in ("program", "build", "date") + (() if physics == "electric" else ("projection",)):
                        self.assertRegex(said, rf"(?m)^\s*{piece}\b.*")

    def test_EveryKeyIsBlamedForItself(self):
        """Of a number that cannot be, the first line of the error names the key that has it."""
        tries, wrong = [], []
        general, _ = self.terrane("new", "tables", "--reference")
        for physics in JOBS:
            reference = general + self.terrane("new", physics, "--reference")[0]
            path = self.job(physics).rename(self.folder / f"{physics}.toml")
            keys = numeric_keys(reference)
            self.assertGreater(len(keys), 3, physics)
            tries += [(path.name, key, value) for key in keys for value in IMPOSSIBLE]

        def blamed(one):
            path, key, value = one
            done = subprocess.run([command.TERRANE, "check", path, "--set", f"{key}={value}"], cwd=self.folder,
                                  capture_output=True, text=True, timeout=120)
            first = (done.stderr.splitlines() or [""])[0]
            return done.returncode in (0, 2) and (
                done.returncode == 0 or f" {key}: " in first or f" {BESIDE.get((key, value))}: " in first), one, first

        with ThreadPool(2) as pool:
            wrong = [(one, first) for right, one, first in pool.map(blamed, tries) if not right]
        self.assertEqual(wrong, [], "\n".join(map(str, wrong)))

    def test_EveryNumberAndListOfAJobIsBlamedAtItsLine(self):
        """Of bodies, meshes, surveys and sources: file, line and key."""
        self.write("stations.csv", STATIONS)
        tries = []
        for physics, text in JOBS.items():
            for n, (line, key, changed) in enumerate(jobs_with_one_mistake(text)):
                tries.append((self.write(f"{physics}{n}.toml", changed).name, line, key))
        self.assertGreater(len(tries), 60)

        def right(one):
            name, line, key = one
            done = subprocess.run([command.TERRANE, "check", name], cwd=self.folder, capture_output=True, text=True,
                                  timeout=120)
            first = re.sub(r"\[\d+\]", "", (done.stderr.splitlines() or [""])[0])
            return done.returncode == 2 and first.startswith(f"terrane: {name}:{line}: {key}: "), one, first

        with ThreadPool(2) as pool:
            wrong = [(one, first) for good, one, first in pool.map(right, tries) if not good]
        self.assertEqual(wrong, [], "\n".join(map(str, wrong)))

    def test_PropertiesThatAreMissingAreBlamedOnTheModel(self):
        for physics, line in (("elastic", "velocity_s = 1800\n"), ("elastic", "density = 2500\n"),
                              ("acoustic", "velocity_p = ")):
            with self.subTest(f"{physics} {line}"):
                kept = [one for one in JOBS[physics].splitlines(True) if not one.startswith(line)]
                self.assertLess(len(kept), len(JOBS[physics].splitlines()))
                self.write("stations.csv", STATIONS)
                job = self.write("job.toml", "".join(kept) + '\n[output]\nfiles = ["out.nc"]\n')
                _, message = self.terrane("check", job.name, expect=2)
                self.assertRegex(message.splitlines()[0], r"job\.toml:\d+: model")

    def test_TolerancesWithWhichSolversEndTooEarlyOrNeverAreRefused(self):
        for physics in ("heat", "electric", "electromagnetic"):
            job = self.job(physics)
            for value in ("0.5", "1e-20"):
                with self.subTest(f"{physics} {value}"):
                    _, message = self.terrane("check", job.name, "--set", f"simulation.tolerance={value}", expect=2)
                    self.assertIn(f"simulation.tolerance: {value} is not between 1e-14 and 0.01", message)

    def test_PlacesOutsideAreBlamedAtTheirKey(self):
        for physics, key, value, place in (
                ("electromagnetic", "survey", "", "survey.file"),
                ("acoustic", "survey", "", "survey.file"),
                ("electromagnetic", "source.at", "[5000, 0, -10]", "source.at"),
                ("elastic", "source.at", "[5000, 0, -300]", "source.at"),
                ("acoustic", "source.at", "[[5000, 0, -300]]", "source.at")):
            with self.subTest(f"{physics} {place}"):
                job = self.job(physics)
                words = ["--set", f"{key}={value}"] if value else []
                if not value:
                    self.write("stations.csv", STATIONS.replace("300,0,-10", "300,0,-5000"))
                _, message = self.terrane("check", job.name, *words, expect=2)
                self.assertRegex(message.splitlines()[0], rf"(job\.toml:\d+|--set.*): {re.escape(place)}: ")


if __name__ == "__main__":
    command.main()
