"""What the plots read, and that they draw it."""

import pathlib
import sys
import types

import numpy
import pytest

netCDF4 = pytest.importorskip("netCDF4")
pytest.importorskip("matplotlib").use("Agg")

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "python/terrane"))
import plotting  # noqa: E402  (as the command runs it: without the package around it)


@pytest.fixture(autouse=True)
def figures_are_closed():
    yield
    sys.modules["matplotlib.pyplot"].close("all")


def panels(figure):
    """Its axes, without colour bars."""
    return list(numpy.atleast_1d(plotting.axes_of(figure)))


def stations_with_both_kinds_of_coordinates(path):
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("station", 3)
        columns = {"longitude": ([20.0, 21, 22], "degrees_east"), "latitude": ([-30.0, -31, -32], "degrees_north"),
                   "easting": ([0.0, 9e4, 1.8e5], "m"), "northing": ([0.0, -1e5, -2e5], "m"),
                   "disturbance": ([1.0, -2, 3], "mGal")}
        for name, (values, unit) in columns.items():
            variable = file.createVariable(name, "f8", ("station",))
            variable.units = unit
            variable[:] = values
    return path


def test_stations_are_drawn_by_easting_and_northing_where_both_are_there(tmp_path):
    data = plotting.read(stations_with_both_kinds_of_coordinates(tmp_path / "stations.nc"))
    assert not data.geographic
    numpy.testing.assert_array_equal(data.northing, [0, -1e5, -2e5])
    assert plotting.draw(data, ["disturbance"]).axes[0].get_xlabel() == "along the line (km)"
    data.easting[1] += 5e4
    figure = plotting.draw(data, ["disturbance"])
    assert figure.axes[0].get_xlabel() == "easting (km)"
    low, high = figure.axes[0].get_ylim()
    assert low < -200 and high > 0


def waves(path, bricks, easting=(200.0, 0, 100, 300, 400), northing=(5.0, 5, 5, 5, 5)):
    """Receivers, and snapshots of 2 u_east − up, on two by two by two bricks, or on their ground."""
    up, north, east = numpy.meshgrid([-200.0, -90, 0], [0.0, 60, 100], [0.0, 150, 300], indexing="ij")
    at = numpy.arange(27).reshape(3, 3, 3)
    quads = [at[:, j:j + 2, i:i + 2] for j in range(2) for i in range(2)]
    around = [(0, 0), (0, 1), (1, 1), (1, 0)]
    cells = [[q[k + h, j, i] for h in (0, 1) for j, i in around] for k in range(2) for q in quads] if bricks else \
        [[q[2, j, i] for j, i in around] for q in quads]
    with netCDF4.Dataset(path, "w") as file:
        for name, size in {"receiver": len(easting), "component": 3, "time": 50, "snapshot": 2, "point": 27,
                           "cell": len(cells), "corner": len(cells[0])}.items():
            file.createDimension(name, size)

        def add(name, dimensions, values, unit="m"):
            values = numpy.asarray(values)
            variable = file.createVariable(name, str if values.dtype.kind == "U" else values.dtype, dimensions)
            variable.units = unit
            variable[:] = values.astype(object) if values.dtype.kind == "U" else values

        add("component", ("component",), ["east", "north", "up"], "")
        add("time", ("time",), numpy.linspace(0, 1, 50), "s")
        for axis, values in {"easting": easting, "northing": northing, "up": numpy.zeros(len(easting))}.items():
            add(f"receiver_{axis}", ("receiver",), values)
        traces = numpy.zeros((len(easting), 3, 50))
        traces[:, 2, 20] = numpy.resize([3, 1, 2], len(easting))
        add("velocity", ("receiver", "component", "time"), traces, "m/s")
        add("peak_velocity", ("receiver",), numpy.resize([3.0, 1, 2], len(easting)), "m/s")
        for axis, values in {"easting": east, "northing": north, "up": up}.items():
            add(f"point_{axis}", ("point",), values.ravel())
        add("cell_points", ("cell", "corner"), cells, "")
        add("snapshot", ("snapshot",), [0.1, 0.2], "s")
        field = numpy.zeros((2, 27, 3))
        field[1, :, 2] = (2 * east - up).ravel()
        add("snapshot_velocity", ("snapshot", "point", "component"), field, "m/s")
    return path


def test_a_record_section_has_each_trace_at_its_receiver(tmp_path):
    data = plotting.read(waves(tmp_path / "waves.nc", bricks=True))
    assert [f.name for f in data.fields] == ["velocity_east", "velocity_north", "velocity_up"]
    figure = plotting.draw(data)
    assert [a.get_title().splitlines() for a in figure.axes] == [["velocity up", "traces are 1.5 m/s apart"]], "others are zero"
    assert len(plotting.draw(data, ["velocity_north", "velocity_up"]).axes) == 2
    up = figure.axes[0]
    assert up.get_xlabel() == "easting (m)" and up.get_ylim()[0] > up.get_ylim()[1]
    lines = [line.get_xdata() for line in up.lines]
    assert [line[0] for line in lines] == [0, 100, 200, 300, 400]
    peaks = [line[20] - line[0] for line in lines]
    assert numpy.allclose(peaks, [200 / 3, 400 / 3, 150, 150, 200 / 3], rtol=0.01)  # cut off: 1.5 times
    with pytest.raises(plotting.PlotError, match="snapshot_velocity_up"):
        plotting.draw(data, ["pressure"])


def test_traces_of_a_grid_of_receivers_are_as_wide_as_its_columns_are_apart(tmp_path):
    east, north = numpy.meshgrid([0.0, 100, 200], [0.0, 10, 20])
    east += 1e-10 * north  # as coordinates that were turned and turned back
    figure = plotting.draw(plotting.read(waves(tmp_path / "waves.nc", True, east.ravel(), north.ravel())))
    lines = [line.get_xdata() for line in figure.axes[0].lines]
    assert len(lines) == 9
    assert max(line[20] - line[0] for line in lines) == pytest.approx(150)  # what is cut off: 1.5 columns
    one_place = plotting.draw(plotting.read(waves(tmp_path / "one.nc", True, [7.0] * 5, [5.0] * 5)))
    assert one_place.axes[0].lines[0].get_xdata()[20] == pytest.approx(7 + 1.5)


