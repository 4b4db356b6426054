"""Examples as notebooks: python tools/notebooks.py [FOLDER]    (default: build/notebooks)

A notebook is made of the README of an example, the files that its script reads, and the script, cut at its numbered
steps. In place of the script's arguments stands the folder `output` beside the notebook. Scripts that need data which are
not in their folder have no notebook.
"""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LARGEST = 40_000  # bytes of a text file that a cell may hold
#: The arguments of a script, up to where its folder of results is made; nothing else is left of them in a notebook.
ARGUMENTS = re.compile(r'arguments = argparse\.ArgumentParser\(\)\narguments\.add_argument\("--output"[^\n]*\n'
                       r"output = arguments\.parse_args\(\)\.output\n(?:output\.mkdir\([^\n]*\n)?")
GUARDED = re.compile(r"^try:\n    (import matplotlib[^\n]*)\nexcept ImportError:\n    raise SystemExit\(0\)\n", re.M)
#: A file of another example, which a notebook has beside itself.
OTHER = re.compile(r'"\.\./(\d\d_\w+)/([\w.]+)"')
STEP = re.compile(r"^# \d+\. (.*(?:\n# .*)*)\n", re.M)


def texts(folder):
    """What a script may read in its folder: {name: text}."""
    found = {}
    for file in sorted(folder.iterdir()):
        if file.suffix in (".toml", ".csv", ".asc", ".py", "") and file.is_file() and file.stat().st_size <= LARGEST:
            found[file.name] = file.read_text(encoding="utf-8")
    return found


def needed(script, folder):
    """The files, of those in the folder and of other examples, that a script names or imports, and those that these name
    in turn."""
    known, taken, look = texts(folder), [], [script]
    while look:
        text = look.pop()
        for other, name in OTHER.findall(text):
            known[name] = texts(ROOT / "examples" / other)[name]
        text = OTHER.sub(r'"\2"', text)
        for name in known:
            module = name.endswith(".py") and re.search(rf"^import {re.escape(name[:-3])}$", text, re.M)
            if name not in (*taken, "script.py") and (module or f'"{name}"' in text):
                taken.append(name)
                look.append(known[name])
    return {name: OTHER.sub(r'"\2"', known[name]) for name in sorted(taken, key=lambda n: (not n.endswith(".toml"), n))}


def absent(folder):
    """Data that a script or its files name, and that no cell can hold."""
    script = folder / "script.py"
    if not script.exists():
        return []
    script = script.read_text(encoding="utf-8")
    named = "".join([script, *needed(script, folder).values()])
    data = sorted(f.name for f in folder.iterdir() if f.is_file() and f.name not in texts(folder)
                  and f.suffix not in (".md", ".data") and f'"{f.name}"' in named)
    return data + [f.name for f in folder.glob("LICENSE.data") if data]


def for_cells(script):
    """A script without arguments, without a place of its own, and with pictures that are shown."""
    script = re.sub(r'\A""".*?"""\n', "", script, flags=re.S)
    script = OTHER.sub(r'"\2"', script)
    script = ARGUMENTS.sub('output = Path("output")\noutput.mkdir(exist_ok=True)\n', script)
    script = script.replace("arguments.parse_args()", "arguments.parse_args([])").replace("Path(__file__).parent", "Path()")
    if "argparse." not in script:
        script = script.replace("import argparse\n", "")
    script = GUARDED.sub(r"\1\n", script)
    script = re.sub(r'^matplotlib\.use\("Agg"\)\n', "", script, flags=re.M)
    return script


def with_picture(code, files):
    """Code whose last cell draws: models that were found, else results."""
    if re.search(r"savefig\(|\.plot\(", code):
        return code
    models = re.findall(r'^model = \[.*?"([^"]+\.nc)"', "\n".join(files.values()), re.M)
    draw = "".join(f'terrane.plot(output / "{name}")\n' for name in models)
    if draw and "output = " not in code:
        draw = draw.replace("output /", "given.output /")
    if not draw and re.search(r"^results = ", code, re.M):
        draw = "for result in results.values():\n    result.plot()\n"
    shown = "found" if re.search(r"^found = ", code, re.M) else "result"
    return f"{code.rstrip()}\n\n# 0. The picture.\n{draw or shown + '.plot()'}\n"


def cells(folder):
    """(kind, text) of each cell, or none where the script cannot stand alone."""
    script = (folder / "script.py").read_text(encoding="utf-8")
    files = needed(script, folder)
    code = with_picture(for_cells(script), files)
    if "__file__" in code or "required=True" in code:
        return []
    readme = (folder / "README.md").read_text(encoding="utf-8")
    readme = re.sub(r"!\[[^]]*\]\([^)]*\)\n*", "", readme)
    readme = re.sub(r"\[([^]]*)\]\((?!http)[^)]*\)", r"\1", readme)  # links to what is not beside a notebook
    out = [("markdown", readme)]
    if data := absent(folder):
        out.append(("markdown", f"This notebook reads `{'`, `'.join(data)}`, which must be beside it: the page of the "
                                "example has it, too."))
    for name, text in files.items():
        out.append(("code", f"%%writefile {name}\n{text.rstrip()}"))
    first, *steps = STEP.split(code)
    out.append(("code", first.strip()))
    for comment, body in zip(steps[::2], steps[1::2]):
        out.append(("markdown", comment.replace("\n#", "").replace("    ", " ")))
        out.append(("code", body.strip()))
    return out


def notebook(folder):
    """The notebook of an example as text; empty where it has none."""
    if not (folder / "script.py").exists() or not (found := cells(folder)):
        return ""
    made = []
    for n, (kind, text) in enumerate(found):
        cell = {"cell_type": kind, "id": f"cell-{n}", "metadata": {}, "source": text.strip("\n").splitlines(keepends=True)}
        made.append({**cell, "execution_count": None, "outputs": []} if kind == "code" else cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    whole = {"cells": made, "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
             "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(whole, ensure_ascii=False, indent=1) + "\n"


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    for example in sorted(ROOT.glob("examples/*/script.py")):
        if text := notebook(example.parent):
            (folder / f"{example.parent.name}.ipynb").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "build" / "notebooks")
