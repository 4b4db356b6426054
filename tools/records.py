#!/usr/bin/env python3
"""tools/records.py FILE ...   Write records of benchmarks anew in the form in which they are kept: a value that fits on a line
of 120 columns stands on one, and numbers and words go on until a line is full. What they say stays."""

import json
import sys
from pathlib import Path

COLUMNS = 120


def plain(value):
    return json.dumps(value, ensure_ascii=False).replace("Infinity", "1e999")


def lines(value, indent, before, after):
    """The lines of a value that stands after these letters of its line, and before a comma or nothing."""
    whole = " " * indent + before + plain(value) + after
    if len(whole) <= COLUMNS or not value or not isinstance(value, list | dict):
        return [whole]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    pairs = [("", item) for item in value] if isinstance(value, list) else [
        (plain(key) + ": ", item) for key, item in value.items()]
    inner = []
    for number, (name, item) in enumerate(pairs):
        comma = "," if number + 1 < len(pairs) else ""
        short = name + plain(item) + comma
        if inner and not isinstance(item, list | dict) and len(inner[-1]) + 1 + len(short) <= COLUMNS:
            inner[-1] += " " + short
        else:
            inner += lines(item, indent + 1, name, comma)
    return [" " * indent + before + opening, *inner, " " * indent + closing + after]


def text(record):
    return "\n".join(lines(record, 0, "", "")) + "\n"


if __name__ == "__main__":
    if len(sys.argv) == 1:
        sys.exit(__doc__)
    for path in map(Path, sys.argv[1:]):
        path.write_text(text(json.loads(path.read_text(encoding="utf-8"))), encoding="utf-8")