def test_few_receivers_have_each_trace_with_its_amplitudes(tmp_path):
    data = plotting.read(waves(tmp_path / "waves.nc", True, (200.0, 0), (5.0, 5)))
    rows = plotting.draw(data, limits=[-4, 4]).axes
    assert [axes.get_ylabel() for axes in rows] == ["200, 5, 0 m", "0, 5, 0 m"]
    assert rows[0].get_title() == "velocity up (m/s)" and rows[1].get_ylim() == (-4, 4)
    assert rows[0].lines[0].get_ydata()[20] == 3 and rows[1].lines[0].get_ydata()[20] == 1
    with pytest.raises(plotting.PlotError, match="cmap: has no effect on pictures of seismograms; region, limits have"):
        plotting.draw(data, cmap="magma")


def gathers(path, on_traces):
    """Shots 7 and 9; the receivers of shot 9 stand along northing, and are more where traces have an axis of their own."""
    places = {7: [(0.0, 5.0), (20.0, 5.0), (10.0, 5.0)], 9: [(1.0, 40.0), (1.0, 0.0), (1.0, 20.0)]}
    if on_traces:
        places[9].append((1.0, 60.0))
    with netCDF4.Dataset(path, "w") as file:
        def add(name, dimensions, values):
            file.createVariable(name, "f8", dimensions)[:] = values

        file.createDimension("time", 40)
        add("time", ("time",), 0.01 * numpy.arange(40))
        alone = [(shot, *place) for shot in places for place in places[shot]]
        series = numpy.zeros((len(alone), 40))
        series[:, 10] = numpy.arange(1, len(alone) + 1)
        if on_traces:
            file.createDimension("trace", len(alone))
            add("shot", ("trace",), [a[0] for a in alone])
            for n, axis in enumerate(("easting", "northing"), start=1):
                add(f"receiver_{axis}", ("trace",), [a[n] for a in alone])
            add("pressure", ("trace", "time"), series)
        else:
            file.createDimension("shot", 2)
            file.createDimension("receiver", 3)
            add("shot", ("shot",), list(places))
            for n, axis in enumerate(("easting", "northing"), start=1):
                add(f"receiver_{axis}", ("shot", "receiver"), numpy.reshape([a[n] for a in alone], (2, 3)))
            add("pressure", ("shot", "time", "receiver"), series.reshape(2, 3, 40).swapaxes(1, 2))
    return path


@pytest.mark.parametrize("on_traces", [False, True])
def test_each_shot_is_drawn_along_the_line_of_its_receivers(tmp_path, on_traces):
    data = plotting.read(gathers(tmp_path / "shots.nc", on_traces))
    grey = plotting.draw(data)
    assert [axes.get_title() for axes in panels(grey)] == ["shot 7", "shot 9"]
    assert [axes.get_xlabel() for axes in panels(grey)] == ["easting (m)", "northing (m)"]
    assert list(grey.axes[0].images[0].get_array()[10]) == [1, 3, 2]  # in the order of their eastings
    assert grey.axes[1].images[0].get_array().shape == (40, 4 if on_traces else 3)
    lines = plotting.draw(data, wiggle=True)
    assert [line.get_xdata()[0] for line in panels(lines)[1].lines] == [0, 20, 40] + on_traces * [60]


def test_many_wiggles_are_thinned_and_wiggles_are_of_shots(tmp_path):
    data = plotting.read(gathers(tmp_path / "shots.nc", False))
    data.lines[0] = ("easting (m)", numpy.arange(150.0))
    data.fields[0].values = [numpy.ones((40, 150)), data.fields[0].values[1]]
    figure = plotting.draw(data, wiggle=True)
    assert len(figure.axes[0].lines) == 50 and "one trace in 3" in figure.axes[0].get_title()
    with pytest.raises(plotting.PlotError, match="--wiggle draws traces of shots"):
        plotting.draw(plotting.read(waves(tmp_path / "waves.nc", bricks=True)), wiggle=True)


def traces(path, receivers, sources=None, number=None, time=True):
    """Each trace for itself, with a peak that grows from one to the next; receivers and sources by their easting."""
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("time", 40)
        file.createDimension("trace", len(receivers))
        columns = {"shot": number, "receiver_easting": receivers, "source_easting": sources}
        for name, values in {**columns, "receiver_northing": numpy.zeros(len(receivers))}.items():
            if values is not None:
                file.createVariable(name, "f8", ("trace",))[:] = values
        if time:
            file.createVariable("time", "f8", ("time",))[:] = 0.01 * numpy.arange(40)
        file.createVariable("pressure", "f8", ("trace", "time"))[:] = \
            numpy.arange(1, len(receivers) + 1)[:, None] * (numpy.arange(40) == 10)
    return path


def shade_at(axes, easting, time=0.1025):
    """What is drawn at a place."""
    x, y = axes.transData.transform((easting, time))
    return axes.images[0].get_cursor_data(types.SimpleNamespace(x=x, y=y, xdata=easting, ydata=time))


