"""What the tests of the command share: a scratch folder, a job that runs, and a way to run terrane.

Every file of tests is run as `python FILE.py COMMAND [Class.test]`; a skipped test ends with status 77.
"""

import os
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

# Where the tests began with an interrupt that is ignored (in the background of a shell), the command would ignore it, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
SOURCE = Path(__file__).resolve().parents[2]
TERRANE = None

#: Small, quick, and complete: what the tests start from.
JOB = """\
[mesh]
box = [0, 2, 0, 2, -2, 0, "km"]
shape = [10, 10, 10]

[[model.body]]
kind = "sphere"
centre = [1, 1, -1, "km"]
radius = "500 m"
density = 400

[survey]
region = [0, 2, 0, 2, "km"]
shape = [4, 3]
height = 50

[simulation]
channels = ["g_u"]

[output]
files = ["fields.csv"]
"""


class CommandTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="terrane-test-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, name, text):
        path = self.folder / name
        if isinstance(text, bytes):
            path.write_bytes(text)
        else:
            path.write_text(text, encoding="utf-8")
        return path

    def terrane(self, *words, expect=0, environment=None, before=None, timeout=300):
        """Runs the command in the scratch folder; returns (stdout, stderr)."""
        done = subprocess.run([TERRANE, *map(str, words)], cwd=self.folder, capture_output=True, text=True,
                              env={**os.environ, **(environment or {})}, preexec_fn=before, timeout=timeout)
        self.assertEqual(done.returncode, expect,
                         f"terrane {' '.join(map(str, words))}\n{done.stdout}{done.stderr}")
        return done.stdout, done.stderr

    def refused(self, job, *pieces, status=2, words=(), **more):
        """The job stops with this status; the message holds every piece; nothing was written."""
        self.write("job.toml", job)
        _, message = self.terrane("run", "job.toml", *words, expect=status, **more)
        self.assertTrue(message.startswith("terrane: "), message)
        for piece in pieces:
            self.assertIn(piece, message)
        for path in (self.folder / "output").glob("**/*"):
            self.fail(f"{path} was left behind")
        return message

    def rows(self, path):
        """A CSV result as {column: [numbers]}; an empty entry is NaN."""
        lines = [line for line in Path(path).read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        names = [name.split(" [")[0] for name in lines[0].split(",")]
        columns = zip(*([float(entry or "nan") for entry in line.split(",")] for line in lines[1:]))
        return dict(zip(names, map(list, columns)))


def python_with(*modules):
    """A Python that has these modules: this one, or that of the checkout; None when there is none."""
    test = "; ".join(f"import {m}" for m in modules)
    for python in (os.environ.get("TERRANE_PYTHON"), str(SOURCE / ".venv/bin/python"), sys.executable):
        if python and os.path.exists(python) and subprocess.run([python, "-c", test], capture_output=True).returncode == 0:
            return python
    return None


class _Result(unittest.TextTestResult):
    def wasOnlySkipped(self):
        return 0 < len(self.skipped) >= self.testsRun  # a class that is skipped runs no test


def main():
    global TERRANE
    TERRANE = os.path.abspath(sys.argv.pop(1))
    program = unittest.main(module="__main__", exit=False, testRunner=unittest.TextTestRunner(resultclass=_Result))
    if program.result.wasOnlySkipped():
        sys.exit(77)
    sys.exit(not program.result.wasSuccessful())
