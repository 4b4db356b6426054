"""terrane check foretells what a run takes of memory above its start, within a tenth: a table of jobs of every kind."""

import math
import os
import random
import re
import resource
import subprocess
import sys

import command
from command import CommandTest

UNITS = {"bytes": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}


def keys(**values):
    """Lines of TOML."""
    def text(value):
        if isinstance(value, str):
            return f'"{value}"'
        return "[" + ", ".join(map(text, value)) + "]" if isinstance(value, (list, tuple)) else f"{value}"
    return "".join(f"{name} = {text(value)}\n" for name, value in values.items())


def box(shape, width=10):
    e, n, u = shape
    return "[mesh]\n" + keys(box=[0, e * width, 0, n * width, -u * width, 0], shape=shape)


def output(files, model=()):
    return "[output]\n" + keys(files=files, model=model)


def potential(physics, rock, shape, stations=(100, 100), files=("fields.nc",), model=(), **more):
    """Rock fills the ellipsoid in a box of cells, or all of it; stations stand on a grid above."""
    e, n, u = (10 * cells for cells in shape)
    body = {"centre": [e / 2, n / 2, -u / 2], "semi_axes": [e / 2, n / 2, u / 2]}
    if rock == "random":
        mesh = "[mesh]\n" + keys(kind="random", shape=shape, widths=[5, 15])
    else:
        mesh = box(shape) + "[[model.body]]\n" + keys(kind="ellipsoid", **body, **rock)
    return (mesh + "[survey]\n" + keys(region=[0, e, 0, n], shape=stations, height=5)
            + "[simulation]\n" + keys(physics=physics, **more) + output(files, model))


def gravity(shape, stations, rock=None, **more):
    return potential("gravity", rock or {"density": 400}, shape, stations, **{"channels": ["g_u"], **more})


def magnetic(shape, stations, **more):
    return potential("magnetic", {"susceptibility": 0.04}, shape, stations, inclination=65, **more)


ROCKS = {
    "constant_density": {"velocity_p": 2000},
    "variable_density": {"velocity_p": 2000, "density": 2200},
    "vti": {"velocity_p": 2000, "epsilon": 0.2, "delta": 0.1},
    "tti": {"velocity_p": 2000, "epsilon": 0.2, "delta": 0.1, "tilt": 35, "tilt_azimuth": 90},
}


def acoustic(shape, steps, shots=1, receivers=100, equation="constant_density", files=("fields.nc",), tables="",
             **more):
    e, n, u = (10 * cells for cells in shape)
    rocks = ROCKS[equation]
    layers = "".join("[[model.body]]\n" + keys(kind="layer", bottom=-1e6, top=top, **{**rocks, "velocity_p": v})
                     for top, v in ((0, 2000), (-u / 2, 2300)))
    shot = {"at": [[100, n / 2, -30]]} if shots == 1 else {"first": [100, n / 2, -30], "last": [e - 100, n / 2, -30],
                                                          "count": shots}
    return (box(shape) + layers + "[survey]\n" + keys(kind="lines", start=[20, n / 2], end=[e - 20, n / 2],
                                                      spacing=(e - 40) / (receivers - 1), height=-20)
            + "[source]\n" + keys(**shot, frequency=15) + tables
            + "[simulation]\n" + keys(physics="acoustic", equation=equation, end=steps * 1e-3, step=1e-3, **more)
            + output(files))


def elastic(shape, steps=4, rock=None, tables="", **more):
    e, n, u = (100 * cells for cells in shape)
    return (box(shape, 100) + "[[model.body]]\n" + keys(kind="layer", bottom=-1e6, top=0, velocity_p=4000,
                                                        velocity_s=2300, density=2500, **(rock or {}))
            + "[survey]\n" + keys(kind="lines", start=[200, n / 2], end=[e - 200, n / 2], spacing=100, height=0)
            + "[source]\n" + keys(at=[e / 2, n / 2, -300], force=[0, 0, 1e9], frequency=4) + tables
            + "[simulation]\n" + keys(physics="elastic", begin=0, end=0.005 * steps, **more) + output(("fields.nc",)))


