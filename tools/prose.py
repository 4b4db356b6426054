"""Lines of pages that programs write."""

import re
import textwrap

COLUMNS = 120


def wrapped(text):
    """Paragraphs and items of lists in lines of at most 120 columns; tables, headings and pictures as they are."""
    out = []
    for part in text.strip("\n").split("\n\n"):
        if part.startswith(("#", "|", "!", "```")):
            out.append(part)
            continue
        items = re.split(r"\n(?=\* )", part)
        out.append("\n".join(textwrap.fill(" ".join(item.split()), COLUMNS, break_long_words=False,
                                           break_on_hyphens=False,
                                           subsequent_indent="  " if item.startswith("* ") else "")
                             for item in items))
    return "\n\n".join(out) + "\n"
