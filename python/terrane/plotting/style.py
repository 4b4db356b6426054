"""How pictures look: sizes, titles, units, scales of colours, bars beside them. Yellow is high; red and blue are both sides of zero."""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass

from .data import Data, PlotError, base_of, need

#: Millimetres are for printers: a map is 2.3 inches wide whatever it shows, and its text 8 points high.
MAP_WIDTH = 2.3
STYLE = {
    "font.size": 8, "axes.titlesize": 9, "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7,
    "axes.linewidth": 0.6, "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5,
    "ytick.major.size": 2.5, "svg.fonttype": "none", "figure.dpi": 100, "savefig.dpi": 200,
}


@contextmanager
def styled():
    """Our sizes of text and lines while a figure is made; whatever else a notebook sets meanwhile stays as it sets it."""
    import matplotlib

    before = {key: matplotlib.rcParams[key] for key in STYLE}
    matplotlib.rcParams.update(STYLE)
    try:
        yield
    finally:
        matplotlib.rcParams.update(before)


def title_of(name: str) -> str:
    """``g_uu`` as a formula, ``terrain_effect`` as words."""
    if match := re.fullmatch(r"(.+)_(observed|residual|uncertainty|misfit|trust)", name):
        return f"{title_of(match[1])} {match[2]}"
    if match := re.fullmatch(r"g_?([enuxyz]{1,2})", name):
        return rf"$g_{{{match[1]}}}$"
    if match := re.fullmatch(r"([ehb])_([enu])(_[a-z]+)?", name):  # fields of currents and magnets
        return rf"${match[1].upper()}_{{{match[2]}}}$" + (match[3] or "").replace("_", " ")
    if name == "potential":
        return "potential $V$"
    return {"tmi": "total magnetic intensity"}.get(name, name.replace("topography_free", "topography-free").replace("_", " "))


def with_unit(name: str, unit: str) -> str:
    """What stands at an axis or a bar: "pressure (Pa)"."""
    return f"{name} ({unit})" if unit.strip() and name else name or unit


def unit_of(unit: str) -> str:
    """Units with raised exponents: m2/s2 → m²/s²; nothing of numbers without one."""
    return "" if unit == "1" else "°" if unit in ("degree", "degrees") else re.sub(r"(?<=[a-z])([23])", lambda m: "²³"[int(m[1]) - 2], unit)


@dataclass
class Look:
    """How a picture is to look; what is None is chosen.

    region: west, east, south, north (m), or these with bottom and top; limits: the values at both ends of the colours;
    log: a logarithmic scale, or not; cmap: the name of a colour map of matplotlib.
    """

    region: object = None
    limits: object = None
    log: object = None
    cmap: object = None

    def only(self, *names, what: str) -> None:
        """Refuses what would have no effect."""
        for name in ("region", "limits", "log", "cmap"):
            if getattr(self, name) is not None and name not in names:
                raise PlotError(f"{name}: has no effect on pictures {what}" + (f"; {', '.join(names)} have" if names else ""))

    def inside(self, easting, northing):
        """Which places are in the region."""
        numpy = need("numpy")
        east, north = numpy.asarray(easting, dtype=float), numpy.asarray(northing, dtype=float)
        if self.region is None:
            return numpy.ones(east.shape, dtype=bool)
        west, to_east, south, to_north = self.region[:4]
        return (east >= west) & (east <= to_east) & (north >= south) & (north <= to_north)


#: Drawn on a logarithmic scale where all of it is above zero.
LOGARITHMIC = ("apparent_resistivity", "resistivity", "conductivity", "permeability_hydraulic")


@dataclass
class Scale:
    """Colours for values: yellow is high; red and blue on both sides of zero where there are both signs."""

    norm: object
    cmap: str
    extend: str  # which ends have values beyond the limits
    good: object  # [values] whether the scale has a place for them


