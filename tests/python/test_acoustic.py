"""Sound waves from Python: operators, gathers in files of other programs, deepwave's call."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import terrane

pytest.importorskip("xarray")

JOB = """
[mesh]
box = [0, 400, -5, 5, -300, 0]
shape = [40, 1, 30]
[[model.body]]
kind = "layer"
bottom = -300
top = 0
velocity_p = 2000
[[model.body]]
kind = "layer"
bottom = -300
top = -150
velocity_p = 2600
[survey]
kind = "lines"
start = [50, 0]
end = [350, 0]
spacing = 50
height = -10
[source]
at = [[100, 0, -10], [300, 0, -10]]
frequency = "18 Hz"
[simulation]
physics = "acoustic"
end = "0.4 s"
sample = "4 ms"
[output]
files = ["gathers.segy"]
"""


@pytest.fixture
def job(tmp_path):
    path = tmp_path / "job.toml"
    path.write_text(JOB)
    return path


@pytest.fixture
def waves(job):
    return terrane.acoustic.Operators(job)


def test_the_transpose_of_the_jacobian_is_exact(waves, random):
    pytest.importorskip("scipy")
    for parameter in ("m", "velocity", "slowness"):
        jacobian = waves.jacobian(parameter)
        x, r = random.standard_normal(jacobian.shape[1]), random.standard_normal(jacobian.shape[0])
        assert (jacobian @ x) @ r == pytest.approx(x @ (jacobian.T @ r), rel=1e-11)


def test_the_gradient_by_velocity_is_the_slope_of_the_misfit(waves, random):
    observed = waves.with_velocity(waves.velocity * 1.02).run()
    value, slope = waves.misfit(observed, "velocity")
    change = random.standard_normal(waves.velocity.shape)
    # Layers are made of the rock at the sides, which is no unknown.
    change[[0, -1]], change[:, :, [0, -1]] = 0, 0
    up, down = (waves.with_velocity(waves.velocity + h * change).misfit(observed)[0] for h in (0.5, -0.5))
    assert up - down == pytest.approx((slope * change).sum(), rel=1e-3)
    assert value > 0


def test_least_squares_migration_explains_the_data_and_is_nearer_to_the_rock_than_one_image(job):
    linalg = pytest.importorskip("scipy.sparse.linalg")
    waves = terrane.acoustic.Operators(job, precision="single")
    waves = waves.with_velocity(np.full(waves.velocity.shape, 2000.0))
    rock = np.zeros(waves.velocity.shape)
    rock[8:11, 0, 12:28] = 2e-8
    jacobian = waves.jacobian()
    data = jacobian @ rock.ravel()
    image = linalg.lsqr(jacobian, data, iter_lim=6)[0]
    assert np.linalg.norm(jacobian @ image - data) < 0.2 * np.linalg.norm(data)  # 0.14
    near, once = (np.corrcoef(x, rock.ravel())[0, 1] for x in (image, jacobian.T @ data))
    assert once < 0.5 < 0.57 < near  # 0.45 and 0.6


def test_gathers_of_a_run_are_those_of_the_job(waves, job):
    gathers = waves.run()
    assert gathers.pressure.dims == ("shot", "time", "receiver")
    from_job = terrane.run(job, write=False)["pressure"]
    every = round(0.004 / waves.step)
    np.testing.assert_allclose(from_job, gathers.pressure[:, ::every], atol=2e-5 * float(abs(gathers.pressure).max()))


def test_velocities_of_particles_are_recorded_written_and_inverted(job, tmp_path, random):
    pytest.importorskip("scipy")
    settings = {"simulation.record": ["velocity_up", "pressure"]}
    gathers = terrane.run(job, settings=settings, output=tmp_path).dataset
    assert list(gathers.data_vars) == ["velocity_up", "pressure"]
    assert gathers.velocity_up.attrs["units"] == "m/s"
    again = terrane.read(tmp_path / "gathers.segy")
    for name in gathers.data_vars:
        np.testing.assert_array_equal(again[name], gathers[name])
    waves = terrane.acoustic.Operators(job, settings=settings)
    assert waves.record == ["velocity_up", "pressure"]
    jacobian = waves.jacobian("velocity")
    x, r = random.standard_normal(jacobian.shape[1]), random.standard_normal(jacobian.shape[0])
    assert (jacobian @ x) @ r == pytest.approx(x @ (jacobian.T @ r), rel=1e-11)
    recorded = waves.run()
    assert waves.misfit(recorded)[0] == 0
    assert waves.misfit(np.stack([recorded[name] for name in waves.record], axis=2))[0] == 0  # as simulation.observed


def test_a_plan_asks_no_disk_for_checkpoints_that_only_the_command_writes(job):
    plan = terrane.check(job, settings={"output.checkpoint": "1 s"})
    assert plan["shots"] == 2 and "checkpoint_bytes" not in plan


def test_arrays_in_another_order_are_turned_or_refused_and_never_misread(waves):
    gathers = waves.run()
    turned = gathers.transpose("receiver", "time", "shot")
    assert waves.misfit(turned)[0] == 0 and waves.misfit(turned["pressure"])[0] == 0
    assert waves.misfit(np.asarray(gathers["pressure"]).ravel())[0] == 0
    with pytest.raises(terrane.ShapeError, match="Expected .shot, time, trace"):
        waves.misfit(np.asarray(turned["pressure"]))
    up, north, east = waves.velocity.shape
    with pytest.raises(terrane.ShapeError, match="Expected .up, north, east"):
        waves.with_velocity(waves.velocity.reshape(east, north, up))
    np.testing.assert_array_equal(waves.with_velocity(waves.velocity[:, 0]).velocity, waves.velocity)
    for call in (waves.misfit, waves.adjoint):
        with pytest.raises(terrane.InputError, match="holds nan"):
            call(gathers["pressure"] * np.nan)
    with pytest.raises(terrane.InputError, match="change: holds nan"):
        waves.born(waves.velocity * np.nan)


def test_operators_are_those_of_a_simulation_of_arrays():
    mesh = terrane.TensorMesh.regular([0, 400, -5, 5, -300, 0], shape=(40, 1, 30))
    mesh.velocity_p = 2000.0
    simulation = terrane.acoustic.Simulation(mesh, terrane.Survey([100.0, 300.0], 0.0, -20.0), [[200, 0, -200]],
                                             terrane.acoustic.Wavelet(18), end=0.1)
    waves = terrane.acoustic.Operators(simulation, precision="single")
    np.testing.assert_allclose(waves.run()["pressure"], simulation.run()["pressure"], rtol=1e-6)
    with pytest.raises(terrane.InputError, match="is not a job of acoustic waves"):
        terrane.acoustic.Operators({"mesh": {"box": [0, 1, 0, 1, -1, 0], "shape": [1, 1, 1]},
                                    "survey": {"kind": "list", "stations": [[0, 0, 1]]},
                                    "model": {"body": [{"kind": "box", "box": [0, 1, 0, 1, -1, 0], "density": 1}]},
                                    "simulation": {"physics": "gravity", "channels": ["g_u"]}})


def test_what_cannot_be_is_named(waves):
    def of(**other):
        given = {"spacing": 10, "sources": [[[200, 0, 200]]], "receivers": [[[100, 0, 380], [300, 0, 380]]],
                 "wavelet": np.exp(-((np.arange(120) - 60) / 18.0) ** 2), "sample_step": 0.001, "end": 0.1, **other}
        return terrane.acoustic.Operators.of(np.full((40, 1, 40), 2000.0), **given)

    assert of(record="pressure").shape[::2] == (1, 2)
    two = [[[200, 0, 200]], [[100, 0, 200]]]
    for other, message in (({"sides": {"left": "cpml"}}, "no side 'left'"), ({"spacing": [10, 10]}, "one, or three"),
                           ({"sources": two}, "those of 1 shots, sources of 2"),
                           ({"receivers": [np.zeros((0, 3))]}, "one or more"),
                           ({"sources": two, "receivers": [two[0], [[1, 0, 1], [2, 0, 2]]]}, "the same number")):
        with pytest.raises(terrane.Error, match=message):
            of(**other)
    for call, message in ((lambda: waves.snapshots(2), "Allowed: 0 to 1"), (lambda: waves.axis("x"), "easting"),
                          (lambda: waves.snapshots(0, every=0), "more than zero"),
                          (lambda: waves.snapshots(0, stride=0), "1 or more")):
        with pytest.raises(terrane.InputError, match=message):
            call()
    with pytest.raises(terrane.InputError, match="takes no work"):
        terrane.acoustic.run_shots({}, None)
    from concurrent.futures import ThreadPoolExecutor

    from terrane.compat import deepwave

    with ThreadPoolExecutor(1) as executor, pytest.raises(terrane.InputError, match="has no shots"):
        terrane.acoustic.run_shots({"simulation": {"physics": "gravity"}}, executor)
    rock, series = np.full((30, 30), 2000.0), np.ones((1, 1, 5))
    cells = np.array([[[10, 10]]])
    for other, message in (({"source_locations": cells + 0.5}, "whole numbers"), ({"dt": 0.0}, "dt: is 0"),
                           ({"pml_width": [1, 2, 3]}, "one, or 4"), ({"grid_spacing": [1, 2, 3]}, "one, or 2")):
        with pytest.raises(terrane.Error, match=message):
            deepwave.scalar(**{"v": rock, "grid_spacing": 10.0, "dt": 0.001, "source_amplitudes": series,
                               "source_locations": cells, "receiver_locations": cells, **other})


def waves_over(rock, flat=True, **other):
    """Two shots over rough rock of a kind, from arrays."""
    chance = np.random.default_rng(3)
    shape = (26, 1, 24) if flat else (20, 14, 18)
    values = {"variable_density": {"density": 2000 + 500 * chance.uniform(-1, 1, shape)},
              "vti": {"epsilon": 0.15 + 0.05 * chance.uniform(-1, 1, shape), "delta": 0.05},
              "tti": {"epsilon": 0.15 + 0.05 * chance.uniform(-1, 1, shape), "delta": 0.05, "tilt": 40,
                      "tilt_azimuth": chance.uniform(-180, 180, shape)}}.get(rock, {})
    y = 0 if flat else 63.1
    given = {"sources": [[[83.1, y, 92.7]], [[121, y, 140]]], "receivers": [[[131.9, y, 61.3], [40, y, 120]]] * 2,
             "wavelet": np.hanning(60), "sample_step": 0.001, "end": 0.12, "sides": {"top": "free_surface"},
             "record": ("pressure", "velocity_up"), **values, **other}
    return terrane.acoustic.Operators.of(2000 + 200 * chance.uniform(-1, 1, shape), 10, **given)


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("rock", ["constant_density", "variable_density", "vti", "tti"])
def test_operators_over_any_rock_have_an_exact_transpose(rock, flat):
    waves = waves_over(rock, flat)
    assert waves.equation == rock
    chance = np.random.default_rng(5)
    change, residual = chance.normal(size=waves.velocity.size), chance.normal(size=int(np.prod(waves.shape)))
    jacobian = waves.jacobian("velocity")
    forward = float((jacobian @ change) @ residual)
    assert forward == pytest.approx(float(change @ (jacobian.T @ residual)), rel=1e-11)
    assert forward != 0
    other = waves.with_velocity(waves.velocity + 1)
    assert other.equation == rock and other.step == waves.step


def test_operators_over_rock_that_is_the_same_in_words_are_those_of_less():
    plain = waves_over("constant_density").run()["pressure"]
    upright = waves_over("vti", epsilon=0.2, delta=0.1).run()["pressure"]
    axis = {"epsilon": 0.2, "delta": 0.1, "tilt_azimuth": 30}
    leaning = waves_over("tti", **axis, tilt=30).run()["pressure"]
    for same, rock, given, bound in ((plain, "constant_density", {"density": np.full((26, 1, 24), 1000.0)}, 1e-3),
                                     (leaning, "tti", {**axis, "tilt": 30 - 180}, 1e-12)):
        other = waves_over(rock, **given, step=float(same.time[1])).run()["pressure"]
        assert float(abs(other - same).max()) < bound * float(abs(same).max())
    assert float(abs(upright - plain.interp(time=upright.time)).max()) > 0.1 * float(abs(plain).max())


def test_operators_from_arrays_run_on_the_device_that_is_asked_for():
    here, there = (waves_over("vti", device=device).run()["pressure"] for device in ("cpu", "debug"))
    np.testing.assert_allclose(there, here, rtol=0, atol=1e-12 * float(abs(here).max()))
    for other, message in (({"device": "abacus"}, "abacus"), ({"epsilon": np.zeros(3)}, "epsilon: has shape"),
                           ({"density": np.full((26, 1, 24), 2000.0)}, "has an axis of symmetry"),
                           ({"epsilon": 0.0, "delta": 0.1}, "less than delta"), ({"tilt": np.inf}, "finite")):
        with pytest.raises(terrane.Error, match=message):
            waves_over("vti", **other)


def test_snapshots_hold_the_wave_and_make_a_movie(waves, tmp_path):
    shots = waves.snapshots(1, every=0.05, stride=2)
    assert shots.dims == ("time", "up", "northing", "easting")
    assert np.diff(shots.time) == pytest.approx(0.05, abs=waves.step)
    early = abs(shots.sel(time=0.1, method="nearest").isel(northing=0))
    assert abs(float(early.easting[early.max("up").argmax()]) - 300) < 150
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("PIL")
    terrane.plotting.movie(shots, tmp_path / "waves.gif", velocity=waves.velocity[::2, :, ::2])
    assert (tmp_path / "waves.gif").read_bytes()[:4] == b"GIF8"
    with pytest.raises(terrane.plotting.PlotError, match="allowed: .gif, .mp4"):
        terrane.plotting.movie(shots, tmp_path / "waves.avi")


def test_snapshots_of_a_volume_hold_what_receivers_hear_and_a_plane_of_them_is_a_movie(tmp_path):
    places = np.array([[70.0, 50.0, -90.0], [110.0, 80.0, -60.0]])
    sent = np.hanning(40)
    waves = terrane.acoustic.Operators.of(np.full((14, 12, 16), 2000.0), 10, sources=[[[80, 60, -70]]],
                                          receivers=[places], wavelet=sent, sample_step=0.002, end=0.12,
                                          first=(-130, 0, 0), exact_time=False, order=4)
    film = waves.snapshots(every=10 * waves.step, stride=1)
    assert film.shape[1:] == (14, 12, 16) and film.dtype == np.float32
    assert not film.isel(time=0).any() and film.isel(time=-1).any()
    recorded = waves.run()["pressure"].isel(shot=0)
    for n, (east, north, up) in enumerate(places):
        there = film.sel(easting=east, northing=north, up=up).values
        np.testing.assert_allclose(there, recorded.isel(receiver=n).values[::10][:len(there)], rtol=0,
                                   atol=1e-5 * float(abs(recorded).max()))
    plane = waves.snapshots(every=10 * waves.step, stride=2, box=[0, 100, 42, 42, -200, 0])
    np.testing.assert_array_equal(plane, film.isel(northing=[4], easting=slice(0, 11, 2), up=slice(0, 14, 2)))
    with pytest.raises(terrane.Error, match="no node of the mesh"):
        waves.snapshots(box=[500, 600, 0, 10, -10, 0])
    with pytest.raises(terrane.Error, match="west, east"):
        waves.snapshots(box=[500, 600])
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("PIL")
    terrane.plotting.movie(film, tmp_path / "plane.gif", velocity=waves.velocity, slice_at="up=-70")
    assert (tmp_path / "plane.gif").read_bytes()[:4] == b"GIF8"
    with pytest.raises(terrane.plotting.PlotError, match="reach from"):
        terrane.plotting.movie(film, tmp_path / "plane.gif", slice_at="up=100")
    with pytest.raises(terrane.plotting.PlotError, match="has shape"):
        terrane.plotting.movie(plane, tmp_path / "plane.gif", velocity=waves.velocity)


@pytest.mark.parametrize("box, more", [("", []), ("box = [0, 400, 0, 0, -150, -150]\n", []),
                                       ("", ["--slice", "up=-100"])])
def test_snapshots_of_a_job_are_drawn_and_are_a_film(tmp_path, box, more):
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("PIL")
    pytest.importorskip("netCDF4")
    text = JOB.replace("gathers.segy", "gathers.nc").replace('"0.4 s"', '"0.1 s"')
    if not box and more:
        text = text.replace("[0, 400, -5, 5, -300, 0]", "[0, 400, -35, 35, -300, 0]").replace(
            "[40, 1, 30]", "[40, 7, 30]")
    (tmp_path / "job.toml").write_text(text + "[snapshots]\nevery = 0.02\nshot = 2\n" + box)
    data = terrane.run(tmp_path / "job.toml")
    terrane.write_dataset(data, tmp_path / "gathers.nc")
    film = terrane.plotting.read(tmp_path / "gathers.nc")
    assert [f.name for f in film.snapshots.fields] == ["snapshot_pressure"]
    assert film.snapshots.fields[0].values.shape[1] == (1 if box else 30)
    picture = terrane.plotting.draw(film, ["snapshot_pressure"], slice_at=more[1] if more else "")
    assert len(picture.axes) == 5, "four and the scale"
    assert terrane.plotting.main([str(tmp_path / "gathers.nc"), "--out", str(tmp_path / "film.gif"), *more]) == 0
    assert (tmp_path / "film.gif").read_bytes()[:4] == b"GIF8"
    assert terrane.plotting.draw(film).axes, "traces are drawn where no snapshot is asked for"
    with pytest.raises(terrane.plotting.PlotError, match="figure of its own"):
        terrane.plotting.draw(film, ["snapshot_pressure", "pressure"])


def test_gathers_are_drawn_as_image_and_as_wiggles(waves):
    pytest.importorskip("matplotlib").use("Agg")
    gathers = waves.run()
    with pytest.raises(terrane.plotting.PlotError, match="allowed: 0 to 1"):
        terrane.plotting.gather(gathers, 2)
    with pytest.raises(terrane.plotting.PlotError, match="there are: pressure"):
        terrane.plotting.gather(gathers, variable="velocity_up")
    for kind in ("image", "wiggle"):
        figure = terrane.plotting.gather(gathers, 1, kind=kind)
        assert figure.axes[0].get_xlabel() == "easting (m)"
        low, high = figure.axes[0].get_ylim()
        assert low > high  # time runs downward


def test_segyio_and_terrane_read_what_the_other_wrote(job, tmp_path):
    segyio = pytest.importorskip("segyio")
    terrane.run(job, output=tmp_path)
    path = tmp_path / "gathers.segy"
    ours = terrane.read(path)
    with segyio.open(path, strict=False) as file:
        assert int(file.format) == 5
        assert segyio.dt(file) == 4000
        np.testing.assert_array_equal(file.trace.raw[:], ours.pressure.transpose("shot", "receiver", "time").values
                                      .reshape(14, -1))
        assert list(file.attributes(segyio.TraceField.GroupX)[:7]) == [50, 100, 150, 200, 250, 300, 350]
        assert file.header[3][segyio.TraceField.SourceDepth] == 10
        assert file.text[0].decode("ascii", "replace").startswith("C 1 Written by Terrane")
    for kind, tolerance in ((5, 0.0), (1, 2e-6)):
        spec = segyio.spec()
        spec.format, spec.samples, spec.tracecount = kind, np.arange(5) * 2.0, 3
        theirs = tmp_path / f"theirs{kind}.sgy"
        values = np.linspace(-3, 1e4, 15, dtype=np.float32).reshape(3, 5)
        with segyio.create(theirs, spec) as file:
            file.bin.update(hdt=2000)
            for n in range(3):
                file.trace[n] = values[n]
                file.header[n] = {segyio.TraceField.SourceX: 1000, segyio.TraceField.GroupX: 12345 + 100 * n,
                                  segyio.TraceField.SourceGroupScalar: -10, segyio.TraceField.FieldRecord: 7}
        read = terrane.read(theirs)
        assert read.time.values == pytest.approx(np.arange(5) * 0.002)
        assert list(read.receiver_easting.values) == [1234.5, 1244.5, 1254.5]
        assert list(read.shot.values) == [7]
        variable = next(iter(read.data_vars.values()))
        np.testing.assert_allclose(variable.values[0].T, values, rtol=tolerance)


def test_a_data_set_is_written_as_su_and_read_again(waves, tmp_path):
    gathers = waves.run().isel(time=slice(0, None, 4))
    gathers["time"] = ("time", np.arange(gathers.sizes["time"]) * 0.002, {"units": "s"})
    terrane.write_dataset(gathers, tmp_path / "a.su")
    again = terrane.read(tmp_path / "a.su")
    np.testing.assert_array_equal(again.pressure, gathers.pressure.astype(np.float32))
    np.testing.assert_array_equal(again.receiver_easting, gathers.receiver_easting)


def test_a_line_of_images_at_lags_becomes_one_angle():
    xarray = pytest.importorskip("xarray")
    lag, up = np.arange(-20, 21) * 10.0, -400 + np.arange(60) * 5.0
    slope = np.tan(np.radians(24))
    line = np.exp(-(((up[None, :] + 250 + lag[:, None] * slope) / 8) ** 2))
    images = xarray.DataArray(line[:, :, None, None], {"lag": lag, "up": up, "northing": [0.0], "easting": [0.0]},
                              ("lag", "up", "northing", "easting"))
    gathers = terrane.acoustic.angle_gathers(images, np.arange(-50, 51, 2), filtered=False)
    angle, row = np.unravel_index(np.argmax(gathers.values[:, :, 0, 0]), (51, 60))
    assert (float(gathers.angle[angle]), up[row]) == (24, -250)
    assert float(gathers.sel(angle=-24).max()) < 0.2 * float(gathers.max())
    with pytest.raises(terrane.InputError, match="beyond 75"):
        terrane.acoustic.angle_gathers(images, [80.0])
    with pytest.raises(terrane.ShapeError, match="lag, up, northing and easting"):
        terrane.acoustic.angle_gathers(images.isel(lag=0))
    with pytest.raises(terrane.InputError, match="lags = 20"):
        terrane.acoustic.angle_gathers(xarray.Dataset({"image": images.isel(lag=0)}))


def test_a_reflector_is_flat_at_all_angles_in_the_right_velocity_and_curves_up_where_rock_is_too_slow():
    def line(velocity, below=None, **more):
        mesh = terrane.TensorMesh.regular([0, 1000, -5, 5, -400, 0], shape=(100, 1, 40))
        rock = np.full((40, 1, 100), float(velocity))
        if below:
            rock[:15] = below  # the reflector is at −250 m
        mesh.velocity_p = rock
        shots = [[x, 0, -15.0] for x in np.arange(100, 1000, 200.0)]
        receivers = terrane.Survey(np.arange(20.0, 1000, 10), 0.0, -15.0)
        return terrane.acoustic.Simulation(mesh, receivers, shots, terrane.acoustic.Wavelet(20), end=0.45, step=0.0012,
                                           boundary={"top": "cpml"}, **more).run()

    data = np.asarray(line(2000, 2500)["pressure"]) - np.asarray(line(2000)["pressure"])
    angles, depths = np.arange(-40, 41, 20), {}
    for velocity in (2000, 1800):
        images = line(velocity, kind="migration", smoothing=1.0, observed=data, lags=20)
        gathers = terrane.acoustic.angle_gathers(images, angles)
        energy = gathers.isel(northing=0).sel(easting=slice(400, 600), up=slice(-400, -100)).mean("easting") ** 2
        depths[velocity] = np.asarray((energy * energy.up).sum("up") / energy.sum("up"))
    np.testing.assert_allclose(depths[2000], -250, atol=3)  # −250.3 to −249.9
    middle = depths[1800][2]
    assert middle == pytest.approx(-226, abs=4)
    np.testing.assert_array_less(middle + 12, depths[1800][[0, -1]])  # 19 m higher at 40 degrees
    pytest.importorskip("matplotlib").use("Agg")
    figure = terrane.plotting.angle_gather(gathers, 500.0)
    assert figure.axes[0].get_xlabel() == "angle (°)"


def test_shots_taken_apart_are_those_of_the_whole_job_whoever_is_lost(tmp_path):
    from concurrent.futures import Future, ThreadPoolExecutor

    mesh = terrane.TensorMesh.regular([0, 400, -5, 5, -300, 0], shape=(40, 1, 30))
    rock = np.full((30, 1, 40), 2000.0)
    rock[:15] = 2600
    mesh.velocity_p = rock
    receivers = terrane.Survey(np.arange(50.0, 400, 50), 0.0, -15.0)
    shots = [[100, 0, -15], [200, 0, -15], [300, 0, -15]]
    common = (mesh, receivers, shots, terrane.acoustic.Wavelet(18))
    migration = terrane.acoustic.Simulation(*common, end=0.3, kind="migration", smoothing=60.0, lags=2)

    class Unsteady(ThreadPoolExecutor):
        """Loses the second shot's worker once."""

        sent = 0

        def submit(self, function, *arguments):
            self.sent += 1
            if self.sent == 2:
                lost: Future = Future()
                lost.set_exception(ConnectionError("worker lost"))
                return lost
            return super().submit(function, *arguments)

    with Unsteady(2) as executor:
        images = terrane.acoustic.run_shots(migration, executor, folder=tmp_path)
        assert executor.sent == 4
        again = terrane.acoustic.run_shots(migration, executor, folder=tmp_path)  # nothing is left to do
        assert executor.sent == 4
        (tmp_path / "shot_00003.npz").unlink()
        assert terrane.acoustic.run_shots(migration, executor, folder=tmp_path).identical(again)
        assert executor.sent == 5
    whole = migration.run()
    for name in ("image", "illumination", "gradient", "image_at_lags"):
        np.testing.assert_array_equal(images[name], whole[name])
        np.testing.assert_array_equal(again[name], whole[name])
    for name in ("image_even", "image_filtered", "image_inverse_scattering"):
        np.testing.assert_allclose(images[name], whole[name], atol=1e-12 * float(abs(whole[name]).max()))
    modelling = terrane.acoustic.Simulation(*common, end=0.3)
    with ThreadPoolExecutor(2) as executor:
        gathers = terrane.acoustic.run_shots(modelling, executor)
        other = terrane.acoustic.run_shots(modelling, executor, shots=shots[1:])
        with pytest.raises(terrane.InputError, match="outside the mesh"):
            terrane.acoustic.run_shots(modelling, executor, shots=[[900, 0, -15]])
    whole = modelling.run()
    np.testing.assert_array_equal(gathers["pressure"], whole["pressure"])
    np.testing.assert_array_equal(gathers["source_easting"], [100, 200, 300])
    np.testing.assert_array_equal(other["pressure"], whole["pressure"][1:])


