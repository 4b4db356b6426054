"""The reference pages are made from headers and docstrings: all that users meet has its place on a page."""

import re
import sys
import types
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
for name in ("mkdocs", "mkdocs.structure", "mkdocs.structure.files"):  # the hook runs inside MkDocs; this test does not
    sys.modules.setdefault(name, types.ModuleType(name))
sys.modules["mkdocs.structure.files"].File = object
sys.modules.setdefault("griffe", types.ModuleType("griffe"))
sys.modules["griffe"].Extension = object
sys.path.insert(0, str(ROOT / "tools"))

import docs_griffe  # noqa: E402
import docs_pages  # noqa: E402


class CppReference(unittest.TestCase):
    def test_every_header_that_a_user_meets_has_its_place_on_the_page_of_its_component(self):
        for component in docs_pages.components():
            page = docs_pages.component_page(component)
            for header in sorted((docs_pages.SOURCE / component).glob("*.hpp")):
                if docs_pages.INNER.search(header.stem):
                    continue
                with self.subTest(header=str(header.relative_to(ROOT))):
                    self.assertIn(f"## `terrane/{header.relative_to(docs_pages.SOURCE)}`", page)

    def test_every_folder_with_headers_is_a_component_or_part_of_one(self):
        components = docs_pages.components()
        for header in sorted(docs_pages.SOURCE.rglob("*.hpp")):
            folder = header.parent.relative_to(docs_pages.SOURCE).as_posix()
            if folder == "physics":
                continue  # the list of all_physics
            self.assertTrue(any(f"{folder}/".startswith(f"{component}/") for component in components), header)

    def test_every_comment_of_a_declaration_is_on_its_page(self):
        page = docs_pages.component_page("model")
        for words in ("in the model's order: the sources of a", "Throws InputError (a value outside its range)", "both in SI units"):
            self.assertIn(words, page)

    def test_a_declaration_of_several_lines_is_kept_whole(self):
        _, found = docs_pages.declarations("/// Adds.\nint add(int a,\n        int b);\n")
        self.assertEqual(found, [(["Adds."], "int add(int a,\n        int b)")])

    def test_a_struct_is_shown_with_its_members_and_what_is_said_of_each(self):
        header = ("/// Evenly spaced times.\nstruct TimeAxis {\n  double first = 0;  ///< s\n\n  /// Their sum, {s}.\n"
                  "  double sum() const {\n    return 2 * first;\n  }\n private:\n  int hidden_;\n};\n"
                  "struct Bare {\n  int n = 1;\n};\nstruct Later;  // below\n/// Which.\nenum class Kind { near, far };\n")
        _, found = docs_pages.declarations(header)
        self.assertEqual(found, [
            (["Evenly spaced times."], "struct TimeAxis {\n  double first = 0;  ///< s\n\n  /// Their sum, {s}.\n"
                                       "  double sum() const;\n};"),
            ([], "struct Bare {\n  int n = 1;\n};"), (["Which."], "enum class Kind { near, far };")])
        page = docs_pages.component_page("survey")
        self.assertIn("std::vector<double> dip;                    ///< [n] degrees below the horizontal", page)
        self.assertIn("  SpectralAxis axis;", page)  # of a struct without a comment of its own

    def test_a_table_in_the_comment_on_top_keeps_its_lines(self):
        top, _ = docs_pages.declarations("// Two products:\n//   G m   by rows\n//   d G   by columns\n// and no more.\n")
        self.assertEqual(docs_pages.prose(top), ["Two products:", "", "```text", "G m   by rows", "d G   by columns",
                                                 "```", "", "and no more."])


class Examples(unittest.TestCase):
    def test_the_page_of_an_example_has_its_picture_its_job_and_its_script(self):
        pictures = docs_pages.pictures_of_examples()
        for folder in sorted((ROOT / "examples").glob("*/")):
            if not (folder / "README.md").exists():
                continue
            with self.subTest(example=folder.name):
                page = docs_pages.example_page(folder, pictures.get(folder.name))
                self.assertTrue("](../img/" in page or folder.name not in pictures, "no picture")
                for file in [*folder.glob("job.toml"), *folder.glob("script.py")]:
                    self.assertTrue(file.read_text(encoding="utf-8").rstrip() in page, file.name)
                self.assertEqual(page.count("```") % 2, 0)

    def test_every_example_has_a_job_a_script_and_a_picture_or_a_reason(self):
        without = {"job.toml": {
            "16_viking_line": "reads, looks at and writes a file; nothing is computed",
            "25_simpeg": "is an inversion of SimPEG", "36_line_from_python": "script.py makes the data of section.toml",
            "27_overthrust": "its six shots are computed one by one in Python; migrate.toml is the job of their image",
            "35_clay_and_ore": "two jobs, of which the second takes the model of the first",
            "37_equivalent_sources": "two jobs, layer.toml and continued.toml"},
            "script.py": {"16_viking_line": "line.py", "27_overthrust": "line.py"}}
        pictures = docs_pages.pictures_of_examples()
        folders = sorted(path.parent for path in (ROOT / "examples").glob("[0-9]*/README.md"))
        for file, reasons in without.items():
            self.assertEqual({folder.name for folder in folders if not (folder / file).exists()}, set(reasons), file)
        for folder in folders:
            with self.subTest(example=folder.name):
                self.assertTrue((ROOT / "docs/img" / pictures.get(folder.name, "none")).is_file(), "no picture")
                self.assertIn("](../img/", docs_pages.example_page(folder, pictures.get(folder.name)))
                if (script := without["script.py"].get(folder.name)):
                    self.assertTrue((folder / script).is_file(), script)


    def test_half_of_the_examples_build_their_simulation_in_python(self):
        made = re.compile(r"\b(Simulation\w*|Inversion|Joint|Earth|EquivalentSources|find_bodies)\(")
        scripts = [*(ROOT / "examples").glob("[0-9]*/script.py"), *(ROOT / "examples").glob("[0-9]*/line.py")]
        building = [path.parent.name for path in scripts if made.search(path.read_text(encoding="utf-8"))]
        self.assertGreaterEqual(2 * len(building), len(scripts), building)


class PythonReference(unittest.TestCase):
    def test_parameters_described_together_are_shown_one_by_one(self):
        text = "Adds.\n\nParameters\n----------\na, b : int\n    A number.\nc\n    Else.\n\nReturns\n-------\nx, y\n    Two.\n"
        self.assertEqual(docs_griffe.one_by_one(text), text.replace(
            "a, b : int\n    A number.\n", "a : int\n    A number.\nb : int\n    A number.\n"))


if __name__ == "__main__":
    unittest.main()
