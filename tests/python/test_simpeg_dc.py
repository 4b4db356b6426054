"""SimPEG's cell-centred direct current: beside a network of dense matrices, and beside SimPEG itself."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import terrane
from terrane.compat import Simulation3DCellCentered, Simulation3DNodal

CONDITIONS = ("Robin", "Dirichlet", "Neumann")


def faces_of(random, counts=(6, 5, 4)):
    """Uneven ones, whose median is not their middle; the top at zero."""
    x, y, z = (np.r_[0, np.cumsum(random.uniform(1, 4, n))] for n in counts)
    return x - 7.3, y - 6.1, z - z[-1]


def closest(mesh):
    def index(at, grid_loc):
        assert grid_loc == "CC"
        return np.argmin(np.linalg.norm(mesh.cell_centers[None] - at[:, None], axis=2), axis=1)
    return index


def mesh_of(faces):
    """As much of a discretize mesh as the simulation asks for; x fastest."""
    centres = [(f[1:] + f[:-1]) / 2 for f in faces]
    grid = np.stack([a.ravel(order="F") for a in np.meshgrid(*centres, indexing="ij")], axis=1)
    mesh = SimpleNamespace(nodes_x=faces[0], nodes_y=faces[1], nodes_z=faces[2], cell_centers=grid)
    mesh.closest_points_index = closest(mesh)
    return mesh


def survey_of(random, kind="volt"):
    """A dipole, another that shares an electrode with it, and a source with three electrodes."""
    low, high = [-7, -6, -4], [4, 3, 0]
    sources = []
    ends = [[-6.0, -5, -0.5], [3.0, 2, -1], [-2.0, 1, -3]]
    for at, current in (([ends[0], ends[1]], [2, -2]), ([ends[0], ends[2]], [1, -1]), (ends, [1, 0.5, -1.5])):
        m, n = random.uniform(low, high, (2, 3, 3))
        pair = SimpleNamespace(locations_m=m, locations_n=n, data_type=kind)
        single = SimpleNamespace(locations=n, data_type="volt")
        sources.append(SimpleNamespace(location=np.array(at), current=np.array(current, float),
                                       receiver_list=[pair, single]))
    return SimpleNamespace(source_list=sources)


def dense(faces, rho, kind):
    """K, from the resistances of halves of cells; axis by axis, x fastest."""
    h = [np.diff(f) for f in faces]
    shape = [w.size for w in h]
    source = [np.median(faces[0]), np.median(faces[1]), faces[2][-1]]
    k = np.zeros((rho.size, rho.size))
    grid = np.arange(rho.size).reshape(shape, order="F")
    for cell in np.ndindex(*shape):
        for axis in range(3):
            area = np.prod([h[a][cell[a]] for a in range(3) if a != axis])
            p = grid[cell]
            half = rho[p] * h[axis][cell[axis]] / 2
            for side in (0, 1):
                beyond = list(cell)
                beyond[axis] += 2 * side - 1
                if 0 <= beyond[axis] < shape[axis]:
                    q = grid[tuple(beyond)]
                    c = area / (half + rho[q] * h[axis][beyond[axis]] / 2)
                    k[p, q] -= c
                    k[p, p] += c
                    continue
                if kind == "Dirichlet":
                    k[p, p] += area / half
                if kind == "Robin" and (axis, side) != (2, 1):
                    at = [(faces[a][cell[a]] + faces[a][cell[a] + 1]) / 2 for a in range(3)]
                    at[axis] = faces[axis][cell[axis] + side]
                    r = np.array(at) - source
                    k[p, p] += area / (half + rho[p] * (r @ r) / abs(r[axis]))
    return k


def interpolated(faces, at):
    """Linear between the middles of cells, flat beyond them: one row of all cells."""
    rows = []
    for f, x in zip(faces, at):
        centres = (f[1:] + f[:-1]) / 2
        rows.append([np.interp(x, centres, one) for one in np.eye(centres.size)])
    return np.einsum("i,j,k->ijk", *rows).ravel(order="F")


def slow_data(faces, mesh, survey, rho, kind):
    k = dense(faces, rho, kind)
    if kind == "Neumann":  # SimPEG's first row
        k[0] = 0
        k[0, 0] = 1
    data = []
    for source in survey.source_list:
        q = np.zeros(rho.size)
        q[mesh.closest_points_index(source.location, "CC")] = source.current
        phi = np.linalg.solve(k, q)
        pair, single = source.receiver_list
        data += [(interpolated(faces, m) - interpolated(faces, n)) @ phi
                 for m, n in zip(pair.locations_m, pair.locations_n)]
        data += [interpolated(faces, at) @ phi for at in single.locations]
    return np.array(data)


@pytest.fixture
def problem(random):
    faces = faces_of(random)
    return faces, mesh_of(faces), survey_of(random), np.exp(random.uniform(1, 6, 120))


@pytest.mark.parametrize("kind", CONDITIONS)
def test_cell_centred_potentials_are_those_of_a_dense_network(problem, kind):
    faces, mesh, survey, rho = problem
    found = Simulation3DCellCentered(mesh, survey, rho=rho, bc_type=kind, tolerance=1e-13).dpred()
    expected = slow_data(faces, mesh, survey, rho, kind)
    assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


@pytest.mark.parametrize("kind", CONDITIONS)
def test_an_electrode_in_the_first_cell_is_as_in_simpeg(problem, kind):
    faces, mesh, survey, rho = problem
    survey.source_list[0].location[0] = mesh.cell_centers[0]
    found = Simulation3DCellCentered(mesh, survey, rho=rho, bc_type=kind, tolerance=1e-13).dpred()
    expected = slow_data(faces, mesh, survey, rho, kind)
    assert_allclose(found, expected, rtol=0, atol=1e-11 * np.abs(expected).max())


class Exponential:
    """A map as SimPEG's, with a dense derivative."""

    def __mul__(self, model):
        return np.exp(model)

    def deriv(self, model):
        return np.diag(np.exp(model))


