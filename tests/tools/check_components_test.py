"""tools/check_components.py finds what breaks the graph of components, and nothing else."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "check_components.py"

COMPONENTS = """
# terrane_component(attic DEPENDS nothing)
terrane_component(base DEPENDS PUBLIC fmt::fmt)
terrane_component(mesh DEPENDS base)
terrane_component(model DEPENDS mesh
             PRIVATE some_library)
terrane_component(physics/gravity DEPENDS model)
terrane_component(physics/electric DEPENDS model)
"""

GROUND_UP = """# from the ground up
views
formula
direct  tree   # beside each other
forward
"""
# One file in each place, so that none of the order is missing.
PHYSICS = {f"physics/gravity/{name}": "" for name in ("views.hpp", "formula/prism.hpp", "direct/direct.hpp",
                                                    "tree/tree.hpp", "forward.hpp")}


def run_on(files, components=COMPONENTS):
    """Exit status and output of the tool on a tree that holds these files below src/terrane."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        (root / "CMakeLists.txt").write_text(components)
        files = dict(files)
        for physics in {"/".join(name.split("/")[:2]) for name in files
                      if name.startswith("physics/") and name.count("/") > 1}:
            files.setdefault(f"{physics}/order.txt", GROUND_UP)
        for name, text in files.items():
            if text is None:
                continue
            path = root / "src" / "terrane" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, TOOL, root], capture_output=True, text=True)
        return done.returncode, done.stdout


