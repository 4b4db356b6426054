"""Inversions made of objects: the model in hand, of every physics that inverts."""

from __future__ import annotations

import csv
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import ROOT
from numpy.testing import assert_allclose, assert_array_equal

import terrane
from terrane.inversion import Inversion, Inverted, Joint, invert

BLOCK = [-50.0, 50.0, -50.0, 50.0, -160.0, -60.0]


def _mesh():
    return terrane.TensorMesh.regular([-300, 300, -300, 300, -300, 0], shape=(12, 12, 6))


def _stations():
    e, n = (a.ravel() for a in np.meshgrid(np.arange(-240.0, 241, 60), np.arange(-240.0, 241, 60)))
    return e, n, np.full(e.size, 1.0)


def _gravity():
    e, n, u = _stations()
    survey = terrane.Survey(e, n, u)
    field = terrane.gravity.forward([BLOCK], [500.0], e, n, u)
    survey.set_column("g_u_observed", field["g_u"], "mGal")
    return survey


def _magnetic():
    e, n, u = _stations()
    survey = terrane.Survey(e, n, u + 20)
    prisms = terrane.PrismSet([BLOCK], susceptibility=0.05)
    run = terrane.run({"mesh": prisms, "survey": survey,
                       "simulation": {"physics": "magnetic", "inclination": 65, "channels": ["tmi"]}})
    survey.set_column("tmi_observed", run.values("tmi"), "nT")
    return survey


@pytest.fixture(scope="module")
def found():
    return Inversion(_mesh(), _gravity(), floor=0.005, lower=0, upper=1000).run()


def test_gravity_gives_model_data_curve_and_report(found):
    assert isinstance(found, Inverted) and found.report.converged
    assert found.property == "density" and found.model.density.shape == (6, 12, 12)
    k, j, i = np.unravel_index(found.model.density.argmax(), found.model.shape)
    e, n, u = found.model.centres
    assert abs(e[i]) < 50 and abs(n[j]) < 50 and -160 < u[k] < -60  # in the block
    assert found.report.model_most == found.model.density.max()
    assert abs(found.report.chi_squared_g_u - 1) < 0.03
    assert_allclose(found["g_u_residual"], found["g_u_observed"] - found["g_u"], atol=1e-12)
    assert (found["g_u_uncertainty"] == 0.005).all()
    assert list(found.curve.columns) == ["beta", "phi_d", "phi_m"] and len(found.curve) > 2
    assert found.steps["phi_d"].iloc[-1] == pytest.approx(found.report.phi_d)
    assert found.cells["weight"].shape == found.model.shape
    assert "density 0" in repr(found) and "stopped" in repr(found)


def test_what_was_found_is_drawn_written_and_pickled(found, tmp_path):
    import matplotlib

    matplotlib.use("Agg")
    for what in ("model", "data", "curve"):
        found.plot(what, path=tmp_path / f"{what}.png")
        assert (tmp_path / f"{what}.png").stat().st_size > 5000
    with pytest.raises(terrane.InputError, match="region"):
        found.plot("curve", region=[0, 1, 0, 1])
    with pytest.raises(terrane.InputError, match="model, data, curve"):
        found.plot("models")
    found.write(tmp_path / "model.nc")
    assert_array_equal(terrane.TensorMesh.read(tmp_path / "model.nc").density, found.model.density)
    again = pickle.loads(pickle.dumps(found))
    assert_array_equal(again.model.density, found.model.density)
    assert again.stopped == found.stopped == "converged"


def test_a_job_file_and_the_same_from_objects_give_one_model(tmp_path):
    survey = _gravity()
    survey.write(tmp_path / "stations.csv")
    (tmp_path / "job.toml").write_text("""
        [mesh]
        box = [-300, 300, -300, 300, -300, 0]
        shape = [12, 12, 6]
        [survey]
        kind = "list"
        file = "stations.csv"
        [inversion]
        floor = [0.005]
        lower = 0
        upper = 1000
        [output]
        files = ["fit.csv"]
        model = ["model.npy"]
    """)
    of_file = invert(tmp_path / "job.toml")
    assert_array_equal(of_file.model.density.ravel(), np.load(tmp_path / "output" / "model.npy").ravel())
    of_objects = Inversion(_mesh(), terrane.Survey.read(tmp_path / "stations.csv"), floor=0.005, lower=0, upper=1000).run()
    assert_array_equal(of_file.model.density, of_objects.model.density)
    with pytest.raises(terrane.InputError, match=r"\[inversion\]"):
        invert({"mesh": terrane.PrismSet([BLOCK], 1.0), "survey": survey, "simulation": {"physics": "gravity"}})


