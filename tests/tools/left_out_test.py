"""What the command asks of a room is there too where the build leaves the room out.

    left_out_test.py NAMESPACE LEFT_OUT_OBJECT LIBRARY    by the symbols that the library wants of the namespace
"""

import subprocess
import sys


def symbols(which, path):
    lines = subprocess.run(["nm", "-C", which, path], capture_output=True, text=True, check=True).stdout.splitlines()
    return {line.split(maxsplit=2 if line[:1] not in " " else 1)[-1] for line in lines if line and not line.endswith(":")}


def main():
    namespace, left_out, library = sys.argv[1:]
    wanted = {name for name in symbols("--undefined-only", library) if name.startswith(namespace + "::")}
    wanted -= symbols("--defined-only", library)
    assert wanted, f"{library} wants nothing of {namespace}: this test sees nothing"
    missing = wanted - symbols("--defined-only", left_out)
    assert not missing, f"left_out.cpp lacks {sorted(missing)}"


if __name__ == "__main__":
    main()
