"""Compact models beside SimPEG's: the same data, mesh, weights, lengths, norms and bounds.

    python benchmarks/peers/compact.py build/release/terrane -o record.json

Cases: a block of 400 kg/m³ at 120 to 220 m; two blocks, one below and beside the other; a light block and a dense
ball as in SimPEG's tutorial of gravity anomalies, under flat ground. Depth weights are alike (Terrane's are squared in
phi_m, SimPEG's are not). Each model is asked for a misfit of N; of each body found there is the largest contrast, the
depth of the centre of what lies above half of it, and its volume.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

Z0 = 15.0
CASES = {
    "block": {"box": [-300, 300, -300, 300, -400, 0], "shape": [20, 20, 14], "stations": 17, "half": 280,
              "length": 60,
              "bodies": [("box", [-60, 60, -60, 60, -220, -120], 400.0)], "bounds": [0, 400],
              "norms": [[0, 1, 1, 1], [0, 0, 0, 0], [1, 2, 2, 2]]},
    "two_blocks": {"box": [-500, 500, -500, 500, -500, 0], "shape": [25, 25, 14], "stations": 17, "half": 475,
                   "length": 80, "bodies": [("box", [-300, -150, -100, 50, -160, -60], 300.0),
                                            ("box", [50, 300, -100, 150, -350, -200], 300.0)],
                   "bounds": [0, 300], "norms": [[0, 1, 1, 1], [0, 2, 2, 2]]},
    "tutorial": {"box": [-100, 100, -100, 100, -100, 0], "shape": [25, 25, 14], "stations": 17, "half": 80,
                 "length": 16,
                 "bodies": [("box", [-50, -20, -15, 15, -50, -30], -200.0), ("ball", [35, 0, -40, 15], 200.0)],
                 "bounds": None, "norms": [[0, 1, 1, 1], [0, 2, 2, 2]]},
}


def job_text(case, extra):
    west, east, south, north, bottom, top = case["box"]
    return (f"[mesh]\nbox = {case['box']}\nshape = {case['shape']}\n" + extra)


def run(words, folder):
    begin = os.times()
    done = subprocess.run(words, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    end = os.times()
    return round(end.children_user - begin.children_user, 2), done.stdout


def body_text(kind, where, density):
    if kind == "box":
        return f'[[model.body]]\nkind = "box"\nbox = {where}\ndensity = {density}\n'
    return (f'[[model.body]]\nkind = "sphere"\ncentre = {where[:3]}\nradius = {where[3]}\ndensity = {density}\n')


def observe(terrane, case, folder):
    """Data of the bodies in a fine mesh, with noise of 2 % of each and 0.5 % of the largest."""
    line = np.linspace(-case["half"], case["half"], case["stations"])
    x, y = (a.ravel() for a in np.meshgrid(line, line))
    place = np.column_stack([x, y, np.full_like(x, 2.0)])
    np.savetxt(folder / "places.csv", place, delimiter=",", comments="", header="easting [m],northing [m],up [m]")
    fine = [4 * n for n in case["shape"]]
    (folder / "truth.toml").write_text(
        f"[mesh]\nbox = {case['box']}\nshape = {fine}\n" + "".join(body_text(*b) for b in case["bodies"])
        + '[survey]\nkind = "list"\nfile = "places.csv"\n[simulation]\nchannels = ["g_u"]\n'
        + '[output]\nfiles = ["d.npy"]\n',
        encoding="utf-8")
    run([terrane, "run", "truth.toml", "-q"], folder)
    exact = np.load(folder / "output/d.npy").ravel()
    sigma = 0.02 * np.abs(exact) + 0.005 * np.abs(exact).max()
    data = exact + sigma * np.random.default_rng(7).standard_normal(exact.size)
    np.savetxt(folder / "observed.csv", np.column_stack([place, data, sigma]), delimiter=",", comments="",
               header="easting [m],northing [m],up [m],g_u_observed [mGal],g_u_uncertainty [mGal]")
    return place, data, sigma


def ours(terrane, case, norms, folder):
    bounds = f"lower = {case['bounds'][0]}\nupper = {case['bounds'][1]}\n" if case["bounds"] else ""
    length = case["length"]
    (folder / "job.toml").write_text(job_text(case, f"""[survey]
