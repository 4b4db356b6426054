"""Sensitivities as an operator, and inversions from job files."""

from __future__ import annotations

import csv
import re
import subprocess
import sys

import numpy as np
import pytest
from conftest import DATA, ROOT
from numpy.testing import assert_allclose, assert_array_equal

import terrane
from terrane.compat import prism_magnetic
from terrane.inversion import Sensitivity, invert


@pytest.mark.parametrize("storage", ["single", "double", "none"])
def test_products_are_the_forward_calculation_and_its_transpose(blocks, stations, storage):
    prisms, density = blocks
    channels = ["g_u", "g_eu", "potential"]
    g = Sensitivity(prisms, *stations, channels=channels, storage=storage, accuracy=1e-12)
    assert g.shape == (150, 300)
    data = g.apply(density).reshape(3, 50)
    field = terrane.gravity.forward(prisms, density, *stations, channels=channels)
    for one, name in zip(data, channels):
        assert_allclose(one, field[name], rtol=0, atol=(1e-6 if storage == "single" else 1e-11) * np.abs(field[name]).max())
    matrix = g.matrix()
    weight = np.linspace(1, 2, 150)
    assert_allclose(g.apply_transpose(weight), matrix.T @ weight, rtol=1e-9, atol=1e-9 * np.abs(matrix).max())
    assert_allclose(g.diagonal(weight), (weight[:, None] * matrix**2).sum(axis=0), rtol=1e-10)
    assert_array_equal(g.row(7), matrix[7])


@pytest.mark.parametrize("keywords", [{"storage": "tree"}, {"storage": "fmm"}, {"storage": "single", "device": "debug"},
                                      {"storage": "none", "device": "debug"}], ids=str)
def test_other_ways_to_hold_the_matrix_are_near_it_with_an_exact_transpose(blocks, stations, keywords):
    prisms, density = blocks
    right, g = Sensitivity(prisms, *stations, storage="double"), Sensitivity(prisms, *stations, **keywords)
    data = right.apply(density)
    assert_allclose(g.apply(density), data, rtol=0, atol=2e-6 * np.abs(right.apply(np.abs(density))).max())
    back = right.apply_transpose(data)
    assert_allclose(g.apply_transpose(data), back, rtol=0, atol=1e-5 * np.abs(back).max())
    assert_allclose(g.apply(density) @ data, density @ g.apply_transpose(data), rtol=1e-11)


def test_a_lattice_is_found_or_refused(blocks, stations):
    mesh = terrane.TensorMesh.regular([0, 400, 0, 300, -200, 0], shape=(8, 6, 4))
    x, y = (a.ravel() for a in np.meshgrid(25.0 + 50 * np.arange(8), 25.0 + 50 * np.arange(6)))
    east, north, up = (np.asarray(faces) for faces in (mesh.easting, mesh.northing, mesh.up))
    prisms = np.array([[east[i], east[i + 1], north[j], north[j + 1], up[k], up[k + 1]]
                       for k in range(4) for j in range(6) for i in range(8)])
    model = np.linspace(-1, 1, 192)
    for device in ("cpu", "debug"):
        fft = Sensitivity(prisms, x, y, np.full(48, 10.0), storage="lattice", device=device)
        right = Sensitivity(prisms, x, y, np.full(48, 10.0), storage="double", accuracy=1e-12).apply(model)
        assert_allclose(fft.apply(model), right, rtol=0, atol=1e-11 * np.abs(right).max())
    with pytest.raises(terrane.InputError, match="no lattice"):
        Sensitivity(blocks[0], *stations, storage="lattice")


def test_magnetic_sensitivities_are_quadratic_in_the_direction_of_the_field(stations):
    box = [[-100, 100, -100, 100, -300, -50]]
    g = Sensitivity(box, *stations, channels=["tmi"], main_field=(50000, 65, -12), storage="double")
    turned = Sensitivity(box, *stations, channels=["tmi"], main_field=(50000, -65, 168), storage="double")
    assert_allclose(g.apply([0.01]), turned.apply([0.01]), rtol=1e-9)


def test_what_cannot_be_is_refused():
    box, at = [[0, 1, 0, 1, -1, 0]], ([0.0], [0.0], [1.0])
    for keywords, word in (({"channels": ["g_x"]}, "g_x"), ({"storage": "disk"}, "storage"), ({"units": "cgs"}, "units"),
                           ({"channels": ["b_x"], "main_field": (50000, 60, 0)}, "b_x")):
        with pytest.raises(terrane.InputError, match=word):
            Sensitivity(box, *at, **keywords)
    with pytest.raises(terrane.ShapeError):
        Sensitivity(box, *at).apply([1.0, 2.0])


