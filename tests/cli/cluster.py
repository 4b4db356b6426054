"""The command on several ranks, and runs that are killed and go on."""

import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

import command
from command import JOB, CommandTest

#: Takes most of a second on one thread, and no two of its blocks merge. A GPU would be done before anybody can kill it.
LONG_JOB = """\
[mesh]
kind = "random"
shape = [30, 30, 20]
widths = ["100 m", "500 m"]

[survey]
region = [0, 9, 0, 9, "km"]
shape = [60, 60]
height = 50

[simulation]
channels = ["all"]
method = "direct"
device = "cpu"
threads = 1

[output]
files = ["fields.npy"]
checkpoint = "0.05 s"
"""

#: Twenty times that: nobody waits for its end.
LONGER = ("--set", "survey.shape=[330, 300]")

#: Runs whose first mesh does not keep the accuracy.
REFINED_ARRAYS = """\
[mesh]
kind = "tensor"
origin = [-110, -110, -100]
easting_widths = [50, 25, 12.5, "9*5", 12.5, 25, 50]
northing_widths = [50, 25, 12.5, "9*5", 12.5, 25, 50]
up_widths = [50, 25, 10, "3*5"]
[model.background]
resistivity = 100
[[model.body]]
kind = "box"
box = [-17.5, 7.5, -9e4, 9e4, -10, 0]
resistivity = 20
[survey]
kind = "line"
start = [-22.5, 0]
electrodes = 10
spacing = 5
levels = 3
array = "wenner"
[simulation]
physics = "electric"
verify = "refine"
accuracy = 0.05
threads = 1
[output]
files = ["data.csv"]
"""
REFINED_SITE = """\
[model.background]
resistivity = 100
[[model.body]]
kind = "layer"
bottom = 0
top = 1e6
resistivity = 1e8
[[model.body]]
kind = "layer"
bottom = -1200
top = -400
resistivity = 5
[source]
kind = "plane_wave"
[survey]
kind = "list"
stations = [[0, 0, 0]]
[simulation]
physics = "electromagnetic"
frequencies = [10]
responses = ["impedance"]
verify = "refine"
accuracy = 0.01
min_width_pps = 1
threads = 1
[output]
files = ["data.csv"]
"""

#: Seconds from Ctrl-C to the end of all ranks on a busy machine; some 2 s on an idle one, half of them mpirun's own.
SOON = 10

#: A mesh that takes long to paint.
PAINTED = """box = [0, 9, 0, 9, -3, 0, "km"]
shape = [900, 900, 120]

[[model.body]]
kind = "sphere"
centre = [5, 5, -1.5, "km"]
radius = "1400 m"
density = 400"""

#: Several ranks on few cores, also where there is nobody but root.
RANKS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
         "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
         "LSAN_OPTIONS": "detect_leaks=0"}  # the library leaves memory behind


def time_of(file):
    """When it was written; None where it is not."""
    try:
        return file.stat().st_mtime_ns
    except FileNotFoundError:
        return None


class ClusterTest(CommandTest):
    def start(self, *words, ranks=0):
        """The command in the scratch folder, as a process; under mpirun when there are ranks."""
        launcher = ["mpirun", "-n", str(ranks)] if ranks else []
        return subprocess.Popen([*launcher, command.TERRANE, *map(str, words)], cwd=self.folder, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, **RANKS})

    def finish(self, process, expect=0):
        out, message = process.communicate(timeout=300)
        self.assertEqual(process.returncode, expect, out + message)
        return out, message

    def run_on(self, ranks, *words, expect=0):
        return self.finish(self.start(*words, ranks=ranks), expect)

    def needs_mpi(self):
        out, _ = self.terrane("devices")
        if shutil.which("mpirun") is None or "mpi\n  not in this build" in out:
            self.skipTest("needs MPI")

    def process_of_rank(self, rank, run):
        """Waits for the process that is this rank of a run in the scratch folder; none when the run has ended."""
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if run.poll() is not None:
                return None
            for folder in Path("/proc").glob("[0-9]*"):
                try:
                    if Path(os.readlink(folder / "cwd")) != self.folder.resolve():
                        continue
                    environment = (folder / "environ").read_bytes().split(b"\0")
                    if f"OMPI_COMM_WORLD_RANK={rank}".encode() in environment:
                        return int(folder.name)
                except OSError:
                    continue
            time.sleep(0.01)
        self.fail(f"no process is rank {rank}")

    @staticmethod
    def has_ended(process):
        """Also where nobody asks for its status: what mpirun leaves behind goes to a first process that may not."""
        try:
            return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
        except OSError:
            return True

    def end(self, process):
        if not self.has_ended(process):
            os.kill(process, signal.SIGKILL)

    def bytes_of_whole_run(self):
        """The result of the job when nobody disturbs it, and the seconds it takes."""
        self.write("job.toml", LONG_JOB)
        begin = time.monotonic()
        self.terrane("run", "job.toml", "--output", "whole", "--set", "output.checkpoint=never")
        return (self.folder / "whole/fields.npy").read_bytes(), time.monotonic() - begin


