"""Functions of the source fit on a screen, its words are those of docs/workshop/names.md, and it includes what newer
libraries ask for."""

import re
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCREEN = 60  # lines
#: Longer functions, and what they compute: kernels whose speed and bits depend on what the compiler keeps in registers
#: and in which order. They are divided only with measurements on the machine that they are for.
LONG = {
    "src/terrane/physics/elastic/kernels/lane_kernels.hpp": {"lane_forces": "elements, one in each lane of a register"},
    "src/terrane/physics/elastic/kernels/pencils.hpp": {"push_along_zeta": "one pencil of points on a GPU"},
    "src/terrane/physics/gravity/formula/multipole.hpp": {"add_multipole": "one formula, in an order that is measured"},
    "src/terrane/physics/acoustic/march/gpu_tilted.cuh": {"walk_tilted": "one plane of a tile on a GPU after the other"},
    "src/terrane/physics/acoustic/march/gpu_tiles.cuh": {"step_tiles": "what a block of threads does on a GPU"},
}
#: Words that are not used, and what is said instead.
WORDS = {
    r"[Hh]ears?|[Hh]eard(?:_at)?|[Hh]earers?": "record, receive",
    r"manieth": "every n-th",
    r"twofold": "double",
    r"[Cc]rews?": "workers",
    r"[Hh]ouses?": "physics, component",
    r"(?:take|taken|took|keep|kept)_up": "resume, save",
    r"Standing": "State",
    r"(?:of|seconds of) processors": "CPU cores, CPU",
    r"(?:bytes|numbers|seconds|instructions|operations)_a_\w+": "per: seconds_per_product",
    r"Throws? as": "Throws what f() throws",
    r"As \w+\(\)": "Like f()",
}
PLACES = ("src", "python", "docs", "examples", "tools", "benchmarks", "tests", "cmake", "README.md", "CONTRIBUTING.md",
          "CHANGELOG.md", "CMakeLists.txt")
NOT_A_FUNCTION = r"(?!(?:namespace|struct|class|enum|if|for|while|switch|do|else|try|return)\b)"
ENDINGS = {".cpp", ".hpp", ".cu", ".cuh", ".py", ".md", ".toml", ".txt", ".cmake", ""}
#: Pages of another time, and those that name the words.
LEFT_OUT = ("docs/decisions/", "docs/workshop/names.md", "tests/tools/source_test.py", "tests/fuzz/corpus/")


def functions(text):
    """The functions that a text of C++ defines over several lines, laid out by clang-format: (name, first line,
    number of lines)."""
    found, opened, within, lines = [], {}, [], text.splitlines()
    for number, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if line.endswith("{") and not line.startswith("//", indent):
            first = number  # a statement may begin some lines before its brace
            while not re.match(r"\s*(?:$|//|#|template\b)", lines[first - 1]) and lines[first - 1][-1] not in ";{}:>":
                first -= 1
            head = " ".join(line.strip() for line in lines[first:number + 1])
            head = re.sub(r"__launch_bounds__\(.*?\)\s+(?=\w+\()", "", head)
            named = re.match(NOT_A_FUNCTION + r"[^=;]*?([\w~]+)\(", head)
            start = len(lines[first]) - len(lines[first].lstrip())
            opened[start] = (named.group(1) if named and not within else "", first)
            if opened[start][0]:
                within.append(start)
        elif line.strip() == "}" and indent in opened:
            name, first = opened.pop(indent)
            if name:
                within.pop()
                found.append((name, first + 1, number - first + 1))
    return found


def long_functions(root):
    """{file: {function: lines}}"""
    found = {}
    for path in sorted((root / "src").rglob("*")):
        if path.suffix in (".cpp", ".hpp", ".cu", ".cuh"):
            for name, _, lines in functions(path.read_text(encoding="utf-8")):
                if lines > SCREEN:
                    found.setdefault(path.relative_to(root).as_posix(), {})[name] = lines
    return found


ANY_WORD = re.compile(r"(?<![\w/-])(?:" + "|".join(f"({words})" for words in WORDS) + r")(?![\w-])")


def words_in(text):
    """[(line, word, what is said instead)]"""
    instead = list(WORDS.values())
    return [(text.count("\n", 0, one.start()) + 1, one.group(), instead[one.lastindex - 1])
            for one in ANY_WORD.finditer(text)]


def joins_without_ranges(text):
    """Whether C++ uses fmt::join without its header: {fmt} has it in format.h up to version 10 only, and conda and
    Spack have later ones."""
    return "fmt::join(" in text and "#include <fmt/ranges.h>" not in text


class Libraries(unittest.TestCase):
    def test_join_comes_with_its_header(self):
        folders = ("src", "python", "tests", "benchmarks")
        files = [path for folder in folders for path in (ROOT / folder).rglob("*.[ch]pp")]
        self.assertGreater(len(files), 500)
        self.assertEqual([str(path.relative_to(ROOT)) for path in files
                          if path.is_file() and joins_without_ranges(path.read_text(encoding="utf-8"))], [])


class Functions(unittest.TestCase):
    def test_fit_on_a_screen(self):
        found = long_functions(ROOT)
        new = {f"{path}: {name}": lines for path, names in found.items() for name, lines in names.items()
               if name not in LONG.get(path, {})}
        self.assertEqual(new, {}, f"divide these where their steps part: {SCREEN} lines are a screen")
        gone = [f"{path}: {name}" for path, names in LONG.items() for name in names if name not in found.get(path, {})]
        self.assertEqual(gone, [], "these are no longer long: take them off the list")

    def test_are_found_where_they_begin(self):
        text = ("namespace a {\nstruct B {\n  int c() const { return 1; }\n};\n// void not_one() {\ntemplate <class T>\n"
                "void B::d(int n,\n          const char* text = \"{\") {\n  if (n) {\n    ++n;\n  }\n}\n"
                "constexpr int e[] = {1, 2};\n}  // namespace a\n")
        self.assertEqual(functions(text), [("d", 7, 6)])


class Words(unittest.TestCase):
    def test_are_those_of_the_page_of_names(self):
        listed = subprocess.run(["git", "ls-files", *PLACES], cwd=ROOT, capture_output=True, text=True)
        paths = [ROOT / name for name in listed.stdout.split("\n") if name] if listed.returncode == 0 else \
            [path for place in PLACES for path in ([ROOT / place] if (ROOT / place).is_file() else
                                                   sorted((ROOT / place).rglob("*")))]
        found = []
        for path in paths:
            name = path.relative_to(ROOT).as_posix()
            if path.suffix in ENDINGS and path.is_file() and not name.startswith(LEFT_OUT):
                found += [f"{name}:{line}: {word} (say: {instead})"
                          for line, word, instead in words_in(path.read_text(encoding="utf-8", errors="replace"))]
        self.assertEqual(found, [], "docs/workshop/names.md has one word for each thing")

    def test_that_are_not_used_are_found(self):
        self.assertEqual([word for _, word, _ in words_in("what receivers hear\nheard_at seconds_a_product crew")],
                         ["hear", "heard_at", "seconds_a_product", "crew"])
        self.assertEqual(words_in("here, shear, greenhouse gases, and a head"), [])


if __name__ == "__main__":
    sys.exit(unittest.main())
