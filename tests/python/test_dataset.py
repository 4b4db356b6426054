"""Data sets through the engine's NetCDF: types, complex numbers, and what xarray sees in the file."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import terrane
from terrane.dataset import read_dataset, write_dataset

xarray = pytest.importorskip("xarray")
plotting = pytest.importorskip("terrane.plotting")


def made(random):
    shape = (3, 4)
    return xarray.Dataset(
        {"e_x": (("station", "frequency"), random.normal(size=shape) + 1j * random.normal(size=shape), {"units": "V/m"}),
         "b_z": ("frequency", (random.normal(size=4) * 1j).astype(np.complex64), {"units": "T", "part": "secondary"}),
         "trace": ("station", random.normal(size=3).astype(np.float32)),
         "count": ("station", np.array([1, -2, 3], np.int32)),
         "mask": ("station", np.array([0, 1, 0], np.uint8)),
         "line": ("station", np.array(["Ø1", "b", ""], dtype=object))},
        coords={"easting": ("station", [0.0, 1.0, 2.0], {"units": "m"}),
                "frequency": ("frequency", [1.0, 2.0, 4.0, 8.0], {"units": "Hz"})},
        attrs={"program": "test", "accuracy": 1e-9})


def test_every_type_comes_back(random, tmp_path):
    data = made(random)
    write_dataset(data, tmp_path / "a.nc")
    back = read_dataset(tmp_path / "a.nc")
    assert set(back.variables) == set(data.variables) and set(back.coords) == set(data.coords)
    for name, array in data.variables.items():
        assert back[name].dims == array.dims
        assert_array_equal(back[name].values, array.values)
        assert back[name].dtype == array.dtype
    assert back.e_x.attrs == {"units": "V/m"} and back.b_z.attrs == {"units": "T", "part": "secondary"}
    assert back.attrs == {"program": "test", "accuracy": 1e-9}


def test_xarray_opens_the_file_and_finds_both_parts(random, tmp_path):
    data = made(random)
    write_dataset(data, tmp_path / "a.nc")
    try:
        seen = xarray.open_dataset(tmp_path / "a.nc")
    except ValueError:
        pytest.skip("xarray has nothing to open NetCDF-4 with")
    with seen:
        assert seen.e_x.dims == ("station", "frequency", "complex")
        assert_array_equal(seen.e_x.sel(complex="imag").values, data.e_x.values.imag)
        assert_array_equal(seen.b_z.sel(complex="real").values, data.b_z.values.real)
        assert seen.trace.dtype == np.float32
        assert "easting" in seen.coords
        assert list(seen.line.values) == ["Ø1", "b", ""]


def test_complex_values_are_two_columns_of_a_table(random, tmp_path):
    data = made(random)[["e_x"]]
    write_dataset(data, tmp_path / "a.csv")
    rows = terrane.read(tmp_path / "a.csv")
    assert_array_equal(rows["e_x_imag"].values, data.e_x.values.imag.ravel())
    assert rows["e_x_real"].attrs["units"] == "V/m"


def test_a_name_that_files_keep_for_themselves_is_refused(tmp_path):
    with pytest.raises(terrane.InputError, match='"complex" cannot be the name'):
        write_dataset(xarray.Dataset({"a": ("complex", [1.0])}), tmp_path / "a.nc")
    assert not list(tmp_path.iterdir())


@pytest.fixture
def result():
    mesh = terrane.TensorMesh.regular([0, 400, 0, 400, -200, 0], shape=(8, 8, 4), density=0.0)
    mesh.density[1:3, 3:5, 3:5] = 400
    survey = terrane.Survey.grid(np.arange(0, 401, 100.0), np.arange(0, 401, 200.0), 5.0, projection="EPSG:32633")
    return terrane.gravity.Simulation(mesh, survey, channels=["g_u", "g_uu"]).run()


def test_results_are_added_subtracted_and_scaled_as_data_sets_are(result):
    field = result["g_u"].values
    for made, right in ((result - 1, field - 1), (1 - result, 1 - field), (2 * result + result, 3 * field),
                        (result - result, 0 * field), (-result, -field), (abs(result), abs(field)),
                        (np.float64(2) * result, 2 * field), (np.abs(result), abs(field)), (result / result, field / field),
                        (result**2, field**2), (result - result.dataset, 0 * field)):
        assert isinstance(made, xarray.Dataset) and list(made.data_vars) == ["g_u", "g_uu"]
        np.testing.assert_allclose(made["g_u"], right)
        assert made["g_u"].dims == ("northing", "easting")
    both = xarray.concat([result.to_xarray(), (2 * result)], "model")
    assert both["g_u"].sizes == {"model": 2, "northing": 3, "easting": 5}
    assert xarray.merge([result.to_xarray()])["g_uu"].equals(result["g_uu"])
    assert result.equals(result) and not result.equals(2 * result) and result.identical(result.dataset)


def test_a_grid_of_stations_lives_to_result_files_and_names_in_every_physics_of_stations(tmp_path):
    mesh = terrane.TensorMesh.regular([0, 400, 0, 400, -200, 0], shape=(8, 8, 4), density=0.0)
    mesh.susceptibility = 0.0
    mesh.density[1:3, 3:5, 3:5], mesh.susceptibility[1:3, 3:5, 3:5] = 400, 0.05
    survey = terrane.Survey.grid(np.arange(0, 401, 100.0), np.arange(0, 401, 200.0), 5.0)
    survey.set_column("site", [f"N{n}" for n in range(15)])
    for made in (terrane.gravity.Simulation(mesh, survey, channels=["g_u"]).run(),
                 terrane.magnetic.Simulation(mesh, survey, channels=["tmi"], main_field=(5e4, 60, 0)).run(),
                 terrane.run({"mesh": mesh, "survey": survey, "simulation": {"channels": ["g_u"]}})):
        name = made.channels[0]
        assert made[name].dims == ("northing", "easting") and made[name].shape == (3, 5)
        assert made.survey.axes is not None and made.survey.shape == (3, 5)
        assert made.survey.texts["site"][7] == "N7", name
        made.write(tmp_path / "made.nc")
        again = xarray.open_dataset(tmp_path / "made.nc")
        assert again[name].dims == ("northing", "easting") and again["site"].values[1, 2] == "N7"
        made.write(tmp_path / "made.csv")
        assert "N7" in (tmp_path / "made.csv").read_text()
        assert plotting.draw(made._for_pictures(), []).axes[0].collections[0].get_array().shape == (3, 5)


def test_stations_that_were_moved_are_a_grid_only_where_they_form_one():
    survey = terrane.Survey.grid([0.0, 100, 200], [0.0, 50], 1.0)
    survey.easting = survey.easting + 7
    assert survey.axes[0].tolist() == [7, 107, 207]
    survey.easting[1] += 1
    assert survey.axes is None and survey.shape == (6,) and not survey.is_grid


def test_electrodes_are_coordinates_so_differences_keep_them():
    mesh = terrane.TensorMesh.regular([-50, 50, -20, 20, -30, 0], shape=(20, 8, 6))
    mesh.resistivity = 100.0
    line = terrane.electric.Line([-20, 0], 9, 5.0, array="wenner", levels=2)
    made = terrane.electric.Simulation(mesh, line).run()
    twice = made - made
    assert "a_easting" in twice.coords and float(twice["a_easting"].min()) == -20
    assert float(abs(twice["apparent_resistivity"]).max()) == 0


def test_a_projection_is_a_reference_system_as_cf_and_rioxarray_expect_it(result, tmp_path):
    wkt = result.dataset["spatial_ref"].attrs["crs_wkt"]
    assert "UTM zone 33N" in wkt and result["g_u"].encoding["grid_mapping"] == "spatial_ref"
    assert result["easting"].attrs["standard_name"] == "projection_x_coordinate"
    result.to_netcdf(tmp_path / "g.nc")
    again = xarray.open_dataset(tmp_path / "g.nc", decode_coords="all")
    assert again["spatial_ref"].attrs["crs_wkt"] == wkt and again["g_u"].encoding["grid_mapping"] == "spatial_ref"


def test_complex_values_of_a_file_are_complex_again(tmp_path):
    mesh = terrane.TensorMesh.regular([-3000, 3000, -3000, 3000, -3000, 1000], shape=(10, 10, 8))
    mesh.resistivity = 100.0
    mesh.resistivity[6:] = 1e8
    made = terrane.electromagnetic.Simulation(mesh, terrane.Survey([600.0, 1200], 0.0, -1.0),
                                              terrane.electromagnetic.Dipole([0, 0, -10]), [1.0], components=["e_e"]).run()
    made.to_netcdf(tmp_path / "em.nc")
    for again in (terrane.read(tmp_path / "em.nc"), terrane.read_dataset(tmp_path / "em.nc")):
        assert again["e_e"].dtype == complex and again["e_e"].equals(made["e_e"])
    assert "e_e" in repr(made) and "|…|" in repr(made) and "frame" not in repr(made)


def test_names_of_literals_are_those_of_the_engine():
    from typing import get_args

    from terrane import _core, _names

    assert set(get_args(_names.Format)) == {name for name, *_ in _core.formats()}
    assert set(get_args(_names.InversionPhysics)) == {physics for physics, *_ in _core.inversion_keys()}
    channels = {c[0] for frame in get_args(_names.Frame) for c in _core.channels(["all"], frame, "geo")[1]}
    assert set(get_args(_names.GravityChannel)) == channels | {"all", "vector", "tensor"}
    for names, known in ((_names.Method, terrane.gravity._METHODS), (_names.Singular, terrane.gravity._SINGULAR),
                         (_names.Precision, terrane.gravity._PRECISIONS), (_names.Partition, terrane.gravity._PARTITIONS),
                         (_names.Frame, terrane.gravity.FRAMES), (_names.Storage, terrane.inversion._STORAGES)):
        assert get_args(names) == tuple(known)


def test_completion_shows_what_a_user_may_write():
    assert not {"Any", "TYPE_CHECKING", "annotations", "importlib", "os"} & set(dir(terrane))
    assert {"gravity", "plot", "TensorMesh"} <= set(dir(terrane))
    for module in (terrane.gravity, terrane.electric, terrane.inversion, terrane.plotting, terrane.compat):
        assert dir(module) == sorted(module.__all__)
