"""Every physics from Python: a model, a survey and settings in memory give what a job file gives."""

import pickle

import numpy as np
import pytest
from conftest import ROOT

import terrane

ALL_PHYSICS = ("acoustic", "elastic", "electric", "electromagnetic", "heat", "magnetic", "traveltime")


@pytest.fixture
def rock():
    """A box of 10 m with a warm, conducting block in it."""
    mesh = terrane.TensorMesh.regular([0, 10, 0, 10, -10, 0], shape=(10, 10, 10))
    mesh.thermal_conductivity = 2.5
    mesh.thermal_conductivity[4:6, 4:6, 4:6] = 5.0
    mesh.heat_capacity = 2e6
    mesh.temperature = 0.0
    mesh.temperature[4:6, 4:6, 4:6] = 40.0
    return mesh


def test_the_heater_of_the_example_is_the_same_from_memory():
    mesh = terrane.TensorMesh.regular([-10, 10, -10, 10, -10, 10], shape=(40, 40, 40))
    mesh.thermal_conductivity, mesh.heat_capacity = 2.8, 2.1e6
    heater = terrane.heat.Source([0.25, 0.25, 0.25], power=500, until="30 day")
    thermometers = terrane.Survey([2.25, 4.25, 6.25], 0.25, 0.25)
    made = terrane.heat.Simulation(mesh, thermometers, end="60 day", source=heater).run()
    job = terrane.run(ROOT / "examples" / "06_heater" / "job.toml", write=False)
    assert np.array_equal(made["temperature"], job["temperature"])
    assert np.array_equal(made["temperature_at_end"], job["temperature_at_end"])
    assert made.report.steps == 332 and made.attributes["physics"] == "heat"
    assert made.report.heat_after == pytest.approx(500 * 30 * 86400, rel=1e-9)


def test_even_meshes_and_grids_are_where_a_job_has_them_to_the_last_bit(tmp_path):
    box, region = [0.1, 1.1, -7.3, 2400.3, -800, 0], [0.1, 1.1, 0, 2400.7]
    result = terrane.run({"mesh": {"box": box, "shape": [10, 31, 7]}, "model": {"background": {"density": 1}},
                          "survey": {"region": region, "shape": [11, 13], "height": 5},
                          "simulation": {"channels": ["g_u"]},
                          "output": {"folder": str(tmp_path), "files": ["g.nc"], "model": ["model.nc"]}})
    job, mesh = terrane.TensorMesh.read(tmp_path / "model.nc"), terrane.TensorMesh.regular(box, shape=(10, 31, 7))
    for axis in ("easting", "northing", "up"):
        assert np.array_equal(getattr(job, axis), getattr(mesh, axis)), axis
    assert np.array_equal(result["easting"], np.linspace(0.1, 1.1, 11))
    assert np.array_equal(result["northing"], np.linspace(0, 2400.7, 13))


def test_receivers_on_a_grid_are_one_in_results_that_are_asked_for_it(rock):
    pytest.importorskip("xarray")
    grid = terrane.Survey.grid([1.5, 4.5, 7.5], [2.5, 4.5], -4.5)
    grid.set_column("site", list("abcdef"))
    result = terrane.heat.Simulation(rock, grid, end="1 day").run()
    over = result.on_grid()["temperature"]
    assert result["temperature"].dims == ("time", "receiver") and over.dims == ("time", "receiver_northing", "receiver_easting")
    plain = result["temperature"].isel(time=-1).values.reshape(2, 3)
    assert np.array_equal(over.isel(time=-1), plain)
    assert over["receiver_easting"].values.tolist() == [1.5, 4.5, 7.5]
    assert float(over.sel(receiver_northing=4.5, receiver_easting=4.5)[0]) == 40
    with pytest.raises(terrane.InputError, match="crossings"):
        terrane.heat.Simulation(rock, terrane.Survey([1.5, 4.5], [1.5, 4.5], -4.5), end="1 day").run().on_grid()


