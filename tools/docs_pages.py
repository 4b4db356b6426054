"""MkDocs hook: pages that are made from what stands elsewhere in the repository.

examples/NAME.md      the README of each example, with links between examples turned into links between pages, its
                      picture, its jobs and its scripts
examples/NAME.ipynb   the same as a notebook (tools/notebooks.py)
reference/cpp/COMPONENT.md the headers of each component of src/terrane: what a file says of itself on top, every
                      struct with its members, and every declaration that has a comment (///), in the file's
                      order

In mkdocs.yml an entry of nav may be a pattern, examples/*.md; it stands for the pages that fit and are not named.
"""

import fnmatch
import re
import sys
from pathlib import Path

from mkdocs.structure.files import File

sys.path.insert(0, str(Path(__file__).resolve().parent))
import notebooks  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "terrane"
COMPONENT = re.compile(r"^\s*terrane_component\(\s*(\S+)", re.MULTILINE)
# What a user of the library meets; the inner components of a physics are documented in the physics.
ROLE = re.compile(r":(?:func|class|meth|mod|attr):(<code>)~?")
# Of these a page shows what is in them. Classes have functions, which have comments of their own.
MEMBERS = re.compile(r"(template\s*<[^{;]*>\s*)?(struct|union|enum)\b(?![^{]*;)")
INNER = re.compile(r"(kernels|_device|device_|tables|detail)")


