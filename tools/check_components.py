#!/usr/bin/env python3
"""Hold every #include "terrane/..." in src against the graph of components in CMakeLists.txt.

    tools/check_components.py [ROOT]

A component may include its own headers, those of the components it names after DEPENDS, and those of the components that
these depend on. A component depends only on components listed before it. terrane_all_physics(DEPENDS ...) stands for every folder
of physics/ that has physics.hpp, and for the component physics, the list of them; a physics never depends on another, but for
those of STANDS_ON.

Inside a physics, and in the components of ORDERED, order.txt states the order, from the ground up: one storey a line, of
folders and of files at the top of the component (without their ending). A storey may include what lies below it; folders and
files that share a line do not include each other, but for those joined by +, which are one unit in several files. Lines
may carry a comment after #. python/terrane has such a file, too, for what its modules import as they are loaded.

Units (a header and its source) may not include each other in a circle, but for those of ONE_UNIT.

Prints one line for each violation, file:line first, and exits with 1 when there is any.
"""

import ast
import re
import sys
from pathlib import Path

# The one physics that stands on another: magnetics is gravity's gradients, by Poisson's relation.
STANDS_ON = {"physics/magnetic": {"physics/gravity"}}

# Components that state their order as physics do.
ORDERED = ("job", "parallel", "solve", "inversion")

# Units that are one thing in several files: a class and what it is made of, kernels and the tables that CMake makes of
# them, an interface and what its source chooses from.
ONE_UNIT = (
    r"job/(config|config_node)", r"job/(earth|described|earth_on)", r"io/(content|scattered)", r"io/(electrodes|ert_(?:tables|protocols))",
    r"io/(geotiff|geotiff_place)", r"io/(registry|sites)",
    r"parallel/device/(device|buffer|cuda|pinned)", r"solve/matrices/matrix_(kernels|loops|table)",
    r"solve/multigrid/(multigrid|hierarchy)", r"physics/gravity/tree/expansion(_kernels|_table)?",
    r"physics/gravity/tree/(tree|tile_sums)", r"physics/gravity/fmm/local(_kernels|_table)?",
    r"physics/elastic/kernels/(lanes|lane_kernels|lane_table)", r"physics/acoustic/march/(steps|gpu_steps)",
    r"physics/acoustic/march/host_(kernels|kernel_sets)", r"physics/acoustic/march/host_(axis|density|rows|set)",
    r"physics/acoustic/image/(history|random_walls)")