def layers(columns):
    e, n = (500 * count for count in columns)
    rocks = "".join("[[elements.rock]]\n" + keys(name=name, density=2600, velocity_p=vp, velocity_s=vp / 2)
                    for name, vp in (("upper", 4000), ("lower", 6000)))
    return ("[elements]\n" + keys(kind="layers", box=[0, e, 0, n], columns=columns, top=0)
            + "[[elements.layer]]\n" + keys(bottom=-1000, rows=4, rock="upper")
            + "[[elements.layer]]\n" + keys(bottom=-5000, rows=4, doubling=True, rock="lower").replace("True", "true")
            + rocks + "[survey]\n" + keys(kind="lines", start=[600, 800], end=[4600, 800], spacing=1000, height=0)
            + "[source]\n" + keys(at=[4000, 4000, -2000], force=[0, 0, 1e9], frequency=1)
            + "[simulation]\n" + keys(physics="elastic", begin=0, end=0.04) + output(("fields.nc",)))


def heat(shape, method, steps=2):
    e, n, u = (10 * cells for cells in shape)
    return (box(shape) + "[survey]\n" + keys(kind="list", stations=[[e / 2 + 40, n / 2, -u / 2]])
            + "[source]\n" + keys(at=[e / 2, n / 2, -u / 2], power=500)
            + "[simulation]\n" + keys(physics="heat", thermal_conductivity=2.8, heat_capacity=2.1e6, method=method,
                                      end=f"{steps} day", step="1 day") + output(("fields.nc",)))


def stretched(cells, first, factor):
    """Widths of even cells, from the middle or the top, then of cells that grow."""
    grow = [max(first + k, round(first * factor**k)) for k in range(1, 10) if factor > 1]
    return [first] * cells, grow


def tensor(half, width, factor, air=False):
    """A mesh of so many even cells to each side, then nine that grow; with air, as much above as below."""
    axes = []
    for count in half:
        even, grow = stretched(count, width, factor)
        axes.append([*reversed(grow), *even, *even, *grow])
    even, grow = stretched(half[2], width, factor)
    axes[2] = [*reversed(grow), *even] + ([*even, *grow] if air else [])
    below = sum(grow) + sum(even)
    origin = [-sum(axes[0]) / 2, -sum(axes[1]) / 2, -below]
    return "[mesh]\n" + keys(kind="tensor", easting_widths=axes[0], northing_widths=axes[1], up_widths=axes[2],
                             origin=origin)


def electric(half, factor=1.5, rock=None, files=("fields.csv",), electrodes=5, **more):
    return (tensor(half, 5, factor) + "[model.background]\n" + keys(resistivity=100, **(rock or {}))
            + "[[model.body]]\n" + keys(kind="box", box=[-30, 20, -30, 30, -40, -10], resistivity=10)
            + "[survey]\n" + keys(kind="line", start=[-5 * (electrodes - 1), 0], electrodes=electrodes, spacing=10,
                                  array="dipole-dipole", levels=2)
            + "[simulation]\n" + keys(physics="electric", **more) + output(files))


CHARGES = {"chargeability": 0.02, "cole_cole_time": 0.1, "cole_cole_exponent": 0.5}


def electromagnetic(half, factor=1.5, rock=None, source="dipole", files=("fields.nc",), frequencies=(1,), **more):
    wave = source == "plane_wave"
    where = {} if wave else {"at": [-500, 30, -100], "azimuth": 90}
    recorded = {} if wave else {"components": ["e_e", "h_n"]}
    return (tensor(half, 250, factor, air=True) + "[model.background]\n" + keys(resistivity=100, **(rock or {}))
            + "[[model.body]]\n" + keys(kind="layer", bottom=0, top=1e6, resistivity=1e8)
            + "[[model.body]]\n" + keys(kind="box", box=[-500, 500, -1000, 1000, -2250, -250], resistivity=5)
            + "[[source]]\n" + keys(kind=source, **where)
            + "[survey]\n" + keys(kind="lines", start=[-1000, 0], end=[1000, 0], spacing=100, height=-1)
            + "[simulation]\n" + keys(physics="electromagnetic", frequencies=frequencies, tolerance=1e-2,
                                      most_iterations=6, **recorded, **more) + output(files))


