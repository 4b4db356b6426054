"""The faces of harmonica and SimPEG; the numbers of harmonica are those of its documentation."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import terrane
from terrane.compat import Simulation3DIntegral, prism_gravity
from terrane.gravity import forward


def test_prism_gravity_gives_the_numbers_of_harmonicas_documentation():
    coordinates = ([-40, 0, 40], [0, 0, 0], [30, 30, 30])
    assert_allclose(prism_gravity(coordinates, [-34, 5, -18, 14, -345, -146], 2670, field="g_z"),
                    [0.06552, 0.06629, 0.06174], atol=5e-6)
    prisms = [[-134, -5, -45, 45, -200, -50], [5, 134, -45, 45, -180, -30]]
    assert_allclose(prism_gravity(coordinates, prisms, [-300, 300], "g_z"), [-0.05380, 0.02908, 0.11237], atol=5e-6)


def test_every_field_has_harmonicas_sign_and_unit(blocks, stations):
    enu = forward(*blocks, *stations, channels="all")
    names = ["potential", "g_e", "g_n", "g_z", "g_ee", "g_nn", "g_zz", "g_en", "g_ez", "g_nz"]
    down = {"g_z": "g_u", "g_ez": "g_eu", "g_nz": "g_nu"}
    together = prism_gravity(stations, *blocks, names)
    for name in names:
        expected = -enu[down[name]] if name in down else enu[name.replace("zz", "uu")]
        assert_array_equal(together[name], expected)
        assert_allclose(prism_gravity(stations, *blocks, name), expected, rtol=0, atol=1e-11 * np.abs(expected).max())


def test_options_of_harmonica_are_taken(blocks, stations):
    expected = prism_gravity(stations, *blocks, "g_e")
    got = prism_gravity(stations, *blocks, field="g_e", parallel=False, dtype="float32", progressbar=False,
                        disable_checks=True)
    assert got.dtype == np.float32
    assert_allclose(got, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_null_prisms_are_left_out(stations):
    prisms = [[0, 10, 0, 10, -10, -5], [0, 0, 0, 10, -10, -5], [0, 10, 0, 10, -3, -3], [0, 9, 0, 9, -9, -1]]
    got = prism_gravity(stations, prisms, [1, 1, 1, 0], "g_z")
    assert_array_equal(got, prism_gravity(stations, prisms[:1], [1], "g_z"))
    assert_array_equal(prism_gravity(stations, prisms, [0, 0, 0, 0], "g_z"), np.zeros(50))


def test_shapes_follow_the_coordinates(blocks):
    east, north = np.meshgrid(np.arange(4.0), np.arange(3.0))
    assert prism_gravity((east, north, 10 * np.ones_like(east)), *blocks, "g_z").shape == (3, 4)


def test_faces_give_the_limit_from_outside():
    prism, above = [-10, 10, -10, 10, -10, 0], prism_gravity(([0], [0], [1e-6]), [-10, 10, -10, 10, -10, 0], 1000, "g_zz")
    assert_allclose(prism_gravity(([0], [0], [0]), prism, 1000, "g_zz"), above, rtol=1e-6)


def test_unknown_fields_are_refused(blocks, stations):
    with pytest.raises(ValueError, match="field: is 'g_u'"):
        prism_gravity(stations, *blocks, "g_u")
    with pytest.raises(ValueError, match="density"):
        prism_gravity(stations, blocks[0], [1.0, 2.0], "g_z")


def test_prism_layers_have_gravity(random):
    pytest.importorskip("xarray")
    from terrane.compat import prism_layer

    easting, northing = np.linspace(0, 300, 4), np.linspace(0, 200, 3)
    surface = random.uniform(-20, 50, (3, 4))
    density = np.where(surface > 0, 2670.0, -1630.0)
    layer = prism_layer((easting, northing), surface, 0.0, {"density": density})
    stations = ([150.0, 20.0], [100.0, 30.0], [60.0, 80.0])
    ours = terrane.PrismLayer(easting, northing, surface, 0.0, density).to_prisms()
    expected = prism_gravity(stations, ours.prisms, ours.density, "g_z")
    assert_allclose(layer.terrane_layer.gravity(stations, "g_z"), expected, rtol=1e-12)
    assert_allclose(layer.prism_layer.gravity(stations, field="g_z"), expected, rtol=1e-9)
    assert layer.terrane_layer.boundaries == (-50, 350, -50, 250)
    assert layer.terrane_layer.shape == (3, 4) and layer.terrane_layer.spacing == (100, 100)
    layer["density"][0, 0] = np.nan
    with pytest.warns(UserWarning, match="missing values"):
        fewer = layer.terrane_layer.gravity(stations, "g_z")
    assert not np.allclose(fewer, expected)
    thick = layer.fillna(1.0).terrane_layer.gravity(stations, "g_z", thickness_threshold=10.0)
    assert np.isfinite(thick).all()


def discretized(shape=(4, 3, 2)):
    """As much of a discretize mesh as the simulation asks for; x fastest."""
    axes = [np.linspace(-200, 200, n + 1) for n in shape[:2]] + [np.linspace(-100, 0, shape[2] + 1)]
    centres = [(a[1:] + a[:-1]) / 2 for a in axes]
    grid = np.stack([a.ravel(order="F") for a in np.meshgrid(*centres, indexing="ij")], axis=1)
    widths = np.stack([a.ravel(order="F") for a in np.meshgrid(*(np.diff(a) for a in axes), indexing="ij")], axis=1)
    return SimpleNamespace(cell_centers=grid, h_gridded=widths, nodes_x=axes[0], nodes_y=axes[1], nodes_z=axes[2])


def survey_of(*receivers):
    return SimpleNamespace(source_field=SimpleNamespace(
        receiver_list=[SimpleNamespace(locations=np.asarray(x), components=c) for x, c in receivers]))


def test_the_simpeg_simulation_orders_data_by_receiver_location_component(random):
    mesh, rho = discretized(), random.uniform(-0.5, 0.5, 24)
    first, second = random.uniform([-200, -200, 1], [200, 200, 50], (5, 3)), np.array([[0.0, 0.0, 10.0]])
    simulation = Simulation3DIntegral(mesh, survey=survey_of((first, ["gz", "gxx", "guv"]), (second, "gy")),
                                      store_sensitivities="forward_only", engine="choclo")
    data = simulation.dpred(rho)
    assert data.shape == (16,)
    ours = terrane.TensorMesh(mesh.nodes_x, mesh.nodes_y, mesh.nodes_z, 1000 * rho)
    field = forward(ours.prisms(), ours.density.ravel(), *first.T, channels=["g_u", "g_ee", "g_nn"])
    assert_allclose(data[:15:3], field["g_u"], rtol=1e-12)
    assert_allclose(data[1:15:3], field["g_ee"], rtol=0, atol=1e-12 * np.abs(field["g_ee"]).max())
    assert_allclose(data[2:15:3], (field["g_nn"] - field["g_ee"]) / 2, rtol=0, atol=1e-11 * np.abs(field["g_ee"]).max())
    assert_array_equal(simulation.dpred(rho, f=np.ones(3)), np.ones(3))


def test_the_simpeg_simulation_takes_active_cells_and_maps(random):
    mesh, rho = discretized(), random.uniform(-0.5, 0.5, 24)
    survey = survey_of((random.uniform([-200, -200, 1], [200, 200, 50], (5, 3)), ["gz"]))
    active = rho > 0
    full = Simulation3DIntegral(mesh, survey=survey).fields(np.where(active, rho, 0))
    some = Simulation3DIntegral(mesh, survey=survey, active_cells=active).fields(rho[active])
    assert_allclose(some, full, rtol=1e-12)

    class Double:
        def __mul__(self, model):
            return 2 * model

    twice = Simulation3DIntegral(mesh, survey=survey, active_cells=np.flatnonzero(active), rhoMap=Double())
    assert_allclose(twice.fields(rho[active]), 2 * full, rtol=1e-12)
    given = Simulation3DIntegral(mesh, rho=rho, survey=survey)
    assert_allclose(given.fields(), Simulation3DIntegral(mesh, survey=survey).fields(rho), rtol=1e-15)


def test_simpegs_misfits_take_the_simulations_as_their_own(random, monkeypatch):
    class Checked(type):
        """As SimPEG's, a class with a metaclass and with attributes that check what they are given."""

    class BaseSimulation(metaclass=Checked):
        @property
        def survey(self):
            raise AssertionError("ours keeps its own")

        model = survey

        def Jvec_approx(self, m, v, f=None):
            return self.Jvec(m, v, f)

    monkeypatch.setitem(sys.modules, "simpeg.simulation", SimpleNamespace(BaseSimulation=BaseSimulation))
    survey = survey_of((random.uniform([-200, -200, 1], [200, 200, 50], (5, 3)), ["gz"]))
    simulation = Simulation3DIntegral(discretized(), survey=survey)
    assert isinstance(simulation, BaseSimulation) and isinstance(simulation, Simulation3DIntegral)
    assert type(simulation).__name__ == "Simulation3DIntegral" and simulation.survey is survey
    assert_array_equal(simulation.Jvec_approx(None, np.ones(24)), simulation.Jvec(None, np.ones(24)))
    assert type(simulation) is type(Simulation3DIntegral(discretized(), survey=survey))
    monkeypatch.delitem(sys.modules, "simpeg.simulation")
    assert type(Simulation3DIntegral(discretized(), survey=survey)) is Simulation3DIntegral