def test_stated_errors_stand_beside_data_in_results_and_files(rock, tmp_path):
    points = terrane.Survey([4.5, 1.5], [4.5, 1.5], [-5.5, -1.5], columns={"name": ["hot", "cold"]})
    result = terrane.heat.Simulation(rock, points, end="5 day", verify="estimate").run()
    error, data = result["temperature_error"], result["temperature"]
    assert error.dims == data.dims and error.units == data.units == "K"
    assert np.isfinite(error.values).all() and 0 < error.values[-1, 0] < 40
    plain = terrane.heat.Simulation(rock, points, end="5 day").run()
    assert np.array_equal(plain["temperature"], data)
    with pytest.raises(KeyError):
        plain["temperature_error"]
    result.write(tmp_path / "out.csv")
    assert ",temperature_error [K]" in (tmp_path / "out.csv").read_text()
    result.write(tmp_path / "out.nc")
    back = terrane.read(tmp_path / "out.nc")
    assert np.array_equal(back["temperature_error"], error)


def test_properties_of_the_mesh_reach_the_physics_cell_by_cell(rock):
    result = terrane.heat.Simulation(rock, terrane.Survey([4.5, 0.5], [4.5, 0.5], [-5.5, -0.5]), end="1 day").run()
    first = result["temperature"].isel(time=0).values
    assert first.tolist() == [40.0, 0.0]
    after = result["temperature_at_end"].values
    assert after.shape == rock.shape and after[5, 5, 5] > 20 and after.min() >= 0
    assert after.sum() == pytest.approx(8 * 40, rel=1e-12), "no heat is lost"


def test_radioactive_rock_warms_by_what_it_produces(rock):
    rock.temperature, rock.heat_production = 0.0, 4e-6
    result = terrane.heat.Simulation(rock, terrane.Survey([4.5], [4.5], [-5.5]), end=1e9, method="implicit").run()
    assert np.allclose(result["temperature_at_end"], 4e-6 * 1e9 / 2e6, rtol=1e-9)


def test_density_and_specific_heat_make_the_heat_capacity(rock):
    survey = terrane.Survey([4.5], [4.5], [-5.5])
    by_volume = terrane.heat.Simulation(rock, survey, end="1 day").run()
    by_mass = terrane.TensorMesh(rock.easting, rock.northing, rock.up, thermal_conductivity=rock.thermal_conductivity,
                                 temperature=rock.temperature, density=2500.0, specific_heat=800.0)
    assert np.array_equal(terrane.heat.Simulation(by_mass, survey, end="1 day").run()["temperature"],
                          by_volume["temperature"])


def test_a_job_is_tables_and_its_text_is_a_job_file(rock, tmp_path):
    survey = terrane.Survey([4.5], [4.5], [-5.5])
    simulation = terrane.heat.Simulation(rock, survey, end="1 day", source=terrane.heat.Source([5, 5, -5], power=10))
    again = terrane.run(simulation.tables())
    assert np.array_equal(again["temperature"], simulation.run()["temperature"])
    rock.write(tmp_path / "mesh.h5")
    survey.write(tmp_path / "stations.csv")
    text = simulation.job().replace('"mesh"\n', '"mesh.h5"\n').replace('"stations"', '"stations.csv"')
    (tmp_path / "job.toml").write_text(text)
    assert np.array_equal(terrane.run(tmp_path / "job.toml", write=False)["temperature"], again["temperature"])


def test_a_job_from_memory_writes_what_its_output_asks_for(rock, tmp_path):
    tables = {"mesh": rock, "survey": terrane.Survey([4.5], [4.5], [-5.5]),
              "simulation": {"physics": "heat", "end": "1 day"}, "output": {"files": ["t.nc"], "model": ["rock.h5"]}}
    assert terrane.check(tables)["cells"] == 1000
    result = terrane.run(tables, output=tmp_path)
    assert np.array_equal(terrane.read_dataset(tmp_path / "t.nc")["temperature"], result["temperature"])
    assert terrane.TensorMesh.read(tmp_path / "rock.h5").thermal_conductivity.max() == 5.0


def test_gravity_of_tables_is_that_of_its_own_simulation(blocks, stations):
    prisms, density = blocks
    model, survey = terrane.PrismSet(prisms, density), terrane.Survey(*stations)
    own = terrane.gravity.Simulation(model, survey, channels=["g_u", "g_ee"], accuracy=1e-10, method="direct").run()
    job = terrane.run({"mesh": model, "survey": survey, "simulation": {
        "physics": "gravity", "channels": ["g_u", "g_ee"], "accuracy": 1e-10, "method": "direct"}})
    assert np.array_equal(own["g_u"], job["g_u"]) and np.array_equal(own["g_ee"], job["g_ee"])


