"""Runs that are killed at random moments and go on: over methods, ranks, formats and phases.

    python tests/cli/kills.py build/release/terrane --count 1000 [--seed 1] [--jobs N] [--no-ranks] [--record FILE]

After every kill a file of results is whole or not there, and no file of the user has changed. Every chain of killed
runs ends with one that is left alone: it goes on, has the bytes of a run that nobody disturbed, and leaves nothing
else behind. The seed and the number of a run say which it was; jobs have seeds of their own, one after the other.
"""

import argparse
import json
import os
import platform
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import command
from command import CommandTest

#: A second or so on one thread each.
JOBS = {
    "direct": """\
[mesh]
kind = "random"
shape = [24, 24, 16]
widths = ["100 m", "500 m"]
[survey]
region = [0, 7, 0, 7, "km"]
shape = [90, 80]
height = 50
[simulation]
method = "direct"
channels = ["all"]
""",
    "tree": """\
[mesh]
kind = "random"
shape = [40, 40, 30]
widths = ["100 m", "500 m"]
[survey]
region = [0, 9, 0, 9, "km"]
shape = [60, 50]
height = 50
[simulation]
method = "tree"
accuracy = 1e-7
channels = ["g_u", "g_uu", "g_en"]
""",
    "lattice": """\
[mesh]
box = [0, 12, 0, 12, -4, 0, "km"]
shape = [60, 60, 20]
[[model.body]]
kind = "sphere"
centre = [5, 6, -2, "km"]
radius = "1700 m"
density = 400
[survey]
region = [0.1, 11.9, 0.1, 11.9, "km"]
shape = [60, 60]
height = 50
[simulation]
method = "lattice"
channels = ["all"]
""",
}
FORMATS = ("fields.npy", "fields.nc", "fields.csv", "fields.vts")

#: Several ranks on few cores, also where there is nobody but root; the same date in every file.
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "OMP_NUM_THREADS": "1",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
               "OMPI_MCA_rmaps_base_oversubscribe": "1", "OMPI_MCA_hwloc_base_binding_policy": "none",
               "LSAN_OPTIONS": "detect_leaks=0"}


