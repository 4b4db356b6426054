"""A physics is its folder, and its folder inverse/ is its inversion: a copy of the tree without physics/heat configures
without it, and with it again has it, TERRANE_PHYSICS leaves it out, and one physics alone inverts.

    one_physics_test.py CMAKE GENERATOR CXX [--alone] [--build]    --alone: the last of these; --build: also builds the
                                                              command and asks it
"""

import argparse
import shutil
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PHYSICS = "src/terrane/physics/heat"


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


def configure(options, tree, build, *more, **expected):
    return run(options.cmake, "-S", tree, "-B", build, "-G", options.generator, f"-DCMAKE_CXX_COMPILER={options.cxx}",
               "-DTERRANE_CUDA=OFF", *more, **expected)


def listed_in(build):
    return (build / "generated/physics/all.cpp").read_text(encoding="utf-8")


def a_folder_makes_a_physics(options, tree, build):
    shutil.move(tree / PHYSICS, tree.parent / "heat")
    for there in (False, True):
        if there:
            shutil.move(tree.parent / "heat", tree / PHYSICS)
        configure(options, tree, build, "-DCMAKE_BUILD_TYPE=Release", "-DTERRANE_BUILD_TESTS=OFF")
        listed = listed_in(build)
        assert ("heat::physics()" in listed) == there, listed
        assert "gravity::physics()" in listed, listed
        targets = run(options.cmake, "--build", build, "--target", "help")
        assert ("terrane_physics_heat" in targets) == there, targets
        if options.build:
            run(options.cmake, "--build", build, "--target", "terrane_command")
            said = run(build / "terrane", "new", "heat", fails=not there)
            assert ("[source]" if there else 'heat" is not known') in said, said
    some = tree.parent / "some"

    def choose(physics, tests, **expected):
        return configure(options, tree, some, f"-DTERRANE_PHYSICS={physics}", f"-DTERRANE_BUILD_TESTS={tests}", **expected)

    assert "TERRANE_BUILD_TESTS=OFF" in choose("gravity", "ON", fails=True)
    assert 'no physics "hail"' in choose("gravity;hail", "OFF", fails=True)
    assert "magnetic needs gravity" in choose("magnetic", "OFF", fails=True)
    choose("gravity;heat", "OFF")
    listed = listed_in(some)
    assert "gravity::physics()" in listed and "heat::physics()" in listed, listed
    assert "acoustic::physics()" not in listed and 'registry.leave_out("acoustic")' in listed, listed


JOB = """[mesh]
box = [-100, 100, -100, 100, -100, 0]
shape = [4, 4, 4]
[survey]
kind = "list"
file = "stations.csv"
[simulation]
physics = "gravity"
device = "cpu"
[inversion]
floor = [0.001]
choice = "fixed"
beta = 1e-3
[output]
files = ["fit.csv"]
"""


def a_physics_alone_inverts(options, tree, build):
    """Also one that nobody has listed: it brings its inverse in its own folder."""
    hail = tree / "src/terrane/physics/hail"
    for header in ("physics.hpp", "inverse/inverse.hpp"):
        (hail / header).parent.mkdir(parents=True, exist_ok=True)
        (hail / header).write_text("#pragma once\n")
    only = ["-DCMAKE_BUILD_TYPE=Release", "-DTERRANE_BUILD_TESTS=OFF"]
    configure(options, tree, build, *only, "-DTERRANE_PHYSICS=gravity;hail")
    listed = listed_in(build)
    for line in ("each.add(gravity::inverse::inverse());", "each.add(hail::inverse::inverse());",
                 'each.leave_out("acoustic");'):
        assert f"\n    {line}" in listed, listed
    assert '\n  registry.leave_out("heat");' in listed and '\n    each.leave_out("heat");' not in listed, listed  # has none
    targets = run(options.cmake, "--build", build, "--target", "help")
    assert "terrane_inversion" in targets and "terrane_physics_acoustic" not in targets, targets
    if not options.build:
        return
    shutil.rmtree(hail)
    configure(options, tree, build, *only, "-DTERRANE_PHYSICS=gravity")
    run(options.cmake, "--build", build, "--target", "terrane_command")
    (build / "job.toml").write_text(JOB)
    rows = [f"{e},{n},10,{-0.02 if e == n == 0 else -0.01}" for e in (-50, 0, 50) for n in (-50, 0, 50)]
    (build / "stations.csv").write_text("easting,northing,up,g_u_observed [mGal]\n" + "\n".join(rows) + "\n")
    said = run(build / "terrane", "invert", build / "job.toml")
    assert "density" in said and (build / "fit.csv").exists(), said
    said = run(build / "terrane", "invert", build / "job.toml", "--set", "simulation.physics=acoustic", fails=True)
    assert 'built without "acoustic"' in said and "This one has: gravity." in said, said
    assert "[inversion]" in run(build / "terrane", "new", "inversion")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cmake")
    parser.add_argument("generator")
    parser.add_argument("cxx")
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--build", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tree, build = Path(folder) / "tree", Path(folder) / "build"
        tree.mkdir()
        copy_tree(tree)
        (a_physics_alone_inverts if options.alone else a_folder_makes_a_physics)(options, tree, build)


if __name__ == "__main__":
    main()
