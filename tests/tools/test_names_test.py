"""Tests that pages, records, tools and lists of tests name are there: a long test is run by its name alone."""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NAMED_IN = ("docs", "benchmarks", "tools", ".ci", ".github", "src", "python", "examples", "packaging", "CHANGELOG.md",
            "CONTRIBUTING.md", "Makefile", "README.md", "SECURITY.md")
ENDINGS = {".md", ".json", ".py", ".sh", ".yml", ".toml", ".txt", ".cmake", ".cpp", ".hpp", ".cu", ".cuh", ""}


def tests_of(root):
    """{suite or class: its tests}"""
    suites = {}
    for path in sorted((root / "tests").rglob("*")):
        if path.suffix in (".cpp", ".cu"):
            declared = re.findall(r"^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)", path.read_text(encoding="utf-8"), re.M)
        elif path.suffix == ".py":
            declared, suite = [], None
            for one, test in re.findall(r"^class (\w+)|^    def test_(\w+)", path.read_text(encoding="utf-8"), re.M):
                suite = one or suite
                declared += [(suite, test)] if suite else []
        else:
            continue
        for suite, test in declared:
            suites.setdefault(suite, set()).add(test)
    return suites


def lacking(text, suites):
    """Names of tests in a text, Suite.Test or LongSuite, that there are none of; Suite.Begin* is any that begins so."""
    found = {suite for suite in re.findall(r"\bLong[A-Z][a-z]\w+", text) if suite not in suites}
    for suite, test, some in re.findall(r"\b([A-Z]\w+)\.(?:test_)?([A-Z]\w+)(\*?)", text):
        if suite in suites and not any(one == test or some and one.startswith(test) for one in suites[suite]):
            found.add(f"{suite}.{test}{some}")
    return sorted(found)


def listed(text):
    """Of the lists in tests/CMakeLists.txt: [(suite, test)]."""
    lists = re.findall(r"(?:set|list)\((?:APPEND )?long_tests\b(.*?)\)\n", text, re.S)
    return re.findall(r"(?:\w+/)?(\w+)\.(\w+)", "\n".join(re.sub(r"#.*", "", one) for one in lists))


class NamesOfTests(unittest.TestCase):
    suites = tests_of(ROOT)

    def test_in_pages_records_and_tools_are_those_of_tests(self):
        named = {}
        for place in NAMED_IN:
            below = ROOT / place
            for path in [below] if below.is_file() else sorted(below.rglob("*")):
                if path.is_file() and path.suffix in ENDINGS:
                    if missing := lacking(path.read_text(encoding="utf-8", errors="replace"), self.suites):
                        named[path.relative_to(ROOT).as_posix()] = missing
        self.assertEqual(named, {})

    def test_in_lists_of_long_ones_are_those_of_tests(self):
        names = listed((ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8"))
        self.assertGreater(len(names), 50)
        self.assertEqual([f"{suite}.{test}" for suite, test in names if test not in self.suites.get(suite, ())], [])

    def test_that_are_not_there_are_found(self):
        suites = {"LongWaves": {"Arrive"}, "Heat": {"SpreadsEvenly"}}
        self.assertEqual(lacking("`LongWaves`, Heat.SpreadsEvenly, Heat.Spreads*, heat.hpp, A.Sentence", suites), [])
        self.assertEqual(lacking("LongWave; Heat.Spreads; Heat.Cools*; LongWaves.Leave", suites),
                         ["Heat.Cools*", "Heat.Spreads", "LongWave", "LongWaves.Leave"])
        self.assertEqual(listed("set(long_tests Long*  # of all\n  A.B C/D.E/*)\nlist(APPEND long_tests\n  F.G)\n"),
                         [("A", "B"), ("D", "E"), ("F", "G")])


if __name__ == "__main__":
    sys.exit(unittest.main())
