"""The page of the five papers names what is there: every file, program, record and test, and counts its rows rightly."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/theory/papers.md"
ROWS = [27, 15, 18, 24, 26]  # systems, experiments, tables, figures and open ends of each paper
FOLDERS = ("benchmarks/", "docs/", "examples/", "src/", "tests/", "tools/")


def lacking(text, page=PAGE):
    """What a page names that is not in the tree."""
    found = []
    for name in re.findall(r"`([^`\n]+)`", text):
        if name.startswith(FOLDERS):
            if not (ROOT / name).exists():
                found.append(name)
        elif re.fullmatch(r"\d{4}-\d\d-\d\d-[\w-]+", name):
            if not (ROOT / f"benchmarks/records/{name}.json").exists():
                found.append(name)
        elif program := re.fullmatch(r"(devices|libraries|ranks|kernel|scaling)_(\w+)( \w+)?", name):
            folder, stem = program.group(1), program.group(2)
            if not any((ROOT / f"benchmarks/{folder}/{stem}{ending}").exists() for ending in (".cpp", ".cu", ".py")):
                found.append(name)
        elif test := re.fullmatch(r"([A-Z]\w+)\.([A-Z]\w+)", name):
            declared = re.compile(rf"TEST(_F|_P)?\({test.group(1)},\s*{test.group(2)}\)")
            if not any(declared.search(file.read_text(encoding="utf-8")) for file in (ROOT / "tests").rglob("*.cpp")):
                found.append(name)
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", text):
        file = (page.parent / target).resolve()
        if file.parent == ROOT / "docs/examples":  # made of the README of an example
            file = ROOT / "examples" / file.stem / "README.md"
        if "://" not in target and not file.exists():
            found.append(target)
    return found


def rows_of(text):
    """{(paper, row): state}"""
    return {(int(paper), int(row)): state for paper, row, state in
            re.findall(r"^\| (\d)\.(\d+) \|[^|]+\| (\w+) \|", text, re.MULTILINE)}


class FivePapers(unittest.TestCase):
    text = PAGE.read_text(encoding="utf-8")

    def test_what_the_page_names_is_there(self):
        self.assertEqual(lacking(self.text), [])

    def test_every_row_of_every_paper_has_its_line(self):
        expected = {(paper, row) for paper, count in enumerate(ROWS) for row in range(1, count + 1)}
        self.assertEqual(set(rows_of(self.text)), expected)

    def test_the_table_on_top_counts_the_rows(self):
        states = rows_of(self.text)
        self.assertLessEqual(set(states.values()), {"whole", "part", "no"})
        counts = re.findall(r"^\| (\d) \|.*\| (\d+) \| (\d+) \| (\d+) \|$", self.text, re.MULTILINE)
        self.assertEqual(len(counts), len(ROWS))
        for paper, *numbers in counts:
            mine = [state for (of, _), state in states.items() if of == int(paper)]
            self.assertEqual([int(n) for n in numbers], [mine.count(state) for state in ("whole", "part", "no")])

    def test_a_record_and_a_test_that_are_not_there_are_found(self):
        self.assertEqual(lacking("`benchmarks/records/none.json` `2026-01-01-nothing-1-gpu` `Nobody.TestsThis` "
                                 "`devices_nothing` [page](nowhere.md)"),
                         ["benchmarks/records/none.json", "2026-01-01-nothing-1-gpu", "Nobody.TestsThis",
                          "devices_nothing", "nowhere.md"])


if __name__ == "__main__":
    unittest.main()
