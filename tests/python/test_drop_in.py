"""What programs that were written for harmonica v0.7 and SimPEG v0.25 rely on, as facts.

docs/do/drop_in.md lists what differs, and why.
"""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from test_compat import discretized, survey_of

import terrane
from terrane.compat import MagneticSimulation3DIntegral, Simulation3DIntegral, prism_gravity, prism_magnetic
from terrane.gravity import forward

FIELDS = ("potential", "g_e", "g_n", "g_z", "g_ee", "g_nn", "g_zz", "g_en", "g_ez", "g_nz")
TENSOR = FIELDS[4:]
PRISMS = [[-10.0, 10, -10, 10, -20, -5], [20.0, 30, -10, 10, -20, -5]]
WEST, EAST, SOUTH, NORTH, BOTTOM, TOP = PRISM = [-12.5, 4.0, 8.25, 15.0, -30.0, 2.5]


@pytest.fixture(autouse=True)
def no_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


# --- prism_gravity: what is not finite, and what is not there


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_a_station_that_is_not_finite_gets_nan_and_the_others_their_value(field, strange):
    expected = prism_gravity(([0.0, 2.0], [1.0, 1.0], [3.0, 4.0]), PRISMS, [100, 200], field)
    for axis in range(3):
        coordinates = np.array([[0.0, 7.0, 2.0], [1.0, 7.0, 1.0], [3.0, 7.0, 4.0]])
        coordinates[axis, 1] = strange
        got = prism_gravity(coordinates, PRISMS, [100, 200], field)
        assert_array_equal(np.isnan(got), [False, True, False])
        assert_array_equal(got[[0, 2]], expected)


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_a_prism_that_is_not_finite_makes_every_station_nan(strange):
    stations = ([0.0, 50.0], [0.0, 50.0], [1.0, 50.0])
    assert np.isnan(prism_gravity(stations, PRISMS, [100, strange], "g_z")).all()
    prisms = np.array(PRISMS)
    prisms[0, 0 if strange < 0 else 1] = strange
    assert np.isnan(prism_gravity(stations, prisms, [100, 200], "g_z")).all()
    assert np.isfinite(prism_gravity(stations, prisms, [0, 200], "g_z")).all()  # without density it takes no part


def test_no_stations_give_an_empty_array_of_their_shape():
    assert prism_gravity(([], [], []), PRISMS, [1, 2], "g_z").shape == (0,)
    assert prism_gravity((np.zeros((0, 3)),) * 3, PRISMS, [1, 2], "g_zz").shape == (0, 3)


def test_no_prisms_give_zero():
    assert_array_equal(prism_gravity(([0, 1], [0, 1], [0, 1]), np.empty((0, 6)), [], "g_z"), [0, 0])
    assert_array_equal(prism_gravity(([0, np.nan], [0, 1], [0, 1]), PRISMS, [0, 0], "g_z"), [0, 0])


def test_one_station_of_numbers_gives_an_array_without_dimensions():
    got = prism_gravity((0, 0, 1), PRISMS, [1, 2], "g_z", dtype="float32")
    assert got.shape == () and got.dtype == np.float32


# --- prism_gravity: singular points

corners = [(e, n, u) for e in (WEST, EAST) for n in (SOUTH, NORTH) for u in (BOTTOM, TOP)]
along = {0: [(-3.0, n, u) for n in (SOUTH, NORTH) for u in (BOTTOM, TOP)],
         1: [(e, 9.0, u) for e in (WEST, EAST) for u in (BOTTOM, TOP)],
         2: [(e, n, -7.0) for e in (WEST, EAST) for n in (SOUTH, NORTH)]}
#: Edges along these axes have no value of the component.
unbounded = {"g_ee": (1, 2), "g_nn": (0, 2), "g_zz": (0, 1), "g_en": (2,), "g_ez": (1,), "g_nz": (0,)}


def at(point):
    return tuple(np.array([x]) for x in point)


@pytest.mark.parametrize("field", TENSOR)
def test_the_tensor_is_nan_with_a_warning_on_corners_and_on_the_edges_where_it_has_no_value(field):
    for point in corners + [p for axis in unbounded[field] for p in along[axis]]:
        with pytest.warns(UserWarning, match="Found observation point on singular point"):
            assert np.isnan(prism_gravity(at(point), PRISM, 2900, field)).all()