#: Nine shots, each some tenths of a second.
SHOTS = """\
[mesh]
kind = "regular"
box = [0, 2400, -5, 5, -1000, 0]
shape = [240, 1, 100]

[[model.body]]
kind = "layer"
bottom = -1000
top = 0
velocity_p = 2000

[survey]
kind = "lines"
start = [50, 0]
end = [2350, 0]
spacing = 20
height = -10

[source]
first = [200, 0, -10]
last = [2200, 0, -10]
count = 9
frequency = "14 Hz"

[simulation]
physics = "acoustic"
end = "2 s"
threads = 1

[output]
files = ["gathers.npy"]
checkpoint = "0 s"
"""


class LostRanks(ClusterTest):
    def test_CostOnlyTheShotsThatTheyWereAt(self):
        self.needs_mpi()
        self.write("job.toml", SHOTS)
        self.terrane("run", "job.toml", "--output", "whole", "--set", "output.checkpoint=never")
        checkpoint = self.folder / "output/gathers.npy.checkpoint"
        parts = self.folder / "output/gathers.npy.checkpoint.parts"
        run = self.start("run", "job.toml", ranks=3)
        until = time.monotonic() + 60
        while not checkpoint.exists() and time.monotonic() < until:
            time.sleep(0.005)
        # One rank stands still; the others come to the end of their shots of this round and wait for it.
        victim = self.process_of_rank(1, run)
        self.assertIsNotNone(victim, "the run ended by itself")
        self.addCleanup(self.end, victim)
        os.kill(victim, signal.SIGSTOP)
        before, there = -1, 0
        while (there < 2 or there != before) and time.monotonic() < until:
            time.sleep(0.5)
            before, there = there, len(list(parts.glob("shot-*")))
        os.kill(victim, signal.SIGKILL)
        out, message = run.communicate(timeout=120)
        self.assertNotEqual(run.returncode, 0, out + message)
        kept = len(list(parts.glob("shot-*")))
        self.assertIn(kept, (2, 3))
        out, _ = self.run_on(3, "run", "job.toml", "--resume")
        self.assertRegex(out, "resumed from .*gathers.npy.checkpoint, with [3-6] of 9 shots done")
        self.assertIn(f"{kept} shots were kept by the run that was interrupted", " ".join(out.split()))
        self.assertEqual((self.folder / "output/gathers.npy").read_bytes(),
                         (self.folder / "whole/gathers.npy").read_bytes())
        self.assertEqual([path.name for path in (self.folder / "output").iterdir()], ["gathers.npy"])

    def test_OfAKilledMpirunEndByThemselvesAndTheRunGoesOn(self):
        self.needs_mpi()
        self.write("job.toml", SHOTS)
        # The kernel wakes what stands still when its group has lost its parent, with SIGHUP: a rank goes on for the
        # second that rank 0 may need for a checkpoint. The run is to be longer than that.
        few = ("--set", "simulation.end=10 s")
        self.terrane("run", "job.toml", *few, "--output", "whole", "--set", "output.checkpoint=never")
        checkpoint = self.folder / "output/gathers.npy.checkpoint"
        run = self.start("run", "job.toml", *few, ranks=2)
        until = time.monotonic() + 120
        ranks = [self.process_of_rank(n, run) for n in range(2)]
        self.assertTrue(all(ranks), "the run ended by itself")
        for rank in ranks:
            self.addCleanup(self.end, rank)
        while not checkpoint.exists() and run.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        self.assertTrue(checkpoint.exists() and not self.has_ended(ranks[1]), "there was no checkpoint to stop at")
        os.kill(ranks[1], signal.SIGSTOP)  # so that the run does not come to its end before
        run.kill()
        for rank in ranks:
            if rank == ranks[1]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rank, signal.SIGCONT)
            while not self.has_ended(rank) and time.monotonic() < until:
                time.sleep(0.02)
            self.assertTrue(self.has_ended(rank), "a rank outlives mpirun")
        run.communicate(timeout=60)
        out, _ = self.terrane("run", "job.toml", *few, "--resume")
        self.assertRegex(out, "resumed from .*gathers.npy.checkpoint, with [1-8] of 9 shots done")
        self.assertEqual((self.folder / "output/gathers.npy").read_bytes(),
                         (self.folder / "whole/gathers.npy").read_bytes())
        self.assertEqual([path.name for path in (self.folder / "output").iterdir()], ["gathers.npy"])