class Case:
    """One method and its files, and what a run that nobody disturbs makes of them."""

    def __init__(self, terrane, folder, method, formats):
        self.terrane, self.folder, self.method, self.formats = terrane, folder, method, formats
        names = ", ".join(f'"{name}"' for name in formats)
        # A GPU would be done before anybody can kill it.
        self.job = JOBS[method] + f'device = "cpu"\nthreads = 1\n[output]\nfiles = [{names}]\ncheckpoint = "0.02 s"\n'
        self.output = folder / "output"
        folder.mkdir()
        self.write_job()
        self.whole = {}  # by ranks, which a file names
        self.seconds = {}
        self.undisturbed(0)

    def write_job(self):
        (self.folder / "job.toml").write_text(self.job)

    def undisturbed(self, ranks):
        """The bytes of every file when nobody disturbs the run."""
        if ranks not in self.whole:
            aside = self.folder.with_name(self.folder.name + f"-{ranks}-ranks")
            aside.mkdir()
            (aside / "job.toml").write_text(self.job)
            begin = time.monotonic()
            subprocess.run(self.command(ranks), cwd=aside, env=ENVIRONMENT, check=True, capture_output=True)
            self.seconds[ranks] = time.monotonic() - begin
            self.whole[ranks] = {name: (aside / "output" / name).read_bytes() for name in self.formats}
            shutil.rmtree(aside)
        return self.whole[ranks]

    def command(self, ranks):
        launcher = ["mpirun", "-n", str(ranks)] if ranks else []
        return [*launcher, self.terrane, "run", "job.toml", "--resume"]

    def start(self, ranks):
        return subprocess.Popen(self.command(ranks), cwd=self.folder, env=ENVIRONMENT, text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def victims(self, run, ranks):
        """Processes of the run: the command itself, or the ranks below mpirun."""
        if not ranks:
            return [run.pid]
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                if Path(os.readlink(folder / "cwd")) == self.folder and \
                        b"OMPI_COMM_WORLD_RANK=" in (folder / "environ").read_bytes():
                    found.append(int(folder.name))
            except OSError:
                continue
        return found

    def check_files(self, ranks):
        """What is there is whole, of this run or of one before."""
        if (self.folder / "job.toml").read_text() != self.job:
            raise AssertionError("the job file has changed")
        self.undisturbed(ranks)
        for name in self.formats:
            path = self.output / name
            if path.exists() and path.read_bytes() not in [whole[name] for whole in self.whole.values()]:
                raise AssertionError(f"{name} is neither whole nor absent")

    def finish(self):
        """A run that is left alone; what it says."""
        run = self.start(0)
        out, message = run.communicate(timeout=600)
        if run.returncode != 0:
            raise AssertionError(f"a run that was left alone ended with {run.returncode}\n{out}{message}")
        self.check_files(0)
        left = sorted(path.name for path in self.output.iterdir())
        if left != sorted(self.formats):
            raise AssertionError(f"files that are left: {left}")
        shutil.rmtree(self.output)
        return out


def wait_for_phase(phase, case, run, moments, seconds):
    """Waits for a moment of the phase; returns when it has come or the run has ended."""
    until = time.monotonic() + 20 * seconds + 20
    if phase == "anywhere":
        until = time.monotonic() + seconds * moments.uniform(0, 1.2)
    while run.poll() is None and time.monotonic() < until:
        if phase == "writing":  # the first temporary file, of a checkpoint or a result
            if any(case.output.glob(".*.tmp")):
                break
        elif phase == "after a checkpoint":
            if any(case.output.glob("*.checkpoint")):
                time.sleep(moments.uniform(0, 0.3 * seconds))
                break
        elif phase == "results":
            if any((case.output / name).exists() for name in case.formats):
                break
        time.sleep(0.0005)


def kill_once(case, moments, ranks, phase):
    """Starts a run, kills it; whether it was still there."""
    case.undisturbed(ranks)
    run, seconds = case.start(ranks), case.seconds[ranks]
    wait_for_phase(phase, case, run, moments, seconds)
    victims = case.victims(run, ranks) if run.poll() is None else []
    if victims:
        try:
            os.kill(moments.choice(sorted(victims)), signal.SIGKILL)
        except ProcessLookupError:
            victims = []
    out, message = run.communicate(timeout=600)
    case.check_files(ranks)
    if run.returncode == 0:
        victims = []
        case.seconds[ranks] *= 0.9
        for name in case.formats:
            if not (case.output / name).exists():
                raise AssertionError(f"a run that ended well has not written {name}\n{out}{message}")
        shutil.rmtree(case.output, ignore_errors=True)
    return bool(victims)


def kill_many(terrane, count, seed, with_ranks, limit=float("inf")):
    """Kills so many runs, or as many as there is time for (limit: seconds); what was done. Raises AssertionError that
    says which run of the seed it was."""
    moments = random.Random(seed)
    begin, kills, runs, counts, resumed = time.monotonic(), 0, 0, Counter(), 0
    with tempfile.TemporaryDirectory(prefix="terrane-kills-") as scratch:
        cases = [Case(terrane, Path(scratch).resolve() / f"{method}-{n}", method, formats)
                 for method in JOBS for n, formats in enumerate((FORMATS[:1], FORMATS[1:]))]
        while kills < count and time.monotonic() < begin + limit:
            case = moments.choice(cases)
            try:
                for _ in range(moments.randint(1, 4)):
                    ranks = moments.choice((0, 0, 2, 3)) if with_ranks else 0
                    phase = moments.choice(("anywhere", "anywhere", "writing", "after a checkpoint", "results"))
                    runs += 1
                    if kill_once(case, moments, ranks, phase):
                        kills += 1
                        for what in (case.method, f"{ranks} ranks", phase, *case.formats):
                            counts[what] += 1
                resumed += "resumed from" in case.finish()
            except AssertionError as error:
                raise AssertionError(f"run {runs} of seed {seed}, {case.method} into {', '.join(case.formats)}: "
                                     f"{error}") from None
    return {"kills": kills, "runs": runs, "went_on_to_the_end": resumed, "seed": seed,
            "seconds": round(time.monotonic() - begin), "of": dict(sorted(counts.items()))}


def kill_side_by_side(terrane, count, seed, with_ranks, jobs, limit=float("inf")):
    """The same by several processes, each with its share, its folder and its seed."""
    shares = [count * (job + 1) // jobs - count * job // jobs for job in range(jobs)]
    with ProcessPoolExecutor(jobs) as pool:
        parts = [pool.submit(kill_many, terrane, share, seed + job, with_ranks, limit)
                 for job, share in enumerate(shares)]
        done = [part.result() for part in parts]
    total = {name: sum(part[name] for part in done) for name in ("kills", "runs", "went_on_to_the_end")}
    counts = sum((Counter(part["of"]) for part in done), Counter())
    return {**total, "seed": seed, "jobs": jobs, "seconds": max(part["seconds"] for part in done),
            "of": dict(sorted(counts.items()))}


def has_ranks(terrane):
    out = subprocess.run([terrane, "devices"], capture_output=True, text=True, env=ENVIRONMENT).stdout
    return shutil.which("mpirun") is not None and "mpi\n  not in this build" not in out


class KillsAnywhere(CommandTest):
    def test_LeaveWholeFilesAndGoOnWithTheSameBits(self):
        print(json.dumps(kill_many(command.TERRANE, 3, 7, False)))


class LongKills(CommandTest):
    def test_AThousandLeaveWholeFilesAndGoOnWithTheSameBits(self):
        count = int(os.environ.get("TERRANE_KILLS", "1000"))
        jobs = max(1, (os.cpu_count() or 1) // 2)
        record = kill_side_by_side(command.TERRANE, count, 1, has_ranks(command.TERRANE), jobs)
        print(json.dumps(record, indent=2))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("terrane")
    parser.add_argument("--count", type=int, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin none after that")
    parser.add_argument("--record", help="JSON file for the counts")
    parser.add_argument("--no-ranks", action="store_true")
    options = parser.parse_args()
    terrane = os.path.abspath(options.terrane)
    with_ranks = has_ranks(terrane) and not options.no_ranks
    record = kill_side_by_side(terrane, options.count, options.seed, with_ranks, options.jobs, options.seconds)
    said = subprocess.run([terrane, "--version"], capture_output=True, text=True).stdout.strip()
    record = {"date": time.strftime("%Y-%m-%d"), "program": said, "machine": platform.processor() or platform.machine(),
              "cores": os.cpu_count(), **record}
    print(json.dumps(record, indent=2))
    if options.record:
        Path(options.record).write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main() if "--count" in sys.argv else command.main()
