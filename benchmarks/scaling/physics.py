#!/usr/bin/env python3
"""What several GPUs gain, for the record of one physics: each program of benchmarks/ranks, and each job of ranks.py, on 2, 4, 8, ...
ranks of mpirun, a GPU each, and on one.

    benchmarks/scaling/physics.py PHYSICS BUILD [--gpus 2] [--device cuda] [--small] [--longest 300]

PHYSICS is gravity, electromagnetic, acoustic, elastic or inversion; BUILD a build folder with benchmarks. Prints JSON with the rows
of the programs and the runs of the jobs, as tools/scaling_report reads them. --small: sizes for a try without a GPU
(--device debug). --longest: seconds that one command may take; what takes longer, or fails, is said and left out.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

# Words of the programs: weak scaling, and with strong_ a problem that is divided; of a try without a GPU.
HALOS = {
    "acoustic": (["acoustic=1024", "strong_acoustic=1024", "acoustic=512", "strong_acoustic=512", "acoustic=256", "density=512",
                  "strong_density=512", "tilted=512", "strong_tilted=512"], ["acoustic=32", "strong_tilted=48"]),
    "elastic": (["elastic=80", "elastic=64", "strong_elastic=64", "strong_elastic=40", "strong_elastic=24", "strong_elastic=14"],
                ["elastic=4", "strong_elastic=4"]),
}
SOLVES = {
    "electromagnetic": (["fields=128", "fields=256", "fields=322", "fields=406", "potentials=250", "potentials=320",
                         "potentials=400"], ["fields=12", "potentials=12"]),
    "inversion": (["pairs=96", "kept=96", "tree=256"], ["pairs=6", "tree=6"]),
}
# Jobs of ranks.py, with their sizes.
JOBS = {
    "gravity": {"direct": (252, 10), "tree": (252, 10), "lattice": (1000, 24)},
    "electromagnetic": {"fields": (128, 16)},
    "acoustic": {"shots": (320, 24), "shot": (640, 24)},
}


def output_of(command, longest):
    """JSON that a command prints; None where it fails, which is said."""
    print("$", *command, file=sys.stderr)
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=longest)
    except subprocess.TimeoutExpired:
        print(f"all_physics: took longer than {longest} s", file=sys.stderr)
        return None
    if done.returncode != 0:
        print(f"all_physics: failed with status {done.returncode}\n{done.stderr[-2000:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("physics", choices=sorted({*HALOS, *SOLVES, *JOBS}))
    parser.add_argument("build", type=Path)
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--longest", type=float, default=300)
    arguments = parser.parse_args()
    physics, small = arguments.physics, arguments.small
    counts = [n for n in (2, 4, 8, 16) if n <= arguments.gpus]
    ranks = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n"]

    def run(count, program, *words):
        return output_of([*ranks, str(count), str(arguments.build / "benchmarks" / program), *words], arguments.longest)

    # The most first: one GPU alone is measured in each, and a word by itself costs no others when it fails.
    rows = []
    for program, of in (("ranks_halos", HALOS), ("ranks_solves", SOLVES)):
        for word in of.get(physics, ([], []))[small]:
            for count in counts[::-1]:
                rows += (run(count, program, arguments.device, word) or {"rows": []})["rows"]
    results = {"rows": rows} if rows else {}

    jobs = []
    for job, sizes in JOBS.get(physics, {}).items():
        found = output_of([sys.executable, str(HERE / "ranks.py"), str(arguments.build / "terrane"), "--job", job, "--size",
                           str(sizes[small]), "--device", arguments.device, "--ranks", "1", *map(str, counts)]
                          + (["--stations", "50"] if small else []), 2 * arguments.longest)
        if found:
            jobs.append(found)
    if physics == "gravity":
        results.update({job["what"].rpartition(": ")[2]: job for job in jobs})
        moved = run(counts[-1], "ranks_transfers", *(["0.001"] if small else ["0.1", "1"])) if counts else None
        results["transfers"] = (moved or {"rows": []})["rows"]
    elif jobs:
        results["jobs"] = jobs
    if not results:
        sys.exit("all_physics: nothing was measured")
    print(json.dumps(results, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
