"""Files of a run: what cannot be written is found before the computation, and nothing takes away what was computed."""

import math
import os
import re
import resource
import subprocess

import command
from command import JOB, CommandTest

GRID = '[survey]\nregion = [0, 2, 0, 2, "km"]\nshape = [{}]\nheight = 50\n'
SURVEYS = {
    "grid of squares": GRID.format("3, 3"),
    "grid of oblongs": GRID.format("4, 3"),
    "grid of one column": '[survey]\neasting = [500]\nnorthing = [0, 1000]\nheight = 50\n',
    "grid with uneven steps": '[survey]\neasting = [0, 100, 300]\nnorthing = [0, 1000]\nheight = 50\n',
    "list on a grid": '[survey]\nkind = "list"\nstations = [[0, 0, 50], [10, 0, 51], [0, 10, 52], [10, 10, 53]]\n',
    "list": '[survey]\nkind = "list"\nfile = "stations.csv"\n',
    "lines": '[survey]\nkind = "lines"\nstart = [0, 0]\nazimuth = 30\nlength = 1000\nspacing = 400\nheight = 50\n',
}
MODELS = {"mesh": JOB.split("[survey]")[0], "prisms": '[mesh]\nkind = "prisms"\nfile = "prisms.csv"\n\n'}
CHANNELS = {"one": '["g_u"]', "gradients": '["g_uu", "g_eu"]', "all": '["all"]'}