def test_magnetics_is_the_job_of_the_example():
    sphere = terrane.PrismSet([[-50, 50, -50, 50, -250, -150]], susceptibility=0.02)
    survey = terrane.Survey([0.0, 100.0], [0.0, 50.0], [1.0, 1.0])
    result = terrane.magnetic.Simulation(sphere, survey, ["tmi", "b_u"], main_field=(50_000, 90, 0)).run()
    assert result.units["tmi"] == "nT" and result["tmi"][0] > 0
    assert np.allclose(result["tmi"], -result["b_u"]), "the main field points down"


def test_a_half_space_has_its_resistivity():
    far = 10 * 1.6 ** np.arange(1, 9)
    sides = np.concatenate([-40 - np.cumsum(far)[::-1], np.linspace(-40, 40, 33), 40 + np.cumsum(far)])
    down = np.concatenate([-30 - np.cumsum(far)[::-1], np.linspace(-30, 0, 13)])
    ground = terrane.TensorMesh(sides, sides, down, resistivity=100.0)
    line = terrane.electric.Line([-25, 0], electrodes=11, spacing=5, levels=3)
    result = terrane.electric.Simulation(ground, line).run()
    assert abs(result["apparent_resistivity"] - 100).max() < 1


def test_potentials_and_currents_of_cells_are_the_same_in_all_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    far = 10 * 1.6 ** np.arange(1, 8)
    sides = np.concatenate([-20 - np.cumsum(far)[::-1], np.linspace(-20, 20, 11), 20 + np.cumsum(far)])
    down = np.concatenate([-20 - np.cumsum(far)[::-1], np.linspace(-20, 0, 6)])
    ground = terrane.TensorMesh(sides, sides, down, resistivity=100.0)
    line = terrane.electric.Line([-15, 0], electrodes=5, spacing=7.5, levels=1)
    result = terrane.electric.Simulation(ground, line, volume=["potential", "j"]).run()
    assert "apparent_resistivity" in result and "j_u_cells" in result
    phi, current = result["potential_cells"], result["j_u_cells"].values
    assert phi.dims == ("electrode", "cell_up", "cell_northing", "cell_easting")
    assert list(phi["electrode"]) == [1, 2, 3] and list(phi["electrode_easting"]) == [-15, -7.5, 0]
    # A potential of a half space: I rho / (2 pi r); all of the current goes down.
    nearest = phi.sel(electrode=3).sel(cell_up=-10, cell_northing=0, cell_easting=0, method="nearest")
    r = np.sqrt(sum(float(nearest[f"cell_{axis}"]) ** 2 for axis in ("easting", "northing", "up")))
    assert float(nearest) == pytest.approx(100 / (2 * np.pi * r), rel=1e-6)
    area = np.diff(sides)[:, None] * np.diff(sides)
    assert -(current[2, -4] * area).sum() == pytest.approx(1, rel=0.1)
    assert np.array_equal(pickle.loads(pickle.dumps(result))["j_u_cells"].values, current)
    result.write(tmp_path / "fields.nc")
    held = terrane.read_dataset(tmp_path / "fields.nc")
    assert np.array_equal(held["j_u_cells"].values, current)
    assert np.array_equal(held["apparent_resistivity"].values, result["apparent_resistivity"].values)
    for name in ("fields.h5", "fields.vtr"):
        with pytest.warns(UserWarning, match="apparent_resistivity"):
            result.write(tmp_path / name)
    with pytest.warns(UserWarning, match="potential_cells"):
        result.write(tmp_path / "fields.csv")
    with h5py.File(tmp_path / "fields.h5") as file:
        assert np.array_equal(file["j_u_cells_electrode_3"][:], current[2])
    assert (tmp_path / "fields.vtr").stat().st_size > 4 * current.size * 8


def test_rock_conducts_along_an_axis_by_any_name_that_says_how():
    side = np.concatenate([[-8000, -4000, -2000], np.linspace(-1000, 1000, 5), [2000, 4000, 8000]])
    found = []
    for name, values in (("conductivity_up", 0.05), ("resistivity_up", 20.0), ("conductivity_up", 0.1)):
        mesh = terrane.TensorMesh(side, side, side, conductivity=0.1)
        mesh[name] = np.full(mesh.shape, np.nan)
        mesh[name][3:6] = values
        source = terrane.electromagnetic.Dipole([0, -600, 0], dip=40)
        found.append(terrane.electromagnetic.Simulation(mesh, terrane.Survey([0.0], [600.0], [0.0]), source, 1.0,
                                                        components=["e_u"]).run()["e_u"].values)
    np.testing.assert_array_equal(found[0], found[1])
    assert np.abs(found[0] / found[2] - 1).min() > 0.1  # of rock that conducts the same along all