def scale_of(values, name: str = "", look: Look = Look(), robust: bool = False, shared=None) -> Scale:
    """The scale of one field.

    ``robust``: scattered stations have outliers; colours then span 99 % of the values. ``shared``: values that decide
    on the limits in place of the field's own.
    """
    from matplotlib.colors import LogNorm, Normalize

    numpy = need("numpy")
    values = numpy.asarray(values, dtype=float)
    of = values if shared is None else numpy.asarray(shared, dtype=float)
    finite = of[numpy.isfinite(of)]
    logarithmic = look.log
    if logarithmic is None:
        known = base_of(name).split("_east")[0].split("_north")[0].split("_up")[0] in LOGARITHMIC
        known = known or base_of(name) in ("rho_ne", "rho_en", "rho_ee", "rho_nn")
        decays = name.endswith("_amplitude") and finite.size > 0 and finite.min() > 0 and finite.max() > 30 * finite.min()
        logarithmic = decays or known and not name.endswith(("_residual", "_uncertainty", "_error")) and bool((finite > 0).any())
    if logarithmic:
        finite = finite[finite > 0]
    good = numpy.isfinite(values) & ((values > 0) | (not logarithmic))
    if finite.size == 0:
        return Scale(LogNorm(1, 10) if logarithmic else Normalize(0, 1), look.cmap or "viridis", "neither", good)
    low, high = float(finite.min()), float(finite.max())
    shown_low, shown_high = map(float, numpy.percentile(finite, [0.5, 99.5]) if robust else (low, high))
    colours = "viridis"
    if look.limits is not None:
        shown_low, shown_high = map(float, look.limits)
    elif logarithmic:
        if shown_high < 1.02 * shown_low:
            shown_low, shown_high = shown_low / 1.02, shown_high * 1.02
    else:
        largest = max(-shown_low, shown_high)
        if shown_low < -1e-3 * largest and shown_high > 1e-3 * largest:
            largest = max(abs(shown_low), abs(shown_high)) or 1.0
            shown_low, shown_high, colours = -largest, largest, "RdBu_r"
        elif shown_low == shown_high:  # the same everywhere
            half = 0.1 * abs(shown_low) or 0.5
            shown_low, shown_high = shown_low - half, shown_high + half
    if not shown_low < shown_high or (logarithmic and shown_low <= 0):
        raise PlotError(f"limits {shown_low:g}, {shown_high:g}: the first is less than the second"
                        + (", and above zero on a logarithmic scale" if logarithmic else ""))
    tiny = 1e-9 * max(abs(shown_low), abs(shown_high))
    extend = {(0, 0): "neither", (1, 0): "min", (0, 1): "max", (1, 1): "both"}[
        float(values[good].min(initial=shown_low)) < shown_low - tiny,
        float(values[good].max(initial=shown_high)) > shown_high + tiny]
    return Scale((LogNorm if logarithmic else Normalize)(shown_low, shown_high), look.cmap or colours, extend, good)


def columns_of(count: int) -> int:
    """Maps side by side: ten make two rows of five."""
    return {1: 1, 2: 2, 3: 3, 4: 2, 5: 3, 6: 3, 7: 4, 8: 4, 9: 3, 10: 5}.get(count, 4)


def lengths(data: Data, *extents):
    """What to divide coordinates by, and what to call them."""
    if data.geographic:
        return 1.0, "longitude (°)", "latitude (°)"
    if max(extents) > 5000:
        return 1e3, "easting (km)", "northing (km)"
    return 1.0, "easting (m)", "northing (m)"


