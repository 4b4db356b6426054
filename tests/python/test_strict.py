"""What has no effect is refused: attributes that an object does not have."""

import ast
from pathlib import Path

import numpy as np
import pytest

import terrane
from terrane import _core

mesh = terrane.TensorMesh.regular([0, 2, 0, 2, -2, 0], shape=(2, 2, 2))


def objects():
    """One of every class whose attributes may be set, and an attribute that is nearly one of its own."""
    survey = terrane.Survey([0.0], [0.0], [1.0])
    prisms = terrane.PrismSet([[0, 1, 0, 1, -1, 0]], density=[1.0])
    result = terrane.gravity.Simulation(mesh, survey).run()
    return [
        (mesh, "chargeabilty", "chargeability"), (mesh, "densty", "density"), (mesh, "vp", "velocity_p"),
        (mesh, "rho", "density"), (mesh, "uppp", "up"),
        (prisms, "susceptiblity", "susceptibility"), (prisms, "prism", "prisms"),
        (terrane.PrismLayer([0, 1], [0, 1], 1.0), "referenc", "reference"),
        (survey, "upp", "up"), (survey, "projektion", "projection"),
        (terrane.heat.Simulation(mesh, survey, end=1), "modle", "model"),
        (terrane.gravity.Simulation(mesh, survey), "survy", "survey"),
        (terrane.Earth(), "backgrund", "background"),
        (result, "atributes", "attributes"), (result.report, "secs", ""),
        (terrane.gravity.forward([[0, 1, 0, 1, -1, 0]], [1.0], 0.0, 0.0, 1.0), "singula", "singular"),
        (terrane.inversion.Sensitivity([[0, 1, 0, 1, -1, 0]], [0.0], [0.0], [1.0]), "chanels", "channels"),
    ]


def test_an_attribute_that_has_no_effect_is_refused_and_the_nearest_one_is_named():
    for made, name, near in objects():
        with pytest.raises(terrane.InputError, match=f"{name}: is no attribute.*{near}") as error:
            setattr(made, name, 0.2)
        assert isinstance(error.value, AttributeError)
        assert not hasattr(made, name)


def test_settings_of_a_finished_gravity_simulation_cannot_be_set_without_effect():
    simulation = terrane.gravity.Simulation(mesh, terrane.Survey([0.0], [0.0], [1.0]))
    for name in ("accuracy", "method", "frame", "units", "channels"):
        with pytest.raises(AttributeError):
            setattr(simulation, name, getattr(simulation, name))


def test_properties_are_listed_for_completion_and_for_type_checkers():
    names = {name for name, *_ in _core.properties()}
    assert names <= set(dir(mesh))
    tree = ast.parse((Path(terrane.__file__).parent / "mesh.py").read_text())
    declared = {line.target.id for c in ast.walk(tree) if isinstance(c, ast.ClassDef) and c.name == "_Properties"
                for block in c.body if isinstance(block, ast.If) for line in block.body if isinstance(line, ast.AnnAssign)}
    assert declared | {"density"} == names


def test_a_class_built_on_one_of_ours_may_have_attributes_of_its_own():
    class Line(terrane.Survey):
        def __init__(self):
            super().__init__([0.0, 1.0], 0.0, 0.0)
            self.name = "line 7"

    assert Line().name == "line 7"


def test_copies_and_values_of_properties_are_as_before():
    other = terrane.TensorMesh.regular([0, 2, 0, 2, -2, 0], shape=(2, 2, 2))
    other.conductivity = 0.1
    assert np.all(other.conductivity == 0.1) and "conductivity" in other
    other.density[0] = 3
    assert other["density"].sum() == 12