def test_grey_traces_stand_where_their_receivers_do(tmp_path):
    for receivers in ([0.0, 10, 20, 30, 500], [-40.0, -30, -20, 20, 30, 40], [0.0, 10, 15, 20, 30, 40]):
        axes = plotting.draw(plotting.read(traces(tmp_path / "gaps.nc", receivers))).axes[0]
        assert [shade_at(axes, place) for place in receivers] == list(range(1, len(receivers) + 1))
    assert shade_at(axes, 17) == 3 and shade_at(axes, 18) == 4  # half way
    axes = plotting.draw(plotting.read(traces(tmp_path / "gap.nc", [0.0, 10, 20, 30, 500]))).axes[0]
    assert shade_at(axes, 34) == 4 and numpy.ma.is_masked(shade_at(axes, 36)) and shade_at(axes, 496) == 5
    even = plotting.draw(plotting.read(traces(tmp_path / "even.nc", [0.0, 10, 20.1, 30, 40]))).axes[0]
    assert even.images[0].get_interpolation() == "bilinear"
    beside = plotting.draw(plotting.read(traces(tmp_path / "grid.nc", [0.0, 0, 10, 10, 20, 20]))).axes[0]
    assert [shade_at(beside, place) for place in (-3, 3, 7, 13, 17, 23)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("columns, label", [
    ({"number": range(1, 201), "sources": 5.0 * numpy.arange(200)}, "easting (m)"),  # a stack of one number each
    ({"sources": 5.0 * numpy.arange(200)}, "easting (m)"),  # or of one number
    ({"number": range(1, 201), "receivers": numpy.zeros(200)}, "trace")])  # without places
def test_shots_of_one_trace_are_drawn_together(tmp_path, columns, label):
    columns = {"receivers": 5.0 * numpy.arange(200), **columns}
    figure = plotting.draw(plotting.read(traces(tmp_path / "stack.nc", **columns)))
    assert [axes.get_title() for axes in panels(figure)] == ["200 shots of one trace"]
    assert figure.axes[0].get_xlabel() == label
    assert list(figure.axes[0].images[0].get_array()[10]) == list(range(1, 201))


def test_shots_on_an_axis_with_one_receiver_each_are_drawn_as_traces_are(tmp_path):
    """As the command hands over a SEG-Y file whose traces are sorted by their middles."""
    with netCDF4.Dataset(tmp_path / "sorted.nc", "w") as file:
        for name, size in {"shot": 6, "time": 40, "receiver": 1}.items():
            file.createDimension(name, size)
        file.createVariable("time", "f8", ("time",))[:] = 0.01 * numpy.arange(40)
        file.createVariable("shot", "i4", ("shot",))[:] = [1, 2, 1, 2, 1, 2]
        file.createVariable("source_easting", "f8", ("shot",))[:] = [0, 100, 0, 100, 0, 100]
        file.createVariable("receiver_easting", "f8", ("shot", "receiver"))[:] = [[20], [20], [10], [30], [30], [10]]
        file.createVariable("pressure", "f8", ("shot", "time", "receiver"))[:] = \
            numpy.arange(1, 7)[:, None, None] * numpy.ones((6, 40, 1))
    grey = plotting.draw(plotting.read(tmp_path / "sorted.nc"))
    assert [axes.get_title() for axes in panels(grey)] == ["shot 1", "shot 2"]
    assert [list(axes.images[0].get_array()[10]) for axes in panels(grey)] == [[3, 1, 5], [6, 2, 4]]


def test_sources_with_one_number_are_shots_of_their_own(tmp_path):
    path = traces(tmp_path / "merged.nc", [0.0, 10, 20, 0, 10], sources=[5.0, 5, 5, 15, 15], number=[1] * 5)
    grey = plotting.draw(plotting.read(path))
    assert [axes.get_title() for axes in panels(grey)] == ["shot 1 at 5, 0 m", "shot 1 at 15, 0 m"]
    assert [list(axes.images[0].get_array()[10]) for axes in panels(grey)] == [[1, 2, 3], [4, 5]]


def test_traces_without_coordinates_are_numbered_or_refused_with_the_file_and_the_name(tmp_path):
    traces(tmp_path / "bare.nc", [0.0, 10, 20])
    with netCDF4.Dataset(tmp_path / "bare.nc", "a") as file:
        file.renameVariable("receiver_easting", "offset")
    figure = plotting.draw(plotting.read(tmp_path / "bare.nc"))
    assert figure.axes[0].get_xlabel() == "trace"
    with pytest.raises(plotting.PlotError, match="timeless.nc: there is no coordinate time"):
        plotting.read(traces(tmp_path / "timeless.nc", [0.0, 10, 20], time=False))
    gathers(tmp_path / "turned.nc", False)
    with netCDF4.Dataset(tmp_path / "turned.nc", "a") as file:
        for axis in ("easting", "northing"):
            there = file[f"receiver_{axis}"][:]
            file.renameVariable(f"receiver_{axis}", f"as_it_was_{axis}")
            file.createVariable(f"receiver_{axis}", "f8", ("receiver", "shot"))[:] = there.T
    turned = plotting.draw(plotting.read(tmp_path / "turned.nc"))
    assert list(turned.axes[0].images[0].get_array()[10]) == [1, 3, 2]
    with netCDF4.Dataset(tmp_path / "turned.nc", "a") as file:
        file.renameVariable("receiver_easting", "as_it_was_turned")
        file.createVariable("receiver_easting", "f8", ("time",))[:] = 0
    with pytest.raises(plotting.PlotError, match="receiver_easting is on time; allowed: shot, receiver"):
        plotting.read(tmp_path / "turned.nc")


def test_the_largest_motion_at_receivers_is_a_map(tmp_path):
    data = plotting.read(waves(tmp_path / "waves.nc", True, (200.0, 0, 100), (5.0, 80, 5)))
    assert [f.name for f in data.peaks] == ["peak_velocity"]
    figure = plotting.draw(data, ["peak_velocity"])
    dots = figure.axes[0].collections[0]
    there = sorted(zip(dots.get_offsets()[:, 0], dots.get_array()))
    assert there == [(0, 1), (100, 2), (200, 3)]


def test_words_that_do_not_go_together_are_refused(tmp_path):
    data = plotting.read(waves(tmp_path / "waves.nc", bricks=True))
    for channels, slice_at, said in (
            (["snapshot_velocity_up", "velocity_up"], "", "figure of its own"),
            (["velocity_up", "snapshot_velocity_up"], "", "figure of its own"),
            (["snapshot_velocity_up", "snapshot_velocity_east"], "", "figure of its own"),
            (["snapshot_velocity_up", "pressure"], "", 'there is no "pressure"'),
            (["velocity_up", "peak_velocity"], "", "name maps alone"),
            (["velocity_up"], "northing=30", "cut one of the snapshots: snapshot_velocity_east")):
        with pytest.raises(plotting.PlotError, match=said):
            plotting.draw(data, channels, slice_at=slice_at)


@pytest.mark.parametrize("axis, position, area", [("northing", 30, 60000), ("northing", 60, 60000), ("up", -200, 30000),
                                                  ("up", -10, 30000), ("easting", 300, 20000)])
def test_a_cut_through_bricks_is_a_whole_plane_on_which_linear_fields_stay_linear(tmp_path, axis, position, area):
    snapshots = plotting.read(waves(tmp_path / "waves.nc", bricks=True)).snapshots
    ends, share, triangles = plotting.cut_bricks(snapshots.cells, snapshots.points[axis], position)

    def on_cut(v):
        return v[ends[:, 0]] * (1 - share) + v[ends[:, 1]] * share

    east, north, up = (on_cut(snapshots.points[a]) for a in ("easting", "northing", "up"))
    numpy.testing.assert_allclose(on_cut(snapshots.points[axis]), position, atol=1e-12 * 300)
    field = next(f for f in snapshots.fields if f.name == "snapshot_velocity_up")
    numpy.testing.assert_allclose(on_cut(field.values[1]), 2 * east - up, atol=1e-10)
    corners = numpy.stack([east, north, up], axis=1)[triangles]
    sides = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert numpy.linalg.norm(sides, axis=1).sum() / 2 == pytest.approx(area)


def test_snapshots_of_the_ground_and_of_a_cut_are_drawn_when_asked_for(tmp_path):
    ground = plotting.read(waves(tmp_path / "ground.nc", bricks=False))
    figure = plotting.draw(ground, ["snapshot_velocity_up"])
    assert [a.get_title() for a in figure.axes[:2]] == ["0.1 s", "0.2 s"]
    with pytest.raises(plotting.PlotError, match="cannot be cut"):
        plotting.draw(ground, slice_at="northing=30")
    bricks = plotting.read(waves(tmp_path / "bricks.nc", bricks=True))
    figure = plotting.draw(bricks, slice_at="northing=30")
    assert figure.axes[0].get_ylabel() == "up (m)"
    with pytest.raises(plotting.PlotError, match="reach from 0 to 100 m"):
        plotting.draw(bricks, slice_at="northing=130")


def test_snapshots_of_the_ground_and_of_a_cut_are_a_film(tmp_path):
    image = pytest.importorskip("PIL.Image")
    ground, bricks = (waves(tmp_path / f"{name}.nc", bricks=name == "bricks") for name in ("ground", "bricks"))
    for file, more in ((ground, ["--channels", "snapshot_velocity_east"]), (bricks, ["--slice", "northing=30"])):
        assert plotting.main([str(file), "--out", str(tmp_path / "film.gif"), "--dpi", "40", *more]) == 0
        with image.open(tmp_path / "film.gif") as film:
            assert film.n_frames == 2 or "east" in more[-1]  # frames that do not differ are one
    assert not list(tmp_path.glob(".film*"))
    with pytest.raises(plotting.PlotError, match="one of snapshot_velocity_east"):
        plotting.film(plotting.read(ground), tmp_path / "film.gif", "velocity_up")
    with pytest.raises(plotting.PlotError, match="allowed: .gif, .mp4"):
        plotting.film(plotting.read(ground), tmp_path / "film.avi")


def arrays_along_lines(lines, azimuth=0.0):
    """Dipole-dipole arrays of six widths along lines 40 m apart, one of them without a value; [m], degrees."""
    along, across, up = (numpy.array([at for line in range(lines) for width in range(1, 7)
                                      for at in [[10.0 * k + 5 * width, 40.0 * line, -2.5 * width][axis]
                                                 for k in range(20 - width)]]) for axis in range(3))
    turn = numpy.radians(azimuth)
    values = 100 + along + across
    values[5] = numpy.nan
    return plotting.Data("stations", along * numpy.cos(turn) - across * numpy.sin(turn),
                         along * numpy.sin(turn) + across * numpy.cos(turn),
                         fields=[plotting.Field("apparent_resistivity", "ohm m", values),
                                 plotting.Field("up", "m", up)])


@pytest.mark.parametrize("azimuth", [0.0, 30.0, 90.0])
def test_each_line_of_a_survey_has_a_pseudosection_of_its_own(azimuth):
    data = arrays_along_lines(5, azimuth)
    panels = plotting.draw(data, ["apparent_resistivity"]).axes[:-1]
    assert [axes.get_title(loc="left")[:11] for axes in panels] == [f"line {n} of 5" for n in range(1, 6)]
    drawn = [axes.collections[0].get_offsets() for axes in panels]
    assert sum(len(points) for points in drawn) == data.easting.size - 1  # one has no value
    for points in drawn:  # from one line to the next places are the same
        assert len(numpy.unique(points.round(6), axis=0)) == len(points)
        numpy.testing.assert_allclose(numpy.ptp(points[:, 0]), 180, atol=1e-6)
    spread = [numpy.ptp(axes.collections[0].get_array()) for axes in panels]
    assert max(spread) < 180 + 1e-6  # values differ along a line, and not by the lines' 40 m


def test_one_line_and_arrays_everywhere_have_one_pseudosection():
    assert len(plotting.draw(arrays_along_lines(1, 30.0), ["apparent_resistivity"]).axes) == 2
    data = arrays_along_lines(2)
    places = numpy.random.default_rng(1).random((2, data.easting.size))
    data.easting, data.northing = 200 * places
    assert len(plotting.draw(data, ["apparent_resistivity"]).axes) == 2


def arrays_between(holes):
    """Current between the holes of each pair at one depth, voltage at another [m]; values grow with both."""
    depths = numpy.arange(2.0, 10.0)
    rows = [(a, b, current, voltage) for a in range(len(holes)) for b in range(a + 1, len(holes))
            for current in depths for voltage in depths if current != voltage]
    places = {"a": [(*holes[a], -current) for a, _, current, _ in rows],
              "b": [(*holes[b], -current) for _, b, current, _ in rows],
              "m": [(*holes[a], -voltage) for a, _, _, voltage in rows],
              "n": [(*holes[b], -voltage) for _, b, _, voltage in rows]}
    fields = [plotting.Field("apparent_resistivity", "ohm m", numpy.array([100 * c + v for _, _, c, v in rows])),
              plotting.Field("up", "m", numpy.full(len(rows), -6.0))]
    fields += [plotting.Field(f"{name}_{axis}", "m", numpy.array(place)[:, n]) for name, place in places.items()
               for n, axis in enumerate(("easting", "northing", "up"))]
    return plotting.Data("stations", numpy.zeros(len(rows)), numpy.zeros(len(rows)), fields=fields)


def test_arrays_between_boreholes_stand_at_the_depths_of_current_and_voltage(tmp_path):
    data = arrays_between([(-6.0, 0.0), (6.0, 0.0), (0.0, 9.0)])
    figure = plotting.draw(data)
    plotting.save(figure, tmp_path / "holes.png")
    panels = figure.axes[:3]
    assert [axes.get_title(loc="left") for axes in panels] == [
        f"current in holes {a} and {b}, voltage in holes {a} and {b}" for a, b in ((1, 2), (1, 3), (2, 3))]
    for axes in panels:
        points = axes.collections[0].get_offsets()
        assert len(numpy.unique(points, axis=0)) == len(points) == 56  # none hides another
        numpy.testing.assert_allclose(axes.collections[0].get_array(), -100 * points[:, 1] - points[:, 0])


def test_arrays_with_electrodes_on_the_ground_are_not_between_boreholes():
    data = arrays_between([(-6.0, 0.0), (6.0, 0.0)])
    data.fields[2].values[0] = 3.0  # a_easting: one electrode beside the holes
    axes = plotting.draw(data).axes[0]
    axes.figure.canvas.draw()
    assert "pseudo-depth" in axes.get_ylabel()
    assert not any("\N{MINUS SIGN}" in label.get_text() or "-" in label.get_text() for label in axes.get_yticklabels())


def test_an_electrode_far_away_leaves_the_other_in_its_hole():
    data = arrays_between([(-6.0, 0.0), (6.0, 0.0)])
    for field in data.fields:
        if field.name.startswith("b_"):
            field.values[:] = numpy.nan
    axes = plotting.draw(data).axes[0]
    assert axes.get_title(loc="left") == "current in hole 1, voltage in holes 1 and 2"
    points = axes.collections[0].get_offsets()
    numpy.testing.assert_allclose(axes.collections[0].get_array(), -100 * points[:, 1] - points[:, 0])


def fit_of_arrays(factor=1.05):
    data = arrays_along_lines(1)
    computed = data.fields[0].values
    data.fields += [plotting.Field("resistance_observed", "V/A", computed / 7),
                    plotting.Field("apparent_resistivity_observed", "ohm m", factor * computed),
                    plotting.Field("apparent_resistivity_uncertainty", "ohm m", 0.03 * computed),
                    plotting.Field("a_easting", "m", data.easting - 3)]
    return data


def test_a_fit_shows_measured_and_computed_on_one_scale_and_the_misfit_in_per_cent():
    figure = plotting.draw(fit_of_arrays())
    measured, computed, misfit = [axes.collections[0] for axes in figure.axes[:3]]
    assert measured.norm.vmin == computed.norm.vmin and measured.norm.vmax == computed.norm.vmax
    numpy.testing.assert_allclose(misfit.get_array(), 100 * 0.05 / 1.05)
    assert all(numpy.ptp(axes.collections[0].get_offsets()[:, 1]) > 10 for axes in figure.axes[:3])
    for axes in figure.axes[3:]:
        assert all("times" not in tick.get_text() and "10^" not in tick.get_text() for tick in axes.get_yticklabels())


def model_on_padded_cells(resistivity=5.0):
    widths = numpy.array([400.0, 200, 100, 50, *[20] * 12, 50, 100, 200, 400])
    east = numpy.concatenate([[0], numpy.cumsum(widths)]) - widths.sum() / 2
    down = numpy.concatenate([[0], numpy.cumsum([10.0] * 8 + [20, 40, 80, 160, 320])])
    up = -down[::-1]
    values = numpy.full((up.size - 1, east.size - 1, east.size - 1), 100.0)
    values[-4:-2, 8:10, 8:10] = resistivity
    active = numpy.ones_like(values)
    active[:, :3] = 0
    return plotting.Data("mesh", east, east, up, fields=[
        plotting.Field("active", "1", active), plotting.Field("gradient", "1", -values),
        plotting.Field("resistivity", "ohm m", values)])


@pytest.mark.parametrize("resistivity", [5.0, 2000.0])
def test_a_model_is_drawn_by_its_answer_where_cells_are_small_through_what_stands_out(resistivity):
    from matplotlib.colors import LogNorm

    figure = plotting.draw(model_on_padded_cells(resistivity))
    plan, section = figure.axes[:2]
    assert plan.get_title().startswith("resistivity at up = \N{MINUS SIGN}") and isinstance(plan.collections[0].norm, LogNorm)
    assert -40 <= -float(plan.get_title().split("\N{MINUS SIGN}")[1].split()[0]) <= -20
    assert plan.get_xlim()[0] > -250 and plan.get_xlim()[1] < 250 and section.get_ylim()[0] > -400
    assert plan.collections[0].norm.vmin == min(resistivity, 100) and plan.collections[0].norm.vmax == max(resistivity, 100)
    whole = plotting.draw(model_on_padded_cells(), region=[-900, 900, -900, 900, -700, 0], limits=[1, 1000], cmap="magma")
    assert whole.axes[0].get_xlim() == (-900, 900) and whole.axes[0].collections[0].norm.vmax == 1000
    assert whole.axes[0].collections[0].get_cmap().name == "magma"
    assert not isinstance(plotting.draw(model_on_padded_cells(), log=False).axes[0].collections[0].norm, LogNorm)


def test_a_section_is_cut_along_the_line_of_the_stations():
    data = model_on_padded_cells()
    line, none = numpy.linspace(-60, 60, 9), numpy.zeros(9)
    for east, north, cut in ((line, none + 45, "northing = 45 m"), (none - 45, line, "easting = \N{MINUS SIGN}45 m")):
        data.through = east, north
        assert plotting.draw(data).axes[1].get_title() == f"resistivity at {cut}"
    data.through = line, none - 9e-16
    assert plotting.draw(data).axes[1].get_title() == "resistivity at northing = 0 m"
    data.through = line, line[::-1]  # from corner to corner: through what stands out
    assert plotting.draw(data).axes[1].get_title() == plotting.draw(model_on_padded_cells()).axes[1].get_title()


def test_fields_along_a_line_stay_curves_over_the_offset_at_one_frequency():
    east = numpy.array([500.0, 1000, 2000, 4000])
    field = 10.0 ** -numpy.array([[10, 11, 12, 13], [11, 13, 15, 17]]) * numpy.exp(-1j * east / [[2000], [1000]])
    data = plotting.Data("offsets", east, 0 * east, frequency=[0.25, 1.0], source="line.nc",
                         fields=[plotting.Field("e_e", "V/m", field[None]), plotting.Field("e_e_error", "V/m", abs(field[None]))])
    amplitude, phase = panels(figure := plotting.draw(data, slice_at="frequency=1.1"))
    assert amplitude.get_yscale() == "log" and figure._suptitle.get_text() == "frequency 1 Hz"
    assert [one.get_label() for one in amplitude.lines] == ["1 Hz"]
    assert numpy.allclose(amplitude.lines[0].get_ydata(), abs(field[1]))
    assert numpy.allclose(phase.lines[0].get_ydata(), numpy.degrees(-east / 1000), atol=1e-9), "without jumps"
    # Either name of a channel is drawn, whatever the receivers lie on.
    assert len(panels(plotting.draw(data, channels=["e_e"], slice_at="frequency=1"))) == 2
    assert len(panels(plotting.draw(data, channels=["e_e_amplitude"], slice_at="frequency=1"))) == 1


def test_amplitudes_over_decades_are_mapped_on_a_logarithm_and_phases_in_degrees():
    east, north = (a.ravel() for a in numpy.meshgrid([0.0, 100, 200], [0.0, 50]))
    field = 10.0 ** -numpy.arange(9.0, 15)[None, None] * numpy.exp(1j)
    data = plotting.Data("offsets", east, north, frequency=[1.0], fields=[plotting.Field("h_u", "A/m", field)])
    figure = plotting.draw(data, slice_at="frequency=1")
    amplitude, phase = panels(figure)
    assert type(amplitude.collections[0].norm).__name__ == "LogNorm" and type(phase.collections[0].norm).__name__ == "Normalize"
    assert [a.get_ylabel() for axes in (amplitude, phase) for a in axes.child_axes] == ["A/m", "°"]


def test_cells_that_the_data_are_hardly_sensitive_to_are_pale():
    data = model_on_padded_cells()
    sensitivity = numpy.zeros_like(data.fields[2].values)
    sensitivity[-3:], sensitivity[-4], sensitivity[-5] = 1.0, 0.05, 0.003
    data.fields.append(plotting.Field("sensitivity", "1", sensitivity))
    section = plotting.draw(data).axes[1].collections[0]
    alpha = numpy.reshape(section.get_alpha(), section.get_array().shape)
    assert numpy.allclose(alpha[-3:], 1) and numpy.allclose(alpha[:-5], 0.2)
    assert numpy.allclose(alpha[-4], 0.2 + 0.8 * 1.5 * (1 + numpy.log10(0.05) / 3))
    assert 0.2 < alpha[-5].min() < alpha[-4].min() < 1


def test_cells_that_the_data_hardly_resolve_are_pale_and_air_is_not_drawn():
    data = model_on_padded_cells()
    values, resolution = data.fields[2].values, numpy.zeros_like(data.fields[2].values)
    resolution[-3:] = 1.0
    values[-2:] = 1e8
    data.fields.append(plotting.Field("resolution", "1", resolution))
    plan, section = plotting.draw(data).axes[:2]
    cells = section.collections[0]
    alpha = numpy.reshape(cells.get_alpha(), cells.get_array().shape)
    assert numpy.allclose(alpha[-3:], 1) and numpy.allclose(alpha[:-3], 0.2)
    assert numpy.ma.getmaskarray(cells.get_array())[-2:].all() and section.get_ylim()[1] < 0
    assert "resolution" in plotting.draw(data, ["resolution"]).axes[0].get_title()


def test_yellow_is_high_whatever_the_sign():
    for sign in (1, -1):
        data = plotting.Data("grid", numpy.arange(3.0), numpy.arange(2.0),
                             fields=[plotting.Field("g_u", "mGal", sign * (1 + numpy.arange(6.0).reshape(2, 3)))])
        assert plotting.draw(data).axes[0].collections[0].get_cmap().name == "viridis"


def test_observed_and_computed_maps_have_one_scale_and_a_constant_has_a_narrow_one():
    values = numpy.arange(6.0).reshape(2, 3) + 1
    data = plotting.Data("grid", numpy.arange(3.0), numpy.arange(2.0), fields=[
        plotting.Field("g_u", "mGal", values), plotting.Field("g_u_observed", "mGal", 2 * values),
        plotting.Field("g_u_residual", "mGal", values), plotting.Field("g_u_uncertainty", "mGal", numpy.full((2, 3), 0.01))])
    shown = panels(plotting.draw(data))
    assert [axes.get_title() for axes in shown] == ["$g_{u}$ observed", "$g_{u}$", "$g_{u}$ residual"]
    observed, computed, residual = [axes.collections[0].norm for axes in shown]
    assert (computed.vmin, computed.vmax) == (observed.vmin, observed.vmax) == (1, 12) and residual.vmax == 6
    constant = plotting.draw(data, ["g_u_uncertainty"]).axes[0].collections[0].norm
    assert 0.005 < constant.vmin < 0.01 < constant.vmax < 0.02


def test_a_table_of_a_grid_is_a_map_of_cells_and_stations_along_a_line_are_curves():
    east, north = (a.ravel() for a in numpy.meshgrid(numpy.arange(3.0), numpy.arange(2.0)))
    mixed = numpy.random.default_rng(1).permutation(6)
    table = plotting.Data("stations", east[mixed], north[mixed], fields=[plotting.Field("g_u", "mGal", (east + 10 * north)[mixed])])
    cells = plotting.draw(table).axes[0].collections[0]
    assert numpy.array_equal(numpy.ravel(cells.get_array()), east + 10 * north) and "QuadMesh" in type(cells).__name__
    along = numpy.array([3.0, 1, 2, 0])
    fit = plotting.Data("stations", 100 + 3 * along, 4 * along, fields=[
        plotting.Field("g_u", "mGal", along), plotting.Field("g_u_observed", "mGal", along + 0.5)])
    axes = plotting.draw(fit).axes
    assert len(axes) == 1 and axes[0].get_xlabel() == "along the line (m)"
    observed, computed = axes[0].lines
    assert numpy.allclose(observed.get_xdata(), [0, 5, 10, 15]) and list(observed.get_ydata()) == [0.5, 1.5, 2.5, 3.5]
    assert list(computed.get_ydata()) == [0, 1, 2, 3]


def soundings(path, observed):
    """ρ_a of 100 and 25 ohm m at two sites, in one file of complex impedances."""
    with netCDF4.Dataset(path, "w") as file:
        for name, size in (("frequency", 3), ("receiver", 2), ("complex", 2)):
            file.createDimension(name, size)
        frequency = numpy.array([1.0, 10, 100])
        file.createVariable("frequency", "f8", ("frequency",))[:] = frequency
        for axis in ("easting", "northing"):
            file.createVariable(f"receiver_{axis}", "f8", ("receiver",))[:] = [0, 1000]
        z = numpy.sqrt(2 * numpy.pi * frequency[:, None] * 4e-7 * numpy.pi * numpy.array([100.0, 25])) * numpy.exp(0.25j * numpy.pi)
        parts = numpy.stack([z.real, z.imag], axis=-1)
        for name, factor in (("z_ne", 1), ("z_en", -1), *([("z_ne_observed", 1.1)] if observed else [])):
            file.createVariable(name, "f8", ("frequency", "receiver", "complex"))[:] = factor * parts
        if observed:
            file.createVariable("z_ne_uncertainty", "f8", ("frequency", "receiver"))[:] = 0.05 * abs(z)
        for name in ("tipper_e", "tipper_n"):
            file.createVariable(name, "f8", ("frequency", "receiver", "complex"))[:] = 0.2
    return plotting.read(path)


def test_impedances_are_drawn_as_apparent_resistivity_and_phase_and_tippers_as_arrows(tmp_path):
    figure = plotting.draw(soundings(tmp_path / "z.nc", False))
    rho, phase, tipper = (numpy.array(figure.axes).reshape(3, 2))[:, 1]
    assert [line.get_label() for line in rho.lines] == ["$Z_{ne}$", "$Z_{en}$"] and figure.axes[0].get_title() == "0, 0 m"
    for line in rho.lines:
        numpy.testing.assert_allclose(line.get_ydata(), 25)
        numpy.testing.assert_allclose(line.get_xdata(), [0.01, 0.1, 1])
    for line in phase.lines:
        numpy.testing.assert_allclose(line.get_ydata(), 45)
    assert tipper.collections[0].U.tolist() == [0.2] * 3
    fit = plotting.draw(soundings(tmp_path / "fit.nc", True), ["z_ne"], region=[900, 1100, 900, 1100])
    assert len(fit.axes) == 2
    bars = fit.axes[0].containers[0]
    numpy.testing.assert_allclose(bars.lines[0].get_ydata(), 25 * 1.21)
    ends = numpy.array([segment[:, 1] for segment in bars.lines[2][0].get_segments()])
    numpy.testing.assert_allclose(numpy.diff(ends)[:, 0], 2 * 2 * 25 * 1.21 * 0.05 / 1.1)
    with pytest.raises(plotting.PlotError, match="cmap: has no effect"):
        plotting.draw(soundings(tmp_path / "again.nc", True), cmap="magma")


def test_single_wrong_data_do_not_spoil_the_scales_of_soundings(tmp_path):
    data = soundings(tmp_path / "z.nc", True)
    data.frequency = list(numpy.logspace(-2, 2, 60))
    for field in data.fields:
        field.values = numpy.tile(field.values, (20, 1))
        if field.name == "tipper_e":
            field.values[0, 0] = 20
        if field.name == "z_ne_observed":
            field.values[30, 0] *= -1j  # a phase of -45 degrees
        if field.name == "z_ne_uncertainty":
            field.values[30, 0] *= 1e3
    _, phase, tipper = (numpy.array(plotting.draw(data).axes).reshape(3, 2))[:, 0]
    assert phase.get_ylim() == (0, 90) and tipper.get_ylim()[1] < 1
    for field in data.fields:
        if field.name.startswith("tipper"):
            field.values[:] = 0
    assert len(plotting.draw(data).axes) == 4, "tippers that are 0 everywhere are none"


def test_stations_at_the_edge_of_a_low_map_are_whole():
    east = numpy.linspace(0, 2000, 12)
    data = plotting.Data("stations", east, 0.1 * east + numpy.where(numpy.arange(12) % 2, 0, 30), fields=[
        plotting.Field("g_u", "mGal", east)])
    figure = plotting.draw(data)
    figure.canvas.draw()
    axes = figure.axes[0]
    dots = axes.collections[0]
    radius = numpy.sqrt(dots.get_sizes()[0]) / 2 / 72 * figure.dpi
    at = axes.transData.transform(dots.get_offsets())
    assert at[:, 1].min() - radius >= axes.bbox.y0 and at[:, 1].max() + radius <= axes.bbox.y1


def test_periods_of_one_decade_have_plain_numbers_that_do_not_overlap_and_sites_are_counted(tmp_path):
    data = soundings(tmp_path / "z.nc", True)
    data.frequency = [0.3, 1.0, 3.0]
    for field in data.fields:
        field.values = numpy.tile(field.values, (1, 4))
    data.easting, data.northing = numpy.arange(8) * 1000.0, numpy.zeros(8)
    figure = plotting.draw(data)
    figure.canvas.draw()
    assert figure.get_suptitle() == "6 of 8 sites"
    for axes in figure.axes[-6:]:
        labels = [t for t in (*axes.get_xticklabels(), *axes.get_xticklabels(minor=True)) if t.get_text()]
        boxes = sorted((t.get_window_extent() for t in labels), key=lambda box: box.x0)
        assert {"0.5", "1", "2"} <= {t.get_text() for t in labels}
        assert all(left.x1 < right.x0 for left, right in zip(boxes, boxes[1:]))


def test_electromagnetic_fields_are_drawn_as_amplitude_and_phase_over_the_receivers(tmp_path):
    with netCDF4.Dataset(tmp_path / "em.nc", "w") as file:
        for name, size in (("source", 1), ("frequency", 2), ("receiver", 4), ("complex", 2)):
            file.createDimension(name, size)
        file.createVariable("frequency", "f8", ("frequency",))[:] = [1, 10]
        for n, axis in enumerate(("easting", "northing", "up")):
            file.createVariable(f"receiver_{axis}", "f8", ("receiver",))[:] = [[3000.0, 1000, 2000, 4000], [0] * 4, [-1] * 4][n]
        values = 1e-9 * numpy.exp(-numpy.array([3.0, 1, 2, 4]))[None, None] * numpy.array([1, 0.5])[None, :, None] * 1j
        for name, factor in (("e_e", 1), ("e_n", 1e-12), ("h_n", 1e-3)):
            file.createVariable(name, "f8", ("source", "frequency", "receiver", "complex"))[:] = \
                numpy.stack([factor * values.real, factor * values.imag], axis=-1)
    figure = plotting.draw(plotting.read(tmp_path / "em.nc"))
    assert [axes.get_title() for axes in figure.axes[:2]] == ["$E_{e}$", "$H_{n}$"], "zero by symmetry: not drawn"
    line = figure.axes[0].lines[0]
    assert list(line.get_xdata()) == [1000, 2000, 3000, 4000] and figure.axes[0].get_yscale() == "log"
    numpy.testing.assert_allclose(line.get_ydata(), 1e-9 * numpy.exp(-numpy.arange(1.0, 5)))
    numpy.testing.assert_allclose(figure.axes[2].lines[0].get_ydata(), 90)


def overlaps(axes):
    """Whether numbers along y have no room beside each other."""
    axes.figure.canvas.draw()
    labels = [one for one in (*axes.get_yticklabels(), *axes.get_yticklabels(minor=True)) if one.get_text()]
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda box: box.y0)
    return any(below.y1 > above.y0 for below, above in zip(boxes, boxes[1:]))