def plain_ticks(bar, unit: str = "", most: int = 5) -> str:
    """Ticks that read 98.5 and 300, never 9.85 × 10¹, at most so many intervals of them; returns what stands at the bar:
    the unit, with a power of ten that very large and very small numbers share."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    numpy = need("numpy")
    norm = bar.mappable.norm
    largest = max(abs(norm.vmin), abs(norm.vmax))
    power = int(numpy.floor(numpy.log10(largest))) if largest > 0 else 0
    power = 0 if -4 < power < 7 or isinstance(norm, LogNorm) else power
    if isinstance(norm, LogNorm) and norm.vmax > 4 * norm.vmin:
        decades = range(int(numpy.floor(numpy.log10(norm.vmin))), int(numpy.ceil(numpy.log10(norm.vmax))) + 1)
        steps = (1, 2, 5) if norm.vmax < 1e3 * norm.vmin else (1, 3) if norm.vmax < 1e4 * norm.vmin else (1,)
        ticks = [m * 10.0**d for d in decades for m in steps]
        ticks = [t for t in ticks if norm.vmin * 0.999 <= t <= norm.vmax * 1.001]
        if len(ticks) < 3:
            ticks = [m * 10.0**d for d in decades for m in (1, 1.5, 2, 3, 5, 7) if norm.vmin <= m * 10.0**d <= norm.vmax]
        bar.locator = FixedLocator(ticks[::-(-len(ticks) // (most + 3))])
    elif isinstance(norm, LogNorm):
        bar.locator = FixedLocator([t for t in MaxNLocator(min(most, 4)).tick_values(norm.vmin, norm.vmax)
                                    if norm.vmin <= t <= norm.vmax])
    else:
        bar.locator = MaxNLocator(most)
    bar.minorlocator = NullLocator()
    bar.formatter = FuncFormatter(lambda value, _: f"{value / 10.0**power:.6g}".replace("-", "\N{MINUS SIGN}"))
    bar.update_ticks()
    return (rf"$10^{{{power}}}$ " if power else "") + unit_of(unit)


def plain_axis(axes, which: str = "y") -> None:
    """Ticks of a logarithmic axis of few decades as plain numbers, along x so few that they have room."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axis = getattr(axes, f"{which}axis")
    low, high = axis.get_view_interval()
    if axis.get_scale() != "log" or not 0 < low < high:
        return
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    if 1e-3 <= low and high < 1e6 and (which == "y" or high < 1e3 * low):
        axis.set_major_formatter(plain)
    if high < 30 * low:
        few = (1.5, 2, 3, 5, 7) if which == "x" else range(2, 10)
        axis.set_minor_locator(LogLocator(subs=(2, 5) if high > 4 * low else few))
        axis.set_minor_formatter(plain)
    else:
        axis.set_minor_formatter(NullFormatter())


def shared_power(axes) -> str:
    """Ticks along y of less than a decade and a half as 1.5, 2, 2.5; returns the power of ten that they share, to stand
    before the unit."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullFormatter, NullLocator

    numpy = need("numpy")
    axis = axes.yaxis
    low, high = sorted(axis.get_view_interval())
    logarithmic = axis.get_scale() == "log"
    if logarithmic and high >= 30 * low:
        axis.set_minor_formatter(NullFormatter())
        return ""
    largest = max(abs(low), abs(high))
    power = int(numpy.floor(numpy.log10(largest))) if largest > 0 else 0
    power = 0 if -3 < power < 5 else power
    if logarithmic:
        decades = range(int(numpy.floor(numpy.log10(low))), int(numpy.floor(numpy.log10(high))) + 1)
        ticks = MaxNLocator(5).tick_values(low, high) if high < 4 * low else [m * 10.0**d for d in decades for m in (1, 2, 5)]
        axis.set_major_locator(FixedLocator([tick for tick in ticks if low <= tick <= high]))
        axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value / 10.0**power:.6g}".replace("-", "\N{MINUS SIGN}")))
    return rf"$10^{{{power}}}$ " if power else ""


def colour_bar(figure, axes, image, unit, extend, size=(MAP_WIDTH, MAP_WIDTH)):
    """The bar right of a map of this width and height, inches; the unit stands above it, or beside it where the map is
    narrow or low."""
    bar = figure.colorbar(image, cax=axes.inset_axes([1.0 + 0.09 / size[0], 0, 0.1 / size[0], 1]), extend=extend,
                          extendfrac=0.03)
    bar.outline.set_linewidth(0.6)
    text = plain_ticks(bar, unit, most=5 if size[1] >= 1.2 else 2)
    if min(size) < 1.2:
        bar.ax.set_ylabel(text, fontsize=8)
        return
    top = 1.055 if extend in ("max", "both") else 1.02
    bar.ax.set_ylabel(text, rotation=0, ha="left", va="bottom", fontsize=8)
    bar.ax.yaxis.set_label_coords(0.0, top)
