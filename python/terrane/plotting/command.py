"""What ``terrane plot`` runs."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from .data import PlotError, need
from .figure import draw, picture_beside, save
from .files import read
from .snapshots import film


def _numbers(text: str, option: str):
    """Numbers between commas; None for nothing."""
    if not text:
        return None
    try:
        return [float(word) for word in text.split(",")]
    except ValueError:
        raise PlotError(f"{option} {text}: write numbers with commas between them") from None


def main(arguments=None) -> int:
    parser = argparse.ArgumentParser(prog="terrane plot", description="Draw maps of a result, or slices of a model.")
    parser.add_argument("file")
    parser.add_argument("--out")
    parser.add_argument("--channels", default="")
    parser.add_argument("--title", default="")
    parser.add_argument("--slice", default="", dest="slice_at")
    parser.add_argument("--wiggle", action="store_true")
    parser.add_argument("--region", default="")
    parser.add_argument("--limits", default="")
    parser.add_argument("--log", action=argparse.BooleanOptionalAction, default=None)
    parser.add_argument("--cmap")
    parser.add_argument("--dpi", type=int)
    parser.add_argument("--source", help="what errors call the file")
    given = parser.parse_args(arguments)
    out = Path(given.out) if given.out else picture_beside(Path(given.file))
    try:
        if out.suffix not in (".png", ".svg", ".pdf", ".gif", ".mp4"):
            raise PlotError(f"--out {out}: allowed: .png, .svg, .pdf, and .gif and .mp4 of snapshots")
        need("matplotlib").use("Agg")
        channels = [name.strip() for name in given.channels.split(",") if name.strip()]
        if out.suffix in (".gif", ".mp4"):
            film(read(given.file), out, ",".join(channels), title=given.title, slice_at=given.slice_at,
                 dpi=given.dpi or 100)
            return 0
        figure = draw(read(given.file), channels, title=given.title, slice_at=given.slice_at, wiggle=given.wiggle,
                      region=_numbers(given.region, "--region"), limits=_numbers(given.limits, "--limits"), log=given.log,
                      cmap=given.cmap)
        save(figure, out, given.dpi)
    except PlotError as error:
        said = str(error).replace(given.file, given.source or given.file)
        print(f"terrane: plot: {said}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if given.out is None:
        print(f"wrote {out}")
    return 0
