"""What emg3d's own tests of its solver and its simulations (v1.9) rely on, as facts.

docs/do/drop_in.md lists which of those tests do not apply.
"""

import numpy as np
import pytest

real = pytest.importorskip("emg3d")
pytest.importorskip("xarray")

SOURCES, FREQUENCIES = ("TxED-1", "TxMD-2", "TxEW-3"), ("f-1", "f-2")


@pytest.fixture(scope="module")
def survey():
    sources = real.surveys.txrx_lists_to_dict([
        real.TxElectricDipole((0, 300, -250, 0, 0)), real.TxMagneticDipole((0, -200, -250, 90, 0)),
        real.TxElectricWire(([0, 190, -250], [-20, 200, -260], [20, 310, -250]))])
    places = np.arange(4) * 150.0, 0, -300, 0, 0
    receivers = real.surveys.txrx_lists_to_dict([
        real.surveys.txrx_coordinates_to_dict(real.RxElectricPoint, places),
        real.surveys.txrx_coordinates_to_dict(real.RxMagneticPoint, places)])
    return real.Survey(sources, receivers, (1.0, 2.0), name="lines", noise_floor=1e-15, relative_error=0.05)


@pytest.fixture(scope="module")
def model():
    widths = 100 * 1.4 ** np.array([max(3 - n, n - 12, 0) for n in range(16)])
    grid = real.TensorMesh([widths, widths, widths], origin=(-widths.sum() / 2,) * 2 + (-1.3 * widths.sum() / 2,))
    resistivity = np.full(grid.shape_cells, 10.0)
    resistivity[6:9, 6:9, 4:7] = 1.0
    return real.Model(grid, resistivity, property_z=2 * resistivity, mapping="Resistivity")


OPTIONS = dict(gridding="same", max_workers=1, receiver_interpolation="linear", verb=-1, tqdm_opts=False,
               solver_opts={"tol": 1e-8, "tol_gradient": 1e-8, "verb": -1})


@pytest.fixture(scope="module")
def simulation(survey, model):
    from terrane.compat import emg3d

    made = emg3d.Simulation(survey, model, name="all", **OPTIONS)
    made.get_efield("TxED-1", "f-1")  # one on its own, then all
    made.compute(observed=True, min_offset=310)
    return made


def test_fields_of_a_simulation_are_those_of_the_solver(simulation, survey, model):
    from terrane.compat import emg3d

    for source in SOURCES:
        sent = real.get_source_field(model.grid, survey.sources[source], 2.0)
        field, info = emg3d.solve(model, sent, return_info=True, tol=simulation.tol_forward, verb=-1)
        assert simulation.get_efield(source, "f-2") == field and simulation.get_efield(source, 2.0) == field
        assert simulation.get_hfield(source, "f-2") == real.get_magnetic_field(model, field)
        told = simulation.get_efield_info(source, 2.0)
        assert told["exit"] == info["exit"] == 0 and told["abs_error"] == info["abs_error"]
        # By emg3d's own equation.
        left = real.solver.residual(real.models.VolumeModel(model, sent), sent, field)
        assert np.linalg.norm(left.field) <= 1.001e-8 * np.linalg.norm(sent.field)
    own = real.solve(model, sent, tol=1e-8, verb=-1, return_info=True)[1]
    assert set(own) == set(info)


def test_a_field_that_is_gone_is_computed_again_for_the_magnetic_one(simulation):
    again = simulation.copy(what="all")
    again._dict_efield["TxEW-3"]["f-1"] = None
    assert again.get_hfield("TxEW-3", "f-1") == simulation.get_hfield("TxEW-3", "f-1")
    assert again.get_efield("TxEW-3", 1.0) == simulation.get_efield("TxEW-3", 1.0)


def test_responses_are_fields_at_receivers_and_near_ones_have_none(simulation, survey):
    for n, source in enumerate(SOURCES):
        at = survey.receivers.values()
        electric = simulation.get_efield(source, "f-1").get_receiver(at, "linear")
        magnetic = simulation.get_hfield(source, "f-1").get_receiver(at, "linear")
        data = simulation.data.synthetic.data[n, :, 0]
        np.testing.assert_allclose(data[:4], electric[:4], rtol=1e-12)
        np.testing.assert_allclose(data[4:], magnetic[4:], rtol=1e-12)
    observed = simulation.data.observed.data
    near = np.isnan(observed)
    assert near[0, 0].all() and near[0, 4].all() and not near[0, 3].any()
    again = simulation.copy(what="all")
    again.compute(observed=True, add_noise=False)
    np.testing.assert_array_equal(again.data.observed.data, simulation.data.synthetic.data)


def test_data_are_those_of_emg3d_for_every_kind_of_source_and_receiver(simulation, survey, model):
    other = real.Simulation(survey, model, **OPTIONS)
    other.compute()
    ours, theirs = simulation.data.synthetic.data, other.data.synthetic.data
    for n in range(3):
        for part in (slice(0, 4), slice(4, 8)):
            np.testing.assert_allclose(ours[n, part], theirs[n, part], atol=1e-6 * np.abs(theirs[n, part]).max())


def test_grids_are_given_as_one_or_as_a_dictionary(simulation, survey, model):
    from terrane.compat import emg3d

    grids = {source: {f: model.grid for f in FREQUENCIES} for source in SOURCES}
    for gridding, given in (("dict", grids), ("input", model.grid)):
        made = emg3d.Simulation(survey, model, **{**OPTIONS, "gridding": gridding}, gridding_opts=given)
        assert made.get_grid("TxEW-3", 1.0) == model.grid and made.copy().get_grid("TxMD-2", 2.0) == model.grid
        assert made.get_efield("TxEW-3", 1.0) == simulation.get_efield("TxEW-3", 1.0)


