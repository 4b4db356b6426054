"""Equivalent sources against the exact fields of bodies: gridded, continued, as other channels, reduced to the pole."""

import csv
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import terrane
from terrane import EquivalentSources
from terrane.inversion import Sensitivity

BODIES = np.array([[-300.0, 100, -200, 200, -700, -300], [250, 450, 100, 400, -500, -250]])
FIELD = (50_000.0, 55.0, -8.0)
LINE = np.arange(-600.0, 601, 100)


def scattered(count=900):
    """Stations over hills, 1.6 km across."""
    random = np.random.default_rng(3)
    e, n = random.uniform(-1100, 1100, (2, count))
    return e, n, 20 + 15 * np.sin(e / 300) + random.uniform(0, 5, count)


def grid(up):
    e, n = (a.ravel() for a in np.meshgrid(LINE, LINE))
    return e, n, np.full(e.size, up)


def off(found, right):
    return np.abs(found - right).max() / np.abs(right).max()


@pytest.fixture(scope="module")
def gravity():
    at = scattered()
    data = terrane.gravity.forward(BODIES, [400.0, -250.0], *at)["g_u"]
    noise = 0.002 * np.abs(data).max()
    noisy = data + noise * np.random.default_rng(4).standard_normal(data.size)
    return EquivalentSources(100).fit(*at, noisy, uncertainty=noise)


def test_gravity_is_gridded_and_continued_upward(gravity):
    for up in (60.0, 300.0):
        right = terrane.gravity.forward(BODIES, [400.0, -250.0], *grid(up))["g_u"]
        assert off(gravity.grid(LINE, LINE, up).ravel(), right) < 0.01


def test_gravity_gives_its_gradients(gravity):
    right = terrane.gravity.forward(BODIES, [400.0, -250.0], *grid(100.0), channels=["g_uu"])["g_uu"]
    assert off(gravity.predict(*grid(100.0), channel="g_uu"), right) < 0.05


def test_magnetics_is_reduced_to_the_pole():
    at, model = scattered(), [0.05, 0.03]
    data = Sensitivity(BODIES, *at, channels=["tmi"], main_field=FIELD).apply(model)
    noise = 0.003 * np.abs(data).max()
    layer = EquivalentSources(100, channel="tmi", main_field=FIELD).fit(*at, data, uncertainty=noise)
    right = Sensitivity(BODIES, *grid(80.0), channels=["tmi"], main_field=(FIELD[0], 90, 0)).apply(model)
    assert off(layer.grid(LINE, LINE, 80.0, pole=True).ravel(), right) < 0.06
    assert off(layer.predict(*grid(80.0)), Sensitivity(BODIES, *grid(80.0), channels=["tmi"], main_field=FIELD).apply(
        model)) < 0.02


def test_the_layer_fits_to_the_noise_and_no_further(gravity):
    assert gravity.misfit == pytest.approx(1, abs=1e-6)
    assert gravity.iterations < 100


def test_by_fast_multipoles_and_on_devices_it_is_the_same_layer():
    at = scattered(400)
    data = terrane.gravity.forward(BODIES, [400.0, -250.0], *at)["g_u"]
    first, *others = (EquivalentSources(150, **how).fit(*at, data, uncertainty=0.01)
                      for how in ({"storage": "single"}, {"storage": "fmm"}, {"storage": "tree", "device": "debug"}))
    for other in others:
        assert off(other.grid(LINE, LINE, 100.0), first.grid(LINE, LINE, 100.0)) < 1e-4


@pytest.mark.parametrize("wrong, word", [
    (lambda: EquivalentSources(-1), "spacing"),
    (lambda: EquivalentSources(100, channel="tmi"), "channel"),
    (lambda: EquivalentSources(100, device="gpu"), "device"),
    (lambda: EquivalentSources(100).fit([0.0], [0.0], [0.0], [1.0], uncertainty=0), "uncertainty"),
    (lambda: EquivalentSources(100).predict([0.0], [0.0], [0.0]), "fit"),
], ids=["spacing", "channel", "device", "uncertainty", "order"])
def test_what_cannot_be_fitted_is_refused(wrong, word):
    with pytest.raises(terrane.InputError, match=word):
        wrong()


def test_places_below_the_layer_are_refused(gravity):
    with pytest.raises(terrane.InputError, match="below the top"):
        gravity.predict([0.0], [0.0], [-400.0])
    with pytest.raises(terrane.InputError, match="pole"):
        gravity.reduce_to_pole([0.0], [0.0], [50.0])


def test_the_example_grids_continues_and_reduces_to_the_pole(tmp_path):
    script = Path(__file__).resolve().parents[2] / "examples/37_equivalent_sources/script.py"
    done = subprocess.run([sys.executable, str(script), "--output", str(tmp_path)], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    errors = {row["field"]: float(row["error"]) for row in csv.DictReader((tmp_path / "errors.csv").open())}
    assert errors["g_u 100 m up"] < 0.02
    assert errors["g_uu 100 m up"] < 0.05
    assert errors["tmi reduced to the pole"] < 0.03
