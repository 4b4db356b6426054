"""tools/check_rooms.py finds what breaks the graph of rooms, and nothing else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_rooms.py"

ROOMS = """
# terrane_room(attic DEPENDS nothing)
terrane_room(base DEPENDS PUBLIC fmt::fmt)
terrane_room(mesh DEPENDS base)
terrane_room(model DEPENDS mesh
             PRIVATE some_library)
terrane_room(physics/gravity DEPENDS model)
terrane_room(physics/electric DEPENDS model)
"""


def run_on(files, rooms=ROOMS):
    """Exit status and output of the tool on a tree that holds these files below src/terrane."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "CMakeLists.txt").write_text(rooms)
        for name, text in files.items():
            path = root / "src" / "terrane" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True)
        return done.returncode, done.stdout


class CheckRooms(unittest.TestCase):
    def test_a_room_may_use_what_the_rooms_it_names_use(self):
        status, output = run_on({
            "base/error.hpp": "#pragma once\n",
            "model/model.cpp": '#include "terrane/model/model.hpp"\n#include "terrane/base/error.hpp"\n',
            "physics/gravity/forward.cpp": '#include "terrane/mesh/prism.hpp"\n#include <vector>\n',
        })
        self.assertEqual(status, 0, output)

    def test_a_room_below_may_not_include_one_above(self):
        status, output = run_on({"mesh/prism.cpp": '\n  #  include "terrane/model/model.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("src/terrane/mesh/prism.cpp:2: room mesh may not include model; it may use base", output)

    def test_physics_houses_never_include_each_other(self):
        status, output = run_on({"physics/electric/solve.cpp": "#include <terrane/physics/gravity/forward.hpp>\n"})
        self.assertEqual(status, 1)
        self.assertIn("physics houses never include each other", output)

    def test_physics_houses_never_depend_on_each_other_even_through_a_room_between(self):
        status, output = run_on({}, ROOMS + "terrane_room(between DEPENDS physics/gravity)\n"
                                            "terrane_room(physics/acoustic DEPENDS between)\n")
        self.assertEqual(status, 1)
        self.assertIn("physics/acoustic depends on physics/gravity", output)

    def test_a_folder_that_is_no_room_is_reported(self):
        status, output = run_on({"helpers/misc.cpp": "", "base/a.cpp": '#include "terrane/utils/b.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("src/terrane/helpers/misc.cpp: lies in no room", output)
        self.assertIn("src/terrane/base/a.cpp:1: terrane/utils/b.hpp lies in no room", output)

    def test_a_room_may_not_depend_on_one_listed_after_it(self):
        status, output = run_on({}, "terrane_room(base DEPENDS mesh)\nterrane_room(mesh DEPENDS)\n")
        self.assertEqual(status, 1)
        self.assertIn("room base depends on mesh, which is not listed before it", output)


if __name__ == "__main__":
    unittest.main()