@pytest.mark.parametrize("gridding", ["single", "frequency", "source", "both"])
def test_data_on_emg3ds_own_grids_are_those_of_emg3d(gridding, survey, model):
    from terrane.compat import emg3d

    few = survey.select(sources=["TxED-1", "TxEW-3"], receivers=["RxEP-3", "RxEP-4"])
    grids, found = [], []
    for kind in (emg3d.Simulation, real.Simulation):
        made = kind(few, model, **{**OPTIONS, "gridding": gridding},
                    gridding_opts={"cell_numbers": [16, 32], "min_width_limits": (100, 150), "lambda_factor": 0.3,
                                   "verb": 0})
        grids.append([made.get_grid(s, f) for s in few.sources for f in few.frequencies])
        made.compute()
        found.append(made.data.synthetic.data)
    assert grids[0] == grids[1]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_the_gradient_is_the_slope_of_the_misfit_and_has_the_shape_of_the_model(survey, model):
    from terrane.compat import emg3d

    few = survey.select(sources=["TxED-1"], receivers=["RxEP-3", "RxEP-4"], frequencies=["f-1"])
    made = emg3d.Simulation(few, model, **OPTIONS)
    made.data["observed"] = made.data["synthetic"].copy()
    made.data["observed"][...] = 1e-10
    made.compute()
    gradient, misfit = made.gradient, made.misfit
    assert gradient.shape[-3:] == model.shape
    weighted = made.data.residual.data * made.data.weights.data
    np.testing.assert_allclose(made.jtvec(weighted), gradient, rtol=1e-6, atol=1e-9 * np.abs(gradient).max())
    # A block a little less resistive, along all axes.
    step = np.zeros(model.shape)
    step[7:9, 8, 5] = 1e-4
    changed = real.Model(model.grid, model.property_x + step, property_z=model.property_z + step, mapping="Resistivity")
    after = emg3d.Simulation(few, changed, **OPTIONS)
    after.data["observed"] = made.data["observed"].copy()
    after.compute()
    slope = (after.misfit - misfit).item()
    assert slope == pytest.approx(float(np.sum(gradient * step)), rel=2e-2)


def test_jvec_and_jtvec_are_transposes(survey, model):
    from terrane.compat import emg3d

    few = survey.select(sources=["TxED-1"], receivers=["RxEP-3", "RxEP-4"], frequencies=["f-1"])
    isotropic = real.Model(model.grid, model.property_x, mapping="Resistivity")
    made = emg3d.Simulation(few, isotropic, **OPTIONS)
    made.data["observed"] = made.data["synthetic"].copy()
    made.data["observed"][...] = 1e-10
    made.compute()
    random = np.random.default_rng(3)
    v = random.standard_normal(isotropic.shape)
    w = random.standard_normal(made.data.observed.shape) + 1j * random.standard_normal(made.data.observed.shape)
    there = made.jvec(v)
    assert there.shape == made.data.observed.shape
    assert np.sum(made.jtvec(w) * v) == pytest.approx(np.sum(there * w.conj()).real, rel=1e-5)


def test_copies_and_files_keep_what_was_computed(simulation, tmp_path):
    from terrane.compat import emg3d

    again = emg3d.Simulation.from_dict(simulation.to_dict("all"))
    assert type(again) is emg3d.Simulation and again.get_efield("TxED-1", 1.0) == simulation.get_efield("TxED-1", 1.0)
    simulation.to_file(str(tmp_path / "all.npz"), what="all", verb=0)
    read, told = emg3d.Simulation.from_file(str(tmp_path / "all.npz"), verb=-1)
    assert type(read) is emg3d.Simulation and "Data loaded from" in told
    assert (read.name, read.gridding, read.max_workers) == (simulation.name, "same", 1)
    again.clean("all")
    assert again._dict_efield["TxMD-2"]["f-1"] is None
    with pytest.raises(TypeError, match="nothing"):
        again.copy("nothing")
    with pytest.raises(KeyError, match="survey"):
        emg3d.Simulation.from_dict({k: v for k, v in simulation.to_dict("all").items() if k != "survey"})


def test_what_emg3d_refuses_is_refused(survey, model):
    from terrane.compat import emg3d

    with pytest.raises(TypeError, match="Unexpected"):
        emg3d.Simulation(survey, model, unknown=True)
    with pytest.raises(TypeError, match="gridding_opts"):
        emg3d.Simulation(survey, model, gridding="same", gridding_opts={"bummer": True})
    sent = real.get_source_field(model.grid, survey.sources["TxED-1"], 1.0)
    with pytest.raises(ValueError, match="same dtype"):
        emg3d.solve(model, sent, efield=real.Field(model.grid, dtype=float))


def test_half_of_the_iterations_twice_reach_what_a_field_to_begin_with_allows(survey, model):
    from terrane.compat import emg3d

    sent = real.get_source_field(model.grid, survey.sources["TxED-1"], 1.0)
    field, first = emg3d.solve(model, sent, maxit=2, return_info=True, verb=-1)
    second = emg3d.solve(model, sent, efield=field, maxit=2, return_info=True, verb=-1)
    assert first["exit"] == second["exit"] == 1 and first["it_ssl"] == second["it_ssl"] == 2
    assert second["rel_error"] < first["rel_error"]
    left = real.solver.residual(real.models.VolumeModel(model, sent), sent, field)
    assert np.linalg.norm(left.field) == pytest.approx(second["abs_error"], rel=1e-5)
