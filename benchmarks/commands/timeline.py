#!/usr/bin/env python3
"""What a user waits for: time lines of whole commands, for jobs of every physics and inversion.

    benchmarks/commands/timeline.py TERRANE [--device cpu] [--ranks 1 ...] [--large] [--scale 1] [--jobs WORD ...]
                                    [--stacks]

runs each job and looks at it every 50 ms: which threads of the process run or are ready to (/proc/PID/task/*/stat), and,
with --device cuda, whether the GPU is busy (nvidia-smi). Prints JSON with, for each job,
    wall, cpu            seconds of the command, and of all its threads
    none, one, several   seconds in which no, one or several threads were running: one is a stage that is serial
    gpu                  seconds in which GPUs were busy, one a rank: utilization.gpu of nvidia-smi, times wall
    longest_serial       the longest stretch of one thread, s, and when it began
    peak_MB              of memory
--scale: cells along each axis, times this. --large: jobs that take a GPU seconds. --ranks: of mpirun, threads and memory
those of all ranks together; with several numbers each job runs on each of them, and
    times_as_fast        wall of the first number of ranks, over that of each
    same_bits            whether all wrote the same results
--stacks: where the one thread was, by `eu-stack` or `gdb`, once in each
stretch of half a second (slows the run). A machine that others load tells less: threads that are ready count as running.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "cli"))
import memory as jobs  # noqa: E402  what makes jobs of every kind

STEP = 0.05


def sized(scale):
    """Jobs that take a few seconds of one core each, at scale 1."""
    def z(*cells):
        return [1 if count == 1 else max(2, round(scale * count)) for count in cells]
    return {
        "gravity_direct": jobs.gravity(z(140, 140, 100), (60, 60), method="direct", accuracy=1e-6),
        "gravity_tree": jobs.gravity(z(160, 160, 100), (200, 200), rock="random", method="tree", accuracy=1e-6),
        "gravity_lattice": jobs.gravity(z(200, 200, 80), (201, 201), method="lattice", channels=["all"]),
        "magnetic": jobs.magnetic(z(160, 160, 100), (100, 100)),
        "acoustic": jobs.acoustic(z(200, 200, 160), 40),
        "acoustic_gathers": jobs.acoustic(z(300, 1, 200), 1500, 8, 300),
        "tti": jobs.acoustic(z(110, 110, 90), 12, equation="tti"),
        "migration": jobs.acoustic(z(140, 140, 100), 30, kind="migration", smoothing=60),
        "elastic": jobs.elastic(z(36, 36, 28), 10),
        "elastic_matched": jobs.elastic(z(26, 26, 20), 10, boundary="pml"),
        "heat": jobs.heat(z(130, 130, 110), "implicit", 3),
        "electric": jobs.electric(z(90, 50, 44), 1.2),
        "electromagnetic": jobs.electromagnetic(z(24, 24, 18), 1.3),
        "magnetotelluric": jobs.electromagnetic(z(20, 20, 14), 1.3, source="plane_wave"),
        "invert_gravity": jobs.inversion("gravity", z(120, 120, 40), (40, 40)),
        "invert_magnetic": jobs.inversion("magnetic", z(50, 50, 20), (22, 22), storage="single"),
        "invert_waveforms": jobs.waveforms(z(200, 1, 120), 300),
    }


EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def large(scale):
    """Jobs that take a GPU seconds; the wall time of most was measured before their set-up ran on all threads."""
    def z(*cells):
        return [max(2, round(scale * count)) for count in cells]
    fields = jobs.electromagnetic(z(55, 55, 55), 1.3, frequencies=[0.25, 0.5, 1, 2])
    source = "[[source]]\n" + jobs.keys(kind="dipole", at=[-500, 30, -100], azimuth=90)
    sources = "".join(source.replace("-500", str(-800 + 100 * k)) for k in range(16))
    return {
        "acoustic_320": jobs.acoustic(z(320, 320, 320), 615, receivers=10000),
        "acoustic_640": jobs.acoustic(z(640, 640, 640), 615, receivers=10000),
        "migration_320": jobs.acoustic(z(320, 320, 320), 615, receivers=10000, kind="migration", smoothing=200),
        "elastic_64": jobs.elastic(z(64, 64, 64), 2150),  # 4,515 steps
        "elastic_100": jobs.elastic(z(100, 100, 100), 2150),
        "electromagnetic_64": fields.replace(source, sources).replace("tolerance = 0.01", "tolerance = 1e-6").replace(
            "most_iterations = 6\n", ""),
        "gravity_tree": jobs.gravity(z(252, 252, 252), z(2000, 2000), rock="random", method="tree", accuracy=1e-6),
        "acoustic_shots": jobs.acoustic(z(320, 320, 320), 615, 32, receivers=2000),
        "gravity_direct": jobs.gravity(z(80, 80, 80), z(2000, 2000), rock="random", channels=["all"], method="direct",
                                       accuracy=1e-12),
        "invert_gravity": jobs.inversion("gravity", z(128, 128, 40), z(64, 64), storage="single"),
        "seven_spheres": (EXAMPLES / "02_seven_spheres" / "job.toml").read_text(encoding="utf-8"),
    }


class Watch:
    """The threads of a process and those that it started, until it ends."""

    def __init__(self, process, ranks, stacks):
        self.process, self.ranks, self.stacks = process, ranks, stacks
        self.below, self.peak = [], 0
        self.running, self.where = [], []
        self.thread = threading.Thread(target=self.look)
        self.thread.start()

    def running_threads(self):
        """Those that run, of the processes called terrane; notes the memory that these hold."""
        count, pages = 0, 0
        for process in [Path(f"/proc/{self.process.pid}"), *self.started()]:
            try:
                if process.joinpath("comm").read_text().strip() != "terrane":
                    continue
                pages += int(process.joinpath("statm").read_text().split()[1])
                for stat in process.glob("task/*/stat"):
                    count += stat.read_text().rpartition(")")[2].split()[0] in "RD"
            except OSError:  # it has ended
                pass
        self.peak = max(self.peak, pages * os.sysconf("SC_PAGE_SIZE"))
        return count

    def started(self):
        """Processes below the first: ranks of mpirun, looked for until there are some."""
        if self.ranks == 1 or self.below:
            return self.below
        parents = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
            except OSError:
                pass
        found = [Path(f"/proc/{pid}") for pid in parents if self.process.pid in ancestors(pid, parents)]
        names = [p for p in found if p.joinpath("comm").exists() and p.joinpath("comm").read_text().strip() == "terrane"]
        if len(names) == self.ranks:
            self.below = names
        return names

    def look(self):
        begin = time.monotonic()
        while self.process.returncode is None:
            now = time.monotonic() - begin
            self.running.append((now, self.running_threads()))
            alone = [count == 1 for _, count in self.running[-round(0.5 / STEP):]]
            if self.stacks and len(alone) >= 0.5 / STEP and all(alone):
                if not self.where or now - self.where[-1][0] > 0.5:
                    self.where.append((now, self.stack()))
            time.sleep(max(0.0, STEP - (time.monotonic() - begin - now)))

    def stack(self):
        pid = str(self.process.pid)
        tool = ["eu-stack", "-p", pid] if shutil.which("eu-stack") else ["gdb", "-p", pid, "-batch", "-ex", "bt 14"]
        try:
            text = subprocess.run(tool, capture_output=True, text=True, timeout=20).stdout
        except (OSError, subprocess.TimeoutExpired):
            return []
        return [line.strip()[:160] for line in text.splitlines() if "terrane::" in line][:6]


def ancestors(pid, parents):
    found = set()
    while pid in parents:
        pid = parents[pid]
        found.add(pid)
    return found


def gpu_seconds(samples, wall):
    return round(wall * sum(samples) / len(samples) / 100, 2) if samples else 0


def bits_of(folder):
    """Of results without their headers, which tell of the run: NetCDF files are not looked at."""
    bits = hashlib.sha256()
    files = [f for f in sorted(Path(folder).glob("**/*")) if f.suffix in (".npy", ".csv")]
    for file in files:
        bits.update(b"\n".join(row for row in file.read_bytes().split(b"\n") if not row.startswith(b"#")))
    return bits.hexdigest()[:16] if files else None


def with_plain_results(text):
    """The job with results in a format that holds numbers alone; complex ones need columns."""
    columns = 'physics = "electromagnetic"' in text or "[inversion]" in text
    plain = r"\1.csv" if columns else r"\1.npy"
    return re.sub(r'^files = \["(fields|fit)\.nc"\]$', f'files = ["{plain}"]', text, flags=re.MULTILINE)


def run(terrane, files, device, ranks, stacks):
    with tempfile.TemporaryDirectory(prefix="terrane-timeline-") as folder:
        files = files if isinstance(files, dict) else {"job.toml": files}
        for name, text in files.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        if "first" in files:
            subprocess.run([terrane, "run", "first"], cwd=folder, check=True, capture_output=True)
        verb = "invert" if "[inversion]" in files["job.toml"] else "run"
        with open(Path(folder, "said"), "w", encoding="utf-8") as said:
            busy = None
            if device == "cuda":
                busy = subprocess.Popen(["nvidia-smi", "-i", ",".join(map(str, range(ranks))), "-lms", "50",
                                         "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"],
                                        stdout=subprocess.PIPE, text=True)
            begin = time.monotonic()
            # Ranks bound to cores, as mpirun does with two, would have one each.
            before = [] if ranks == 1 else ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n",
                                            str(ranks)]
            process = subprocess.Popen([*before, terrane, verb, "job.toml", "--set", f"simulation.device={device}"],
                                       cwd=folder, stdout=said, stderr=said)
            watch = Watch(process, ranks, stacks)
            _, status, usage = os.wait4(process.pid, 0)
            wall = time.monotonic() - begin
            process.returncode = status
            watch.thread.join()
            samples = []
            if busy:
                busy.terminate()
                samples = [float(word) for word in busy.communicate()[0].split() if word.replace(".", "").isdigit()]
        if status != 0:
            return {"wall": round(wall, 2), "failed": Path(folder, "said").read_text(encoding="utf-8")[-1500:]}
        counts = [count for _, count in watch.running]
        longest, since, begun = 0.0, None, 0.0
        for now, count in [*watch.running, (wall, 0)]:
            if count == 1 and since is None:
                since = now
            if count != 1 and since is not None:
                if now - since > longest:
                    longest, begun = now - since, since
                since = None
        part = wall / max(1, len(counts))
        found = {"wall": round(wall, 2), "cpu": round(usage.ru_utime + usage.ru_stime, 2),
                 "none": round(part * counts.count(0), 2), "one": round(part * counts.count(1), 2),
                 "several": round(part * sum(count > 1 for count in counts), 2),
                 "longest_serial": [round(longest, 2), round(begun, 2)],
                 "peak_MB": round((usage.ru_maxrss * 1024 if ranks == 1 else watch.peak) / 1e6)}
        found["bits"] = bits_of(Path(folder, "output"))
        if device == "cuda":
            found["gpu"] = gpu_seconds(samples, wall)
        if watch.where:
            found["where"] = [{"at": round(at, 1), "stack": stack} for at, stack in watch.where]
        return found


def on_ranks(terrane, files, arguments):
    """The job on every number of ranks."""
    if isinstance(files, dict):
        files = {name: with_plain_results(text) for name, text in files.items()}
    else:
        files = with_plain_results(files)
    runs = [{"ranks": ranks, **run(terrane, files, arguments.device, ranks, arguments.stacks)} for ranks in arguments.ranks]
    for of in runs:
        of["times_as_fast"] = round(runs[0]["wall"] / of["wall"], 2)
    bits = {of.get("bits") for of in runs}
    return {"runs": runs, "same_bits": len(bits) == 1 and None not in bits}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("terrane")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1])
    parser.add_argument("--large", action="store_true")
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--jobs", nargs="*", default=[])
    parser.add_argument("--stacks", action="store_true")
    arguments = parser.parse_args()
    found = {}
    for name, files in (large if arguments.large else sized)(arguments.scale).items():
        if arguments.jobs and not any(name.startswith(word) for word in arguments.jobs):
            continue
        terrane = os.path.abspath(arguments.terrane)
        if len(arguments.ranks) > 1:
            found[name] = on_ranks(terrane, files, arguments)
            for of in found[name]["runs"]:
                print(name, of, file=sys.stderr, flush=True)
            print(name, "same bits" if found[name]["same_bits"] else "OTHER BITS, or not known", file=sys.stderr, flush=True)
        else:
            found[name] = run(terrane, files, arguments.device, arguments.ranks[0], arguments.stacks)
            print(name, found[name], file=sys.stderr, flush=True)
    ranks = arguments.ranks if len(arguments.ranks) > 1 else arguments.ranks[0]
    print(json.dumps({"device": arguments.device, "ranks": ranks, "scale": arguments.scale, "jobs": found}, indent=1))
    sys.exit('"failed"' in json.dumps(found))


if __name__ == "__main__":
    main()
