"""Prose in the pages keeps to 120 columns, so that a page reads as well in an editor as on the site."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "docs/**/*.md", "examples/**/*.md", "src/**/*.md"]
COLUMNS = 120


def exempt(line):
    """Whether a line cannot be broken: a table's row, a heading, a line of HTML, or one that has no space before
    column COLUMNS but those inside links, code and formulas."""
    line = line.strip()
    if line.startswith(("|", "#", "<", "![")):
        return True
    blank = re.sub(r"!?\[[^\]]*\]\([^)]*\)|`[^`]*`|\\\(.*?\\\)", lambda found: "x" * len(found.group()), line)
    text = re.sub(r"^([*+-]|\d+\.|>)\s+", lambda found: "x" * len(found.group()), blank)
    return " " not in text[:COLUMNS]


def long_lines(text):
    """The numbers and lengths of the lines of prose that are longer than COLUMNS."""
    found, fence, formula, head = [], None, False, False
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.match(r"\s*(```+|~~~+)", line)
        if number == 1 and line == "---":
            head = True  # settings of the page, above its text
        elif head:
            head = line != "---"
        elif mark and (fence is None or mark.group(1).startswith(fence)):
            fence = None if fence else mark.group(1)
        elif not fence and (formula or line.strip().startswith("\\[")):
            formula = "\\]" not in line
        elif not fence and len(line) > COLUMNS and not exempt(line):
            found.append((number, len(line)))
    return found


class LinesOfPages(unittest.TestCase):
    def test_prose_keeps_to_120_columns(self):
        pages = [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]
        self.assertGreater(len(pages), 30)
        found = [f"{page.relative_to(ROOT)}:{number}: {length} columns"
                 for page in pages for number, length in long_lines(page.read_text(encoding="utf-8"))]
        self.assertEqual(found, [], f"break these lines at {COLUMNS} columns or before")

    def test_a_long_sentence_is_found_where_it_stands(self):
        sentence = "word " * 30
        self.assertEqual(long_lines(f"# Title\n\n{sentence}\n\n* {sentence}\n"), [(3, 150), (5, 152)])
        self.assertEqual(long_lines(f"```\ncode\n```\n{sentence}\n"), [(4, 150)])
        self.assertEqual(long_lines("x" * 100 + " see [this page](https://example.org/" + "y" * 80 + ")\n"), [(1, 218)])

    def test_tables_code_formulas_and_links_may_be_long(self):
        sentence = "word " * 30
        self.assertEqual(long_lines(f"| {sentence} |\n```sh\n{sentence}\n```\n\\[\n{sentence}\n\\]\n"), [])
        self.assertEqual(long_lines("[a page of many words](https://example.org/" + "x" * 120 + ")\n"), [])
        self.assertEqual(long_lines("* `" + sentence + "`\n"), [])
        self.assertEqual(long_lines("![map](img/" + "x" * 120 + ".png)\n"), [])


if __name__ == "__main__":
    unittest.main()
