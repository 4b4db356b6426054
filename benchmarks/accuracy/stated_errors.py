#!/usr/bin/env python3
"""True against stated errors (simulation.verify = "estimate") on random earths, physics by physics.

    benchmarks/accuracy/stated_errors.py TERRANE [KIND[:EARTHS] ...] [--earths 12] [--seed 1] [--json FILE]
                                         [--first 0] [--verify refine] [--keep FILE] [--plot FILE]
    benchmarks/accuracy/stated_errors.py TERRANE --draw --keep FILE --plot FILE

draws earths of each kind, runs the command, and holds its data against others that share nothing with its mesh, or as
little as can be had:

    dc_layers    direct current, potential = "total", which errs; the truth is the closed form
    dc_dykes     two or three vertical contacts; the truth is a system per wavenumber, here
    dc_boxes     a box in a layered earth; the truth is continued by h² from 4 and 8 cells between electrodes
    dc_hills     a ridge of homogeneous or layered ground; the truth is a mesh of a third of the cells
    dc_valleys   the same, a valley; dc_slopes: a step of the ground's height
    mt_layers    impedances; the truth is the recursion of layers, here
    mt_blocks    impedances over a block; the truth is a finer mesh
    mt_blocks_in_layers  the same, two or three layers around the block
    csem_layers  a dipole in layers or under the sea; the truth is the closed form of layers, by field = "secondary"
    csem_blocks  a block in those layers; the truth is field = "secondary", which is right to a tenth of a percent
    csem_corrected  the same earths, by field = "corrected"; secondary fields on the same mesh share the errors of the
                 scattered field, so that true errors come out too small
    heat_warm    a warm box in one rock; the truth is a product of error functions
    heat_points  a heater beside a contact of two rocks of one diffusivity; the truth is the point source of
                 Carslaw & Jaeger with its image
    sound_whole  acoustic waves, one rock in three dimensions; the truth is the wave of a point
    sound_surface  the same below a free surface, with the image of the point
    sound_layers  two to five layers in two dimensions on planned cells, some with densities, some below a free surface;
                 the truth is a sum over wavenumbers, here
    sound_centres  the same layers on given cells, each of which has the rock at its centre
    elastic_planned  elastic waves in one to three layers, half of them with a box, on planned elements with absorbing
                 sides; the truth is a run with faces of elements at all interfaces, and matched layers
    elastic_matched  the same, with matched layers
    elastic_faces  the same, with matched layers, on elements with faces at all interfaces; the truth has matched
                 layers farther away

Prints for each kind the true errors, what stated / true comes to, the share of data whose true error is above twice the
stated one, and what the companion costs. With --verify refine also: of how many earths runs say that 1 % is kept, of how
many it is (95 % of data), how many are said to be kept where 5 % of data err by more than 2 %, and what all costs
against the first solve. --first leaves out the first earths of a seed. --keep adds the errors of all data to a file
(.npz), from which --plot draws those of all runs; --draw draws without a run. Needs NumPy, waves h5py; --plot
Matplotlib.
"""

import argparse
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

LEAST = 1e-6  # errors below it are those of closed forms and of rounding
ASKED = 0.01
VERIFY = "estimate"


# ---- running the command

def toml(value):
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return repr(float(value)) if isinstance(value, (float, np.floating)) else str(value)


def job(background, bodies, survey, simulation, sources=(), mesh=None, file="data.csv"):
    def table(name, keys):
        return f"[{name}]\n" + "".join(f"{k} = {toml(v)}\n" for k, v in keys.items())
    text = table("mesh", mesh) if mesh else ""
    text += table("model.background", background)
    text += "".join(table("[model.body]", body) for body in bodies)
    text += "".join(table("[source]", source) for source in sources)
    return text + table("survey", survey) + table("simulation", simulation) + table("output", {"files": [file]})


def read_columns(path):
    if path.suffix == ".nc":
        import h5py
        with h5py.File(path) as file:
            return {name: np.array(values) for name, values in file.items()}
    with open(path, newline="") as file:
        rows = list(csv.reader(line for line in file if not line.startswith("#")))
    names = [re.sub(r" \[.*\]$", "", name) for name in rows[0]]
    return {n: np.array([float(r[i] or "nan") for r in rows[1:]]) for i, n in enumerate(names)
            if all(re.fullmatch(r"[-+0-9.einfa]*", r[i]) for r in rows[1:])}


