"""terrane.gravity.forward: numbers, arrays, frames, units, threads."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import terrane
from terrane.gravity import CHANNELS, forward

G = 6.67430e-11
KINDS = (slice(0, 1), slice(1, 4), slice(4, 10))  # potential, vector, tensor


def all_si(prism, density, station, **options):
    field = forward([prism], [density], *([x] for x in station), channels="all", units="si", **options)
    return np.array([field[name][0] for name in CHANNELS])


def test_agrees_with_quadruple_precision_near_far_and_on_singular_points(quad_precision):
    assert len(quad_precision) > 100
    checked = 0
    for case, prism, station, expected in quad_precision:
        if np.isnan(expected).any():
            continue
        got = all_si(prism, 1.0, station, accuracy="best", singular="mean")
        for kind in KINDS:
            size = np.linalg.norm(np.array(expected)[kind])
            assert np.linalg.norm(got[kind] - np.array(expected)[kind]) <= 1e-12 * size, (case, prism, station)
        checked += 1
    assert checked > 50


def test_far_away_a_prism_is_a_point_mass():
    got = all_si([-1, 1, -1, 1, -1, 1], 1000.0, [3e5, -2e5, 4e5])
    r = np.array([3e5, -2e5, 4e5])
    mass, distance = 8000.0, np.linalg.norm(r)
    assert_allclose(got[0], G * mass / distance, rtol=1e-10)
    assert_allclose(got[1:4], -G * mass * r / distance**3, rtol=1e-10)
    tensor = G * mass * (3 * np.outer(r, r) / distance**5 - np.eye(3) / distance**3)
    assert_allclose(got[4:], tensor[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], rtol=1e-9)


def test_a_wide_slab_pulls_with_two_pi_g_rho_t():
    field = forward([[-1e8, 1e8, -1e8, 1e8, -100, 0]], 2670.0, 0.0, 0.0, 10.0, units="si")
    assert_allclose(field["g_u"], -2 * np.pi * G * 2670 * 100, rtol=1e-5)


def test_the_trace_vanishes_outside_and_is_minus_four_pi_g_rho_inside():
    field = forward([[-10, 10, -10, 10, -10, 10]], 1000.0, [0.0, 50.0], [1.0, 2.0], [2.0, 3.0], channels="tensor",
                    units="si")
    trace = field["g_ee"] + field["g_nn"] + field["g_uu"]
    assert_allclose(trace, [-4 * np.pi * G * 1000, 0], atol=1e-18)


@given(st.tuples(*[st.floats(-1e4, 1e4)] * 3), st.tuples(*[st.floats(1e-2, 1e3)] * 3),
       st.tuples(*[st.floats(-1e4, 1e4)] * 3))
@settings(max_examples=60, deadline=None)
def test_two_halves_make_the_whole(corner, widths, station):
    (w, s, b), (dx, dy, dz) = corner, widths
    middle = w + dx / 2
    whole = [w, w + dx, s, s + dy, b, b + dz]
    halves = [[w, middle, *whole[2:]], [middle, w + dx, *whole[2:]]]
    station = [np.array([x]) for x in station]
    one = forward([whole], 1000.0, *station, channels=["potential", "g_e", "g_n", "g_u"])
    two = forward(halves, 1000.0, *station, channels=["potential", "g_e", "g_n", "g_u"])
    assert_allclose(two["potential"], one["potential"], rtol=1e-11)
    size = np.sqrt(sum(one[c][0] ** 2 for c in ("g_e", "g_n", "g_u")))
    for channel in ("g_e", "g_n", "g_u"):
        assert abs(two[channel][0] - one[channel][0]) <= 1e-10 * size


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "longdouble", ">f8", "int32", "uint8", "int64"])
def test_any_dtype_of_numbers_is_taken(dtype):
    prisms = np.array([[0, 10, 0, 20, 0, 30], [20, 40, 0, 10, 10, 20]])
    expected = forward(prisms.astype(float), np.array([100.0, 50.0]), np.array([5.0]), np.array([5.0]), np.array([60.0]))
    got = forward(prisms.astype(dtype), np.array([100, 50], dtype), np.array([5], dtype), np.array([5], dtype),
                  np.array([60], dtype))
    assert_array_equal(got["g_u"], expected["g_u"])


def test_any_strides_give_the_same_bits(blocks, stations):
    prisms, density = blocks
    expected = forward(prisms, density, *stations, channels="all")
    wide = np.zeros((600, 12))
    wide[::2, ::2] = prisms
    columns = np.asfortranarray(prisms)
    backwards = prisms[::-1].copy()[::-1]
    high = np.stack([s for s in stations], axis=1)
    for faces in (wide[::2, ::2], columns, backwards, prisms.tolist()):
        got = forward(faces, density[::-1].copy()[::-1], *high.T, channels="all")
        for name in CHANNELS:
            assert_array_equal(got[name], expected[name])


def test_arrays_may_be_read_only(blocks, stations):
    prisms, density = blocks
    arrays = [prisms.copy(), density.copy(), *(s.copy() for s in stations)]
    for array in arrays:
        array.flags.writeable = False
    assert_array_equal(forward(*arrays)["g_u"], forward(prisms, density, *stations)["g_u"])


def test_results_have_the_stations_shape(blocks):
    prisms, density = blocks
    east, north = np.meshgrid(np.linspace(-100, 100, 4), np.linspace(-50, 50, 3))
    grid = forward(prisms, density, east, north, 100.0)["g_u"]
    flat = forward(prisms, density, east.ravel(), north.ravel(), np.full(12, 100.0))["g_u"]
    assert grid.shape == (3, 4)
    assert_array_equal(grid.ravel(), flat)
    assert forward(prisms, density, 0, 0, 100)["g_u"].shape == ()
    assert forward(prisms[0], density[0], 0, 0, 100)["g_u"].shape == ()


def test_pandas_and_xarray_columns_are_taken(blocks, stations):
    pandas = pytest.importorskip("pandas")
    xarray = pytest.importorskip("xarray")
    prisms, density = blocks
    expected = forward(prisms, density, *stations)["g_u"]
    frame = pandas.DataFrame(dict(zip("enu", stations)))
    assert_array_equal(forward(prisms, pandas.Series(density), frame.e, frame.n, frame.u)["g_u"], expected)
    arrays = [xarray.DataArray(s, dims="x", attrs={"units": "m"}) for s in stations]
    assert_array_equal(forward(prisms, density, *arrays)["g_u"], expected)


def test_threads_do_not_change_a_bit(blocks, stations):
    one = forward(*blocks, *stations, channels="all", threads=1)
    for threads in (2, 3, 7):
        many = forward(*blocks, *stations, channels="all", threads=threads)
        for name in CHANNELS:
            assert_array_equal(many[name], one[name])


def test_units_are_mgal_and_eotvos_or_si(blocks, stations):
    geo = forward(*blocks, *stations, channels="all")
    si = forward(*blocks, *stations, channels="all", units="si")
    assert_array_equal(geo["potential"], si["potential"])
    assert_allclose(geo["g_n"], si["g_n"] * 1e5, rtol=1e-15)
    assert_allclose(geo["g_eu"], si["g_eu"] * 1e9, rtol=1e-15)


def test_frames_turn_names_axes_and_signs(blocks, stations):
    enu = forward(*blocks, *stations, channels="all")
    harmonica = forward(*blocks, *stations, channels="all", frame="harmonica")
    assert list(harmonica) == ["potential", "g_e", "g_n", "g_z", "g_ee", "g_nn", "g_zz", "g_en", "g_ez", "g_nz"]
    assert_array_equal(harmonica["g_z"], -enu["g_u"])
    assert_array_equal(harmonica["g_nz"], -enu["g_nu"])
    assert_array_equal(harmonica["g_zz"], enu["g_uu"])
    simpeg = forward(*blocks, *stations, channels=["gz", "gxy"], frame="simpeg")
    assert_allclose(simpeg["gz"], enu["g_u"], rtol=0, atol=1e-14)
    assert_allclose(simpeg["gxy"], enu["g_en"], rtol=0, atol=1e-11)
    ubc = forward(*blocks, *stations, channels=["xx", "yz"], frame="ubc")
    assert_allclose(ubc["xx"], enu["g_nn"], rtol=0, atol=1e-11)
    assert_allclose(ubc["yz"], -enu["g_eu"], rtol=0, atol=1e-11)


def test_channels_are_computed_together_or_alone_alike(blocks, stations):
    together = forward(*blocks, *stations, channels="all")
    for name in CHANNELS:
        alone = forward(*blocks, *stations, channels=[name])
        assert list(alone) == [name]
        scale = np.abs(together[name]).max()
        assert_allclose(alone[name], together[name], rtol=0, atol=1e-11 * scale)


def test_single_precision_rounds_the_result(blocks, stations):
    double = forward(*blocks, *stations)["g_u"]
    single = forward(*blocks, *stations, precision="single")["g_u"]
    assert single.dtype == np.float32
    assert_allclose(single, double, rtol=2e-7)


def test_the_gravitational_constant_scales_the_field(blocks, stations):
    one = forward(*blocks, *stations)["g_u"]
    assert_allclose(forward(*blocks, *stations, gravitational_constant=2 * G)["g_u"], 2 * one, rtol=1e-15)


def test_singular_points_follow_the_policy():
    prism, face = [[-10, 10, -10, 10, -10, 0]], (np.array([0.0]), np.array([0.0]), np.array([0.0]))
    field = forward(prism, 1000.0, *face, channels=["g_u", "g_uu"], units="si")
    assert np.isnan(field["g_uu"][0]) and np.isfinite(field["g_u"][0])
    assert_array_equal(field.singular, [True])
    values = {p: forward(prism, 1000.0, *face, channels=["g_uu"], units="si", singular=p)["g_uu"][0]
              for p in ("outside", "mean", "inside")}
    jump = 4 * np.pi * G * 1000
    assert_allclose(values["outside"] - values["inside"], jump, rtol=1e-12)
    assert_allclose(values["mean"], (values["outside"] + values["inside"]) / 2, rtol=1e-12)
    assert forward(prism, 1000.0, 50.0, 0.0, 0.0, channels=["g_uu"]).singular is None


def test_results_go_where_they_are_asked_to(blocks, stations):
    expected = forward(*blocks, *stations, channels=["g_u", "g_e"])
    out = {name: np.full(50, np.nan) for name in ("g_u", "g_e")}
    got = forward(*blocks, *stations, channels=["g_u", "g_e"], out=out)
    for name in out:
        assert_array_equal(out[name], expected[name])
        assert np.shares_memory(got[name], out[name])


def test_the_report_says_what_was_done(blocks, stations):
    report = forward(*blocks, *stations).report
    assert report["sources"] == 300 and report["stations"] == 50 and report["pairs"] == 15000
    assert report["method"] and report["seconds"] > 0


def test_a_million_prisms_are_not_copied_when_they_lie_in_columns():
    """Fortran order [m, 6] is read where it lies: what is asked for beside it stays small."""
    tracemalloc = pytest.importorskip("tracemalloc")
    prisms = np.asfortranarray(np.tile([0.0, 1.0, 0.0, 1.0, -1.0, 0.0], (100_000, 1)))
    density = np.full(100_000, 1.0)
    tracemalloc.start()
    forward(prisms, density, 0.0, 0.0, 10.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < prisms.nbytes / 10


@given(st.data())
@settings(max_examples=80, deadline=None)
def test_no_array_makes_it_crash(data):
    """Any shapes and any numbers: an answer, or an error of ours."""
    from hypothesis.extra.numpy import array_shapes, arrays

    anything = st.floats(width=64) | st.sampled_from([0.0, -0.0, 1.0, 1e308, -1e308, 5e-324, np.inf, np.nan])
    def draw(shape):
        return data.draw(arrays(np.float64, shape, elements=anything))
    count = data.draw(st.integers(0, 4))
    prisms = draw((count, 6)) if data.draw(st.booleans()) else draw(data.draw(array_shapes(max_dims=3, max_side=6)))
    if prisms.ndim == 2 and prisms.shape[1] == 6 and data.draw(st.booleans()):
        prisms = np.sort(prisms.reshape(-1, 3, 2), axis=2).reshape(-1, 6)
    density = draw(data.draw(st.sampled_from([(count,), (), (2,)])))
    easting, northing, up = (draw(data.draw(st.sampled_from([(), (3,), (2, 3)]))) for _ in range(3))
    try:
        field = forward(prisms, density, easting, northing, up, channels="all",
                        singular=data.draw(st.sampled_from(["nan", "mean", "outside", "inside"])))
    except terrane.InputError as error:
        assert str(error)
    else:
        assert field["g_u"].shape == np.broadcast_shapes(easting.shape, northing.shape, up.shape)


@pytest.mark.parametrize("device", terrane.devices() + ["debug"])
def test_every_device_gives_the_same_field(device):
    random = np.random.default_rng(5)
    low = random.uniform(-1000, 1000, (3, 200)) - [[0], [0], [1500]]
    prisms = np.stack([low[0], low[0] + 90, low[1], low[1] + 110, low[2], low[2] + 70], axis=1)
    stations = [*random.uniform(-2000, 2000, (2, 300)), random.uniform(0, 100, 300)]
    fields = [terrane.gravity.forward(prisms, 300.0, *stations, channels=["all"], device=where, accuracy=1e-13)
              for where in ("cpu", device)]
    for name, expected in fields[0].items():
        assert np.abs(fields[1][name] - expected).max() < 1e-11 * np.abs(expected).max(), name


def test_WhatTheCommandWouldWarnOfIsAWarning() -> None:
    blocks, far = [[0, 1, 0, 1, -1, 0], [1, 2, 0, 1, -1, 0]], ([3e5], [0.0], [0.0])
    with pytest.warns(RuntimeWarning, match="cancel"):
        field = terrane.gravity.forward(blocks, [1000.0, -1000.0], *far, channels="vector", accuracy="best")
    assert any("cancel" in warning for warning in field.report["warnings"])