def inversion(physics, shape, stations, **more):
    """Of what a sphere in the middle of the box pulls, with noise."""
    noise, (e, n, u) = random.Random(1), (10 * cells for cells in shape)
    name, unit = ("g_u", "mGal") if physics == "gravity" else ("tmi", "nT")
    rows = [f"easting [m],northing [m],up [m],{name}_observed [{unit}]"]
    for i in range(stations[0]):
        for j in range(stations[1]):
            x, y = e * (i + 0.31) / stations[0], n * (j + 0.37) / stations[1]
            pull = (u / 2 / math.hypot(x - e / 2, y - n / 2, u / 2))**3
            rows.append(f"{x:.2f},{y:.2f},5,{-pull + noise.gauss(0, 0.05):.5f}")
    field = {"inclination": 65} if physics == "magnetic" else {}
    return {"data.csv": "\n".join(rows) + "\n",
            "job.toml": box(shape) + "[survey]\n" + keys(kind="list", file="data.csv")
            + "[simulation]\n" + keys(physics=physics, **field)
            + "[inversion]\n" + keys(floor=[0.05], length_scale=[30, 30, 30], **more)
            + output(("fit.nc",), ("model.nc",))}


def waveforms(shape, steps, **more):
    """Of gathers that an earth with a body in it gave."""
    shots = acoustic(shape, steps, 2, 50, files=("gathers.nc",), sample=2e-3)
    e, n, u = (10 * cells for cells in shape)
    even = shots.split("[survey]")[0]
    body = "[[model.body]]\n" + keys(kind="sphere", centre=[180, n / 2, -120], radius=50, velocity_p=2100)
    return {"first": shots.replace(even, even + body),
            "job.toml": shots.split("[output]")[0] + "[inversion]\n"
            + keys(observed="output/gathers.nc", percent=[3], floor=[1e-12], length_scale=[60, 60, 60], most_products=4,
                   most_steps=2, **more) + output(("fit.nc",), ("model.nc",))}


def resistivities(half, electrodes):
    """Of dipole-dipole arrays over homogeneous ground, with noise."""
    noise = random.Random(3)
    rows = [",".join(f"{electrode}_{axis} [m]" for electrode in "abmn" for axis in ("easting", "northing"))
            + ",apparent_resistivity_observed [ohm m]"]
    for first in range(electrodes - 3):
        for n in range(1, electrodes - 2 - first):
            at = [5 * (first - electrodes / 2 + k) for k in (0, 1, 1 + n, 2 + n)]
            rows.append(",".join(f"{x:g},0" for x in at) + f",{100 * math.exp(noise.gauss(0, 0.05)):.4f}")
    return {"data.csv": "\n".join(rows) + "\n",
            "job.toml": electric(half).split("[survey]")[0] + "[survey]\n" + keys(kind="file", file="data.csv")
            + "[simulation]\n" + keys(physics="electric")
            + "[inversion]\n" + keys(percent=[3], length_scale=[20, 20, 20], most_steps=2)
            + output(("fit.csv",), ("model.nc",))}


def fields(half):
    """Of what a body below the sources gave; the first model has none."""
    job = electromagnetic(half, files=("first.csv",)).replace("most_iterations = 6\n", "")
    start = job.split('[[model.body]]\nkind = "box"')[0] + "[[source]]" + job.split("[[source]]")[1]
    return {"first": job.replace("tolerance = 0.01", "tolerance = 1e-6"),
            "job.toml": start.replace("tolerance = 0.01", "tolerance = 1e-4").split("[output]")[0] + "[inversion]\n"
            + keys(observed="output/first.csv", percent=[3], floor=[1e-15, 1e-15], length_scale=[500, 500, 500],
                   most_steps=2) + output(("fit.nc",), ("model.nc",))}


