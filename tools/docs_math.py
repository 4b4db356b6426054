"""MkDocs hook: turn the formulas of a page into MathML, which browsers show without scripts or a network, and bring them
the font that it needs: readers' machines have seldom one with the sizes and italics of formulas."""

import html
import io
import re
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.plugins import get_plugin_logger
from mkdocs.structure.files import File

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
CODE = re.compile(r"<(code|pre)\b.*?</\1>", re.DOTALL)
UNREAD = re.compile(r"\\(?:frac|tfrac|mathbf|sum|qquad|partial|nabla|Delta|Gamma)\b.*")
#: Of Debian's package lmodern (tools/packages.txt); docs/style.css names what is made of it.
FONT = Path("/usr/share/texmf/fonts/opentype/public/lm-math/latinmodern-math.otf")
#: Latin and Greek letters, marks, arrows, operators, brackets; bold and slanted letters, which stand for letters of formulas.
GLYPHS = [(0x20, 0x180), (0x2B0, 0x400), (0x2000, 0x2150), (0x2190, 0x2300), (0x2308, 0x230C), (0x27E6, 0x27EC),
          (0x1D400, 0x1D46A), (0x1D49C, 0x1D4D0), (0x1D6A4, 0x1D7D0)]


def font():
    """The glyphs of formulas as a font for pages."""
    from fontTools import subset
    from fontTools.ttLib import TTFont

    whole = TTFont(FONT)
    if "FFTM" in whole:
        del whole["FFTM"]  # when the font was made
    options = subset.Options()
    options.layout_features = ["*"]
    options.name_IDs = ["*"]  # its names and licence stay with it
    part = subset.Subsetter(options)
    part.populate(unicodes={code for first, end in GLYPHS for code in range(first, end)})
    part.subset(whole)
    whole.flavor = "woff"
    out = io.BytesIO()
    whole.save(out)
    return out.getvalue()


def on_files(files, config):
    if FONT.exists():
        files.append(File.generated(config, "math.woff", content=font()))
    else:
        get_plugin_logger("math").info("no %s (tools/setup docs): formulas are shown in the reader's fonts", FONT)
    return files


def on_page_content(content, page, **_):
    def mathml(match):
        try:
            return convert(html.unescape(match.group(3)), display="block" if match.group(2) == "[" else "inline")
        except Exception as problem:
            raise SystemExit(f"{page.file.src_path}: cannot read the formula {match.group(3)!r}: {problem}")

    content = FORMULA.sub(mathml, content)
    if unread := UNREAD.search(CODE.sub("", content)):
        raise SystemExit(f"{page.file.src_path}: {unread[0]!r} is in no formula: a line \\[ stands after a blank one")
    return content
