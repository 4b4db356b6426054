"""Direct current from Python: data, sensitivities, files."""

from types import SimpleNamespace

import numpy as np
import pytest
import terrane
from terrane.electric import Arrays, Sensitivity, forward, read_arrays, write_arrays


def mesh():
    side = np.cumsum([0, 40, 20, 10] + [4] * 12 + [10, 20, 40]) - 94.0
    return terrane.TensorMesh(side, side, np.r_[-94, -54, -34, -24:1:4])


ELECTRODES = np.array([[-18, 0.5, 0], [-6, 0.5, 0], [6, 0.5, 0], [18, 0.5, 0], [2, -3, -6.0]])
ARRAYS = [[0, 3, 1, 2], [0, -1, 2, 3], [4, -1, 1, -1]]


def earth(seed=1):
    return np.exp(np.random.default_rng(seed).normal(-4, 1, int(np.prod(mesh().shape))))


def test_a_homogeneous_earth_has_its_own_resistivity():
    data = forward(mesh(), 0.02, ELECTRODES, ARRAYS)
    assert data["apparent_resistivity"] == pytest.approx([50.0] * 3, rel=1e-9)
    assert "phase" not in data and "chargeability" not in data


def test_uniform_chargeability_and_phase_are_measured_by_every_array():
    sigma = earth()
    assert forward(mesh(), sigma, ELECTRODES, ARRAYS, chargeability=0.1, tolerance=1e-12)["chargeability"] == \
        pytest.approx([0.1] * 3, rel=1e-6)
    phase = forward(mesh(), sigma, ELECTRODES, ARRAYS, quadrature=sigma * 0.05, tolerance=1e-12)["phase"]
    assert phase == pytest.approx([np.arctan(0.05)] * 3, rel=1e-6)


def test_what_would_be_misread_is_refused():
    sigma = earth().reshape(mesh().shape)
    assert forward(mesh(), sigma, ELECTRODES, ARRAYS)["resistance"] == \
        pytest.approx(forward(mesh(), sigma.ravel(), ELECTRODES, ARRAYS)["resistance"])
    with pytest.raises(terrane.ShapeError, match="up, north, east"):
        forward(mesh(), sigma.T, ELECTRODES, ARRAYS)
    with pytest.raises(terrane.ShapeError, match="there are none"):
        forward(mesh(), sigma, ELECTRODES, np.zeros((0, 4), int))
    for tolerance in (0, 1, np.nan):
        with pytest.raises(terrane.InputError, match="Allowed: 1e-14 to 1e-2"):
            forward(mesh(), sigma, ELECTRODES, ARRAYS, tolerance=tolerance)
    with pytest.raises(terrane.InputError, match="from 0 to 1"):
        forward(mesh(), sigma, ELECTRODES, ARRAYS, ground=2.0)


def test_sensitivities_are_slopes_and_each_others_transposes():
    sigma, rng = earth(), np.random.default_rng(2)
    j = Sensitivity(mesh(), sigma, ELECTRODES, ARRAYS, tolerance=1e-12)
    v, w = rng.normal(size=j.shape[1]), rng.normal(size=3)
    assert w @ j.apply(v) == pytest.approx(v @ j.apply_transpose(w), rel=1e-12)
    t = 1e-4
    ahead, back = (Sensitivity(mesh(), sigma * np.exp(s * v), ELECTRODES, ARRAYS, tolerance=1e-12, unit=j.unit).data
                   for s in (t, -t))
    assert j.apply(v) == pytest.approx((ahead - back) / (2 * t), rel=1e-5, abs=1e-7)
    assert np.einsum("ij,ij->j", j.matrix(), j.matrix()) == pytest.approx(j.diagonal(), rel=1e-12)


def test_sensitivities_of_rock_that_conducts_by_direction_and_lags():
    sigma = {axis: earth(seed) for seed, axis in enumerate(("east", "north", "up"))}
    lag = {axis: 0.1 * values for axis, values in sigma.items()}
    j = Sensitivity(mesh(), sigma, ELECTRODES, ARRAYS, quadrature=lag, boundary="grounded")
    cells = int(np.prod(mesh().shape))
    assert j.shape == (6, 6 * cells)
    data = forward(mesh(), sigma, ELECTRODES, ARRAYS, quadrature=lag, boundary="grounded", potential="total")
    assert j.data[3:] == pytest.approx(data["phase"], rel=1e-5)
    # All angles together turn every phase by as much, and all magnitudes scale every resistivity.
    both = np.stack([j.apply(np.repeat([1.0, 0.0], 3 * cells)), j.apply(np.repeat([0.0, 1.0], 3 * cells))])
    assert both == pytest.approx(np.array([[-1, -1, -1, 0, 0, 0], [0, 0, 0, 1, 1, 1]]), abs=1e-6)


