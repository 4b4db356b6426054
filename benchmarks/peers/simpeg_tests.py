"""SimPEG's own tests of Simulation3DIntegral, Simulation3DNodal and Simulation3DCellCentered, on Terrane's.

    python benchmarks/peers/run.py --simpeg-tests FOLDER

FOLDER is tests/pf or tests/em/static of a checkout of SimPEG, of the release that build/peers holds (PyPI's packages
have no tests). Runs what there is of FILES. Before they are imported,
simpeg.potential_fields.gravity.Simulation3DIntegral becomes terrane.compat.Simulation3DIntegral, and so for magnetics
and direct current: the one changed import. Arguments after FOLDER go to pytest.

Other files of tests/em/static are of meshes in one or two dimensions, of trees and cylinders, of fields on nodes and
faces, or of other methods.
"""

import sys
from pathlib import Path

import pytest

FILES = ("test_forward_Grav_Linear.py", "test_forward_Mag_Linear.py", "test_grav_inversion_linear.py",
         "test_mag_inversion_linear.py", "test_DC_analytic.py", "test_model_assignment.py")

#: Part of a test's name, and why it does not apply.
LEFT_OUT = {
    "test_choclo_missing": "Terrane needs no choclo, so it cannot be missing",
    "not_implemented": "SimPEG's engine geoana lacks this, and Terrane has it",
    "test_simulation_2d": "a mesh in two dimensions",
    "TestSIPSimulations": "spectral induced polarization",
}
#: Of these, cases that apply: neither program has the diagonal for amplitudes without G.
KEPT = ("-amplitude_data",)


class LeaveOut:
    @staticmethod
    def pytest_collection_modifyitems(items):
        for item in items:
            for part, why in LEFT_OUT.items():
                if part in item.nodeid and not any(kept in item.name for kept in KEPT):
                    item.add_marker(pytest.mark.skip(reason=why))


def main(folder, *options):
    import simpeg.potential_fields as theirs
    import terrane.compat as ours
    from simpeg.electromagnetics.static import resistivity

    for module, kind in ((theirs.gravity, ours.Simulation3DIntegral),
                         (theirs.magnetics, ours.MagneticSimulation3DIntegral)):
        module.Simulation3DIntegral = module.simulation.Simulation3DIntegral = kind
    for kind in (ours.Simulation3DNodal, ours.Simulation3DCellCentered):
        for module in (resistivity, resistivity.simulation):
            setattr(module, kind.__name__, kind)
    there = [str(path) for path in (Path(folder) / name for name in FILES) if path.exists()]
    if not there:
        sys.exit(f"{folder}: has none of {', '.join(FILES)}\nGive the folder tests/pf or tests/em/static of a checkout of SimPEG.")
    return pytest.main(["-q", "-rs", "-p", "no:cacheprovider", *options, *there], plugins=[LeaveOut()])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