def test_an_inversion_in_simpeg_finds_the_same_model_with_either_simulation(random):
    pytest.importorskip("simpeg")
    import discretize
    from simpeg import (data, data_misfit, directives, inverse_problem, inversion, maps, optimization, regularization)
    from simpeg.potential_fields import gravity

    mesh = discretize.TensorMesh([[(50.0, 8)], [(50.0, 8)], [(50.0, 4)]], origin="CCN")
    places = random.uniform([-150, -150, 5], [150, 150, 20], (25, 3))
    survey = gravity.survey.Survey(gravity.sources.SourceField([gravity.receivers.Point(places, components="gz")]))
    truth = 0.4 * (np.abs(mesh.cell_centers - [25, 0, -100]).max(axis=1) < 80)
    models = []
    for kind in (Simulation3DIntegral, gravity.Simulation3DIntegral):
        simulation = kind(survey=survey, mesh=mesh, rhoMap=maps.IdentityMap(nP=mesh.nC))
        observed = data.Data(survey, dobs=simulation.dpred(truth), standard_deviation=0.01)
        misfit = data_misfit.L2DataMisfit(data=observed, simulation=simulation)
        problem = inverse_problem.BaseInvProblem(misfit, regularization.WeightedLeastSquares(mesh),
                                                 optimization.ProjectedGNCG(maxIter=3, cg_maxiter=60, cg_rtol=1e-8))
        steps = [directives.UpdateSensitivityWeights(every_iteration=False),
                 directives.BetaEstimate_ByEig(beta0_ratio=10, random_seed=0), directives.UpdatePreconditioner(),
                 directives.BetaSchedule(coolingFactor=5, coolingRate=1)]
        models.append(inversion.BaseInversion(problem, steps).run(np.full(mesh.nC, 1e-4)))
    assert_allclose(models[0], models[1], rtol=0, atol=1e-3 * np.abs(models[1]).max())


def test_the_simpeg_simulation_says_what_it_lacks():
    mesh = discretized()
    with pytest.raises(terrane.InputError, match="survey: is missing"):
        Simulation3DIntegral(mesh).fields(np.ones(24))
    with pytest.raises(terrane.ShapeError, match=r"m: has shape \(3,\)[\s\S]*\[24\]"):
        Simulation3DIntegral(mesh, survey=survey_of(([[0, 0, 1.0]], "gz"))).fields(np.ones(3))
    with pytest.raises(terrane.InputError, match="'gq' is not one"):
        Simulation3DIntegral(mesh, survey=survey_of(([[0, 0, 1.0]], "gq"))).fields(np.ones(24))