def run(terrane, text, beside=()):
    """beside: names and texts of files that the job reads. Columns of the CSV file by their names, and what the report says of the companion's time: (its, of all)."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.toml"
        path.write_text(text)
        for name, content in dict(beside).items():
            (Path(folder) / name).write_text(content)
        done = subprocess.run([terrane, "run", str(path)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr + "\n" + text)
        columns = read_columns(next(Path(folder).rglob("data.*")))
    time = re.search(r"companion ([0-9.e+-]+) s of ([0-9.e+-]+) s", done.stdout)
    rounds = re.search(r"% is (not )?kept: (.*); .* s, ([0-9.e+-]+) times the first solve", done.stdout)
    return columns, {"companion": tuple(map(float, time.groups())) if time else None,
                     "kept": bool(rounds) and not rounds[1], "rounds": rounds[2].count(" on ") - 1 if rounds else 0,
                     "times": float(rounds[3]) if rounds else None}


# ---- direct current

GX, GW = np.polynomial.legendre.leggauss(16)


def potential_across_planes(rho, planes, source, at):
    """Of 1 A on the ground beside vertical planes (ascending), line across them, V: for each λ of
    ∫ A(λ) J₀ dλ on the axis, amplitudes of e^{±λx} in every rock, continuous with their currents."""
    sigma, n = 1 / np.asarray(rho, float), len(planes)
    own = int(np.searchsorted(planes, source))
    nearest = max(1e-9, min(abs(source - p) for p in planes))
    span = max(np.max(np.abs(np.asarray(at) - source)), planes[-1] - planes[0], nearest)
    edges = np.concatenate([[0], np.geomspace(1e-4 / span, 60 / nearest, 400)])
    lam = (0.5 * np.diff(edges)[:, None] * (GX + 1) + edges[:-1, None]).ravel()
    weight = (0.5 * np.diff(edges)[:, None] * GW).ravel()
    system, right = np.zeros((lam.size, 2 * n + 2, 2 * n + 2)), np.zeros((lam.size, 2 * n + 2))
    upper, lower = lambda k: planes[min(k, n - 1)], lambda k: planes[max(k - 1, 0)]
    system[:, 0, 1] = system[:, 1, 2 * n] = 1
    for k, plane in enumerate(planes):
        row = 2 + 2 * k
        down = np.exp(-lam * (plane - lower(k))) if k else np.zeros_like(lam)
        up = np.exp(lam * (plane - upper(k + 1))) if k + 1 < n else np.zeros_like(lam)
        system[:, row, 2 * k: 2 * k + 4] = np.stack([np.ones_like(lam), down, -up, -np.ones_like(lam)], 1)
        system[:, row + 1, 2 * k: 2 * k + 4] = np.stack(
            [sigma[k] + 0 * lam, -sigma[k] * down, -sigma[k + 1] * up, sigma[k + 1] + 0 * lam], 1)
        if own in (k, k + 1):
            known = np.exp(-lam * abs(plane - source)) / sigma[own] * (-1 if own == k else 1)
            right[:, row] += known
            right[:, row + 1] += -sigma[own] * np.sign(plane - source) * known
    found = np.linalg.solve(system, right[:, :, None])[:, :, 0]
    result = []
    for x in at:
        k = int(np.searchsorted(planes, x))
        here = found[:, 2 * k] * np.exp(lam * (x - upper(k))) if k < n else 0
        if k:
            here = here + found[:, 2 * k + 1] * np.exp(-lam * (x - lower(k)))
        result.append((np.sum(weight * here) + (1 / sigma[own] / abs(x - source) if k == own else 0)) / (2 * np.pi))
    return np.array(result)


def line(rng, array=None, electrodes=14, levels=5):
    spacing = float(rng.choice([1, 2, 5, 10]))
    return {"kind": "line", "start": [-(electrodes - 1) / 2 * spacing, 0.0], "electrodes": electrodes,
            "spacing": spacing, "levels": levels, "array": array or str(rng.choice(["wenner", "dipole-dipole", "schlumberger"]))}, spacing


def electric(**more):
    return {"physics": "electric", "verify": VERIFY, **more}


def relative(got, true, name, scale=None):
    """(true, stated), relative to the data; or to `scale`."""
    scale = np.abs(got[name]) if scale is None else scale
    return np.stack([np.abs(got[name] - true) / scale, got[name + "_error"] / scale], 1)


def layers_of(rng, spacing, count):
    thick = spacing * np.exp(rng.uniform(math.log(0.4), math.log(4), count - 1))
    depths = np.concatenate([[0], np.cumsum(thick), [1e4 * spacing]])
    rho = np.exp(rng.uniform(math.log(5), math.log(2000), count))
    return [{"kind": "layer", "top": -float(t), "bottom": -float(b), "resistivity": float(r)}
            for t, b, r in zip(depths[:-1], depths[1:], rho)]


def dc_layers(terrane, rng):
    survey, spacing = line(rng)
    bodies = layers_of(rng, spacing, int(rng.integers(2, 5)))
    got, time = run(terrane, job({"resistivity": 100.0}, bodies, survey, electric(potential="total")))
    true, _ = run(terrane, job({"resistivity": 100.0}, bodies, survey, {"physics": "electric"}))
    return relative(got, true["resistance"], "resistance"), time


def dc_dykes(terrane, rng):
    survey, spacing = line(rng)
    planes = np.sort(rng.uniform(-5, 5, int(rng.integers(2, 4)))) * spacing
    while np.min(np.diff(planes)) < 0.5 * spacing:
        planes = np.sort(rng.uniform(-5, 5, len(planes))) * spacing
    rho = np.exp(rng.uniform(math.log(5), math.log(2000), len(planes) + 1))
    ends = np.concatenate([[-1e5], planes, [1e5]])
    bodies = [{"kind": "box", "box": [float(w), float(e), -1e5, 1e5, -1e5, 0.0], "resistivity": float(r)}
              for w, e, r in zip(ends[:-1], ends[1:], rho)]
    got, time = run(terrane, job({"resistivity": 100.0}, bodies, survey, electric()))
    at = {}
    def potential(source, x):
        if (source, x) not in at:
            at[source, x] = potential_across_planes(rho, planes, source, [x])[0]
        return at[source, x]
    true = [potential(a, m) - potential(b, m) - potential(a, n) + potential(b, n)
            for a, b, m, n in zip(*(got[f"{w}_easting"] for w in "abmn"))]
    return relative(got, np.array(true), "resistance"), time


def dc_boxes(terrane, rng):
    survey, spacing = line(rng, electrodes=10, levels=4)
    bodies = layers_of(rng, spacing, int(rng.integers(1, 4)))
    top, size = float(rng.uniform(0.2, 2)) * spacing, rng.uniform(1, 4, 3) * spacing
    west, south = float(rng.uniform(-4, 2)) * spacing, -float(rng.uniform(0.2, 0.8)) * size[1]
    bodies.append({"kind": "box", "box": [west, west + float(size[0]), south, south + float(size[1]),
                                          -top - float(size[2]), -top],
                   "resistivity": float(np.exp(rng.uniform(math.log(5), math.log(2000))))})
    def made(cell, simulation):
        mesh = {"kind": "planned", "cell": float(cell)}
        return run(terrane, job({"resistivity": 100.0}, bodies, survey, simulation, mesh=mesh))
    got, time = made(spacing / 2, electric())
    coarse, fine = (made(spacing / n, {"physics": "electric"})[0]["resistance"] for n in (4, 8))
    return relative(got, fine + (fine - coarse) / 3, "resistance"), time


def dc_hills(terrane, rng, form=lambda x: np.exp(-(x ** 2)), deepest=0.0):
    """form: height over the distance from the crest, in widths; deepest: the lowest height, in heights of the crest."""
    spacing = 5.0
    survey = {"kind": "line", "start": [-3.5 * spacing, 0.0], "electrodes": 8, "spacing": spacing, "levels": 4,
              "array": str(rng.choice(["wenner", "dipole-dipole"]))}
    height, width = float(rng.uniform(0.3, 1.5)) * spacing, float(rng.uniform(1.5, 4)) * spacing
    at, turned = float(rng.uniform(-3, 3)) * spacing, float(rng.uniform(-0.6, 0.6))
    places = np.arange(-300, 301, 2.0)
    across = places[None, :] - at + turned * places[::-1, None]
    heights = height * form(across / width)
    grid = "ncols 301\nnrows 301\nxllcenter -300\nyllcenter -300\ncellsize 2\n"
    grid += "\n".join(" ".join(f"{h:.6f}" for h in row) for row in heights) + "\n"
    bodies = []
    if rng.random() < 0.5:
        bottom = -float(rng.uniform(0.5, 2)) * spacing + deepest * height
        bodies = [{"kind": "layer", "top": bottom, "bottom": -1e5,
                   "resistivity": float(np.exp(rng.uniform(math.log(10), math.log(1000))))}]
    def made(cell, **more):
        mesh = {"kind": "planned", "cell": cell}
        text = job({"resistivity": 100.0}, bodies, survey, electric(**more), mesh=mesh)
        return run(terrane, '[model]\ntopography = "hill.asc"\n' + text, {"hill.asc": grid})
    got, time = made(spacing / 2)
    fine, _ = made(spacing / 6, verify="off")
    return relative(got, fine["resistance"], "resistance"), time


def dc_valleys(terrane, rng):
    return dc_hills(terrane, rng, lambda x: -np.exp(-(x ** 2)), -1.0)


def dc_slopes(terrane, rng):
    return dc_hills(terrane, rng, np.tanh, -1.0)


# ---- magnetotellurics

MU = 4e-7 * math.pi


def impedance_of_layers(rho, thick, hertz):
    """Z_ne, e^{+iωt}: from the lowest layer up."""
    omega = 2 * math.pi * hertz
    z = np.sqrt(1j * omega * MU * rho[-1])
    for r, t in zip(rho[-2::-1], thick[::-1]):
        own, k = np.sqrt(1j * omega * MU * r), np.sqrt(1j * omega * MU / r)
        wave = np.tanh(k * t)
        z = own * (z + own * wave) / (own + z * wave)
    return z


AIR = {"kind": "layer", "bottom": 0.0, "top": 1e6, "resistivity": 1e8}


def waves(**more):
    return {"physics": "electromagnetic", "verify": VERIFY, "responses": ["impedance"], **more}


def of_impedances(got, z_en, z_ne):
    """(true, stated): relative to the pair off the diagonal."""
    z = {e: got[f"z_{e}_real"] + 1j * got[f"z_{e}_imag"] for e in ("ee", "en", "ne", "nn")}
    size = np.sqrt((np.abs(z["en"]) ** 2 + np.abs(z["ne"]) ** 2) / 2)
    true = np.maximum(np.abs(z["en"] - z_en), np.abs(z["ne"] - z_ne)) / size
    return np.stack([true, got["z_ne_error"] / size], 1)


def sites(*places):
    return {"kind": "list", "stations": [list(map(float, p)) for p in places]}


def mt_layers(terrane, rng):
    count = int(rng.integers(2, 5))
    thick = np.exp(rng.uniform(math.log(100), math.log(5000), count - 1))
    rho = np.exp(rng.uniform(math.log(1), math.log(3000), count))
    depths = np.concatenate([[0], np.cumsum(thick), [1e6]])
    bodies = [AIR] + [{"kind": "layer", "top": -float(t), "bottom": -float(b), "resistivity": float(r)}
                      for t, b, r in zip(depths[:-1], depths[1:], rho)]
    hertz = sorted(float(f) for f in np.exp(rng.uniform(math.log(0.01), math.log(30), 2)))
    got, time = run(terrane, job({"resistivity": 100.0}, bodies, sites((0, 0, 0)), waves(frequencies=hertz),
                                 [{"kind": "plane_wave"}]))
    z = np.array([impedance_of_layers(rho, thick, f) for f in got["frequency"]])
    return of_impedances(got, -z, z), time


def mt_blocks(terrane, rng, layers=False):
    rho, block = np.exp(rng.uniform(math.log(5), math.log(1000), 2))
    size = np.exp(rng.uniform(math.log(500), math.log(4000), 3))
    top = float(rng.uniform(0.2, 1.0) * size.min())
    east, north = rng.uniform(-0.6, -0.4, 2) * size[:2]
    bodies = [AIR, {"kind": "layer", "bottom": -1e6, "top": 0.0, "resistivity": float(rho)},
              {"kind": "box", "box": [float(east), float(east + size[0]), float(north), float(north + size[1]),
                                      -top - float(size[2]), -top], "resistivity": float(block)}]
    if layers:
        thick = np.exp(rng.uniform(math.log(0.3), math.log(2), int(rng.integers(1, 3)))) * (top + size[2])
        depths = np.concatenate([[0], np.cumsum(thick), [1e6]])
        bodies[1:2] = [{"kind": "layer", "top": -float(t), "bottom": -float(b), "resistivity": float(r)}
                       for t, b, r in zip(depths[:-1], depths[1:],
                                          [rho, *np.exp(rng.uniform(math.log(5), math.log(1000), thick.size))])]
    depth = top + size[2] / 2
    hertz = [float(rho / (math.pi * MU * (depth * rng.uniform(0.7, 2)) ** 2))]
    survey = sites(*((x * size[0], 0.3 * x * size[1], 0) for x in (0, 0.3, 0.6, 1.0, 1.6)))
    got, time = run(terrane, job({"resistivity": 100.0}, bodies, survey, waves(frequencies=hertz),
                                 [{"kind": "plane_wave"}]))
    true = []
    for cells in (6, 9):
        fine = waves(frequencies=hertz, min_width_pps=cells, stretching=1.2 if cells == 6 else 1.13, verify="off")
        true.append(run(terrane, job({"resistivity": 100.0}, bodies, survey, fine, [{"kind": "plane_wave"}]))[0])
    z = {e: true[1][f"z_{e}_real"] + 1j * true[1][f"z_{e}_imag"] for e in ("en", "ne")}
    return of_impedances(got, z["en"], z["ne"]), time


def mt_blocks_in_layers(terrane, rng):
    return mt_blocks(terrane, rng, layers=True)


# ---- fields of sources

def csem_layers(terrane, rng, with_block=False, field="total"):
    if rng.random() < 0.5:  # under the sea
        sea = float(np.exp(rng.uniform(math.log(200), math.log(3000))))
        hertz, offsets = float(np.exp(rng.uniform(math.log(0.1), math.log(2)))), (1000, 2000, 3000, 4500)
        bodies = [AIR, {"kind": "layer", "bottom": -sea, "top": 0.0, "resistivity": 0.3}]
        top, height = sea, -sea
        rho = np.exp(rng.uniform(math.log(0.7), math.log(30), 3))
        thick = np.exp(rng.uniform(math.log(100), math.log(1500), 2))
        source = [0.0, 0.0, height + 50]
    else:
        hertz, offsets = float(np.exp(rng.uniform(math.log(0.3), math.log(30)))), (300, 600, 1000, 1600)
        bodies, top, height = [AIR], 0.0, 0.0
        rho = np.exp(rng.uniform(math.log(10), math.log(1000), 3))
        thick = np.exp(rng.uniform(math.log(50), math.log(600), 2))
        source = [0.0, 0.0, -1.0]
    depths = top + np.concatenate([[0], np.cumsum(thick), [1e6]])
    bodies += [{"kind": "layer", "top": -float(t), "bottom": -float(b), "resistivity": float(r)}
               for t, b, r in zip(depths[:-1], depths[1:], rho)]
    angle = rng.uniform(0, math.pi / 2)
    if with_block:
        size = rng.uniform(0.3, 0.8, 3) * offsets[1]
        middle, below = rng.uniform(0.3, 0.9) * offsets[2], top + rng.uniform(0.1, 0.4) * offsets[1]
        east, north = middle * math.cos(angle) - size[0] / 2, middle * math.sin(angle) - size[1] / 2
        bodies.append({"kind": "box", "box": [float(v) for v in (east, east + size[0], north, north + size[1],
                                                                 -below - size[2] / 2, -below)],
                       "resistivity": float(np.exp(rng.uniform(math.log(2), math.log(200))))})
    survey = sites(*((r * math.cos(angle), r * math.sin(angle), height) for r in offsets))
    components = ["e_e", "e_n", "h_e", "h_n"]
    sent = [{"kind": "dipole", "at": source, "azimuth": 90.0}]
    def made(**more):
        return run(terrane, job({"resistivity": 100.0}, bodies, survey,
                                {"physics": "electromagnetic", "frequencies": [hertz], "components": components,
                                 **more}, sent))
    got, time = made(verify=VERIFY, field=field)
    true, _ = made(field="secondary")
    pairs = []
    for letter in "eh":
        parts = [f"{letter}_{a}_{part}" for a in "en" for part in ("real", "imag")]
        size = np.sqrt(sum(true[p] ** 2 for p in parts))
        wrong = np.sqrt(sum((true[p] - got[p]) ** 2 for p in parts))
        pairs.append(np.stack([wrong / size, got[f"{letter}_e_error"] / size], 1))
    return np.concatenate(pairs), time


def csem_blocks(terrane, rng):
    return csem_layers(terrane, rng, with_block=True)


def csem_corrected(terrane, rng):
    return csem_layers(terrane, rng, with_block=True, field="corrected")


# ---- heat

def heat_warm(terrane, rng):
    k, capacity, end = 2.0, 2.3e6, 3e6
    low, high = -0.25 - 0.5 * rng.integers(1, 5, 3), 0.25 + 0.5 * rng.integers(1, 5, 3)
    directions = rng.normal(size=(8, 3))
    radii = np.exp(rng.uniform(math.log(0.4), math.log(5), 8))
    places = radii[:, None] * directions / np.linalg.norm(directions, axis=1)[:, None]
    body = {"kind": "box", "box": [float(v) for pair in zip(low, high) for v in pair], "temperature": 100.0}
    got, time = run(terrane, job(
        {"thermal_conductivity": k, "heat_capacity": capacity, "temperature": 0.0}, [body], sites(*places),
        {"physics": "heat", "end": end, "verify": VERIFY}, mesh={
            "kind": "regular", "box": [-7.75, 7.75, -7.75, 7.75, -7.75, 7.75], "shape": [31, 31, 31]}))
    good = got["time"] > 0.1 * end
    at, seconds = got["receiver"][good].astype(int) - int(got["receiver"].min()), got["time"][good]
    erf = np.vectorize(math.erf)
    true = np.full(seconds.size, 100.0)
    for a in range(3):
        x, root = places[at, a], np.sqrt(4 * k / capacity * seconds)
        true *= (erf((x - low[a]) / root) - erf((x - high[a]) / root)) / 2
    scale = np.array([got["temperature"][good][seconds == t].max() for t in seconds])
    return np.stack([np.abs(got["temperature"][good] - true) / scale, got["temperature_error"][good] / scale], 1), time


def heat_points(terrane, rng):
    k, capacity, power, end = 2.0, 2.3e6, 500.0, 3e6
    times, contact = float(np.exp(rng.uniform(math.log(0.25), math.log(4)))), -0.25 - 0.5 * int(rng.integers(1, 6))
    other = {"kind": "box", "box": [-7.75, 7.75, -7.75, 7.75, -7.75, contact], "thermal_conductivity": times * k,
             "heat_capacity": times * capacity}
    source = rng.uniform(-0.25, 0.25, 3)
    directions = rng.normal(size=(8, 3))
    radii = np.exp(rng.uniform(math.log(0.4), math.log(5), 8))
    places = source + radii[:, None] * directions / np.linalg.norm(directions, axis=1)[:, None]
    text = job({"thermal_conductivity": k, "heat_capacity": capacity}, [other], sites(*places),
               {"physics": "heat", "end": end, "verify": VERIFY}, mesh={
                   "kind": "regular", "box": [-7.75, 7.75, -7.75, 7.75, -7.75, 7.75], "shape": [31, 31, 31]})
    got, time = run(terrane, text + f"[source]\nat = {toml(list(map(float, source)))}\npower = {power}\n")
    good = got["time"] > 0.1 * end
    at, seconds = got["receiver"][good].astype(int) - int(got["receiver"].min()), got["time"][good]
    root = np.sqrt(4 * k / capacity * seconds)
    image = source * [1, 1, -1] + [0, 0, 2 * contact]
    reflection = (1 - times) / (1 + times)
    beyond = places[:, 2] < contact
    def part(distances):
        return power / (4 * math.pi * k * distances[at]) * np.array([math.erfc(r) for r in distances[at] / root])
    true = np.where(beyond[at], (1 + reflection) * part(radii),
                    part(radii) + reflection * part(np.linalg.norm(places - image, axis=1)))
    scale = np.array([got["temperature"][good][seconds == t].max() for t in seconds])
    return np.stack([np.abs(got["temperature"][good] - true) / scale, got["temperature_error"][good] / scale], 1), time


# ---- acoustic waves

def ricker(frequency, t):
    a = (math.pi * frequency * (t - 1.5 / frequency)) ** 2
    return (1 - 2 * a) * np.exp(-a)


def of_traces(got, true, name="pressure"):
    """Relative errors of traces, true and stated: rms over time, of the trace's own. got[name] [shot, time, receiver]."""
    def rms(values):
        return np.sqrt(np.mean(values ** 2, axis=0))
    size = rms(true)
    return np.stack([rms(got[name][0] - true) / size, got[name + "_error"][0] / rms(got[name][0])], 1)


