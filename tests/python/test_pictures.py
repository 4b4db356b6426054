"""One way to draw whatever there is: results, models, surveys, arrays of electrodes, data sets and files."""

import os
import subprocess
import sys

import numpy as np
import pytest

import terrane

pytest.importorskip("matplotlib").use("Agg")
pytest.importorskip("netCDF4")
xarray = pytest.importorskip("xarray")
pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def close_figures():
    yield
    pyplot.close("all")


def rock(**properties):
    return terrane.TensorMesh.regular([0, 80, 0, 40, -40, 0], shape=(8, 4, 4)), properties


def titles(axes):
    return [a.get_title() for a in np.atleast_1d(axes)]


def test_a_mesh_is_drawn_by_the_property_that_is_asked_for_or_the_answer():
    mesh, _ = rock()
    mesh.conductivity = 0.01
    mesh.density = 0.0
    mesh.density[1, 2, 5] = 400
    assert titles(mesh.plot()) == ["density at up = \N{MINUS SIGN}25 m", "density at northing = 25 m"]
    assert titles(terrane.plot(mesh, "conductivity", slice="easting=15")) == ["conductivity at easting = 15 m"]
    axes = mesh.plot("density", region=[20, 60, 0, 40], limits=[0, 100], cmap="magma", title="ore")
    assert axes[0].get_xlim() == (20, 60) and axes[0].collections[0].norm.vmax == 100
    assert axes[0].figure.get_suptitle() == "ore"
    with pytest.raises(terrane.InputError, match="there is no \"vp\"; it has: density, conductivity"):
        mesh.plot("vp")


def test_to_show_a_mesh_gives_it_no_property():
    mesh, _ = rock()
    mesh.resistivity = np.linspace(1, 100, 128).reshape(4, 4, 8)
    assert "mean resistivity of each column" in mesh._repr_html_() and mesh.properties == ("resistivity",)
    assert "resistivity" in titles(mesh.plot())[0] and mesh.properties == ("resistivity",)


def test_prisms_are_seen_from_above_and_from_the_side():
    prisms = terrane.PrismSet([[0, 10, 0, 20, -30, -10], [10, 40, 0, 20, -5, 0], [10, 40, 0, 20, -9, -5]],
                               density=[300, 50, 50])
    above, side = prisms.plot()
    assert (above.get_title(), side.get_title()) == ("density from above", "density from the south")
    assert above.get_xlim() == (0, 40) and side.get_ylim() == (-30, 0)
    corners = side.collections[0].get_paths()[-1].get_extents()  # the strongest is in front
    assert (corners.x0, corners.x1, corners.y0, corners.y1) == (0, 10, -30, -10)
    with pytest.raises(terrane.InputError, match="not cut"):
        prisms.plot(slice="up=-3")


def test_a_survey_shows_what_was_observed_else_its_heights():
    survey = terrane.Survey.grid([0, 10, 20], [0, 10], [[0, 1, 2], [3, 4, 5]])
    assert titles(survey.plot()) == ["up"]
    survey.set_column("g_u", np.arange(6.0), "mGal")
    assert titles(survey.plot()) == ["$g_{u}$"]
    layer = terrane.PrismLayer([0, 10, 20], [0, 10], surface=np.arange(6.0).reshape(2, 3), density=100)
    assert titles(layer.plot()) == ["surface"]


def test_arrays_of_electrodes_have_a_pseudosection_of_flat_ground():
    electrodes = np.array([[5.0 * n, 0, 0] for n in range(12)])
    four = np.array([[n, n + 3 * a, n + a, n + 2 * a] for a in (1, 2, 3) for n in range(12 - 3 * a)])  # Wenner
    resistance = 100 / (2 * np.pi * 5 * np.repeat([1, 2, 3], [9, 6, 3]))
    arrays = terrane.electric.Arrays(electrodes, four, {"resistance": ("V/A", resistance, 0.01 * resistance)})
    axes = arrays.plot()
    assert axes.get_title() == "apparent resistivity observed"
    points = axes.collections[0]
    np.testing.assert_allclose(points.get_array(), 100)
    assert sorted({round(-y, 6) for _, y in points.get_offsets()}) == [2.5, 5, 7.5]
    assert repr(arrays).splitlines()[0] == "Arrays" and len(repr(arrays).splitlines()) == 4


