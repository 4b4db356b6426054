"""What the command does with nonsense, and with those who kill it: mutated jobs and files, hostile files, kills,
signals, damaged checkpoints, counted.

    python tests/cli/attack.py build/release/terrane --seconds 500 [--seed 1] [--jobs 2] [--record FILE]

Nothing may crash (end by a signal of its own), hang, or leave a file that is not whole; a job that was killed goes on
to the bytes of one that was not. The seed says which mutations and moments they are; how many, the seconds. The status
is 1 when anything of that was found, and it is told.
"""

import argparse
import gzip
import json
import os
import random
import resource
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import command
import contract
from command import SOURCE, CommandTest

#: Seconds of CPU after which a check, or reading a small file, hangs; and of the clock, for what waits and does nothing.
TOO_LONG = 30
WAITS_TOO_LONG = 600
ENVIRONMENT = {**os.environ, "SOURCE_DATE_EPOCH": "1700000000", "OMP_NUM_THREADS": "1"}
CHECKPOINTS = '\n[output]\nfiles = ["out.csv"]\ncheckpoint = "0.05 s"\n'
#: Runs of a second or so of all physics that keep checkpoints, by what makes their job of contract.py longer.
LONGER = {
    "heat": [("shape = [4, 4, 4]", "shape = [40, 40, 40]"), ('end = "60 day"', 'end = "40000 day"\nmethod = "implicit"'),
             ("step", "step")],
    "acoustic": [("shape = [50, 1, 21]", "shape = [250, 1, 105]"), ("at = [[100, 0, -200]]", "at = [" + ", ".join(
        f"[{10 * n}, 0, -200]" for n in range(2, 90, 3)) + "]"), ("end = 0.05", "end = 0.3")],
    "elastic": [("end = 0.1", "end = 12")],
    "electromagnetic": [("frequencies = [10]", "frequencies = [1, 2, 3, 5, 7, 10, 15, 20]"),
                        ("shape = [8, 8, 8]", "shape = [24, 24, 24]")],
    "magnetic": [("shape = [4, 4, 4]", "shape = [48, 48, 48]"),
                 ('file = "stations.csv"\nwindow = [0, 500, -1, 1]', "stations = [" + ", ".join(
                     f"[{n % 40 * 25}, {n // 40 * 25 - 500}, {n % 7}]" for n in range(1600)) + "]")],
}