@pytest.mark.parametrize("name", ["rhoMap", "sigmaMap"])
@pytest.mark.parametrize("kind", CONDITIONS)
def test_cell_centred_sensitivities_are_the_derivative_of_the_data(problem, random, kind, name):
    _, mesh, survey, rho = problem
    m = np.log(rho if name == "rhoMap" else 1 / rho)
    simulation = Simulation3DCellCentered(mesh, survey, bc_type=kind, tolerance=1e-13, **{name: Exponential()})
    v, w = random.normal(size=120), random.normal(size=18)
    t = 1e-4
    slope = (simulation.dpred(m + t * v) - simulation.dpred(m - t * v)) / (2 * t)
    product = simulation.Jvec(m, v)
    assert_allclose(product, slope, rtol=0, atol=1e-6 * np.abs(slope).max())
    matrix = simulation.getJ(m)
    assert matrix.shape == (18, 120)
    assert_allclose(matrix @ v, product, rtol=0, atol=1e-10 * np.abs(product).max())
    assert_allclose(simulation.Jtvec(m, w), w @ matrix, rtol=0, atol=1e-10 * np.abs(w @ matrix).max())


def test_apparent_resistivities_are_voltages_over_those_of_a_half_space(problem, random):
    _, mesh, survey, rho = problem
    volts = Simulation3DCellCentered(mesh, survey, rho=rho).dpred()
    for source in survey.source_list:
        source.receiver_list[0].data_type = "apparent_resistivity"
    apparent = Simulation3DCellCentered(mesh, survey, rho=rho).dpred()
    pair = survey.source_list[1].receiver_list[0]
    r = [np.linalg.norm(end - place, axis=1) for place in survey.source_list[1].location
         for end in (pair.locations_m, pair.locations_n)]
    assert_allclose(apparent[6:9], volts[6:9] * 2 * np.pi / (1 / r[0] - 1 / r[1] - 1 / r[2] + 1 / r[3]), rtol=1e-12)
    assert_allclose(apparent[9:12], volts[9:12], rtol=1e-12)  # those stay volts
    survey.source_list[1].receiver_list[0].geometric_factor = {}  # as SimPEG has it before it is set
    assert_allclose(Simulation3DCellCentered(mesh, survey, rho=rho).dpred(), apparent, rtol=1e-12)


def test_the_top_alone_may_be_named_as_surface(problem):
    _, mesh, survey, rho = problem
    top = np.zeros(2 * (20 + 24 + 30), dtype=bool)
    top[-30:] = True
    plain = Simulation3DCellCentered(mesh, survey, rho=rho).dpred()
    assert_allclose(Simulation3DCellCentered(mesh, survey, rho=rho, surface_faces=top).dpred(), plain, rtol=1e-14)
    for of in (Simulation3DCellCentered, Simulation3DNodal):
        with pytest.raises(terrane.UnsupportedError, match="surface_faces: are 118 of 148 faces"):
            of(mesh, survey, rho=rho, surface_faces=~top)


