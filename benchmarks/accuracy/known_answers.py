#!/usr/bin/env python3
"""Rows of outside tests that once came out wrong, taken again: what is right, and what comes now.

    benchmarks/accuracy/known_answers.py TERRANE [--only WORD] [--json]

Each row runs small jobs through the command and compares a number with its right value, which a closed form, a symmetry
or another way to say the same problem gives; or it asks for the refusal or warning that belongs there. It takes half a
minute of one core. Needs NumPy and netCDF4. Exits with 1 where a row is not right.
"""

import argparse
import contextlib
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

ROWS = []
MU_0 = 4e-7 * math.pi


def row(text, right, within, before):
    """A row, whose function gets a Folder and returns a number, or whether what belongs there came (right: True).

    before: what came at 0ccd7d9.
    """
    def keep(function):
        ROWS.append((function.__name__, text, right, within, before, function))
        return function
    return keep


class Folder:
    def __init__(self, terrane, path):
        self.terrane, self.path = terrane, Path(path)

    def write(self, name, text):
        (self.path / name).parent.mkdir(exist_ok=True)
        (self.path / name).write_text(text)

    def call(self, *words):
        done = subprocess.run([self.terrane, *words], cwd=self.path, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def run(self, job, verb="run", name="job.toml"):
        self.write(name, job)
        code, said = self.call(verb, name)
        if code:
            raise RuntimeError(said)
        return said

    def table(self, name="output/out.csv"):
        rows = [line.split(",") for line in (self.path / name).read_text().splitlines() if not line.startswith("#")]
        return {word.split(" ")[0]: np.array([float(r[n]) for r in rows[1:]]) for n, word in enumerate(rows[0])}

    def values(self, variable, name="output/out.nc"):
        import netCDF4
        with contextlib.closing(netCDF4.Dataset(self.path / name)) as data:
            return np.asarray(data[variable][:], dtype=float)


def apart(one, other):
    """Relative difference of two sets of traces in the sense of least squares."""
    return float(np.sqrt(((one - other) ** 2).sum() / (other ** 2).sum()))


# ---- magnetics

def block_of(directions, stations):
    """Two blocks of 50 × 100 × 100 m that touch at easting 0, each of 1 A/m along one axis."""
    bodies = "".join(f'[[model.body]]\nkind = "box"\nbox = [{west}, {west + 50}, -50, 50, -100, 0]\n'
                     f'magnetization_{axis} = 1\n' for west, axis in zip((-50, 0), directions))
    return ("[mesh]\nbox = [-50, 50, -50, 50, -100, 0]\nshape = [2, 1, 1]\n" + bodies + "[survey]\nkind = \"list\"\n"
            + f"stations = {stations}\n[simulation]\nphysics = \"magnetic\"\nchannels = [\"b_e\", \"b_n\", \"b_u\"]\n"
            + 'singular = "mean"\n[output]\nfiles = ["out.csv"]\n')


def inside_of_a_cube():
    """B in the middle of a cube of 1 A/m, nT: two of its faces are charged, and each is seen under 2π/3."""
    return 1e9 * MU_0 * (1 - 2 * (2 * math.pi / 3) / (4 * math.pi))


@row("b_u in the middle of a block that is cut into two cells, nT", inside_of_a_cube(), 1e-5, "-418.88")
def magnetic_internal_face(folder):
    folder.run(block_of(("up", "up"), [[0, 0, -50]]))
    return folder.table()["b_u"][0]


@row("b_n on the face of two blocks of different directions, less the mean of its sides, nT", 0.0, 0.05, "-413 to -206")
def magnetic_two_directions(folder):
    folder.run(block_of(("east", "north"), [[0, 3, -40], [-1e-6, 3, -40], [1e-6, 3, -40]]))
    b = folder.table()["b_n"]
    return b[0] - (b[1] + b[2]) / 2


@row("a magnetization of 1e200 A/m is refused at its key", True, None, "all fields zero")
def magnetic_overflow(folder):
    job = block_of(("up", "up"), [[0, 0, 5]])
    folder.write("job.toml", job.replace("magnetization_up = 1", "magnetization_up = 1e200"))
    code, said = folder.call("check", "job.toml")
    return code == 2 and "magnetization_up" in said


# ---- inversion

GRAVITY_MESH = "[mesh]\nbox = [0, 400, 0, 400, -200, 0]\nshape = [20, 20, 10]\n"


def sphere_free(body):
    return f'[[model.body]]\nkind = "box"\nbox = {body}\ndensity = 300\n'


@row("largest density that is found where the known reference of inactive cells explains all data, kg/m3", 0.0, 1.0,
     "3763")
def inactive_reference(folder):
    e = np.linspace(20, 380, 8)
    stations = [[float(x), float(y), 10.0] for x in e for y in e]
    folder.run(GRAVITY_MESH + sphere_free("[280, 360, 160, 240, -160, -80]") + '[survey]\nkind = "list"\n'
               + f'stations = {stations}\n[simulation]\nchannels = ["g_u"]\n[output]\nfiles = ["out.csv"]\n'
               'model = ["known.nc"]\n')
    data = folder.table()
    folder.write("data.csv", "easting [m],northing [m],up [m],g_u_observed [mGal]\n" + "".join(
        f"{x},{y},{z},{g}\n" for x, y, z, g in zip(data["easting"], data["northing"], data["up"], data["g_u"])))
    folder.run(GRAVITY_MESH + sphere_free("[0, 200, 0, 400, -200, 0]").replace("300", "1") + '[survey]\nkind = "list"\n'
               'stations = [[0, 0, 10]]\n[simulation]\nchannels = ["g_u"]\n[output]\nfiles = ["half.csv"]\n'
               'model = ["half.nc"]\n')
    folder.run(GRAVITY_MESH + '[survey]\nkind = "list"\nfile = "data.csv"\n[simulation]\nphysics = "gravity"\n'
               '[inversion]\nfloor = [1e-3]\nactive_file = "output/half.nc"\nreference = "output/known.nc"\n'
               '[output]\nfiles = ["fit.csv"]\nmodel = ["found.nc"]\n', "invert")
    found = folder.values("density", "output/found.nc")
    return float(np.abs(found[:, :, :10]).max())


# ---- acoustic waves

ACOUSTIC = """[mesh]
box = [0, 400, -5, 5, -400, 0]
shape = [40, 1, 40]
[[model.body]]
kind = "layer"
bottom = -400
top = 0
velocity_p = 2000
[source]
at = [[100, 0, -100]]
frequency = 10
"""
RECEIVERS = '[survey]\nkind = "list"\nstations = [[200, 0, -20], [300, 0, -20], [200, 0, -20]]\n'


@row("a migration reads the gathers that a job with two receivers at one place wrote", True, None, "refused")
def own_gathers(folder):
    job = ACOUSTIC + RECEIVERS + '[simulation]\nphysics = "acoustic"\nend = 0.4\n'
    folder.run(job + '[output]\nfiles = ["out.nc"]\n')
    folder.run(job + 'kind = "migration"\nobserved = "output/out.nc"\nsmoothing = 20\n[output]\nfiles = ["image.nc"]\n')
    return True


@row("a smoothing below zero is refused at its key", True, None, "\"-nan m/s in cell 0\"")
def negative_smoothing(folder):
    folder.write("job.toml", ACOUSTIC + RECEIVERS + '[simulation]\nphysics = "acoustic"\nend = 0.4\nkind = "born"\n'
                 'smoothing = -60\n')
    code, said = folder.call("check", "job.toml")
    return code == 2 and "smoothing" in said and "nan" not in said


@row("a wavelet that the run cuts is warned of", True, None, "nothing")
def cut_wavelet(folder):
    rest = RECEIVERS + '[simulation]\nphysics = "acoustic"\nend = 0.4\n'
    said = [folder.run(ACOUSTIC + delay + rest, "check") for delay in ("", "delay = 0\n")]
    return ["start with a jump" in text for text in said] == [False, True]


# ---- elastic waves

ROCK = "[model.background]\ndensity = 2500\nvelocity_p = 3000\n"
ELASTIC = "[mesh]\nbox = [0, 1000, 0, 1000, -1000, 0]\nshape = [8, 8, 8]\n" + ROCK
PAR_FILE = """SIMULATION_TYPE = 1
NOISE_TOMOGRAPHY = 0
SUPPRESS_UTM_PROJECTION = .true.
NPROC = 1
NSTEP = 400
DT = 0.001d0
MODEL = default
ANISOTROPY = .false.
ATTENUATION = .false.
STACEY_ABSORBING_CONDITIONS = .true.
STACEY_INSTEAD_OF_FREE_SURFACE = .false.
USE_FORCE_POINT_SOURCE = .false.
USE_RICKER_TIME_FUNCTION = {ricker}
USE_SOURCES_RECEIVERS_Z = .false.
SAVE_SEISMOGRAMS_DISPLACEMENT = .true.
SAVE_SEISMOGRAMS_VELOCITY = .false.
"""


def cmt(duration, depth):
    return (f"PDE 2020 01 01 00 00 00.00 500.0 500.0 {depth} 4.2 4.2 TEST\nevent name: TEST\ntime shift: 0.0\n"
            f"half duration: {duration}\nlatorUTM: 500.0\nlongorUTM: 500.0\ndepth: {depth}\n"
            "Mrr: 1.0e+22\nMtt: 1.0e+22\nMpp: 1.0e+22\nMrt: 0.0\nMrp: 0.0\nMtp: 0.0\n")


def seismograms_of_files(folder, mesh, duration, depth, ricker=".false.", more=""):
    folder.write("Par_file", PAR_FILE.format(ricker=ricker))
    folder.write("CMTSOLUTION", cmt(duration, depth))
    folder.write("STATIONS", "S1 XX 500.0 750.0 0.0 0.0\n")
    folder.run(mesh + '[simulation]\nphysics = "elastic"\npar_file = "Par_file"\n' + more
               + '[output]\nfiles = ["out.nc"]\n')
    return folder.values("displacement")


def seismograms_of_keys(folder, mesh, source, up, station_up=0.0, more="", begin=None):
    folder.run(mesh + f"[source]\nat = [500, 500, {up}]\nmoment = [1e15, 1e15, 1e15, 0, 0, 0]\n" + source
               + f'[survey]\nkind = "list"\nstations = [[750, 500, {station_up}]]\n[simulation]\nphysics = "elastic"\n'
               + f"step = 0.001\nend = 0.4\n{f'begin = {begin}' if begin is not None else ''}\n" + more
               + '[output]\nfiles = ["out.nc"]\n', name="keys.toml")
    return folder.values("displacement")


def begin_of(folder):
    return float(folder.values("time")[0]) - 0.001


@row("seismograms of a Ricker from SPECFEM3D's files beside those of the same source by keys, L2", 0.0, 1e-3,
     "7.8 to 11.4")
def ricker_of_par_file(folder):
    mesh = ELASTIC + "velocity_s = 1700\n"
    files = seismograms_of_files(folder, mesh, 5, 0.3, ".true.")
    return apart(files, seismograms_of_keys(folder, mesh, 'pulse = "ricker"\nfrequency = 5\ndelay = 0\n', -300,
                                            begin=begin_of(folder)))


@row("seismograms of a CMTSOLUTION in a fluid beside those of a Gaussian by keys, L2", 0.0, 1e-3, "1.17")
def cmt_in_a_fluid(folder):
    mesh = ELASTIC + "velocity_s = 0\n"
    files = seismograms_of_files(folder, mesh, 0.1, 0.3)
    pulse = f'pulse = "gaussian"\nduration = {0.1 / 1.628}\ndelay = 0\n'
    return apart(files, seismograms_of_keys(folder, mesh, pulse, -300, begin=begin_of(folder)))


@row("seismograms of a depth beside a hill beside those of the place below the ground there, L2", 0.0, 1e-3,
     "0.83 to 1.73")
def depth_beside_a_hill(folder):
    ground = [[200 * math.exp(-((e - 750) ** 2 + (n - 500) ** 2) / 2e4) for e in range(0, 1001, 125)]
              for n in range(1000, -1, -125)]
    folder.write("hill.asc", "ncols 9\nnrows 9\nxllcenter 0\nyllcenter 0\ncellsize 125\n"
                 + "\n".join(" ".join(f"{u:.9g}" for u in line) for line in ground) + "\n")
    mesh = ELASTIC + "velocity_s = 1700\n"
    files = seismograms_of_files(folder, mesh, 0.1, 0.3, more='surface = "hill.asc"\n')
    here = 200 * math.exp(-6.25e4 / 2e4)
    return apart(files, seismograms_of_keys(folder, mesh, f'pulse = "step"\nduration = {0.1 / 1.628}\ndelay = 0\n',
                                            here - 300, 200.0, 'surface = "hill.asc"\n', begin_of(folder)))


@row("largest difference of a record to the beginning of a longer one, of its largest sample", 0.0, 3e-4, "0.03")
def end_of_record(folder):
    mesh = ELASTIC + "velocity_s = 1700\n"

    def record(end):
        folder.run(mesh + "[source]\nat = [500, 500, -300]\nforce = [0, 0, 1e9]\nfrequency = 5\n" + '[survey]\nkind = '
                   f'"list"\nstations = [[800, 500, 0]]\n[simulation]\nphysics = "elastic"\nend = {end}\n'
                   'step = 0.002\n[output]\nfiles = ["out.nc"]\n')
        return folder.values("displacement")
    short, long = record(0.4), record(0.7)
    n = short.shape[-1]
    return float(np.abs(short - long[..., :n]).max() / np.abs(short).max())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("terrane")
    parser.add_argument("--only", default="")
    parser.add_argument("--json", action="store_true", help="print JSON in place of lines")
    options = parser.parse_args()
    terrane = str(Path(options.terrane).resolve())
    results, wrong = {}, 0
    for name, text, right, within, before, function in ROWS:
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as path:
            try:
                came = function(Folder(terrane, path))
            except Exception as error:  # a row that cannot run is wrong
                came = f"{type(error).__name__}: {error}"
        if isinstance(came, str):
            good = False
        elif right is True:
            came = good = bool(came)
        else:
            came = float(f"{came:.6g}")
            good = abs(came - right) <= within * (abs(right) if right else 1)
        wrong += not good
        if not options.json:
            print(f"{'right' if good else 'WRONG'}  {name}: {text}\n       right {right}, now {came}; at 0ccd7d9 {before}")
        results[name] = {"what": text, "right": right, "now": came, "at 0ccd7d9": before, "is right": good}
    if options.json:
        print(json.dumps(results, indent=1))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