def test_a_mesh_is_planned_where_there_is_none():
    plan = Inversion(None, _gravity(), floor=0.005).check()
    assert any("cells of 60 m, as stations are apart" in note for note in plan["notes"])
    found = Inversion({"kind": "planned", "cell": 60.0, "depth": 300.0}, _gravity(), floor=0.005, lower=0).run()
    weight = found.model.density * _volumes(found.model)
    e, n, u = found.model.centres
    middle = [float((weight * axis).sum() / weight.sum()) for axis in (e, n[:, None], u[:, None, None])]
    assert_allclose(middle[:2], [0, 0], atol=20)
    assert abs(middle[2] + 110) < 45
    assert weight.sum() == pytest.approx(500 * 1e6, rel=0.2)  # the mass of the block


def _volumes(mesh):
    e, n, u = (np.diff(faces) for faces in (mesh.easting, mesh.northing, mesh.up))
    return u[:, None, None] * n[:, None] * e


def test_magnetics_and_gravity_are_found_together():
    mesh = _mesh()
    both = Joint({"gravity": Inversion(mesh, _gravity(), floor=0.005, lower=0),
                  "magnetic": Inversion(mesh, _magnetic(), physics="magnetic", inclination=65, floor=2, lower=0)},
                 coupling=1, most_rounds=2, tolerance=0.5)
    found = both.run()
    assert list(found) == ["gravity", "magnetic"]
    assert found["magnetic"].property == "susceptibility"
    assert 0.003 < found["magnetic"].model.susceptibility.max() < 0.3
    assert found["gravity"].cells["density_apart"].shape == mesh.shape
    with pytest.raises(terrane.InputError, match="mesh"):
        Joint({"a": Inversion(mesh, _gravity(), floor=1), "b": Inversion(_mesh(), _gravity(), floor=1)})


def _line():
    """Dipole-dipole over a conductor: arrays as they would be read."""
    data = terrane.electric.read_arrays(ROOT / "examples/18_resistivities/arrays.csv")
    near = np.flatnonzero((data.electrodes[data.arrays][..., 0] > -75).all(axis=1)
                          & (data.electrodes[data.arrays][..., 0] < 75).all(axis=1))
    columns = {name: (unit, values[near], spread[near] if len(spread) else spread)
               for name, (unit, values, spread) in data.columns.items()}
    return terrane.electric.Arrays(data.electrodes, data.arrays[near], columns)


def test_resistivities_are_found_from_arrays_in_memory():
    line = _line()
    found = Inversion({"kind": "planned", "cell": 10.0}, line, physics="electric", percent=5, most_steps=6,
                      simulation={"tolerance": 1e-5}).run()
    assert found.property == "resistivity" and found.report.converged
    assert found["apparent_resistivity"].size == len(line.arrays)
    assert_allclose(found["apparent_resistivity_observed"], line.columns["apparent_resistivity"][1])
    assert found.curve["phi_d"].iloc[-1] < found.curve["phi_d"].iloc[0]
    charges = terrane.electric.Arrays(line.electrodes, line.arrays,
                                      {"chargeability": ("mV/V", np.full(len(line.arrays), 20.0), np.empty(0))})
    ip = Inversion({"kind": "planned", "cell": 10.0}, charges, physics="electric", datum="chargeability",
                   resistivity=found.model, floor=1).run()
    assert ip.property == "chargeability"
    assert ip.report.converged and float(abs(ip["chargeability"] - 20).max()) < 5  # mV/V
    assert 0.02 < ip.model.chargeability.max() < 0.2


def test_references_and_bounds_are_numbers_meshes_or_arrays():
    mesh, survey = _mesh(), _gravity()
    upper = np.full(mesh.shape, 100.0)
    found = Inversion(mesh, survey, floor=0.005, lower=0, upper=upper).run()
    assert found.model.density.max() == pytest.approx(100)
    reference = terrane.TensorMesh(mesh.easting, mesh.northing, mesh.up, density=found.model.density)
    again = Inversion(mesh, survey, floor=0.05, reference=reference, active=np.ones(mesh.shape)).run()
    assert abs(again.model.density - found.model.density).max() < 20
    active = np.ones(mesh.shape)
    active[0] = 0
    part = Inversion(mesh, survey, floor=0.005, active=active).run()
    assert (part.model.density[0] == 0).all() and (part.cells["active"] == active).all()


