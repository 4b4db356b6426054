"""Steps of acoustic waves by Devito and by Terrane on the CPU, order 8, single precision, in one run.

    python devito_steps.py PROGRAM [--nodes 400] [--steps 16] [--threads 1] [--repeats 3]

prints JSON. PROGRAM is build/bench/benchmarks/devices_acoustic; Devito (pip install devito) is used
by this script alone, and without it the script says so and does nothing. They take turns, and the best of all counts:
points per second of the clock, and per second of the processors, which other programs on the machine disturb less.
Devito's update has the array v²Δt², as Terrane's has; its blocks are chosen by its own tuner before the first turn.
"""

import argparse
import json
import os
import subprocess
import sys
import time


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    for name, value in (("nodes", 400), ("steps", 16), ("threads", 1), ("repeats", 3)):
        parser.add_argument(f"--{name}", type=int, default=value)
    return parser.parse_args()


def devito_steps(nodes):
    import devito
    import numpy as np

    devito.configuration["language"] = "openmp"
    devito.configuration["log-level"] = "ERROR"
    grid = devito.Grid(shape=(nodes,) * 3, extent=((nodes - 1) * 10.0,) * 3, dtype=np.float32)
    u = devito.TimeFunction(name="u", grid=grid, time_order=2, space_order=8)
    c = devito.Function(name="c", grid=grid, space_order=8)
    c.data[:] = (2000 * 0.002) ** 2
    u.data[:, nodes // 2, nodes // 2, nodes // 2] = 1
    step = devito.Operator([devito.Eq(u.forward, 2 * u - u.backward + c * u.laplace)])
    step.apply(time_m=1, time_M=20, dt=0.002, autotune="aggressive")
    return devito.__version__, lambda steps: step.apply(time_m=1, time_M=steps, dt=0.002)


def main():
    given = arguments()
    os.environ["OMP_NUM_THREADS"] = str(given.threads)
    try:
        version, step = devito_steps(given.nodes)
    except ImportError:
        print("devito is not installed: nothing to compare with (pip install devito)", file=sys.stderr)
        return
    points = given.nodes**3 * given.steps
    best = {"devito": [0.0, 0.0], "one_by_one": [0.0, 0.0], "in_passes": [0.0, 0.0]}
    for _ in range(given.repeats):
        wall, processor = time.perf_counter(), time.process_time()
        step(given.steps)
        rates = {"devito": (points / (time.perf_counter() - wall), points / (time.process_time() - processor))}
        numbers = map(str, (given.nodes, given.steps, given.threads, 1))
        done = subprocess.run([given.program, "cpu", "passes", *numbers], capture_output=True, text=True, check=True)
        ours = json.loads(done.stdout)["runs"][0]  # without layers, as Devito's
        for name in ("one_by_one", "in_passes"):
            rates[name] = (ours["points_per_second"][name], ours["points_per_processor_second"][name])
        best = {name: [max(a, b) for a, b in zip(best[name], rates[name])] for name in best}
    print(json.dumps({"nodes": given.nodes, "steps": given.steps, "threads": given.threads, "repeats": given.repeats,
                      "devito": version, "terrane_receivers": 1000,
                      "points_per_second": {name: rate[0] for name, rate in best.items()},
                      "points_per_processor_second": {name: rate[1] for name, rate in best.items()},
                      "times_devito": {n: best[n][1] / best["devito"][1] for n in ("one_by_one", "in_passes")}},
                     indent=1))


if __name__ == "__main__":
    main()