def test_dask_takes_the_shots_of_a_job(job):
    distributed = pytest.importorskip("distributed")
    here = {"n_workers": 1, "threads_per_worker": 1, "processes": False, "dashboard_address": None}
    with distributed.LocalCluster(**here) as cluster:
        with distributed.Client(cluster) as client:
            gathers = terrane.acoustic.run_shots(job, client)
    np.testing.assert_array_equal(gathers["pressure"], terrane.run(job, write=False)["pressure"])


def leapfrog(v, h, dt, f, source, receivers):
    """The scheme of order 4 in space as deepwave states it, without layers: far from the sides."""
    before, now = np.zeros_like(v), np.zeros_like(v)
    recorded = []
    for amplitude in f:
        recorded.append([now[tuple(r)] for r in receivers])
        bend = np.zeros_like(v)
        for axis in (0, 1):
            for shift, weight in ((0, -5 / 2), (1, 4 / 3), (-1, 4 / 3), (2, -1 / 12), (-2, -1 / 12)):
                bend += weight / h**2 * np.roll(now, shift, axis)
        bend[tuple(source)] -= amplitude
        before, now = now, 2 * now - before + v**2 * dt**2 * bend
    return np.array(recorded).T


def test_deepwaves_scalar_is_its_scheme(random):
    from terrane.compat import deepwave

    v = 2000 + 200 * random.random((60, 64))
    h, dt, nt = 10.0, 0.001, 130
    f = np.exp(-((np.arange(nt) * dt - 0.05) / 0.012) ** 2)
    receivers = np.array([[30, 40], [25, 22]])
    out = deepwave.scalar(v, h, dt, source_amplitudes=f[None, None], source_locations=[[[28, 30]]],
                          receiver_locations=receivers[None], accuracy=4, pml_freq=25.0)
    assert len(out) == 4 and out[-1].shape == (1, 2, nt)
    expected = leapfrog(v, h, dt, f, (28, 30), receivers)
    np.testing.assert_allclose(out[-1][0], expected, atol=1e-9 * abs(expected).max())


