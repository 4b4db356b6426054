#!/usr/bin/env python3
"""Directions of magnetization found by `terrane invert`, of blocks whose rock has random directions.

    benchmarks/accuracy/magnetizations.py TERRANE [--seeds N] [-o RECORD.json]

For each seed a block of random size, place, strength and direction of magnetization lies below 17 x 17 stations, and the
main field has a random inclination. The noise is 2 % of the largest value of the total-field anomaly, and of each
component for amplitudes. A row gives the angle between the moment of the model and that of the block, the ratio of their
sizes, and the distance of the centre of the cells with at least half of the largest strength from the centre of the
block; of amplitudes the distance alone. It takes a minute of one core. Needs NumPy.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

BOX, SHAPE = [-400, 400, -400, 400, -320, 0], [16, 16, 8]
COMPACT = "norms = [1, 1, 1, 1]"


def cases(strength):
    """Name, channel, property and keys of the inversion."""
    return [("smooth", "tmi", "magnetization", ""),
            ("compact", "tmi", "magnetization", COMPACT),
            ("compact 0, 1, 1, 1", "tmi", "magnetization", "norms = [0, 1, 1, 1]"),
            ("compact within its strength", "tmi", "magnetization", f"{COMPACT}\nupper = {strength:.6g}"),
            ("compact within twice its strength", "tmi", "magnetization", f"{COMPACT}\nupper = {2 * strength:.6g}"),
            ("amplitudes, smooth", "b_amplitude", "susceptibility", "lower = 0"),
            ("amplitudes, compact", "b_amplitude", "susceptibility", f"{COMPACT}\nlower = 0")]


def block_of(random):
    """West, east, south, north, bottom, top; the vector, A/m; the inclination of the main field."""
    size = random.uniform(80, 200, 3)
    centre = random.uniform(-100, 100, 2)
    top = -random.uniform(40, 100)
    box = [centre[0] - size[0] / 2, centre[0] + size[0] / 2, centre[1] - size[1] / 2, centre[1] + size[1] / 2,
           top - size[2], top]
    vector = random.standard_normal(3)
    strength = random.uniform(0.5, 5)
    return [round(float(x), 1) for x in box], vector / np.linalg.norm(vector) * strength, round(random.uniform(-80, 80), 1)


def table(path):
    rows = [line.split(",") for line in path.read_text().splitlines() if not line.startswith("#")]
    return {word.split(" ")[0]: np.array([float(r[n]) for r in rows[1:]]) for n, word in enumerate(rows[0])}


def call(words, folder):
    begin = os.times()
    done = subprocess.run(words, cwd=folder, check=True, stdout=subprocess.PIPE, text=True)
    end = os.times()
    return done.stdout, round(end.children_user - begin.children_user, 2)


def observe(terrane, folder, random, box, vector, inclination):
    """Writes observed.csv."""
    body = "".join(f"magnetization_{axis} = {value}\n" for axis, value in zip(("east", "north", "up"), vector))
    (folder / "truth.toml").write_text(
        f'[mesh]\nbox = {box}\nshape = [1, 1, 1]\n[[model.body]]\nkind = "box"\nbox = {box}\n{body}'
        + "[survey]\nregion = [-400, 400, -400, 400]\nshape = [17, 17]\nheight = 30\n"
        + f'[simulation]\nphysics = "magnetic"\nchannels = ["tmi", "b_e", "b_n", "b_u"]\ninclination = {inclination}\n'
        + '[output]\nfiles = ["truth.csv"]\n', encoding="utf-8")
    call([terrane, "run", "truth.toml", "-q"], folder)
    fields = table(folder / "output/truth.csv")
    deviation = 0.02 * np.abs(fields["tmi"]).max()
    tmi, *b = (fields[name] + deviation * random.standard_normal(fields[name].size) for name in ("tmi", "b_e", "b_n", "b_u"))
    columns = [fields[name] for name in ("easting", "northing", "up")] + [tmi, np.sqrt(sum(one**2 for one in b))]
    np.savetxt(folder / "observed.csv", np.column_stack(columns), delimiter=",", comments="",
               header="easting [m],northing [m],up [m],tmi_observed [nT],b_amplitude_observed [nT]")
    return deviation


def invert(terrane, folder, deviation, inclination, case):
    _, channel, found, keys = case
    (folder / "job.toml").write_text(
        f'[mesh]\nbox = {BOX}\nshape = {SHAPE}\n[survey]\nkind = "list"\nfile = "observed.csv"\n[simulation]\n'
        + f'physics = "magnetic"\nproperty = "{found}"\nchannels = ["{channel}"]\ninclination = {inclination}\n'
        + f"[inversion]\nfloor = [{deviation}]\nexponent = 2\nlength_scale = [60, 60, 60]\n{keys}\n"
        + '[output]\nfiles = ["fit.csv"]\nmodel = ["model.csv"]\n', encoding="utf-8")
    text, seconds = call([terrane, "invert", "job.toml", "-q", "--json"], folder)
    return json.loads(text)["values"], table(folder / "output/model.csv"), seconds


def row_of(case, box, vector, report, cells, seconds):
    name, _, found, _ = case
    sides = np.array([cells[side] for side in ("west", "east", "south", "north", "bottom", "top")])
    centres = (sides[::2] + sides[1::2]) / 2
    vectors = np.array([cells.get(f"magnetization_{axis}", 0 * centres[0]) for axis in ("east", "north", "up")])
    size = np.linalg.norm(vectors, axis=0) if found == "magnetization" else cells[found]
    strength = np.where(size >= 0.5 * size.max(), size, 0)
    off = (centres * strength).sum(axis=1) / strength.sum() - (np.array(box[::2]) + box[1::2]) / 2
    row = {"case": name, "converged": report["converged"],
           "chi_squared": round(report["phi_d"] / report["data"], 3), "products": report["products"],
           "user_seconds": seconds, "centre_off_m": round(float(np.linalg.norm(off)), 1),
           "up_off_m": round(float(off[2]), 1)}
    if found == "magnetization":
        volume = np.prod(sides[1::2] - sides[::2], axis=0)
        moment = (vectors * volume).sum(axis=1)
        truth = vector * np.prod(np.array(box[1::2]) - box[::2])
        cosine = moment @ truth / np.linalg.norm(moment) / np.linalg.norm(truth)
        row["angle_off"] = round(float(np.degrees(np.arccos(np.clip(cosine, -1, 1)))), 1)
        row["moment_ratio"] = round(float(np.linalg.norm(moment) / np.linalg.norm(truth)), 3)
    return row


def summary(rows):
    """Median and largest value of each column over the seeds, case by case."""
    made = {}
    for name in dict.fromkeys(row["case"] for row in rows):
        of_case = [row for row in rows if row["case"] == name]
        made[name] = {"converged": sum(row["converged"] for row in of_case)}
        for key in ("angle_off", "moment_ratio", "centre_off_m", "products", "user_seconds"):
            values = [row[key] for row in of_case if key in row]
            if values:
                made[name][key] = {"median": round(float(np.median(values)), 3), "least": min(values), "most": max(values)}
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("terrane")
    parser.add_argument("--seeds", type=int, default=8)
    parser.add_argument("-o", "--out")
    given = parser.parse_args()
    terrane, rows = str(Path(given.terrane).resolve()), []
    for seed in range(given.seeds):
        random = np.random.default_rng(seed)
        box, vector, inclination = block_of(random)
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            deviation = observe(terrane, folder, random, box, vector, inclination)
            for case in cases(float(np.linalg.norm(vector))):
                row = {"seed": seed, **row_of(case, box, vector, *invert(terrane, folder, deviation, inclination, case))}
                rows.append(row)
                print(json.dumps(row), flush=True)
    record = {"benchmark": "benchmarks/accuracy/magnetizations.py", "date": datetime.now(timezone.utc).date().isoformat(),
              "program": call([terrane, "--version"], ".")[0].strip(), "cores": os.cpu_count(), "summary": summary(rows),
              "rows": rows}
    print(json.dumps(record["summary"], indent=1))
    if given.out:
        Path(given.out).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
