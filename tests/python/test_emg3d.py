"""terrane.compat.emg3d beside emg3d itself."""

import numpy as np
import pytest

real = pytest.importorskip("emg3d")


def model_and_source(frequency=1.0, triaxial=False, magnetic=False):
    out = np.array([max(4 - n, n - 11, 0) for n in range(16)])
    widths = 100 * 1.4**out
    grid = real.TensorMesh([widths, widths, widths], origin=(-np.sum(widths) / 2,) * 3)
    z = np.broadcast_to((grid.nodes_z[1:] + grid.nodes_z[:-1]) / 2, grid.shape_cells)
    resistivity = np.where(z > 0, 1e8, 100.0)
    resistivity[6:9, 5:8, 4:7] = 2.0
    more = {"property_z": 2 * resistivity, "property_y": 1.5 * resistivity} if triaxial else {}
    model = real.Model(grid, property_x=resistivity, mapping="Resistivity", **more)
    source = real.TxMagneticDipole((20, 30, -250, 25, 10)) if magnetic else real.TxElectricDipole((20, 30, -250, 25, 10))
    return model, real.get_source_field(grid, source, frequency)


@pytest.mark.parametrize("frequency, triaxial, magnetic", [(1.0, False, False), (30.0, True, False), (5.0, False, True)])
def test_solve_finds_the_field_that_emg3d_finds(frequency, triaxial, magnetic):
    from terrane.compat import emg3d

    model, sfield = model_and_source(frequency, triaxial, magnetic)
    field, info = emg3d.solve(model, sfield, tol=1e-10, return_info=True)
    expected = real.solve(model, sfield, tol=1e-10, verb=0)
    assert isinstance(field, real.Field) and info["exit"] == 0 and info["rel_error"] <= 1e-10
    below = field.grid.nodes_z[1:-1] < 0
    for name in ("fx", "fy"):
        ours, theirs = (getattr(f, name)[:, :, 1:-1][:, :, below] for f in (field, expected))
        assert np.linalg.norm(ours - theirs) < 1e-6 * np.linalg.norm(theirs)
    # And what follows from it: H, and responses.
    receivers = (np.array([200.0, -150]), np.array([100.0, 250]), np.array([-60.0, -60]), 0, 0)
    for one, other in ((field, expected), (emg3d.get_magnetic_field(model, field), real.get_magnetic_field(model, expected))):
        np.testing.assert_allclose(one.get_receiver(receivers), other.get_receiver(receivers), rtol=1e-5)


def test_a_field_that_is_given_is_written_into():
    from terrane.compat import emg3d

    model, sfield = model_and_source()
    field = real.Field(model.grid, frequency=1.0)
    info = emg3d.solve(model, sfield, efield=field, return_info=True)
    assert info["exit"] == 0 and np.abs(field.field).max() > 0
    assert emg3d.solve(model, sfield, efield=field) is None


def test_what_terrane_does_not_compute_is_refused():
    from terrane.compat import emg3d
    from terrane.errors import UnsupportedError

    model, _ = model_and_source()
    laplace = real.get_source_field(model.grid, (0, 0, -250, 0, 0), -1.0)
    with pytest.raises(UnsupportedError, match="Laplace"):
        emg3d.solve(model, laplace)
    magnetic = real.Model(model.grid, 1.0, mu_r=2.0)
    with pytest.raises(UnsupportedError, match="mu_r"):
        emg3d.solve(magnetic, real.get_source_field(model.grid, (0, 0, -250, 0, 0), 1.0))
    with pytest.raises(TypeError, match="tolerance"):
        emg3d.solve(model, model_and_source()[1], tolerance=1)


def test_simulations_have_the_data_and_the_gradient_of_emg3d():
    from terrane.compat import emg3d

    pytest.importorskip("xarray")
    model, _ = model_and_source()
    survey = emg3d.surveys.Survey(
        sources=emg3d.TxElectricDipole((20, 30, -250, 25, 10)), frequencies=1.0, noise_floor=1e-15, relative_error=0.05,
        receivers=emg3d.surveys.txrx_coordinates_to_dict(
            emg3d.RxElectricPoint, ([200, -150, 300], [100, 250, -50], -60, 0, 0)))
    found = []
    for kind in (emg3d.Simulation, real.Simulation):
        simulation = kind(survey, model, gridding="same", max_workers=1, receiver_interpolation="linear",
                          solver_opts={"tol": 1e-9, "tol_gradient": 1e-9}, verb=0, tqdm_opts=False)
        simulation.data["observed"][...] = 1e-12
        simulation.compute()
        found.append((simulation.data.synthetic.values.copy(), simulation.gradient))
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-5)
    assert np.linalg.norm(found[0][1] - found[1][1]) < 1e-4 * np.linalg.norm(found[1][1])


