"""Tests of the installed package; the source tree is not on the path."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

# Where the tests began with an interrupt that is ignored (in the background of a shell), processes would ignore it, too.
signal.signal(signal.SIGINT, signal.default_int_handler)
ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "support" / "data"


@pytest.fixture
def random():
    return np.random.default_rng(20260401)


@pytest.fixture
def blocks(random):
    """300 prisms [m, 6] and their densities [m]."""
    low = random.uniform([-1000, -1000, -1000], [900, 900, -200], (300, 3))
    high = low + random.uniform(5, 150, (300, 3))
    return np.stack([low, high], axis=2).reshape(300, 6), random.uniform(-500, 500, 300)


@pytest.fixture
def stations(random):
    """Easting, northing, up of 50 stations above the blocks."""
    return random.uniform(-1500, 1500, 50), random.uniform(-1500, 1500, 50), random.uniform(1, 500, 50)


@pytest.fixture(scope="session")
def quad_precision():
    """Rows of prism_quad_precision.csv: case, prism [6], station [3], ten values in the order of CHANNELS."""
    names = ["V", "gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz"]
    rows = []
    with open(DATA / "prism_quad_precision.csv", encoding="utf-8") as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            rows.append((row["case"], [float(row[k]) for k in ("x1", "x2", "y1", "y2", "z1", "z2")],
                         [float(row[k]) for k in ("px", "py", "pz")], [float(row[n]) for n in names]))
    return rows


def run_python(code: str, **environment: str) -> subprocess.CompletedProcess:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120,
                          env={**os.environ, **environment})
