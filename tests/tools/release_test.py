"""tools/release, in a repository of its own that holds the files it reads and writes."""

import io
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FILES = ("tools/release", "CMakeLists.txt", "CITATION.cff", "pyproject.toml", "mkdocs.yml", "CHANGELOG.md",
         "packaging/conda/recipe.yaml", "packaging/spack/packages/terrane/package.py", "tests/install/CMakeLists.txt")
ADDRESS = "https://example.org/geo/terrane"


def wheel(folder, version="0.2.0", tag="manylinux_2_28_x86_64", without=(), kind="", needs="numpy>=1.22"):
    """A wheel and a source distribution; kind is what the distribution's name has behind it: "-cu13"."""
    folder.mkdir(exist_ok=True)
    name_of_file = f"terrane_geophysics{kind.replace('-', '_')}-{version}"
    with zipfile.ZipFile(folder / f"{name_of_file}-cp312-abi3-{tag}.whl", "w") as file:
        for name in ("terrane/_core.abi3.so", "terrane/bin/terrane", "terrane/share/proj/proj.db"):
            if name not in without:
                file.writestr(name, "")
        file.writestr(f"{name_of_file}.dist-info/METADATA",
                      f"Name: terrane-geophysics{kind}\nVersion: {version}\nRequires-Dist: {needs}\n")
    with tarfile.open(folder / f"terrane_geophysics-{version}.tar.gz", "w:gz") as archive:
        for name in ("CMakeLists.txt", "LICENSE", "pyproject.toml", "README.md"):
            archive.addfile(tarfile.TarInfo(f"terrane_geophysics-{version}/{name}"), io.BytesIO())


class Release(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = Path(self.folder.name) / "terrane"
        for name in FILES:
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        self.git("init", "--quiet")
        for key, value in (("user.name", "Nobody"), ("user.email", "nobody@example.org")):
            self.git("config", key, value)
        self.commit()

    def git(self, *arguments):
        return subprocess.run(["git", "-C", self.root, *arguments], check=True, capture_output=True, text=True).stdout

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "As it is")

    def release(self, *arguments, status=0):
        done = subprocess.run([sys.executable, self.root / "tools/release", *map(str, arguments)], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def prepared(self):
        self.release("home", ADDRESS)
        self.release("prepare", "0.2.0")
        self.commit()

    def edit(self, name, old, new):
        text = (self.root / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        (self.root / name).write_text(text.replace(old, new, 1), encoding="utf-8")

    def test_a_version_is_written_into_every_file_that_names_it(self):
        self.prepared()
        self.assertIn("0.2.0: version, changelog, address and tree are sound", self.release("check"))
        for name, words in (("CMakeLists.txt", "project(terrane VERSION 0.2.0"), ("CITATION.cff", "version: 0.2.0"),
                            ("tests/install/CMakeLists.txt", "find_package(terrane 0.2 "),
                            ("packaging/spack/packages/terrane/package.py", 'version("0.2.0"'),
                            ("pyproject.toml", f'Issues = "{ADDRESS}/issues"'), ("mkdocs.yml", f"repo_url: {ADDRESS}")):
            self.assertIn(words, (self.root / name).read_text(encoding="utf-8"))
        self.assertIn("### Gravity", self.release("notes", "0.2.0"))

    def test_the_address_can_change(self):
        self.prepared()
        self.release("home", "https://example.com/terrane")
        self.assertNotIn(ADDRESS, "".join((self.root / name).read_text(encoding="utf-8") for name in FILES))

    def test_a_release_without_a_home_is_refused(self):
        for name in FILES:  # whatever the repository says today
            text = (self.root / name).read_text(encoding="utf-8")
            (self.root / name).write_text("".join(
                line for line in text.splitlines(True)
                if not line.strip().startswith(("Repository =", "repo_url:", "repository", "git ="))), encoding="utf-8")
        self.release("prepare", "0.2.0")
        self.commit()
        self.assertIn("the repository's address is missing; tools/release home URL", self.release("check", status=1))

    def test_every_disagreement_is_named(self):
        self.prepared()
        for name, old, new, fault in (
                ("CITATION.cff", "version: 0.2.0", "version: 0.1.0", "CITATION.cff: the version is 0.1.0, and 0.2.0"),
                ("CHANGELOG.md", "## [0.2.0]", "## [0.3.0]", "there is no section 0.2.0"),
                ("CHANGELOG.md", "## [Unreleased]\n", "## [Unreleased]\n\n- More.\n", 'entries under "Unreleased"'),
                ("CITATION.cff", 'date-released: "', 'date-released: "1', "the day is 1"),
                ("mkdocs.yml", ADDRESS, "https://example.org/other", "several addresses")):
            with self.subTest(fault):
                self.edit(name, old, new)
                said = self.release("check", status=1)
                self.assertIn(fault, said)
                self.assertIn("changes that are not committed", said)
                self.git("checkout", "--quiet", ".")

    def test_wheels_are_looked_into(self):
        self.prepared()
        good, folder = Path(self.folder.name) / "good", Path(self.folder.name) / "bad"
        wheel(good)
        self.assertIn("wheels are sound", self.release("check", "--wheels", good))
        wheel(folder, tag="linux_x86_64", without=("terrane/share/proj/proj.db",))
        said = self.release("check", "--wheels", folder, status=1)
        self.assertIn("runs on machines like the one that built it only", said)
        self.assertIn(r"no file is terrane/share/proj/proj\.db", said)
        wheel(folder, version="0.1.0")
        self.assertIn('does not say "Version: 0.2.0"', self.release("check", "--wheels", folder, status=1))

    def test_the_wheel_with_cuda_has_its_own_name_and_asks_for_cufft(self):
        self.prepared()
        folder = Path(self.folder.name) / "cuda"
        wheel(folder)
        wheel(folder, kind="-cu13", needs="nvidia-cufft<13,>=12")
        self.assertIn("wheels are sound", self.release("check", "--wheels", folder))
        wheel(folder, kind="-cu13")
        self.assertIn('no line "Requires-Dist: nvidia-cufft"', self.release("check", "--wheels", folder, status=1))
        wheel(folder, kind="-other")
        self.assertIn("no distribution is called so", self.release("check", "--wheels", folder, status=1))

    def test_a_dry_run_sets_no_tag_and_a_run_sets_it_once(self):
        self.prepared()
        folder = Path(self.folder.name) / "dist"
        wheel(folder)
        line = ("tag", "--no-docs", "--wheels", folder)
        self.assertIn("would run: git tag --annotate v0.2.0", self.release(*line, "--dry-run"))
        self.assertEqual(self.git("tag"), "")
        self.release(*line)
        self.release(*line)  # of the same commit
        self.assertEqual(self.git("tag"), "v0.2.0\n")
        self.commit()
        self.assertIn("the tag v0.2.0 exists", self.release(*line, status=1))


if __name__ == "__main__":
    unittest.main()