class Attack:
    def __init__(self, terrane, folder, seed, seconds):
        self.terrane, self.folder, self.random = terrane, Path(folder), random.Random(seed)
        self.begin, self.seconds = time.monotonic(), seconds
        self.found, self.counts = [], {}
        (self.folder / "stations.csv").write_text(contract.STATIONS)

    def left(self, share):
        """Whether less than this share of the time is over."""
        return time.monotonic() < self.begin + share * self.seconds

    def run(self, *words, cwd=None, cpu=TOO_LONG):
        """(status, stdout, stderr); status None: it was still there after so long."""
        try:
            done = subprocess.run([self.terrane, *map(str, words)], cwd=cwd or self.folder, capture_output=True,
                                  timeout=WAITS_TOO_LONG, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 5)))
        except subprocess.TimeoutExpired:
            return None, "", ""
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return None, "", ""
        return done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace")

    def judge(self, what, counts, status, out, message):
        counts["cases"] += 1
        if status is None:
            counts["hangs"] += 1
            self.found.append(f"{what}: hangs")
        elif status < 0 or status not in (0, 1, 2):
            counts["crashes"] += 1
            self.found.append(f"{what}: ended with {status}\n{message[-500:]}")
        elif status == 0:
            counts["accepted"] += 1
        elif not message.startswith("terrane: "):
            counts["without words"] += 1
            self.found.append(f"{what}: says {message[:200]!r}")

    # ------------------------------------------------------------------------------------------- mutations

    def mutated_text(self, text):
        """A number, a word or a line of a text that is another."""
        lines = text.split("\n")
        kind, at = self.random.randrange(6), self.random.randrange(len(lines))
        if kind == 0:
            del lines[at]
        elif kind == 1:
            lines.insert(at, lines[self.random.randrange(len(lines))])
        elif kind == 2:
            lines[at] = lines[at][: self.random.randrange(len(lines[at]) + 1)]
        else:
            words = lines[at].split(" ")
            n = self.random.randrange(len(words))
            words[n] = self.random.choice(["-1", "0", "1e300", "nan", '"x"', "[]", "[1]", "1e-300", "true", "7", '"-5 km"',
                                           "[[0, 0, 0]]", "9999999999999999999", '""', words[n] * 2])
            lines[at] = " ".join(words)
        return "\n".join(lines)

    def mutated_bytes(self, data):
        data = bytearray(data)
        for _ in range(self.random.randint(1, 4)):
            at = self.random.randrange(len(data)) if data else 0
            kind = self.random.randrange(4)
            if kind == 0:
                del data[at:]
            elif kind == 1:
                data[at:at + 1] = bytes([self.random.randrange(256)])
            elif kind == 2:
                data[at:at] = data[at // 2:at]
            else:
                data[at:at + 4] = self.random.choice([b"\xff\xff\xff\x7f", b"\0\0\0\0", b"1e99", b"-1 -", b"\n\n\n\n"])
        return bytes(data[:1 << 20])

    def jobs(self, workers, share):
        """Mutated jobs of all physics: check, and run what is accepted and short."""
        counts = Counter()
        texts = [job + '\n[output]\nfiles = ["out.csv"]\n' for job in contract.JOBS.values()]

        def one(n, text, runs):
            folder = self.folder / f"job-{n}"
            folder.mkdir()
            shutil.copy(self.folder / "stations.csv", folder)
            (folder / "job.toml").write_text(text, encoding="utf-8")
            answer = self.run("check", "job.toml", cwd=folder)
            ran = self.run("run", "job.toml", cwd=folder, cpu=20) if runs and answer[0] == 0 else None
            # A mutated name of the results is a name, too, and none is no result.
            written = [path for path in folder.rglob("*.csv") if path.name != "stations.csv"]
            bad = ran is not None and ran[0] == 0 and any(
                "nan" in line.lower() for path in written for line in path.read_text(errors="replace").splitlines()
                if not line.startswith("#"))
            shutil.rmtree(folder)
            return text, answer, ran, bad

        with ThreadPoolExecutor(workers) as pool:
            n = 0
            while self.left(share):
                batch = [(n + k, self.mutated_text(self.random.choice(texts)), self.random.random() < 0.3) for k in range(32)]
                n += len(batch)
                for text, answer, ran, bad in pool.map(lambda task: one(*task), batch):
                    self.judge(f"job\n{text}\n", counts, *answer)
                    if answer[0] == 2 and "job.toml" not in answer[2].splitlines()[0]:
                        counts["refused without a line of the job"] += 1
                    if ran is not None:
                        counts["runs"] += 1
                        if ran[0] is None:
                            counts["runs cut after 20 s"] += 1
                        elif ran[0] < 0:
                            counts["crashes"] += 1
                            self.found.append(f"run\n{text}\nended with {ran[0]}")
                        elif ran[0] == 2:
                            counts["refused after check"] += 1
                    if bad:
                        counts["results with NaN"] += 1
        return counts

    def files(self, workers, share):
        """Mutated files of all formats: info and convert."""
        counts = Counter()
        seeds = [(path.suffix, path.read_bytes()) for path in sorted((SOURCE / "tests/fuzz/corpus").glob("*/*"))
                 if path.parent.name not in ("toml", "units", "checkpoint") and path.is_file()]

        def one(n, suffix, data):
            folder = self.folder / f"file-{n}"
            folder.mkdir()
            (folder / f"a{suffix}").write_bytes(data)
            answers = [self.run("info", f"a{suffix}", cwd=folder), self.run("convert", f"a{suffix}", "b.nc", cwd=folder)]
            left = [path.name for path in folder.iterdir() if ".tmp" in path.name]
            shutil.rmtree(folder)
            return suffix, answers, left

        with ThreadPoolExecutor(workers) as pool:
            n = 0
            while self.left(share):
                batch = []
                for _ in range(32):
                    suffix, data = self.random.choice(seeds)
                    batch.append((n, suffix, self.mutated_bytes(data)))
                    n += 1
                for suffix, answers, left in pool.map(lambda task: one(*task), batch):
                    for answer in answers:
                        self.judge(f"a mutated {suffix}", counts, *answer)
                    counts["left-overs"] += len(left)
        return counts

    # ---------------------------------------------------------------------------------------- hostile files

    def hostile(self, workers):
        """Bombs, cycles, devices, headers that promise too much."""
        counts, folder = Counter(), self.folder / "hostile"
        folder.mkdir()
        big = b"9999999999"
        files = {
            "twice.csv.gz": gzip.compress(gzip.compress(b"a,b\n1,2\n")),
            "bomb.csv.gz": gzip.compress(b"1,2,3\n" * 5_000_000, 9),
            "deep.toml": b"a = " + b"[" * 100_000,
            "deep.json": b'{"a":' * 100_000,
            "keys.json": b"{" + b",".join(b'"k%d":1' % n for n in range(200_000)) + b"}",
            "comments.csv": b"# x: y\n" * 500_000 + b"a,b\n1,2\n",
            "huge.asc": b"ncols " + big + b"\nnrows " + big + b"\nxllcorner 0\nyllcorner 0\ncellsize 1\n1 2\n",
            "huge.msh": big + b" " + big + b" " + big + b"\n0 0 0\n1e9*1\n1e9*1\n1e9*1\n",
            "huge.obs": big + b"\n0 0 0\n",
            "huge.npy": b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (999999999999,), }" +
                        b" " * 40 + b"\n",
            "huge.grd": b"DSBB" + struct.pack("<hh", 32767, 32767) + b"\0" * 60,
            "huge.tif": b"II*\0\x08\0\0\0\x02\0\0\x01\x04\0\x01\0\0\0\xff\xff\xff\x7f\x01\x01\x04\0\x01\0\0\0\xff\xff\xff\x7f"
                        b"\0\0\0\0",
            "line.csv": b"a,b\n" + b"1" * 5_000_000,
            "quotes.csv": b'"' * 100_000,
            "zeros.dat": b"\0" * 1_000_000,
            "new_lines.txt": b"\n" * 3_000_000,
            "empty.nc": b"", "empty.tif": b"", "empty.sgy": b"",
        }
        for name, data in files.items():
            (folder / name).write_bytes(data)
        os.mkfifo(folder / "pipe.csv")
        (folder / "circle.csv").symlink_to("circle.csv")
        (folder / "zero.csv").symlink_to("/dev/zero")
        (folder / "folder.csv").mkdir()
        inputs = SOURCE / "tests/fuzz/corpus/hdf5"
        for path in inputs.glob("*"):
            (folder / f"cut-{path.name}").write_bytes(path.read_bytes()[:-7])
        tries = []
        for path in sorted(folder.iterdir()):
            if path.name == "pipe.csv":  # nobody writes: whoever reads it waits, as any program does
                continue
            tries += [("info", path.name), ("convert", path.name, f"{path.name}.nc"), ("check", path.name)]
        with ThreadPoolExecutor(workers) as pool:
            for words, answer in zip(tries, pool.map(lambda words: self.run(*words, cwd=folder), tries)):
                self.judge(f"{words[0]} of {words[1]}", counts, *answer)
        shutil.rmtree(folder)
        return counts

    # ------------------------------------------------------------------------------------ kills and signals

    def long_run(self, physics):
        """A folder with a job of a second or so; its result when nobody disturbs it; its seconds."""
        folder = self.folder / physics
        folder.mkdir()
        shutil.copy(self.folder / "stations.csv", folder)
        text = contract.JOBS[physics]
        for old, new in LONGER[physics]:
            text = text.replace(old, new)
        (folder / "job.toml").write_text(text + CHECKPOINTS)
        begin = time.monotonic()
        status, _, message = self.run("run", "job.toml", cwd=folder, cpu=300)
        if status != 0:
            raise AssertionError(f"{physics}: {message}")
        whole = (folder / "output/out.csv").read_bytes()
        shutil.rmtree(folder / "output")
        return folder, whole, time.monotonic() - begin

    def stopped(self, folder, seconds, with_signal):
        """Starts the job, stops it at random; (whether it was still there, its status, seconds from the signal on)."""
        run = subprocess.Popen([self.terrane, "run", "--resume", "job.toml"], cwd=folder, env=ENVIRONMENT,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(self.random.uniform(0.05, seconds))
        there, begin = run.poll() is None, time.monotonic()
        if there:
            run.send_signal(with_signal)
        try:
            run.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            run.kill()
            run.communicate()
            self.found.append(f"{folder.name}: not stopped by {signal.Signals(with_signal).name}")
        return there, run.returncode, time.monotonic() - begin

    def goes_on(self, folder, whole, counts):
        """Whether the job goes on to the bytes of one that nobody stopped, and leaves nothing behind."""
        output = folder / "output"
        torn = output.exists() and (output / "out.csv").exists() and (output / "out.csv").read_bytes() != whole
        status, out, message = self.run("run", "--resume", "job.toml", cwd=folder, cpu=300)
        counts["chains"] += 1
        counts["resumed from a checkpoint"] += "resumed from" in out
        if torn or status != 0 or (output / "out.csv").read_bytes() != whole:
            counts["torn or other bytes"] += 1
            self.found.append(f"{folder.name}: another result after it was stopped: {message}")
        if left := [path.name for path in output.iterdir() if path.name != "out.csv"]:
            counts["left-overs"] += 1
            self.found.append(f"{folder.name}: left {left}")
        shutil.rmtree(output)

    def kills_and_signals(self, share):
        kills, signals, slowest = Counter(), Counter(), 0.0
        runs = [self.long_run(physics) for physics in LONGER]
        checkpoints = Counter()
        while self.left(share):
            folder, whole, seconds = self.random.choice(runs)
            for _ in range(self.random.randint(1, 3)):
                there, _, _ = self.stopped(folder, seconds, signal.SIGKILL)
                kills["kills"] += there
            self.damaged(folder, checkpoints)
            self.goes_on(folder, whole, kills)
            folder, whole, seconds = self.random.choice(runs)
            name = self.random.choice(["SIGINT", "SIGTERM", "SIGHUP"])
            there, status, took = self.stopped(folder, seconds, getattr(signal, name))
            if there:
                signals["signals"] += 1
                signals[f"{name} ended with {status}"] += 1
                slowest = max(slowest, took)
            self.goes_on(folder, whole, signals)
        signals["slowest, s"] = round(slowest, 2)
        return kills, signals, checkpoints

    def damaged(self, folder, counts):
        """The checkpoint, with a byte changed or an end cut off, is refused; then it is put back."""
        found = list((folder / "output").glob("*.checkpoint"))
        if not found:
            return
        data = found[0].read_bytes()
        bad = bytearray(data)
        if self.random.random() < 0.5:
            bad[self.random.randrange(len(bad))] ^= 1 << self.random.randrange(8)
        else:
            del bad[self.random.randrange(len(bad)):]
        found[0].write_bytes(bad)
        status, _, message = self.run("run", "--resume", "job.toml", cwd=folder, cpu=300)
        counts["damaged checkpoints"] += 1
        if status not in (1, 2) or "checkpoint" not in message:
            counts["damaged and taken"] += 1
            self.found.append(f"{folder.name}: a damaged checkpoint is taken: {status} {message}")
        found[0].write_bytes(data)


def attack(terrane, seconds, seed, workers):
    with tempfile.TemporaryDirectory(prefix="terrane-attack-") as scratch:
        one = Attack(terrane, Path(scratch).resolve(), seed, seconds)
        results = {"hostile files": one.hostile(workers)}
        results["mutated jobs"] = one.jobs(workers, 0.4)
        results["mutated files"] = one.files(workers, 0.65)
        results["kills"], results["signals"], results["damaged checkpoints"] = one.kills_and_signals(1)
        return {"seed": seed, "seconds": round(time.monotonic() - one.begin),
                "results": {name: dict(sorted(counts.items())) for name, counts in results.items()},
                "found": one.found}


class LongAttackTest(CommandTest):
    def test_NothingCrashesHangsOrIsTorn(self):
        done = attack(command.TERRANE, 400, int(os.environ.get("TERRANE_SEED", "1")), 2)
        print(json.dumps(done["results"], indent=1))
        self.assertEqual(done["found"], [])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("terrane")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2, help="so many at a time")
    parser.add_argument("--record", help="JSON file for the counts")
    options = parser.parse_args()
    terrane = os.path.abspath(options.terrane)
    done = attack(terrane, options.seconds, options.seed, options.jobs)
    said = subprocess.run([terrane, "--version"], capture_output=True, text=True).stdout.strip()
    record = {"date": time.strftime("%Y-%m-%d"), "program": said, "cores": os.cpu_count(), **done}
    print(json.dumps(record, indent=1))
    if options.record:
        Path(options.record).write_text(json.dumps(record, indent=1) + "\n")
    sys.exit(bool(done["found"]))


if __name__ == "__main__":
    main() if "--seconds" in sys.argv else command.main()