def test_rock_that_stores_charge_turns_electromagnetic_fields():
    side = np.concatenate([[-4000, -2000], np.linspace(-900, 900, 7), [2000, 4000]])
    charge = np.zeros((10, 10, 10))
    charge[:, :, 3:7] = 0.3
    fields = []
    for more in ({}, {"chargeability": charge, "cole_cole_time": 0.1, "cole_cole_exponent": 0.5}):
        mesh = terrane.TensorMesh(side, side, side, conductivity=0.1, **more)
        fields.append(np.asarray(terrane.electromagnetic.Simulation(
            mesh, terrane.Survey([0.0], [600.0], [0.0]), terrane.electromagnetic.Dipole([0, -600, 0]), [0.3, 3.0],
            components=["e_e"]).run()["e_e"])[0, :, 0])
    change = fields[1] / fields[0]
    assert np.all(np.abs(np.angle(change)) > 3e-3) and np.all(np.abs(change - 1) < 0.5)


def test_electromagnetic_fields_of_cells_are_the_same_in_all_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    side = np.concatenate([[-8000, -4000, -2000], np.linspace(-1000, 1000, 6), [2000, 4000, 8000]])
    mesh = terrane.TensorMesh(side, side, side, conductivity=0.1)
    source = terrane.electromagnetic.Dipole([0, -600, 0], azimuth=90)
    result = terrane.electromagnetic.Simulation(mesh, terrane.Survey([0.0], [600.0], [0.0]), source, [1.0, 4.0],
                                                components=["e_e"], volume=["e", "h"]).run()
    field = result["h_u_cells"].values
    assert field.shape == (1, 2, 11, 11, 11) and np.abs(field).min() > 0
    result.write(tmp_path / "fields.nc")
    for name in ("fields.h5", "fields.vtr"):
        with pytest.warns(UserWarning, match="e_e"):
            result.write(tmp_path / name)
    assert np.array_equal(terrane.read_dataset(tmp_path / "fields.nc")["h_u_cells"].values, field)
    with h5py.File(tmp_path / "fields.h5") as file:
        assert np.array_equal(file["easting"][:], side)
        for n, hertz in enumerate((1, 4)):
            name = f"h_u_cells_source_1_frequency_{hertz}"
            assert np.array_equal(file[name + "_real"][:] + 1j * file[name + "_imag"][:], field[0, n])
        assert file[name + "_real"].attrs["units"] == b"A/m"
    assert (tmp_path / "fields.vtr").stat().st_size > 6 * field.size * 16


def test_electric_fields_of_cells_are_means_of_those_of_edges_which_emg3d_takes(tmp_path):
    from terrane.compat.emg3d_files import edge_field, read_emg3d, write_emg3d

    side = np.concatenate([[-8000, -4000, -2000], np.linspace(-1000, 1000, 6), [2000, 4000, 8000]])
    mesh = terrane.TensorMesh(side, side, side[1:], conductivity=0.1)
    sources = [terrane.electromagnetic.Dipole([0, y, 0], azimuth=30, dip=20) for y in (-600, 600)]
    result = terrane.electromagnetic.Simulation(mesh, terrane.Survey([0.0], [0.0], [300.0]), sources, [1.0, 4.0],
                                                volume=["e", "edges"]).run()
    east, up = result["e_e_edges"], result["e_u_edges"]
    assert east.dims == ("source", "frequency", "face_up", "face_northing", "cell_easting")
    assert east.shape == (2, 2, 11, 12, 11) and up.shape == (2, 2, 10, 12, 12)
    assert list(result["receiver"]) == [1]
    for name, edges, axes in (("e_e_cells", east.values, (2, 3)), ("e_u_cells", up.values, (3, 4))):
        for axis in axes:
            edges = (np.delete(edges, 0, axis) + np.delete(edges, -1, axis)) / 2
        assert np.allclose(result[name].values, edges, rtol=1e-12, atol=0)
    assert not east.values[:, :, 0].any() and not east.values[:, :, :, -1].any(), "walls"
    write_emg3d(tmp_path / "field.npz", efield=edge_field(result, source=1, frequency=1))
    held = read_emg3d(tmp_path / "field.npz")["efield"]
    assert held.attrs["frequency"] == 4 and np.array_equal(held["e_u"].values, up.values[1, 1])


