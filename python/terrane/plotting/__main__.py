"""What ``terrane plot`` runs: by its path, for Pythons without the package, or ``python -m terrane.plotting``."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def alone():
    """This folder as a package of its own."""
    folder = Path(__file__).resolve().parent
    spec = importlib.util.spec_from_file_location("terrane_plotting", folder / "__init__.py",
                                                  submodule_search_locations=[str(folder)])
    package = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = package
    spec.loader.exec_module(package)
    return package


if __name__ == "__main__":
    if __package__:
        from . import main
    else:
        main = alone().main
    sys.exit(main())
