"""Examples as notebooks, as the pages offer them: made whole, and executed."""

import ast
import builtins
import json
import os
import shutil
import subprocess
import sys

import pytest
from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))
import notebooks  # noqa: E402

#: A notebook's cells one after the other, in one namespace; how many figures each has left to show.
RUNNER = """
import json, sys
from pathlib import Path
import matplotlib
from matplotlib import pyplot
names, shown = {"__name__": "__main__"}, []
for cell in json.loads(Path(sys.argv[1]).read_text())["cells"]:
    text = "".join(cell["source"])
    if cell["cell_type"] != "code":
        continue
    if text.startswith("%%writefile "):
        head, _, body = text.partition("\\n")
        Path(head.split()[1]).write_text(body + "\\n")
        continue
    exec(compile(text, "cell", "exec"), names)
    shown.append(len(pyplot.get_fignums()))
    pyplot.close("all")
print(json.dumps(shown))
"""
EXAMPLES = [folder for folder in sorted((ROOT / "examples").glob("*/")) if notebooks.notebook(folder)]


def unknown(code):
    """Names that cells use and none of them makes."""
    made, used = {*dir(builtins)}, set()
    for node in (node for text in code if not text.startswith("%%") for node in ast.walk(ast.parse(text))):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else made).add(node.id)
        elif isinstance(node, ast.arg):
            made.add(node.arg)
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            made.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            made.update((name.asname or name.name).split(".")[0] for name in node.names)
    return used - made


@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda folder: folder.name)
def test_a_notebook_stands_alone(folder):
    cells = json.loads(notebooks.notebook(folder))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    for text in code:
        if not text.startswith("%%writefile"):
            ast.parse(text)
            assert "__file__" not in text and "Agg" not in text and "SystemExit" not in text
    assert any("plot(" in text or "savefig(" in text for text in code), "it shows no picture"
    assert not unknown(code)
    assert len({cell["id"] for cell in cells}) == len(cells)


#: Notebooks of which each run of the tests executes the cells; those of all others are executed by the long tests.
QUICK = {"01_one_prism", "12_magnetized_dike", "33_point_source"}
EXECUTED = [pytest.param(folder, id=folder.name, marks=[] if folder.name in QUICK else [pytest.mark.long]) for folder in EXAMPLES]


@pytest.mark.parametrize("folder", EXECUTED)
def test_a_notebook_computes_and_shows_its_picture(folder, tmp_path):
    pytest.importorskip("matplotlib")
    pytest.importorskip("netCDF4")
    if folder.name == "22_few_bodies":
        pytest.importorskip("scipy")
    (tmp_path / "it.ipynb").write_text(notebooks.notebook(folder), encoding="utf-8")
    for name in notebooks.absent(folder):  # what the page offers beside the notebook
        shutil.copy(folder / name, tmp_path)
    done = subprocess.run([sys.executable, "-c", RUNNER, "it.ipynb"], capture_output=True, text=True, cwd=tmp_path,
                          env={**os.environ, "MPLBACKEND": "agg"})
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])[-1] >= 1, "the last cell shows no figure"


def test_jupyter_executes_a_notebook_and_keeps_its_pictures(tmp_path):
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    book = nbformat.reads(notebooks.notebook(ROOT / "examples" / "12_magnetized_dike"), as_version=4)
    nbformat.validate(book)
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    assert any("image/png" in output.get("data", {}) for output in book.cells[-1].outputs)
