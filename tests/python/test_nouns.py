"""TensorMesh, PrismSet, PrismLayer, Survey: what they hold, files, other programs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import terrane
from terrane import PrismLayer, PrismSet, Survey, TensorMesh


@pytest.fixture
def mesh(random):
    return TensorMesh([0, 10, 30, 60], [0, 20, 30], [-50, -20, -10, -5, 0], random.uniform(-100, 400, (4, 2, 3)))


def test_a_mesh_knows_its_cells(mesh):
    assert mesh.shape == (4, 2, 3) and mesh.size == 24
    assert mesh.bounds == (0, 60, 0, 30, -50, 0)
    prisms = mesh.prisms().reshape(4, 2, 3, 6)
    assert_array_equal(prisms[1, 1, 2], [30, 60, 20, 30, -20, -10])
    assert [c.tolist() for c in mesh.centres] == [[5, 20, 45], [10, 25], [-35, -15, -7.5, -2.5]]
    mesh.density[:] = 0
    mesh.density[1, 1, 2] = 7
    free = mesh.to_prisms()
    assert_array_equal(free.prisms, [[30, 60, 20, 30, -20, -10]])
    assert_array_equal(free.density, [7])


def test_a_regular_mesh_cuts_a_box():
    mesh = TensorMesh.regular([0, 30, 0, 20, -10, 0], (3, 2, 1), 5.0)
    assert mesh.shape == (1, 2, 3)
    assert_allclose(mesh.easting, [0, 10, 20, 30])
    assert (mesh.density == 5).all()


def test_tensor_meshes_go_to_ubc_files_and_back(mesh, tmp_path):
    mesh.write(tmp_path / "a.msh")
    mesh.write(tmp_path / "a.den")
    back = TensorMesh.read(tmp_path / "a.msh", tmp_path / "a.den")
    assert back.shape == mesh.shape
    assert_allclose(back.up, mesh.up, atol=1e-9)
    assert_allclose(back.density, mesh.density, rtol=1e-5)
    assert "mesh" in terrane.info(tmp_path / "a.msh")


@pytest.mark.parametrize("extension", ["h5", "nc"])
def test_one_file_holds_every_property(mesh, tmp_path, extension):
    mesh.susceptibility = 0.02
    mesh["velocity_p"] = np.linspace(2000, 3000, mesh.size)
    assert mesh.properties == ("density", "susceptibility", "velocity_p")
    mesh.write(tmp_path / f"a.{extension}")
    back = TensorMesh.read(tmp_path / f"a.{extension}")
    assert set(back.properties) == set(mesh.properties)
    for name in mesh.properties:
        assert_array_equal(back[name], mesh[name])
    assert "velocity_p" in repr(back) and "m/s" in repr(back)


def test_properties_go_by_name_and_unknown_ones_are_refused(mesh):
    with pytest.raises(terrane.InputError, match="did you mean conductivity"):
        mesh["conductvity"] = 1
    with pytest.raises(terrane.InputError, match="conductivity: is not set"):
        mesh["conductivity"]
    with pytest.raises(AttributeError, match="no conductivity"):
        mesh.conductivity
    with pytest.raises(terrane.ShapeError, match="susceptibility: has shape"):
        mesh.susceptibility = [1, 2]
    assert "conductivity" not in mesh


def test_prisms_have_several_properties(tmp_path):
    prisms = PrismSet([[0, 10, 0, 10, -10, 0]], 100.0, susceptibility=0.01)
    prisms.write(tmp_path / "a.csv")
    back = PrismSet.read(tmp_path / "a.csv")
    assert back.properties == ("density", "susceptibility") and back.susceptibility[0] == 0.01
    assert_array_equal(PrismSet.from_pandas(prisms.to_pandas()).susceptibility, [0.01])
    only = TensorMesh([0, 1, 2], [0, 1], [-1, 0], conductivity=[np.nan, 3]).to_prisms()
    assert len(only) == 1 and only.conductivity[0] == 3


def test_gravity_says_which_property_it_misses():
    prisms = PrismSet([[0, 10, 0, 10, -10, 0]], susceptibility=0.01)
    survey = Survey([0.0], [0.0], [1.0])
    with pytest.raises(terrane.InputError, match="has no density"):
        terrane.gravity.Simulation(prisms, survey, channels=["g_z"], frame="harmonica").run()


@pytest.mark.parametrize("extension", ["h5", "nc"])
def test_meshes_with_densities_go_to_one_file_and_back(mesh, tmp_path, extension):
    mesh.write(tmp_path / f"a.{extension}")
    back = terrane.read(tmp_path / f"a.{extension}")
    assert isinstance(back, TensorMesh)
    assert_allclose(back.northing, mesh.northing)
    assert_allclose(back.density, mesh.density)
    assert_allclose(TensorMesh.read(tmp_path / f"a.{extension}").density, mesh.density)


def test_meshes_go_to_discretize_and_back(mesh):
    discretize = pytest.importorskip("discretize")
    there = mesh.to_discretize()
    assert isinstance(there, discretize.TensorMesh)
    assert_allclose(there.cell_centers[7], mesh.prisms()[7].reshape(3, 2).mean(axis=1))
    back = TensorMesh.from_discretize(there, mesh.density.ravel())
    assert_allclose(back.up, mesh.up)
    assert_array_equal(back.density, mesh.density)


def test_a_mesh_is_an_xarray(mesh):
    pytest.importorskip("xarray")
    array = mesh.to_xarray()
    assert array.dims == ("up", "northing", "easting") and array.attrs["units"] == "kg/m3"
    assert float(array.sel(up=-15, northing=25, easting=45)) == mesh.density[1, 1, 2]


@pytest.mark.parametrize("arguments, pattern", [
    (([0, 1, 1], [0, 1], [0, 1]), "easting: does not ascend: entry 1 is 1 and entry 2 is 1"),
    (([0], [0, 1], [0, 1]), "easting: has 1 entries"),
    (([0, np.inf], [0, 1], [0, 1]), "easting: entry 1 is not finite"),
    (([0, 1], [[0, 1]], [0, 1]), "northing: has shape"),
    (([0, 1], [0, 1], [0, 1], np.zeros((2, 2))), r"density: has shape \(2, 2\)[\s\S]*\(1, 1, 1\)"),
])
def test_meshes_that_cannot_be_are_refused(arguments, pattern):
    with pytest.raises(terrane.InputError, match=pattern):
        TensorMesh(*arguments)


def test_prisms_go_to_files_and_tables_and_back(blocks, tmp_path):
    prisms = PrismSet(*blocks)
    prisms.write(tmp_path / "prisms.csv")
    back = PrismSet.read(tmp_path / "prisms.csv")
    assert_allclose(back.prisms, prisms.prisms)
    assert_allclose(back.density, prisms.density)
    assert isinstance(terrane.read(tmp_path / "prisms.csv"), PrismSet)
    pytest.importorskip("pandas")
    frame = prisms.to_pandas()
    assert list(frame) == ["west", "east", "south", "north", "bottom", "top", "density"]
    again = PrismSet.from_pandas(frame)
    assert_array_equal(again.prisms, prisms.prisms)
    with pytest.raises(terrane.InputError, match="no column top"):
        PrismSet.from_pandas(frame.drop(columns="top"))


def test_layers_leave_out_what_has_no_height():
    surface = np.array([[5.0, 0.0, -5.0], [np.nan, 1.0, 2.0]])
    layer = PrismLayer([0, 10, 20], [0, 20], surface, 0.0, [[2670, 2670, -1630], [2670, 2670, np.nan]])
    prisms = layer.to_prisms()
    assert_array_equal(prisms.prisms, [[-5, 5, -10, 10, 0, 5], [15, 25, -10, 10, -5, 0], [5, 15, 10, 30, 0, 1]])
    assert_array_equal(prisms.density, [2670, -1630, 2670])


def test_uneven_layers_tile_without_gap():
    layer = PrismLayer([0, 10, 30], [0, 5], np.ones((2, 3)))
    west, east = layer.to_prisms().prisms.reshape(2, 3, 6)[0, :, :2].T
    assert_array_equal(west[1:], east[:-1])


def test_layers_are_harmonica_layers(random):
    pytest.importorskip("xarray")
    layer = PrismLayer([0, 10, 20], [0, 20], random.uniform(-5, 5, (2, 3)), 0.0, 2670.0)
    back = PrismLayer.from_xarray(layer.to_xarray().transpose("easting", "northing"))
    assert_array_equal(back.to_prisms().prisms, layer.to_prisms().prisms)
    with pytest.raises(terrane.InputError, match='no "rho"'):
        PrismLayer.from_xarray(layer.to_xarray(), "rho")


def test_surveys_go_to_files_and_tables_and_back(stations, tmp_path):
    survey = Survey(*stations, columns={"line": np.arange(50)})
    survey.write(tmp_path / "stations.csv")
    back = Survey.read(tmp_path / "stations.csv")
    assert_allclose(back.up, survey.up)
    assert_allclose(back.columns["line"].values, np.arange(50))
    assert isinstance(terrane.read(tmp_path / "stations.csv"), Survey)
    pytest.importorskip("pandas")
    again = Survey.from_pandas(survey.to_pandas())
    assert_array_equal(again.northing, survey.northing)
    assert list(again.columns) == ["line"]


def test_names_of_stations_reach_the_result_and_its_files(tmp_path):
    names = ["north pit", "P2", "P,3"]
    survey = Survey([0, 50, 90], 0, 5, columns={"name": names, "line": [1, 1, 2], "day": np.array(["a", "b", ""])})
    assert survey.texts == {"name": names, "day": ["a", "b", ""]} and list(survey.columns) == ["line"]
    survey.write(tmp_path / "stations.csv")
    assert Survey.read(tmp_path / "stations.csv").texts == survey.texts
    ground = TensorMesh.regular([-100, 100, -100, 100, -100, 0], (2, 2, 2), 300.0)
    magnetic = TensorMesh.regular([-100, 100, -100, 100, -100, 0], (2, 2, 2))
    magnetic["susceptibility"] = 0.1
    for made in (terrane.gravity.Simulation(ground, survey),
                 terrane.magnetic.Simulation(magnetic, Survey.read(tmp_path / "stations.csv"))):
        result = made.run()
        assert result.survey.texts == survey.texts
        for file in ("fields.csv", "fields.nc"):
            result.write(tmp_path / file)
        assert '"P,3"' in (tmp_path / "fields.csv").read_text()
        assert [str(one) for one in result.dataset["name"].values] == names
    with pytest.raises(terrane.ShapeError, match="has 2 entries"):
        survey.set_column("name", ["a", "b"])
    with pytest.raises(terrane.InputError, match="holds words, in m"):
        survey.set_column("name", names, "m")
    survey.set_column("name", [1, 2, 3])
    assert "name" not in survey.texts and "name" in survey.columns
    pytest.importorskip("pandas")
    assert Survey.from_pandas(survey.to_pandas()).texts == {"day": ["a", "b", ""]}


def test_surveys_that_cannot_be_are_refused():
    with pytest.raises(terrane.ShapeError, match=r"\(2,\), \(3,\), \(\)"):
        Survey([0, 1], [0, 1, 2], 0)
    with pytest.raises(terrane.InputError, match="up: station 1 is not finite"):
        Survey([0, 1], [0, 1], [0, np.nan])
    with pytest.raises(terrane.ShapeError, match="no stations"):
        Survey([], [], [])
    with pytest.raises(terrane.ShapeError, match=r"up: has shape \(2,\)"):
        Survey.grid([0, 1], [0, 1], [1, 2])
    with pytest.raises(terrane.ShapeError, match="2 entries"):
        Survey([0], [0], [0], columns={"line": [1, 2]})


def test_everything_tells_what_it_holds(mesh, blocks):
    layer = PrismLayer([0, 10], [0, 20], np.ones((2, 2)))
    survey = Survey.grid([0, 1], [0, 1], 5)
    for noun, words in ((mesh, "3 × 2 × 4 cells"), (PrismSet(*blocks), "300 prisms"), (layer, "2 × 2 columns"),
                        (survey, "a grid of 2 × 2"), (terrane.gravity.Simulation(mesh, survey), "g_u")):
        assert words in repr(noun)
        assert words in noun._repr_html_() and "<table" in noun._repr_html_()


def test_coordinates_of_a_projection_are_shown_to_the_centimetre():
    survey = terrane.Survey([500123.25, 501123.0], [4301000.0, 4308980.5], 10.0)
    assert "northing  4301000 … 4308980.5 m" in repr(survey) and "500123.25 … 501123 m" in repr(survey)
    mesh = terrane.TensorMesh.regular([4301000, 4302000.5, 0, 10, -10, 0], (2, 2, 2))
    assert "4301000 … 4302000.5 m" in repr(mesh)


def test_errors_of_a_simulation_name_its_argument_and_no_line_of_a_job_that_nobody_wrote():
    mesh = terrane.TensorMesh.regular([0, 10, 0, 10, -10, 0], (2, 2, 2))
    mesh.thermal_conductivity = 2.0
    simulation = terrane.heat.Simulation(mesh, terrane.Survey(5.0, 5.0, -5.0), end="1 ax", heat_capacity=2e6)
    with pytest.raises(terrane.InputError, match=r"^simulation.end: \"ax\" is not a unit"):
        simulation.check()


def test_an_octree_of_ubc_is_read_with_its_values_and_said(tmp_path):
    (tmp_path / "tree.msh").write_text("2 2 2\n0 0 0\n1 1 1\n8\n" + "".join(
        f"{i} {j} {k} 1\n" for i in (1, 2) for j in (1, 2) for k in (1, 2)))
    (tmp_path / "tree.sus").write_text("".join(f"0.0{n}\n" for n in range(1, 9)))
    np.save(tmp_path / "tree.npy", np.arange(8.0))
    with pytest.warns(UserWarning, match="an octree mesh of 8 cells"):
        mesh = TensorMesh.read(tmp_path / "tree.msh", tmp_path / "tree.sus")
    assert mesh.shape == (2, 2, 2) and mesh.susceptibility[1, 0, 0] == 0.01 and mesh.susceptibility[0, 0, 1] == 0.06
    with pytest.warns(UserWarning):
        assert TensorMesh.read(tmp_path / "tree.msh", tmp_path / "tree.npy", property="susceptibility").susceptibility[0, 0, 1] == 5
    with pytest.warns(UserWarning, match="each became 1 to 1 cells"):
        assert terrane.read(tmp_path / "tree.msh").shape == (2, 2, 2)
