#!/usr/bin/env python3
"""Hold every #include "terrane/..." in src against the graph of rooms in CMakeLists.txt.

    tools/check_rooms.py [ROOT]

A room may include its own headers, those of the rooms it names after DEPENDS, and those of the rooms that
these depend on. A room depends only on rooms listed before it, and a house in physics/ never on another.
Prints one line for each violation, file:line first, and exits with 1 when there is any.
"""

import re
import sys
from pathlib import Path

ROOM = re.compile(r"^\s*terrane_room\(\s*(\S+)([^)]*)\)", re.MULTILINE)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]terrane/([^">]+)[">]')
SUFFIXES = {".hpp", ".h", ".cpp", ".cu", ".cuh", ".inl"}


def read_graph(cmake_lists):
    """{room: the rooms it names}, in the file's order, and complaints about the graph itself."""
    text = re.sub(r"#.*", "", cmake_lists.read_text(encoding="utf-8"))
    graph, complaints = {}, []
    for match in ROOM.finditer(text):
        room, words = match.group(1), match.group(2).split()
        named, collecting = [], False
        for word in words:
            if word in ("DEPENDS", "PUBLIC", "PRIVATE"):
                collecting = word == "DEPENDS"
            elif collecting:
                named.append(word)
        for other in named:
            if other not in graph:
                complaints.append(f"{cmake_lists.name}: room {room} depends on {other}, which is not listed before it")
        graph[room] = named
    return graph, complaints


def reachable(graph, room):
    """The room, what it names, and what those depend on."""
    seen, todo = set(), [room]
    while todo:
        here = todo.pop()
        if here not in seen:
            seen.add(here)
            todo += graph.get(here, [])
    return seen


def room_of(path, graph):
    """The room that a path below src/terrane lies in: the longest that fits; None when none does."""
    fitting = [room for room in graph if path.startswith(room + "/")]
    return max(fitting, key=len, default=None)


def house(room):
    return room if room.startswith("physics/") else None


def check(root):
    graph, complaints = read_graph(root / "CMakeLists.txt")
    if not graph:
        return [f"{root / 'CMakeLists.txt'}: no terrane_room(...) found"]
    allowed = {room: reachable(graph, room) for room in graph}
    for room in graph:
        for other in allowed[room]:
            if house(room) and house(other) and room != other:
                complaints.append(f"CMakeLists.txt: {room} depends on {other}: physics houses never use each other")
    source = root / "src" / "terrane"
    for file in sorted(source.rglob("*")):
        if file.suffix not in SUFFIXES:
            continue
        inside = file.relative_to(source).as_posix()
        room = room_of(inside, graph)
        if room is None:
            complaints.append(f"src/terrane/{inside}: lies in no room of CMakeLists.txt")
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if not match:
                continue
            where = f"src/terrane/{inside}:{number}"
            other = room_of(match.group(1), graph)
            if other is None:
                complaints.append(f"{where}: terrane/{match.group(1)} lies in no room of CMakeLists.txt")
            elif house(room) and house(other) and room != other:
                complaints.append(f"{where}: {room} includes {other}: physics houses never include each other")
            elif other not in allowed[room]:
                complaints.append(f"{where}: room {room} may not include {other}; it may use "
                                  + (", ".join(r for r in graph if r in allowed[room] and r != room) or "no other room"))
    return complaints


def main():
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent.parent
    complaints = check(root)
    print("\n".join(complaints) or "every include keeps to the graph of rooms")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