@pytest.mark.parametrize("field", FIELDS)
def test_everything_else_has_a_value_and_no_warning(field):
    faces = [(e, 9.0, -7.0) for e in (WEST, EAST)] + [(-3.0, n, -7.0) for n in (SOUTH, NORTH)] \
        + [(-3.0, 9.0, u) for u in (BOTTOM, TOP)]
    edges = [p for axis in range(3) for p in along[axis]]
    for point in faces + (corners + edges if field not in TENSOR else []):
        assert np.isfinite(prism_gravity(at(point), PRISM, 2900, field)).all()


def test_without_checks_nothing_is_said_of_singular_points():
    assert np.isnan(prism_gravity(at(corners[0]), PRISM, 2900, "g_ee", disable_checks=True)).all()


def test_on_a_face_the_tensor_is_the_limit_from_outside():
    for field, point, step in (("g_zz", (-3.0, 9.0, TOP), (0, 0, 1e-6)), ("g_ee", (WEST, 9.0, -7.0), (-1e-6, 0, 0))):
        on, off = (prism_gravity(at(p), PRISM, 2900, field) for p in (point, np.add(point, step)))
        assert_allclose(on, off, rtol=1e-5)


def test_a_face_that_two_prisms_share_is_what_the_body_has_there():
    whole, halves = [-10, 10, -10, 10, -20, 0], [[-10, 10, -10, 10, -20, -5], [-10, 10, -10, 10, -5, 0]]
    station = ([0.0], [0.0], [-5.0])
    assert_allclose(prism_gravity(station, halves, [100, 100], "g_zz"), prism_gravity(station, whole, 100, "g_zz"),
                    rtol=1e-12)
    lighter = prism_gravity(([0.0], [0.0], [-5 - 1e-6]), halves, [100, 200], "g_zz")  # "outside" is the lighter side
    assert_allclose(prism_gravity(station, halves, [100, 200], "g_zz"), lighter, rtol=1e-5)


def test_an_edge_that_lies_within_the_body_is_not_singular():
    whole, halves = [-10, 10, -10, 10, -20, 0], [[-10, 0, -10, 10, -20, 0], [0, 10, -10, 10, -20, 0]]
    station = ([0.0], [0.0], [0.0])
    assert_allclose(prism_gravity(station, halves, [100, 100], "g_zz"), prism_gravity(station, whole, 100, "g_zz"),
                    rtol=1e-12)


# --- prism_gravity: prisms in the wrong order


@pytest.mark.parametrize("axis", range(3))
@pytest.mark.parametrize("field", FIELDS)
def test_turned_faces_are_refused_and_unchecked_change_the_sign(axis, field):
    turned = list(PRISM)
    turned[2 * axis], turned[2 * axis + 1] = turned[2 * axis + 1], turned[2 * axis]
    station = ([20.0], [1.0], [30.0])
    with pytest.raises(ValueError, match=r"prisms\[0\]: (west|south|bottom) is"):
        prism_gravity(station, turned, 100, field)
    with pytest.raises(ValueError, match=r"prisms\[0\]"):
        prism_gravity(station, turned, 0, field)
    assert_array_equal(prism_gravity(station, turned, 100, field, disable_checks=True),
                       -prism_gravity(station, PRISM, 100, field))


# --- prism_layer


@pytest.fixture
def layer():
    pytest.importorskip("xarray")
    from terrane.compat import prism_layer

    surface, density = np.arange(20.0).reshape(4, 5), np.full((4, 5), 2670.0)
    return prism_layer((np.linspace(-1, 3, 5), np.linspace(7, 13, 4)), surface, 0.0, {"density": density})


STATIONS = ([1.0, 2.0], [8.0, 9.0], [30.0, 30.0])


