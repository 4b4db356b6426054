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


class StoppedRuns(CommandTest):
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


if __name__ == "__main__":
    command.main()