def test_what_is_wrong_with_electrodes_is_named(problem):
    _, mesh, survey, rho = problem

    def refused(message, error=terrane.InputError):
        with pytest.raises(error, match=message):
            Simulation3DCellCentered(mesh, survey, rho=rho).dpred()

    first = survey.source_list[0]
    kept = first.location.copy()
    first.location[1] = first.location[0] + 0.01
    refused("source 1: has two electrodes in one cell")
    first.location = kept + [0, 0, 2.0]
    refused("(?s)source 1: electrode 1: is at z = 1.5 m, outside of the mesh.*to 0 m")
    first.location = kept
    first.receiver_list[1].locations[1, 0] = np.nan
    refused("source 1: receiver 2: is at x = nan")
    first.receiver_list[1].locations[1, 0] = -50
    refused("source 1: receiver 2: is at x = -50")
    first.receiver_list[1].locations[1, 0] = 0
    first.receiver_list[0].projField = "e"
    refused("electric fields", terrane.UnsupportedError)
    first.receiver_list[0].projField = "phi"
    first.receiver_list[0].data_type = "apparent_chargeability"
    refused("data_type", terrane.UnsupportedError)
    rho[3] = -1
    first.receiver_list[0].data_type = "volt"
    refused("resistivity")


def test_a_solve_that_does_not_end_is_warned_of(problem):
    _, mesh, survey, rho = problem
    with pytest.warns(RuntimeWarning, match="residual"):
        Simulation3DCellCentered(mesh, survey, rho=rho, tolerance=1e-30).dpred()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Simulation3DCellCentered(mesh, survey, rho=rho).dpred()


# --- beside SimPEG itself


def of_simpeg(random, kind, receivers):
    """A mesh of discretize, and a survey of SimPEG; under Neumann no single receivers, whose J has a constant."""
    discretize = pytest.importorskip("discretize")
    pytest.importorskip("simpeg")
    from simpeg.electromagnetics.static import resistivity as dc

    faces = faces_of(random, (9, 8, 7))
    mesh = discretize.TensorMesh([np.diff(f) for f in faces], origin=[f[0] for f in faces])
    low, high = [f[0] for f in faces], [f[-1] for f in faces]
    sources = []
    for n in range(3):
        m, other, a, b = random.uniform(low, high, (4, 3, 3))
        recorded = [dc.receivers.Dipole(m, other, data_type=receivers)]
        if kind != "Neumann":
            recorded.append(dc.receivers.Pole(m, data_type=receivers))
            sources.append(dc.sources.Pole(recorded[1:], a[1], current=0.3))
        sources.append(dc.sources.Dipole(recorded, a[0], b[0], current=2.5))
    survey = dc.survey.Survey(sources)
    if receivers != "volt":
        survey.set_geometric_factor()
    return mesh, survey, dc


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("receivers", ["volt", "apparent_resistivity"])
@pytest.mark.parametrize("name", ["rhoMap", "sigmaMap"])
@pytest.mark.parametrize("kind", [*CONDITIONS, "Mixed"])
def test_cell_centred_numbers_are_simpegs(random, kind, name, receivers):
    mesh, survey, dc = of_simpeg(random, kind, receivers)
    from simpeg import maps

    keywords = {"survey": survey, "bc_type": kind, name: maps.ExpMap(mesh)}
    theirs = dc.Simulation3DCellCentered(mesh, **keywords)
    ours = Simulation3DCellCentered(mesh, **keywords)
    m = random.uniform(-1.5, 1.5, mesh.n_cells) + (3 if name == "rhoMap" else -3)
    expected = theirs.dpred(m)
    v, w = random.normal(size=m.size), random.normal(size=expected.size)
    for got, wanted in ((ours.dpred(m), expected), (ours.Jvec(m, v), theirs.Jvec(m, v)),
                        (ours.Jtvec(m, w), theirs.Jtvec(m, w)), (ours.getJ(m), theirs.getJ(m))):
        assert_allclose(got, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore")
def test_single_electrodes_under_neumann_are_simpegs(random):
    mesh, survey, dc = of_simpeg(random, "Robin", "volt")
    rho = np.exp(random.uniform(0, 3, mesh.n_cells))
    expected = dc.Simulation3DCellCentered(mesh, survey=survey, rho=rho, bc_type="Neumann").dpred()
    found = Simulation3DCellCentered(mesh, survey=survey, rho=rho, bc_type="Neumann").dpred()
    assert_allclose(found, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