def line_over_a_chargeable_block():
    side = np.cumsum([0, 80, 40, 20] + [5] * 24 + [20, 40, 80]) - 200.0
    cells = terrane.TensorMesh(side, side[4:-4], np.r_[-130, -70, -40:1:5])
    x = np.arange(-45, 46, 10.0)
    places = np.column_stack([x, np.full(x.size, 1.0), np.zeros(x.size)])
    arrays = [[n + 1, n, n + 1 + l, n + 2 + l] for l in range(1, 6) for n in range(x.size - 2 - l)]
    middle = [(f[1:] + f[:-1]) / 2 for f in (cells.up, cells.northing, cells.easting)]
    up, north, east = np.meshgrid(*middle, indexing="ij")
    block = (abs(east - 5) < 12) & (abs(north) < 15) & (abs(up + 10) < 6)
    return cells, places, arrays, block, np.where(block, 0.02, 0.01)


def test_chargeabilities_are_found_where_they_are():
    cells, places, arrays, block, sigma = line_over_a_chargeable_block()
    measured = forward(cells, sigma, places, arrays, chargeability=np.where(block, 0.1, 0.0), potential="total",
                       tolerance=1e-11)["chargeability"]
    found = terrane.electric.invert_chargeability(cells, sigma, places, arrays, measured, 5e-4, length_scale=[15] * 3)
    assert found.converged and found.chi_squared == pytest.approx(1, abs=0.1)
    assert found.predicted == pytest.approx(measured, abs=2e-3)
    assert np.all((found.model >= 0) & (found.model <= 0.99))
    largest = np.unravel_index(found.model.argmax(), found.model.shape)
    at = [(f[i] + f[i + 1]) / 2 for f, i in zip((cells.up, cells.northing, cells.easting), largest)]
    assert abs(at[2] - 5) < 15 and -20 < at[0]
    assert found.model[block].mean() > 3 * found.model[~block & (found.model < found.model.max())].mean()


def test_chargeabilities_are_not_found_from_what_is_none():
    cells, places, arrays, _, sigma = line_over_a_chargeable_block()
    invert = terrane.electric.invert_chargeability
    with pytest.raises(terrane.InputError, match="below 1"):
        invert(cells, sigma, places, arrays, np.full(len(arrays), 0.1), 0.01, most=1.5)
    with pytest.raises(terrane.ShapeError, match="chargeability"):
        invert(cells, sigma, places, arrays, [0.1, 0.2], 0.01)
    with pytest.raises(terrane.InputError):
        invert(cells, sigma, places, arrays, np.full(len(arrays), 0.1), 0.0)


def test_gauss_newton_finds_the_resistivity_of_an_earth_of_two_layers():
    cells = mesh()
    truth = np.where(np.arange(int(np.prod(cells.shape))) < 0.8 * np.prod(cells.shape), 0.05, 0.01)
    measured = Sensitivity(cells, truth, ELECTRODES, ARRAYS)
    log_sigma = np.full(truth.size, np.log(0.02))
    for _ in range(4):
        j = Sensitivity(cells, np.exp(log_sigma), ELECTRODES, ARRAYS, unit=measured.unit)
        matrix, misfit = j.matrix(), measured.data - j.data
        log_sigma += matrix.T @ np.linalg.solve(matrix @ matrix.T + 1e-8 * np.eye(3), misfit)
    found = Sensitivity(cells, np.exp(log_sigma), ELECTRODES, ARRAYS, unit=measured.unit)
    assert found.data == pytest.approx(measured.data, abs=1e-4)


@pytest.mark.parametrize("name", ["line.obs", "line.ohm"])
def test_what_is_written_is_read_again(tmp_path, name):
    data = Arrays(ELECTRODES, np.array(ARRAYS),
                  {"resistance": ("V/A", np.array([0.5, -0.25, 2.0]), np.array([0.01, 0.01, 0.04]))})
    write_arrays(tmp_path / name, data)
    again = read_arrays(tmp_path / name)
    assert again.columns["resistance"][1] == pytest.approx(data.columns["resistance"][1])
    for got, expected in zip(again.arrays, data.arrays):
        for a, b in zip(got, expected):
            assert (a < 0) == (b < 0)
            assert a < 0 or again.electrodes[a] == pytest.approx(ELECTRODES[b])


