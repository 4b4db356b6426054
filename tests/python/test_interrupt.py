"""Long runs: progress, Ctrl-C, and other Python threads beside them."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import terrane
from terrane.gravity import forward

LONG = """
import numpy as np, sys, time, terrane
random = np.random.default_rng(1)
low = random.uniform(-1000, 900, (60000, 3))
prisms = np.stack([low, low + random.uniform(5, 50, low.shape)], axis=2).reshape(-1, 6)
at = [random.uniform(-1000, 1000, 60000) for _ in range(3)]
print("start", flush=True)
try:
    terrane.gravity.forward(prisms, 1.0, *at, channels="all", method="direct", accuracy="best")
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
    raise SystemExit(0)
print("finished", flush=True)
raise SystemExit(3)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_stops_a_run_within_a_second():
    # Whoever runs the tests in the background may have SIGINT ignored, and children inherit that.
    process = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True,
                               preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    assert process.stdout.readline().strip() == "start"
    time.sleep(1.0)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    words, _ = process.communicate(timeout=60)
    assert process.returncode == 0, words
    word, when = words.split()
    assert word == "interrupted"
    assert float(when) - sent < 1.0


def big(random, prisms=3000, stations=20000):
    low = random.uniform(-1000, 900, (prisms, 3))
    faces = np.stack([low, low + 20.0], axis=2).reshape(-1, 6)
    return faces, 1.0, *(random.uniform(-1000, 1000, stations) for _ in range(3))


def test_progress_is_reported_to_a_function(random):
    calls = []
    forward(*big(random), method="direct", progress=lambda *call: calls.append(call))
    assert calls and calls[-1][1] == calls[-1][2] > 0
    done = [call[1] for call in calls]
    assert done == sorted(done)
    assert all(isinstance(call[0], str) for call in calls)


def test_an_exception_in_the_function_stops_the_run(random):
    class Enough(Exception):
        pass

    def stop(what, done, total):
        raise Enough("enough")

    with pytest.raises(Enough, match="enough"):
        forward(*big(random), channels="all", method="direct", progress=stop)
    assert np.isfinite(forward([[0, 1, 0, 1, 0, 1]], 1.0, 2.0, 2.0, 2.0)["g_u"])  # and the next call works


def test_true_draws_a_bar(random, capsys):
    pytest.importorskip("tqdm")
    forward(*big(random), method="direct", progress=True)
    assert "100%" in capsys.readouterr().err


def test_other_threads_run_meanwhile(random):
    arguments = big(random, 4000, 20000)
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.005)

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    forward(*arguments, channels="all", method="direct", accuracy="best")
    end = time.perf_counter()
    stop.set()
    thread.join()
    inside = [t for t in ticks if start < t < end]
    assert end - start > 0.05, "the run is too short to tell"
    assert len(inside) > 3


def test_many_python_threads_compute_at_once(random):
    arguments = big(random, 200, 500)
    expected = forward(*arguments)["g_u"]
    results = [None] * 6

    def work(place):
        results[place] = forward(*arguments)["g_u"]

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for result in results:
        np.testing.assert_array_equal(result, expected)


def test_a_cancelled_job_writes_nothing(tmp_path):
    job = tmp_path / "job.toml"
    job.write_text('[mesh]\nkind="random"\nshape=[20,20,20]\n[survey]\nregion=[0,1000,0,1000]\nshape=[60,60]\nheight=1\n'
                   '[simulation]\nmethod="direct"\nchannels=["all"]\n[output]\nfiles=["a.csv"]\n')

    def stop(what, done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        terrane.run(job, progress=stop)
    assert not list(tmp_path.rglob("*.csv"))