def test_other_names_are_emg3ds_own():
    from terrane.compat import emg3d

    assert emg3d.TensorMesh is real.TensorMesh and emg3d.Model is real.Model
    assert issubclass(emg3d.Simulation, real.Simulation)
    with pytest.raises(AttributeError):
        emg3d.no_such_name


def test_a_field_to_begin_with_is_improved_and_one_that_is_good_is_left(capsys):
    from terrane.compat import emg3d

    model, sfield = model_and_source()
    field, first = emg3d.solve(model, sfield, tol=1e-3, return_info=True, verb=-1)
    info = emg3d.solve(model, sfield, efield=field, tol=1e-9, return_info=True, verb=-1)
    assert info["exit"] == 0 and info["rel_error"] <= 1e-9 and first["rel_error"] > 1e-9
    whole = emg3d.solve(model, sfield, tol=1e-9, verb=-1)
    assert np.linalg.norm(field.field - whole.field) < 1e-6 * np.linalg.norm(whole.field)
    before = field.field.copy()
    assert emg3d.solve(model, sfield, efield=field, tol=1e-8, verb=3) is None
    assert "NOTHING DONE" in capsys.readouterr().out and np.array_equal(field.field, before)
    none = real.Field(model.grid, frequency=1.0)
    assert not emg3d.solve(model, none, verb=3).field.any()
    assert "RETURN ZERO E-FIELD" in capsys.readouterr().out
    few = emg3d.solve(model, sfield, maxit=1, tol=1e-12, return_info=True, verb=0)[1]
    assert few["exit"] == 1 and few["exit_message"] == "MAX. ITERATION REACHED, NOT CONVERGED"
    assert "* WARNING" in capsys.readouterr().out
    with pytest.raises(ValueError, match="missing frequency"):
        emg3d.solve(model, real.Field(model.grid))


def test_modules_of_emg3d_have_our_solver(tmp_path):
    from terrane.compat import emg3d
    from terrane.compat.emg3d import simulations, solver

    pytest.importorskip("xarray")
    assert solver.solve is emg3d.solve and simulations.Simulation is emg3d.Simulation
    assert solver.MGParameters is real.solver.MGParameters
    model, _ = model_and_source()
    survey = emg3d.surveys.Survey(sources=emg3d.TxElectricDipole((20, 30, -250, 25, 10)), frequencies=1.0,
                                  receivers=emg3d.RxElectricPoint((200, 100, -60, 0, 0)))
    simulation = simulations.Simulation(survey, model, gridding="same", verb=-1, tqdm_opts=False)
    field = simulation.get_efield("TxED-1", "f-1")
    assert simulation.get_efield_info("TxED-1", "f-1")["log"].startswith(":: terrane:")
    assert field == solver.solve_source(model, survey.sources["TxED-1"], 1.0, tol=simulation.tol_forward, verb=-1)
    simulation.to_file(str(tmp_path / "s.npz"), verb=0)
    again = simulations.Simulation.from_file(str(tmp_path / "s.npz"), verb=0)
    assert type(again) is emg3d.Simulation and again.get_efield("TxED-1", "f-1") == field


def planned_faces(frequency, source, receivers, settings):
    """Faces of the mesh that Terrane plans in rock of 1 ohm m under air of as much."""
    import terrane

    rock = terrane.TensorMesh(*[[-2e5, 0, 2e5]] * 3, conductivity=1.0)
    simulation = terrane.electromagnetic.Simulation(
        rock, terrane.Survey(*np.array(receivers, float).T), terrane.electromagnetic.Dipole(source), [frequency],
        gridding="single", components=["e_e"], volume=["edges"], most_iterations=1, settings=settings)
    result = simulation.run()
    return [np.asarray(result[f"face_{axis}"]) for axis in ("easting", "northing", "up")]


