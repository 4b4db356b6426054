#!/usr/bin/env python3
"""The largest models end to end, each one command on ranks of mpirun, a GPU each: time, memory of host and GPUs, bits.

    benchmarks/commands/largest.py TERRANE JOB=SIZE[:STEPS] ... [--device cuda] [--ranks 4 ...] [--longest 300] [--budget GB]

Jobs, in the order in which they are given:
    acoustic   waves in SIZE^3 nodes of constant density, 1,000 receivers
    migration  of one shot in SIZE^3 nodes
    elastic    straight elements, SIZE^3 of them, degree 4
    field      one electromagnetic field at 1 Hz, SIZE^3 cells, to 1e-8
    tree       gravity of SIZE^3 blocks at SIZE^2 * 60 stations

Prints JSON with, for each job and number of ranks: wall, what the command reports of its computation, gpu (seconds in which the
first GPU was busy) and per step, the most that the host's memory grew and each process held, the most of each GPU's
memory, and bits of the results. --budget: what the machine has, GB; a larger size of a job is left out, and said so, when by
its smaller one it would take more. The job's own bound of memory is lifted, for machines whose memory grows as it is used.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import timeline
from timeline import bits_of, jobs

STEPS = {"acoustic": 200, "migration": 60, "elastic": 60}


def text_of(job, size, steps, device):
    """A job file. Bodies are painted once: a medium everywhere, and a sphere in it."""
    cube = (size, size, size)
    sphere = "[[model.body]]\n" + jobs.keys(kind="sphere", centre=[5 * size, 5 * size, -5 * size], radius=size,
                                            velocity_p=2300)
    if job in ("acoustic", "migration"):
        more = {"kind": "migration", "smoothing": 60} if job == "migration" else {}
        text = jobs.acoustic(cube, steps, receivers=1000, device=device, files=("fields.npy",), **more)
        bodies = re.search(r"(\[\[model.body\]\].*?)\[survey\]", text, re.DOTALL).group(1)
        everywhere = "[[model.body]]" + bodies.split("[[model.body]]")[1]
        return text.replace(bodies, everywhere + sphere)
    if job == "elastic":
        return jobs.elastic(cube, device=device).replace("end = 0.02", f"end = {0.0023 * steps:.4g}").replace(
            "fields.nc", "fields.npy")
    if job == "tree":
        return jobs.gravity(cube, (60 * size // 8, 8 * size), rock="random", method="tree", accuracy=1e-6,
                            device=device).replace("fields.nc", "fields.npy")
    half = size // 2 - 9
    return jobs.electromagnetic((half, half, half), 1.3, device=device, files=("fields.csv",)).replace(
        "tolerance = 0.01", "tolerance = 1e-8").replace("most_iterations = 6\n", "")


class Memory:
    """Of the host, of each process called terrane and of each GPU: the most, until stop(). Bytes."""

    def __init__(self, gpus):
        self.before, self.host, self.each, self.cards, self.busy = self.used(), 0, {}, {}, []
        self.gpus, self.ended = gpus, threading.Event()
        self.threads = [threading.Thread(target=self.look)]
        if gpus:
            self.threads.append(threading.Thread(target=self.look_at_cards))
        for thread in self.threads:
            thread.start()

    @staticmethod
    def used():
        info = dict(re.findall(r"^(\w+):\s+(\d+) kB", Path("/proc/meminfo").read_text(encoding="utf-8"), re.MULTILINE))
        return 1024 * (int(info["MemTotal"]) - int(info["MemAvailable"]))

    def look(self):
        while not self.ended.wait(0.1):
            self.host = max(self.host, self.used() - self.before)
            for process in Path("/proc").glob("[0-9]*"):
                try:
                    status = process.joinpath("status").read_text(encoding="utf-8")
                except OSError:
                    continue
                if not status.startswith("Name:\tterrane\n"):
                    continue
                held = sum(1024 * int(kB) for kB in re.findall(r"^Rss(?:Anon|Shmem):\s+(\d+) kB", status, re.MULTILINE))
                self.each[process.name] = max(held, self.each.get(process.name, 0))

    def look_at_cards(self):
        asked = subprocess.Popen(["nvidia-smi", "-i", ",".join(map(str, range(self.gpus))), "-lms", "100",
                                  "--query-gpu=index,utilization.gpu,memory.used", "--format=csv,noheader,nounits"],
                                 stdout=subprocess.PIPE, text=True)
        threading.Thread(target=lambda: (self.ended.wait(), asked.terminate())).start()
        for line in asked.stdout:
            words = line.replace(",", " ").split()
            if len(words) != 3 or not all(word.isdigit() for word in words):
                continue
            card, busy, held = map(int, words)
            self.cards[card] = max(self.cards.get(card, 0), held * 2**20)
            if card == 0:
                self.busy.append(busy)
        asked.wait()

    def stop(self):
        self.ended.set()
        for thread in self.threads:
            thread.join()


def run(terrane, text, device, ranks, longest):
    with tempfile.TemporaryDirectory(prefix="terrane-largest-") as folder:
        Path(folder, "job.toml").write_text(text, encoding="utf-8")
        memory = Memory(ranks if device == "cuda" else 0)
        begin = time.monotonic()
        command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", str(ranks), "timeout",
                   str(longest), terrane, "run", "job.toml", "--no-plots", "--set", "simulation.memory=\"2000 GB\""]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
        wall = time.monotonic() - begin
        memory.stop()
        found = {"ranks": ranks, "wall": round(wall, 2), "host_GB": round(memory.host / 1e9, 3),
                 "processes_GB": sorted((round(most / 1e9, 3) for most in memory.each.values()), reverse=True)}
        if memory.cards:
            found["cards_GB"] = [round(most / 1e9, 2) for _, most in sorted(memory.cards.items())]
        if done.returncode != 0:
            # Of mpirun's own report the user learns nothing.
            said = [line for line in (done.stdout + done.stderr).splitlines() if line.startswith("terrane")]
            return {**found, "failed": done.returncode, "said": said[-3:] or (done.stdout + done.stderr)[-300:]}
        report = dict(re.findall(r"^  (\w+) +(.*)$", done.stdout, re.MULTILINE))
        found.update({key: report[key][:160] for key in ("on", "of", "time", "memory", "steps", "method", "iterations",
                                                         "residual") if key in report})
        if memory.busy:
            found["gpu"] = timeline.gpu_seconds(memory.busy, wall)
        if report.get("steps", "").isdigit() and memory.busy:
            found["gpu_ms_per_step"] = round(1e3 * found["gpu"] / int(report["steps"]), 2)
        found["bits"] = bits_of(Path(folder, "output"))
        return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("terrane")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--ranks", type=int, nargs="+", default=[4])
    parser.add_argument("--longest", type=float, default=300, help="seconds that one command may take")
    parser.add_argument("--budget", type=float, help="of the host, GB")
    parser.add_argument("jobs", nargs="+", metavar="JOB=SIZE[:STEPS]")
    arguments = parser.parse_args()
    terrane, found, taken = os.path.abspath(arguments.terrane), [], {}
    for word in arguments.jobs:
        one = re.fullmatch(r"(acoustic|migration|elastic|field|tree)=(\d+)(?::(\d+))?", word)
        if one is None:
            parser.error(f"{word} is no JOB=SIZE[:STEPS]")
        job, size, steps = one.groups()
        size = int(size)
        most = taken.get(job, 0) * size**3 / 1e9
        if arguments.budget and most > arguments.budget:
            found.append({"job": word, "left_out": f"by its smaller size it would take {most:.0f} GB of the host"})
            print(found[-1], file=sys.stderr, flush=True)
            continue
        text = text_of(job, size, int(steps or STEPS.get(job, 0)), arguments.device)
        for ranks in arguments.ranks:
            found.append({"job": word, **run(terrane, text, arguments.device, ranks, arguments.longest)})
            print(found[-1], file=sys.stderr, flush=True)
            taken[job] = max(taken.get(job, 0), found[-1]["host_GB"] * 1e9 / size**3)
    print(json.dumps({"device": arguments.device, "runs": found}, indent=1))


if __name__ == "__main__":
    main()
