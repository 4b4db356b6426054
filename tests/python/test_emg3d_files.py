"""Files of emg3d: three that emg3d 1.9.1 wrote (model, grid, field, survey), and what is written for it."""

import numpy as np
import pytest
from conftest import DATA

import terrane
from terrane.compat.emg3d_files import Emg3dSurvey, read_emg3d, write_emg3d

FORMATS = ("npz", "h5", "json")


@pytest.fixture(params=FORMATS)
def stored(request):
    if request.param == "h5":
        pytest.importorskip("h5py")
    return read_emg3d(DATA / f"emg3d_1.9.1.{request.param}")


def test_a_model_stands_where_emg3d_has_it(stored):
    model = stored["model"]
    assert model.easting.tolist() == [-10, 0, 20] and model.northing.tolist() == [3, 8, 13, 20]
    assert model.up.tolist() == [-12, -8, 0]
    # emg3d's [x, y, z] in Fortran order is [up, north, east].
    resistivity = np.arange(1, 13.0).reshape(2, 3, 2)
    assert np.allclose(model.conductivity_east, 1 / resistivity, rtol=1e-15)
    assert np.allclose(model.conductivity_up, 0.5 / resistivity, rtol=1e-15)
    assert stored["grid"].properties == () and stored["grid"].shape == (2, 3, 2)


def test_a_field_lies_on_the_edges_of_its_grid(stored):
    field = stored["efield"]
    assert field.attrs["frequency"] == 0.5 and field.e_n.dims == ("face_up", "cell_northing", "face_easting")
    assert field.e_e.shape == (3, 4, 2) and field.e_u.shape == (2, 4, 3)
    assert field.e_e.values[0, 1, 0] == 2 * (1 - 0.25j)  # of all edges along x, this is the third
    assert field.e_n.values[0, 0, 0] == 24 * (1 - 0.25j)


def test_a_survey_has_sources_receivers_and_data(stored):
    survey = stored["survey"]
    point, wire, dipole = (survey.sources[name] for name in ("point", "wire", "dipole"))
    assert point.moment == 2 and point.azimuth == 60 and point.dip == -10 and list(point.at) == [1, 2, -3]
    assert wire.current == 3 and not wire.closed and np.asarray(wire.points).tolist()[2] == [5, 5, -2]
    assert np.asarray(dipole.points).tolist() == [[0, 0, -5], [10, 0, -6]]
    assert survey.sources["ring"]["__class__"] == "TxMagneticDipole"
    assert survey.names == ["a", "b"] and survey.magnetic.tolist() == [False, True]
    assert survey.azimuths.tolist() == [90, 0] and survey.dips.tolist() == [0, 5]
    assert list(survey.frequencies.values()) == [0.5, 2]
    assert survey.data["observed"].shape == (4, 2, 2) and survey.data["observed"][3, 1, 1] == 15 + 7.5j
    assert survey.noise_floor == 1e-15 and survey.relative_error == 0.05


@pytest.mark.parametrize("end", FORMATS)
def test_what_is_written_is_read_as_it_was(stored, tmp_path, end):
    if end == "h5":
        pytest.importorskip("h5py")
    path = tmp_path / f"again.{end}"
    write_emg3d(path, **stored, note="kept", table={"inner": stored["grid"], "number": 3, "nothing": None})
    again = read_emg3d(path)
    for name in ("conductivity_east", "conductivity_north", "conductivity_up"):
        assert np.array_equal(again["model"][name], stored["model"][name])
    assert np.array_equal(again["grid"].easting, stored["grid"].easting)
    assert again["efield"].identical(stored["efield"])
    ours, theirs = again["survey"], stored["survey"]
    assert isinstance(ours, Emg3dSurvey) and ours.sources["point"] == theirs.sources["point"]
    assert np.array_equal(ours.sources["wire"].points, theirs.sources["wire"].points)
    assert np.array_equal(ours.data["observed"], theirs.data["observed"]) and ours.frequencies == theirs.frequencies
    assert again["note"] == "kept" and again["table"]["number"] == 3 and again["table"]["nothing"] is None
    assert again["table"]["inner"].shape == (2, 3, 2)


def test_models_in_logarithms_are_conductivities(tmp_path):
    mesh = terrane.TensorMesh([0, 1, 2], [0, 1], [0, 1], resistivity=[[[10.0, 1000.0]]])
    write_emg3d(tmp_path / "m.npz", model=mesh)
    flat = dict(np.load(tmp_path / "m.npz"))
    assert flat["model>mapping"] == "Resistivity" and flat["model>property_y"] == "NoneType"
    for mapping, values in (("LgResistivity", [1, 3]), ("LnConductivity", np.log([0.1, 0.001]))):
        np.savez(tmp_path / "n.npz", **{**flat, "model>mapping": mapping,
                                        "model>property_x": np.reshape(values, (2, 1, 1)).astype(float)})
        assert np.allclose(read_emg3d(tmp_path / "n.npz")["model"].conductivity.ravel(), [0.1, 0.001], rtol=1e-14)


def test_what_has_no_place_here_is_refused(tmp_path):
    with pytest.raises(terrane.UnsupportedError, match="npz, .h5 or .json"):
        read_emg3d("model.toml")
    mesh = terrane.TensorMesh([0, 1, 2], [0, 1], [0, 1], conductivity=1.0)
    write_emg3d(tmp_path / "m.npz", model=mesh)
    flat = dict(np.load(tmp_path / "m.npz"))
    np.savez(tmp_path / "n.npz", **{**flat, "model>mu_r": np.ones((2, 1, 1))})
    with pytest.raises(terrane.UnsupportedError, match="mu_r"):
        read_emg3d(tmp_path / "n.npz")
    del flat["model>grid>origin"]
    np.savez(tmp_path / "n.npz", **flat)
    with pytest.raises(terrane.InputError, match="has no 'origin'"):
        read_emg3d(tmp_path / "n.npz")


@pytest.mark.parametrize("end", FORMATS)
def test_emg3d_reads_what_is_written_for_it(stored, tmp_path, end):
    real = pytest.importorskip("emg3d")
    path = str(tmp_path / f"for_emg3d.{end}")
    write_emg3d(path, **stored)
    ours, theirs = real.load(path, verb=0), real.load(str(DATA / "emg3d_1.9.1.npz"), verb=0)
    assert isinstance(ours["model"], real.Model) and ours["grid"] == theirs["grid"]
    for name in ("property_x", "property_z"):
        one, other = (m.map.backward(getattr(m, name)) for m in (ours["model"], theirs["model"]))
        assert np.allclose(one, other, rtol=1e-14)
    assert np.array_equal(ours["efield"].field, theirs["efield"].field)
    assert np.array_equal(ours["efield"].fz, theirs["efield"].fz) and ours["efield"].frequency == 0.5
    for name, source in theirs["survey"].sources.items():
        assert np.allclose(ours["survey"].sources[name].points, source.points)
        assert ours["survey"].sources[name].strength == source.strength
    for name, receiver in theirs["survey"].receivers.items():
        assert ours["survey"].receivers[name] == receiver
    assert np.array_equal(ours["survey"].data["observed"].data, theirs["survey"].data["observed"].data, equal_nan=True)
