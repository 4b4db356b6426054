"""Many Python threads and processes; pickles and copies."""

import copy
import multiprocessing
import os
import pickle
import threading

import numpy as np
import pytest
from conftest import run_python
from numpy.testing import assert_array_equal

import terrane
from terrane.gravity import forward

FILES = """
import os, tempfile, threading
import terrane
{imports}
folder = tempfile.mkdtemp()
mesh = terrane.TensorMesh.regular([0, 100, 0, 100, -10, 0], (10, 10, 5), density=1.0)
survey = terrane.Survey.grid([0, 50, 100], [0, 100], up=10)
result = terrane.gravity.Simulation(mesh, survey).run()
whole = []
def work(thread):
    for turn in range(10):
        path = os.path.join(folder, str(thread) + (".h5", ".nc")[(thread + turn) % 2])
        mesh.write(path)
        assert (terrane.TensorMesh.read(path).density == 1).all()
        result.write(os.path.join(folder, f"result{{thread}}.nc"))
        {besides}
    whole.append(thread)
threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
for thread in threads: thread.start()
for thread in threads: thread.join()
assert len(whole) == 8
"""


def test_many_threads_read_and_write_files_at_once():
    done = run_python(FILES.format(imports="", besides=""))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


def test_files_are_read_beside_h5py_in_many_threads():
    pytest.importorskip("h5py")
    done = run_python(FILES.format(
        imports="import h5py",
        besides="with h5py.File(os.path.join(folder, f'own{thread}.h5'), 'w') as file: file['a'] = list(range(100))"))
    assert done.returncode == 0, done.stderr


def test_the_lock_of_h5py_is_held_while_terrane_is_in_the_library(tmp_path):
    pytest.importorskip("h5py")
    from h5py._objects import phil

    mesh = terrane.TensorMesh.regular([0, 100, 0, 100, -10, 0], (10, 10, 5), density=1.0)
    with phil:  # and it is taken again by the same thread
        mesh.write(tmp_path / "mesh.h5")
        waiting = threading.Thread(target=terrane.read, args=(tmp_path / "mesh.h5",))
        waiting.start()
        waiting.join(0.3)
        assert waiting.is_alive()
    waiting.join(60)
    assert not waiting.is_alive()


def compute(seed):
    random = np.random.default_rng(seed)
    low = random.uniform(-1000, 900, (2000, 3))
    prisms = np.stack([low, low + 20.0], axis=2).reshape(-1, 6)
    return forward(prisms, 1.0, *(random.uniform(-1000, 1000, 2000) for _ in range(3)), method="direct", threads=3)["g_u"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize("bind", ["false", "true"])
def test_processes_forked_after_a_run_compute_the_same_bits(bind):
    done = run_python(f"""
import sys; sys.path.insert(0, {os.path.dirname(__file__)!r})
import multiprocessing, numpy as np
from test_threads_and_processes import compute
expected = [compute(seed) for seed in range(4)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    for got, wanted in zip(pool.map_async(compute, range(4)).get(60), expected):
        np.testing.assert_array_equal(got, wanted)
""", OMP_PROC_BIND=bind)
    assert done.returncode == 0, done.stderr


def test_processes_forked_after_files_were_read_read_files(tmp_path):
    mesh = terrane.TensorMesh.regular([0, 100, 0, 100, -10, 0], (2, 2, 2), density=1.0)
    mesh.write(tmp_path / "mesh.nc")
    with multiprocessing.get_context("fork").Pool(2) as pool:
        for back in pool.map_async(terrane.TensorMesh.read, [tmp_path / "mesh.nc"] * 4).get(60):
            assert_array_equal(back.density, mesh.density)


def copies(value):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        yield pickle.loads(pickle.dumps(value, protocol))
    yield copy.copy(value)
    yield copy.deepcopy(value)


@pytest.fixture
def mesh():
    mesh = terrane.TensorMesh.regular([0, 4000, 0, 4000, -2000, 0], shape=(4, 4, 2))
    mesh.density[0, 1:3, 1:3] = 400.0
    return mesh


def test_models_and_surveys_are_pickled_and_copied(mesh):
    layer = terrane.PrismLayer([0, 10, 20], [0, 10], [[5, 5, 5], [5, 0, -5]])
    survey = terrane.Survey.grid([0, 1000], [0, 2000, 3000], up=100, projection="EPSG:32735")
    survey.set_column("observed", np.arange(6.0), "mGal")
    for noun in (mesh, mesh.to_prisms(), layer, survey, terrane.gravity.Simulation(mesh, survey)):
        for back in copies(noun):
            assert type(back) is type(noun) and repr(back) == repr(noun)
    for back in copies(survey):
        assert back.columns["observed"].unit == "mGal" and back.shape == (3, 2)


def test_results_are_pickled_and_copied(mesh, tmp_path):
    survey = terrane.Survey([500.0, 1000.0], [700.0, 1000.0], [1.0, 0.0], columns={"observed": [1.0, 2.0]})
    result = terrane.gravity.Simulation(mesh, survey, channels=["g_z", "g_zz"], frame="harmonica", verify=1,
                                        precision="single").run()
    result.write(tmp_path / "before.nc")
    for back in copies(result):
        assert back.report == result.report and back.attributes == result.attributes and back.units == result.units
        assert repr(back) == repr(result)
        for name in result.channels:
            assert_array_equal(back.values(name), result.values(name))
        assert back.dataset.identical(result.dataset)
        assert_array_equal(back.singular, result.singular)
        back.write(tmp_path / "after.nc")
        assert (tmp_path / "after.nc").read_bytes() == (tmp_path / "before.nc").read_bytes()


def test_the_stations_without_a_single_value_survive_a_pickle(mesh):
    result = terrane.gravity.Simulation(mesh, terrane.Survey([1000.0, 1500], [1500.0, 1500], -1500.0), channels="tensor").run()
    assert result.singular.any() and not result.singular.all()
    for back in copies(result):
        assert_array_equal(back.singular, result.singular)


def test_fields_are_pickled_and_copied(blocks, stations):
    fields = forward(*blocks, *stations, channels="vector")
    for back in copies(fields):
        assert list(back) == list(fields) and back.report == fields.report
        for name in fields:
            assert_array_equal(back[name], fields[name])


def test_errors_come_whole_out_of_other_processes(tmp_path):
    for error in (terrane.ShapeError("a", "b", "c"), terrane.FileError("a", "b", "c"), terrane.MemoryError("a", "b")):
        for back in copies(error):
            assert type(back) is type(error) and str(back) == str(error) and back.next == error.next
    with multiprocessing.get_context("fork").Pool(1) as pool, pytest.raises(terrane.FileError, match="No such file"):
        pool.apply_async(terrane.read, (tmp_path / "none.nc",)).get(60)
