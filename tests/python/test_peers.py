"""One changed import, the same numbers: beside harmonica, choclo and SimPEG themselves.

    python benchmarks/peers/run.py --test

makes an environment with them and runs these. Where programs differ beyond rounding, the values in quadruple precision
say who is right.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import terrane
from terrane import compat
from terrane.gravity import CHANNELS, forward

pytestmark = pytest.mark.peers

FIELDS = ["potential", "g_e", "g_n", "g_z", "g_ee", "g_nn", "g_zz", "g_en", "g_ez", "g_nz"]


def close(got, expected, tolerance):
    assert_allclose(got, expected, rtol=0, atol=tolerance * np.abs(expected).max())


@pytest.mark.parametrize("field", FIELDS)
def test_prism_gravity_is_harmonicas(field, blocks, stations):
    harmonica = pytest.importorskip("harmonica")
    close(compat.prism_gravity(stations, *blocks, field), harmonica.prism_gravity(stations, *blocks, field), 1e-9)


def test_arguments_of_harmonica_mean_the_same(blocks, stations):
    harmonica = pytest.importorskip("harmonica")
    import inspect

    theirs = inspect.signature(harmonica.prism_gravity).parameters
    ours = inspect.signature(compat.prism_gravity).parameters
    assert list(ours)[: len(theirs)] == list(theirs)
    assert all(ours[name].default == theirs[name].default for name in theirs)


@pytest.mark.parametrize("field", ["g_zz", "g_ee", "g_ez", "g_z", "potential"])
def test_on_faces_and_edges_it_does_what_harmonica_does(field):
    harmonica = pytest.importorskip("harmonica")
    prism = [-10.0, 10, -20, 20, -30, 0]
    on_top, on_side, on_edge = (0.0, 0, 0), (10.0, 3, -7), (10.0, 5, 0)
    coordinates = np.array([on_top, on_side, on_edge]).T
    with pytest.warns() if field.count("z") + field.count("e") > 1 else _nothing():
        expected = harmonica.prism_gravity(coordinates, prism, [1000.0], field)
    got = compat.prism_gravity(coordinates, prism, [1000.0], field)
    defined = np.isfinite(expected)
    # On an edge the whole tensor has no single value; harmonica still gives the components that stay finite.
    defined[2] &= np.isfinite(got[2])
    assert_allclose(got[defined], expected[defined], rtol=1e-9, atol=1e-9)
    assert np.isfinite(got[:2]).all()


class _nothing:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        return False


def test_prism_layers_are_harmonicas(random):
    harmonica = pytest.importorskip("harmonica")
    easting, northing = np.linspace(0, 3000, 7), np.linspace(0, 2000, 5)
    surface = random.uniform(-200, 500, (5, 7))
    density = np.where(surface > 0, 2670.0, -1630.0)
    density[1, 2] = np.nan
    theirs = harmonica.prism_layer((easting, northing), surface, 0.0, {"density": density})
    ours = compat.prism_layer((easting, northing), surface, 0.0, {"density": density})
    at = (random.uniform(0, 3000, 20), random.uniform(0, 2000, 20), random.uniform(510, 900, 20))
    assert theirs.identical(ours) or theirs.equals(ours)
    with pytest.warns(UserWarning):
        expected = theirs.prism_layer.gravity(at, field="g_z")
        close(ours.terrane_layer.gravity(at, field="g_z"), expected, 1e-9)
        close(theirs.terrane_layer.gravity(at, field="g_z"), expected, 1e-9)
        close(theirs.terrane_layer.gravity(at, field="g_z", thickness_threshold=50),
              theirs.prism_layer.gravity(at, field="g_z", thickness_threshold=50), 1e-9)
    assert theirs.prism_layer.boundaries == pytest.approx(ours.terrane_layer.boundaries)
    assert theirs.prism_layer.get_prism((1, 3)) == pytest.approx(ours.terrane_layer.get_prism((1, 3)))
    filled = theirs.fillna(1.0)
    close(terrane.PrismLayer.from_xarray(filled).to_prisms().prisms, filled.prism_layer._to_prisms(), 1e-14)


def test_far_away_terrane_is_right_and_the_closed_form_is_not(quad_precision):
    pytest.importorskip("harmonica")
    import harmonica

    worst = {"terrane": 0.0, "harmonica": 0.0}
    for case, prism, station, truth in quad_precision:
        if case != "prism_far":
            continue
        at = [np.array([x]) for x in station]
        ours = forward([prism], 1.0, *at, channels="all", units="si", accuracy="best")
        theirs = harmonica.prism_gravity(at, prism, [1.0], "g_z")[0] * -1e-5
        size = np.linalg.norm(truth[1:4])
        worst["terrane"] = max(worst["terrane"], abs(ours["g_u"][0] - truth[3]) / size)
        worst["harmonica"] = max(worst["harmonica"], abs(theirs - truth[3]) / size)
    assert worst["terrane"] < 1e-14 < 1e-8 < worst["harmonica"]


def test_choclos_kernels_agree_with_the_ten_channels():
    choclo = pytest.importorskip("choclo")
    station, prism = (30.0, -40.0, 55.0), [-10.0, 20.0, -30.0, 15.0, -60.0, -20.0]
    ours = forward([prism], 800.0, *station, channels="all", units="si")
    kernels = {"potential": choclo.prism.gravity_pot,
               **{name: getattr(choclo.prism, name.replace("g_", "gravity_")) for name in CHANNELS[1:]}}
    for name, kernel in kernels.items():
        assert_allclose(ours[name], kernel(*station, *prism, 800.0), rtol=1e-9)


@pytest.mark.parametrize("engine", ["choclo", "geoana"])
@pytest.mark.parametrize("cells", ["all", "active"])
def test_the_simpeg_simulation_is_simpegs(engine, cells, random):
    discretize = pytest.importorskip("discretize")
    pytest.importorskip("simpeg")
    from simpeg import maps
    from simpeg.potential_fields import gravity

    mesh = discretize.TensorMesh([[50.0] * 4 + [80.0] * 2, [60.0] * 5, [30.0, 20.0, 10.0]], origin=[-200, -150, -60])
    rho = random.uniform(-0.5, 0.8, mesh.n_cells)
    active = np.ones(mesh.n_cells, bool) if cells == "all" else random.uniform(size=mesh.n_cells) > 0.4
    components = ["gx", "gy", "gz", "gxx", "gyy", "gzz", "gxy", "gxz", "gyz", "guv"]
    first = gravity.receivers.Point(random.uniform([-300, -300, 5], [300, 300, 90], (11, 3)), components=components)
    second = gravity.receivers.Point(random.uniform([-300, -300, 5], [300, 300, 90], (3, 3)), components="gz")
    survey = gravity.survey.Survey(gravity.sources.SourceField(receiver_list=[first, second]))
    options = dict(survey=survey, active_cells=active, rhoMap=maps.IdentityMap(nP=int(active.sum())),
                   store_sensitivities="forward_only", engine=engine)
    theirs = gravity.Simulation3DIntegral(mesh, **options).dpred(rho[active])
    ours = compat.Simulation3DIntegral(mesh, **options).dpred(rho[active])
    assert ours.shape == theirs.shape == (113,)
    for n in range(len(components)):
        close(ours[n:110:10], theirs[n:110:10], 1e-9)
    close(ours[110:], theirs[110:], 1e-9)
    again = terrane.TensorMesh.from_discretize(mesh, np.where(active, 1000 * rho, 0))
    field = terrane.gravity.Simulation(again, terrane.Survey(*second.locations.T)).run()
    close(field.values("g_u"), theirs[110:], 1e-9)


def test_tree_meshes_of_simpeg_are_taken(random):
    discretize = pytest.importorskip("discretize")
    pytest.importorskip("simpeg")
    from simpeg import maps
    from simpeg.potential_fields import gravity

    mesh = discretize.TreeMesh([[25.0] * 8] * 3, origin=[-100, -100, -200], diagonal_balance=True)
    mesh.refine_points(np.array([[0.0, 0.0, -5.0]]), 3)
    rho = random.uniform(-0.5, 0.5, mesh.n_cells)
    receivers = gravity.receivers.Point(random.uniform([-90, -90, 5], [90, 90, 50], (6, 3)), components=["gz"])
    survey = gravity.survey.Survey(gravity.sources.SourceField(receiver_list=[receivers]))
    options = dict(survey=survey, rhoMap=maps.IdentityMap(nP=mesh.n_cells), store_sensitivities="forward_only")
    close(compat.Simulation3DIntegral(mesh, **options).dpred(rho),
          gravity.Simulation3DIntegral(mesh, engine="choclo", **options).dpred(rho), 1e-9)


@pytest.mark.parametrize("kind", ["scalar", "vector", "amplitude"])
def test_the_magnetic_simulation_is_simpegs(kind, random):
    discretize = pytest.importorskip("discretize")
    pytest.importorskip("simpeg")
    from simpeg import maps
    from simpeg.potential_fields import magnetics

    mesh = discretize.TensorMesh([[50.0] * 4 + [80.0] * 2, [60.0] * 5, [30.0, 20.0, 10.0]], origin=[-200, -150, -60])
    components = ["bx", "by", "bz"] if kind == "amplitude" else ["tmi", "bx", "bz", "bxy", "tmi_z"]
    places = random.uniform([-300, -300, 25], [300, 300, 90], (11, 3))
    field = magnetics.UniformBackgroundField([magnetics.Point(places, components=components)], amplitude=50_000,
                                             inclination=60, declination=-20)
    chi = random.uniform(0, 0.1, mesh.n_cells * (1 if kind == "scalar" else 3))
    options = dict(survey=magnetics.Survey(field), chiMap=maps.IdentityMap(nP=chi.size), sensitivity_dtype=np.float64,
                   engine="choclo", model_type="scalar" if kind == "scalar" else "vector",
                   is_amplitude_data=kind == "amplitude")
    theirs = magnetics.Simulation3DIntegral(mesh, **options)
    ours = compat.MagneticSimulation3DIntegral(mesh, **options)
    expected, got = (simulation.dpred(chi).reshape(11, -1) for simulation in (theirs, ours))
    for n in range(expected.shape[1]):
        close(got[:, n], expected[:, n], 1e-6)
    change, data = random.uniform(-1, 1, chi.size), random.uniform(-1, 1, ours.nD)
    close(ours.Jvec(chi, change), theirs.Jvec(chi, change), 1e-6)
    close(ours.Jtvec(chi, data), theirs.Jtvec(chi, data), 1e-6)
    weight = np.diag(random.uniform(0.5, 2, ours.nD))
    close(ours.getJtJdiag(chi, W=weight), theirs.getJtJdiag(chi, W=weight), 1e-6)
