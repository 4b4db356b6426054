"""One object in several threads, and Ctrl-C in every call that computes."""

import threading

import numpy as np
import pytest
from conftest import run_python
from numpy.testing import assert_array_equal

import terrane


def in_threads(count, work):
    """What work(n) gives in each of several threads at once."""
    results, errors = [None] * count, []

    def one(n):
        try:
            results[n] = work(n)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=one, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors, errors
    return results


def operators(end=0.3):
    receivers = np.array([[x, 0.0, 390.0] for x in range(50, 350, 50)], float)
    velocity = np.full((40, 1, 40), 2000.0)
    velocity[20:] = 2400
    t = np.arange(60) * 0.004 - 0.08
    wavelet = (1 - 2 * (np.pi * 12 * t) ** 2) * np.exp(-(np.pi * 12 * t) ** 2)
    return terrane.acoustic.Operators.of(velocity, 10.0, sources=[[[100.0, 0, 380]], [[300.0, 0, 380]]],
                                         receivers=[receivers, receivers], wavelet=wavelet, sample_step=0.004, end=end,
                                         threads=1)


def test_operators_of_waves_give_the_same_in_four_threads_at_once_as_alone():
    rng = np.random.default_rng(1)
    alone = operators()
    data = alone.run()["pressure"].values
    changes = [rng.standard_normal(alone.velocity.shape) for _ in range(4)]
    residuals = [rng.standard_normal(data.shape) for _ in range(4)]
    born = [np.asarray(alone.born(change)) for change in changes]
    images = [np.asarray(alone.adjoint(residual)) for residual in residuals]
    shared = operators()
    for n, made in enumerate(in_threads(4, lambda n: shared.run()["pressure"].values)):
        assert_array_equal(made, data)
    for made, expected in zip(in_threads(4, lambda n: np.asarray(shared.born(changes[n]))), born):
        assert_array_equal(made, expected)
    for made, expected in zip(in_threads(4, lambda n: np.asarray(shared.adjoint(residuals[n]))), images):
        assert_array_equal(made, expected)


def fields_of_a_dipole():
    side = np.concatenate([[-4000, -2000], np.linspace(-1000, 1000, 9), [2000, 4000]])
    mesh = terrane.TensorMesh(side, side, side, conductivity=0.1)
    source = terrane.electromagnetic.Dipole([0, -600, 0], azimuth=90)
    return terrane.electromagnetic.Simulation(mesh, terrane.Survey([0.0, 100], [600.0, 500], [0.0, 0]), source, [1.0, 3.0],
                                              components=["e_e", "h_n"], threads=1)


def test_sensitivities_of_fields_give_the_same_in_four_threads_at_once_as_alone():
    rng = np.random.default_rng(2)
    j = terrane.electromagnetic.Sensitivity(fields_of_a_dipole())
    models = [rng.standard_normal(j.shape[1]) for _ in range(4)]
    weights = [rng.standard_normal(j.shape[0]) for _ in range(4)]
    there = [j.apply(v) for v in models]
    back = [j.apply_transpose(w) for w in weights]
    for made, expected in zip(in_threads(4, lambda n: j.apply(models[n])), there):
        assert_array_equal(made, expected)
    for made, expected in zip(in_threads(4, lambda n: j.apply_transpose(weights[n])), back):
        assert_array_equal(made, expected)


def test_an_object_that_computes_cannot_be_asked_by_its_own_progress():
    waves = operators(end=6.0)

    def ask(what, done, total):
        waves.run()

    with pytest.raises(terrane.InputError, match="when it is done"):
        waves.run(progress=ask)
    assert np.isfinite(waves.run()["pressure"].values).all(), "and works afterwards"


class Stop(Exception):
    pass


def simulations():
    mesh = terrane.TensorMesh.regular([-50, 50, -50, 50, -50, 0], shape=(10, 10, 5), density=1.0)
    above, below = terrane.Survey([0.0], [0.0], [5.0]), terrane.Survey([0.0], [0.0], [-5.0])
    line = {"kind": "line", "array": "wenner", "start": [-30, 0], "spacing": 10, "electrodes": 7}
    rock = {"background": {"resistivity": 100}}
    return {
        "gravity": terrane.gravity.Simulation(mesh, above).run,
        "heat": terrane.heat.Simulation(mesh, below, end=1e6).run,
        "electromagnetic": fields_of_a_dipole().run,
        "electric": lambda progress: terrane.run({"model": rock, "survey": line, "simulation": {"physics": "electric"}},
                                                 progress=progress),
    }


@pytest.mark.parametrize("physics", ["gravity", "heat", "electromagnetic", "electric"])
def test_an_exception_of_the_last_call_of_progress_is_raised(physics):
    def last(what, done, total):
        if done == total:
            raise Stop

    with pytest.raises(Stop):
        simulations()[physics](progress=last)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import terrane
{prepare}
def send():
    time.sleep({after})
    global sent
    sent = time.perf_counter()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send, daemon=True).start()
try:
    {call}
    print("ended", file=sys.stderr)
    sys.exit(3)
except KeyboardInterrupt:
    print(time.perf_counter() - sent)
"""

PRODUCTS = """
rng = np.random.default_rng(0)
corners = rng.uniform(-1e4, 1e4, (60_000, 2))
prisms = np.stack([corners[:, 0], corners[:, 0] + 90, corners[:, 1], corners[:, 1] + 90, np.full(60_000, -2e3),
                   np.full(60_000, -1e3)], axis=1)
east, north = rng.uniform(-1e4, 1e4, (2, 20_000))
g = terrane.inversion.Sensitivity(prisms, east, north, np.full(20_000, 100.0), channels=["g_u", "g_uu"], storage="none",
                                  threads=1)
"""


def test_ctrl_c_ends_products_that_say_nothing_of_their_progress():
    done = run_python(INTERRUPTED.format(prepare=PRODUCTS, call="g.apply(np.ones(60_000))", after=0.5))
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 5, "a second of work, on a machine that may be busy"


def test_ctrl_c_within_one_solve_of_fields_is_heard():
    prepare = """
f = np.concatenate([[-9000, -5000, -3000], np.linspace(-2000, 2000, 61), [3000, 5000, 9000]])
mesh = terrane.TensorMesh(f, f, f, conductivity=0.1)
dipole = terrane.electromagnetic.Dipole([0, -600, 0], azimuth=90)
one = terrane.electromagnetic.Simulation(mesh, terrane.Survey([0.0], [600.0], [0.0]), dipole,
                                         [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], components=["e_e"], threads=1)
"""
    done = run_python(INTERRUPTED.format(prepare=prepare, call="one.run()", after=1.0))
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 5