def sound(frequency, end, source, receivers, body, top, **more):
    mesh = more.pop("mesh", None)
    text = job(body[0], body[1:], {"kind": "list", "stations": [list(map(float, r)) for r in receivers]},
               {"physics": "acoustic", "end": end, "verify": VERIFY, "threads": 1, **more}, mesh=mesh, file="data.nc")
    return text + (f'[source]\nat = [{toml(list(map(float, source)))}]\nfrequency = {frequency}\n'
                   f'[boundary]\ntop = "{top}"\n')


def sound_whole(terrane, rng, surface=False):
    v, f = rng.uniform(1500, 4000), rng.uniform(10, 30)
    wave = v / (2.5 * f)  # the shortest
    source = wave * np.array([rng.uniform(-1, 1), rng.uniform(-1, 1), rng.uniform(-4, -2)])
    receivers = wave * np.stack([rng.uniform(-5, 5, 6), rng.uniform(-5, 5, 6), rng.uniform(-7, -1, 6)], 1)
    far = np.linalg.norm(receivers - source, axis=1)
    receivers, far = receivers[far > wave], far[far > wave]
    image = np.linalg.norm(receivers - source * [1, 1, -1], axis=1)
    end = 3 / f + float(max(image if surface else far)) / v
    got, report = run(terrane, sound(f, end, source, receivers, [{"velocity_p": v}],
                                     "free_surface" if surface else "cpml"))
    t = got["time"][:, None]
    true = ricker(f, t - far / v) / (4 * math.pi * far)
    if surface:
        true -= ricker(f, t - image / v) / (4 * math.pi * image)
    return of_traces(got, true), report