class KilledRuns(ClusterTest):
    def kill_and_resume(self, seed, ranks, least):
        """Kills so many runs at random moments after their first checkpoint, ranks(attempt) processes at a time; then
        one goes on from them to its end."""
        whole, seconds = self.bytes_of_whole_run()
        moments = random.Random(seed)
        kills = 0
        result, checkpoint = self.folder / "output/fields.npy", self.folder / "output/fields.npy.checkpoint"
        for attempt in range(100):
            count = ranks(attempt)
            to_its_end = kills >= least and checkpoint.exists()
            before = time_of(checkpoint)
            process = self.start("run", "job.toml", "--resume", ranks=count)
            if not to_its_end:
                while process.poll() is None and time_of(checkpoint) == before:
                    time.sleep(0.002)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(timeout=seconds * moments.uniform(0, 0.3))
                victim = self.process_of_rank(0, process) if count else process.pid
                if victim is not None:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(victim, signal.SIGKILL)
            out, message = process.communicate(timeout=120)
            if result.exists():  # also when it was killed between its last file and its end
                self.assertEqual(result.read_bytes(), whole)
                if process.returncode == 0:
                    self.assertEqual([p.name for p in result.parent.iterdir()], ["fields.npy"])
                result.unlink()
            if process.returncode != 0:
                kills += 1
                self.assertFalse(to_its_end, out + message)
            elif to_its_end:
                self.assertIn("resumed from", out)
                return
        self.fail(f"no run of a hundred went on from another to its end\n{out}{message}")

    def test_GoOnWithTheSameBits(self):
        self.kill_and_resume(1, lambda attempt: 0, 4)

    def test_GoOnWithTheSameBitsOnOtherNumbersOfRanks(self):
        self.needs_mpi()
        self.kill_and_resume(2, lambda attempt: (2, 3, 1)[attempt % 3], 2)

    def test_LeaveACheckpointThatOtherJobsDoNotTake(self):
        _, seconds = self.bytes_of_whole_run()
        checkpoint = self.folder / "output/fields.npy.checkpoint"
        process = self.start("run", "job.toml")
        until = time.monotonic() + 60 * seconds
        while not checkpoint.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.01)
        process.kill()
        self.finish(process, expect=-signal.SIGKILL)
        kept = checkpoint.read_bytes()
        _, message = self.terrane("run", "job.toml", "--resume", "--set", "simulation.accuracy=1e-9", expect=2)
        for piece in ("fields.npy.checkpoint was made with accuracy 1e-12; this run has 1e-09", "without --resume"):
            self.assertIn(piece, message)
        self.assertEqual(checkpoint.read_bytes(), kept)
        _, message = self.terrane("run", "job.toml", "--set", "output.checkpoint=never", "--quiet")
        self.assertIn("--resume goes on from it", message)
        self.assertFalse(checkpoint.exists(), "it is of no use once there are results")

    def test_ResumeWithoutACheckpointStartsAfreshAndSaysSo(self):
        self.write("job.toml", JOB)
        _, message = self.terrane("run", "job.toml", "--resume")
        self.assertIn("there is no checkpoint", message)
        self.assertTrue((self.folder / "output/fields.csv").is_file())

    def test_IntervalsAreTimes(self):
        for text in ("soon", "5", "-1 s", "5 parsecs"):
            self.refused(JOB + f'checkpoint = "{text}"\n', "output.checkpoint", f'"{text}" is not a time', '"5 min"')


