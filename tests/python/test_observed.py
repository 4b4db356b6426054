"""Observed data beside computed fields, from Python: never one name for both."""

import pickle
import warnings

import numpy as np
import pytest

import terrane

PRISM = terrane.PrismSet([[-100, 100, -100, 100, -300, -100]], 500.0)
FRAMES = {"enu": ("g_u", -1), "harmonica": ("g_z", 1), "simpeg": ("gz", -1), "ubc": ("gz", 1), "tomofast": ("gz", 1)}


@pytest.fixture
def observations(tmp_path):
    path = tmp_path / "data.obs"
    path.write_text("2\n0 0 10 750 0.5\n50 20 10 -725 0\n")
    return path


@pytest.mark.parametrize("frame", FRAMES)
def test_results_keep_observed_computed_and_residual_apart(observations, tmp_path, frame):
    name, sign = FRAMES[frame]
    survey = terrane.Survey.read(observations)
    bare = terrane.Survey(survey.easting, survey.northing, survey.up)
    result = terrane.gravity.Simulation(PRISM, survey, [name], frame=frame).run()
    computed = terrane.gravity.Simulation(PRISM, bare, [name], frame=frame).run()[name].values
    assert result.channels == (name,)
    for held in (result.dataset, result.to_pandas()):
        assert np.array_equal(held[name], computed)
        assert np.array_equal(held[f"{name}_observed"], [sign * 750, sign * -725])
        assert np.array_equal(held[f"{name}_uncertainty"], [0.5, 0])
        assert np.array_equal(held[f"{name}_residual"], held[f"{name}_observed"] - computed)
    again = pickle.loads(pickle.dumps(result))
    assert again.report == result.report
    assert np.array_equal(again.values(f"{name}_residual"), result.values(f"{name}_residual"))
    misfit = result.report["misfits"][name]
    residual = result.values(f"{name}_residual")
    assert misfit["rms"] == pytest.approx(np.sqrt(np.mean(residual**2)))
    assert misfit["chi_squared"] == pytest.approx((residual[0] / 0.5) ** 2) and misfit["weighted"] == 1
    for file in ("a.obs", "a.csv", "a.nc"):
        result.write(tmp_path / file)
        again = terrane.read(tmp_path / file)
        assert again.columns["g_u" if file == "a.obs" else name].values == pytest.approx(
            -sign * computed if file == "a.obs" else computed, rel=1e-15)


def test_a_survey_keeps_its_frame_through_a_file(tmp_path):
    survey = terrane.Survey([0, 1], [0, 0], [5, 5])
    survey.set_column("gz", [7.0, 8.0], "mGal")
    survey.frame = "ubc"
    survey.write(tmp_path / "stations.csv")
    again = terrane.Survey.read(tmp_path / "stations.csv")
    assert again.frame == "ubc"
    result = terrane.gravity.Simulation(PRISM, again).run()
    assert np.array_equal(result["g_u_observed"], [-7, -8])


def test_a_column_without_a_unit_is_kept_and_not_compared():
    survey = terrane.Survey([0, 1], [0, 0], [5, 5], columns={"g_u": [1.0, 2.0]})
    result = terrane.gravity.Simulation(PRISM, survey).run()
    assert np.array_equal(result["g_u_survey"], [1, 2])
    assert not result.report["misfits"] and "has no unit" in result.report["warnings"][0]


def test_absolute_gravity_is_taken_in_its_own_unit():
    survey = terrane.Survey([0], [0], [5])
    survey.set_column("observed", [980000.0], "mGal")
    result = terrane.gravity.Simulation(PRISM, survey).run()
    assert result["observed"].values == pytest.approx([980000.0]) and result["observed"].units == "mGal"


def test_formats_say_what_they_leave_out(tmp_path):
    result = terrane.gravity.Simulation(PRISM, terrane.Survey([0], [0], [5]), "all").run()
    with pytest.warns(UserWarning, match="leaves out potential, g_e, g_n, g_ee"):
        result.write(tmp_path / "a.obs")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result.write(tmp_path / "a.csv")
    tensor = terrane.gravity.Simulation(PRISM, terrane.Survey([0], [0], [5]), "tensor").run()
    with pytest.raises(terrane.UnsupportedError, match="hold g_u"):
        tensor.write(tmp_path / "b.obs")
    assert not (tmp_path / "b.obs").exists()