@pytest.mark.parametrize("turns, factor", [(0.2, 1.05), (0.3, 3.0), (2.0, 12.0), (7.0, 1e8)])
def test_amplitudes_and_phases_over_the_offset_have_numbers_that_can_be_read(turns, factor):
    offset = numpy.linspace(500, 5000, 20)
    far = (offset - 500) / 4500
    values = 2e-6 * factor**-far * numpy.exp(-2j * numpy.pi * turns * far)
    data = plotting.Data("offsets", offset, 0 * offset, fields=[plotting.Field("e_e", "V/m", values[None, None])],
                         frequency=[1.0], source="x")
    amplitude, phase = plotting.draw(data).axes[:2]
    assert not overlaps(amplitude) and not overlaps(phase)
    assert 3 <= len([t for t in phase.get_yticks() if phase.get_ylim()[0] <= t <= phase.get_ylim()[1]]) <= 8
    numbers = [t.get_text() for t in amplitude.get_yticklabels() if t.get_text()]
    assert len(numbers) >= 3
    if factor < 30:  # less than a decade and a half: plain numbers, and their power once
        assert amplitude.get_title() == "$E_{e}$ ($10^{-6}$ V/m)" and all(0 < float(one) < 2.2 for one in numbers)


@pytest.mark.parametrize("wide, high", [(60e3, 4e3), (4e3, 60e3), (30e3, 10e3), (10e3, 10e3)])
def test_maps_of_long_areas_have_room_for_their_numbers(wide, high):
    east, north = (a.ravel() for a in numpy.meshgrid(5e5 + numpy.linspace(0, wide, 12), 45e5 + numpy.linspace(0, high, 9)))
    g = 30 * numpy.sin((east + north) / 5e3)
    fields = [plotting.Field(name, "mGal", g + more) for name, more in (("g_u", 0), ("g_u_observed", 1), ("g_u_residual", 1))]
    figure = plotting.draw(plotting.Data("stations", east, north, fields=fields, source="x"))
    maps = [axes for axes in figure.axes if axes.collections][:3]
    columns = len({round(axes.get_position().x0, 3) for axes in maps})
    assert columns == {60e3: 1, 30e3: 2}.get(wide, 3)
    for axes in [*figure.axes, *(child for axes in maps for child in axes.child_axes)]:
        assert not overlaps(axes)
    size = maps[0].get_window_extent().transformed(figure.dpi_scale_trans.inverted())
    assert max(size.width, size.height) > 2