class Tensor:
    """As those of torch: size() is a method."""

    def __init__(self, values):
        self.values = np.array(values)

    def size(self):
        return self.values.shape

    def detach(self):
        return self

    cpu = detach

    def numpy(self):
        return self.values


def test_deepwaves_spacings_and_widths_may_be_tensors():
    from terrane.compat import deepwave

    assert deepwave._each(Tensor([4.0, 5.0]), 2, "grid_spacing") == [4, 5]
    assert deepwave._each(Tensor(20), 4, "pml_width") == deepwave._each(Tensor([20]), 4, "pml_width") == [20] * 4
    with pytest.raises(terrane.ShapeError, match="has 3 values"):
        deepwave._each(Tensor([1, 2, 3]), 2, "grid_spacing")


def test_deepwaves_scalar_born_is_the_derivative_of_scalar(random):
    from terrane.compat import deepwave

    v, scatter = np.full((40, 44), 2000.0), random.standard_normal((40, 44))
    f = np.exp(-((np.arange(120) * 0.001 - 0.05) / 0.012) ** 2)
    call = {"source_amplitudes": f[None, None], "source_locations": [[[20, 10]]],
            "receiver_locations": [[[20, 34], [8, 20]]], "pml_width": [10, 0, 10, 10]}
    # Layers are made of the rock at the edges, which is no unknown here: it must not change.
    scatter[[0, -1]], scatter[:, [0, -1]] = 0, 0
    born = deepwave.scalar_born(v, scatter, 10.0, 0.001, **call)
    assert len(born) == 7
    up, down = (deepwave.scalar(v + s * scatter, 10.0, 0.001, **call)[-1] for s in (0.5, -0.5))
    np.testing.assert_allclose(born[-1], up - down, atol=2e-4 * abs(born[-1]).max())
    with pytest.raises(terrane.UnsupportedError, match="wavefield_0"):
        deepwave.scalar(v, 10.0, 0.001, **call, wavefield_0=np.ones(3))


