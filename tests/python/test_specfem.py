"""Elastic seismograms as text files of SPECFEM3D."""

import numpy
import pytest

xarray = pytest.importorskip("xarray")
specfem = pytest.importorskip("terrane.compat.specfem")


def test_every_trace_is_a_file_of_two_columns(tmp_path):
    time = -0.3 + 0.004 * numpy.arange(50)
    values = numpy.random.default_rng(4).normal(size=(2, 3, 50))
    data = xarray.Dataset({"velocity": (("receiver", "component", "time"), values)},
                          {"time": time, "receiver": ["IU.ANMO", "2"], "component": ["east", "north", "up"]})
    files = specfem.write(data, tmp_path / "OUTPUT_FILES")
    assert [f.name for f in files] == ["IU.ANMO.CXE.semv", "IU.ANMO.CXN.semv", "IU.ANMO.CXZ.semv",
                                       "XX.2.CXE.semv", "XX.2.CXN.semv", "XX.2.CXZ.semv"]
    columns = numpy.loadtxt(files[5])
    numpy.testing.assert_allclose(columns[:, 0], time, rtol=1e-8)
    numpy.testing.assert_allclose(columns[:, 1], values[1, 2], rtol=1e-8)
    with pytest.raises(ValueError, match="there is: velocity"):
        specfem.write(data, tmp_path, variable="pressure")
