"""Elastic seismograms through ObsPy."""

import pathlib

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
    assert sorted(trace.id for trace in there) == ["IU.ANMO..CXE", "IU.ANMO..CXN", "IU.ANMO..CXZ",
                                                   "XX.2..CXE", "XX.2..CXN", "XX.2..CXZ"]
    up = there.select(station="ANMO", component="Z")[0]
    numpy.testing.assert_array_equal(up.data, data["velocity"].sel(receiver="IU.ANMO", component="up"))
    assert up.stats.delta == pytest.approx(0.004)
    assert up.stats.starttime == obspy.UTCDateTime("2010-02-27T06:34:13.7")


def test_asdf_brings_back_every_sample_at_its_time(tmp_path):
    pyasdf = pytest.importorskip("pyasdf", reason="pyasdf is not installed")
    data = seismograms()
    path = tmp_path / "waves.h5"
    terrane_obspy.asdf(data, path, start="2010-02-27T06:34:14")
    with pyasdf.ASDFDataSet(str(path), mode="r", mpi=False) as file:
        assert file.waveforms.list() == ["IU.ANMO", "XX.2"]
        there = file.waveforms["IU.ANMO"].synthetic
    assert sorted(trace.id for trace in there) == ["IU.ANMO..CXE", "IU.ANMO..CXN", "IU.ANMO..CXZ"]
    up = there.select(component="Z")[0]
    numpy.testing.assert_array_equal(up.data, data["velocity"].sel(receiver="IU.ANMO", component="up"))
    assert up.stats.delta == pytest.approx(0.004)
    assert up.stats.starttime == obspy.UTCDateTime("2010-02-27T06:34:13.7")
    with pytest.raises(FileExistsError):
        terrane_obspy.asdf(data, path)


def test_segy_brings_back_traces_in_single_precision(tmp_path):
    data = seismograms()
    up = terrane_obspy.stream(data, start="2010-02-27T06:34:14", single=True).select(component="Z")
    up.write(str(tmp_path / "up.segy"), format="SEGY", data_encoding=5)
    there = obspy.read(str(tmp_path / "up.segy"), format="SEGY")
    assert len(there) == 2 and there[0].stats.delta == pytest.approx(0.004)
    numpy.testing.assert_allclose(there[1].data, data["velocity"].sel(receiver="2", component="up"), rtol=1e-6)


def test_stationxml_and_quakeml_become_what_jobs_read(tmp_path):
    given = tmp_path / "GIVEN"
    given.write_text("ANMO IU 34.9459 -106.4572 1820.0 100.0\nTAM G 22.7915 5.5284 1377.0 0.0\n")
    there = terrane_obspy.inventory(given, terrane_obspy.stream(seismograms()).select(station="ANMO"))
    there.write(str(tmp_path / "stations.xml"), format="STATIONXML")
    terrane_obspy.stations(obspy.read_inventory(str(tmp_path / "stations.xml")), tmp_path / "STATIONS")
    assert (tmp_path / "STATIONS").read_text().splitlines() == [
        "ANMO IU 34.9459 -106.4572 1820.0 100.0", "TAM G 22.7915 5.5284 1377.0 0.0"]
    there[0].stations.append(there[1][0])
    there[0].stations[-1].code, there[0].stations[-1].latitude = "ANMO", 35.0
    with pytest.raises(ValueError, match="IU.ANMO has two places"):
        terrane_obspy.stations(there, tmp_path / "STATIONS")
    cmt = pathlib.Path(__file__).parents[2] / "examples/19_chunk/CMTSOLUTION"
    obspy.read_events(str(cmt)).write(str(tmp_path / "event.xml"), format="QUAKEML")
    obspy.read_events(str(tmp_path / "event.xml")).write(str(tmp_path / "CMTSOLUTION"), format="CMTSOLUTION")

    def numbers(path):
        pairs = (line.split(":") for line in path.read_text().splitlines()[1:])
        return {name.strip(): float(value) for name, value in pairs if name.strip() not in ("event name",)}

    assert numbers(tmp_path / "CMTSOLUTION") == pytest.approx(numbers(cmt), rel=1e-4)


def test_sac_brings_back_a_trace_in_single_precision(tmp_path):
    data = seismograms()
    north = terrane_obspy.stream(data).select(station="ANMO", component="N")[0]
    north.write(str(tmp_path / "north.sac"), format="SAC")
    there = obspy.read(str(tmp_path / "north.sac"))[0]
    assert there.id == "IU.ANMO..CXN" and there.stats.delta == pytest.approx(0.004)
    numpy.testing.assert_allclose(there.data, data["velocity"].sel(receiver="IU.ANMO", component="north"), rtol=1e-6)


@pytest.mark.parametrize("step, band", [(0.001, "F"), (0.004, "C"), (0.0125, "H"), (0.1, "B"), (1, "L"), (2, "L"),
                                        (10, "V"), (20, "U")])
def test_the_band_is_that_of_the_rate_though_steps_are_rounded(step, band):
    for rounded in (step, step * (1 + 1e-12), step * (1 - 1e-12)):
        data = seismograms()
        assert terrane_obspy.stream(data.assign_coords(time=rounded * numpy.arange(400)))[0].stats.channel[0] == band


def test_what_does_not_fit_is_named():
    with pytest.raises(ValueError, match="peak_velocity"):
        terrane_obspy.stream(seismograms().drop_vars("velocity"))
    for receiver, said in {"IU.STATIO": "station \"STATIO\" has 6 characters; miniSEED holds 5",
                           "USA.ANMO": "network \"USA\" has 3 characters; miniSEED holds 2"}.items():
        with pytest.raises(ValueError, match=said):
            terrane_obspy.stream(seismograms().assign_coords(receiver=[receiver, "2"]))
    with pytest.raises(ValueError, match="network \"SYNTH\""):
        terrane_obspy.stream(seismograms(), network="SYNTH")


def test_stationxml_has_the_places_and_channels_of_the_stations(tmp_path):
    stations = tmp_path / "STATIONS"
    stations.write_text("# a comment\nANMO IU 34.9459 -106.4572 1820.0 100.0\n2 XX -13.8 -67.2 0 0\n")
    waves = terrane_obspy.stream(seismograms())
    terrane_obspy.inventory(stations, waves).write(str(tmp_path / "stations.xml"), format="STATIONXML")
    there = obspy.read_inventory(str(tmp_path / "stations.xml"))
    up = there.select(network="IU", station="ANMO", channel="CXZ")[0][0][0]
    assert (up.latitude, up.longitude, up.elevation, up.depth, up.dip) == (34.9459, -106.4572, 1820, 100, -90)
    assert there.get_coordinates("XX.2..CXE")["latitude"] == -13.8
    with pytest.raises(ValueError, match="not degrees"):
        terrane_obspy.inventory({"XX.2": (4300000, 500000)})
    with pytest.raises(ValueError, match="wants degrees\nGive the file STATIONS"):
        terrane_obspy.inventory(seismograms())
    with pytest.raises(ValueError, match="no station IU.ANMO"):
        terrane_obspy.inventory({"XX.2": (1, 2)}, waves)
