"""Records of benchmarks: kept in a form that a person can read, which changes nothing of what they say."""

import json
import math
import random
import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import records  # noqa: E402


def drawn(numbers, depth=0):
    kind = numbers.choice(["list", "dict", "number", "word"] if depth < 4 else ["number", "word"])
    if kind == "list":
        return [drawn(numbers, depth + 1) for _ in range(numbers.randrange(9))]
    if kind == "dict":
        return {f"key {n} §": drawn(numbers, depth + 1) for n in range(numbers.randrange(9))}
    if kind == "number":
        return numbers.choice([numbers.random() * 10.0**numbers.randrange(-20, 20), numbers.randrange(10**9), None, True,
                               math.inf])
    return "".join(numbers.choices('ab "\\ü\n,[{', k=numbers.randrange(150)))


def programs():
    """Of benchmarks by the names that CMake gives them, and every script of the tree by its path."""
    names = {"terrane"}
    for source in (ROOT / "benchmarks").glob("*/*.c*"):
        names.add(f"{source.parent.name}_{source.stem}")
    for folder in ("benchmarks", "tests", "tools"):
        names |= {path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob("*") if path.is_file()}
    for cases in (ROOT / "tests").glob("*/*.cpp"):
        names.add(f"{cases.parent.name}_{cases.stem.split('_')[0]}")
    return names


class Records(unittest.TestCase):
    def test_name_a_program_of_the_tree_or_say_that_there_is_none(self):
        there, nameless = programs(), []
        for path in sorted((ROOT / "benchmarks/records").glob("*.json")):
            record = json.loads(path.read_text(encoding="utf-8"))
            said = next((str(record[key]) for key in ("command", "program", "benchmark") if key in record),
                        str(record.get("context", {}).get("executable", "")))
            words = re.findall(r"[\w./]+", said)
            named = {word for word in words if word in there or word.rsplit("/", 1)[-1] in there}
            if not named and not said.startswith("no program in the tree: "):
                nameless.append(f"{path.name}: {said}")
        self.assertEqual(nameless, [], "see docs/decisions/0028-records-without-a-program.md")

    def test_of_any_values_are_read_as_they_were_written(self):
        for seed in range(60):
            value = drawn(random.Random(seed))
            self.assertEqual(json.loads(records.text(value)), value, seed)

    def test_of_the_tree_have_the_form_in_which_they_are_kept(self):
        found = sorted((ROOT / "benchmarks/records").glob("*.json"))
        self.assertGreater(len(found), 50)
        loose = [path.name for path in found
                 if records.text(json.loads(path.read_text(encoding="utf-8"))) != path.read_text(encoding="utf-8")]
        self.assertEqual(loose, [], "write them anew: tools/records.py FILE ...")


if __name__ == "__main__":
    unittest.main()
