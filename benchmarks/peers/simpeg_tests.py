"""SimPEG's own tests of Simulation3DIntegral, on Terrane's.

    python benchmarks/peers/run.py --simpeg-tests FOLDER

FOLDER is tests/pf of a checkout of SimPEG, of the release that build/peers holds (PyPI's packages have no tests). Runs
what there is of FILES. Before they are imported, simpeg.potential_fields.gravity.Simulation3DIntegral becomes
terrane.compat.Simulation3DIntegral, and so for magnetics: the one changed import. Arguments after FOLDER go to pytest.
"""

import sys
from pathlib import Path

import pytest

FILES = ("test_forward_Grav_Linear.py", "test_forward_Mag_Linear.py", "test_grav_inversion_linear.py",
         "test_mag_inversion_linear.py")

#: Part of a test's name, and why it does not apply.
LEFT_OUT = {
    "test_choclo_missing": "Terrane needs no choclo, so it cannot be missing",
    "not_implemented": "SimPEG's engine geoana lacks this, and Terrane has it",
}
#: Of these, cases that apply: neither program has the diagonal for amplitudes without G.
KEPT = ("-amplitude_data",)


class LeaveOut:
    @staticmethod
    def pytest_collection_modifyitems(items):
        for item in items:
            for part, why in LEFT_OUT.items():
                if part in item.name and not any(kept in item.name for kept in KEPT):
                    item.add_marker(pytest.mark.skip(reason=why))


def main(folder, *options):
    import simpeg.potential_fields as theirs
    import terrane.compat as ours

    for module, kind in ((theirs.gravity, ours.Simulation3DIntegral),
                         (theirs.magnetics, ours.MagneticSimulation3DIntegral)):
        module.Simulation3DIntegral = module.simulation.Simulation3DIntegral = kind
    there = [str(path) for path in (Path(folder) / name for name in FILES) if path.exists()]
    if not there:
        sys.exit(f"{folder}: has none of {', '.join(FILES)}\nGive the folder tests/pf of a checkout of SimPEG.")
    return pytest.main(["-q", "-rs", "-p", "no:cacheprovider", *options, *there], plugins=[LeaveOut()])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
