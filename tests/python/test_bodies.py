"""Few-parameter bodies are found where they are."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import terrane
from terrane.inversion import Box, Dike, Sensitivity, Sphere, find_bodies

pytest.importorskip("scipy")


@pytest.fixture(scope="module")
def grid():
    x, y = (a.ravel() for a in np.meshgrid(np.linspace(-400, 400, 7), np.linspace(-400, 400, 7)))
    return x, y, np.full(x.size, 5.0)


def test_the_field_of_a_sphere_is_that_of_its_mass_in_the_centre(grid):
    sphere = Sphere(30.0, -50.0, -120.0, radius=100.0)
    values = {name: np.array([least]) for name, least, _ in sphere.parameters()}
    g = Sensitivity(sphere.faces(values)[0], *grid, storage="double").apply([sphere.density_of_prisms() * 400])
    x, y, up = grid
    r2 = (x - 30) ** 2 + (y + 50) ** 2 + (up + 120) ** 2
    exact = -6.6743e-11 * 1e5 * 400 * 4 / 3 * np.pi * 100**3 * (up + 120) / r2**1.5
    assert_allclose(g, exact, rtol=1e-5)


def test_a_dike_has_its_mass_and_lies_down_its_dip():
    dike = Dike(10.0, 20.0, -60.0, strike=90.0, dip=45.0, length=300.0, depth_extent=200.0, thickness=30.0)
    faces = dike.faces({name: np.array([least]) for name, least, _ in dike.parameters()})[0]
    assert_allclose(np.prod(faces[:, 1::2] - faces[:, ::2], axis=1).sum(), 300 * 200 * 30)
    # To the right of a strike to the east lies the south.
    assert_allclose(0.5 * (faces[:, ::2] + faces[:, 1::2]).mean(axis=0),
                    [10, 20 - 100 * np.sqrt(0.5), -60 - 100 * np.sqrt(0.5)], atol=1e-9)


def test_a_box_is_found_beside_a_regional_field_and_noise(grid):
    x, y, up = grid
    data = Sensitivity([[-60, 40, -30, 70, -200, -120]], x, y, up).apply([500.0])
    noise = np.random.default_rng(1).normal(0, 0.002, x.size)
    ranges = {"size_e": (20, 200), "size_n": (20, 200), "size_u": (20, 200)}
    box = Box((-300, 300), (-300, 300), (-500, -50), **ranges, property=(0, 800))
    found = find_bodies(x, y, up, data + noise + 0.3 + 1e-4 * x, 0.002, box, trend="plane", generations=80)
    assert 0.4 < found.chi_squared < 1.4
    one = found.bodies[0]
    assert one["kind"] == "box" and 0 <= one["property"] <= 800
    assert_allclose([one["easting"], one["northing"], one["up"]], [-10, 20, -160], atol=25)
    assert_allclose(found.trend, 0.3 + 1e-4 * x, atol=0.02)
    again = find_bodies(x, y, up, data + noise + 0.3 + 1e-4 * x, 0.002, box, trend="plane", generations=80)
    assert again.bodies == found.bodies


def test_two_spheres_of_either_sign_are_told_apart(grid):
    x, y, up = grid
    boxes = [[-220, -140, -30, 50, -160, -80], [100, 200, 100, 200, -300, -200]]
    data = Sensitivity(boxes, x, y, up).apply([400.0, -300.0])
    anywhere = ((-400, 400), (-400, 400), (-400, -50))
    found = find_bodies(x, y, up, data, 0.002, [Sphere(*anywhere, radius=50.0, property=(0, 2000)),
                                                Sphere(*anywhere, radius=50.0, property=(-2000, 0))], generations=100)
    assert_allclose([found.bodies[0][k] for k in ("easting", "northing", "up")], [-180, 10, -120], atol=10)
    assert_allclose([found.bodies[1][k] for k in ("easting", "northing", "up")], [150, 150, -250], atol=10)
    assert found.bodies[0]["property"] > 0 > found.bodies[1]["property"]


def test_the_ore_and_the_cavity_of_the_example_are_where_it_promises():
    folder = Path(__file__).resolve().parents[2] / "examples/22_few_bodies"
    table = np.array([[float(v) for v in row] for row in list(csv.reader((folder / "stations.csv").open()))[1:]])
    anywhere = ((-450, 450), (-450, 450), (-350, -40))
    bodies = [Box(*anywhere, (600, 600), (20, 300), (20, 300), (20, 300)), Sphere(*anywhere, (-2700, 0), radius=60.0)]
    found = find_bodies(*table.T, bodies, trend="plane", generations=80, population=8, seed=2)
    assert found.chi_squared < 1.05
    for row in csv.DictReader((folder / "expected.csv").open()):
        one = found.bodies[["box", "sphere"].index(row["body"])]
        assert abs(one[row["parameter"]] - float(row["value"])) < float(row["tolerance"]), row


def test_the_fields_of_a_generation_are_one_call_on_any_device(grid, monkeypatch):
    data = Sensitivity([[-60, 40, -30, 70, -200, -120]], *grid).apply([500.0])
    sphere = Sphere((-300, 300), (-300, 300), (-500, -50), radius=50.0)
    made = []

    def counted(*arguments, **keywords):
        made.append(keywords["device"])
        return Sensitivity(*arguments, **keywords)

    monkeypatch.setattr(terrane.inversion, "Sensitivity", counted)
    found = {device: find_bodies(*grid, data, 0.001, sphere, generations=15, device=device).bodies[0]
             for device in ("cpu", "debug")}
    # The first population, 15 generations, and the best.
    assert made == ["cpu"] * 17 + ["debug"] * 17
    for name in ("easting", "northing", "up"):
        assert found["debug"][name] == pytest.approx(found["cpu"][name], abs=0.5)


def test_what_cannot_be_searched_is_refused(grid):
    data = np.zeros(grid[0].size)
    sphere = Sphere((-1, 1), (-1, 1), (-100, -50), radius=20.0)
    for bodies, keywords, word in (([], {}, "bodies"), (sphere, {"trend": "cubic"}, "trend"),
                                   (Sphere((1, -1), 0.0, -100.0, radius=20.0), {}, "easting")):
        with pytest.raises(terrane.InputError, match=word):
            find_bodies(*grid, data, 0.1, bodies, **keywords)
    with pytest.raises(terrane.InputError, match="uncertainty"):
        find_bodies(*grid, data, 0.0, sphere)
