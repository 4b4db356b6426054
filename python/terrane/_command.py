"""The ``terrane`` command that pip installs: the compiled program takes the place of this process."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import NoReturn

HERE = Path(__file__).resolve().parent


def find_data() -> None:
    """A wheel that contains PROJ contains its data too."""
    data = HERE / "share" / "proj"
    if data.is_dir():
        os.environ.setdefault("PROJ_DATA", str(data))


def main() -> NoReturn:
    program = HERE / "bin" / "terrane"
    if not program.exists():
        sys.exit(f"terrane: the command is missing from {HERE}; install Terrane again: pip install --force-reinstall")
    # Plots are drawn by the Python that this command belongs to.
    os.environ.setdefault("TERRANE_PYTHON", sys.executable)
    os.environ.setdefault("TERRANE_PLOTTING", str(HERE / "plotting" / "__main__.py"))
    find_data()
    os.execv(program, ["terrane", *sys.argv[1:]])


if __name__ == "__main__":
    main()
