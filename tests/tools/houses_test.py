"""A physics is its folder: a copy of the tree without physics/heat configures without it, and with it again has it,
and TERRANE_PHYSICS leaves it out.

    houses_test.py CMAKE GENERATOR CXX [--build]    --build: also builds the command both ways and asks it
"""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HOUSE = "src/terrane/physics/heat"


def run(*words, fails=False):
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True)
    if (done.returncode != 0) != fails:
        raise SystemExit(f"{' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def copy_tree(to):
    for name in ("CMakeLists.txt", "LICENSE", "cmake", "src", "tests", "python"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, to / name)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cmake")
    parser.add_argument("generator")
    parser.add_argument("cxx")
    parser.add_argument("--build", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree, build = Path(folder) / "tree", Path(folder) / "build"
        tree.mkdir()
        copy_tree(tree)
        shutil.move(tree / HOUSE, Path(folder) / "heat")
        for there in (False, True):
            if there:
                shutil.move(Path(folder) / "heat", tree / HOUSE)
            run(options.cmake, "-S", tree, "-B", build, "-G", options.generator,
                f"-DCMAKE_CXX_COMPILER={options.cxx}", "-DCMAKE_BUILD_TYPE=Release", "-DTERRANE_BUILD_TESTS=OFF",
                "-DTERRANE_CUDA=OFF")
            listed = (build / "generated/physics/all.cpp").read_text(encoding="utf-8")
            assert ("heat::physics()" in listed) == there, listed
            assert "gravity::physics()" in listed, listed
            targets = run(options.cmake, "--build", build, "--target", "help")
            assert ("terrane_physics_heat" in targets) == there, targets
            if options.build:
                run(options.cmake, "--build", build, "--target", "terrane_command")
                said = run(build / "terrane", "new", "heat", fails=not there)
                assert ("[source]" if there else 'heat" is not known') in said, said
        some = Path(folder) / "some"

        def choose(physics, tests, **expected):
            return run(options.cmake, "-S", tree, "-B", some, "-G", options.generator,
                       f"-DCMAKE_CXX_COMPILER={options.cxx}", "-DTERRANE_CUDA=OFF", f"-DTERRANE_PHYSICS={physics}",
                       f"-DTERRANE_BUILD_TESTS={tests}", **expected)

        assert "TERRANE_BUILD_TESTS=OFF" in choose("gravity", "ON", fails=True)
        assert 'no physics "hail"' in choose("gravity;hail", "OFF", fails=True)
        assert "magnetic needs gravity" in choose("magnetic", "OFF", fails=True)
        choose("gravity;heat", "OFF")
        listed = (some / "generated/physics/all.cpp").read_text(encoding="utf-8")
        assert "gravity::physics()" in listed and "heat::physics()" in listed, listed
        assert "acoustic::physics()" not in listed and 'all.leave_out("acoustic")' in listed, listed


if __name__ == "__main__":
    main()
