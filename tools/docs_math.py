"""MkDocs hook: turn the formulas of a page into MathML, which browsers show without scripts or a network."""

import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\([(\[])(.*?)\\[)\]]</\1>', re.DOTALL)
CODE = re.compile(r"<(code|pre)\b.*?</\1>", re.DOTALL)
UNREAD = re.compile(r"\\(?:frac|tfrac|mathbf|sum|qquad|partial|nabla|Delta|Gamma)\b.*")


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
