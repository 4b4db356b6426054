"""Runs that are stopped: soon, cleanly, and with a word on how to go on."""

import os
import signal
import subprocess
import time

import command
from command import JOB, CommandTest

#: A result that takes seconds to write.
LARGE = (JOB.replace("shape = [4, 3]", "shape = [2500, 2400]").replace("shape = [10, 10, 10]", "shape = [2, 2, 2]")
         .replace("500 m", "900 m"))
#: A sum that takes far longer than this test.
LONG = """\
[mesh]
kind = "random"
shape = [40, 40, 40]

[survey]
region = [0, 10, 0, 10, "km"]
shape = [1500, 1500]
height = 50

[simulation]
channels = ["all"]
method = "direct"

[output]
files = ["fields.npy"]
"""


class StoppingTest(CommandTest):
    def start(self, *words):
        process = subprocess.Popen([command.TERRANE, *words], cwd=self.folder, text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def wait_for(self, what, process, seconds=120):
        until = time.monotonic() + seconds
        while not what():
            self.assertIsNone(process.poll(), "it ended before")
            self.assertLess(time.monotonic(), until, "it never came so far")
            time.sleep(0.005)

    def stop(self, process, with_signal):
        """Seconds until the process has ended, and what it said."""
        begin = time.monotonic()
        process.send_signal(with_signal)
        _, message = process.communicate(timeout=60)
        return time.monotonic() - begin, message

    def files(self):
        return {path.name for path in (self.folder / "output").iterdir()}


class StoppedRuns(StoppingTest):
    def test_WritingEndsWithinASecondAndLeavesNothing(self):
        self.write("job.toml", LARGE)
        process = self.start("run", "job.toml")
        temporary = lambda: any((self.folder / "output").glob(".fields.csv.*.tmp"))  # noqa: E731
        # The one that tries the folder is gone at once.
        self.wait_for(lambda: temporary() and (time.sleep(0.1) or temporary()), process)
        seconds, message = self.stop(process, signal.SIGTERM)
        self.assertEqual(process.returncode, 130, message)
        self.assertLess(seconds, 1.5)
        self.assertEqual(message.count("terrane: "), 1, message)
        self.assertIn("interrupted", message)
        self.assertEqual(self.files(), set())

    def test_CheckpointIsNamedWithTheWayToGoOn(self):
        self.write("job.toml", LONG)
        process = self.start("run", "job.toml", "--set", "output.checkpoint=0.1 s")
        checkpoint = self.folder / "output/fields.npy.checkpoint"
        self.wait_for(checkpoint.exists, process)
        _, message = self.stop(process, signal.SIGTERM)
        self.assertEqual(process.returncode, 130, message)
        self.assertIn("output/fields.npy.checkpoint keeps what is done", message)
        self.assertIn("`terrane run job.toml --resume` goes on", message)
        self.assertEqual(self.files(), {checkpoint.name})

    def test_JobsInOneFolderKeepTheirOwnCheckpoints(self):
        self.write("job.toml", LONG)
        process = self.start("run", "job.toml", "--set", "output.checkpoint=0.1 s")
        checkpoint = self.folder / "output/fields.npy.checkpoint"
        self.wait_for(checkpoint.exists, process)
        process.kill()
        process.communicate()
        self.write("other.toml", JOB)
        self.terrane("run", "other.toml")
        self.assertTrue((self.folder / "output/fields.csv").exists())
        self.assertTrue(checkpoint.exists())

    def test_LeftoversOfKilledRunsGoAndThoseOfStrangersStay(self):
        self.write("job.toml", JOB.replace("[output]", '[output]\nmodel = ["model.h5"]'))
        output = self.folder / "output"
        output.mkdir()
        ended = subprocess.Popen(["true"])
        ended.wait()
        dead, alive = ended.pid, os.getpid()
        ours = [f".{name}.{dead}.{n}.tmp" for name in ("fields.csv", "model.h5") for n in (0, 17)]
        others = [f".fields.csv.{alive}.0.tmp", ".fields.csv.notes.tmp", ".fields.csv.1e3.0.tmp", ".fields.csv.0.0.tmp",
                  f".fields.csv.{dead}.tmp", f".fields.csv.old.{dead}.0.tmp", f"fields.csv.{dead}.0.tmp",
                  f".other.csv.{dead}.0.tmp", f".fields.csv.-{dead}.0.tmp"]
        for name in [*ours, *others]:
            (output / name).write_text("left")
        (output / f".fields.csv.{dead}.3.tmp").mkdir()
        self.terrane("run", "job.toml")
        self.assertEqual(self.files(), {"fields.csv", "model.h5", f".fields.csv.{dead}.3.tmp", *others})

    def test_LongNamesOfFilesCanBeWritten(self):
        self.write("job.toml", JOB)
        name = "n" * 251 + ".csv"
        self.terrane("run", "job.toml", "--set", f'output.files=["{name}"]')
        self.assertEqual(self.files(), {name})


#: Runs of a few seconds, of parts that are done one after the other.
HEAT = """\
[mesh]
box = [-10, 10, -10, 10, -10, 10]
shape = [40, 40, 40]
[survey]
kind = "list"
stations = [[2.25, 0.25, 0.25], [4.25, 0.25, 0.25]]
[source]
at = [0.25, 0.25, 0.25]
power = 500
[simulation]
physics = "heat"
thermal_conductivity = "2.8 W/(m.K)"
heat_capacity = 2.1e6
end = "160 day"
step = "1 day"
method = "implicit"
threads = 1
[output]
files = ["fields.npy"]
"""
ACOUSTIC = """\
[mesh]
kind = "regular"
box = [0, 600, -5, 5, -400, 0]
shape = [60, 1, 40]
[model.background]
velocity_p = 2000
[[model.body]]
kind = "layer"
bottom = -400
top = -200
velocity_p = 2300
[survey]
kind = "lines"
start = [50, 0]
end = [550, 0]
spacing = 50
height = -20
[source]
first = [100, 0, -20]
last = [500, 0, -20]
count = 130
frequency = "12 Hz"
[boundary]
top = "cpml"
[simulation]
physics = "acoustic"
end = "1 s"
threads = 1
[output]
files = ["fields.npy"]
"""
MIGRATION = ACOUSTIC.replace('physics = "acoustic"', 'physics = "acoustic"\nkind = "migration"\nsmoothing = "60 m"')
MIGRATION = MIGRATION.replace("count = 130", "count = 32")
ELASTIC = """\
[mesh]
kind = "regular"
box = [0, 800, 0, 400, -400, 0]
shape = [16, 8, 8]
[model.background]
density = 2500
velocity_p = 4000
velocity_s = 2300
[survey]
kind = "lines"
start = [100, 200]
azimuth = 90
length = 600
spacing = 100
height = 0
[source]
at = [200, 200, -40]
force = [0, 0, 1e9]
frequency = 5
[simulation]
physics = "elastic"
end = 3
quantity = "velocity"
threads = 1
[output]
files = ["fields.npy"]
"""
ELECTROMAGNETIC = """\
[mesh]
kind = "tensor"
easting_widths = [3200, 1200, 600, "24*67", 600, 1200, 3200]
northing_widths = [3200, 1200, 600, "18*67", 600, 1200, 3200]
up_widths = [2800, 1200, 500, "8*62.5", 250, 600, 1500, 4000]
origin = [-5800, -5600, -5000]
[model.background]
resistivity = "30 ohm m"
[[source]]
kind = "wire"
points = [[-300, 0, -100], [300, 0, -100]]
[survey]
kind = "list"
stations = [[-250, 0, -200], [250, 0, -200]]
[simulation]
physics = "electromagnetic"
frequencies = [FREQUENCIES]
components = ["e_e", "h_n"]
threads = 1
[output]
files = ["fields.csv"]
"""
ELECTROMAGNETIC = ELECTROMAGNETIC.replace("FREQUENCIES", ", ".join(str(1 + 0.1 * n) for n in range(28)))

#: Two directions of magnetization: three sums.
MAGNETIC = """\
[mesh]
box = [0, 4, 0, 4, -2, 0, "km"]
shape = [40, 40, 20]
[model.background]
magnetization_up = 1
[[model.body]]
kind = "sphere"
centre = [1, 1, -1, "km"]
radius = "500 m"
magnetization_east = 2
magnetization_north = 1
[survey]
region = [0, 4, 0, 4, "km"]
shape = [400, 400]
height = 50
[simulation]
physics = "magnetic"
method = "direct"
channels = ["b_e", "b_n", "b_u"]
threads = 1
[output]
files = ["fields.npy"]
"""
ELECTRIC = """\
[mesh]
kind = "tensor"
easting_widths = [300, 100, 30, "12*10", 30, 100, 300]
northing_widths = [300, 100, 30, "6*10", 30, 100, 300]
up_widths = [300, 100, 30, "4*10"]
origin = [-490, -460, -470]
[model.background]
resistivity = "100 ohm m"
[survey]
kind = "line"
start = [-50, 0]
electrodes = 11
spacing = 10
array = "dipole-dipole"
levels = 4
[simulation]
physics = "electric"
[output]
files = ["fields.csv"]
"""


class LastCheckpoints(StoppingTest):
    """Of runs that are stopped long before a checkpoint would be due."""

    def result(self):
        """The file of results without what differs from run to run, and the file's name."""
        file = next(path for path in (self.folder / "output").iterdir() if path.suffix in (".npy", ".csv"))
        lines = file.read_bytes().split(b"\n")
        return b"\n".join(line for line in lines if not line.startswith(b"# ")), file

    def stopped(self, seconds, number):
        """Stops a run after some time, and again where that was too early or too late, until a checkpoint is left."""
        for _ in range(8):
            process = self.start("run", "job.toml", "--set", "output.checkpoint=1 h")
            time.sleep(seconds)
            _, message = self.stop(process, number)
            if process.returncode == 0:  # the run had ended: the machine is faster than it was
                self.result()[1].unlink()
                seconds *= 0.5
                continue
            self.assertEqual(process.returncode, 130, message)
            if "--resume` goes on from it" in message:
                return
            seconds *= 1.4
        self.fail("nothing was kept")

    def goes_on(self, job, number=signal.SIGTERM):
        self.write("job.toml", job)
        begin = time.monotonic()
        self.terrane("run", "job.toml")
        whole = time.monotonic() - begin
        undisturbed, file = self.result()
        file.unlink()
        self.stopped(0.4 * whole, number)
        out, _ = self.terrane("run", "job.toml", "--resume")
        self.assertIn("resumed from", out)
        self.assertEqual(self.result()[0], undisturbed)
        self.assertEqual(self.files(), {file.name})

    def test_HeatGoesOnFromItsLastStep(self):
        self.goes_on(HEAT)

    def test_ShotsThatAreDoneAreKept(self):
        self.goes_on(ACOUSTIC, signal.SIGHUP)

    def test_ImagesOfShotsThatAreDoneAreKept(self):
        self.goes_on(MIGRATION, signal.SIGINT)

    def test_ElasticWavesGoOnFromTheirLastStep(self):
        self.goes_on(ELASTIC)

    def test_ElectromagneticSolvesThatAreDoneAreKept(self):
        self.goes_on(ELECTROMAGNETIC)

    def test_SumsOfMagneticFieldsThatAreDoneAreKept(self):
        self.goes_on(MAGNETIC)

    def test_DirectCurrentSaysThatItKeepsNoCheckpoints(self):
        self.refused(ELECTRIC + 'checkpoint = "1 min"\n', "job.toml:20: output.checkpoint", "no checkpoints", "never")
        self.refused(ELECTRIC, "--resume", "no checkpoints", words=("--resume",))
        self.write("job.toml", ELECTRIC + 'checkpoint = "auto"\n')
        self.terrane("run", "job.toml")

    def test_SignalsThatWereIgnoredAtTheBeginningStayIgnored(self):
        self.write("job.toml", HEAT)
        process = subprocess.Popen([command.TERRANE, "run", "job.toml"], cwd=self.folder, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: [signal.signal(number, signal.SIG_IGN)
                                                       for number in (signal.SIGINT, signal.SIGHUP)])
        self.assertEqual(process.stdout.readline(), "job.toml\n")
        for number in (signal.SIGINT, signal.SIGHUP):
            process.send_signal(number)
        _, message = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, message)

    def test_FoldersThatVanishAreMadeAgain(self):
        self.write("job.toml", ELASTIC)
        process = self.start("run", "job.toml")
        self.assertEqual(process.stdout.readline(), "job.toml\n")
        (self.folder / "output").rmdir()
        _, message = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, message)
        self.assertEqual(self.files(), {"fields.npy"})


if __name__ == "__main__":
    command.main()