class CheckComponents(unittest.TestCase):
    def test_a_room_may_use_what_the_rooms_it_names_use(self):
        status, output = run_on({
            "base/error.hpp": "#pragma once\n",
            "model/model.cpp": '#include "terrane/model/model.hpp"\n#include "terrane/base/error.hpp"\n',
            **PHYSICS, "physics/gravity/forward.cpp": '#include "terrane/mesh/prism.hpp"\n#include <vector>\n',
        })
        self.assertEqual(status, 0, output)

    def test_a_room_below_may_not_include_one_above(self):
        status, output = run_on({"mesh/prism.cpp": '\n  #  include "terrane/model/model.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("src/terrane/mesh/prism.cpp:2: component mesh may not include model; it may use base", output)

    def test_a_storey_of_a_house_may_use_those_below_it(self):
        status, output = run_on({
            **PHYSICS,
            "physics/gravity/tree/tree.hpp": '#include "terrane/physics/gravity/views.hpp"\n'
                                             '#include "terrane/physics/gravity/tree/cells.hpp"\n',
            "physics/gravity/forward.cpp": '#include "terrane/physics/gravity/forward.hpp"\n'
                                           '#include "terrane/physics/gravity/direct/direct.hpp"\n',
        })
        self.assertEqual(status, 0, output)

    def test_a_storey_of_a_house_may_not_use_one_above_it(self):
        status, output = run_on({**PHYSICS, "physics/gravity/formula/prism.hpp":
                                 '#pragma once\n#include "terrane/physics/gravity/forward.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("src/terrane/physics/gravity/formula/prism.hpp:2: formula may not include forward, "
                      "which stands above it in src/terrane/physics/gravity/order.txt", output)

    def test_rooms_on_one_line_know_nothing_of_each_other(self):
        status, output = run_on({**PHYSICS, "physics/gravity/direct/direct.cu":
                                 '#include "terrane/physics/gravity/tree/tree.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("direct may not include tree, which stands beside it", output)

    def test_templates_that_the_build_fills_in_are_read_too(self):
        status, output = run_on({**PHYSICS, "physics/gravity/formula/table.cpp.in":
                                 '#include "terrane/physics/gravity/tree/tree.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("src/terrane/physics/gravity/formula/table.cpp.in:1: formula may not include tree", output)

    def test_a_house_states_where_each_of_its_files_and_folders_stands(self):
        status, output = run_on({**PHYSICS, "physics/gravity/attic/box.hpp": "", "physics/gravity/helpers.cpp": ""})
        self.assertEqual(status, 1)
        self.assertIn("src/terrane/physics/gravity/order.txt: attic has no place in the order", output)
        self.assertIn("src/terrane/physics/gravity/order.txt: helpers has no place in the order", output)

    def test_an_order_names_nothing_that_is_not_there_and_nothing_twice(self):
        status, output = run_on({**PHYSICS, "physics/gravity/order.txt": GROUND_UP + "cellar\nviews\n"})
        self.assertEqual(status, 1)
        self.assertIn("src/terrane/physics/gravity/order.txt:6: there is no cellar in this physics", output)
        self.assertIn("src/terrane/physics/gravity/order.txt:7: views stands on line 2 already", output)

    def test_a_house_without_an_order_is_told_what_to_write(self):
        status, output = run_on({**PHYSICS, "physics/gravity/order.txt": None})
        self.assertEqual(status, 1)
        self.assertIn("src/terrane/physics/gravity: says nothing of its order; write order.txt", output)

    def test_rooms_with_an_order_are_asked_for_it_and_units_in_two_files_are_one(self):
        files = {"job/config.hpp": '#include "terrane/job/node.hpp"\n', "job/earth.hpp": "",
                 "job/node.hpp": '#include "terrane/job/config.hpp"\n',
                 "job/config.cpp": '#include "terrane/job/earth.hpp"\n'}
        components = "terrane_component(job DEPENDS)\n"
        self.assertIn("src/terrane/job: says nothing of its order", run_on(files, components)[1])
        status, output = run_on({**files, "job/order.txt": "config+node\nearth\n"}, components)
        self.assertEqual(status, 1)
        self.assertIn("src/terrane/job/config.cpp:1: config may not include earth", output)
        self.assertNotIn("config may not include node", output)

    def test_units_that_include_each_other_in_a_circle_are_refused(self):
        status, output = run_on({"base/a.hpp": '#include "terrane/base/b.hpp"\n', "base/b.hpp": "",
                                 "base/b.cpp": '#include "terrane/base/c.hpp"\n',
                                 "base/c.hpp": '#include "terrane/base/a.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("base/a, base/b, base/c include each other in a circle", output)

    def test_modules_of_python_have_an_order_too(self):
        module = {"../../python/terrane/mesh.py": "from .errors import InputError\nfrom . import survey\n",
                  "../../python/terrane/errors.py": "", "../../python/terrane/survey.py": ""}
        status, output = run_on({**module, "../../python/terrane/order.txt": "errors\nmesh\nsurvey\n"})
        self.assertEqual(status, 1)
        self.assertIn("python/terrane/mesh.py:2: mesh may not import survey, which stands above it", output)
        self.assertNotIn("mesh may not import errors", output)

    def test_physics_houses_never_include_each_other(self):
        status, output = run_on({"physics/electric/solve.cpp": "#include <terrane/physics/gravity/forward.hpp>\n"})
        self.assertEqual(status, 1)
        self.assertIn("a physics never includes another", output)

    def test_physics_houses_never_depend_on_each_other_even_through_a_room_between(self):
        status, output = run_on({}, COMPONENTS + "terrane_component(between DEPENDS physics/gravity)\n"
                                            "terrane_component(physics/acoustic DEPENDS between)\n")
        self.assertEqual(status, 1)
        self.assertIn("physics/acoustic depends on physics/gravity", output)

    def test_a_folder_that_is_no_room_is_reported(self):
        status, output = run_on({"helpers/misc.cpp": "", "base/a.cpp": '#include "terrane/utils/b.hpp"\n'})
        self.assertEqual(status, 1)
        self.assertIn("src/terrane/helpers/misc.cpp: lies in no component", output)
        self.assertIn("src/terrane/base/a.cpp:1: terrane/utils/b.hpp lies in no component", output)

    def test_a_room_may_not_depend_on_one_listed_after_it(self):
        status, output = run_on({}, "terrane_component(base DEPENDS mesh)\nterrane_component(mesh DEPENDS)\n")
        self.assertEqual(status, 1)
        self.assertIn("component base depends on mesh, which is not listed before it", output)

    def test_every_folder_with_physics_hpp_is_a_house_and_the_list_of_them_may_use_all(self):
        components = "terrane_component(base DEPENDS)\nterrane_all_physics(DEPENDS base)\nterrane_component(cli DEPENDS physics)\n"
        header = '#include "terrane/base/error.hpp"\n'
        files = {"base/error.hpp": "", "physics/gravity/physics.hpp": header, "physics/heat/physics.hpp": header,
                 "physics/gravity/order.txt": "physics", "physics/heat/order.txt": "physics",
                 "physics/all.hpp": '#include "terrane/physics/heat/physics.hpp"\n',
                 "cli/main.cpp": '#include "terrane/physics/all.hpp"\n'}
        status, output = run_on(files, components)
        self.assertEqual(status, 0, output)
        status, output = run_on({**files, "physics/heat/steps.cpp": '#include "terrane/physics/gravity/physics.hpp"\n',
                                 "physics/heat/list.cpp": '#include "terrane/physics/all.hpp"\n',
                                 "physics/waves/steps.cpp": ""}, components)
        self.assertEqual(status, 1)
        self.assertIn("physics/heat/steps.cpp:1: physics/heat includes physics/gravity", output)
        self.assertIn("physics/heat/list.cpp:1: component physics/heat may not include physics", output)
        self.assertIn("physics/waves has no physics.hpp", output)

    def test_inversion_stands_below_physics_in_an_order_without_circles(self):
        components = "terrane_component(inversion DEPENDS)\nterrane_all_physics(DEPENDS inversion)\n"
        include = '#include "terrane/{}.hpp"\n'.format
        files = {"inversion/order.txt": "model\nloop\n", "inversion/model/norm.hpp": "",
                 "inversion/loop/newton.hpp": include("inversion/model/norm"),
                 "physics/heat/order.txt": "physics\ninverse\n", "physics/heat/physics.hpp": "",
                 "physics/heat/inverse/inverse.hpp": include("inversion/loop/newton")}
        status, output = run_on(files, components)
        self.assertEqual(status, 0, output)
        for name, text, fault in (
                ("inversion/loop/heat.cpp", include("physics/heat/physics"),
                 "heat.cpp:1: component inversion may not include physics/heat"),
                ("inversion/model/early.cpp", include("inversion/loop/newton"),
                 "early.cpp:1: model may not include loop, which stands above it in src/terrane/inversion/order.txt"),
                ("inversion/loop/newton.cpp", include("inversion/loop/line"),
                 "inversion/loop/line, inversion/loop/newton include each other in a circle"),
                ("inversion/order.txt", None, "src/terrane/inversion: says nothing of its order")):
            with self.subTest(name=name):
                status, output = run_on({**files, "inversion/loop/line.hpp": include("inversion/loop/newton"),
                                         name: text}, components)
                self.assertEqual(status, 1)
                self.assertIn(fault, output)


if __name__ == "__main__":
    unittest.main()