#: What a job is called, and the job with its numbers of cells and stations as `z` makes them.
JOBS = {
    "gravity, many cells": lambda z: gravity(z(110, 110, 60), (3, 3), method="direct"),
    "gravity, many stations": lambda z: gravity((10, 10, 4), z(800, 700), method="direct", accuracy=1e-3),
    "gravity, all channels": lambda z: gravity((4, 4, 2), z(400, 400), channels=["all"], method="direct",
                                               accuracy=1e-3),
    "gravity, two files": lambda z: gravity((4, 4, 2), z(700, 700), method="direct", accuracy=1e-3,
                                            files=("fields.csv", "fields.nc")),
    "gravity, random blocks": lambda z: gravity(z(90, 90, 70), (3, 3), rock="random", method="direct"),
    "gravity by a tree": lambda z: gravity(z(110, 110, 70), (80, 80), method="tree", accuracy=1e-4),
    "gravity by fast multipoles": lambda z: gravity(z(90, 90, 60), (300, 300), method="fmm", accuracy=1e-4),
    "gravity, what auto takes": lambda z: gravity(z(110, 110, 50), (80, 80), method="auto"),
    "gravity by a lattice": lambda z: gravity((100, 100, 50), (101, 101), method="lattice"),
    "gravity, all channels by a lattice": lambda z: gravity((100, 100, 20), (201, 201), channels=["all"],
                                                            method="lattice"),
    "magnetic, many cells": lambda z: magnetic(z(120, 120, 60), (20, 20)),
    "magnetic, many stations": lambda z: magnetic((6, 6, 4), z(500, 500), accuracy=1e-3),
    "acoustic gathers": lambda z: acoustic((200, 1, 100), 1500, 6, 300),
    "acoustic": lambda z: acoustic(z(150, 150, 90), 12),
    "acoustic in double precision": lambda z: acoustic(z(110, 110, 90), 12, precision="double"),
    "acoustic, variable density": lambda z: acoustic(z(110, 110, 90), 12, equation="variable_density"),
    "acoustic, vti": lambda z: acoustic(z(100, 100, 80), 12, equation="vti"),
    "acoustic, tti": lambda z: acoustic(z(110, 110, 80), 6, equation="tti"),
    "acoustic with snapshots": lambda z: acoustic(z(110, 110, 80), 40, tables="[snapshots]\nevery = 0.02\n"),
    "acoustic velocities": lambda z: acoustic(z(120, 120, 80), 12, record=["pressure", "velocity_up"]),
    "Born": lambda z: acoustic(z(90, 90, 70), 16, kind="born", smoothing=60),
    "migration": lambda z: acoustic(z(70, 70, 60), 40, kind="migration", smoothing=60),
    "migration in two dimensions": lambda z: acoustic((300, 1, 200), 500, kind="migration", smoothing=60),
    "migration that stores": lambda z: acoustic(z(70, 70, 60), 30, kind="migration", smoothing=60, wavefield="store"),
    "migration with checkpoints": lambda z: acoustic(z(60, 60, 60), 40, kind="migration", smoothing=60,
                                                     wavefield="checkpoints"),
    "migration with sides": lambda z: acoustic(z(70, 70, 60), 40, kind="migration", smoothing=60,
                                               wavefield="boundary"),
    "migration with lags": lambda z: acoustic(z(70, 70, 60), 20, kind="migration", smoothing=60, lags=4),
    "waveform inversion": lambda z: waveforms((240, 1, 160), 400),
    "elastic": lambda z: elastic(z(20, 20, 16)),
    "elastic with Q": lambda z: elastic(z(16, 16, 14), rock={"quality_p": 100, "quality_s": 60}),
    "elastic with matched layers": lambda z: elastic(z(14, 14, 10), boundary="pml"),
    "elastic in double precision": lambda z: elastic(z(18, 18, 14), precision="double"),
    "elastic of degree 6": lambda z: elastic(z(13, 13, 10), degree=6),
    "elastic with snapshots": lambda z: elastic(z(16, 16, 12), 20, tables='[snapshots]\nevery = 0.03\nof = "volume"\n'),
    "elastic layers": lambda z: layers((36, 40)),
    "heat, explicit": lambda z: heat(z(90, 90, 80), "explicit"),
    "heat, implicit": lambda z: heat(z(80, 80, 60), "implicit"),
    "direct current": lambda z: electric(z(60, 36, 28)),
    "direct current, cells all even": lambda z: electric(z(70, 36, 40), 1),
    "direct current, cells that grow slowly": lambda z: electric(z(50, 40, 30), 1.2),
    "direct current, chargeable": lambda z: electric(z(50, 36, 26), rock={"chargeability": 0.02}),
    "direct current at a frequency": lambda z: electric(z(40, 26, 20), rock=CHARGES, frequency=1),
    "direct current, by direction": lambda z: electric(z(50, 36, 26), rock={"resistivity_up": 200}),
    "direct current in all cells": lambda z: electric(z(45, 30, 24), volume=["potential", "e"], files=("fields.nc",)),
    "electromagnetic": lambda z: electromagnetic(z(18, 18, 12)),
    "electromagnetic, cells all even": lambda z: electromagnetic(z(24, 24, 16), 1),
    "electromagnetic, secondary": lambda z: electromagnetic(z(14, 14, 10), field="secondary"),
    "electromagnetic, chargeable": lambda z: electromagnetic(z(16, 16, 10), rock=CHARGES),
    "electromagnetic, rough": lambda z: electromagnetic(z(16, 16, 10), rough="always"),
    "electromagnetic in all cells": lambda z: electromagnetic(z(14, 14, 10), volume=["e", "h"]),
    "electromagnetic, several frequencies in all cells": lambda z: electromagnetic(
        z(10, 10, 8), frequencies=(1, 2, 4), volume=["e"]),
    "magnetotelluric": lambda z: electromagnetic(z(16, 16, 12), source="plane_wave"),
    "magnetotelluric over a section": lambda z: electromagnetic(z(16, 16, 12), source="plane_wave", strike="north"),
    "gravity inversion": lambda z: inversion("gravity", (100, 100, 30), (30, 30)),
    "gravity inversion, a matrix": lambda z: inversion("gravity", (40, 40, 20), (26, 26), storage="single"),
    "gravity inversion, in double precision": lambda z: inversion("gravity", (34, 34, 16), (25, 25), storage="dense"),
    "gravity inversion, nothing held": lambda z: inversion("gravity", (100, 100, 40), (5, 5), storage="none"),
    "gravity inversion, bounded": lambda z: inversion("gravity", (40, 40, 20), (26, 26), storage="single", lower=0),
    "gravity inversion, compact": lambda z: inversion("gravity", (40, 40, 20), (20, 20), storage="single",
                                                      norms=[0, 1, 1, 1], tolerance=0.05),
    "gravity inversion, cross validation": lambda z: inversion("gravity", (40, 40, 16), (26, 26), storage="single",
                                                               choice="gcv"),
    "magnetic inversion": lambda z: inversion("magnetic", (50, 50, 20), (22, 22), storage="single"),
    "direct current inversion, few arrays": lambda z: resistivities(z(36, 20, 16), 6),
    "direct current inversion": lambda z: resistivities(z(24, 14, 12), 18),
    "electromagnetic inversion": lambda z: fields(z(12, 12, 9)),
}