def sound_surface(terrane, rng):
    return sound_whole(terrane, rng, surface=True)


def line_wave(f, v, r, t):
    """Of a line source in two dimensions: ∫ s(t − r/v cosh u) du / 2π."""
    u = np.linspace(0, math.acosh(max(1.0, t[-1] * v / r)) + 1e-9, 6000)
    values = ricker(f, t[:, None] - r / v * np.cosh(u))
    values[:, 0] /= 2
    return values.sum(1) * (u[1] - u[0]) / (2 * math.pi)


def reflectivity(velocity, density, thickness, k, omega):
    """Of layers below the first one, at its bottom. velocity, density of all; thickness of those between."""
    gamma = [np.sqrt(k ** 2 - (omega / v) ** 2 + 0j) for v in velocity]
    gamma = [np.where(g.real < 0, -g, g) for g in gamma]
    reflected = np.zeros_like(gamma[0])
    for n in range(len(velocity) - 2, -1, -1):
        above, below = gamma[n] / density[n], gamma[n + 1] / density[n + 1]
        own = (above - below) / (above + below)
        if n + 1 < len(velocity) - 1:
            reflected = reflected * np.exp(-2 * gamma[n + 1] * thickness[n])
        reflected = (own + reflected) / (1 + own * reflected)
    return reflected, gamma[0]


