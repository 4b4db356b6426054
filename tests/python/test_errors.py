"""Bad input: an exception of ours that names the argument and what was expected."""

import builtins
import pickle

import numpy as np
import pytest

import terrane
from terrane.gravity import forward

BOX = [[0.0, 10.0, 0.0, 10.0, -10.0, 0.0]]
NAN = float("nan")


def good(**changes):
    arguments = dict(prisms=BOX, density=[100.0], easting=[0.0], northing=[0.0], up=[5.0])
    arguments.update(changes)
    return arguments


def masked():
    return np.ma.masked_array([1.0, 2.0], [False, True])


class Length:
    """As pint's quantities."""

    magnitude, units = np.array([1.0]), "kilometer"

    def __array__(self, dtype=None, copy=None):
        return self.magnitude


BAD = {
    "prisms with five columns": (dict(prisms=[[0, 1, 0, 1, 0]]), r"prisms: has shape \(1, 5\)[\s\S]*\[m, 6\]"),
    "prisms lying on their side": (dict(prisms=np.zeros((6, 3))), r"prisms[\s\S]*prisms\.T"),
    "no prisms": (dict(prisms=np.zeros((0, 6))), "prisms: there are no prisms"),
    "ragged prisms": (dict(prisms=[[0, 1, 0, 1, 0, 1], [0, 1]]), "prisms"),
    "west beyond east": (dict(prisms=[[10, 0, 0, 10, -10, 0]]), r"prism 0: west 10 m and east 0 m"),
    "bottom above top": (dict(prisms=[[0, 10, 0, 10, 5, 0]]), "bottom 5 m and top 0 m"),
    "a face that is NaN": (dict(prisms=[[0, NAN, 0, 10, -10, 0]]), "prism 0: west 0 m and east nan m"),
    "two densities for one prism": (dict(density=[1.0, 2.0]), r"density: has shape \(2,\)[\s\S]*\[1\]"),
    "density in a matrix": (dict(density=[[1.0]]), r"density: has shape \(1, 1\)"),
    "density NaN": (dict(density=[NAN]), "density nan"),
    "density infinite": (dict(density=[float("inf")]), "density inf"),
    "objects": (dict(easting=np.array([object()])), "easting: has dtype object"),
    "words": (dict(up=["high"]), "up: has dtype <U4"),
    "complex numbers": (dict(northing=[1j]), "northing: has dtype complex128"),
    "truth values": (dict(density=[True]), "density: has dtype bool"),
    "masked entries": (dict(easting=masked(), northing=[0, 0], up=[0, 0]), "easting: has masked entries"),
    "stations of two lengths": (dict(easting=[0.0, 1.0], northing=[0.0, 1.0, 2.0]), r"\(2,\), \(3,\) and \(1,\)"),
    "no stations": (dict(easting=[], northing=[], up=[]), "easting: has shape .*no stations"),
    "a station that is NaN": (dict(up=[NAN]), "station 0.*up nan"),
    "kilometres": (dict(easting=Length()), "easting: is in kilometer[\\s\\S]*Convert it to m"),
    "an unknown channel": (dict(channels=["g_y"]), "g_y"),
    "a channel of another frame": (dict(channels=["g_z"]), "g_z"),
    "channels that are a number": (dict(channels=5), "channels: is 5"),
    "a frame that is None": (dict(frame=None), r"frame: is None[\s\S]*enu, harmonica"),
    "a frame that is a list": (dict(frame=["enu"]), r"frame: is \['enu'\]"),
    "units that are a number": (dict(units=1), r"units: is 1[\s\S]*geo, si"),
    "out that is a number": (dict(out=5), "out: is a int[\\s\\S]*mapping of channels"),
    "a density beyond any star": (dict(density=[1e308]), r"prism 0: density 1e\+308 kg/m3[\s\S]*1e\+20"),
    "a prism larger than a light year": (dict(prisms=[[-1e150, 1e150, 0, 1, 0, 1]]), r"prism 0: west -1e\+150 m"),
    "a station beyond a light year": (dict(up=[1e160]), r"station 0: .*up 1e\+160"),
    "no channel": (dict(channels=[]), "no channel is asked for"),
    "a channel that is no name": (dict(channels=[3]), "channels: 3 is not a name"),
    "unknown units": (dict(units="imperial"), "imperial"),
    "an unknown frame": (dict(frame="ned"), "ned"),
    "an unknown method": (dict(method="magic"), "method: is 'magic'[\\s\\S]*auto, direct, lattice, tree, fmm"),
    "an unknown policy": (dict(singular="zero"), "singular: is 'zero'"),
    "an unknown precision": (dict(precision="half"), "precision: is 'half'"),
    "an accuracy beyond double": (dict(accuracy=1e-30), "accuracy"),
    "an accuracy in words": (dict(accuracy="good"), "accuracy: is 'good'[\\s\\S]*best"),
    "an accuracy that is nothing": (dict(accuracy=None), "accuracy: is None"),
    "no gravity": (dict(gravitational_constant=-1.0), "gravitational_constant"),
    "no threads": (dict(threads=0), "threads: is 0"),
    "half a thread": (dict(threads=1.5), "threads: is 1.5"),
    "an unknown device": (dict(device="abacus"), 'device: "abacus" is no device[\\s\\S]*auto, cpu, cuda, cuda:N'),
    "a device by number": (dict(device=1), "device: is 1[\\s\\S]*cuda:N"),
    "progress of the wrong kind": (dict(progress="yes"), "progress: is 'yes'"),
    "nowhere to write": (dict(out={}), r"out\['g_u'\]: is missing"),
    "a list to write to": (dict(out={"g_u": [0.0]}), r"out\['g_u'\]: is a list"),
    "too little to write to": (dict(out={"g_u": np.zeros(2)}), r"out\['g_u'\]: has shape \(2,\)"),
    "float32 to write to": (dict(out={"g_u": np.zeros(1, np.float32)}), "has dtype float32"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_an_error_that_names_the_argument(case):
    changes, pattern = BAD[case]
    with pytest.raises(terrane.InputError, match=pattern) as caught:
        forward(**good(**changes))
    assert isinstance(caught.value, ValueError)


def test_read_only_output_is_refused():
    out = np.zeros(1)
    out.flags.writeable = False
    with pytest.raises(terrane.InputError, match="read-only"):
        forward(**good(out={"g_u": out}))
    with pytest.raises(terrane.InputError, match="not contiguous"):
        forward(**good(easting=np.zeros(2), out={"g_u": np.zeros(4)[::2]}))


def test_outputs_that_share_memory_are_refused():
    memory, up = np.zeros(3), np.array([5.0, 6.0])
    with pytest.raises(terrane.InputError, match="out for g_u: shares memory with out for g_n"):
        forward(**good(easting=[0.0, 1.0], up=up, channels=["g_n", "g_u"], out={"g_n": memory[:2], "g_u": memory[1:]}))
    with pytest.raises(terrane.InputError, match="out for g_u: shares memory with up"):
        forward(**good(easting=np.zeros(2), northing=np.zeros(2), up=up, out={"g_u": up}))


@pytest.mark.parametrize("shape", [(1.5, 1, 1), (0, 1, 1), (1, 1), 3, ("2", 1, 1), (True, 1, 1)])
def test_cells_are_counted_in_whole_numbers(shape):
    with pytest.raises(terrane.InputError, match="shape"):
        terrane.TensorMesh.regular([0, 1, 0, 1, -1, 0], shape)


def test_names_with_a_zero_byte_are_refused_and_not_cut(tmp_path):
    mesh = terrane.TensorMesh.regular([0, 1, 0, 1, -1, 0], (2, 2.0, np.int32(2)))
    with pytest.raises(terrane.FileError, match="zero byte"):
        mesh.write(f"{tmp_path}/a\0b.nc")
    with pytest.raises(terrane.FileError, match="zero byte"):
        terrane.TensorMesh.read(f"{tmp_path}/a\0b.nc")
    assert not list(tmp_path.iterdir())


def test_the_device_that_is_not_there_is_unsupported():
    with pytest.raises(terrane.UnsupportedError, match="cuda:99[\\s\\S]*Available: cpu") as caught:
        forward(**good(device="cuda:99"))
    assert isinstance(caught.value, RuntimeError)


def test_errors_are_what_python_expects():
    assert issubclass(terrane.InputError, ValueError) and issubclass(terrane.ShapeError, terrane.InputError)
    assert issubclass(terrane.FileError, OSError) and issubclass(terrane.UnsupportedError, RuntimeError)
    assert issubclass(terrane.MemoryError, builtins.MemoryError)
    assert all(issubclass(e, terrane.Error) for e in (terrane.InputError, terrane.FileError, terrane.MemoryError))
    error = terrane.InputError("where", "problem", "next")
    assert (error.where, error.problem, error.next) == ("where", "problem", "next")
    assert str(error) == "where: problem\nnext"
    assert str(terrane.FileError("a.nc", "cannot be opened")) == "a.nc: cannot be opened"


def test_files_that_are_not_there_are_os_errors(tmp_path):
    with pytest.raises(OSError, match="nothing.msh"):
        terrane.TensorMesh.read(tmp_path / "nothing.msh")
    with pytest.raises(terrane.Error, match="nothing.toml"):
        terrane.run(tmp_path / "nothing.toml")


def test_a_run_that_cannot_fit_stops_before_it_starts(tmp_path):
    job = tmp_path / "job.toml"
    job.write_text('[mesh]\nbox=[0,1,0,1,-1,0]\nshape=[1,1,1]\n[[model.body]]\nkind="box"\nbox=[0,1,0,1,-1,0]\ndensity=1\n'
                   '[survey]\nregion=[0,1,0,1]\nshape=[3000,3000]\nheight=1\n[simulation]\nmemory="1 MB"\n')
    with pytest.raises(builtins.MemoryError, match="would need"):
        terrane.run(job)


def test_file_errors_carry_the_systems_number_and_the_files_name(tmp_path):
    import errno

    with pytest.raises(FileNotFoundError) as missing:
        terrane.read(tmp_path / "none.nc")
    assert missing.value.errno == errno.ENOENT and missing.value.filename == str(tmp_path / "none.nc")
    with pytest.raises(terrane.FileError) as folder:
        terrane.read(tmp_path)
    assert folder.value.errno in (errno.EISDIR, errno.EINVAL) and not isinstance(folder.value, FileNotFoundError)
    (tmp_path / "damaged.nc").write_bytes(b"\x89HDF\r\n\x1a\n")
    with pytest.raises(terrane.FileError) as damaged:
        terrane.read(tmp_path / "damaged.nc")
    assert isinstance(damaged.value.errno, int)
    copy = pickle.loads(pickle.dumps(missing.value))
    assert copy.errno == errno.ENOENT and str(copy) == str(missing.value) and isinstance(copy, terrane.FileError)
