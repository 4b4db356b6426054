#!/usr/bin/env python3
"""Fit the polynomials of src/terrane/math/elementary.hpp and say how good they are.

    tools/fit_elementary.py            prints the coefficients, lowest first, and the largest relative error
    tools/fit_elementary.py --check    compares them with the header; exits with 1 where they differ

Each is a Chebyshev fit, with 60 digits, of what is left of the function after its first term, over s³, in z = s².
The error is that of the whole function with the coefficients rounded to double and the arithmetic exact.
Needs mpmath.
"""

import re
import sys
from pathlib import Path

import mpmath
from mpmath import mpf

HEADER = Path(__file__).resolve().parent.parent / "src/terrane/math/elementary.hpp"


def artanh_tail(z):
    """(2 artanh s - 2 s) / s^3"""
    if z < mpf("1e-12"):
        return mpf(2) / 3 + z * 2 / 5
    s = mpmath.sqrt(z)
    return (2 * mpmath.atanh(s) - 2 * s) / s**3


def arctan_tail(z):
    """(arctan s - s) / s^3"""
    if z < mpf("1e-12"):
        return -mpf(1) / 3 + z / 5
    s = mpmath.sqrt(z)
    return (mpmath.atan(s) - s) / s**3


# name, tail, first term over s, function, largest z, terms
FITS = [
    ("artanh_tail", artanh_tail, 2, lambda s: 2 * mpmath.atanh(s), "0.0455", 8),
    ("arctan_tail", arctan_tail, 1, mpmath.atan, "0.17158", 11),
    ("arctan_tail_small", arctan_tail, 1, mpmath.atan, "0.0745", 9),
]


def coefficients(tail, largest, terms):
    highest_first = mpmath.chebyfit(tail, [mpf(0), mpf(largest)], terms)
    return [float(c) for c in reversed(highest_first)]


def error(fit, first, function, largest, samples=2000):
    worst = mpf(0)
    for i in range(1, samples + 1):
        z = mpf(largest) * i / samples
        s = mpmath.sqrt(z)
        value = first * s + s * z * mpmath.polyval([mpf(c) for c in reversed(fit)], z)
        worst = max(worst, abs(value / function(s) - 1))
    return float(worst)


def in_header(name, text):
    body = re.search(rf"T {name}\(const T& z\) \{{(.*?)\}}", text, re.DOTALL).group(1)
    return [float(number) for number in re.findall(r"-?\d+\.\d+(?:e-?\d+)?", body)]


def main():
    mpmath.mp.dps = 60
    text = HEADER.read_text()
    same = True
    for name, tail, first, function, largest, terms in FITS:
        fit = coefficients(tail, largest, terms)
        print(f"{name}: z <= {largest}, relative error {error(fit, first, function, largest):.1e}")
        for c in fit:
            print(f"  {c!r}")
        written = in_header(name, text)
        if written != fit:
            same = False
            print(f"  differs from the header: {written}")
    if "--check" in sys.argv[1:]:
        sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