@pytest.mark.parametrize("stretching", [[1.0, 1.3], [1.0, 1.5], [1.04, 1.4]])
def test_planned_meshes_have_the_numbers_of_cells_of_construct_mesh(stretching):
    """Across; upright cells are half as high as emg3d's, and so are more."""
    pytest.importorskip("terrane")
    domain, numbers = [[-1000, 1500], [-800, 800], [-1500, -500]], real.meshes.good_mg_cell_nr()
    common = {"stretching": stretching, "min_width_pps": 4}
    ours = planned_faces(0.5, [30, 0, -950], [[1480, 300, -1000]],
                         {**common, "center": [30, 0, -950], "domain": domain, "cell_numbers": numbers.tolist()})
    mesh = real.construct_mesh(0.5, 1.0, center=(30, 0, -950), cell_numbers=numbers, center_on_edge=True,
                               domain=tuple(domain), **common)
    plain = planned_faces(0.5, [30, 0, -950], [[1480, 300, -1000]],
                          {**common, "center": [30, 0, -950], "domain": domain})
    for axis, (faces, other, least) in enumerate(zip(ours, (mesh.nodes_x, mesh.nodes_y, mesh.nodes_z), plain)):
        assert faces.size - 1 in numbers and faces.size >= least.size
        assert faces[0] <= least[0] + 1e-6 and faces[-1] >= least[-1] - 1e-6
        if axis < 2:
            assert faces.size == other.size


def test_planned_meshes_have_the_domains_cells_and_walls_of_construct_mesh():
    """emg3d fills up to one of its numbers of cells, so that its walls are farther; its cells upright are as wide."""
    pytest.importorskip("terrane")
    skin = 503.292 / np.sqrt(0.5)
    common = {"center": [30, 0, -950], "stretching": [1.0, 1.4], "min_width_pps": 4}
    domain = [[-1000, 1500], [-800, 800], [-1500, -500]]
    for given, theirs in (
            ({"domain": domain}, {"domain": tuple(domain)}),
            ({"distance": [[500, 900], [400, 400], [600, 300]], "center_on_edge": False},
             {"distance": ([500, 900], [400, 400], [600, 300]), "center_on_edge": False}),
            ({"domain": domain, "properties": [1, 2, 4], "max_buffer": 6000}, {"domain": tuple(domain), "max_buffer": 6000}),
            ({"domain": domain, "lambda_from_center": True}, {"domain": tuple(domain), "lambda_from_center": True}),
            ({"domain": domain, "properties": [0, 0], "mapping": "LgConductivity", "lambda_factor": 0.7},
             {"domain": tuple(domain), "lambda_factor": 0.7}),
            ({"domain": domain, "seasurface": 0}, {"domain": tuple(domain), "seasurface": 0.0}),
            ({"domain": domain, "vector_up": [-1500, -1300, -1100, -1000, -900, -700, -500]},
             {"domain": tuple(domain), "vector": (None, None, np.array([-1500., -1300, -1100, -1000, -900, -700, -500]))}),
            ({"domain": domain, "min_width_limits": 150}, {"domain": tuple(domain), "min_width_limits": 150})):
        ours = planned_faces(0.5, [30, 0, -950], [[1480, 300, -1000]], {**common, **given})
        options = {"center_on_edge": True, "stretching": [1.0, 1.4], "min_width_pps": 4, **theirs}
        mesh = real.construct_mesh(0.5, given.get("properties", 1.0) if "mapping" not in given else 1.0,
                                   center=(30, 0, -950), cell_numbers=np.arange(8, 200), **options)
        for axis, (mine, other) in enumerate(zip(ours, (mesh.nodes_x, mesh.nodes_y, mesh.nodes_z))):
            if "domain" in theirs:
                low, high = domain[axis]
            else:
                low, high = (np.array(common["center"])[axis] + np.array([-1, 1]) * np.array(given["distance"][axis]))
            if axis == 2 and "seasurface" in given:
                high = 0
            # Walls: theirs are the first faces beyond what is asked for, ours are there.
            for side, beyond in ((0, -1), (-1, 1)):
                assert beyond * (other[side] - mine[side]) > -1, (given, axis, side)
                assert beyond * (other[side] - mine[side]) < 0.45 * abs(mine[side] - (low, high)[side]) + 400, (given, axis)
            cells = np.diff(mine[(mine > low - 1) & (mine < high + 1)])
            if axis == 2 and "vector_up" in given:
                for face in given["vector_up"]:
                    assert np.abs(mine - face).min() < 1e-6 and np.abs(other - face).min() < 1e-6
                continue
            width = 150 if "min_width_limits" in given else skin / 4
            np.testing.assert_allclose(np.diff(other).min(), width, rtol=0.31)
            np.testing.assert_allclose(cells.mean(), width / (2 if axis == 2 else 1), rtol=0.2)
            center = common["center"][axis]
            if axis == 2 and "seasurface" in given:
                assert np.abs(mine).min() < 1e-6 and np.abs(other).min() < 1e-6
            elif given.get("center_on_edge", True):
                assert np.abs(mine - center).min() < 1e-6 and np.abs(other - center).min() < 1e-6
            else:
                assert np.abs(mine - center).min() > 0.3 * cells.min() and np.abs(other - center).min() > 0.3 * width
