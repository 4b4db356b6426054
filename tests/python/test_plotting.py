"""What the plots read, and that they draw it."""

import pathlib
import sys

import numpy
import pytest

netCDF4 = pytest.importorskip("netCDF4")
pytest.importorskip("matplotlib").use("Agg")

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python/terrane"))
import plotting  # noqa: E402  (as the command runs it: without the package around it)


def stations_with_both_kinds_of_coordinates(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("station", 3)
        columns = {"longitude": ([20.0, 21, 22], "degrees_east"), "latitude": ([-30.0, -31, -32], "degrees_north"),
                   "easting": ([0.0, 9e4, 1.8e5], "m"), "northing": ([0.0, -1e5, -2e5], "m"),
                   "disturbance": ([1.0, -2, 3], "mGal")}
        for name, (values, unit) in columns.items():
            variable = file.createVariable(name, "f8", ("station",))
            variable.units = unit
            variable[:] = values
    return path


def test_stations_are_drawn_by_easting_and_northing_where_both_are_there(tmp_path):
    data = plotting.read(stations_with_both_kinds_of_coordinates(tmp_path / "stations.nc"))
    assert not data.geographic
    numpy.testing.assert_array_equal(data.northing, [0, -1e5, -2e5])
    figure = plotting.draw(data, ["disturbance"])
    assert figure.axes[0].get_xlabel() == "easting (km)"
    low, high = figure.axes[0].get_ylim()
    assert low < -200 and high > 0