kind = "list"
file = "observed.csv"
[simulation]
physics = "gravity"
[inversion]
length_scale = [{length}, {length}, {length}]
z0 = {Z0}
weights_in_gradients = false
norms = {norms}
{bounds}[output]
files = ["fit.csv"]
model = ["model.npy"]
"""), encoding="utf-8")
    seconds, text = run([terrane, "invert", "job.toml", "-q", "--json"], folder)
    report = json.loads(text)
    return np.load(folder / "output/model.npy"), seconds, report


def theirs(case, norms, place, data, sigma):
    import discretize
    from simpeg import data as datas
    from simpeg import data_misfit, directives, inverse_problem, inversion, maps, optimization, regularization
    from simpeg.potential_fields import gravity

    west, _, south, _, bottom, _ = case["box"]
    widths = [(case["box"][2 * a + 1] - case["box"][2 * a]) / case["shape"][a] for a in range(3)]
    mesh = discretize.TensorMesh([[(h, n)] for h, n in zip(widths, case["shape"])], origin=[west, south, bottom])
    survey = gravity.survey.Survey(
        gravity.sources.SourceField(receiver_list=[gravity.receivers.Point(place, components="gz")]))
    simulation = gravity.Simulation3DIntegral(survey=survey, mesh=mesh, rhoMap=maps.IdentityMap(nP=mesh.nC),
                                              engine="choclo")
    misfit = data_misfit.L2DataMisfit(data=datas.Data(survey, dobs=data, standard_deviation=sigma),
                                      simulation=simulation)
    smallest = min(widths)
    regular = regularization.Sparse(mesh, alpha_s=1.0, length_scale_x=case["length"] / smallest,
                                    length_scale_y=case["length"] / smallest,
                                    length_scale_z=case["length"] / smallest, norms=norms, gradient_type="components",
                                    reference_model=np.zeros(mesh.nC))
    weight = (-mesh.cell_centers[:, 2] + Z0)**-2.0
    regular.set_weights(depth=weight / weight.max())
    limits = {"lower": case["bounds"][0] / 1000, "upper": case["bounds"][1] / 1000} if case["bounds"] else {}
    optimiser = optimization.ProjectedGNCG(maxIter=100, maxIterLS=20, cg_maxiter=20, cg_rtol=1e-3, **limits)
    task = inverse_problem.BaseInvProblem(misfit, regular, optimiser)
    begin = time.process_time()
    steps = [directives.UpdateIRLS(f_min_change=1e-3, max_irls_iterations=40, cooling_factor=2.0),
             directives.BetaEstimate_ByEig(beta0_ratio=10.0, random_seed=0), directives.UpdatePreconditioner()]
    start = np.full(mesh.nC, 1e-5)
    model = inversion.BaseInversion(task, steps).run(start)
    residual = (simulation.dpred(model) - data) / sigma
    return (1000 * np.asarray(model).reshape(case["shape"][::-1]), round(time.process_time() - begin, 2),
            round(float(np.mean(residual**2)), 3))


def bodies_found(case, model):
    """Of each true body what is found in its column: extreme, depth of the centre above half of it, volume, m³."""
    lows, n = case["box"][::2], case["shape"]
    widths = [(case["box"][2 * a + 1] - case["box"][2 * a]) / n[a] for a in range(3)]
    x, y, z = (lows[a] + widths[a] * (np.arange(n[a]) + 0.5) for a in range(3))
    zz, yy, xx = np.meshgrid(z, y, x, indexing="ij")
    found = []
    for kind, where, density in case["bodies"]:
        if kind == "box":
            centre = [(where[0] + where[1]) / 2, (where[2] + where[3]) / 2]
            reach, true_z = max(where[1] - where[0], where[3] - where[2]), (where[4] + where[5]) / 2
        else:
            centre, reach, true_z = where[:2], 2 * where[3], where[2]
        near = (np.abs(xx - centre[0]) < 0.8 * reach) & (np.abs(yy - centre[1]) < 0.8 * reach)
        value = np.where(near, model * np.sign(density), 0)
        most = value.max()
        core = value >= 0.5 * most
        found.append({"true_depth": -true_z, "true_contrast": density, "contrast": round(float(most), 1),
                      "depth": round(float(-(zz[core] * value[core]).sum() / value[core].sum()), 1),
                      "volume": round(float(core.sum() * np.prod(widths)))})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("terrane")
    parser.add_argument("--cases", nargs="*", default=list(CASES))
    parser.add_argument("-o", "--out")
    parser.add_argument("--models", help="folder for the models, as .npy")
    parser.add_argument("--without-simpeg", action="store_true")
    given = parser.parse_args()
    terrane, rows = str(Path(given.terrane).resolve()), []
    for name in given.cases:
        case = CASES[name]
        with tempfile.TemporaryDirectory() as folder_name:
            folder = Path(folder_name)
            place, data, sigma = observe(terrane, case, folder)
            for norms in [[2, 2, 2, 2], *case["norms"]]:
                model, seconds, report = ours(terrane, case, norms, folder)
                row = {"case": name, "norms": norms,
                       "terrane": {"user_seconds": seconds,
                                  "chi_squared": round(report["values"]["phi_d"] / report["values"]["data"], 3),
                                   "products": report["values"]["products"], "bodies": bodies_found(case, model)}}
                if given.models:
                    np.save(Path(given.models) / f"{name}_{''.join(map(str, norms))}_terrane.npy", model)
                if not given.without_simpeg:
                    model, seconds, misfit = theirs(case, norms, place, data, sigma)
                    row["simpeg"] = {"user_seconds": seconds, "chi_squared": misfit,
                                     "bodies": bodies_found(case, model)}
                    if given.models:
                        np.save(Path(given.models) / f"{name}_{''.join(map(str, norms))}_simpeg.npy", model)
                rows.append(row)
                print(json.dumps(row), flush=True)
    record = {"benchmark": "compact models beside SimPEG's",
              "date": datetime.now(timezone.utc).isoformat(timespec="seconds"), "rows": rows}
    if given.out:
        Path(given.out).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