def example(folder, script, tmp_path, *words):
    """What the script of an example prints, line by line."""
    data = os.environ.get("TERRANE_DATA", "")
    if not (Path(data) / "seismic").is_dir():
        pytest.skip("needs TERRANE_DATA, the folder with the open data sets")
    root = Path(__file__).resolve().parents[2] / "examples" / folder
    done = subprocess.run([sys.executable, str(root / script), "--data", data, "--output", str(tmp_path), *words],
                          capture_output=True, text=True, timeout=300)
    if "No module named" in done.stderr:
        pytest.skip(done.stderr.splitlines()[-1])
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_marine_line_is_what_its_example_says(tmp_path):
    shots, note, cable, first, su = example("16_viking_line", "line.py", tmp_path)
    assert shots == "4 shots, 120 receivers, 600 samples of 4 ms"
    assert note.startswith("480 traces say another number of samples than the 600")
    assert cable == "offsets -3237 to -262 m, shots every 25 m"
    assert 1700 < float(first.split()[-2]) < 2100
    assert su == "as SU the same samples: True"


def test_two_shots_over_the_overthrust_model_show_its_layers(tmp_path):
    velocities, gathers, agreement = example("27_overthrust", "line.py", tmp_path, "--shots", "2")
    assert velocities == "velocities 1500 to 5500 m/s"
    assert gathers == "2 shots, 200 receivers, 1201 samples"
    assert float(agreement.split()[1].rstrip(",")) == pytest.approx(0.30, abs=0.02)
    twin = Path(__file__).resolve().parents[2] / "examples" / "27_overthrust" / "migrate.toml"
    image = terrane.run(twin, data=tmp_path, settings={"source.count": 2}, write=False)["image_even"]
    np.testing.assert_allclose(image, np.load(tmp_path / "image.npy"), atol=1e-5 * float(abs(image).max()))


def test_the_recorded_waves_of_the_example_are_those_of_its_shots():
    folder = Path(__file__).resolve().parents[2] / "examples" / "34_velocities_from_waves"
    kept = terrane.read_dataset(folder / "gathers.nc")["pressure"]
    made = terrane.run(folder / "shots.toml", write=False)["pressure"]
    assert kept.shape == made.shape
    np.testing.assert_allclose(np.asarray(kept), np.asarray(made), atol=2e-6 * float(abs(kept).max()))
    for name in ("time", "receiver_easting", "source_easting"):
        np.testing.assert_allclose(np.asarray(kept[name]), np.asarray(made[name]), atol=1e-9)