def test_a_layer_that_is_not_evenly_spaced_is_refused(layer):
    from terrane.compat import prism_layer

    for coordinates, name in ((([0, 1, 3], [0, 1]), "easting"), (([0, 1], [0, 1, 3]), "northing")):
        with pytest.raises(ValueError, match=f"{name}: is not evenly spaced"):
            prism_layer(coordinates, np.ones((len(coordinates[1]), len(coordinates[0]))), 0)
    with pytest.raises(ValueError, match="is not that of a regular grid"):
        prism_layer(([[0, 1], [0, 2]], [[0, 0], [1, 1]]), np.ones((2, 2)), 0)
    uneven = layer.isel(easting=[0, 1, 3])
    with pytest.raises(ValueError, match="easting: is not evenly spaced"):
        uneven.terrane_layer.gravity(STATIONS, field="g_z")


def test_two_dimensional_coordinates_make_the_same_layer(layer):
    from terrane.compat import prism_layer

    east, north = np.meshgrid(layer.easting, layer.northing)
    assert prism_layer((east, north), layer.top.values, 0, {"density": layer.density.values}).identical(layer)


def test_prisms_without_a_number_are_left_out(layer):
    missing = layer.copy(deep=True)
    missing.top[1, 2] = np.nan
    missing.bottom[2, 3] = np.nan
    kept = [i for i in range(20) if i not in (7, 13)]
    prisms = [layer.terrane_layer.get_prism(divmod(i, 5)) for i in kept]
    assert_allclose(missing.terrane_layer.gravity(STATIONS, field="g_z"),
                    prism_gravity(STATIONS, prisms, [2670] * 18, "g_z"), rtol=1e-12)


def test_a_layer_without_any_number_has_no_field(layer):
    assert_array_equal((np.nan * layer.assign_coords(top=np.nan * layer.top)).fillna(1.0)
                       .terrane_layer.gravity(STATIONS, field="g_z"), [0, 0])
    with pytest.warns(UserWarning, match="missing values"):
        assert_array_equal((np.nan * layer).terrane_layer.gravity(STATIONS, field="g_z"), [0, 0])


def test_an_infinite_surface_gives_nan_and_is_not_dropped(layer):
    layer.top[1, 2] = np.inf
    assert np.isnan(layer.terrane_layer.gravity(STATIONS, field="g_z")).all()


def test_a_layer_becomes_hexahedra(layer):
    pytest.importorskip("pyvista")
    layer.top[3, 2] = np.nan
    assert layer.terrane_layer.to_pyvista().n_cells == 18  # and the one of no height at the surface
    grid = layer.terrane_layer.to_pyvista(drop_null_prisms=False)
    assert grid.n_cells == 20 and grid.n_points == 160
    assert_array_equal(grid.cell_data["density"], layer.density.values.ravel())


# --- SimPEG's Simulation3DIntegral


@pytest.mark.parametrize("engine", ["geoana", "choclo", "terrane"])
@pytest.mark.parametrize("store", ["ram", "disk", "forward_only"])
def test_data_do_not_depend_on_how_sensitivities_would_be_stored(store, engine, random):
    mesh, rho = discretized(), random.uniform(-0.5, 0.5, 24)
    components = ["gx", "gy", "gz", "gxx", "gxy", "gxz", "gyy", "gyz", "gzz", "guv"]
    locations = random.uniform([-200, -200, 1], [200, 200, 50], (5, 3))
    simulation = Simulation3DIntegral(mesh, None, None, engine, survey=survey_of((locations, components)),
                                      store_sensitivities=store)
    data = simulation.dpred(rho).reshape(5, 10)
    names = ["g_e", "g_n", "g_u", "g_ee", "g_en", "g_eu", "g_nn", "g_nu", "g_uu"]
    prisms = terrane.TensorMesh(mesh.nodes_x, mesh.nodes_y, mesh.nodes_z).prisms()
    expected = forward(prisms, 1000 * rho, *locations.T, channels="all")
    for place, name in enumerate(names):
        assert_allclose(data[:, place], expected[name], rtol=0, atol=1e-11 * np.abs(expected[name]).max())
    assert_allclose(data[:, 9], (data[:, 6] - data[:, 3]) / 2, rtol=0, atol=1e-11 * np.abs(data[:, 3]).max())
    assert simulation.sensitivity_dtype is (np.float64 if store == "forward_only" else np.float32)
    assert data.dtype == np.float64