def test_unknown_keywords_are_refused_with_the_nearest_name():
    mesh, survey = _mesh(), _gravity()
    with pytest.raises(terrane.InputError, match="did you mean huber"):
        Inversion(mesh, survey, hubber=1.5)
    with pytest.raises(terrane.InputError, match="Allowed: acoustic, electric"):
        Inversion(mesh, survey, physics="heat")
    with pytest.raises(terrane.InputError, match="survey"):
        Inversion(mesh, 3.0)
    mesh.density = 1.0
    with pytest.raises(terrane.InputError, match="reference="):
        Inversion(mesh, survey, floor=0.01)
    with pytest.raises(terrane.InputError, match="floor"):
        Inversion(_mesh(), survey).check()


def test_every_keyword_is_a_key_of_the_job_file():
    given = set(inspect.signature(Inversion).parameters) - {"mesh", "survey", "physics", "observed", "active", "model",
                                                            "inversion", "simulation", "keywords"}
    keys = {key for _, table, key in terrane._core.inversion_keys() if table == "inversion"}
    assert given <= keys and {"observed", "active_file"} <= keys


def test_resistivities_are_found_from_fields_of_a_dipole():
    sides = np.array([-4000.0, -2200, -1200, -700, -400, -200, 0, 200, 400, 700, 1200, 2200, 4000])
    up = np.array([-3000.0, -1600, -900, -500, -300, -150, 0, 150, 400, 900, 2000, 4000])
    earth = terrane.TensorMesh(sides, sides, up, resistivity=30.0)
    earth.resistivity[up[:-1] >= 0] = 1e8
    body = terrane.TensorMesh(sides, sides, up, resistivity=earth.resistivity.copy())
    body.resistivity[3:5, 4:8, 4:8] = 5
    receivers = terrane.Survey([-600.0, -300, 0, 300, 600], 0.0, -1.0)
    dipole = {"kind": "dipole", "at": [-1000, 0, -75], "azimuth": 90}
    measured = terrane.run({"mesh": body, "survey": receivers, "source": dipole, "simulation": {
        "physics": "electromagnetic", "frequencies": [1.0], "components": ["e_e"], "tolerance": 1e-5}})
    found = Inversion(earth, receivers, physics="electromagnetic", source=dipole, frequencies=[1.0], components=["e_e"],
                      observed=measured, percent=3, most_steps=4, simulation={"tolerance": 1e-5}).run()
    assert found.report.converged and found.report.chi_squared_e_e < 1.1
    assert np.isnan(found.model.resistivity[-1]).all()  # the air
    assert found.model.resistivity[4, 5, 5] < 25


def test_what_a_simulation_computed_is_data():
    mesh = _mesh()
    mesh.density[2:4, 5:7, 5:7] = 500.0
    e, n, u = _stations()
    computed = terrane.gravity.Simulation(mesh, terrane.Survey(e, n, u)).run()
    found = Inversion(_mesh(), computed, floor=0.005).run()
    assert_allclose(found.data["g_u_observed"], computed.values("g_u"), rtol=1e-9)
    with pytest.raises(terrane.InputError, match="a Result"):
        Inversion(_mesh(), 7)


def test_velocities_are_found_from_gathers():
    mesh, slow = (terrane.TensorMesh.regular([0, 400, -5, 5, -300, 0], shape=(40, 1, 30)) for _ in range(2))
    mesh.velocity_p = slow.velocity_p = 2000.0
    slow.velocity_p[12:18, :, 16:24] = 1800
    receivers = terrane.Survey(np.arange(30.0, 380, 20), 0.0, -285.0)
    job = {"survey": receivers, "source": {"first": [40, 0, -15], "last": [360, 0, -15], "count": 3, "frequency": 12},
           "boundary": {"top": "cpml"}}
    simulation = {"end": 0.35, "sample": "7 ms"}
    measured = terrane.run({"mesh": slow, **job, "simulation": {"physics": "acoustic", **simulation}})
    found = Inversion(mesh, receivers, physics="acoustic", source=job["source"], boundary=job["boundary"],
                      observed=measured, percent=5, most_steps=2, most_products=4, length_scale=[40, 40, 40],
                      **simulation).run()
    assert found.property == "velocity_p"
    assert found.steps["phi_d"].iloc[-1] < 0.7 * found.steps["phi_d"].iloc[0]
    assert found.model.velocity_p[12:18, :, 16:24].mean() < 1980


