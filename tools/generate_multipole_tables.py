#!/usr/bin/env python3
"""Writes src/terrane/physics/gravity/formula/multipole_tables.hpp: exact coefficients of the multipole form.

The potential of a box with half sides h about its centre is, order by order (even n, m = n/2),

    V_n = volume * sum_{a+b+c=m} h_x^2a h_y^2b h_z^2c / ((2a+1)! (2b+1)! (2c+1)!) * dx^2a dy^2b dz^2c (1/R)

and each derivative of 1/R is a polynomial in (x^2, y^2, z^2) over R^(2n+1). Row (a,b,c) of table n holds that
polynomial's coefficients, divided by the factorials above and multiplied by p! q! s! of its own monomial
x^2p y^2q z^2s, so that a column summed over the rows with the powers of h is one component of the symmetric
tensor of m-th derivatives that the form contracts. Monomials in the order xx..x, xx..y, xx..z, ...

usage: tools/generate_multipole_tables.py > src/terrane/physics/gravity/formula/multipole_tables.hpp
"""

from fractions import Fraction
from math import factorial

HIGHEST_ORDER = 8


def differentiated(polynomial, power, axis):
    """The polynomial Q with d/dx_axis [P R^-power] = Q R^-(power+2)."""
    out = {}
    for exponents, c in polynomial.items():
        if exponents[axis]:
            for other in range(3):  # dP/dx * R^2
                e = list(exponents)
                e[axis] -= 1
                e[other] += 2
                out[tuple(e)] = out.get(tuple(e), 0) + c * exponents[axis]
        e = list(exponents)
        e[axis] += 1
        out[tuple(e)] = out.get(tuple(e), 0) - power * c
    return out


def monomials(degree):
    return [(a, b, degree - a - b) for a in range(degree, -1, -1) for b in range(degree - a, -1, -1)]


def table(order):
    rows = []
    for row in monomials(order // 2):
        polynomial, power = {(0, 0, 0): 1}, 1
        for axis in range(3):
            for _ in range(2 * row[axis]):
                polynomial, power = differentiated(polynomial, power, axis), power + 2
        divisor = factorial(2 * row[0] + 1) * factorial(2 * row[1] + 1) * factorial(2 * row[2] + 1)
        rows.append([Fraction(polynomial.get(tuple(2 * e for e in column), 0)
                              * factorial(column[0]) * factorial(column[1]) * factorial(column[2]), divisor)
                     for column in monomials(order // 2)])
    return rows


def main():
    print("// Made by tools/generate_multipole_tables.py, which says what the numbers are. Do not edit.")
    print("#pragma once\n\nnamespace terrane::gravity::tables {\n\n// clang-format off")
    for order in range(2, HIGHEST_ORDER + 1, 2):
        rows = table(order)
        n = len(rows)
        print(f"inline constexpr double order_{order}[{n}][{n}] = {{")
        for row in rows:
            print("    {" + ", ".join(f"{f.numerator}.0 / {f.denominator}.0" if f.denominator > 1 else f"{f.numerator}.0"
                                      for f in row) + "},")
        print("};")
    print("// clang-format on\n\n}  // namespace terrane::gravity::tables")


main()