def test_what_a_picture_cannot_show_is_refused_with_what_it_can():
    survey = terrane.Survey([0.0, 1, 2], [0.0, 5, 1], 1.0)
    for words, said in (({"cmap": "virids"}, 'there is no "virids"; did you mean viridis'), ({"limits": [1]}, "two numbers"),
                        ({"limits": [3, 1]}, "the first less than the second"), ({"region": [9, 10, 0, 1]}, "in the region"),
                        ({"slice": "up=1"}, "only models and snapshots can be cut"), ({"wiggle": True}, "traces of shots")):
        with pytest.raises(terrane.InputError, match=said):
            survey.plot(**words)


def test_results_data_sets_and_files_have_one_picture(tmp_path):
    mesh, _ = rock()
    mesh.density[1, 2, 5] = 400
    survey = terrane.Survey.grid(np.arange(0.0, 81, 20), np.arange(0.0, 41, 20), up=5)
    result = terrane.gravity.Simulation(mesh, survey, channels=["g_u", "g_uu"]).run()
    for name in ("g.nc", "g.csv", "g.npz"):
        if name != "g.npz":
            result.write(tmp_path / name)
    for thing in (result, result.dataset, tmp_path / "g.nc", tmp_path / "g.csv"):
        axes = terrane.plot(thing, ["g_u"], path=tmp_path / "picture.png")
        assert titles(axes) == ["$g_{u}$"] and (tmp_path / "picture.png").stat().st_size > 1000
        (tmp_path / "picture.png").unlink()
    assert titles(terrane.plot(result["g_uu"])) == ["$g_{uu}$"]
    with pytest.raises(terrane.InputError, match="a dict has no picture"):
        terrane.plot({})
    with pytest.raises(terrane.InputError, match="there is no such file"):
        terrane.plot(tmp_path / "nothing.sgy")


EDI = """>HEAD
 DATAID="T01"
 LAT=-23:30:00.0
 LONG=134:15:00.0
 ELEV=410
>=MTSECT
 SECTID="T01"
 NFREQ=2
>FREQ //2
 1.0E+02 1.0E+00
>ZXYR //2
 1.118034E+02 1.118034E+01
>ZXYI //2
 1.118034E+02 1.118034E+01
>ZXY.VAR //2
 1.0 0.01
>ZYXR //2
 -1.118034E+02 -1.118034E+01
>ZYXI //2
 -1.118034E+02 -1.118034E+01
>ZYX.VAR //2
 1.0 0.01
>END
"""
RES2DINV = """A line
5.0
1
6
0
0
0 5 100
5 5 110
10 5 120
0 10 90
5 10 95
10 10 99
0
0
0
0
"""