def waves_in_layers(f, velocity, density, depths, source, receivers, t, surface):
    """Pressures of a line source in the first layer; depths: of interfaces; source, receivers: (x, depth)."""
    step, samples = t[1] - t[0], 2 * len(t)
    damping = math.log(1e5) / (samples * step)
    omega = 2 * math.pi * np.fft.rfftfreq(samples, step) - 1j * damping
    used = omega.real < 2 * math.pi * 4.5 * f
    times = np.arange(samples) * step
    spectrum = np.fft.rfft(ricker(f, times) * np.exp(-damping * times))
    reach = max(velocity) * samples * step + max(abs(r[0] - source[0]) for r in receivers)
    k = np.arange(0, int(1.3 * 2 * math.pi * 4.5 * f / min(velocity) * reach / math.pi)) * math.pi / reach
    weight = np.where(k == 0, 0.5, 1.0) / reach  # ∫ dk cos(kx) / 2π · 2
    out = np.zeros((len(t), len(receivers)))
    sums = np.zeros((len(receivers), omega.size), complex)
    for w in np.flatnonzero(used):
        reflected, g = reflectivity(velocity, density, np.diff(depths), k, omega[w])
        twice = reflected * np.exp(-2 * g * depths[0])
        for r, (x, z) in enumerate(receivers):
            if surface:
                kernel = twice / (1 + twice) * (np.exp(g * z) - np.exp(-g * z)) * (np.exp(g * source[1]) - np.exp(-g * source[1]))
            else:
                kernel = reflected * np.exp(g * (z + source[1] - 2 * depths[0]))
            sums[r, w] = np.sum(weight * kernel / (2 * g) * np.cos(k * (x - source[0]))) * 1.0
    for r, (x, z) in enumerate(receivers):
        out[:, r] = (np.fft.irfft(sums[r] * spectrum) * np.exp(damping * times))[:len(t)]
        out[:, r] += line_wave(f, velocity[0], math.hypot(x - source[0], z - source[1]), t)
        if surface:
            out[:, r] -= line_wave(f, velocity[0], math.hypot(x - source[0], z + source[1]), t)
    return out


