"""Data sets through the engine's NetCDF: types, complex numbers, and what xarray sees in the file."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import terrane
from terrane.dataset import read_dataset, write_dataset

xarray = pytest.importorskip("xarray")


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