class FilesOfARun(CommandTest):
    def setUp(self):
        super().setUp()
        # Names that some formats cannot hold as they are.
        self.write("stations.csv", "easting [m],northing [m],up [m],a/b,a_b,#line ,g_u,note\n"
                                   "0,0,50,1,2,3,4,x\n700,10,50,1,2,3,4,y\n10,900,60,1,2,3,4,z\n")
        self.write("prisms.csv", "west [m],east [m],south [m],north [m],bottom [m],top [m],density [kg/m3]\n"
                                 "0,1000,0,1000,-900,-100,300\n0,500,1000,1500,-700,-200,-200\n")

    def job(self, survey="grid of squares", model="mesh", channels="one", files=("fields.csv",), models=()):
        listed = [str(list(names)).replace("'", '"') for names in (files, models)]
        return self.write("job.toml", f"{MODELS[model]}{SURVEYS[survey]}\n[simulation]\nchannels = {CHANNELS[channels]}\n"
                                      f"[output]\nfiles = {listed[0]}\nmodel = {listed[1]}\n")

    def status(self, *words):
        done = subprocess.run([command.TERRANE, *words], cwd=self.folder, capture_output=True, text=True)
        return done.returncode, done.stderr

    def formats(self, *kinds):
        """An extension of every format that is written and holds one of these."""
        out, _ = self.terrane("convert", "--formats")
        found = []
        for line in out.splitlines()[1:]:
            extensions = [word for word in line.split() if word.startswith(".")]
            access = next(word for word in line.split() if word in ("rw", "r-", "-w"))
            if "w" in access and extensions and any(kind in line.split(access)[-1] for kind in kinds):
                found.append(extensions[0])
        self.assertGreater(len(found), 5)
        return found

    def sound_or_not(self, name):
        """The job is sound and runs, or is not and does not: then nothing is made."""
        checked, complaint = self.status("check", "job.toml")
        self.assertIn(checked, (0, 2), complaint)
        ran, message = self.status("run", "job.toml", "--quiet")
        self.assertEqual(ran, checked, f"check: {complaint}\nrun: {message}")
        self.assertEqual((self.folder / "output" / name).is_file(), ran == 0, message)
        if ran:
            self.assertRegex(message, r"^terrane: .*job.toml:\d+: output\.(files|model): \"")
            self.assertFalse((self.folder / "output").exists())
        else:
            (self.folder / "output" / name).unlink()
            (self.folder / "output").rmdir()
        return ran == 0

    def test_EveryFormatHoldsTheResultOrIsRefusedBeforeTheRun(self):
        held = {}
        for extension in (*self.formats("grid", "table", "array"), ".loc"):
            for survey in SURVEYS:
                cases = [("mesh", "one"), ("prisms", "gradients"), ("mesh", "all")]
                if extension not in (".nc", ".csv", ".npy", ".asc", ".grv") and survey != "grid of squares":
                    cases = cases[:1]
                for model, channels in cases:
                    with self.subTest(format=extension, survey=survey, model=model, channels=channels):
                        name = "fields" + extension
                        self.job(survey, model, channels, files=[name])
                        held[extension, survey, channels] = self.sound_or_not(name)
        # What cannot be, and what must: the rule alone would hold for a program that refuses everything.
        for survey in SURVEYS:
            for channels in CHANNELS:
                for extension in (".nc", ".csv", ".npy"):
                    self.assertTrue(held[extension, survey, channels], (extension, survey, channels))
                self.assertEqual(held[".asc", survey, channels],
                                 channels == "one" and survey in ("grid of squares", "list on a grid"))
        self.assertFalse(held[".grv", "list", "gradients"])
        self.assertFalse(held[".gg", "list", "one"])
        self.assertFalse(held[".vts", "list", "one"])

    def test_EveryFormatHoldsTheModelOrIsRefusedBeforeTheRun(self):
        held = {}
        for extension in self.formats("mesh", "prisms"):
            for model in MODELS:
                with self.subTest(format=extension, model=model):
                    name = "model" + extension
                    self.job(model=model, files=[], models=[name])
                    held[extension, model] = self.sound_or_not(name)
        self.assertTrue(all(held[extension, "mesh"] for extension in (".nc", ".h5", ".msh", ".den", ".vtr", ".csv")))
        self.assertTrue(held[".csv", "prisms"])
        self.assertFalse(held[".h5", "prisms"])

    def test_FieldsOfCellsGoIntoEveryFileThatHoldsThem(self):
        mesh = """[mesh]
kind = "tensor"
easting_widths = [900, 400, 200, "6*100", 200, 400, 900]
northing_widths = [900, 400, 200, "4*100", 200, 400, 900]
up_widths = [900, 400, 200, "3*100"]
origin = [-1800, -1700, -1800]
[model.background]
resistivity = 100
"""
        surveys = {"electric": ('[survey]\nkind = "line"\nstart = [-250, 0]\nelectrodes = 6\nspacing = 100\nlevels = 1\n',
                                'volume = ["potential", "j"]\n', "j_u_cells_electrode_2"),
                   "electromagnetic": ('[survey]\nkind = "list"\nstations = [[300, 0, -150]]\n[source]\nkind = "dipole"\n'
                                       'at = [-250, 0, -150]\n', 'volume = ["e"]\nfrequencies = [30]\n',
                                       "e_u_cells_source_1_frequency_30_imag")}
        for physics, (survey, volume, name) in surveys.items():
            job = mesh + survey + f'[simulation]\nphysics = "{physics}"\n'
            files = '[output]\nfiles = ["f.nc", "f.csv", "f.vtr", "f.h5"]\n'
            self.write("job.toml", job + volume + files)
            _, message = self.terrane("run", "job.toml")
            self.assertIn("f.vtr: this format leaves out", message)
            self.assertIn("f.csv: this format leaves out", message)
            out, _ = self.terrane("info", "output/f.h5")
            self.assertIn(name, out)
            self.assertIn(name.encode(), (self.folder / "output/f.vtr").read_bytes())
            self.assertIn(name[:9].encode(), (self.folder / "output/f.nc").read_bytes())
            self.write("job.toml", job + ("" if physics == "electric" else "frequencies = [30]\n") + files)
            _, message = self.terrane("run", "job.toml", expect=2)
            self.assertIn("f.vtr", message)

    def test_ArraysOfElectrodesGoIntoFilesOfOtherProgramsAndBack(self):
        mesh = """[mesh]
kind = "tensor"
easting_widths = [40, 20, "8*10", 20, 40]
northing_widths = [40, 20, "4*10", 20, 40]
up_widths = [40, 20, "3*10"]
origin = [-100, -80, -90]
[model.background]
resistivity = 100
"""
        line = '[survey]\nkind = "line"\nstart = [-25, 0]\nelectrodes = 6\nspacing = 10\nlevels = 2\n'
        rest = '[simulation]\nphysics = "electric"\n[output]\nfiles = {}\n'
        self.write("job.toml", mesh + line + rest.format('["a.ohm", "a.dcip", "a.csv"]'))
        out, message = self.terrane("run", "job.toml")
        self.assertIn("a.dcip: this format leaves out geometric_factor, apparent_resistivity", message)
        self.assertNotIn("a.ohm", message)
        computed = self.rows(self.folder / "output/a.csv")
        text = (self.folder / "output/a.ohm").read_text().splitlines()
        self.assertEqual(text[:3], ["6", "# x y z", "-25 0 0"])
        self.assertEqual(text[9], "# a b m n r rhoa k")
        first = [float(word) for word in text[10].split()]
        self.assertEqual(first[:4], [2, 1, 3, 4])
        for value, name in zip(first[4:], ("resistance", "apparent_resistivity", "geometric_factor")):
            self.assertAlmostEqual(value, computed[name][0], delta=1e-9 * abs(value))
        out, _ = self.terrane("info", "output/a.ohm")
        self.assertIn("table, 5 rows", out)
        self.terrane("convert", "output/a.ohm", "b.dcip")
        self.assertEqual((self.folder / "b.dcip").read_text(), (self.folder / "output/a.dcip").read_text())
        for name in ("output/a.ohm", "b.dcip"):
            survey = f'[survey]\nkind = "file"\nfile = "{name}"\n'
            self.write("job.toml", mesh + survey + rest.format('["again.csv"]'))
            self.terrane("run", "job.toml")
            again = self.rows(self.folder / "output/again.csv")
            self.assertEqual(len(again["easting"]), 5)
            for residual, value in zip(again["resistance_residual"], again["resistance"]):
                self.assertLess(abs(residual), 1e-9 * abs(value))

    def test_SitesOfPlaneWavesGoIntoFilesOfTheirOwn(self):
        job = """[mesh]
kind = "tensor"
easting_widths = [900, 400, 200, "4*100", 200, 400, 900]
northing_widths = [900, 400, 200, "4*100", 200, 400, 900]
up_widths = [900, 400, 200, "3*100", "2*100", 200, 400, 900]
origin = [-1700, -1700, -1800]
[model.background]
resistivity = 100
[[model.body]]
kind = "layer"
bottom = 0
top = 1700
resistivity = 1e8
[survey]
kind = "list"
stations = [[-50, 0, 0], [150, 0, 0], [-250, 0, 0]]
[source]
kind = "plane_wave"
[simulation]
physics = "electromagnetic"
frequencies = [30, 100]
[output]
files = ["line.edi", "line.modem"]
"""
        self.write("job.toml", job)
        out, message = self.terrane("run", "job.toml")
        self.assertIn("line.edi: this format leaves out", message)
        self.assertIn("line_S003.edi", out)
        self.assertFalse((self.folder / "output/line.edi").exists())
        out, _ = self.terrane("convert", "output/line.modem", "some.edi")
        self.assertIn("written: some_S001.edi to some_S003.edi, 3 files", out)
        (self.folder / "output/line_S003.edi").unlink()
        (self.folder / "output/line_S003.edi").mkdir()
        _, message = self.terrane("check", "job.toml", expect=1)
        self.assertIn("line_S003.edi: is a folder", message)
        out, _ = self.terrane("info", "output/line_S002.edi")
        self.assertIn("table, 2 rows", out)
        (self.folder / "sites").mkdir()
        for name in ("line_S001.edi", "line_S002.edi"):
            (self.folder / "sites" / name).write_bytes((self.folder / "output" / name).read_bytes())
        if python := command.python_with("matplotlib", "netCDF4"):
            out, _ = self.terrane("plot", "sites/", environment={"TERRANE_PYTHON": python})
            self.assertIn("wrote sites.png", out)
        for name in ("line_S002.edi", "line.modem"):
            self.terrane("convert", f"output/{name}", "site.csv")
            lines = [line for line in (self.folder / "site.csv").read_text().splitlines() if not line.startswith("#")]
            names = [name.split(" [")[0] for name in lines[0].split(",")]
            for line in lines[1:]:
                row = dict(zip(names, line.split(",")))
                self.assertIn(row["site"], ("S002",) if name.endswith(".edi") else ("S001", "S002", "S003"))
                self.assertEqual(float(row["easting"]), {"S001": -50, "S002": 150, "S003": -250}[row["site"]])
                square = float(row["z_ne_real"])**2 + float(row["z_ne_imag"])**2
                self.assertAlmostEqual(square / (8e-7 * math.pi**2 * float(row["frequency"])), 100, delta=30)
        self.write("job.toml", job.replace("frequencies", 'responses = ["phase"]\nfrequencies'))
        _, message = self.terrane("check", "job.toml", expect=2)
        self.assertIn("simulation.responses asks for impedance", message)
        # Sites of several files are one survey, and keep their names.
        site = self.folder / "some_S001.edi"
        site.write_text(site.read_text().replace("S001", "East 1"))
        self.terrane("convert", "some_S001.edi", "some_S002.edi", "two.modem")
        self.assertIn(" East_1 ", (self.folder / "two.modem").read_text())
        again = job.replace("stations = [[-50, 0, 0], [150, 0, 0], [-250, 0, 0]]", 'file = "some_*.edi"')
        self.write("again.toml", again.replace('"line.edi", "line.modem"', '"again.edi"').replace("[30, 100]", "[100]"))
        out, _ = self.terrane("run", "again.toml")
        self.assertIn('DATAID="East 1"', (self.folder / "output/again_East_1.edi").read_text())
        site.write_text(site.read_text().replace(" X=0 Y=-50 ", " ").replace("written by Terrane", ""))
        self.write("again.toml", again.replace("some_*.edi", "some_S001.edi"))
        _, message = self.terrane("check", "again.toml", expect=2)
        self.assertIn("The file gives no place of its site", message)

    def test_WhereAFileCannotGoIsFoundBeforeTheRun(self):
        (self.folder / "output/taken.csv").mkdir(parents=True)
        self.write("file", "")
        for words, piece in ((["--set", 'output.files=["taken.csv"]'], "is a folder"),
                             (["--output", "file"], "is not a folder"), (["--output", "file/below"], "folder"),
                             (["--set", f'output.files=["{"x" * 260}.csv"]'], "name")):
            for verb in ("check", "run"):
                if verb == "check" and words[0] == "--output":
                    words = ["--set", f'output.folder="{words[1]}"']
                self.job()
                status, message = self.status(verb, "job.toml", *words)
                self.assertEqual(status, 1, message)
                self.assertIn(piece, message)

    def test_NoFileOfTheJobIsOverwritten(self):
        os.symlink("stations.csv", self.folder / "link.csv")
        job = self.job(survey="list", model="prisms").read_text()
        (self.folder / "job.csv").write_text(job)
        before = {name: (self.folder / name).read_bytes() for name in ("stations.csv", "prisms.csv", "job.csv")}
        for files, models, read in ((["stations.csv"], [], "stations.csv"), (["./link.csv"], [], "stations.csv"),
                                    (["job.csv"], [], "job.csv"), ([], ["prisms.csv"], "prisms.csv")):
            for verb in ("check", "run"):
                status, message = self.status(verb, "job.csv", "--set", "output.folder=.",
                                              "--set", f"output.files={files}".replace("'", '"'),
                                              "--set", f"output.model={models}".replace("'", '"'))
                self.assertEqual(status, 2, message)
                self.assertIn(f"would overwrite {read}, which this job reads", message)
        self.terrane("convert", "stations.csv", "link.csv", expect=2)
        for name, content in before.items():
            self.assertEqual((self.folder / name).read_bytes(), content)

    def test_OneFileUnderTwoNamesIsRefused(self):
        (self.folder / "output").mkdir()
        os.symlink(".", self.folder / "output/here")
        self.job(files=["a.csv", "here/a.csv"])
        _, message = self.terrane("run", "job.toml", expect=2)
        self.assertIn("is the same file as", message)

    def test_PlotsOfNothingAreRefusedBeforeTheRun(self):
        self.job(files=["fields.npy"])
        _, message = self.terrane("run", "job.toml", "--set", 'output.plots=["a.png"]', expect=2)
        self.assertIn("drawn from a result in .nc or .csv", message)
        self.job()
        _, message = self.terrane("run", "job.toml", "--set", 'output.plots=["a.png"]', "--set",
                                  'output.plot_channels=["g_v"]', expect=2)
        self.assertIn('there will be no "g_v"', message)
        _, message = self.terrane("run", "job.toml", "--set", 'output.plots=["a.png"]', expect=2,
                                  environment={"TERRANE_PYTHON": "/no/python"})
        self.assertIn("Python", message)
        self.assertFalse((self.folder / "output/fields.csv").exists())
        plots = ("--set", 'output.plots=["a.png"]')
        _, message = self.terrane("check", "job.toml", *plots, expect=2, environment={"TERRANE_PYTHON": "/no/python"})
        self.assertIn("Python", message)
        out, _ = self.terrane("check", "job.toml", *plots, "--no-plots", environment={"TERRANE_PYTHON": "/no/python"})
        self.assertIn("fields.csv", out)
        self.assertNotIn("a.png", out)

    # -- the terminal

    def test_ReaderThatHasSeenEnoughDoesNotEndTheRun(self):
        self.job()
        done = subprocess.run(f"'{command.TERRANE}' run job.toml | true; echo ${{PIPESTATUS[0]}}", shell=True,
                              executable="/bin/bash", cwd=self.folder, capture_output=True, text=True)
        self.assertEqual(done.stdout.strip(), "0", done.stderr)
        self.assertTrue((self.folder / "output/fields.csv").is_file())

    def test_ClosedOrFullStreamsDoNotEndTheRun(self):
        self.job(channels="all")
        self.terrane("run", "job.toml", "--quiet")
        whole = self.rows(self.folder / "output/fields.csv")
        for redirection in (">&-", "2>&-", "<&-", ">&- 2>&- <&-", ">/dev/full", "2>/dev/full", ">/dev/full 2>&1"):
            (self.folder / "output/fields.csv").unlink()
            done = subprocess.run(f"'{command.TERRANE}' run job.toml --set 'output.files=[\"fields.csv\", \"a.obs\"]' "
                                  f"{redirection}", shell=True, cwd=self.folder, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 0, redirection)
            self.assertEqual(self.rows(self.folder / "output/fields.csv"), whole, redirection)

    def test_TextThatWasAskedForAndIsLostIsAnError(self):
        self.job()
        for words in ("new gravity", "check job.toml", "info stations.csv", "convert --formats", "devices"):
            for lost in (">/dev/full", ">&-"):
                done = subprocess.run(f"'{command.TERRANE}' {words} {lost}", shell=True, cwd=self.folder,
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1, f"{words} {lost}")
                self.assertIn("standard output: cannot be written", done.stderr)
        done = subprocess.run(f"'{command.TERRANE}' convert stations.csv stations.nc >&-", shell=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0)  # it has nothing to say

    def test_CurrentFolderThatIsGoneDoesNotEndTheRun(self):
        self.job()
        gone = self.folder / "gone"
        gone.mkdir()
        done = subprocess.run(f"rmdir '{gone}'; exec '{command.TERRANE}' run '{self.folder}/job.toml'", shell=True,
                              cwd=gone, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "output/fields.csv").is_file())
        gone.mkdir()
        done = subprocess.run(f"rmdir '{gone}'; exec '{command.TERRANE}' run '{self.folder}/job.toml' --output there",
                              shell=True, cwd=gone, capture_output=True, text=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("current folder", done.stderr)

    def test_DateThatCannotBeIsFoundBeforeTheRun(self):
        self.job()
        for date in ("99999999999999999999", "-5", "yesterday", "253402300800"):
            for verb in ("check", "run"):
                _, message = self.terrane(verb, "job.toml", expect=2, environment={"SOURCE_DATE_EPOCH": date})
                self.assertIn("SOURCE_DATE_EPOCH", message)
        self.terrane("run", "job.toml", environment={"SOURCE_DATE_EPOCH": "253402300799"})
        self.assertIn("date: 9999-12-31", (self.folder / "output/fields.csv").read_text())

    # -- one file that fails

    def test_FileThatFailsTakesNoOtherWithIt(self):
        self.job(survey="grid of oblongs", files=["a.csv", "b.npy", "c.csv", "d.obs"], models=["e.den"])
        self.terrane("run", "job.toml", "--quiet", "--output", "whole")
        (self.folder / "output").mkdir()
        checkpoints = [self.folder / "output" / name for name in ("a.checkpoint", "a.csv.checkpoint")]
        for checkpoint in checkpoints:
            checkpoint.write_bytes(b"of an interrupted run")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

        out, message = self.terrane("run", "job.toml", expect=1, before=limit)
        for name in ("a.csv", "c.csv", "e.den"):
            self.assertIn(f"output/{name}: ", message)
            self.assertIn("File too large", message)
        for name in ("b.npy", "d.obs"):
            self.assertEqual((self.folder / "output" / name).read_bytes(), (self.folder / "whole" / name).read_bytes())
            self.assertIn(f"output/{name}", out)
        left = {path.name for path in (self.folder / "output").iterdir()}
        self.assertEqual(left - {path.name for path in checkpoints}, {"b.npy", "d.obs"})
        self.assertTrue(any(checkpoint.exists() for checkpoint in checkpoints))


class Octrees(CommandTest):
    """Eight cells of 20 m, of which the one at the top south-west corner is eight of 10 m."""

    def setUp(self):
        super().setUp()
        small = [(i, j, k, 1) for k in (1, 2) for j in (1, 2) for i in (1, 2)]
        large = [(i, j, k, 2) for k in (1, 3) for j in (1, 3) for i in (1, 3) if (i, j, k) != (1, 1, 1)]
        self.write("tree.msh", "4 4 4\n0 0 0\n10 10 5\n15\n" + "".join("%d %d %d %d\n" % row for row in small + large))
        values = {1: 1.0, 9: 0.5}  # g/cm3 of a small cell and of a large one
        self.write("tree.den", "".join(f"{values.get(cell, 0)}\n" for cell in range(1, 16)))
        self.write("active.txt", "".join(f"{int(cell in values)}\n" for cell in range(1, 16)))

    def test_HaveTheFieldOfTheirCellsInJobs(self):
        job = ('%s[survey]\nregion = [0, 40, 0, 40]\nshape = [3, 3]\nheight = 3\n[simulation]\nchannels = ["g_u"]\n'
               '[output]\nfiles = ["%s.csv"]\n')
        self.write("tree.toml", job % ('[mesh]\nfile = "tree.msh"\n[model]\nfile = "tree.den"\n', "tree"))
        boxes = "".join(f"[[model.body]]\nkind = \"box\"\nbox = {box}\ndensity = {density}\n"
                        for box, density in (([0, 10, 0, 10, -5, 0], 1000), ([20, 40, 0, 20, -10, 0], 500)))
        self.write("bodies.toml", job % ("[mesh]\nbox = [0, 40, 0, 40, -20, 0]\nshape = [4, 4, 4]\n" + boxes, "bodies"))
        out, _ = self.terrane("run", "tree.toml")
        self.assertEqual(out.count("an octree mesh of 15 cells, taken as a tensor mesh of 3 × 3 × 3 = 27 cells"), 1)
        self.terrane("run", "bodies.toml")
        found, expected = (self.rows(self.folder / f"output/{name}.csv")["g_u"] for name in ("tree", "bodies"))
        for one, other in zip(found, expected):
            self.assertAlmostEqual(one / other, 1, delta=1e-11)

        self.write("inversion.toml", '[mesh]\nfile = "tree.msh"\n[survey]\nfile = "output/tree.csv"\n[inversion]\n'
                   'floor = 1e-4\nactive_file = "active.txt"\n[output]\nmodel = ["model.csv"]\n')
        out, _ = self.terrane("invert", "inversion.toml")
        self.assertIn("density of 5 active cells", out)  # one, and the four of the large one
        self.write("weights.txt", "1\n" * 15)
        _, err = self.terrane("check", "inversion.toml", "--set", 'inversion.weights_file="weights.txt"', expect=2)
        self.assertIn("inversion.weights_file: the mesh is an octree", err)
        self.assertIn("weighting_file", err)

    def test_ModelsInTablesSayWhichCellsTheyLeaveOutAndAreReferencesWithThem(self):
        self.write("stations.csv", "easting [m],northing [m],up [m],g_u_observed [mGal]\n" + "".join(
            f"{5 + 10 * i},{5 + 10 * j},5,{-0.01 * (i + j + 1)}\n" for i in range(4) for j in range(4)))
        job = ('[mesh]\nbox = [0, 40, 0, 40, -40, 0]\nshape = [4, 4, %d]\n[survey]\nfile = "stations.csv"\n[inversion]\n'
               'floor = 0.005\n%s[output]\nmodel = ["%s"]\n')
        self.write("first.toml", job % (4, "lower = 0\nupper = 300\n", "first.csv"))
        self.terrane("invert", "first.toml")
        text = (self.folder / "output/first.csv").read_text(encoding="utf-8")
        left = int(re.search(r"# left_out: (\d+) of 64 cells", text).group(1))
        self.assertEqual(left + len(self.rows(self.folder / "output/first.csv")["density"]), 64)
        self.write("second.toml", job % (4, 'reference = "output/first.csv"\n', "second.csv"))
        out, _ = self.terrane("invert", "second.toml")
        self.assertIn("density of 64", out)
        self.write("other.toml", job % (2, 'reference = "output/first.csv"\n', "second.csv"))
        _, err = self.terrane("check", "other.toml", expect=2)
        self.assertIn('inversion.reference: prism 1 of "output/first.csv" is no cell of the mesh', err)


if __name__ == "__main__":
    command.main()
