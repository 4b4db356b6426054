"""terrane.run equals the command line."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import terrane

EXAMPLES = ROOT / "examples"
COMMAND = [sys.executable, "-m", "terrane._command"]


@pytest.fixture(autouse=True)
def same_date(monkeypatch):
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1700000000")


def test_run_writes_the_same_bytes_as_the_command(tmp_path):
    job = shutil.copy(EXAMPLES / "01_one_prism" / "job.toml", tmp_path / "job.toml")
    subprocess.run([*COMMAND, "run", job, "--quiet", "--output", str(tmp_path / "cli"), "--no-plots"], check=True)
    result = terrane.run(job, output=tmp_path / "python", plots=False)
    names = sorted(p.name for p in (tmp_path / "cli").iterdir())
    assert names and names == sorted(p.name for p in (tmp_path / "python").iterdir())
    rows = {}
    for folder in ("cli", "python"):
        text = (tmp_path / folder / "one_prism.csv").read_text()
        rows[folder] = [line for line in text.splitlines() if not line.startswith("#")]
    assert rows["cli"] == rows["python"]
    assert len(result.channels) == 10


def test_settings_and_arguments_reach_the_job(tmp_path):
    job = shutil.copy(EXAMPLES / "01_one_prism" / "job.toml", tmp_path / "job.toml")
    result = terrane.run(job, settings={"simulation.channels": ["g_z"], "simulation.frame": "harmonica",
                                        "simulation.accuracy": 1e-10}, write=False, threads=1)
    assert result.channels == ("g_z",) and result.attributes["accuracy"] == "1e-10"
    assert not (tmp_path / "output").exists()


def test_check_computes_nothing(tmp_path):
    plan = terrane.check(EXAMPLES / "01_one_prism" / "job.toml")
    assert plan["sources"] == 1 and plan["stations"] == 5
    assert not (tmp_path / "output").exists()


def test_files_that_cannot_be_are_found_before_the_run(tmp_path):
    job = shutil.copy(EXAMPLES / "01_one_prism" / "job.toml", tmp_path / "job.toml")
    for files, error, words in ((["a.asc"], terrane.UnsupportedError, r"output.files: \"a.asc\""),
                                (["job.toml.csv", "./job.toml.csv"], terrane.InputError, "same file"),
                                (["taken.csv"], terrane.FileError, "is a folder")):
        (tmp_path / "output" / "taken.csv").mkdir(parents=True, exist_ok=True)
        for do in (terrane.check, terrane.run):
            with pytest.raises(error, match=words):
                do(job, settings={"output.files": files, "output.plots": []})
    assert terrane.run(job, settings={"output.files": ["a.asc"], "output.plots": []}, write=False).channels


def test_a_file_that_fails_takes_no_other_with_it(tmp_path):
    job = shutil.copy(EXAMPLES / "01_one_prism" / "job.toml", tmp_path / "job.toml")
    os.symlink("/dev/full", tmp_path / "full.csv")
    with pytest.raises(terrane.FileError, match="full.csv"):
        terrane.run(job, output=tmp_path, settings={"output.files": ["full.csv", "b.npy"]}, plots=False)
    assert np.load(tmp_path / "b.npy").shape == (10, 5)


def test_a_mistyped_key_is_an_error_with_its_line(tmp_path):
    job = tmp_path / "job.toml"
    job.write_text((EXAMPLES / "01_one_prism" / "job.toml").read_text().replace("accuracy", "acuracy"))
    with pytest.raises(terrane.InputError, match=r"job.toml:\d+: simulation.acuracy[\s\S]*accuracy"):
        terrane.run(job)


def test_the_command_says_what_it_is():
    said = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith(f"terrane {terrane.__version__}")


def test_the_command_is_on_the_path_of_an_installed_package():
    script = Path(sys.executable).parent / "terrane"
    if "site-packages" not in terrane.__path__[0] or not script.exists():
        pytest.skip("the package is not installed beside this Python")
    said = subprocess.run([str(script), "--version"], capture_output=True, text=True, check=True).stdout
    assert said.startswith("terrane ")


def test_sample_data_by_name_are_read_and_come_with_their_job(tmp_path):
    files = terrane.sample("electric", tmp_path / "line")
    assert [path.name for path in files.data] == ["line.ohm"] and files.truth.exists()
    assert terrane.electric.read_arrays(files.data[0]).columns
    with pytest.raises(terrane.InputError, match="is there"):
        terrane.sample("electric", tmp_path / "line")
    with pytest.raises(terrane.InputError) as error:
        terrane.sample("seismic")
    from terrane import _names

    allowed = str(error.value).split("Allowed:")[1].strip(" .\n").split(", ")
    assert set(allowed) == set(_names.SampleName.__args__)


#: Scripts that take long, twice here, with the job beside them; the command runs their jobs in tests/cli/examples.py.
LONG = {"11_migrated_layers", "13_telluric_block", "17_loh1", "18_resistivities", "19_chunk", "23_grounded_wires",
        "26_joint", "29_tilted_shot", "30_ridge", "31_two_solvers", "34_velocities_from_waves",
        "38_slow_light_conducting", "39_channel"}
#: Of scripts that take --only, the simulation that is compared; else that of gravity.
ONLY = {"31_two_solvers": "acoustic"}
SCRIPTS = [pytest.param(job.with_name("script.py"), id=job.parent.name,
                        marks=[pytest.mark.long] if job.parent.name in LONG else [])
           for job in sorted(EXAMPLES.glob("*/job.toml")) if job.with_name("script.py").exists()]


@pytest.mark.parametrize("script", SCRIPTS)
def test_example_scripts_give_the_expected_numbers(script, tmp_path):
    """Each script takes --output FOLDER, and its result is that of the job beside it."""
    data = os.environ.get("TERRANE_DATA", "")
    if data and (Path(data) / "gravity").is_dir():
        data = str(Path(data) / "gravity")
    if "--data" in script.read_text() and not data:
        pytest.skip("needs TERRANE_DATA, the folder with the open data sets")
    words = [sys.executable, str(script), "--output", str(tmp_path)] + (["--data", data] if data else [])
    several = "--only" in script.read_text()
    only = ONLY.get(script.parent.name, "gravity")
    done = subprocess.run([*words, "--only", only] if several else words, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    made = sorted(tmp_path.glob("*.nc"))
    assert made, "the script writes a result"
    from terrane import plotting

    given = {"output": tmp_path / "by_the_job", "plots": False, **({"data": data} if "--data" in script.read_text() else {})}
    if several:
        job = terrane.run_all(script.parent / "job.toml", only=[only], **given)[only]
    elif "[joint]" in (script.parent / "job.toml").read_text():
        job = terrane.run_all(script.parent / "job.toml", **given)["gravity"]
    else:
        job = terrane.run(script.parent / "job.toml", **given)
    for path in made:
        twin = tmp_path / "by_the_job" / path.name
        if twin.exists():
            expected, found = numbers(twin), numbers(path)
            assert expected.keys() == found.keys()
        else:
            expected = {name: job.values(name).ravel() for name in job.channels}
            found = {f.name: np.ravel(f.values) for f in plotting.read(path).fields}
        for name, values in expected.items():
            largest = np.abs(values[np.isfinite(values)]).max(initial=0)
            np.testing.assert_allclose(found[name], values, rtol=1e-9, atol=1e-11 * largest, err_msg=name)


def numbers(path):
    """Every variable of numbers in a NetCDF file, as one row; of complex ones the real and imaginary parts."""
    netCDF4 = pytest.importorskip("netCDF4")
    found = {}
    with netCDF4.Dataset(path) as file:
        for name, variable in file.variables.items():
            values = np.ma.filled(variable[...])
            if values.dtype.names:
                values = np.stack([values[part] for part in values.dtype.names])
            if np.iscomplexobj(values):
                values = np.stack([values.real, values.imag])
            if values.dtype.kind in "fiu":
                found[name] = values.astype(float).ravel()
    return found


def test_files_of_any_name_are_read_in_the_format_that_is_given(tmp_path):
    (tmp_path / "mesh.txt").write_text("3 1 2\n0 0 0\n10 20 30\n10\n5 5\n")  # could be a list of points
    (tmp_path / "model.txt").write_text("0.1\n0.2\n0.3\n0.4\n0.5\n-100\n")  # g/cm3, down first
    (tmp_path / "places.txt").write_text("2\n5 5 1\n50 5 1\n")
    job = tmp_path / "job.toml"
    job.write_text('[mesh]\nkind = "file"\nfile = "mesh.txt"\nformat = "ubc-mesh"\n'
                   '[model]\nfile = "model.txt"\nformat = "ubc-density"\n'
                   '[survey]\nkind = "list"\nfile = "places.txt"\nformat = "ubc-gravity"\n')
    result = terrane.run(job, write=False)
    mesh = terrane.TensorMesh([0, 10, 30, 60], [0, 10], [-10, -5, 0], [[[200, 400, 0]], [[100, 300, 500]]])
    expected = terrane.gravity.Simulation(mesh, terrane.Survey([5.0, 50.0], 5.0, 1.0)).run()
    np.testing.assert_allclose(result.values("g_u"), expected.values("g_u"), rtol=1e-12)
    for key in ("mesh.format", "survey.format"):
        with pytest.raises(terrane.Error):
            terrane.check(job, settings={key: "csv"})
    with pytest.raises(terrane.UnsupportedError, match="not a format"):
        terrane.check(job, settings={"mesh.format": "ubc"})


def test_locations_of_gg3d_are_a_survey(tmp_path):
    path = tmp_path / "survey.loc"
    path.write_text("datacomp=xx,xy,zz\n2 ! stations\n1 2 30\n4 5 30\n")
    survey = terrane.Survey.read(path)
    assert survey.easting.tolist() == [1, 4] and survey.up.tolist() == [30, 30] and not survey.columns


SEVERAL = """
[mesh]
box = [0, 1000, 0, 1000, -1000, 0]
shape = [10, 10, 10]
[[model.unit]]
name = "ore"
density = 400
susceptibility = 0.01
[[model.body]]
kind = "sphere"
centre = [500, 500, -500]
radius = 300
unit = "ore"
[survey]
region = [0, 1000, 0, 1000]
shape = [3, 3]
height = 10
[[simulation]]
physics = "gravity"
[[simulation]]
physics = "magnetic"
[output.gravity]
files = ["gravity.nc"]
[output.magnetic]
files = ["magnetic.nc"]
"""


def test_several_simulations_come_back_by_name(tmp_path):
    job = tmp_path / "job.toml"
    job.write_text(SEVERAL)
    plans = terrane.check_all(job, output=tmp_path)
    assert list(plans) == ["gravity", "magnetic"]
    assert not (tmp_path / "gravity.nc").exists()
    results = terrane.run_all(job, output=tmp_path)
    assert list(results) == ["gravity", "magnetic"]
    assert list(results["gravity"].channels) == ["g_u"] and list(results["magnetic"].channels) == ["tmi"]
    assert (tmp_path / "gravity.nc").exists() and (tmp_path / "magnetic.nc").exists()
    alone = terrane.run_all(job, output=tmp_path, only=["magnetic"], write=False)
    np.testing.assert_array_equal(alone["magnetic"].values("tmi"), results["magnetic"].values("tmi"))
    with pytest.raises(terrane.UnsupportedError, match="run_all"):
        terrane.run(job)
    with pytest.raises(terrane.InputError, match="Did you mean"):
        terrane.run_all(job, only=["magnetik"])
