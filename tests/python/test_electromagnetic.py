"""Electromagnetics as a function of the model, and over layers."""

import csv
from pathlib import Path

import numpy as np
import pytest

import terrane
from terrane.electromagnetic import Dipole, PlaneWaves, Sensitivity, Simulation, layered, layered_impedance

DATA = Path(__file__).parents[1] / "support" / "data"
#: Interfaces, conductivities of horizontal and vertical currents, from the deepest layer up.
EARTHS = {"marine": ([-2100.0, -2000.0, -1000.0, 0.0], [1.0, 0.01, 1.0, 1 / 0.3, 1e-12], None),
          "land": ([-800.0, -500.0, 0.0], [1e-3, 0.1, 0.01, 1e-12], None),
          "marine_vti": ([-2100.0, -2000.0, -1000.0, 0.0], [1.0, 0.01, 1.0, 1 / 0.3, 1e-12],
                         [0.5, 0.01, 0.5, 1 / 0.3, 1e-12])}
NAMES = ("e_e", "e_n", "e_u", "h_e", "h_n", "h_u")


def rows_of(model):
    with open(DATA / "csem_layered.csv") as file:
        return [row for row in csv.DictReader(file) if row["model"] == model]


@pytest.mark.parametrize("model, kind", [("marine", "hed"), ("marine", "ved"), ("marine_vti", "hed"), ("land", "vmd")])
def test_fields_over_layers_are_those_of_another_program(model, kind):
    rows = [row for row in rows_of(model) if row["source"] == kind][::11]
    assert len(rows) >= 3
    for row in rows:
        source = Dipole([0, 0, float(row["source_up_m"])], azimuth=90, dip=0 if kind == "hed" else -90,
                        magnetic=kind == "vmd")
        at = [float(row[name]) for name in ("x_m", "y_m", "up_m")]
        interfaces, conductivity, vertical = EARTHS[model]
        found = layered(source, at, float(row["frequency_hz"]), interfaces, conductivity, vertical=vertical)
        for name in NAMES:
            expected = complex(float(row[f"{name}_re"]), float(row[f"{name}_im"]))
            if expected == expected and abs(expected) > 0:
                assert abs(found[name][0, 0] - expected) <= 2e-5 * abs(expected), (row, name)


def test_a_slanted_dipole_is_the_sum_of_its_parts():
    interfaces, conductivity, _ = EARTHS["marine"]

    def field(**angles):
        return layered(Dipole([0, 0, -950], **angles), [[400, -700, -990]], [0.5], interfaces, conductivity)

    east, north, up, slanted = field(azimuth=90), field(azimuth=0), field(dip=-90), field(azimuth=30, dip=40)
    for name in NAMES:
        sum_ = np.cos(np.radians(40)) * (east[name] / 2 + np.sqrt(0.75) * north[name]) - np.sin(np.radians(40)) * up[name]
        assert slanted[name] == pytest.approx(sum_, rel=1e-9, abs=1e-12 * abs(sum_).max())


def test_layers_of_one_rock_are_a_half_space_to_plane_waves():
    hertz = np.array([0.01, 1.0, 100.0])
    one, two = layered_impedance(hertz, [0.0], [0.01, 1e-8]), layered_impedance(hertz, [-300, 0.0], [0.01, 0.01, 1e-8])
    assert two == pytest.approx(one, rel=1e-12)
    assert np.abs(one) ** 2 / (2 * np.pi * hertz * 4e-7 * np.pi) == pytest.approx([100] * 3)
    assert np.degrees(np.angle(one)) == pytest.approx([45] * 3)


def test_layers_that_cannot_be_say_what_is_wrong():
    dipole = Dipole([0, 0, -10])
    with pytest.raises(terrane.ShapeError, match="one more"):
        layered(dipole, [100, 0, -10], 1.0, [0.0], [0.1])
    with pytest.raises(terrane.InputError, match="in layer 2"):
        layered(dipole, [100, 0, -10], 1.0, [0.0], [0.1, 0.0])
    with pytest.raises(terrane.InputError, match="ascend"):
        layered(dipole, [100, 0, -10], 1.0, [0.0, -50.0], [0.1, 0.2, 1e-8])
    with pytest.raises(terrane.InputError, match="above zero"):
        layered(dipole, [100, 0, -10], -1.0, [0.0], [0.1, 1e-8])
    with pytest.raises(terrane.InputError, match="lies on one"):
        layered(dipole, [100, 0, 0], 1.0, [0.0], [0.1, 1e-8])
    with pytest.raises(terrane.InputError, match="vertical"):
        layered(Dipole([0, 0, -10], magnetic=True), [100, 0, -10], 1.0, [0.0], [0.1, 1e-8])
    with pytest.raises(terrane.InputError, match="not finite"):
        layered(dipole, [0, np.nan, -20], 1.0, [0.0], [0.1, 1e-8])
    with pytest.raises(terrane.InputError, match="easting, northing, up"):
        layered(Dipole([0, -10]), [100, 0, -10], 1.0, [0.0], [0.1, 1e-8])
    with pytest.raises(terrane.ShapeError, match="none"):
        layered(dipole, [100, 0, -10], [], [0.0], [0.1, 1e-8])
    with pytest.raises(terrane.InputError, match="straight above"):
        layered(dipole, [0, 0, -20], 1.0, [0.0], [0.1, 1e-8])