def sound_layers(terrane, rng, centres=False):
    count = int(rng.integers(1, 5))
    velocity = np.exp(rng.uniform(math.log(1500), math.log(4000), count + 1))
    if rng.uniform() < 0.7:
        velocity = np.sort(velocity)
    dense, surface = rng.uniform() < 0.4, rng.uniform() < 0.4
    density = rng.uniform(1000, 2800, count + 1) if dense else np.ones(count + 1)
    depths = np.sort(rng.uniform(80, 500, count))
    f, end = rng.uniform(10, 25), 0.6
    source = (0.0, rng.uniform(15, 40))
    receivers = [(x, source[1] + rng.uniform(-10, 10)) for x in (60.0, 140.0, 230.0, 330.0, 450.0)]
    faces = [1e5, *(-depths), -1e5]
    bodies = [{"kind": "layer", "top": faces[n], "bottom": faces[n + 1], "velocity_p": velocity[n],
               **({"density": density[n]} if dense else {})} for n in range(1, count + 1)]
    first = {"velocity_p": velocity[0], **({"density": density[0]} if dense else {})}
    more = {"equation": "variable_density"} if dense else {}
    if centres:
        cell = min(velocity) / (2.5 * f * 5.05)
        shape = [int(700 / cell), 1, int(600 / cell)]
        more["mesh"] = {"kind": "regular", "box": [-120.0, 580.0, -5.0, 5.0, -600.0, 0.0], "shape": shape}
    got, report = run(terrane, sound(f, end, (source[0], 0.0, -source[1]), [(x, 0.0, -z) for x, z in receivers],
                                     [first, *bodies], "free_surface" if surface else "cpml", **more))
    t = got["time"]
    true = waves_in_layers(f, velocity, density, depths, source, receivers, t, surface)
    return of_traces(got, true), report


