"""The verbs of the command: what they print, write and end with."""

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import command
from command import JOB, SOURCE, CommandTest


class Verbs(CommandTest):
    def test_NewJobRunsAsItIs(self):
        self.terrane("new", "gravity", "-o", "job.toml")
        out, _ = self.terrane("check", "job.toml")
        self.assertIn("the job is sound", out)
        self.terrane("run", "job.toml", "--set", "mesh.shape=[11, 11, 8]", "--set", "survey.shape=[5, 4]")
        self.assertTrue((self.folder / "output/fields.nc").is_file())
        _, message = self.terrane("new", "gravity", "-o", "job.toml", expect=2)
        self.assertIn("there already", message)

    def test_NewShowsEveryKindOfMeshAndSurvey(self):
        for mesh in ("regular", "tensor", "file", "prisms", "terrain", "random"):
            out, _ = self.terrane("new", "gravity", "--mesh", mesh)
            self.assertIn(f'kind = "{mesh}"', out)
        for survey in ("grid", "list", "lines"):
            out, _ = self.terrane("new", "--survey", survey)
            self.assertIn(f'kind = "{survey}"', out)

    def test_NewNamesEveryKindOfJobWhereOneIsMistyped(self):
        _, message = self.terrane("new", "inversoin", expect=2)
        self.assertIn('Did you mean "inversion"?', message)
        self.assertRegex(message, "Allowed: acoustic, .*gravity, .*inversion")

    def test_GeneralTablesStandOnAPageOfTheirOwn(self):
        out, _ = self.terrane("new", "tables", "--reference")
        page = SOURCE / "docs/reference/job_tables.md"
        self.assertEqual(page.read_text(encoding="utf-8"), out,
                         "write it anew: terrane new tables --reference > docs/reference/job_tables.md")
        self.assertEqual(out.count("| `velocity_p` |"), 1)
        gravity, _ = self.terrane("new", "gravity", "--reference")
        self.assertNotIn("velocity_p", gravity)
        self.assertIn("[`[model.background]`](job_tables.md#modelbackground)", gravity)
        self.assertIn("| `accuracy` |", gravity)

    def test_EveryPhysicsHasTheReferencePageThatThisCommandWrites(self):
        index = (SOURCE / "docs/reference/job.md").read_text(encoding="utf-8")
        for header in (SOURCE / "src/terrane/physics").glob("*/physics.hpp"):
            name = header.parent.name
            out, _ = self.terrane("new", name, "--reference")
            page = SOURCE / f"docs/reference/job_{name}.md"
            self.assertEqual(page.read_text(encoding="utf-8"), out,
                             f"write it anew: terrane new {name} --reference > docs/reference/job_{name}.md")
            self.assertIn(f"]({page.name})", index)

    def test_NewWritesAJobThatIsSoundForEveryPhysics(self):
        for header in (SOURCE / "src/terrane/physics").glob("*/physics.hpp"):
            name = header.parent.name
            self.terrane("new", name, "-o", f"{name}.toml")
            out, _ = self.terrane("check", f"{name}.toml")
            self.assertIn("the job is sound", out)

    def test_ShortJobsRunAndSayNothingTwice(self):
        quick = {"gravity": "fields.nc", "magnetic": "fields.nc", "acoustic": "gathers.nc", "heat": "temperature.nc", "traveltime": "times.csv"}
        for header in (SOURCE / "src/terrane/physics").glob("*/physics.hpp"):
            name = header.parent.name
            self.terrane("new", name, "--short", "-o", f"{name}.toml")
            text = (self.folder / f"{name}.toml").read_text(encoding="utf-8")
            self.assertNotIn("#", text)
            self.assertLess(text.count("\n"), 45)
            out, _ = self.terrane("check", f"{name}.toml")
            self.assertIn("the job is sound", out)
            if name in quick:
                self.terrane("run", f"{name}.toml", "-o", name)
                self.assertTrue((self.folder / name / quick[name]).is_file())
        _, message = self.terrane("new", "gravity", "--short", "--mesh", "tensor", expect=2)
        self.assertIn("--short", message)

    def test_EveryKindOfInversionComesWithTheEarthOfItsData(self):
        _, message = self.terrane("new", "inversion", "--of", "electrc", expect=2)
        self.assertIn('Did you mean "electric"?', message)
        known = re.search("Allowed: (.*)\\.", message).group(1).split(", ")
        self.assertEqual(set(known), {"gravity", "magnetic", "magnetization", "joint", "electric", "electromagnetic", "magnetotelluric",
                                      "acoustic", "traveltime"})
        for name in known:
            (self.folder / name).mkdir()
            out, said = self.terrane("new", "inversion", "--of", name, "-o", f"{name}/job.toml")
            self.assertIn("put your data in its place", out)
            self.assertEqual(said, "", f"{name}: the earth of an example is none to warn of")
            self.assertTrue((self.folder / name / "truth.toml").is_file())
            out, _ = self.terrane("check", f"{name}/job.toml")
            self.assertIn("is sound", out)
            self.assertNotRegex(out, "(?m)^ *warning ", name)
            short, _ = self.terrane("new", "inversion", "--of", name, "--short")
            self.assertNotIn("#", short)
        for name, told in (("gravity", False), ("traveltime", True)):  # beyond the rays data tell nothing
            self.terrane("invert", f"{name}/job.toml", "--set", 'output.model=["model.nc"]')
            out, _ = self.terrane("info", f"{name}/output/model.nc")
            self.assertEqual(bool(re.search(r"sensitivity +0 to 1 1$", out, re.MULTILINE)), told)
        (self.folder / "mine").mkdir()
        (self.folder / "mine/magnetic.csv").write_text("mine")
        _, message = self.terrane("new", "inversion", "--of", "joint", "-o", "mine/job.toml", expect=2)
        self.assertIn("magnetic.csv: the file is there already", message)
        self.assertEqual((self.folder / "mine/magnetic.csv").read_text(), "mine")
        _, message = self.terrane("new", "gravity", "--of", "electric", expect=2)
        self.assertIn("chooses among inversions", message)

    def test_TheFirstCommandsOfPagesWorkOneAfterTheOther(self):
        """What a reader types first: each names files that those before it wrote."""
        for page, first in (("start.md", "terrane new gravity"), ("do/invert.md", "terrane new inversion")):
            text = (SOURCE / "docs" / page).read_text(encoding="utf-8")
            block = next(block for block in text.split("```") if block.startswith(f"sh\n{first}"))
            commands = [line.partition("#")[0].strip() for line in block.splitlines()[1:] if line.strip()]
            self.assertGreaterEqual(len(commands), 4)
            for line in commands:
                with self.subTest(page=page, command=line):
                    line, _, into = (part.strip() for part in line.partition(">"))
                    program, *words = line.split()
                    self.assertEqual(program, "terrane")
                    if words[0] in ("plot", "info"):
                        self.assertTrue((self.folder / words[1]).is_file(), f"no command before has written {words[1]}")
                        continue
                    out, _ = self.terrane(*words)
                    if into:
                        self.write(into, out)
            for path in (self.folder / "output").iterdir():
                path.unlink()
            (self.folder / "job.toml").unlink()

    def test_AMeshSaysItsKindByItsKeys(self):
        rest = '[model.background]\nvelocity_p = 2000\n[source]\nat = [50, 50, -5]\nfrequency = 20\n' \
               '[survey]\nstations = [80, 50, -5]\n[simulation]\nphysics = "acoustic"\nend = 0.1\n' \
               '[output]\nfiles = ["g.nc"]\n'
        for mesh, words in (('easting_widths = ["10*10"]\nnorthing_widths = ["10*10"]\nup_widths = ["5*10"]\n'
                             'origin = [0, 0, -50]\n', "the job is sound"), ("cell = 4\n", "mesh: cells of 4 m")):
            self.write("job.toml", f"[mesh]\n{mesh}{rest}")
            out, _ = self.terrane("check", "job.toml")
            self.assertIn(words, out)

    def test_PageOfTheCommandSaysWhatHelpSays(self):
        made = subprocess.run([sys.executable, SOURCE / "tools/docs_command", command.TERRANE], capture_output=True,
                              text=True, check=True).stdout
        page = SOURCE / "docs/reference/command.md"
        self.assertEqual(page.read_text(encoding="utf-8"), made,
                         "write it anew: tools/docs_command build/release/terrane > docs/reference/command.md")

    def test_CompletionAndManualPageSayWhatHelpSays(self):
        subprocess.run([sys.executable, SOURCE / "tools/shell_files", command.TERRANE, "--check"], check=True)

    def test_CompletionOfBashKnowsVerbsOptionsValuesAndFiles(self):
        for name in ("job.toml", "jam.csv"):
            self.write(name, "")
        (self.folder / "jars").mkdir()
        for words, wanted in ((("ru",), "run"), (("run", "--out"), "--output"), (("run", "j"), "jars job.toml"),
                              (("run", "-o", "j"), "jars"), (("info", "ja"), "jam.csv jars"),
                              (("run", "--set", "j"), ""), (("convert", "--frame", "har"), "harmonica"), (("new", "inv"), "inversion"),
                              (("plot", "--scale", ""), "log linear"), (("convert", "--to", "segy-"), "segy-ibm")):
            with self.subTest(words):
                script = 'source "$0"; COMP_WORDS=(terrane "$@"); COMP_CWORD=$#; _terrane; echo "${COMPREPLY[*]}"'
                done = subprocess.run(["bash", "-c", script, SOURCE / "packaging/shell/terrane.bash", *words],
                                      cwd=self.folder, capture_output=True, text=True)
                self.assertEqual((sorted(done.stdout.split()), done.stderr), (sorted(wanted.split()), ""))

    def test_CheckComputesAndWritesNothing(self):
        self.write("job.toml", JOB)
        out, _ = self.terrane("check", "job.toml")
        for piece in ("sources", "stations   12", "memory", "method", "would write"):
            self.assertIn(piece, out)
        self.assertFalse((self.folder / "output").exists())

    def test_RunPrintsWhatWasComputedAndRecordsTheJob(self):
        self.write("job.toml", JOB)
        out, message = self.terrane("run", "job.toml", "--set", "survey.height=75")
        for piece in ("g_u [mGal]", "sources at 12 stations", "pairs per second", "memory", "output/fields.csv"):
            self.assertIn(piece, out)
        self.assertEqual(message, "")
        text = (self.folder / "output/fields.csv").read_text(encoding="utf-8")
        for piece in ("frame: enu", "gravitational_constant", "version", 'kind = "sphere"', "--set survey.height=75"):
            self.assertIn(piece, text)
        self.assertEqual(self.rows(self.folder / "output/fields.csv")["up"], [75.0] * 12)

    def test_QuietRunPrintsNothing(self):
        self.write("job.toml", JOB)
        self.assertEqual(self.terrane("run", "job.toml", "-q"), ("", ""))

    def test_JobComesFromStandardInputToo(self):
        done = subprocess.run([command.TERRANE, "run", "-", "--output", str(self.folder)], input=JOB, text=True,
                              capture_output=True, cwd=self.folder)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((self.folder / "fields.csv").is_file())

    def test_FramesChangeNamesAndSigns(self):
        self.write("job.toml", JOB)
        self.terrane("run", "job.toml", "--output", "up")
        self.terrane("run", "job.toml", "--output", "down", "--set", "simulation.frame=harmonica", "--set",
                     'simulation.channels=["g_z"]')
        up, down = self.rows(self.folder / "up/fields.csv"), self.rows(self.folder / "down/fields.csv")
        self.assertEqual([-v for v in up["g_u"]], down["g_z"])
        self.assertLess(max(up["g_u"]), 0)

    def test_ThreadsDoNotChangeABit(self):
        self.write("job.toml", JOB)
        for threads in (1, 2, 5):
            self.terrane("run", "job.toml", "--output", f"t{threads}", "--threads", threads)
        first = self.rows(self.folder / "t1/fields.csv")
        for threads in (2, 5):
            self.assertEqual(first, self.rows(self.folder / f"t{threads}/fields.csv"))

    def test_ConvertKeepsNumbersThroughOtherFormats(self):
        self.write("job.toml", JOB)
        self.terrane("run", "job.toml")
        self.terrane("convert", "output/fields.csv", "a.nc")
        self.terrane("convert", "a.nc", "b.csv")
        self.assertEqual(self.rows(self.folder / "output/fields.csv")["g_u"], self.rows(self.folder / "b.csv")["g_u"])
        self.terrane("convert", "b.csv", "c.csv", "--frame", "harmonica")
        self.assertEqual([-v for v in self.rows(self.folder / "b.csv")["g_u"]],
                         self.rows(self.folder / "c.csv")["g_z"])
        out, _ = self.terrane("info", "a.nc")
        self.assertIn("g_u", out)
        self.assertIn("mGal", out)

    def test_ConvertReadsUbcModelsWithTheirMesh(self):
        self.write("job.toml", JOB)
        self.terrane("run", "job.toml", "--set", 'output.model=["m.h5"]')
        self.terrane("convert", "output/m.h5", "m.msh")
        self.terrane("convert", "output/m.h5", "m.den")
        self.terrane("convert", "m.den", "back.h5", "--mesh", "m.msh")
        out, _ = self.terrane("info", "m.den", "--mesh", "m.msh")
        self.assertIn("density", out)
        job = '[mesh]\nkind = "file"\nfile = "back.h5"\n' + JOB[JOB.index("[survey]"):]
        self.write("again.toml", job)
        self.terrane("run", "again.toml", "--output", "again")
        for a, b in zip(self.rows(self.folder / "output/fields.csv")["g_u"],
                        self.rows(self.folder / "again/fields.csv")["g_u"]):
            self.assertAlmostEqual(a, b, delta=1e-12)

    def test_FormatsAreListed(self):
        out, _ = self.terrane("convert", "--formats")
        for name in (".nc", ".csv", ".vtr", ".npy", ".den"):
            self.assertIn(name, out)

    def test_DevicesNamesProcessorAndMemory(self):
        out, _ = self.terrane("devices")
        for piece in ("cpu", "threads", "memory", "terrane 0."):
            self.assertIn(piece, out)

    def test_HelpTeachesWithExamples(self):
        for verb in ("run", "check", "new", "info", "convert", "plot"):
            out, _ = self.terrane(verb, "--help")
            self.assertIn(f"terrane {verb} ", out)

    def test_InterruptedRunEndsWithinASecondAndLeavesNothing(self):
        job = JOB.replace("[10, 10, 10]", "[100, 100, 100]").replace("shape = [4, 3]", "shape = [700, 700]")
        self.write("job.toml", job.replace('["g_u"]', '["all"]\nmethod = "direct"'))
        run = subprocess.Popen([command.TERRANE, "run", "job.toml"], cwd=self.folder, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
        self.assertEqual(run.stdout.readline(), "job.toml\n")  # the computation starts after this line
        time.sleep(0.5)
        sent = time.monotonic()
        run.send_signal(signal.SIGINT)
        _, message = run.communicate(timeout=60)
        taken = time.monotonic() - sent
        self.assertEqual(run.returncode, 130, message)
        self.assertIn("interrupted", message)
        self.assertEqual([p.name for p in (self.folder / "output").glob("*")], [])
        # A second on an idle machine; tests share theirs.
        self.assertLess(taken, 10)

    def test_PlotSaysWhatPythonLacks(self):
        self.write("job.toml", JOB)
        self.terrane("run", "job.toml")
        poor = self.write("poor-python", f"#!/bin/sh\nexec {os.environ.get('PYTHON', 'python3')} -S -E \"$@\"\n")
        poor.chmod(0o755)
        environment = {"TERRANE_PYTHON": str(poor)}
        _, message = self.terrane("plot", "output/fields.csv", environment=environment, expect=2)
        self.assertIn("has no matplotlib", message)
        self.assertIn("pip install", message)
        _, message = self.terrane("plot", "output/fields.csv", environment={"TERRANE_PYTHON": "/no/python"}, expect=2)
        self.assertIn("TERRANE_PYTHON", message)

    def test_PlotDrawsMapsAndSlices(self):
        self.write("job.toml", JOB)
        self.terrane("run", "job.toml", "--set", 'output.files=["f.nc"]', "--set", 'output.model=["m.h5"]')
        python = command.python_with("matplotlib", "netCDF4", "h5py")
        if not python:
            self.skipTest("no Python with matplotlib, netCDF4 and h5py")
        environment = {"TERRANE_PYTHON": python}
        self.terrane("plot", "output/f.nc", environment=environment)
        said, _ = self.terrane("plot", "output/f.nc", "--channels", "g_u", "-o", "g.svg", environment=environment)
        self.assertEqual(said, "wrote g.svg\n")
        self.terrane("plot", "output/m.h5", "--slice", "up=-1000", "-o", "m.png", environment=environment)
        for name in ("output/f.png", "m.png"):
            self.assertEqual((self.folder / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertIn("<svg", (self.folder / "g.svg").read_text(encoding="utf-8"))
        _, message = self.terrane("plot", "output/f.nc", "--channels", "g_x", environment=environment, expect=2)
        self.assertIn('there is no "g_x"', message)

    def test_PlotDrawsFilesOfInstrumentsForDirectCurrent(self):
        python = command.python_with("matplotlib", "netCDF4")
        if not python:
            self.skipTest("no Python with matplotlib and netCDF4")
        self.write("wenner.dat", "A line\n5.0\n1\n4\n0\n0\n0 5 100\n5 5 110\n0 10 90\n5 10 95\n0\n0\n0\n0\n")
        said, _ = self.terrane("plot", "wenner.dat", environment={"TERRANE_PYTHON": python, "TMPDIR": str(self.folder)})
        self.assertIn("wrote wenner.png", said)
        self.assertEqual((self.folder / "wenner.png").read_bytes()[:8], b"\x89PNG\r\n\x1a\n")

    def test_PlotDrawsTracesOfSegyAndSu(self):
        python = command.python_with("matplotlib", "netCDF4")
        if not python:
            self.skipTest("no Python with matplotlib and netCDF4")
        environment = {"TERRANE_PYTHON": python, "TMPDIR": str(self.folder)}
        shutil.copy(SOURCE / "tests/fuzz/corpus/segy/ibm.sgy", self.folder / "line.sgy")
        self.terrane("convert", "line.sgy", "line.su")
        said, _ = self.terrane("plot", "line.sgy", environment=environment)
        self.assertIn("wrote line_sgy.png", said)  # line.su has a picture of its own
        self.terrane("plot", "line.su", "--wiggle", "-o", "lines.png", environment=environment)
        for name in ("line_sgy.png", "lines.png"):
            self.assertEqual((self.folder / name).read_bytes()[:8], b"\x89PNG\r\n\x1a\n")
        self.assertEqual([p.name for p in self.folder.glob("terrane-plot-*")], [])
        self.write("line.segy", "no traces")
        _, message = self.terrane("plot", "line.segy", environment=environment, expect=2)
        self.assertIn("line.segy", message)
        _, message = self.terrane("plot", "line.sgy", "--channels", "g_u", environment=environment, expect=2)
        self.assertIn('line.sgy: there is no "g_u"', message)
        self.assertNotIn("terrane-plot-", message)
        self.write("job.toml", JOB)
        self.terrane("run", "job.toml", "--set", 'output.files=["fields.npy", "fields.csv"]')
        _, message = self.terrane("plot", "output/fields.npy", environment=environment, expect=2)
        self.assertIn("output/fields.npy: what it holds cannot be drawn", message)
        _, message = self.terrane("plot", "line.sgy", environment={**environment, "TMPDIR": "/no/folder"}, expect=1)
        self.assertIn("no folder can be made in /no/folder: No such file", " ".join(message.split()))
        self.assertIn("TMPDIR", message)
        _, message = self.terrane("plot", "output/fields.csv", "--wiggle", environment=environment, expect=2)
        self.assertIn("traces of shots", message)

    def test_AnInterruptedPlotLeavesNothingBehind(self):
        python = self.write("sleeping-python", f"#!/bin/sh\ntouch {self.folder}/drawing\nexec sleep 60\n")
        python.chmod(0o755)
        shutil.copy(SOURCE / "tests/fuzz/corpus/segy/ibm.sgy", self.folder / "line.sgy")
        # A terminal tells the script, too; whoever ends a process tells only that.
        for number, tell in ((signal.SIGINT, os.killpg), (signal.SIGTERM, os.kill)):
            plot = subprocess.Popen([command.TERRANE, "plot", "line.sgy"], cwd=self.folder, text=True,
                                    start_new_session=True, stderr=subprocess.PIPE,
                                    env={**os.environ, "TERRANE_PYTHON": str(python), "TMPDIR": str(self.folder)})
            until = time.monotonic() + 30
            while not (self.folder / "drawing").exists() and time.monotonic() < until:
                time.sleep(0.005)
            self.assertNotEqual(list(self.folder.glob("terrane-plot-*")), [])
            tell(plot.pid, number)
            _, message = plot.communicate(timeout=30)
            self.assertEqual(plot.returncode, 130, message)
            self.assertIn("interrupted", message)
            self.assertEqual(list(self.folder.glob("terrane-plot-*")), [])
            (self.folder / "drawing").unlink()


if __name__ == "__main__":
    command.main()