def test_the_residual_is_predicted_less_observed(random):
    mesh, rho = discretized(), random.uniform(-0.5, 0.5, 24)
    simulation = Simulation3DIntegral(mesh, survey=survey_of(([[0, 0, 10.0], [9, 0, 10.0]], "gz")))
    data = simulation.dpred(rho)
    assert_allclose(simulation.residual(rho, data - 1), [1, 1], rtol=1e-12)
    assert_array_equal(simulation.residual(None, data, f=data), [0, 0])
    with pytest.raises(terrane.ShapeError, match="dobs"):
        simulation.residual(rho, [1.0, 2.0, 3.0])


def test_synthetic_data_have_the_noise_that_was_asked_for(random):
    simpeg = pytest.importorskip("simpeg.potential_fields.gravity")
    mesh, rho = discretized(), random.uniform(-0.5, 0.5, 24)
    locations = random.uniform([-200, -200, 1], [200, 200, 50], (500, 3))
    survey = simpeg.Survey(simpeg.SourceField([simpeg.Point(locations, "gz")]))
    simulation = Simulation3DIntegral(mesh, survey=survey)
    data = simulation.make_synthetic_data(rho, relative_error=0, noise_floor=0.5, add_noise=True, random_seed=1)
    assert_array_equal(data.dclean, simulation.dpred(rho))
    assert 0.45 < np.std(data.dobs - data.dclean) < 0.55
    assert_array_equal(simulation.make_synthetic_data(rho).dobs, data.dclean)


def test_gradients_on_faces_are_the_mean_of_both_sides_and_nan_on_edges():
    mesh = discretized((1, 1, 1))
    def gzz(up, east=0.0):
        return Simulation3DIntegral(mesh, survey=survey_of(([[east, 0, up]], "gzz"))).dpred([1.0])
    assert_allclose(gzz(0.0), (gzz(1e-6) + gzz(-1e-6)) / 2, rtol=1e-6)
    assert np.isnan(gzz(0.0, east=200.0)).all()


def test_arguments_that_simpeg_would_refuse_are_refused():
    mesh = discretized()
    for keywords, error in (({"sensitivity_dtype": float}, TypeError), ({"ind_active": [1]}, TypeError),
                            ({"engine": "no"}, ValueError), ({"store_sensitivities": "no"}, ValueError)):
        with pytest.raises(error, match=next(iter(keywords))):
            Simulation3DIntegral(mesh, **keywords)


class Times1000:
    """A map as SimPEG's: the density is a multiple of the model."""

    def __mul__(self, model):
        return 1e-3 * np.asarray(model)

    def deriv(self, model):
        return 1e-3 * np.eye(24)


@pytest.mark.parametrize("store", ["ram", "disk", "folder", "forward_only"])
def test_sensitivities_are_the_derivative_of_the_data(random, store, tmp_path):
    mesh, rho = discretized(), random.uniform(-0.5, 0.5, 24)
    locations = random.uniform([-300, -300, 5], [300, 300, 60], (7, 3))
    survey = survey_of((locations, ["gz", "gxx", "guv"]), (locations[:3], "gx"))
    keywords = {} if store == "forward_only" else {"sensitivity_dtype": np.float64}
    if store in ("disk", "folder"):
        keywords["sensitivity_path"] = str(tmp_path if store == "folder" else tmp_path / "g")
        store = "disk"
    simulation = Simulation3DIntegral(mesh, survey=survey, store_sensitivities=store, **keywords)
    data = simulation.dpred(rho)
    scale = np.abs(data).max()
    assert_allclose(simulation.G @ rho, data, rtol=0, atol=1e-8 * scale)
    assert_allclose(simulation.Jvec(rho, rho), data, rtol=0, atol=1e-8 * scale)
    weight = random.uniform(0.5, 2, data.size)
    matrix = np.stack([simulation.Jvec(rho, one) for one in np.eye(24)], axis=1)
    assert_allclose(simulation.Jtvec(rho, weight), matrix.T @ weight, rtol=1e-10)
    assert_allclose(simulation.getJtJdiag(rho, W=np.diag(weight)), (weight[:, None]**2 * matrix**2).sum(axis=0),
                    rtol=1e-10)
    assert abs(data @ simulation.Jvec(rho, rho) - rho @ simulation.Jtvec(rho, data)) < 1e-12 * (data @ data)