class Ranks(ClusterTest):
    def setUp(self):
        super().setUp()
        self.needs_mpi()

    def test_DoNotChangeABitOfAnyFile(self):
        whole, _ = self.bytes_of_whole_run()
        for ranks in (2, 5):
            out, _ = self.run_on(ranks, "run", "job.toml", "--output", f"on{ranks}")
            self.assertEqual((self.folder / f"on{ranks}/fields.npy").read_bytes(), whole, f"{ranks} ranks")
            self.assertEqual(out.count("computed"), 1)
        self.assertIn("5 ranks by stations", out)

    def test_ComplainOnceOfAJobThatIsWrong(self):
        self.write("job.toml", JOB.replace("region", "regoin"))
        _, message = self.run_on(3, "run", "job.toml", expect=2)
        self.assertEqual(message.count("regoin"), 1, message)
        self.assertFalse((self.folder / "output").exists())

    def test_RefineToTheBitsOfOneProcessAndOfTheDebugDevice(self):
        for text, ranks in ((REFINED_ARRAYS, 2), (REFINED_SITE, 3)):
            self.write("job.toml", text)
            files = []
            for where, device in ((0, "cpu"), (0, "debug"), (ranks, "cpu")):
                out, _ = self.run_on(where, "run", "job.toml", "--set", f"simulation.device={device}")
                rounds = re.search("refined .*: (.*);", out)[1]
                self.assertIn(", ", rounds)  # there is a second mesh
                lines = (self.folder / "output/data.csv").read_text(encoding="utf-8").splitlines()
                files.append((rounds, [line for line in lines if not line.startswith("#")]))
            self.assertEqual(files[1], files[0])
            self.assertEqual(files[2], files[0], f"{ranks} ranks")

    def test_OtherVerbsRunOnce(self):
        self.write("job.toml", JOB)
        out, _ = self.run_on(3, "check", "job.toml")
        self.assertEqual(out.count("the job is sound"), 1)

    def test_AreForetoldTheMemoryOfAllOnTheirMachine(self):
        """Where each has shots of its own, it has a whole medium of its own."""
        self.needs_mpi()
        times = SHOTS.replace('frequency = "14 Hz"\n', "").replace('end = "2 s"\n', "").replace('"acoustic"', '"traveltime"')
        times = times.replace('files = ["gathers.npy"]\ncheckpoint = "0 s"', 'files = ["times.csv"]')
        for job in (SHOTS.replace('end = "2 s"', 'end = "0.1 s"'), times):
            self.write("job.toml", job.replace("shape = [240, 1, 100]", "shape = [2400, 1, 1000]"))
            outs = [self.run_on(ranks, "check", "job.toml", "--json")[0] for ranks in (0, 3)]
            one, three = (json.loads(out)["memory_bytes"] for out in outs)
            self.assertGreater(three, 2.4 * one)
            self.assertLess(three, 3.2 * one)

    def test_FindModelsTogetherWithTheBitsOfOneProcessAndTheMemoryOfAllCounted(self):
        self.needs_mpi()
        example = command.SOURCE / "examples/26_joint/job.toml"
        memory = []
        for ranks in (0, 2):
            out, _ = self.run_on(ranks, "check", example)
            memory.append(float(re.search(r"in all: .* ([\d.]+) GB", out).group(1)))
            self.run_on(ranks, "invert", example, "-q", "--output", self.folder / f"on_{ranks}", "--set",
                        "joint.most_rounds=1", "--set", "inversion.resistivity.most_steps=1")
        self.assertGreater(memory[1], memory[0])
        for name in ("gravity.csv", "magnetic.csv", "resistivity.csv"):
            one, two = ([line for line in (self.folder / f"on_{ranks}" / name).read_text(encoding="utf-8").splitlines()
                         if not line.startswith("#")] for ranks in (0, 2))
            self.assertEqual(one, two)

    def test_ThatFailEndTheRunWithTheirError(self):
        if "plain" in self.terrane("devices")[0] or os.environ.get("TERRANE_SIMD"):
            self.skipTest("needs two instruction sets")
        self.write("job.toml", JOB)
        program = [command.TERRANE, "run", "job.toml"]
        plain = subprocess.run(program, cwd=self.folder, capture_output=True, env={**os.environ, "TERRANE_SIMD": "plain"})
        if plain.returncode != 0:
            self.skipTest("this build has kernels for this CPU alone")
        shutil.rmtree(self.folder / "output")
        done = subprocess.run(["mpirun", "-n", "1", *program, ":", "-n", "2", "-x", "TERRANE_SIMD=plain", *program],
                              cwd=self.folder, capture_output=True, text=True, timeout=120,
                              env={**os.environ, **RANKS})
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("terrane: rank 1: run: this CPU runs plain; that of rank 0", done.stderr)
        self.assertEqual(done.stderr.count("this CPU runs"), 1, done.stderr)
        self.assertEqual(list((self.folder / "output").iterdir()), [])

    def test_ThatAreKilledEndTheRunAndLeaveNoFile(self):
        _, seconds = self.bytes_of_whole_run()
        process = self.start("run", "job.toml", *LONGER, ranks=3)
        victim = self.process_of_rank(2, process)
        time.sleep(seconds / 4)
        os.kill(victim, signal.SIGKILL)
        process.communicate(timeout=120)
        self.assertNotEqual(process.returncode, 0)
        self.assertFalse((self.folder / "output/fields.npy").exists())

    def interrupt(self, words, come_so_far, victim=lambda process, ranks: process.pid):
        """Interrupts a run on three ranks; what it says, and its seconds from then to the end of all of them."""
        process = self.start("run", "job.toml", *words, ranks=3)
        ranks = [self.process_of_rank(rank, process) for rank in range(3)]
        come_so_far()
        begin = time.monotonic()
        os.kill(victim(process, ranks), signal.SIGINT)
        _, message = process.communicate(timeout=120)
        while any(Path(f"/proc/{pid}").exists() for pid in ranks) and time.monotonic() < begin + 60:
            time.sleep(0.05)
        for rank, pid in enumerate(ranks):
            self.assertFalse(Path(f"/proc/{pid}").exists(), f"rank {rank} goes on")
        self.assertNotEqual(process.returncode, 0)
        self.assertFalse((self.folder / "output/fields.npy").exists())
        self.assertEqual(message.count("terrane: run: interrupted"), 1, message)
        return process, message, time.monotonic() - begin

    def wait_for(self, file):
        until = time.monotonic() + 60
        while not file.exists() and time.monotonic() < until:
            time.sleep(0.005)
        self.assertTrue(file.exists())

    def test_EndWithOneWordWhenMpirunIsInterrupted(self):
        _, seconds = self.bytes_of_whole_run()
        checkpoint = self.folder / "output/fields.npy.checkpoint"
        _, message, took = self.interrupt(LONGER, lambda: self.wait_for(checkpoint))
        self.assertLess(took, SOON)
        self.assertIn("output/fields.npy.checkpoint keeps what is done", message)
        self.assertTrue(checkpoint.exists())

    def test_EndWithStatus130WhenTheFirstIsInterrupted(self):
        self.write("job.toml", LONG_JOB)
        checkpoint = self.folder / "output/fields.npy.checkpoint"
        process, _, took = self.interrupt(LONGER, lambda: self.wait_for(checkpoint), lambda process, ranks: ranks[0])
        self.assertEqual(process.returncode, 130)
        self.assertLess(took, SOON)

    def test_EndSoonWhileTheModelIsPainted(self):
        self.write("job.toml", LONG_JOB.replace('kind = "random"\nshape = [30, 30, 20]\nwidths = ["100 m", "500 m"]', PAINTED))
        _, _, took = self.interrupt((), lambda: time.sleep(1))
        self.assertLess(took, SOON)


if __name__ == "__main__":
    command.main()