def test_bars_of_resistivities_within_a_decade_have_three_numbers_or_more():
    data = arrays_along_lines(2)
    data.fields[0].values = numpy.clip(data.fields[0].values, 110, 480)
    figure = plotting.draw(data)
    (bar,) = [axes for axes in figure.axes if axes.get_label() == "<colorbar>"]
    figure.canvas.draw()
    assert len([t for t in bar.get_yticklabels() if t.get_text()]) >= 3


def test_what_curves_of_sites_are_stands_beside_them(tmp_path):
    figure = plotting.draw(soundings(tmp_path / "z.nc", True))
    figure.canvas.draw()
    (legend,) = figure.legends
    assert {t.get_text() for t in legend.get_texts()} >= {"$Z_{ne}$", "$Z_{en}$", "$Z_{ne}$ observed"}
    box = legend.get_window_extent()
    assert not any(box.overlaps(axes.get_window_extent()) for axes in figure.axes)


def test_two_results_of_one_name_have_pictures_of_their_own(tmp_path):
    for name in ("g.nc", "g.csv", "alone.csv"):
        (tmp_path / name).touch()
    assert [plotting.picture_beside(tmp_path / n).name for n in ("g.nc", "g.csv", "alone.csv")] == \
        ["g.png", "g_csv.png", "alone.png"]


def test_nothing_of_matplotlib_is_changed_by_a_picture():
    import matplotlib

    with matplotlib.rc_context():
        before = dict(matplotlib.rcParams)
        plotting.draw(fit_of_arrays())
        after = dict(matplotlib.rcParams)
        assert {k for k in after if after[k] != before[k]} <= {"interactive", "backend"}
        matplotlib.rcParams["interactive"] = False
        with plotting.styled():
            matplotlib.rcParams["interactive"] = True  # as a notebook's backend does when the first figure is made
        assert matplotlib.rcParams["interactive"]
