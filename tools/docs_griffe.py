"""Extension of mkdocstrings: parameters that a docstring describes together are shown one by one.

``channels, frame, units`` on one line are three entries with one text, so that each has its own type and default.
"""

import re

import griffe

TOGETHER = re.compile(r"^( *)(\w+(?:, \w+)+)( *:.*)?\n((?:\1 +.*(?:\n|$))+)", re.MULTILINE)
PARAMETERS = re.compile(r"(^ *Parameters\n *-+\n)(.*?)(?=^ *\w+\n *-{3,}\n|\Z)", re.MULTILINE | re.DOTALL)


def one_by_one(docstring):
    def apart(found):
        indent, names, kind, text = found.groups()
        text = text if text.endswith("\n") else text + "\n"
        return "".join(f"{indent}{name}{kind or ''}\n{text}" for name in names.split(", "))

    return PARAMETERS.sub(lambda found: found[1] + TOGETHER.sub(apart, found[2]), docstring)


class OneByOne(griffe.Extension):
    def on_instance(self, *, obj, **_):
        if obj.docstring:
            obj.docstring.value = one_by_one(obj.docstring.value)