COMPONENT = re.compile(r"^\s*terrane_(?:component\(\s*(\S+)|(all_physics)\()([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]terrane/([^">]+)[">]')
SUFFIXES = {".hpp", ".h", ".cpp", ".cu", ".cuh", ".inl"}


def all_physics(root):
    """The folders of physics/ that CMake finds physics in."""
    return sorted(f"physics/{header.parent.name}" for header in (root / "src/terrane/physics").glob("*/physics.hpp"))


def read_graph(cmake_lists):
    """{component: the components it names}, in the file's order, and complaints about the graph itself."""
    text = re.sub(r"#.*", "", cmake_lists.read_text(encoding="utf-8"))
    graph, complaints = {}, []
    for match in COMPONENT.finditer(text):
        component, words = match.group(1), match.group(3).split()
        named, collecting = [], False
        for word in words:
            if word in ("DEPENDS", "PUBLIC", "PRIVATE", "KERNELS"):
                collecting = word == "DEPENDS"
            elif collecting:
                named.append(word)
        for other in named:
            if other not in graph:
                complaints.append(f"{cmake_lists.name}: component {component or 'physics'} depends on {other}, which is not listed before it")
        if match.group(2):
            found = all_physics(cmake_lists.parent)
            graph.update({physics: named + sorted(STANDS_ON.get(physics, set()) & set(found)) for physics in found})
            graph["physics"] = found + named
        else:
            graph[component] = named
    return graph, complaints


def reachable(graph, component):
    """The component, what it names, and what those depend on."""
    seen, todo = set(), [component]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            todo += graph.get(here, [])
    return seen


def component_of(path, graph):
    """The component that a path below src/terrane lies in: the longest that fits; None when none does."""
    fitting = [component for component in graph if path.startswith(component + "/")]
    return max(fitting, key=len, default=None)


def physics(component):
    return component if component.startswith("physics/") else None


def without_in(name):
    """configure_file makes NAME of NAME.in."""
    return name.removesuffix(".in")


def stand(path):
    """The folder of a physics that a path inside it lies in, or the stem of a file at its top."""
    first, slash, _ = path.partition("/")
    return first if slash else Path(without_in(first)).stem


class Order:
    """Which folder or file of a physics stands on which."""

    def __init__(self, folder, where, stands=None):
        self.storey, self.unit, self.complaints = {}, {}, []
        self.where = f"{where}/order.txt"
        file = folder / "order.txt"
        if not file.is_file():
            self.complaints.append(f"{where}: says nothing of its order; write order.txt, from the ground up, "
                                   "one line for each storey (see src/terrane/physics/gravity/order.txt)")
            return
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            for unit in line.partition("#")[0].split():
                for name in unit.split("+"):
                    if name in self.storey:
                        self.complaints.append(
                            f"{self.where}:{number}: {name} stands on line {self.storey[name]} already")
                    self.storey[name], self.unit[name] = number, unit
        here = stands or {stand(f.relative_to(folder).as_posix()) for f in folder.rglob("*") if is_source(f)}
        for name, number in self.storey.items():
            if name not in here:
                self.complaints.append(f"{self.where}:{number}: there is no {name} in this physics")
        for name in sorted(here - self.storey.keys()):
            self.complaints.append(f"{self.where}: {name} has no place in the order")

    def fault(self, source, target):
        """What is wrong when `source` includes `target`; None when nothing is."""
        a, b = stand(source), stand(target)
        if a == b or a not in self.storey or b not in self.storey or self.unit[a] == self.unit[b]:
            return None
        if self.storey[b] > self.storey[a]:
            return f"{a} may not include {b}, which stands above it in {self.where}"
        if self.storey[b] == self.storey[a]:
            return f"{a} may not include {b}, which stands beside it in {self.where}"
        return None


def circles(includes):
    """Circles of units, {unit: those that it includes}: the units of each, which all reach each other."""
    reached = {}
    for unit in includes:
        seen, todo = set(), [unit]
        while todo:
            for other in includes.get(todo.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    todo.append(other)
        reached[unit] = seen
    return sorted({tuple(sorted(u for u in reached[unit] if unit in reached.get(u, ()))) for unit in includes
                   if unit in reached[unit]})


def is_source(file):
    return Path(without_in(file.name)).suffix in SUFFIXES


def is_one_unit(circle):
    return any(all(re.fullmatch(pattern, unit) for unit in circle) for pattern in ONE_UNIT)


def imports(module):
    """Modules of the package that a Python file imports as it is loaded."""
    for node in ast.parse(module.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            names = [node.module.partition(".")[0]] if node.module else [name.name for name in node.names]
            yield from ((node.lineno, name) for name in names)


def check_python(root):
    folder = root / "python" / "terrane"
    if not folder.is_dir():
        return []
    modules = {file.stem: file for file in folder.glob("*.py") if file.stem != "__init__"}
    order = Order(folder, "python/terrane", set(modules))
    for name, file in sorted(modules.items()):
        for line, other in imports(file):
            fault = other in modules and order.fault(f"{name}.py", f"{other}.py")
            if fault:
                order.complaints.append(f"python/terrane/{file.name}:{line}: {fault.replace('include', 'import')}")
    return order.complaints


def check(root):
    graph, complaints = read_graph(root / "CMakeLists.txt")
    if not graph:
        return [f"{root / 'CMakeLists.txt'}: no terrane_component(...) found"]
    allowed = {component: reachable(graph, component) for component in graph}
    for component in graph:
        for other in allowed[component]:
            if physics(component) and physics(other) and component != other and other not in STANDS_ON.get(component, set()):
                complaints.append(f"CMakeLists.txt: {component} depends on {other}: a physics never uses another")
    source = root / "src" / "terrane"
    orders = {}
    for component in graph:
        if (physics(component) or component in ORDERED) and (source / component).is_dir():
            orders[component] = Order(source / component, f"src/terrane/{component}")
            complaints += orders[component].complaints
    units = {}
    for file in sorted(source.rglob("*")):
        if not is_source(file):
            continue
        inside = file.relative_to(source).as_posix()
        component = component_of(inside, graph)
        if component is None:
            complaints.append(f"src/terrane/{inside}: lies in no component of CMakeLists.txt")
            continue
        if component == "physics" and inside.count("/") > 1:
            complaints.append(f"src/terrane/{inside}: {'/'.join(inside.split('/')[:2])} has no physics.hpp, by which "
                              "it would be a physics")
            continue
        unit = inside.partition(".")[0]
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            included = match.group(1).partition(".")[0]
            if unit != included:
                units.setdefault(unit, set()).add(included)
            where = f"src/terrane/{inside}:{number}"
            other = component_of(match.group(1), graph)
            if other is None:
                complaints.append(f"{where}: terrane/{match.group(1)} lies in no component of CMakeLists.txt")
            elif physics(component) and physics(other) and component != other and other not in STANDS_ON.get(component, set()):
                complaints.append(f"{where}: {component} includes {other}: a physics never includes another")
            elif other not in allowed[component]:
                complaints.append(f"{where}: component {component} may not include {other}; it may use "
                                  + (", ".join(r for r in graph if r in allowed[component] and r != component) or "no other component"))
            elif component == other and component in orders:
                fault = orders[component].fault(inside[len(component) + 1:], match.group(1)[len(component) + 1:])
                if fault:
                    complaints.append(f"{where}: {fault}")
    complaints += [f"src/terrane: {', '.join(circle)} include each other in a circle"
                   for circle in circles(units) if not is_one_unit(circle)]
    return complaints + check_python(root)


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    complaints = check(root)
    print("\n".join(complaints) or "every include keeps to the graph of components")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