def test_half_of_a_symmetric_earth_behind_an_insulated_side_is_the_whole_one():
    whole = mesh()
    half = terrane.TensorMesh(whole.easting[whole.easting >= 0], whole.northing, whole.up)
    near, mirrored, far = [9, 1, -3], [-9, 1, -3], [21, -2, -1]
    options = {"potential": "total", "tolerance": 1e-12}
    both = forward(whole, 0.02, [near, mirrored, far], [[0, -1, 2, -1], [1, -1, 2, -1]], boundary="grounded", **options)
    sides = {side: "grounded" for side in ("east", "south", "north", "bottom")}
    one = forward(half, 0.02, [near, far], [[0, -1, 1, -1]], boundary={"west": "insulated", **sides}, **options)
    assert one["resistance"][0] == pytest.approx(both["resistance"].sum(), rel=1e-9)
    with pytest.raises(terrane.InputError, match="far away"):
        forward(half, 0.02, [near, far], [[0, -1, 1, -1]], boundary="insulated")
    with pytest.raises(terrane.InputError, match="(?s)boundary.*mixed, grounded, insulated"):
        forward(half, 0.02, [near, far], [[0, -1, 1, -1]], boundary={"west": "open"})


def test_rock_may_conduct_by_direction():
    sigma = {"east": 0.04, "north": 0.01, "up": 0.02}
    electrodes = np.array([[0.5, 0.3, 0], [5, 4, -6.0]])
    data = forward(mesh(), sigma, electrodes, [[0, -1, 1, -1]])
    apart = electrodes[1] - electrodes[0]
    r = np.sqrt(sum(x**2 / s for x, s in zip(apart, sigma.values())))
    assert data["resistance"][0] == pytest.approx(1 / (2 * np.pi * np.sqrt(0.04 * 0.01 * 0.02) * r), rel=1e-6)
    line = terrane.electric.Line([-18, 0.5], electrodes=4, spacing=12, array="wenner", levels=1)
    by_axis = {f"resistivity_{axis}": 1 / value for axis, value in sigma.items()}
    cells = mesh()
    ground = terrane.TensorMesh(cells.easting, cells.northing, cells.up, **by_axis)
    result = terrane.electric.Simulation(ground, line, boundary={"top": "insulated", "south": "mixed"}).run()
    # Along a line east only what lies across it counts.
    assert result.values("apparent_resistivity").item() == pytest.approx(1 / np.sqrt(0.01 * 0.02), rel=1e-3)
    with pytest.raises(terrane.InputError, match="no 'up'"):
        forward(mesh(), {"east": 1.0, "north": 1.0}, electrodes, [[0, -1, 1, -1]])


def test_arrays_between_two_holes_see_a_homogeneous_earth():
    cells = mesh()
    holes = terrane.electric.Boreholes([-6.2, 0.3, -3], [6.1, 0.4, -3], electrodes=4, spacing=4, levels=2)
    result = terrane.electric.Simulation(terrane.TensorMesh(cells.easting, cells.northing, cells.up, resistivity=50.0),
                                         holes).run()
    assert result.values("apparent_resistivity") == pytest.approx([50.0] * 10, rel=1e-6)


def test_what_is_wrong_is_named():
    with pytest.raises(terrane.InputError, match="hangs in the air"):
        ground = np.ones(mesh().shape)
        ground[-2:] = 0
        forward(mesh(), 0.01, ELECTRODES, ARRAYS, ground=ground)
    with pytest.raises(terrane.InputError, match="datum"):
        Sensitivity(mesh(), 0.01, ELECTRODES, ARRAYS, datum="voltage")
    with pytest.raises(terrane.ShapeError, match="arrays"):
        forward(mesh(), 0.01, ELECTRODES, [[0, 1, 2]])


def simpeg_line(discretize, dc):
    """A mesh of discretize under a Wenner line of SimPEG."""
    core, pad = [(4.0, 14)], [(4.0, 5, 1.6)]
    grow = [(4.0, 5, -1.6)]
    mesh = discretize.TensorMesh([grow + core + pad, grow + core + pad, grow + [(4.0, 6)]], x0="CCN")
    sources = []
    for a, m in ((-24.0, -8.0), (-16.0, -8.0)):
        receiver = dc.receivers.Dipole(np.array([[m, 0.0, 0.0]]), np.array([[-m, 0.0, 0.0]]))
        sources.append(dc.sources.Dipole([receiver], np.array([a, 0.0, 0.0]), np.array([-a, 0.0, 0.0])))
    pole = dc.receivers.Pole(np.array([[8.0, 0.0, 0.0], [20.0, 0.0, 0.0]]))
    sources.append(dc.sources.Pole([pole], np.array([-8.0, 0.0, 0.0]), current=2.0))
    return mesh, dc.survey.Survey(sources)


