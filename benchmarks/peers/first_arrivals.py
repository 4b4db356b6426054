#!/usr/bin/env python3
"""First arrivals by fast marching beside scikit-fmm, on one core, in one run: nodes per second.

    first_arrivals.py KERNEL_FIRST_ARRIVALS

KERNEL_FIRST_ARRIVALS: the program of benchmarks/kernel/first_arrivals.cpp. Both march n³ cells of 10 m with velocity
1500 m/s at the ground and 1 m/s more for each metre below. scikit-fmm has the slowness at nodes, starts from a sphere
of 15 m around the shot, and keeps nothing for derivatives; its equation is not factored. Medians of five. Prints JSON.
"""

import importlib.metadata
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np
import skfmm


def of_terrane(program):
    asked = ("repetitions=5", "format=json", "report_aggregates_only=true")
    shown = subprocess.run([program, *(f"--benchmark_{one}" for one in asked)], check=True, capture_output=True,
                           text=True).stdout
    return {one["run_name"]: float(f'{one["nodes/s"]:.4g}') for one in json.loads(shown)["benchmarks"]
            if one["aggregate_name"] == "median"}


def of_scikit_fmm(nodes, order):
    x = 10.0 * np.arange(nodes)
    east, north, up = np.meshgrid(x, x, x - x[-1], indexing="ij")
    from_sphere = np.sqrt((east - x[-1] / 3) ** 2 + (north - x[-1] / 2) ** 2 + (up + 5) ** 2) - 15
    seconds = []
    for _ in range(5):
        start = time.perf_counter()
        skfmm.travel_time(from_sphere, 1500 - up, dx=10.0, order=order)
        seconds.append(time.perf_counter() - start)
    return float(f"{nodes**3 / statistics.median(seconds):.4g}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(json.dumps({
        "terrane": of_terrane(sys.argv[1]), "scikit-fmm": importlib.metadata.version("scikit-fmm"),
        "scikit-fmm, nodes/s": {f"n:{n}/order:{order}": of_scikit_fmm(n + 1, order)
                                for n in (64, 96) for order in (1, 2)}}))