def components():
    listed = COMPONENT.findall((ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    all_physics = sorted(f"physics/{path.parent.name}" for path in SOURCE.glob("physics/*/physics.hpp"))
    at = listed.index("simulation") + 1
    return [component for component in listed[:at] + all_physics + listed[at:] if (SOURCE / component).is_dir()]


def declarations(text):
    """(comment, declaration) for each /// block of a header and each struct, and the comment on top of the file."""
    lines = text.splitlines()
    top = []
    for line in lines:
        if not line.startswith("//"):
            break
        top.append(line[2:].rstrip())
    found, comment, taking = [], [], []
    for line in lines:
        stripped = line.strip()
        if taking:
            taking.append(line)
        elif stripped.startswith("///") and not stripped.startswith("///<"):
            comment.append(stripped[3:].strip())
            continue
        elif (comment and stripped) or MEMBERS.match(line) and not line.startswith(" "):
            taking = [line]
        else:
            comment = []
            continue
        code = "\n".join(taking)
        if MEMBERS.match(code.lstrip()):
            bare = re.sub(r"//.*", "", code)
            if bare.rstrip().endswith(";") and bare.count("{") == bare.count("}"):
                found.append((comment, with_members(unindented(code))))
                comment, taking = [], []
        elif re.search(r"[;{}]\s*(///<.*)?$", stripped) and code.count("(") <= code.count(")"):
            found.append((comment, unindented(re.sub(r"\s*(\{[^{]*\}|\{|;)\s*(///<.*)?$", "", code))))
            comment, taking = [], []
    return top, found


def unindented(code):
    rows = code.splitlines()
    indent = min(len(row) - len(row.lstrip()) for row in rows if row.strip())
    return "\n".join(row[indent:] for row in rows)


def with_members(code):
    """A struct with its members and what is said of each; without what is private, and bodies of several lines."""
    code = re.sub(r"\n *private:\n.*?(?=\n *public:\n|\n\};)", "", code, flags=re.DOTALL)
    return re.sub(r"^( +)(\S[^\n]*\)[^\n;{}]*?) *\{\n(?:\1 .*\n|\n)*\1\}$", r"\1\2;", code, flags=re.MULTILINE)


def component_page(component):
    text = [f"# {component}", ""]
    headers = [h for h in sorted((SOURCE / component).rglob("*.hpp"))
               if not (component.startswith("physics/") and h.parent != SOURCE / component) and not INNER.search(h.stem)]
    for header in headers:
        top, found = declarations(header.read_text(encoding="utf-8"))
        text += [f"## `{header.relative_to(SOURCE.parent).as_posix()}`", "", *prose(top), ""]
        for comment, code in found:
            text += ["```cpp", code, "```", "", *[escape(line) for line in comment], ""]
    return "\n".join(text)


def prose(lines):
    """The comment on top of a file; what is indented there, a table or a formula, keeps its lines."""
    out, inside = [], False
    for line in lines:
        indented = line.startswith("   ")
        if indented != inside and (line or not inside):
            out += ["", "```text"] if indented else ["```", ""]
            inside = indented
        out.append(line[3:] if indented else line.strip())
    return [*out, "```"] if inside else out


def escape(line):
    return line.replace("<", "&lt;").replace("[", "\\[").replace("*", "\\*").replace("_", "\\_")


def pictures_of_examples():
    """What the gallery shows of each example: {name: picture}."""
    gallery = (ROOT / "docs/examples/index.md").read_text(encoding="utf-8")
    return {name: picture for picture, name in re.findall(r"\[!\[[^]]*\]\(\.\./img/([^)]+)\)\]\((\w+)\.md\)", gallery)}


def example_page(folder, picture):
    """The README of an example; its picture on top where it has none; its jobs and scripts below, to unfold and copy."""
    text = (folder / "README.md").read_text(encoding="utf-8")
    text = re.sub(r"\]\(\.\./(\d\d_\w+)/?\)", r"](\1.md)", text)
    text = re.sub(r"\]\((?:\.\./)+docs/", "](../", text)
    if picture and "](../img/" not in text:
        title, _, rest = text.partition("\n")
        text = f"{title}\n\n![{title.lstrip('# ').strip()}](../img/{picture})\n{rest}"
    if notebooks.notebook(folder):
        title, _, rest = text.partition("\n")
        text = f"{title}\n\n[Download as a notebook]({folder.name}.ipynb){{ download }}\n{rest}"
    text = [text.rstrip(), "", "## Files", ""]
    for file in sorted([*folder.glob("*.toml"), *folder.glob("*.py")], key=lambda f: (f.suffix != ".toml", f.name)):
        language = "toml" if file.suffix == ".toml" else "python"
        code = file.read_text(encoding="utf-8").rstrip()
        text += [f'<details markdown="1"><summary><code>{file.name}</code></summary>', "", f"```{language}", code, "```", "",
                 "</details>", ""]
    if data := notebooks.absent(folder):
        text += [", ".join(f"[{name}]({folder.name}/{name}){{ download }}" for name in data) + ", which the job reads.", ""]
    return "\n".join(text)


def downloads(folder):
    """What the page of an example offers beside itself: {path: bytes}."""
    name, book = folder.name, notebooks.notebook(folder)
    return {**({f"examples/{name}.ipynb": book.encode()} if book else {}),
            **{f"examples/{name}/{file}": (folder / file).read_bytes() for file in notebooks.absent(folder)}}


def on_files(files, config):
    pictures = pictures_of_examples()
    for readme in sorted(ROOT.glob("examples/*/README.md")):
        name = readme.parent.name
        text = example_page(readme.parent, pictures.get(name))
        files.append(File.generated(config, f"examples/{name}.md", content=text))
        for path, content in downloads(readme.parent).items():
            files.append(File.generated(config, path, content=content))
    names = components()
    for component in names:
        files.append(File.generated(config, f"reference/cpp/{component.replace('/', '_')}.md", content=component_page(component)))
    pages = sorted(file.src_uri for file in files.documentation_pages())
    config.nav = expanded(config.nav, pages, named(config.nav))
    return files


def on_page_content(html, **_):
    """Docstrings name what they refer to as Sphinx does, :class:`Survey`; a page shows the name."""
    return ROLE.sub(r"\1", html)


def named(entry):
    """The paths that nav gives by name."""
    if isinstance(entry, str):
        return {entry}
    return set().union(*(named(value) for value in (entry.values() if isinstance(entry, dict) else entry)))


def expanded(entry, pages, taken):
    """nav with the pages that each pattern stands for."""
    if isinstance(entry, list):
        out = []
        for item in entry:
            new = expanded(item, pages, taken)
            out += new if isinstance(item, str) and isinstance(new, list) else [new]
        return out
    if isinstance(entry, dict):
        return {title: expanded([value] if isinstance(value, str) and "*" in value else value, pages, taken)
                for title, value in entry.items()}
    if "*" not in entry:
        return entry
    return [page for page in pages if fnmatch.fnmatch(page, entry) and page not in taken]
