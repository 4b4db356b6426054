"""emg3d's own tests with one changed import.

The tests are part of emg3d's repository, not of its package: EMG3D_TESTS names their folder, in a checkout of the
release that is installed. Every import of emg3d in the tests of its solver and its simulations is changed to
terrane.compat, and they must pass, but those below.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.peers
pytest.importorskip("emg3d")
SOURCE = os.environ.get("EMG3D_TESTS")

#: What does not apply, and why; docs/do/drop_in.md has it in words.
_CYCLES = "prints or counts of emg3d's multigrid cycles, or fields that it has before it converges"
_OTHERS = {
    "test_solver.py": {
        "test_solver_homogeneous": _CYCLES, "test_solver_heterogeneous": _CYCLES, "test_one_liner": _CYCLES,
        "test_log": _CYCLES, "test_solver_homogeneous_laplace": "the Laplace domain"},
    "test_simulations.py": {"TestSimulation::test_print_solver": _CYCLES},
}


def changed(text: str) -> str:
    text = re.sub(r"^(\s*)import emg3d$", r"\1from terrane.compat import emg3d", text, flags=re.M)
    return re.sub(r"^(\s*)from emg3d import ", r"\1from terrane.compat.emg3d import ", text, flags=re.M)


def test_the_import_is_what_changes():
    assert changed("import emg3d\nfrom emg3d import solver, io\nimport emg3d.core\n") == (
        "from terrane.compat import emg3d\nfrom terrane.compat.emg3d import solver, io\nimport emg3d.core\n")


@pytest.mark.skipif(not SOURCE, reason="EMG3D_TESTS does not name the tests of emg3d")
@pytest.mark.parametrize("name", list(_OTHERS))
def test_emg3ds_own_tests_pass(name, tmp_path):
    folder = tmp_path / "tests"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    file = folder / name
    if not file.exists():
        pytest.skip(f"there is no {name}")
    file.write_text(changed(Path(file).read_text(encoding="utf-8")), encoding="utf-8")
    out = [word for other in _OTHERS[name] for word in ("--deselect", f"tests/{name}::{other}")]
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/{name}", *out],
                          cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