def test_sources_and_frequencies_as_tasks_have_the_bits_of_one_run(tmp_path):
    from concurrent.futures import ThreadPoolExecutor

    side = np.concatenate([[-8000, -4000, -2000], np.linspace(-1000, 1000, 6), [2000, 4000, 8000]])
    mesh = terrane.TensorMesh(side, side, side, conductivity=0.1)
    sources = [terrane.electromagnetic.Dipole([0, y, 0]) for y in (-600, 0, 600)]
    common = (mesh, terrane.Survey([0.0, 300.0], [300.0, 300.0], [0.0, 0.0]), sources, [4.0, 1.0])
    survey = terrane.electromagnetic.Simulation(*common, components=["e_e", "h_u"])
    whole = survey.run().dataset
    with ThreadPoolExecutor(2) as executor:
        tasks = terrane.electromagnetic.run_solves(survey, executor, folder=tmp_path / "solves")
        assert len(list((tmp_path / "solves").glob("solve_*.npz"))) == 6
        again = terrane.electromagnetic.run_solves(survey, executor, folder=tmp_path / "solves")
        mesh.conductivity[side[:-1] >= 200] = 1e-8  # air
        waves = terrane.electromagnetic.Simulation(*common[:2], terrane.electromagnetic.PlaneWaves(), [4.0, 1.0])
        responses = terrane.electromagnetic.run_solves(waves, executor)
        with pytest.raises(terrane.InputError, match="name a source"):
            terrane.electromagnetic.run_solves(survey, executor, settings={"source.current": 2})
    for made in (tasks, again):
        for name in ("e_e", "h_u", "iterations"):
            assert made[name].dims == whole[name].dims
            np.testing.assert_array_equal(made[name], whole[name])
        assert list(made["source"]) == [1, 2, 3] and list(made["frequency"]) == [4, 1]
    expected = waves.run()
    for name in ("z_ne", "rho_en", "iterations"):
        np.testing.assert_array_equal(responses[name], expected[name])
    (tmp_path / "job.toml").write_text("""
[mesh]
kind = "tensor"
easting = [-8000, -4000, -2000, -1000, 0, 1000, 2000, 4000, 8000]
northing = [-8000, -4000, -2000, -1000, 0, 1000, 2000, 4000, 8000]
up = [-8000, -4000, -2000, -1000, 0, 1000, 2000, 4000, 8000]
[model.background]
conductivity = 0.1
[[source]]
kind = "dipole"
at = [0, -600, 0]
[[source]]
kind = "loop"
points = [[0, 0, 0], [300, 0, 0], [300, 300, 0]]
[survey]
kind = "list"
stations = [[0, 600, 100]]
[simulation]
physics = "electromagnetic"
frequencies = [1, 4]
""")
    with ThreadPoolExecutor(2) as executor:
        tasks = terrane.electromagnetic.run_solves(tmp_path / "job.toml", executor)
    np.testing.assert_array_equal(tasks["h_u"], terrane.run(tmp_path / "job.toml", write=False)["h_u"])