@pytest.fixture(scope="module")
def line_from_python(tmp_path_factory):
    """The folder of the example and that of the results of its script."""
    example, output = ROOT / "examples" / "36_line_from_python", tmp_path_factory.mktemp("line")
    done = subprocess.run([sys.executable, str(example / "script.py"), "--output", str(output)], capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return example, output


def test_a_line_from_python_finds_clay_and_a_wall(line_from_python):
    example, output = line_from_python
    found, promised = (list(csv.DictReader(path.open())) for path in (output / "bodies.csv", example / "expected.csv"))
    assert [row["body"] for row in found] == [row["body"] for row in promised] == ["clay", "wall"]
    for one, row in zip(found, promised):
        assert float(one["resistivity"]) == pytest.approx(float(row["resistivity"]), rel=float(row["within"]))


@pytest.mark.long
def test_the_job_beside_a_line_from_python_finds_the_same_bits(line_from_python, tmp_path):
    example, output = line_from_python
    job = terrane.inversion.invert(example / "section.toml", settings={"survey.file": str(output / "measured.ohm")},
                                   output=tmp_path)
    script = terrane.TensorMesh.read(output / "model.nc")
    for of_job, of_script in ((job.model.easting, script.easting), (job.model.resistivity, script.resistivity)):
        assert_array_equal(of_job, of_script)


def test_magnetizations_of_any_direction_come_as_a_model_that_magnetics_takes():
    e, n, u = _stations()
    truth = terrane.TensorMesh.regular([-300, 300, -300, 300, -300, 0], shape=(12, 12, 6))
    direction = np.array([0.6, -0.64, 0.48])
    for axis, size in zip(("east", "north", "up"), 2 * direction):
        values = np.zeros(truth.shape)
        values[3:5, 5:7, 5:7] = size
        truth[f"magnetization_{axis}"] = values
    field = {"main_field": (50_000, 60, 0), "channels": ["tmi", "b_amplitude"]}
    survey = terrane.Survey(e, n, 30.0)
    result = terrane.magnetic.Simulation(truth, survey, **field).run()
    survey.set_column("tmi_observed", result["tmi"].values.ravel(), "nT")
    survey.set_column("b_amplitude_observed", result["b_amplitude"].values.ravel(), "nT")
    keys = {"physics": "magnetic", "inclination": 60, "floor": 3.0, "channels": ["tmi"]}
    found = Inversion(_mesh(), survey, property="magnetization", norms=[0, 1, 1, 1], **keys).run()
    assert found.property == "magnetization" and found.report.converged
    assert [name for name in found.report if name.startswith("chi_squared")] == ["chi_squared_tmi"]
    m = np.array([found.model[f"magnetization_{axis}"] for axis in ("east", "north", "up")])
    assert_allclose(np.linalg.norm(m, axis=0), found.cells["magnetization"], rtol=1e-12)
    moment = m.sum(axis=(1, 2, 3))
    assert moment @ direction / np.linalg.norm(moment) > np.cos(np.radians(10))
    again = terrane.magnetic.Simulation(found.model, survey, main_field=(50_000, 60, 0)).run()
    assert_allclose(again["tmi"].values.ravel(), found["tmi"].values.ravel(), atol=1e-3)
    assert "magnetization" in repr(found)
    with pytest.raises(terrane.errors.InputError, match="vector in each cell"):
        Inversion(_mesh(), survey, property="magnetization", lower=0, **keys).check()
    strengths = Inversion(_mesh(), survey, lower=0, **{**keys, "channels": ["b_amplitude"]}).run()
    assert strengths.report.chi_squared_b_amplitude < 1.1
    east = (np.arange(12) - 5.5) * 50
    weight = strengths.model.susceptibility.sum(axis=(0, 1))
    assert abs((weight * east).sum() / weight.sum()) < 40
    with pytest.raises(terrane.errors.InputError, match="amplitudes are not linear"):
        Inversion(_mesh(), survey, trend="plane", **{**keys, "channels": ["b_amplitude"]}).check()
    bounded = Inversion(_mesh(), survey, property="magnetization", norms=[0, 1, 1, 1], upper="0.5 A/m", **keys).run()
    assert bounded.report.converged and bounded.report.on_bounds > 0
    assert bounded.cells["magnetization"].max() < 0.5 * (1 + 1e-12) < found.cells["magnetization"].max()
    with pytest.raises(terrane.errors.InputError, match="-1 is no largest strength"):
        Inversion(_mesh(), survey, property="magnetization", upper=-1, **keys).check()
    compact = Inversion(_mesh(), survey, lower=0, norms=[1, 1, 1, 1], **{**keys, "channels": ["b_amplitude"]}).run()
    assert compact.report.chi_squared_b_amplitude < 1.1
    assert compact.model.susceptibility.max() > 1.3 * strengths.model.susceptibility.max()
