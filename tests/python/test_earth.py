"""An earth described from Python, and several of its fields at once."""

import numpy as np
import pytest

import terrane


def basin():
    earth = terrane.Earth(background="host", topography=terrane.Surface([-2000, 2000], [-2000, 2000], np.zeros((2, 2))),
                          air={"resistivity": 1e8})
    earth.unit("host", density=2700, resistivity=200)
    earth.unit("ore", density=3700, porosity=0.1, maps=["resistivity from porosity by archie with water = 0.1"])
    return earth.body("sphere", "ore", centre=[0, 0, -100], radius=50)


SURVEY = {"region": [-100, 100, -100, 100], "shape": [3, 3], "height": 5}
GRAVITY = {"physics": "gravity", "survey": terrane.Survey([0.0, 50.0], [0.0, 0.0], [5.0, 5.0]), "reference_density": 2700,
           "mesh": {"kind": "planned", "cell": 25, "box": [-200, 200, -200, 200, -300, 0]}}
CURRENT = {"name": "line", "physics": "electric", "survey": {"start": [-75, 0], "electrodes": 16, "spacing": 10, "levels": 2}}


def test_an_earth_gives_several_fields_by_name():
    fields = terrane.run(basin(), [GRAVITY, CURRENT])
    assert list(fields) == ["gravity", "line"]
    mass = 1000 * 4 / 3 * np.pi * 50**3
    point = -6.6743e-11 * mass * 105 / np.array([105.0, np.hypot(105, 50)]) ** 3 * 1e5
    np.testing.assert_allclose(fields["gravity"]["g_u"].values, point, rtol=0.02)
    rho = fields["line"]["apparent_resistivity"].values
    assert np.all((rho > 100) & (rho < 210))


def test_its_results_are_one_tree_of_data_sets():
    xarray = pytest.importorskip("xarray")
    tree = terrane.run(basin(), [GRAVITY]).tree
    if hasattr(xarray, "DataTree"):
        assert isinstance(tree, xarray.DataTree)
        assert tree["gravity"]["g_u"].attrs["units"] == "mGal"
    else:
        assert set(tree) == {"gravity"}


def test_checking_says_which_mesh_was_made_and_why():
    plans = terrane.check_all(basin(), [{**GRAVITY, "mesh": None}, CURRENT])
    assert any("as wide as stations are apart" in note for note in plans["gravity"]["notes"])
    assert any("half the distance between electrodes" in note for note in plans["line"]["notes"])
    assert any("Archie (1942)" in note for note in plans["line"]["notes"])


def test_surfaces_come_as_arrays_data_arrays_and_levels():
    xarray = pytest.importorskip("xarray")
    axis = np.array([-500.0, 500.0])
    floor = np.full((2, 2), -80.0)
    given = [(axis, axis, floor), terrane.Surface(axis, axis, floor), -80,
             xarray.DataArray(floor, {"northing": axis, "easting": axis}, ("northing", "easting"))]
    found = []
    for elevation in given:
        earth = terrane.Earth(background="host").unit("host", density=2000).unit("rock", density=2700)
        earth.surface("floor", elevation).layer("rock", top="floor", bottom=-150)
        found.append(terrane.run(earth, [{**GRAVITY, "reference_density": 2000}])["gravity"]["g_u"].values)
    assert found[0].max() < 0
    for one in found[1:]:
        np.testing.assert_allclose(one, found[0], rtol=1e-12)


def test_what_is_wrong_is_said():
    with pytest.raises(terrane.InputError, match="without any"):
        terrane.run(basin())
    with pytest.raises(terrane.InputError, match="no physics"):
        terrane.run(basin(), [{"survey": SURVEY}])
    with pytest.raises(terrane.InputError, match="unit 'ore' already"):
        basin().unit("ore", density=1)
    with pytest.raises(terrane.InputError, match="northing, easting"):
        terrane.Surface([0, 1, 2], [0, 1], np.zeros((3, 2)))
    with pytest.raises(terrane.InputError, match='no unit "oar"'):
        terrane.run(basin().body("box", "oar", box=[0, 1, 0, 1, -2, -1]), [GRAVITY])
    assert "unit ore" in repr(basin())
