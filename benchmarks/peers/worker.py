"""One contestant on one task, in a process of its own, so that its memory can be told.

    python worker.py CONTESTANT TASK INPUT.npz OUTPUT.npz THREADS REPEAT LIMIT

Tasks: "one" (the downward or upward pull), "all" (all ten channels), "mesh" (the pull of a tensor mesh), "points" (all
ten at the points of the quad-precision table). A contestant that would need more than LIMIT seconds takes the first stations only. Prints a line of JSON: seconds (best of REPEAT, compiled code only),
first (with compilation), memory_bytes (beyond what was there before the call), version. Writes [channels, stations] in
SI, axes easting, northing, up.
"""

import json
import os
import sys
import threading
import time
from pathlib import Path

CONTESTANT, TASK, INPUT, OUTPUT, THREADS, REPEAT, LIMIT = sys.argv[1:8]
for name in ("OMP_NUM_THREADS", "NUMBA_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = THREADS

import numpy as np  # noqa: E402  (after the numbers of threads)

ENU = ("potential", "g_e", "g_n", "g_u", "g_ee", "g_nn", "g_uu", "g_en", "g_eu", "g_nu")
SI = np.array([1.0, *[1e-5] * 3, *[1e-9] * 6])
DOWN = np.array([1, 1, 1, -1, 1, 1, 1, 1, -1, -1])
HARMONICA = ("potential", "g_e", "g_n", "g_z", "g_ee", "g_nn", "g_zz", "g_en", "g_ez", "g_nz")


def resident() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Peak:
    """The most memory held while the block runs, looked at every millisecond."""

    def __enter__(self):
        self.start = self.most = resident()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def _watch(self):
        while not self._stop.wait(0.001):
            self.most = max(self.most, resident())

    def __exit__(self, *error):
        self._stop.set()
        self._thread.join()
        self.most = max(self.most, resident())

    @property
    def bytes(self):
        return self.most - self.start


def terrane_task(data, method):
    import terrane

    channels = ENU if TASK in ("all", "points") else ("g_u",)
    accuracy = "best" if TASK == "points" else 1e-12
    faces = np.asfortranarray(data["prisms"])

    def compute(part):
        stations = [np.ascontiguousarray(c) for c in data["stations"][part].T]
        if TASK == "points":  # every point has its own prism
            rows = [terrane.gravity.forward(faces[n], 1.0, *data["stations"][n], channels=channels, units="si",
                                            accuracy=accuracy, method="direct", singular="outside")
                    for n in range(len(faces))]
            return np.array([[row[c] for row in rows] for c in channels])
        field = terrane.gravity.forward(faces, data["density"], *stations, channels=channels, units="si",
                                        accuracy=accuracy, method=method)
        compute.report = field.report
        return np.array([field[c] for c in channels])

    return compute, terrane.__version__, lambda: compute.report if TASK != "points" else {}


def harmonica_task(data):
    import harmonica

    names = [3] if TASK == "one" else range(10)

    def compute(part):
        if TASK == "points":
            made = np.empty((10, len(data["prisms"])))
            for n, (prism, station) in enumerate(zip(data["prisms"], data["stations"])):
                for c in names:
                    made[c, n] = harmonica.prism_gravity([[x] for x in station], prism, [1.0], HARMONICA[c],
                                                         parallel=False, disable_checks=True)[0]
            return made * (SI * DOWN)[:, None]
        coordinates = tuple(data["stations"][part].T)
        made = [harmonica.prism_gravity(coordinates, data["prisms"], data["density"], HARMONICA[c],
                                        disable_checks=True) * SI[c] * DOWN[c] for c in names]
        return np.array(made)

    return compute, harmonica.__version__.lstrip("v"), dict


def choclo_task(data):
    """choclo's kernels in the loop that its documentation recommends: one pass over prisms for all that is asked."""
    import choclo
    import numba
    from choclo.prism import (gravity_e, gravity_ee, gravity_en, gravity_eu, gravity_n, gravity_nn, gravity_nu,
                              gravity_pot, gravity_u, gravity_uu)

    @numba.njit(parallel=True)
    def one(e, n, u, p, rho, out):
        for l in numba.prange(e.size):
            for m in range(rho.size):
                out[0, l] += gravity_u(e[l], n[l], u[l], p[m, 0], p[m, 1], p[m, 2], p[m, 3], p[m, 4], p[m, 5], rho[m])

    @numba.njit(parallel=True)
    def every(e, n, u, p, rho, out):
        for l in numba.prange(e.size):
            for m in range(rho.size):
                w, x, s, t, b, h, r = p[m, 0], p[m, 1], p[m, 2], p[m, 3], p[m, 4], p[m, 5], rho[m]
                out[0, l] += gravity_pot(e[l], n[l], u[l], w, x, s, t, b, h, r)
                out[1, l] += gravity_e(e[l], n[l], u[l], w, x, s, t, b, h, r)
                out[2, l] += gravity_n(e[l], n[l], u[l], w, x, s, t, b, h, r)
                out[3, l] += gravity_u(e[l], n[l], u[l], w, x, s, t, b, h, r)
                out[4, l] += gravity_ee(e[l], n[l], u[l], w, x, s, t, b, h, r)
                out[5, l] += gravity_nn(e[l], n[l], u[l], w, x, s, t, b, h, r)
                out[6, l] += gravity_uu(e[l], n[l], u[l], w, x, s, t, b, h, r)
                out[7, l] += gravity_en(e[l], n[l], u[l], w, x, s, t, b, h, r)
                out[8, l] += gravity_eu(e[l], n[l], u[l], w, x, s, t, b, h, r)
                out[9, l] += gravity_nu(e[l], n[l], u[l], w, x, s, t, b, h, r)

    def compute(part):
        e, n, u = (np.ascontiguousarray(c) for c in data["stations"][part].T)
        out = np.zeros((1 if TASK == "one" else 10, e.size))
        (one if TASK == "one" else every)(e, n, u, data["prisms"], data["density"], out)
        return out

    return compute, choclo.__version__.lstrip("v"), dict


def simpeg_task(data, engine):
    import discretize
    import simpeg
    from simpeg import maps
    from simpeg.potential_fields import gravity

    mesh = discretize.TensorMesh([np.diff(data["easting"]), np.diff(data["northing"]), np.diff(data["up"])],
                                 origin=[data["easting"][0], data["northing"][0], data["up"][0]])

    def compute(part):
        receivers = gravity.receivers.Point(data["stations"][part], components="gz")
        survey = gravity.survey.Survey(gravity.sources.SourceField(receiver_list=[receivers]))
        options = {"numba_parallel": True} if engine == "choclo" else {"n_processes": int(THREADS)}
        simulation = gravity.Simulation3DIntegral(mesh, survey=survey, rhoMap=maps.IdentityMap(nP=mesh.n_cells),
                                                  store_sensitivities="forward_only", engine=engine, **options)
        return simulation.dpred(data["density"] * 1e-3)[None] * 1e-5  # gz points up, mGal

    return compute, simpeg.__version__, dict


def main():
    data = dict(np.load(INPUT))
    kind, _, option = CONTESTANT.partition(":")
    make = {"terrane": lambda: terrane_task(data, option or "direct"), "harmonica": lambda: harmonica_task(data),
            "choclo": lambda: choclo_task(data), "simpeg": lambda: simpeg_task(data, option or "choclo")}[kind]
    compute, version, report = make()
    start = time.perf_counter()
    if TASK != "points":
        compute(slice(0, 8))  # compiles
    first = time.perf_counter() - start
    count = len(data["stations"])
    if TASK != "points":
        sample = min(count, 100)
        start = time.perf_counter()
        compute(slice(0, sample))
        expected = (time.perf_counter() - start) * count / sample
        if expected > float(LIMIT):
            count = max(sample, int(count * float(LIMIT) / expected))
    seconds = []
    for turn in range(int(REPEAT)):
        with Peak() as peak:
            start = time.perf_counter()
            made = compute(slice(0, count))
            seconds.append(time.perf_counter() - start)
        if turn == 0:
            memory = peak.bytes
    np.savez(OUTPUT, made)
    said = report()
    print(json.dumps({"contestant": CONTESTANT, "task": TASK, "version": version, "seconds": min(seconds),
                      "stations": count, "first": first, "memory_bytes": memory, "method": said.get("method", ""),
                      "reason": said.get("reason", ""), "device": said.get("device", "")}))
    Path(OUTPUT).touch()


main()