def test_fields_at_receivers_are_mapped_at_one_frequency_or_time():
    from terrane.plotting import Data, Field, PlotError, draw

    east, north = (a.ravel() for a in np.meshgrid([0.0, 100, 200], [0.0, 50]))
    rho = np.array([[1.0], [100.0]]) * np.arange(1, 7)  # of 10 and 0.1 Hz, of six sites on a grid
    z = np.sqrt(rho * 2 * np.pi * np.array([[10], [0.1]]) * 4e-7 * np.pi) * np.exp(1j * np.pi / 3)
    sites = Data("curves", east, north, fields=[Field("z_ne", "ohm", z)], frequency=[10.0, 0.1], source="sites.nc")
    figure = draw(sites, slice_at="period=9")
    assert titles(terrane.plotting.axes_of(figure)) == ["rho ne", "phase ne"]
    np.testing.assert_allclose(figure.axes[0].collections[0].get_array(), (100 * np.arange(1, 7)).reshape(2, 3))
    assert figure._suptitle.get_text() == "period 10 s"
    with pytest.raises(PlotError, match="no fields at receivers over time"):
        draw(sites, slice_at="time=3")
    wire = Data("offsets", east, north, fields=[Field("e_e", "V/m", z[None])], frequency=[10.0, 0.1], source="wire.nc")
    figure = draw(wire, slice_at="frequency=10 Hz")
    np.testing.assert_allclose(figure.axes[1].collections[0].get_array(), 60)
    wire.fields += [Field("e_e_error", "V/m", np.abs(z[None]))]
    assert titles(terrane.plotting.axes_of(draw(wire, slice_at="frequency=10"))) == ["$E_{e}$ amplitude", "$E_{e}$ phase"]
    warm = Data("histories", east, north, up=0 * east, fields=[Field("temperature", "K", rho)], time=[0.0, 86400.0])
    figure = draw(warm, slice_at="time=90000")
    np.testing.assert_allclose(figure.axes[0].collections[0].get_array().ravel(), 100 * np.arange(1, 7))


def test_files_of_sites_and_of_instruments_are_drawn_as_their_fields_see_them(tmp_path):
    (tmp_path / "site.edi").write_text(EDI)
    rho, phase = terrane.plot(tmp_path / "site.edi")
    assert rho.get_title() == "T01" and rho.get_yscale() == "log" and phase.get_xlabel() == "period (s)"
    points = rho.containers[0].lines[0]
    np.testing.assert_allclose(points.get_ydata(), 50, rtol=1e-6)  # ohm m
    np.testing.assert_allclose(points.get_xdata(), [0.01, 1])
    assert len(rho.containers[0].lines[2]) == 1, "with error bars"
    (tmp_path / "line.dat").write_text(RES2DINV)
    axes = terrane.plot(tmp_path / "line.dat")
    assert axes.get_title() == "apparent resistivity observed"
    assert sorted(axes.collections[0].get_array()) == [90, 95, 99, 100, 110, 120]
    rows = "".join(f"{7.5 + 2.5 * n} 5 {n} {100 + n}\n" for n in range(1, 7))  # A stands between B and M
    (tmp_path / "dipoles.dat").write_text(f"A line\n5.0\n3\n6\n1\n0\n{rows}0\n")
    places = terrane.plot(tmp_path / "dipoles.dat").collections[0].get_offsets()
    np.testing.assert_allclose(sorted(-places[:, 1]), [2.5, 5, 7.5, 10, 12.5, 15])


#: As a notebook's: it makes matplotlib interactive as it is loaded, and figures are shown and closed after each cell.
BACKEND = """
import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg as FigureCanvas
matplotlib.rcParams["interactive"] = True
def show(*_, **__): pass
"""
NOTEBOOK = """
import matplotlib, terrane
counts = []
def end_of_cell():
    from matplotlib import pyplot
    counts.append(len(pyplot.get_fignums()) if matplotlib.is_interactive() else 0)
    pyplot.close("all")
survey = terrane.Survey.grid([0, 10, 20], [0, 10], 1.0)
survey.plot()
end_of_cell()
survey.plot()
end_of_cell()
from matplotlib import pyplot
pyplot.plot([1, 2, 3])
end_of_cell()
print(counts, matplotlib.rcParams["font.size"])
"""


def test_after_a_picture_a_notebook_goes_on_showing_figures(tmp_path):
    (tmp_path / "inline_like.py").write_text(BACKEND)
    run = subprocess.run([sys.executable, "-c", NOTEBOOK], capture_output=True, text=True,
                         env={**os.environ, "MPLBACKEND": "module://inline_like", "PYTHONPATH": str(tmp_path)})
    assert (run.stdout.strip(), run.stderr) == ("[1, 1, 1] 10.0", "")
