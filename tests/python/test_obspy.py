"""Elastic seismograms through ObsPy."""

import numpy
import pytest

obspy = pytest.importorskip("obspy", reason="ObsPy is not installed")
xarray = pytest.importorskip("xarray")
terrane_obspy = pytest.importorskip("terrane.compat.obspy")


def seismograms():
    time = -0.3 + 0.004 * numpy.arange(400)
    values = numpy.random.default_rng(4).normal(size=(2, 3, 400))
    return xarray.Dataset(
        {"velocity": (("receiver", "component", "time"), values, {"units": "m/s"}),
         "peak_velocity": (("receiver",), [1.0, 2.0])},
        {"time": time, "receiver": ["IU.ANMO", "2"], "component": ["east", "north", "up"]})


def test_miniseed_brings_back_every_sample_at_its_time(tmp_path):
    data = seismograms()
    path = tmp_path / "waves.mseed"
    terrane_obspy.stream(data, start="2010-02-27T06:34:14").write(str(path), format="MSEED")
    there = obspy.read(str(path))
    assert sorted(trace.id for trace in there) == ["IU.ANMO..CLE", "IU.ANMO..CLN", "IU.ANMO..CLZ",
                                                   "XX.2..CLE", "XX.2..CLN", "XX.2..CLZ"]
    up = there.select(station="ANMO", component="Z")[0]
    numpy.testing.assert_array_equal(up.data, data["velocity"].sel(receiver="IU.ANMO", component="up"))
    assert up.stats.delta == pytest.approx(0.004)
    assert up.stats.starttime == obspy.UTCDateTime("2010-02-27T06:34:13.7")


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="peak_velocity"):
        terrane_obspy.stream(seismograms().drop_vars("velocity"))
    with pytest.raises(ValueError, match="eight characters"):
        terrane_obspy.stream(seismograms().assign_coords(receiver=["IU.ALBUQUERQUE", "2"]))
