"""Terrane beside SimPEG: one inversion, the same data, mesh, weights and lengths, in one run of this script.

    python benchmarks/peers/inversion.py build/release/terrane --cells 40 40 20 --stations 400 -o record.json

SimPEG (requirements.txt) builds its sensitivities with choclo and keeps them in memory in float32; it minimises with
projected Gauss-Newton conjugate gradients, halving beta from ten times its estimate until phi_d is at its target.
Each program is a process of its own: processor time and peak memory are what the system counts for it. SimPEG stops at
the first beta whose phi_d is below N; Terrane is asked for the misfit that SimPEG has then found, which is computed again
by Terrane's forward calculation, as that of Terrane's model is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

WIDTH = 50.0


def problem(cells, stations, seed=1):
    """Scattered stations 10 to 25 m up, and two blocks in the middle of a box."""
    random = np.random.default_rng(seed)
    half = [0.5 * WIDTH * n for n in cells[:2]]
    place = np.column_stack([random.uniform(-h + WIDTH, h - WIDTH, stations) for h in half]
                            + [random.uniform(10, 25, stations)])
    blocks = [([-0.4 * half[0], -0.1 * half[0], -0.2 * half[1], 0.3 * half[1], -250, -100], 400.0),
              ([0.1 * half[0], 0.4 * half[0], -0.3 * half[1], 0.1 * half[1], -350, -150], -300.0)]
    return place, blocks, random


def job_of(cells, observed, storage, chi):
    east, north, depth = (0.5 * WIDTH * cells[0], 0.5 * WIDTH * cells[1], WIDTH * cells[2])
    return f"""