SIDE = np.concatenate([[-4000, -2000], np.linspace(-1000, 1000, 9), [2000, 4000]])


def fields(change=None, sources=None, air=False, **words):
    conductivity = np.full((12, 12, 12), 0.1)
    if air:
        conductivity[SIDE[:-1] >= 0] = 1e-8
    if change is not None:
        conductivity = conductivity * np.exp(change)
    mesh = terrane.TensorMesh(SIDE, SIDE, SIDE, conductivity=conductivity)
    given = sources or [Dipole([0, -600, -100], azimuth=90), Dipole([300, -600, -100], azimuth=20)]
    return Simulation(mesh, terrane.Survey([0.0, 120.0], [600.0, 510.0], [-60.0, 30.0]), given, [1.0, 5.0],
                      tolerance=1e-11, device="cpu", **words)


def test_products_with_the_sensitivity_are_changes_of_fields_and_transposed():
    generator = np.random.default_rng(4)
    v = generator.normal(size=(12, 12, 12))
    J = Sensitivity(fields(components=["e_e", "h_u"]))
    assert (J.shape, J.data.shape) == ((16, 1728), (2, 2, 2, 2))
    result = fields(components=["e_e", "h_u"]).run()
    assert np.array_equal(J.data[:, :, 0], result["e_e"].values)
    assert np.array_equal(J.data[:, :, 1], result["h_u"].values)
    changed = J.apply(v)
    ahead, behind = (Sensitivity(fields(sign * 1e-3 * v, components=["e_e", "h_u"])).data for sign in (1, -1))
    slope = (ahead - behind) / 2e-3
    for component in range(2):
        error = np.abs(changed[:, :, component] - slope[:, :, component]).max()
        assert error < 1e-4 * np.abs(slope[:, :, component]).max()
    w = generator.normal(size=J.data.shape) + 1j * generator.normal(size=J.data.shape)
    one, other = (w * changed).sum(), (J.apply_transpose(w) * v.ravel()).sum()
    assert abs(one - other) < 1e-8 * abs(one)


def test_plane_waves_have_a_sensitivity_of_both_polarizations():
    J = Sensitivity(fields(sources=PlaneWaves(), responses=["impedance"], air=True))
    assert J.data.shape == (2, 2, 5, 2)  # of two E and three H impedances and tippers are made
    generator = np.random.default_rng(5)
    v, w = generator.normal(size=1728), generator.normal(size=J.data.shape) + 1j * generator.normal(size=J.data.shape)
    one, other = (w * J.apply(v)).sum(), (J.apply_transpose(w) * v).sum()
    assert abs(one - other) < 1e-7 * abs(one)
    # Over rock that is the same everywhere each polarization has E along one axis, H along the other.
    (east, north), (e_e, e_n, h_e, h_n, _) = J.data, range(5)
    for mine, other in ((e_e, e_n), (h_n, h_e)):
        assert np.abs(east[:, mine]).min() > 0
        assert np.abs(east[:, other]).max() < 1e-9 * np.abs(east[:, mine]).min()
        assert np.abs(north[:, other]) == pytest.approx(np.abs(east[:, mine]), rel=1e-9)


def test_products_that_do_not_converge_warn():
    J = Sensitivity(fields(components=["e_e"]), settings={"simulation.tolerance": 1e-6})
    assert J.apply(np.ones(1728)).shape == J.data.shape
    with pytest.warns(RuntimeWarning, match="did not converge"):
        J = Sensitivity(fields(components=["e_e"], most_iterations=2))
    with pytest.warns(RuntimeWarning, match="source 1 at 1 Hz did not converge .* residual [0-9.]+e"):
        J.apply(np.ones(1728))
    with pytest.raises(terrane.MemoryError, match="solves"):
        Sensitivity(fields(components=["e_e"], memory="1 MB"))


def test_sensitivities_that_cannot_be_say_why():
    with pytest.raises(terrane.InputError, match="not a job of electromagnetics"):
        Sensitivity({**fields(components=["e_e"]).tables(), "simulation": {"physics": "electric"}, "survey": {
            "kind": "line", "start": [-100.0, 0.0], "electrodes": 4, "spacing": 50.0}, "source": None})
    with pytest.raises(terrane.InputError, match="meshes of their own"):
        air = np.zeros((12, 12, 12))
        air[6:] = -16
        Sensitivity(fields(air, components=["e_e"], gridding="frequency"))
    J = Sensitivity(fields(components=["e_e"]))
    with pytest.raises(terrane.ShapeError, match="8"):
        J.apply_transpose(np.zeros(3))
    with pytest.raises(terrane.ShapeError, match="1728"):
        J.apply(np.zeros(3))