def test_each_frequency_has_a_mesh_of_its_own_where_it_is_asked_for():
    from concurrent.futures import ThreadPoolExecutor

    faces = np.array([-4000.0, 0, 4000])
    mesh = terrane.TensorMesh(faces, faces, faces, conductivity=0.1)
    mesh.conductivity[1] = 1e-8
    sources = [terrane.electromagnetic.Dipole([0, y, -50]) for y in (0, 300)]
    common = dict(components=["e_e"], settings={"min_width_pps": 2, "stretching": 1.5, "lambda_factor": 0.3})

    def fields(frequencies, **given):
        survey = terrane.Survey([2500.0], [300.0], [-20.0])
        return terrane.electromagnetic.Simulation(mesh, survey, sources, frequencies, **common, **given)

    made = fields([1.0, 10.0], gridding="frequency")
    assert any(note.startswith("10 Hz: mesh: ") for note in made.check()["notes"])
    found = made.run()
    assert found["e_e"].dims == ("source", "frequency", "receiver") and found["cells"].shape == (2, 2)
    assert found["cells"].values[0, 0] != found["cells"].values[0, 1]
    for n, hertz in enumerate((1.0, 10.0)):
        alone = fields([hertz], gridding="single").run()
        np.testing.assert_array_equal(found["e_e"].values[:, n], alone["e_e"].values[:, 0])
    with ThreadPoolExecutor(2) as executor:
        tasks = terrane.electromagnetic.run_solves(fields([1.0, 10.0], gridding="both"), executor)
        for job in (made, fields([1.0, 10.0], gridding="source"), fields([1.0], gridding="single"),
                    {**fields([1.0, 10.0], gridding="both").tables(), "mesh": {}}):
            settings = {"simulation.gridding": "single"} if isinstance(job, dict) else {}
            with pytest.raises(terrane.InputError, match="each task would plan a mesh of its own"):
                terrane.electromagnetic.run_solves(job, executor, settings=settings)
    np.testing.assert_array_equal(tasks["e_e"], fields([1.0, 10.0], gridding="both").run()["e_e"])
    with pytest.raises(terrane.InputError, match="same, single, frequency, source, both"):
        fields([1.0], gridding="input").check()


def test_electromagnetic_fields_are_reciprocal():
    side = np.concatenate([[-8000, -4000, -2000], np.linspace(-1000, 1000, 11), [2000, 4000, 8000]])
    mesh = terrane.TensorMesh(side, side, side, conductivity=0.1)
    mesh.conductivity[:, :, 8:] = 0.3

    def field(source, receiver):
        dipole = terrane.electromagnetic.Dipole(source, azimuth=90)
        return terrane.electromagnetic.Simulation(mesh, terrane.Survey(*[[x] for x in receiver]), dipole, 1.0,
                                                  components=["e_e"]).run()["e_e"].values.item()

    there, back = field([0, -600, 0], [100, 600, 50]), field([100, 600, 50], [0, -600, 0])
    # To what interpolation in cells of 200 m leaves, 2.4 % here.
    assert abs(there) > 0 and abs(there - back) < 0.04 * abs(there)


def test_plane_waves_see_the_resistivity_of_a_half_space():
    side = np.concatenate([-4000 - 1000 * 2.0 ** np.arange(4, 0, -1), np.linspace(-4000, 4000, 9),
                           4000 + 1000 * 2.0 ** np.arange(1, 5)])
    up = np.concatenate([-3000 - 1000 * 2.0 ** np.arange(4, 0, -1), np.linspace(-3000, 0, 16),
                         1000 * 2.0 ** np.arange(6)])
    mesh = terrane.TensorMesh(side, side, up, conductivity=0.01)
    mesh.conductivity[mesh.centres[2] > 0] = 1e-8
    result = terrane.electromagnetic.Simulation(mesh, terrane.Survey([500.0], [500.0], [-1.0]),
                                                terrane.electromagnetic.PlaneWaves(), [1.0],
                                                responses=["apparent_resistivity"]).run()
    assert result["rho_en"].values.item() == pytest.approx(100, rel=0.1)


def test_gathers_from_memory_are_migrated():
    mesh = terrane.TensorMesh.regular([0, 400, 0, 10, -400, 0], shape=(40, 1, 40))
    mesh.velocity_p = 2000.0
    mesh.velocity_p[:20] = 2500.0
    receivers = terrane.Survey([100.0, 200.0, 300.0], 5.0, -20.0)
    given = dict(shots=[[200, 5, -20]], wavelet=terrane.acoustic.Wavelet(20), end=0.3, step=1e-3,
                 boundary={"top": "cpml"})
    gathers = terrane.acoustic.Simulation(mesh, receivers, **given).run()["pressure"]
    assert gathers.dims == ("shot", "time", "receiver") and np.isfinite(gathers).all()
    image = terrane.acoustic.Simulation(mesh, receivers, kind="migration", smoothing=50, observed=gathers,
                                        **given).run()
    assert image["image"].shape == (40, 1, 40) and float(abs(image["image"]).max()) > 0
    with pytest.raises(terrane.InputError, match="observed.*has the shape"):
        terrane.acoustic.Simulation(mesh, receivers, kind="migration", observed=np.zeros((1, 5, 1)), **given).check()