#: Those that take no second, one of every physics.
QUICK = ("gravity, many cells", "gravity, many stations", "magnetic, many cells", "acoustic", "acoustic gathers",
         "elastic", "heat, explicit", "direct current", "electromagnetic", "gravity inversion, a matrix")


STARTER = """
import os, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, 2, 1)])
_, status, usage = os.wait4(pid, 0)
print(usage.ru_maxrss)
sys.exit(status != 0)
"""
WORDS = ("--set", "simulation.threads=2")


class MemoryTest(CommandTest):
    """What a process takes: the most of its resident memory."""

    def setUp(self):
        super().setUp()
        with open(command.TERRANE, "rb") as program:
            if b"__asan_init" in program.read():
                self.skipTest("where every access is checked, memory is another")
        self.write("start.toml", gravity((4, 4, 2), (3, 3), files=("fields.csv",)))
        self.start = self.peak("run", "start.toml")

    def peak(self, *words):
        """Bytes. A program that is started counts the memory of the one that starts it as its own: a small one does."""
        with open(self.folder / "said", "w", encoding="utf-8") as said:
            done = subprocess.run([sys.executable, "-S", "-c", STARTER, command.TERRANE, *words], cwd=self.folder,
                                  stdout=subprocess.PIPE, stderr=said, text=True)
        self.assertEqual(done.returncode, 0, (self.folder / "said").read_text(encoding="utf-8"))
        return int(done.stdout) * 1024

    def foretold(self):
        """Bytes that `terrane check` states of job.toml."""
        self.peak("check", "job.toml", *WORDS)
        said = (self.folder / "said").read_text(encoding="utf-8")
        number, unit = re.search(r"^  memory +([\d.]+) (\w+) of", said, re.MULTILINE).groups()
        return float(number) * UNITS[unit]

    def prepare(self, name):
        numbers = random.Random(name)
        files = JOBS[name](lambda *shape: [round(cells * numbers.uniform(0.9, 1.15)) for cells in shape])
        if isinstance(files, str):
            files = {"job.toml": files}
        for file, text in files.items():
            self.write(file, text)
        if "first" in files:
            self.peak("run", "first")
        return "invert" if "[inversion]" in files["job.toml"] else "run"

    def measure(self, name):
        """Of a job of the table: bytes that `terrane check` states, and bytes that a run takes above its start."""
        verb = self.prepare(name)
        foretold = self.foretold()
        return foretold, self.peak(verb, "job.toml", *WORDS) - self.start

    def compare(self, names, within):
        wrong = []
        for name in names:
            foretold, took = self.measure(name)
            line = f"{name}: {foretold / 1e6:.0f} MB foretold, {took / 1e6:.0f} MB taken, {took / foretold:.2f}"
            print(line, flush=True)
            if abs(took / foretold - 1) > within:
                wrong.append(line)
        self.assertFalse(wrong, "\n".join(wrong))

    def addresses(self):
        """Bytes of addresses that the program has when it begins, to 4 MB: its libraries are what it was built with."""
        few, enough = 0, 1 << 40
        while enough - few > 4e6:
            most = (few + enough) // 2
            done = subprocess.run([command.TERRANE, "--version"], capture_output=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most)))
            few, enough = (few, most) if done.returncode == 0 else (most, enough)
        return enough

    def limited(self, verb, limit):
        """A run whose addresses are limited to so many bytes (`ulimit -v`)."""
        return subprocess.run([command.TERRANE, verb, "job.toml", *WORDS], cwd=self.folder, capture_output=True, text=True,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (int(limit), int(limit))))

    def allowed(self, verb, needed):
        """A run whose job allows nine tenths of what it needs, bytes."""
        return subprocess.run([command.TERRANE, verb, "job.toml", "--set", f'simulation.memory="{0.9e-6 * needed:.0f} MB"'],
                              cwd=self.folder, capture_output=True, text=True)