def test_the_example_is_inverted_and_its_model_read(tmp_path):
    result = invert(ROOT / "examples/10_buried_block/job.toml", output=tmp_path)
    assert result.report["converged"]
    assert abs(result.report["chi_squared_g_u"] - 1) < 0.021
    assert result.report["model_least"] == 0
    assert 150 < result.report["model_most"] < 400
    assert (tmp_path / "model.nc").is_file()


def test_resistivities_of_the_example_are_found(tmp_path):
    result = invert(ROOT / "examples/18_resistivities/job.toml", output=tmp_path)
    assert result.report["converged"]
    assert abs(result.report["chi_squared_apparent_resistivity"] - 1) < 0.021
    assert result["apparent_resistivity"].size == 148
    model = terrane.TensorMesh.read(tmp_path / "model.nc")["resistivity"]
    middle = model[:, model.shape[1] // 2]
    assert middle.min() < 20
    assert middle.max() > 250


def test_clay_and_ore_are_told_apart(tmp_path):
    script = ROOT / "examples" / "35_clay_and_ore" / "script.py"
    done = subprocess.run([sys.executable, str(script), "--output", str(tmp_path)], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    found = [float(re.search(r" ([-\d.e]+) (ohm m|V/V)", line).group(1)) for line in done.stdout.splitlines()[-4:]]
    for value, expected in zip(found, (22.7, 103, 0.00252, 0.059)):
        assert value == pytest.approx(expected, rel=0.1)


def test_clear_lake_is_found_from_what_gravimeters_read(tmp_path):
    script = ROOT / "examples" / "21_clear_lake" / "from_gravity.py"
    done = subprocess.run([sys.executable, str(script), "--output", str(tmp_path)], capture_output=True, text=True,
                          timeout=300)
    assert done.returncode == 0, done.stderr
    assert re.search(r"stopped +converged", done.stdout)
    lines = done.stdout.splitlines()
    assert [float(x) for x in re.findall(r"-?[\d.]+", lines[0])[:2]] == pytest.approx([-0.4, 133.7], abs=0.11)
    for found, expected, within in zip(re.findall(r"-?[\d.]+", lines[-1].replace("kg/m³", "")), (-144, 520.8, 4305, 7.6),
                                       (5, 1.6, 1.6, 0.9)):
        assert float(found) == pytest.approx(expected, abs=within)


def test_models_of_a_joint_job_come_by_name(tmp_path):
    settings = {"joint.most_rounds": 1, "joint.tolerance": 1, "output.gravity.model": ["density.nc"]}
    results = invert(ROOT / "examples/26_joint/job.toml", output=tmp_path, settings=settings, only=["gravity", "magnetic"])
    assert list(results) == ["gravity", "magnetic"]
    assert results["gravity"].report["cross_gradient"] < 0.5
    assert results["gravity"].report["rounds"] == results["magnetic"].report["rounds"] == 1
    assert (tmp_path / "density.nc").is_file()
    alone = invert(ROOT / "examples/26_joint/job.toml", output=tmp_path / "alone", only=["gravity"])
    assert "cross_gradient" not in alone["gravity"].report


def test_the_field_of_a_magnetized_prism_has_twenty_five_digits_behind_it():
    rows = list(csv.DictReader((DATA / "magnetic_prism.csv").open()))
    prism, m = [-120, 80, -60, 140, -210, -30], (1.1, -0.7, -2.3)
    outside = [row for row in rows if row["where"] != "inside"]
    at = [[float(row[axis]) for row in outside] for axis in "xyz"]
    field = prism_magnetic(at, prism, m, field="b", accuracy="best")
    for place, row in enumerate(outside):
        size = np.hypot(np.hypot(float(row["bx"]), float(row["by"])), float(row["bz"]))
        for one, name in zip(field, ("bx", "by", "bz")):
            assert abs(one[place] - float(row[name])) < 1e-14 * size
    assert_array_equal(prism_magnetic(at, prism, m, field="b_n", accuracy="best"), field[1])
    with pytest.warns(UserWarning, match="inside"):
        assert np.isnan(prism_magnetic(([-20.0], [40.0], [-120.0]), prism, m, field="b_u")).all()
    assert_array_equal(prism_magnetic(at, prism, (0, 0, 0), field="b_e"), np.zeros(len(outside)))
    with pytest.raises(terrane.InputError, match="field"):
        prism_magnetic(at, prism, m, field="b_z")
