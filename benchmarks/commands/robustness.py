#!/usr/bin/env python3
"""What the command stands: memory foretold and taken, limits of memory, hostile and mutated input, kills and signals.

    benchmarks/commands/robustness.py TERRANE [--parts memory limits attack] [--seconds 300] [--seed 1]
                                      [--jobs WORD ...]

Prints JSON with
    memory   of each job of tests/cli/memory.py (--jobs: of those whose names hold one of the words): MB that
             `terrane check` states, MB that a run takes above its start, and the second over the first
    limits   of runs with `ulimit -v` below what they need, and of jobs whose simulation.memory is nine tenths of it: how
             many there were, and how many were refused before they began, with what they would need
    attack   the counts of tests/cli/attack.py in so many seconds
Memory does not depend on what else the machine does; the time does, about ten minutes of two cores beside --seconds.
"""

import argparse
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "cli"))
import attack  # noqa: E402
import command  # noqa: E402
import memory as jobs  # noqa: E402

#: Of every physics and storage one, for limits.
LIMITED = ("gravity, many cells", "gravity by a tree", "magnetic, many cells", "acoustic", "acoustic, tti", "migration",
           "elastic", "heat, explicit", "heat, implicit", "direct current", "electromagnetic",
           "gravity inversion, a matrix")


class Measured(jobs.MemoryTest):
    def runTest(self):
        """No test of its own: main() calls the methods."""


def memory_of(names):
    case, rows = Measured(), {}
    for name in names:
        case.setUp()
        foretold, took = case.measure(name)
        rows[name] = {"foretold_MB": round(foretold / 1e6, 1), "taken_MB": round(took / 1e6, 1),
                      "taken_over_foretold": round(took / foretold, 3)}
        print(name, rows[name], file=sys.stderr, flush=True)
        case.doCleanups()
    return rows


def limits_of(names):
    """Each job with half and three tenths of what it needs beside its start, and with nine tenths allowed by the job."""
    counts = {kind: {"runs": 0, "refused before": 0, "else": []} for kind in ("ulimit -v", "simulation.memory")}
    case = Measured()
    for name in names:
        case.setUp()
        verb, needed = case.prepare(name), case.foretold()
        start = case.addresses() + 2.5e7 + 8.4e6 * os.cpu_count()  # libraries, and a stack for each thread
        tries = [("ulimit -v", case.limited(verb, start + share * needed)) for share in (0.3, 0.5)]
        for kind, done in [*tries, ("simulation.memory", case.allowed(verb, needed))]:
            told = done.returncode == 1 and "would need" in done.stderr
            counts[kind]["runs"] += 1
            counts[kind]["refused before"] += told
            if not told:
                counts[kind]["else"].append(f"{name}: {done.returncode} {done.stderr.strip()[-200:]}")
        case.doCleanups()
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("terrane")
    parser.add_argument("--parts", nargs="+", choices=("memory", "limits", "attack"), default=["memory", "limits", "attack"])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", nargs="*", default=[""])
    options = parser.parse_args()
    command.TERRANE = os.path.abspath(options.terrane)

    def chosen(names):
        return [name for name in names if any(word in name for word in options.jobs)]
    measured = {}
    if "memory" in options.parts:
        measured["memory"] = memory_of(chosen(jobs.JOBS))
    if "limits" in options.parts:
        measured["limits"] = limits_of(chosen(LIMITED))
    if "attack" in options.parts:
        measured["attack"] = attack.attack(command.TERRANE, options.seconds, options.seed, 2)
    print(json.dumps(measured, indent=1))


if __name__ == "__main__":
    main()