class Memory(MemoryTest):
    def test_IsForetoldWithinATenthOfAJobOfEveryPhysics(self):
        self.compare(QUICK, 0.12)

    def test_ThatALimitOfAddressesDoesNotLeaveIsMissedBeforeARunBegins(self):
        # Beside its libraries the program keeps a stack for every thread that the machine could run.
        start = self.addresses() + 2.5e7 + 8.4e6 * os.cpu_count()
        for name in ("acoustic", "heat, implicit"):
            verb = self.prepare(name)
            needed = self.foretold()
            for share in (0, 0.3, 0.5, 4):
                done = self.limited(verb, needed * share + start)
                with self.subTest(name=name, share=share):
                    if share < 1:
                        self.assertEqual(done.returncode, 1, done.stderr)
                        self.assertIn("would need", done.stderr)
                    else:
                        self.assertEqual(done.returncode, 0, done.stderr)

    def test_BeyondWhatTheJobAllowsIsNotTaken(self):
        for name in ("heat, explicit", "elastic", "direct current", "acoustic", "gravity, many cells"):
            verb = self.prepare(name)
            done = self.allowed(verb, self.foretold())
            with self.subTest(name=name):
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("would need", done.stderr)


class LongMemory(MemoryTest):
    def test_IsForetoldWithinATenthOfJobsOfEveryKind(self):
        self.compare(JOBS, 0.1)


if __name__ == "__main__":
    command.main()