def test_an_elastic_push_arrives_when_it_should():
    mesh = terrane.TensorMesh.regular([0, 600, 0, 600, -600, 0], shape=(6, 6, 6))
    mesh.velocity_p, mesh.velocity_s, mesh.density = 3000.0, 1800.0, 2500.0
    push = terrane.elastic.Source([300, 300, -300], force=[1e9, 0, 0], frequency=10, delay=0.12)
    result = terrane.elastic.Simulation(mesh, terrane.Survey([550.0], [300.0], [-300.0]), push, end=0.35,
                                        absorbing=["west", "east", "south", "north", "bottom", "top"]).run()
    east = result["displacement"].sel(component="east").isel(receiver=0)
    latest = float(east.time[int(abs(east).argmax())])
    assert latest == pytest.approx(0.12 + 250 / 3000, abs=0.03)


def test_travel_times_of_arrays_are_those_of_a_job_and_of_the_closed_form():
    ground = terrane.TensorMesh.regular([0, 100, -1, 1, -50, 0], shape=(50, 1, 25))
    ground.velocity_p = 2000.0
    line = terrane.Survey(np.arange(5.0, 100, 10), 0, 0)
    result = terrane.traveltime.Simulation(ground, line, shots=[[0, 0, 0], [100, 0, 0]], verify="estimate").run()
    times = result["travel_time"].values.reshape(2, 10)
    assert np.allclose(times[0], line.easting / 2000, rtol=1e-12) and np.allclose(times[1], times[0][::-1], rtol=1e-9)
    assert result["travel_time_error"].max() < 1e-4
    picks = {"shot_easting": [0.0], "shot_up": [0.0], "receiver_easting": [50.0], "receiver_up": [0.0],
             "travel_time_observed": [0.026]}
    of_picks = terrane.traveltime.Simulation(ground, picks=picks).run()
    assert of_picks["travel_time_residual"][0] == pytest.approx(0.001)
    pytest.importorskip("matplotlib").use("Agg")
    axes = result.plot()  # a line for each shot
    assert axes.get_ylabel() == "travel time (ms)" and len(axes.lines) == 2
    with pytest.raises(terrane.InputError, match="picks"):
        terrane.traveltime.Simulation(ground, line)


@pytest.mark.parametrize("physics", ALL_PHYSICS)
def test_every_physics_has_a_module_with_a_simulation(physics):
    module = getattr(terrane, physics)
    assert physics in dir(terrane) and module.__doc__ and module.Simulation.physics == physics
    assert "Parameters" in module.Simulation.__doc__ and "Examples" in module.Simulation.__doc__


def test_errors_name_the_key_and_the_argument(rock):
    survey = terrane.Survey([4.5], [4.5], [-5.5])
    with pytest.raises(terrane.InputError, match=r"simulation.end"):
        terrane.heat.Simulation(rock, survey, end="a while").check()
    with pytest.raises(terrane.InputError, match="model: is a dict"):
        terrane.heat.Simulation({}, survey, end=1)
    with pytest.raises(terrane.InputError, match="no place"):
        terrane.heat.Simulation(rock, survey, end={1, 2})
    with pytest.raises(terrane.InputError, match="source.at: has shape"):
        terrane.heat.Simulation(rock, survey, end=1, source=terrane.heat.Source([1, 2]))
    with pytest.raises(terrane.InputError, match=r"job\['survey'\]: is a list"):
        terrane.run({"mesh": rock, "survey": [1, 2], "simulation": {"physics": "heat", "end": 1}})


def test_texts_and_keys_of_any_kind_come_through():
    from terrane.simulation import toml

    assert toml('a "b" \\ \n ü\x7f') == '"a \\"b\\" \\\\ \\n ü\\u007F"'
    assert toml([True, np.float64(1e-30), np.int64(3), float("inf")]) == "[true, 1e-30, 3, inf]"
    assert toml({"a b": 1, "c": None}) == '{"a b" = 1}'


def test_a_simulation_shows_itself_and_can_be_pickled(rock):
    simulation = terrane.heat.Simulation(rock, terrane.Survey([4.5], [4.5], [-5.5]), end="1 day",
                                         source=terrane.heat.Source([5, 5, -5], heat=1e6))
    assert "heat.Simulation" in repr(simulation) and "simulation.end" in repr(simulation)
    assert "<" in simulation._repr_html_()
    copy = pickle.loads(pickle.dumps(simulation))
    assert np.array_equal(copy.run()["temperature"], simulation.run()["temperature"])
