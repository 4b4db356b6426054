"""The package itself: quick to import, typed, documented."""

import ast
import doctest
import importlib
import importlib.util
import pkgutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT, run_python

import terrane

HOME = Path(terrane.__path__[0])
MODULES = sorted(name for _, name, _ in pkgutil.walk_packages(terrane.__path__, "terrane.")
                 if name != "terrane._core" and not name.endswith("_command")
                 and (name != "terrane.compat.emg3d" or importlib.util.find_spec("emg3d")))  # stands on emg3d


def test_import_is_quick_and_loads_nothing_heavy():
    code = ("import sys, time; start = time.process_time(); import terrane; terrane.gravity;"
            "print(time.process_time() - start);"
            "print([m for m in ('xarray', 'matplotlib', 'pandas', 'scipy', 'tqdm') if m in sys.modules])")
    run_python(code)  # files come into memory
    times = []
    for _ in range(5):
        seconds, loaded = run_python("import numpy;" + code).stdout.split("\n")[:2]
        times.append(float(seconds))
    assert loaded == "[]"
    assert min(times) < 0.15


def test_one_prism_at_one_station_takes_microseconds():
    prism, one, zero = np.array([[0.0, 1, 0, 1, -1, 0]]), np.array([1.0]), np.array([0.0])
    best = np.inf
    for _ in range(30):
        start = time.perf_counter()
        for _ in range(50):
            terrane.gravity.forward(prism, one, zero, zero, one)
        best = min(best, (time.perf_counter() - start) / 50)
    assert best < 200e-6


@pytest.mark.parametrize("name", ["terrane", *MODULES])
def test_docstrings_hold(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for needed in {"terrane.compat.harmonica": ["xarray"]}.get(name, []):
        pytest.importorskip(needed)
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_the_page_about_python_holds(tmp_path, monkeypatch):
    for needed in ("xarray", "pandas", "matplotlib", "netCDF4"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    result = doctest.testfile(str(ROOT / "docs" / "python.md"), module_relative=False,
                              optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 20 and result.failed == 0


def test_there_are_docstrings_to_hold():
    finder = doctest.DocTestFinder(exclude_empty=True)
    examples = [t for name in ["terrane", *MODULES] for t in finder.find(importlib.import_module(name)) if t.examples]
    assert len(examples) >= 7


def test_all_that_is_offered_is_there_and_documented():
    assert terrane.__version__.count(".") == 2
    for name in terrane.__all__:
        assert getattr(terrane, name).__doc__, name
    assert set(terrane.__all__) <= set(dir(terrane))
    with pytest.raises(AttributeError, match="no attribute 'gravitty'"):
        terrane.gravitty


def test_the_stub_names_what_the_module_holds():
    stub = ast.parse((HOME / "_core.pyi").read_text())
    core = importlib.import_module("terrane._core")
    written = {}
    for node in stub.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            written[node.name] = node
        elif isinstance(node, ast.AnnAssign):
            written[node.target.id] = node
    there = {name for name in dir(core) if not name.startswith("_")}
    assert set(written) == there
    for name, node in written.items():
        if isinstance(node, ast.ClassDef):
            members = {n.name for n in node.body if isinstance(n, ast.FunctionDef) and n.name != "__init__"}
            assert members == {m for m in dir(getattr(core, name)) if not m.startswith("_")}, name


def test_types_hold(tmp_path):
    pytest.importorskip("mypy")
    user = tmp_path / "user.py"
    user.write_text("import numpy as np\nimport terrane\n"
                    "field = terrane.gravity.forward(np.zeros((1, 6)), [1.0], 0.0, 0.0, 1.0, channels=['g_u'])\n"
                    "mesh = terrane.TensorMesh.regular([0, 1, 0, 1, -1, 0], (1, 1, 1), 1.0)\n"
                    "survey: terrane.Survey = terrane.Survey.grid([0, 1], [0, 1], 5)\n"
                    "result = terrane.gravity.Simulation(mesh, survey).run(progress=True)\n"
                    "n: int = result.report['stations']\n")
    bad = tmp_path / "bad.py"
    bad.write_text("import terrane\nterrane.Survey.grid([0, 1], [0, 1])\nterrane.gravity.forward(1)\n"
                   "terrane.gravity.Simulation(terrane.TensorMesh.regular([0, 1, 0, 1, -1, 0], (1, 1, 1)),\n"
                   "                           terrane.Survey(0.0, 0.0, 1.0), ['g_uu', 'guu'], method='treee',\n"
                   "                           frame='harmonic')\nterrane.read('a.sgy', format='seg-y')\n")
    mypy = [sys.executable, "-m", "mypy", "--config-file", str(ROOT / "pyproject.toml"), "--cache-dir",
            str(tmp_path / "cache")]
    whole = subprocess.run([*mypy, "-p", "terrane", "--no-error-summary"], capture_output=True, text=True, cwd=tmp_path,
                           env=_path())
    assert whole.returncode == 0, whole.stdout
    good = subprocess.run([*mypy, str(user)], capture_output=True, text=True, cwd=tmp_path, env=_path())
    assert good.returncode == 0, good.stdout
    wrong = subprocess.run([*mypy, str(bad)], capture_output=True, text=True, cwd=tmp_path, env=_path())
    assert wrong.stdout.count("error:") == 6, wrong.stdout


def _path():
    import os

    environment = dict(os.environ)
    if "site-packages" not in str(HOME):
        environment["MYPYPATH"] = str(HOME.parent)
    return environment