def test_sensitivities_go_through_the_map_and_have_the_type_asked_for(random):
    mesh, model = discretized(), random.uniform(-500, 500, 24)
    survey = survey_of((random.uniform([-300, -300, 5], [300, 300, 60], (5, 3)), "gz"))
    simulation = Simulation3DIntegral(mesh, rhoMap=Times1000(), survey=survey)
    data = simulation.dpred(model)
    assert simulation.G.dtype == np.float32
    assert_allclose(simulation.Jvec(model, model), data, rtol=1e-5)
    assert_allclose(simulation.getJ(model) @ model, data, rtol=1e-5)
    assert_allclose(simulation.Jtvec(model, data), 1e-3 * (simulation.G.astype(float).T @ data), rtol=1e-5)
    assert_allclose(simulation.getJtJdiag(model), 1e-6 * (simulation.G.astype(float)**2).sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("store", ["ram", "forward_only"])
def test_magnetic_data_are_those_of_the_induced_magnetization(random, store):
    mesh, chi = discretized(), random.uniform(0, 0.1, 24)
    locations = random.uniform([-300, -300, 5], [300, 300, 60], (6, 3))
    survey = survey_of((locations, ["tmi", "bx", "by", "bz"]))
    for name, value in (("amplitude", 50000.0), ("inclination", 65.0), ("declination", -12.0)):
        setattr(survey.source_field, name, value)
    simulation = MagneticSimulation3DIntegral(mesh, survey=survey, store_sensitivities=store)
    data = simulation.dpred(chi).reshape(6, 4)
    i, d = np.radians([65.0, -12.0])
    f = np.array([np.cos(i) * np.sin(d), np.cos(i) * np.cos(d), -np.sin(i)])
    prisms = terrane.TensorMesh(mesh.nodes_x, mesh.nodes_y, mesh.nodes_z).prisms()
    field = prism_magnetic(locations.T, prisms, [chi * 50000e-9 / 1.25663706212e-6 * one for one in f], field="b")
    assert_allclose(data[:, 1:], np.stack(field, axis=1), rtol=0, atol=1e-10 * np.abs(data).max())
    assert_allclose(data[:, 0], data[:, 1:] @ f, rtol=0, atol=1e-12 * np.abs(data).max())
    assert_allclose(simulation.Jvec(chi, chi), data.ravel(), rtol=0, atol=1e-6 * np.abs(data).max())
    with pytest.raises(terrane.InputError, match="model_type: is 'tensor'"):
        MagneticSimulation3DIntegral(mesh, survey=survey, model_type="tensor")


def magnetic_survey(locations, components, inclination=65.0, declination=-12.0):
    survey = survey_of((locations, components))
    for name, value in (("amplitude", 50000.0), ("inclination", inclination), ("declination", declination)):
        setattr(survey.source_field, name, value)
    survey.nD = len(locations) * len(components)
    return survey


@pytest.mark.parametrize("store", ["ram", "disk", "forward_only"])
def test_vectors_along_the_main_field_are_susceptibilities(random, store, tmp_path):
    mesh, chi = discretized(), random.uniform(0, 0.1, 24)
    survey = magnetic_survey(random.uniform([-300, -300, 5], [300, 300, 60], (6, 3)), ["bz", "tmi_x", "tmi"])
    keywords = {"survey": survey, "store_sensitivities": store, "sensitivity_path": str(tmp_path / "g")}
    scalar = MagneticSimulation3DIntegral(mesh, **keywords)
    vector = MagneticSimulation3DIntegral(mesh, model_type="vector", **keywords)
    along = np.concatenate([f * chi for f in scalar.tmi_projection])
    data = scalar.dpred(chi)
    assert_allclose(vector.dpred(along), data, rtol=0, atol=1e-9 * np.abs(data).max())
    assert_allclose(vector.Jvec(along, along), data, rtol=0, atol=1e-6 * np.abs(data).max())
    assert vector.G.shape == (18, 72) and isinstance(vector.G, np.memmap) == (store == "disk")
    weight = random.uniform(0.5, 2, 18)
    matrix = np.stack([vector.Jvec(along, one) for one in np.eye(72)], axis=1)
    assert_allclose(vector.Jtvec(along, weight), matrix.T @ weight, rtol=1e-9, atol=1e-9 * np.abs(matrix).max())
    assert_allclose(vector.getJtJdiag(along, W=np.diag(weight)), (weight[:, None]**2 * matrix**2).sum(axis=0),
                    rtol=1e-9)


def test_derivatives_of_the_magnetic_field_have_no_curl_and_no_divergence(random):
    mesh, chi = discretized(), random.uniform(0, 0.1, 24)
    locations = random.uniform([-150, -150, 30], [150, 150, 90], (6, 3))
    names = ["bxx", "bxy", "bxz", "byy", "byz", "bzz", "tmi_x", "tmi_y", "tmi_z"]
    simulation = MagneticSimulation3DIntegral(mesh, survey=magnetic_survey(locations, names))
    data = simulation.dpred(chi).reshape(6, 9)
    size = np.abs(data).max()
    assert_allclose(data[:, 0] + data[:, 3] + data[:, 5], 0, atol=1e-7 * size)
    # tmi is the field along the direction of the main one, and so are its derivatives.
    tensor = data[:, [0, 1, 2, 1, 3, 4, 2, 4, 5]].reshape(6, 3, 3)
    assert_allclose(data[:, 6:], tensor @ simulation.tmi_projection, rtol=0, atol=1e-7 * size)


def test_derivatives_of_the_magnetic_field_go_on_through_faces_and_are_nan_on_edges():
    mesh, chi = discretized(), np.full(24, 0.02)
    prisms = MagneticSimulation3DIntegral(mesh, survey=magnetic_survey(np.zeros((1, 3)), ["bz"]))._prisms
    west, east, south, north, _, top = prisms[np.argmax(prisms[:, 5])]
    centre = np.array([0.6 * west + 0.4 * east, 0.3 * south + 0.7 * north, top])
    names = ["bxx", "bxz", "bzz", "tmi_x", "tmi_z"]
    surveys = [magnetic_survey(np.array([centre + [0, 0, step]]), names) for step in (0.0, 1e-3, -1e-3)]
    near = [MagneticSimulation3DIntegral(mesh, survey=survey).dpred(chi) for survey in surveys]
    scale = np.abs(near[1]).max()
    assert_allclose(near[0], near[1], rtol=0, atol=1e-4 * scale)
    assert_allclose(near[0], near[2], rtol=0, atol=1e-4 * scale)
    on_face = MagneticSimulation3DIntegral(mesh, survey=magnetic_survey(np.array([centre]), names),
                                           sensitivity_dtype=np.float64)
    assert_allclose(on_face.G @ chi, near[0], rtol=0, atol=1e-6 * scale)
    corner = np.array([[prisms[:, 0].min(), prisms[:, 2].min(), top]])
    on_edge = MagneticSimulation3DIntegral(mesh, survey=magnetic_survey(corner, names))
    with pytest.warns(UserWarning, match="1 of 1 receivers lie on edges"):
        assert np.isnan(on_edge.dpred(chi)).all()


def test_the_magnetic_field_inside_of_cells_is_that_of_magnetized_matter():
    mesh, chi = discretized(), np.full(24, 0.02)
    prisms = MagneticSimulation3DIntegral(mesh, survey=magnetic_survey(np.zeros((1, 3)), ["bz"]))._prisms
    at = np.array([[0.7, 0.3] @ prisms[3].reshape(3, 2).T])
    simulation = MagneticSimulation3DIntegral(mesh, survey=magnetic_survey(at, ["bz", "tmi"]),
                                              sensitivity_dtype=np.float64)
    field = simulation.survey.source_field
    model = terrane.PrismSet(prisms, susceptibility=0.02)
    right = terrane.magnetic.Simulation(
        model, terrane.Survey(*at.T), ["b_u", "tmi"],
        main_field=(field.amplitude, field.inclination, field.declination)).run()
    expected = [float(right["b_u"][0]), float(right["tmi"][0])]
    assert_allclose(simulation.dpred(chi), expected, rtol=1e-9)
    assert_allclose(simulation.G @ chi, expected, rtol=1e-7)


def test_amplitudes_have_the_derivative_of_differences(random):
    mesh, chi = discretized(), random.uniform(0, 0.1, 72)
    survey = magnetic_survey(random.uniform([-300, -300, 5], [300, 300, 60], (5, 3)), ["bx", "by", "bz"])
    keywords = {"survey": survey, "model_type": "vector", "sensitivity_dtype": np.float64}
    simulation = MagneticSimulation3DIntegral(mesh, is_amplitude_data=True, **keywords)
    parts = MagneticSimulation3DIntegral(mesh, **keywords).dpred(chi).reshape(5, 3)
    assert_allclose(simulation.dpred(chi), np.linalg.norm(parts, axis=1), rtol=1e-12)
    assert simulation.nD == 5
    change, h = random.uniform(-1, 1, 72), 1e-5
    slope = (simulation.dpred(chi + h * change) - simulation.dpred(chi - h * change)) / (2 * h)
    assert_allclose(simulation.Jvec(chi, change), slope, rtol=1e-6, atol=1e-6 * np.abs(slope).max())
    data = random.uniform(-1, 1, 5)
    assert_allclose(data @ simulation.Jvec(chi, change), change @ simulation.Jtvec(chi, data), rtol=1e-9)
    matrix = np.stack([simulation.Jvec(chi, one) for one in np.eye(72)], axis=1)
    assert_allclose(simulation.getJtJdiag(chi), (matrix**2).sum(axis=0), rtol=1e-9)
    with pytest.raises(NotImplementedError, match="getJ"):
        simulation.getJ(chi)
    # None is the model that was last, whoever gave it.
    other = random.uniform(0, 0.1, 72)
    expected = [simulation.Jvec(other, change), simulation.Jtvec(other, data), simulation.getJtJdiag(other)]
    simulation.Jvec(chi, change)
    simulation.fields(other)
    assert_allclose(simulation.Jvec(None, change), expected[0], rtol=1e-12)
    simulation.Jvec(chi, change)
    simulation.model = other
    assert_allclose(simulation.Jtvec(None, data), expected[1], rtol=1e-12)
    assert_allclose(simulation.getJtJdiag(), expected[2], rtol=1e-12)
    assert not simulation.Jvec(np.zeros(72), change).any(), "0 where there is no field, as it has no direction"
    without = MagneticSimulation3DIntegral(mesh, is_amplitude_data=True, store_sensitivities="forward_only", **keywords)
    with pytest.raises(NotImplementedError, match="getJtJdiag"):
        without.getJtJdiag(chi)


def test_what_simpegs_engines_would_say_is_said(tmp_path):
    mesh = discretized()
    with pytest.raises(ValueError, match=r"'engine' must be in \('geoana', 'choclo'\). Got 'no'"):
        Simulation3DIntegral(mesh, engine="no")
    with pytest.raises(ValueError, match="is a directory"):
        Simulation3DIntegral(mesh, engine="choclo", store_sensitivities="disk", sensitivity_path=str(tmp_path))
    with pytest.warns(UserWarning, match="'n_processes' will be ignored"):
        assert Simulation3DIntegral(mesh, engine="choclo", n_processes=2).n_processes is None


def test_the_diagonal_is_kept_for_the_same_weights(random, monkeypatch):
    mesh, rho = discretized(), random.uniform(-0.5, 0.5, 24)
    simulation = Simulation3DIntegral(mesh, survey=survey_of((random.uniform(5, 60, (5, 3)), "gz")))
    first = simulation.getJtJdiag(rho)
    monkeypatch.setattr(simulation, "_diagonal", None)
    assert_array_equal(simulation.getJtJdiag(2 * rho), first)
    with pytest.raises(TypeError):
        simulation.getJtJdiag(rho, W=np.diag(np.full(5, 2.0)))