def layered(survey, upper, lower, thickness):
    """Voltages over two layers by images."""
    k, n = (lower - upper) / (lower + upper), np.arange(1, 400)

    def potential(p, q):
        r = np.linalg.norm(np.ravel(p) - np.ravel(q))
        return upper / (2 * np.pi) * (1 / r + 2 * np.sum(k**n / np.hypot(r, 2 * n * thickness)))

    data = []
    for source in survey.source_list:
        ends = list(np.atleast_2d(source.location))
        current = float(np.ravel(source.current)[0])
        for receiver in source.receiver_list:
            pairs = zip(receiver.locations_m, receiver.locations_n) if hasattr(receiver, "locations_m") else \
                ((p,) for p in receiver.locations)
            data += [current * sum(s * t * potential(e, p) for e, s in zip(ends, (1, -1))
                                   for p, t in zip(pair, (1, -1))) for pair in pairs]
    return np.array(data)


def test_simpegs_direct_current_with_one_changed_import():
    discretize = pytest.importorskip("discretize")
    pytest.importorskip("simpeg")
    from simpeg import maps
    from simpeg.electromagnetics.static import resistivity as dc

    mesh, survey = simpeg_line(discretize, dc)
    sigma = np.where(mesh.cell_centers[:, 2] > -8, 0.01, 0.05)
    m = np.log(sigma)
    theirs = dc.Simulation3DNodal(mesh, survey=survey, sigmaMap=maps.ExpMap(mesh))
    ours = terrane.compat.Simulation3DNodal(mesh, survey=survey, sigmaMap=maps.ExpMap(mesh))
    # SimPEG's voltages are off by what two cells leave between electrodes, and so are its of a homogeneous earth.
    alike = np.full(m.size, np.log(0.01))
    assert ours.dpred(m) == pytest.approx(layered(survey, 100, 20, 8), rel=0.06)
    assert ours.dpred(m) / ours.dpred(alike) == pytest.approx(theirs.dpred(m) / theirs.dpred(alike), rel=0.06)
    rng = np.random.default_rng(3)
    v, w = rng.normal(size=m.size), rng.normal(size=4)
    assert w @ ours.Jvec(m, v) == pytest.approx(v @ ours.Jtvec(m, w), rel=1e-10)
    assert np.linalg.norm(ours.getJ(m) - theirs.getJ(m)) < 0.3 * np.linalg.norm(theirs.getJ(m))
    t = 1e-4
    slope = (ours.dpred(m + t * v) - ours.dpred(m - t * v)) / (2 * t)
    assert ours.Jvec(m, v) == pytest.approx(slope, rel=1e-5, abs=1e-8)
    resistive = terrane.compat.Simulation3DNodal(mesh, survey=survey, rhoMap=maps.ExpMap(mesh))
    assert resistive.dpred(-m) == pytest.approx(ours.dpred(m), rel=1e-9)
    assert resistive.Jvec(-m, v) == pytest.approx(-ours.Jvec(m, v), rel=1e-6)


@pytest.mark.parametrize("source, receiver, message", [
    ({"location": np.eye(3), "current": [1, 1, -2]}, {}, "3 electrodes"),
    ({"location": np.eye(3)[:2], "current": [1, -2]}, {}, "2 electrodes"),
    ({"location": np.eye(3)[:2], "current": [1]}, {"projField": "e", "orientation": "x"}, "electric fields"),
])
def test_the_simpeg_simulation_refuses_what_it_would_leave_out(source, receiver, message):
    discretize = pytest.importorskip("discretize")
    mesh = discretize.TensorMesh([8, 8, 8], x0="CCN")
    recorded = SimpleNamespace(**{"locations": [[0.1, 0, 0]], "data_type": "volt", **receiver})
    survey = SimpleNamespace(source_list=[SimpleNamespace(receiver_list=[recorded], **source)])
    with pytest.raises(terrane.UnsupportedError, match=message):
        terrane.compat.Simulation3DNodal(mesh, survey=survey, sigma=0.01).dpred()


def test_the_simpeg_simulation_says_what_it_lacks():
    with pytest.raises(terrane.UnsupportedError, match="bc_type"):
        terrane.compat.Simulation3DNodal(None, bc_type="Periodic")
    with pytest.raises(terrane.InputError, match="nonsense"):
        terrane.compat.Simulation3DNodal(None, nonsense=1)


def test_plain_functions_warn_as_the_command_does():
    near = np.array([[-60, 0.5, 0], [-50, 0.5, 0], [50, 0.5, 0], [60, 0.5, 0]], float)
    for call in (forward, Sensitivity):
        with pytest.warns(RuntimeWarning, match="come within .* of a wall of the mesh"):
            call(mesh(), 0.02, near, [[0, 3, 1, 2]])
    close = np.array([[-3, 0.5, 0], [-2, 0.5, 0], [2, 0.5, 0], [3, 0.5, 0]], float)
    with pytest.warns(RuntimeWarning, match="are in cells of 4 m"):
        forward(mesh(), 0.02, close, [[0, 3, 1, 2]])
