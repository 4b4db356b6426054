"""Terrane beside harmonica, choclo and SimPEG: same inputs, same machine, one run.

    python benchmarks/peers/run.py [--prisms 10000] [--stations 10000] [--repeat 3] [--threads N]

makes the environment build/peers with the peers from PyPI and Terrane from this checkout, lets every contestant compute
in a process of its own, and compares
  accuracy   at the points of tests/support/data/prism_quad_precision.csv: near, far, slivers, plates, edges, faces;
  agreement  of all fields on random prisms;
  time       after compilation, for one channel, for all ten, and for the pull of a tensor mesh;
  memory     beyond the inputs.
Writes benchmarks/records/peers.json, docs/peers.md and docs/img/peers.svg. Needs a network the first time.
"""

import argparse
import csv
import datetime
import json
import math
import os
import platform
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import records  # noqa: E402
HERE = Path(__file__).resolve().parent
ENVIRONMENT = ROOT / "build" / "peers"
PYTHON = ENVIRONMENT / "bin" / "python"
NAMES = ["V", "gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz"]
KINDS = {"potential": slice(0, 1), "gravity": slice(1, 4), "tensor": slice(4, 10)}


def sh(*words, **options):
    return subprocess.run([str(w) for w in words], check=True, **options)


def prepare(build):
    """The environment with the peers, and Terrane as it is now."""
    stamp = ENVIRONMENT / ".requirements"
    wanted = (HERE / "requirements.txt").read_text()
    if not PYTHON.exists() or not stamp.exists() or stamp.read_text() != wanted:
        print("making build/peers with harmonica, choclo and SimPEG", flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        sh(PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", HERE / "requirements.txt")
        stamp.write_text(wanted)
    if not build:
        return
    prefix = ROOT / "build" / "prefix"
    print("building Terrane", flush=True)
    sh(ROOT / "tools" / "build", "release", stdout=subprocess.DEVNULL)
    sh("cmake", "--install", ROOT / "build" / "release", "--prefix", prefix, stdout=subprocess.DEVNULL)
    (config,) = prefix.glob("lib*/cmake/terrane/terraneConfig.cmake")
    sh(PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--force-reinstall", "--no-deps", ROOT, "-C",
       f"cmake.define.terrane_DIR={config.parent}", env={**os.environ, "TERRANE_PREBUILT": "1"})


MAKE_INPUTS = """
import sys, numpy as np
folder, prisms, stations = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
random = np.random.default_rng(20250601)
low = random.uniform([-25e3, -25e3, -10e3], [24e3, 24e3, -2e3], (prisms, 3))
high = low + random.uniform(100, 1500, low.shape)
at = np.column_stack([random.uniform(-25e3, 25e3, (stations, 2)), random.uniform(1, 1500, stations)])
np.savez(folder + "/random.npz", prisms=np.stack([low, high], axis=2).reshape(-1, 6),
         density=random.uniform(-500, 500, prisms), stations=at)
n = max(2, round(prisms ** (1 / 3)))
n_up = max(1, round(prisms / n / n))
axes = [np.linspace(-25e3, 25e3, n + 1), np.linspace(-25e3, 25e3, n + 1), np.linspace(-10e3, 0, n_up + 1)]
cells = []
for u in range(n_up):
    for v in range(n):
        for w in range(n):
            cells.append([axes[0][w], axes[0][w + 1], axes[1][v], axes[1][v + 1], axes[2][u], axes[2][u + 1]])
np.savez(folder + "/mesh.npz", prisms=np.array(cells), density=random.uniform(-500, 500, len(cells)), stations=at,
         easting=axes[0], northing=axes[1], up=axes[2])
rows = np.loadtxt(folder + "/points.txt", ndmin=2)
np.savez(folder + "/points.npz", prisms=rows[:, :6], stations=rows[:, 6:9], density=np.ones(len(rows)))
"""

COMPARE = """
import json, sys, numpy as np
names = json.loads(sys.argv[1])
out = {}
for task, pairs in names.items():
    for path in pairs[1:]:
        got = np.load(path)["arr_0"]
        truth = np.load(pairs[0])["arr_0"][:, :got.shape[1]]
        kinds = [slice(0, 1), slice(1, 4), slice(4, 10)] if len(truth) == 10 else [slice(0, 1)]
        out[path] = max(float(np.max(np.linalg.norm(got[k] - truth[k], axis=0))
                              / np.max(np.linalg.norm(truth[k], axis=0))) for k in kinds)
print(json.dumps(out))
"""

DRAW = """
import json, sys
import matplotlib
matplotlib.use("svg")
import matplotlib.pyplot as pyplot
record, path = json.load(open(sys.argv[1])), sys.argv[2]
pyplot.rcParams.update({"font.size": 8, "svg.fonttype": "none", "svg.hashsalt": "terrane", "axes.linewidth": 0.6})
titles = {"one": "one channel", "all": "all ten channels", "mesh": "$g_u$ of a tensor mesh"}
figure, grid = pyplot.subplots(1, 3, figsize=(8.2, 2.2), layout="constrained")
for axes, task in zip(grid, titles):
    rows = sorted((r for r in record["times"] if r["task"] == task), key=lambda r: r["nanoseconds"], reverse=True)
    colours = ["#1f6f78" if r["contestant"].startswith("terrane") else "#b8b8b8" for r in rows]
    bars = axes.barh([r["label"] for r in rows], [r["nanoseconds"] for r in rows], color=colours, height=0.65)
    axes.bar_label(bars, [f"{r['nanoseconds']:.3g}" for r in rows], padding=2, fontsize=7)
    axes.set_xlim(0, max(r["nanoseconds"] for r in rows) * 1.2)
    axes.set_title(titles[task], fontsize=9)
    axes.set_xlabel("ns per prism and station")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
figure.savefig(path, metadata={"Date": None})
"""

LABELS = {"terrane:direct": "Terrane, direct", "terrane:auto": "Terrane, auto", "harmonica": "harmonica",
          "choclo": "choclo loop", "simpeg:choclo": "SimPEG (choclo)", "simpeg:geoana": "SimPEG (geoana)"}


def table_of_points(folder):
    """The quad-precision table: cases and values that are finite."""
    cases, truth = [], []
    with open(ROOT / "tests/support/data/prism_quad_precision.csv", encoding="utf-8") as file, \
            open(folder / "points.txt", "w", encoding="utf-8") as points:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            values = [float(row[n]) for n in NAMES]
            if any(math.isnan(v) for v in values) or "face" in row["case"]:
                continue  # where there is no single value, each has its own policy
            cases.append(row["case"])
            truth.append(values)
            print(*(row[k] for k in ("x1", "x2", "y1", "y2", "z1", "z2", "px", "py", "pz")), file=points)
    return cases, truth


def work(contestant, task, folder, threads, repeat, limit=60):
    source = folder / {"one": "random.npz", "all": "random.npz", "mesh": "mesh.npz", "points": "points.npz"}[task]
    out = folder / f"{contestant.replace(':', '_')}-{task}.npz"
    done = subprocess.run([str(PYTHON), str(HERE / "worker.py"), contestant, task, str(source), str(out), str(threads),
                           str(repeat), str(limit)], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{contestant}, {task}: failed\n{done.stderr}")
    report = json.loads(done.stdout.strip().splitlines()[-1])
    report.update(label=LABELS[contestant], output=str(out))
    return report


def accuracy(folder, threads):
    """Largest error of each kind of channel, by case, of Terrane and harmonica (whose kernels are choclo's)."""
    cases, truth = table_of_points(folder)
    sh(PYTHON, "-c", MAKE_INPUTS, folder, 8, 8)
    errors = {}
    for contestant in ("terrane:direct", "harmonica"):
        out = work(contestant, "points", folder, threads, 1)["output"]
        code = "import json, sys, numpy; print(json.dumps(numpy.load(sys.argv[1])['arr_0'].T.tolist()))"
        got = json.loads(sh(PYTHON, "-c", code, out, capture_output=True, text=True).stdout)
        for case, right, there in zip(cases, truth, got):
            for kind, part in KINDS.items():
                size = math.hypot(*right[part])
                off = math.hypot(*(a - b for a, b in zip(there[part], right[part]))) / size if size else 0.0
                place = errors.setdefault(case, {}).setdefault(kind, {})
                off = off if math.isfinite(off) else math.inf
                place[contestant] = max(place.get(contestant, 0.0), off)
    return {"points": {case: cases.count(case) for case in dict.fromkeys(cases)}, "errors": errors}


def machine():
    model = platform.processor()
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            model = line.split(":", 1)[1].strip()
            break
    return {"processor": model, "cores": os.cpu_count(), "system": platform.platform(), "python": platform.python_version(),
            "load": os.getloadavg()[0]}


def commit():
    said = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"], cwd=ROOT, text=True,
                          capture_output=True, check=False)
    return said.stdout.strip() or "unknown"


def size_text(number):
    return f"{number / 1e6:.0f} MB" if number >= 1e6 else f"{number / 1e3:.0f} kB"


def error_text(error):
    return "not finite" if error == math.inf else f"{error:.0e}" if error else "0"


def document(record):
    """docs/peers.md"""
    by = {(r["task"], r["contestant"]): r for r in record["times"]}
    lines = [
        "# Beside other programs", "",
        f"Gravity of {record['prisms']:,} prisms at {record['stations']:,} stations, {record['threads']} threads, "
        f"{record['machine']['processor']}. Times exclude compilation and are the best of {record['repeat']} runs "
        "(for other programs on prisms: of one run, with fewer stations if it would be long).\nVersions: " + ", ".join(f"{n} {v}" for n, v in record["versions"].items()) + ".", "",
        "![nanoseconds per prism and station](img/peers.svg)", "",
        "| task | program | method | stations | seconds | ns per prism and station | speed of Terrane | memory | difference |",
        "|---|---|---|--:|--:|--:|--:|--:|--:|"]
    titles = {"one": "one channel", "all": "all ten", "mesh": "g_u, tensor mesh"}
    for task, title in titles.items():
        base = by[task, "terrane:direct"]["nanoseconds"]
        for row in (r for r in record["times"] if r["task"] == task):
            ours = row["contestant"].startswith("terrane")
            lines.append(
                f"| {title} | {row['label']} | {row['method'] or 'direct'} | {row['stations']:,} "
                f"| {row['seconds']:.3g} "
                f"| {row['nanoseconds']:.3g} | {'' if ours else format(row['nanoseconds'] / base, '.1f') + ' ×'} "
                f"| {size_text(row['memory_bytes'])} | {row.get('difference', 0):.0e} |")
    lines += [
        "", "*Difference* is the largest difference from Terrane's direct sum, divided by the largest value, for potential, vector",
        "and tensor separately. All programs compute in double precision with the same gravitational constant; Terrane's",
        "accuracy is the default of 1e-12. *choclo loop* is one compiled loop that calls choclo's kernels one after the other.",
        "",
        "## Accuracy", "",
        "The table gives the largest relative error for one prism and one station, compared with values in quadruple",
        "precision (by norm, for potential, gravity vector and tensor separately). harmonica's kernels are choclo's;",
        "SimPEG's node-sharing engine uses them too.", "", "| case | points | | Terrane | harmonica |", "|---|--:|---|--:|--:|"]
    for case, kinds in record["accuracy"]["errors"].items():
        for n, (kind, errors) in enumerate(kinds.items()):
            lines.append(f"| {case.replace('_', ' ') if not n else ''} "
                         f"| {record['accuracy']['points'][case] if not n else ''} | {kind} "
                         f"| {error_text(errors['terrane:direct'])} | {error_text(errors['harmonica'])} |")
    lines += ["", "The closed forms that other programs sum lose digits with distance: the terms of the eight corners grow "
              "while their sum\ndecreases. Terrane computes the differences of the terms of the corners analytically.", "",
              f"Written by `python benchmarks/peers/run.py` at commit {record['commit']}; the record is "
              "`benchmarks/records/peers.json`.", ""]
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--prisms", type=int, default=10_000)
    parser.add_argument("--stations", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--limit", type=float, default=45.0,
                        help="seconds a contestant may take; a slower one gets fewer stations")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--no-build", action="store_true", help="take Terrane as it lies in build/peers")
    parser.add_argument("--geoana", action="store_true", help="SimPEG's other engine too (slow)")
    parser.add_argument("--test", action="store_true", help="run the tests marked peers, and nothing else")
    parser.add_argument("--simpeg-tests", type=Path, metavar="FOLDER",
                        help="run SimPEG's own tests, tests/pf or tests/em/static of its source, on Terrane, and "
                             "nothing else")
    parser.add_argument("--output", type=Path, default=ROOT, help="folder for benchmarks/records and docs")
    given = parser.parse_args()
    prepare(not given.no_build)
    if given.test:
        sys.exit(subprocess.run([str(PYTHON), "-m", "pytest", "-q", "-m", "peers", "tests/python/test_peers.py"], cwd=ROOT,
                                check=False).returncode)
    if given.simpeg_tests:
        sys.exit(subprocess.run([str(PYTHON), str(HERE / "simpeg_tests.py"), str(given.simpeg_tests)],
                                check=False).returncode)
    record = {"command": "python benchmarks/peers/run.py", "commit": commit(), "machine": machine(),
              "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
              "prisms": given.prisms, "stations": given.stations, "threads": given.threads, "repeat": given.repeat}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        record["accuracy"] = accuracy(folder, given.threads)
        sh(PYTHON, "-c", MAKE_INPUTS, folder, given.prisms, given.stations)
        few = 1  # peers take up to a minute and more each
        tasks = [("terrane:direct", "one", given.repeat), ("terrane:auto", "one", given.repeat),
                 ("harmonica", "one", few), ("choclo", "one", few),
                 ("terrane:direct", "all", given.repeat), ("terrane:auto", "all", given.repeat),
                 ("harmonica", "all", few), ("choclo", "all", few),
                 ("terrane:direct", "mesh", given.repeat), ("terrane:auto", "mesh", given.repeat),
                 ("simpeg:choclo", "mesh", given.repeat)]
        if given.geoana:
            tasks.append(("simpeg:geoana", "mesh", few))
        record["times"], record["versions"] = [], {}
        outputs = {}
        for contestant, task, repeat in tasks:
            print(f"{LABELS[contestant]:<18} {task:<5} ", end="", flush=True)
            row = work(contestant, task, folder, given.threads, repeat, given.limit)
            row["nanoseconds"] = row["seconds"] / given.prisms / row["stations"] * 1e9
            print(f"{row['seconds']:8.3f} s  {row['nanoseconds']:8.3g} ns  {size_text(row['memory_bytes'])}", flush=True)
            outputs.setdefault(task, []).append(row["output"])
            record["times"].append(row)
            record["versions"][contestant.split(":")[0]] = row["version"]
        said = sh(PYTHON, "-c", COMPARE, json.dumps(outputs), capture_output=True, text=True).stdout
        differences = json.loads(said)
        for row in record["times"]:
            row["difference"] = differences.get(row.pop("output"), 0.0)
    by = {(r["task"], r["contestant"]): r["nanoseconds"] for r in record["times"]}
    record["ratios"] = {
        "all ten, harmonica / direct": by["all", "harmonica"] / by["all", "terrane:direct"],
        "all ten, choclo / direct": by["all", "choclo"] / by["all", "terrane:direct"],
        "one channel, harmonica / direct": by["one", "harmonica"] / by["one", "terrane:direct"],
        "one channel, choclo / direct": by["one", "choclo"] / by["one", "terrane:direct"],
        "mesh, SimPEG / best": by["mesh", "simpeg:choclo"] / min(by["mesh", "terrane:direct"], by["mesh", "terrane:auto"]),
    }
    record["targets"] = dict(zip(record["ratios"], (20, 20, 5, 5, 3)))
    for what, ratio in record["ratios"].items():
        print(f"{what:<34} {ratio:6.1f} ×  (target {record['targets'][what]})")

    for part in ("benchmarks/records", "docs/img"):
        (given.output / part).mkdir(parents=True, exist_ok=True)
    path = given.output / "benchmarks" / "records" / "peers.json"
    path.write_text(records.text(record), encoding="utf-8")
    (given.output / "docs" / "peers.md").write_text(document(record))
    sh(PYTHON, "-c", DRAW, path, given.output / "docs" / "img" / "peers.svg")
    print(f"wrote {path}, docs/peers.md, docs/img/peers.svg")


if __name__ == "__main__":
    main()
