"""Terrane's Krylov methods and those of AztecOO and PETSc on the same equations and cores, in one run.

    python beside.py BUILD/benchmarks PART...        prints JSON

Parts: curves (time of an iteration over N), large_nodes and large_edges (the sizes of 2010), band (columns brought together), whole (solves to
1e-8 with the diagonal, and Terrane's with multigrid), whole_nodes and whole_edges (the same, larger), memory (largest
memory of each process over N, set-up included), earths (land and sea, 1 Hz to 100 kHz). One core: times to compare
are the processor's (processor_s_per_1000), which other work on the machine disturbs little.
"""

import json
import os
import subprocess
import sys

DC = [31, 63, 125]
EM = [16, 32, 64]
PARTS = {
    "curves": [("devices_krylov", [f"cg:{n}:20" for n in DC] + [f"{s}:{n}:20" for n in EM for s in ("bicg", "qmr")]),
               ("libraries_aztec", [f"cg:{n}:20" for n in DC]),
               ("libraries_petsc", [f"{s}:{n}:20" for n in EM for s in ("cocg", "bicg", "tfqmr")])],
    "large_nodes": [("devices_krylov", ["cg:249:4"]), ("libraries_aztec", ["cg:249:4"])],
    "large_edges": [("devices_krylov", ["bicg:132:4", "qmr:132:4"]),
                    ("libraries_petsc", [f"{s}:132:4" for s in ("bicg", "tfqmr")])],
    "band": [("libraries_petsc", [f"{s}:{n}:10" for n in (32, 64) for s in ("tfqmr", "tfqmr_band")])],
    "whole": [("devices_krylov", ["cg:63:-5000", "cg_multigrid:63:-100"]), ("libraries_aztec", ["cg:63:-5000"]),
              ("devices_krylov", ["bicg:16:-20000:marine", "bicg_multigrid:16:-200:marine"]),
              ("libraries_petsc", [f"{s}:16:-2000:marine" for s in ("bicg", "tfqmr")])],
    "whole_nodes": [("devices_krylov", ["cg:93:-5000", "cg_multigrid:93:-100"]), ("libraries_aztec", ["cg:93:-5000"])],
    "whole_edges": [("devices_krylov", ["bicg:32:-5000:marine", "qmr:32:-5000:marine", "bicg_multigrid:32:-200:marine"]),
                    ("libraries_petsc", [f"{s}:32:-5000:marine" for s in ("bicg", "tfqmr")])],
    "memory": [(program, [f"{solver}:{n}:1"]) for program, solver, sizes in
               (("devices_krylov", "cg", DC), ("libraries_aztec", "cg", DC), ("devices_krylov", "bicg", EM),
                ("devices_krylov", "qmr", EM), ("libraries_petsc", "bicg", EM))
               for n in sizes],
    "earths": [("devices_krylov", [f"bicg_multigrid:32:-200:{earth}:{hertz}:{metres}" for earth in ("land", "marine")
                                   for hertz, metres in ((0.1, 100), (1, 100), (100, 20), (10_000, 5), (100_000, 2))]
                                  + [f"bicg:32:-2000:{earth}:{hertz}:{metres}" for earth in ("land", "marine")
                                     for hertz, metres in ((1, 100), (100_000, 2))])],
}


def run(build, program, cases):
    """The rows that a program prints, and its largest memory in MiB."""
    command = [f"{build}/{program}", *(["cpu", "1"] if program == "devices_krylov" else []), *cases]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    printed = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed with status {status}")
    return json.loads(printed), used.ru_maxrss / 1024


def main():
    build, rows = sys.argv[1], []
    for part in sys.argv[2:]:
        for program, cases in PARTS[part]:
            found, memory = run(build, program, cases)
            rows += [{"part": part, "library": "Terrane", **row, **({"memory_MiB": round(memory, 1)} if part == "memory" else {})}
                     for row in found]
    print(json.dumps(rows, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