def sound_centres(terrane, rng):
    return sound_layers(terrane, rng, centres=True)


# ---- elastic waves

def elastic_earth(rng):
    """Layers and a box, a source and receivers, in units of the shortest wave, 100 m."""
    count, wave = int(rng.integers(1, 4)), 100.0
    vs = 1000 * np.sort(np.exp(rng.uniform(0, math.log(2), count)))
    vp = vs * rng.uniform(1.65, 2.0, count)
    tops = [0.0, *(-wave * np.cumsum(rng.uniform(0.3, 1.6, count - 1)))]
    rock = [{"velocity_p": p, "velocity_s": s, "density": 310 * p ** 0.25} for p, s in zip(vp, vs)]
    if rng.uniform() < 0.4:
        for one in rock:
            one["quality_s"] = rng.uniform(20, 60)
            one["quality_p"] = 1.5 * one["quality_s"]
    bodies = [{"kind": "layer", "top": float(top), "bottom": -1e5, **one} for top, one in zip(tops[1:], rock[1:])]
    if rng.uniform() < 0.5:
        low, size = wave * rng.uniform([0, -1, -2], [1.2, 0, -1]), wave * rng.uniform(0.6, 1.2, 3)
        size[2] = min(size[2], -low[2] - 0.3 * wave)
        box = [float(v) for axis in zip(low, low + size) for v in axis]
        change = float(rng.choice([0.75, 1.4]))
        bodies.append({"kind": "box", "box": box,
                       **{k: v * (change if k.startswith("velocity") else 1) for k, v in rock[0].items()}})
    slowest = min([vs[0], *(body["velocity_s"] for body in bodies)])
    source = [0.0, 0.0, -wave * float(rng.uniform(0.5, 2))]
    receivers = [[wave * float(x), wave * float(y), 0.0] for x, y in zip((0.4, 1.2, 2.0, 2.8), rng.uniform(-0.6, 0.6, 4))]
    f = slowest / (2.5 * wave)
    return {"bodies": [rock[0], *bodies], "source": {"at": source, "force": [float(x) for x in 1e9 * rng.normal(size=3)],
                                                     "frequency": f, "delay": 1.2 / f},
            "receivers": receivers, "end": 2.2 / f + 3.6 * wave / slowest, "wave": wave,
            "quantity": str(rng.choice(["displacement", "velocity"]))}


def elastic(terrane, earth, mesh=None, **more):
    survey = {"kind": "list", "stations": earth["receivers"]}
    simulation = {"physics": "elastic", "end": earth["end"], "quantity": earth["quantity"], "threads": 1, **more}
    text = job(earth["bodies"][0], earth["bodies"][1:], survey, simulation, [earth["source"]], mesh, "data.nc")
    return run(terrane, text)


def with_faces(earth, room, cells):
    """A mesh with faces at interfaces, `room` from sources and receivers; cells: of a shortest wave."""
    axes = []
    for a, name in enumerate(("easting", "northing", "up")):
        places = [earth["source"]["at"][a], *(r[a] for r in earth["receivers"])]
        wanted = [v for body in earth["bodies"][1:] if "box" in body for v in body["box"][2 * a:2 * a + 2]]
        if a == 2:
            wanted += [body["top"] for body in earth["bodies"][1:] if "top" in body]
        low, high = min(places + wanted) - room, max(places + wanted) + room
        ends = sorted({low, *wanted, 0.0 if a == 2 else high})
        faces = [ends[0]]
        for begin, end in zip(ends[:-1], ends[1:]):
            pieces = math.ceil((end - begin) / earth["wave"] * cells - 1e-9)
            faces += [begin + (end - begin) * (n + 1) / pieces for n in range(pieces)]
        axes.append((name, faces))
    return {"kind": "tensor", **dict(axes)}


def at_times(t, time, values):
    """Samples at even times between, by cubics; values [..., time]."""
    step = time[1] - time[0]
    first = np.clip(np.floor((t - time[0]) / step).astype(int) - 1, 0, time.size - 4)
    x = (t - time[0]) / step - first
    out = 0
    for n in range(4):
        others = [m for m in range(4) if m != n]
        out = out + values[..., first + n] * np.prod([(x - m) / (n - m) for m in others], axis=0)
    return out


TRUE_WAVES = {}  # runs that several kinds are held against, by their earth


def elastic_planned(terrane, rng, faces=False, **more):
    earth = elastic_earth(rng)
    name = earth["quantity"]
    key = json.dumps([earth, faces])
    if key not in TRUE_WAVES:
        room, layers = (2.6, 4) if faces else (1.6, 3)
        TRUE_WAVES[key] = elastic(terrane, earth, with_faces(earth, room * earth["wave"], 1.25), boundary="pml",
                                  boundary_elements=layers)[0]
    true = TRUE_WAVES[key]
    got, report = elastic(terrane, earth, with_faces(earth, 1.6 * earth["wave"], 1.25) if faces else None,
                          verify=VERIFY, **more)
    exact = at_times(got["time"], true["time"], true[name])

    def rms(values):
        return np.sqrt(np.mean(values ** 2, axis=-1))
    size = np.sqrt(np.sum(rms(exact) ** 2, axis=1, keepdims=True))
    return np.stack([(rms(got[name] - exact) / size).ravel(), (got[name + "_error"] / size).ravel()], 1), report