[mesh]
box = [{-east}, {east}, {-north}, {north}, {-depth}, 0]
shape = [{cells[0]}, {cells[1]}, {cells[2]}]
[survey]
kind = "list"
file = "{observed}"
[simulation]
physics = "gravity"
[inversion]
length_scale = [150, 150, 150]
z0 = 15
chi = {chi}
storage = "{storage}"
[output]
files = ["fit.csv"]
model = ["model.npy"]
"""


def measured(words, folder):
    """Processor and wall seconds, peak bytes of a process."""
    begin = datetime.now(timezone.utc)
    process = subprocess.Popen(words, cwd=folder, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"{words} ended with {status}")
    return {"user_seconds": round(usage.ru_utime, 2), "system_seconds": round(usage.ru_stime, 2),
            "wall_seconds": round((datetime.now(timezone.utc) - begin).total_seconds(), 2),
            "peak_bytes": usage.ru_maxrss * 1024}


def simpeg_worker(folder, cells):
    """The process of SimPEG: reads observed.npy, writes model_simpeg.npy [up, north, east] in kg/m3."""
    import discretize
    from simpeg import (data, data_misfit, directives, inverse_problem, inversion, maps, optimization, regularization)
    from simpeg.potential_fields import gravity

    table = np.load(folder / "observed.npy")
    half = 0.5 * WIDTH * np.array(cells[:2])
    mesh = discretize.TensorMesh([[(WIDTH, n)] for n in cells], origin=[-half[0], -half[1], -WIDTH * cells[2]])
    field = gravity.sources.SourceField(receiver_list=[gravity.receivers.Point(table[:, :3], components="gz")])
    survey = gravity.survey.Survey(field)
    simulation = gravity.Simulation3DIntegral(
        survey=survey, mesh=mesh, rhoMap=maps.IdentityMap(nP=mesh.nC), store_sensitivities="ram", engine="choclo",
        sensitivity_dtype=np.float32)
    observed = data.Data(survey, dobs=table[:, 3], standard_deviation=table[:, 4])
    misfit = data_misfit.L2DataMisfit(data=observed, simulation=simulation)
    regular = regularization.WeightedLeastSquares(mesh, alpha_s=1.0, length_scale_x=3.0, length_scale_y=3.0,
                                                  length_scale_z=3.0, reference_model=np.zeros(mesh.nC))
    depth = -mesh.cell_centers[:, 2]
    regular.set_weights(depth=(depth + 15.0)**-2 / np.max((depth + 15.0)**-2))
    optimiser = optimization.ProjectedGNCG(maxIter=40, maxIterLS=20, cg_maxiter=20, cg_rtol=1e-3)
    task = inverse_problem.BaseInvProblem(misfit, regular, optimiser)
    steps = [directives.BetaEstimate_ByEig(beta0_ratio=10.0, random_seed=0),
             directives.BetaSchedule(coolingFactor=2, coolingRate=1), directives.UpdatePreconditioner(),
             directives.TargetMisfit(chifact=1.0)]
    model = inversion.BaseInversion(task, steps).run(np.zeros(mesh.nC))
    np.save(folder / "model_simpeg.npy", 1000.0 * np.asarray(model).reshape(cells[2], cells[1], cells[0]))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("terrane")
    parser.add_argument("--cells", type=int, nargs=3, default=[40, 40, 20])
    parser.add_argument("--stations", type=int, default=400)
    parser.add_argument("--storage", default="single", help="how Terrane holds its sensitivities: single, tree")
    parser.add_argument("-o", "--out")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        return simpeg_worker(Path(given.worker), given.cells)
    terrane = Path(given.terrane).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        place, blocks, random = problem(given.cells, given.stations)
        np.savetxt(folder / "places.csv", place, delimiter=",", comments="", header="easting [m],northing [m],up [m]")

        def forward(mesh_text, out):
            (folder / "forward.toml").write_text(
                mesh_text + '[survey]\nkind = "list"\nfile = "places.csv"\n[simulation]\nphysics = "gravity"\n'
                f'channels = ["g_u"]\n[output]\nfiles = ["{out}.npy"]\n', encoding="utf-8")
            subprocess.run([terrane, "run", "forward.toml", "-q"], cwd=folder, check=True)
            return np.load(folder / f"output/{out}.npy").ravel()

        east, north, depth = (0.5 * WIDTH * given.cells[0], 0.5 * WIDTH * given.cells[1], WIDTH * given.cells[2])
        box = (f'[mesh]\nbox = [{-east}, {east}, {-north}, {north}, {-depth}, 0]\n'
               f'shape = [{given.cells[0]}, {given.cells[1]}, {given.cells[2]}]\n')
        exact = forward(box + "".join(f'[[model.body]]\nkind = "box"\nbox = {b}\ndensity = {d}\n' for b, d in blocks),
                        "exact")
        sigma = 0.01 + 0.02 * np.abs(exact)
        noisy = exact + sigma * random.standard_normal(given.stations)
        np.savetxt(folder / "observed.csv", np.column_stack([place, noisy, sigma]), delimiter=",", comments="",
                   header="easting [m],northing [m],up [m],g_u_observed [mGal],g_u_uncertainty [mGal]")
        np.save(folder / "observed.npy", np.column_stack([place, noisy, sigma]))

        def judged(record, model):
            values = np.load(folder / model)
            np.savetxt(folder / "again.den", (values[::-1] / 1000).transpose(1, 2, 0).ravel())
            (folder / "again.msh").write_text(
                f"{given.cells[0]} {given.cells[1]} {given.cells[2]}\n{-east} {-north} 0\n"
                + "".join(f"{n}*{WIDTH}\n" for n in given.cells), encoding="utf-8")
            again = forward('[mesh]\nkind = "file"\nfile = "again.msh"\n[model]\nfile = "again.den"\n', "again")
            record["chi_squared_per_datum"] = round(float(np.mean(((again - noisy) / sigma)**2)), 4)
            record["model_kg_m3"] = [round(float(values.min()), 2), round(float(values.max()), 2)]
            return record

        theirs = judged(measured([sys.executable, __file__, str(terrane), "--worker", str(folder), "--cells",
                                  *map(str, given.cells)], folder), "model_simpeg.npy")
        (folder / "job.toml").write_text(job_of(given.cells, "observed.csv", given.storage,
                                                theirs["chi_squared_per_datum"]), encoding="utf-8")
        ours = judged(measured([terrane, "invert", "job.toml", "-q"], folder), "output/model.npy")
    record = {"benchmark": "one smooth inversion beside SimPEG to the same misfit, in one run",
              "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
              "cells": given.cells, "stations": given.stations, "storage": given.storage,
              "threads": os.environ.get("OMP_NUM_THREADS", str(os.cpu_count())),
              "load": round(os.getloadavg()[0], 1), "terrane": ours, "simpeg": theirs,
              "ratios": {"user_seconds": round(theirs["user_seconds"] / ours["user_seconds"], 1),
                         "wall_seconds": round(theirs["wall_seconds"] / ours["wall_seconds"], 1),
                         "peak_bytes": round(theirs["peak_bytes"] / ours["peak_bytes"], 1)}}
    text = json.dumps(record, indent=1)
    print(text)
    if given.out:
        Path(given.out).write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
