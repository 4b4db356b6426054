"""gravity.Simulation and Result."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import terrane
from terrane import PrismLayer, PrismSet, Survey, TensorMesh
from terrane.gravity import Simulation, forward


@pytest.fixture
def mesh(random):
    return TensorMesh.regular([0, 400, 0, 300, -200, 0], (4, 3, 2), random.uniform(-100, 400, (2, 3, 4)))


@pytest.fixture
def survey(random):
    return Survey.grid([0, 100, 250, 400], [0, 100, 300], random.uniform(1, 50, (3, 4)))


@pytest.fixture
def result(mesh, survey):
    return Simulation(mesh, survey, channels=["g_u", "g_uu", "potential"], accuracy="best", verify=3).run()


def test_it_gives_what_forward_gives(mesh, survey, result):
    field = forward(mesh.prisms(), mesh.density.ravel(), survey.easting, survey.northing, survey.up,
                    channels=["g_u", "g_uu", "potential"], accuracy="best")
    assert result.channels == ("potential", "g_u", "g_uu")
    for name in result.channels:
        assert result.values(name).shape == (3, 4)
        assert_allclose(result.values(name).ravel(), field[name], rtol=0, atol=1e-12 * np.abs(field[name]).max())


@pytest.mark.parametrize("model", ["prisms", "layer"])
def test_prisms_and_layers_are_models_too(model, survey, random):
    layer = PrismLayer([0, 100, 200], [0, 100], random.uniform(-50, -1, (2, 3)), -100.0, 500.0)
    prisms = layer.to_prisms()
    got = Simulation(prisms if model == "prisms" else layer, survey, frame="harmonica", channels=["g_z"]).run()
    expected = forward(prisms.prisms, prisms.density, survey.easting, survey.northing, survey.up)["g_u"]
    assert_allclose(got.values("g_z").ravel(), -expected, rtol=1e-12)
    assert got.attributes["frame"] == "harmonica"


def test_the_result_is_a_dataset(result, survey):
    xarray = pytest.importorskip("xarray")
    assert isinstance(result.dataset, xarray.Dataset)
    assert result["g_u"].dims == ("northing", "easting")
    assert result["g_u"].attrs["units"] == "mGal" and result["g_uu"].attrs["units"] == "E"
    assert_array_equal(result.up.values.ravel(), survey.up)
    assert float(result.sel(easting=250, northing=100).g_u) == result.values("g_u")[1, 2]
    assert result.dataset.attrs["program"] == "terrane" and result.attrs["accuracy"] == "best"
    assert "gravitational_constant" in result.attrs and result.attrs["frame"] == "enu"
    assert "g_u" in result and "up" in result and "g_e" not in result
    assert list(result) == ["potential", "g_u", "g_uu"] and len(result) == 3


def test_a_list_of_stations_gives_columns(mesh, stations):
    xarray = pytest.importorskip("xarray")
    survey = Survey(*stations, columns={"line": np.arange(50)})
    result = Simulation(mesh, survey).run()
    assert result["g_u"].dims == ("station",) and isinstance(result["line"], xarray.DataArray)
    assert_array_equal(result["line"].values, np.arange(50))
    pytest.importorskip("pandas")
    frame = result.to_pandas()
    assert list(frame) == ["easting", "northing", "up", "line", "g_u"] and len(frame) == 50


def test_the_error_is_measured_in_quadruple_precision(result):
    assert result.report["verified_stations"] == 3
    assert 0 <= result.report["verified_error"] < 1e-13
    assert "quadruple" in repr(result)


def test_the_report_says_what_rounding_takes(result):
    floor = result.report["rounding_floor"]
    assert floor and set(floor) <= {"potential", "vector", "tensor"}
    assert all(5e-16 < value < 1e-13 for value in floor.values()) and not result.report["warnings"]


def test_netcdf_is_read_by_xarray_with_units_and_provenance(result, tmp_path):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("netCDF4")
    result.to_netcdf(tmp_path / "a.nc")
    with xarray.open_dataset(tmp_path / "a.nc") as file:
        for name in result.channels:
            assert_array_equal(file[name].values, result[name].values)
            assert file[name].attrs["units"] == result[name].attrs["units"]
        assert_array_equal(file["up"].values, result["up"].values)
        assert file.attrs["program"] == "terrane" and "settings" in file.attrs


def test_csv_and_vtk_are_written(result, tmp_path):
    result.to_csv(tmp_path / "a.csv")
    back = terrane.read(tmp_path / "a.csv")
    assert_allclose(back.columns["g_u"].values, result.values("g_u").ravel(), rtol=1e-15)
    result.to_vtk(tmp_path / "a.vts")
    assert "StructuredGrid" in (tmp_path / "a.vts").read_text(errors="replace")[:300]
    with pytest.raises(terrane.InputError, match=r"\.csv"):
        result.to_csv(tmp_path / "a.nc")
    with pytest.raises(terrane.UnsupportedError):
        result.write(tmp_path / "a.docx")
    with pytest.raises(OSError):
        result.to_csv(tmp_path / "no" / "such" / "folder" / "a.csv")


def test_plot_draws_maps_in_one_call(result, tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    axes = result.plot(["g_u", "g_uu"], title="A test", path=tmp_path / "a.png")
    assert len(axes) == 2 and axes[0].figure is axes[1].figure
    assert (tmp_path / "a.png").stat().st_size > 5000
    with pytest.raises(terrane.InputError, match="g_q"):
        result.plot(["g_q"])
    pyplot.close("all")


def test_pyvista_gets_points_and_cells(result, mesh, blocks):
    pytest.importorskip("pyvista")
    points = result.to_pyvista()
    assert points.n_points == 12
    assert_allclose(points.points[5], [100, 100, result.survey.up[5]], rtol=1e-6)
    assert points.point_data["g_u"][5] == result.values("g_u").ravel()[5]
    assert mesh.to_pyvista().n_cells == 24
    assert PrismSet(*blocks).to_pyvista().volume == pytest.approx(
        np.prod(np.diff(blocks[0].reshape(-1, 3, 2), axis=2), axis=1).sum(), rel=1e-4)


def test_check_tells_what_a_run_costs(mesh, survey):
    plan = Simulation(mesh, survey).check()
    assert plan["sources"] == 24 and plan["stations"] == 12 and plan["method"]
    assert plan["memory_bytes"] < plan["memory_available"]


def test_results_tell_what_they_hold(result):
    assert "g_u" in repr(result) and "mGal" in repr(result)
    assert "<table" in result._repr_html_()
    with pytest.raises(terrane.InputError, match="there is no field 'g_q'"):
        result.values("g_q")


def test_models_and_surveys_of_other_kinds_are_refused(mesh, survey):
    with pytest.raises(terrane.InputError, match="model: is a ndarray"):
        Simulation(mesh.prisms(), survey)
    with pytest.raises(terrane.InputError, match="survey: is a tuple"):
        Simulation(mesh, (1, 2, 3))
    mesh.density[0, 0, 0] = np.nan
    with pytest.raises(terrane.InputError, match="density nan"):
        Simulation(mesh, survey).run()


def test_nothing_is_kept_when_results_are_dropped(mesh, survey):
    import gc
    import weakref

    result = Simulation(mesh, survey).run()
    values = result.values("g_u")
    dead = weakref.ref(result)
    del result
    gc.collect()
    assert dead() is None
    assert np.isfinite(values).all()  # arrays own what they show