def elastic_matched(terrane, rng):
    return elastic_planned(terrane, rng, boundary="pml")


def elastic_faces(terrane, rng):
    return elastic_planned(terrane, rng, faces=True, boundary="pml")


# ---- statistics

KINDS = {f.__name__: f for f in (dc_layers, dc_dykes, dc_boxes, dc_hills, dc_valleys, dc_slopes, mt_layers,
                                  mt_blocks, mt_blocks_in_layers, csem_layers, csem_blocks, csem_corrected,
                                  heat_warm, heat_points, sound_whole, sound_surface, sound_layers, sound_centres,
                                  elastic_planned, elastic_matched, elastic_faces)}


def summary(pairs, reports):
    true, stated = np.concatenate(pairs).T
    good = np.isfinite(true) & np.isfinite(stated)
    true, stated = true[good], stated[good]
    ratio = stated / np.maximum(true, LEAST)
    found = {"earths": len(pairs), "data": int(true.size),
             "true_50": np.median(true), "true_95": np.percentile(true, 95), "true_max": true.max(),
             "stated_over_true_5": np.percentile(ratio, 5), "stated_over_true_50": np.median(ratio),
             "stated_over_true_95": np.percentile(ratio, 95),
             "missed": np.mean(true > 2 * stated + LEAST), "without_error": int((~good).sum())}
    times = [report["companion"] for report in reports if report["companion"]]
    if times:
        found["cost"] = sum(whole for _, whole in times) / sum(whole - own for own, whole in times)
    if VERIFY == "refine":
        at_95 = np.array([np.percentile(earth[:, 0], 95) for earth in pairs])
        kept = np.array([report["kept"] for report in reports])
        costs = [report["times"] for report in reports if report["times"]]
        found |= {"said_kept": int(kept.sum()), "kept": int(np.sum(at_95 <= ASKED)),
                  "said_kept_and_worse_than_twice": int(np.sum(kept & (at_95 > 2 * ASKED))),
                  "cost_50": float(np.median(costs)), "cost_max": max(costs),
                  "earths_refined": sum(report["rounds"] > 0 for report in reports)}
    return {k: float(f"{v:.4g}") if isinstance(v, float) else v for k, v in found.items()}


def with_kept(file, all_pairs):
    """Pairs of (true, stated) errors by kind, of the file and of this run; written back to the file."""
    merged = dict(np.load(file)) if Path(file).exists() else {}
    for kind, pairs in all_pairs.items():
        merged[kind] = np.concatenate([*([merged[kind]] if kind in merged else []), *pairs])
    if all_pairs:
        np.savez(file, **merged)
    return {kind: [merged[kind]] for kind in KINDS if kind in merged}


def plot(all_pairs, file):
    import matplotlib
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    columns = min(4, len(all_pairs))
    rows = -(-len(all_pairs) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(4 * columns, 3.8 * rows), squeeze=False)
    for axis in axes.flat[len(all_pairs):]:
        axis.set_visible(False)
    for axis, (kind, pairs) in zip(axes.flat, all_pairs.items()):
        true, stated = np.concatenate(pairs).T * 100
        ends = np.array([1e-3, 100])
        axis.fill_between(ends, ends / 2, ends * 3, color="0.9", lw=0)
        axis.plot(ends, ends, color="0.4", lw=0.8)
        some = np.random.default_rng(1).permutation(true.size)[:2000]  # more dots hide each other
        axis.loglog(np.clip(true[some], *ends), np.clip(stated[some], *ends), ".", ms=3, color="tab:blue", alpha=0.5)
        axis.set(xlim=ends, ylim=ends, title=kind.replace("_", " "), xlabel="true error, %",
                 ylabel="stated error, %")
        axis.set_aspect("equal")
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("terrane")
    parser.add_argument("kinds", nargs="*", metavar="KIND[:EARTHS]", help=", ".join(KINDS))
    parser.add_argument("--earths", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep")
    parser.add_argument("--draw", action="store_true")
    parser.add_argument("--verify", choices=("estimate", "refine"), default="estimate")
    parser.add_argument("--json")
    parser.add_argument("--plot")
    options = parser.parse_args()
    global VERIFY  # what jobs ask for
    VERIFY = options.verify
    results, all_pairs = {}, {}
    for wanted in [] if options.draw else options.kinds or KINDS:
        kind, _, earths = wanted.partition(":")
        pairs, reports = [], []
        for earth in range(options.first, int(earths or options.earths)):
            rng = np.random.default_rng([options.seed, earth])
            made, report = KINDS[kind](os.path.abspath(options.terrane), rng)
            pairs.append(made)
            reports.append(report)
        all_pairs[kind] = pairs
        results[kind] = summary(pairs, reports)
        print(kind, json.dumps(results[kind]), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    if options.keep:
        all_pairs = with_kept(options.keep, all_pairs)
    if options.plot:
        plot(all_pairs, options.plot)


if __name__ == "__main__":
    sys.exit(main())
