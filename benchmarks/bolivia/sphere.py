"""Seismograms of an earthquake in a sphere by direct solution: an answer that shares nothing with the elements of Terrane.

    python sphere.py CMTSOLUTION STATIONS OUT.npz [--highest HZ] [--seconds T] [--degrees L] [--rows FILE.csv] [--bottom M]
    python sphere.py compare OUT.npz TERRANE.nc [--picture PICTURE.png]     prints JSON

Needs numpy and scipy; compare netCDF4, and matplotlib for a picture. Isotropic PREM with its upper crust in place of the
ocean, no gravity, rotation, ellipticity or attenuation, as the chunks of Terrane have it. --rows: an earth of even shells
instead, columns top and bottom (depth, m), density, velocity_p, velocity_s. --bottom: PREM only down to this depth, with
Stacey's absorbing condition there, as at the bottom of a chunk: what this condition alone changes. Displacements at the
end are printed as JSON.

With the source on the axis, degree l and order m = 0, 1, 2 have the displacement
U y r + V grad y + W (-r x grad y), y = P_l^m(cos θ) cos or sin mφ, and for each frequency and l the radial functions
solve (K - ω² M) (U, V) = f, and W by itself: the Galerkin equations of the energies, with L = l(l+1),

    ∫ [κ (U' + F)² + μ/3 (2U' - F)² + μ L (V' - V/r + U/r)² + μ L (L-2) V²/r²] r² dr,     F = (2U - L V)/r
    ∫ [μ L (W' - W/r)² + μ L (L-2) W²/r²] r² dr,           mass ∫ ρ (U² + L V² + L W²) r² dr

in radial elements of degree 6. Where rock and fluid meet, V has two values. f is the strain of the test functions at
the source times the moments. Frequencies lie below the real axis, ω - iε with ε T = 9, so that neither modes nor the
time before or after disturb: the time series is multiplied by exp(ε t) in the end. Every displacement begins with the
step ½ (1 + erf(t/τ)) of half duration 1.628 τ.
"""

import argparse
import csv
import json
import math
import sys

import numpy as np
from scipy.linalg import solve_banded

EARTH = 6371e3
# Dziewonski & Anderson 1981: top (km); density (g/cm³), v_P and v_S (km/s) as polynomials of r / 6371 km
PREM = [
    (1221.5, (13.0885, 0, -8.8381, 0), (11.2622, 0, -6.3640, 0), (3.6678, 0, -4.4475, 0)),
    (3480, (12.5815, -1.2638, -3.6426, -5.5281), (11.0487, -4.0362, 4.8023, -13.5732), (0, 0, 0, 0)),
    (3630, (7.9565, -6.4761, 5.5283, -3.0807), (15.3891, -5.3181, 5.5242, -2.5514), (6.9254, 1.4672, -2.0834, 0.9783)),
    (5600, (7.9565, -6.4761, 5.5283, -3.0807), (24.9520, -40.4673, 51.4832, -26.6419),
     (11.1671, -13.7818, 17.4575, -9.2777)),
    (5701, (7.9565, -6.4761, 5.5283, -3.0807), (29.2766, -23.6027, 5.5242, -2.5514),
     (22.3459, -17.2473, -2.0834, 0.9783)),
    (5771, (5.3197, -1.4836, 0, 0), (19.0957, -9.8672, 0, 0), (9.9839, -4.9324, 0, 0)),
    (5971, (11.2494, -8.0298, 0, 0), (39.7027, -32.6166, 0, 0), (22.3512, -18.5856, 0, 0)),
    (6151, (7.1089, -3.8045, 0, 0), (20.3926, -12.2569, 0, 0), (8.9496, -4.4597, 0, 0)),
    (6346.6, (2.6910, 0.6924, 0, 0), (4.1875, 3.9382, 0, 0), (2.1519, 2.3481, 0, 0)),
    (6356, (2.9, 0, 0, 0), (6.8, 0, 0, 0), (3.9, 0, 0, 0)),
    (6371, (2.6, 0, 0, 0), (5.8, 0, 0, 0), (3.2, 0, 0, 0)),
]
DEGREE = 6


def gauss_lobatto(n):
    """n + 1 points, weights, and derivatives D[i, j] of polynomial j at point i."""
    legendre = np.polynomial.legendre.Legendre.basis(n)
    x = np.concatenate([[-1], np.sort(legendre.deriv().roots().real), [1]])
    w = 2 / (n * (n + 1) * legendre(x) ** 2)
    d = np.zeros((n + 1, n + 1))
    for i in range(n + 1):
        for j in range(n + 1):
            if i != j:
                d[i, j] = legendre(x[i]) / legendre(x[j]) / (x[i] - x[j])
    d[0, 0], d[n, n] = -n * (n + 1) / 4, n * (n + 1) / 4
    return x, w, d


HOLE = 100e3  # radius of a hole at the centre, m: nothing of what is looked at reaches it


def shells_of_prem(source, below=HOLE):
    """(bottom, top, rock(r) -> density, v_P, v_S) from the radius `below` up, cut at the source."""
    shells = []
    for top, *rock in PREM:
        def at(r, rock=rock):
            x = r / EARTH
            return [1000 * sum(c * x**n for n, c in enumerate(of)) for of in rock]
        if top * 1e3 <= below:
            continue
        edges = [below, top * 1e3]
        if below < source < top * 1e3:
            edges.insert(1, source)
        shells += [(a, b, at) for a, b in zip(edges, edges[1:])]
        below = top * 1e3
    return shells


def shells_of_rows(file, source):
    rows = sorted(csv.DictReader(open(file)), key=lambda row: -float(row["bottom"]))
    shells = []
    for row in rows:
        rock = [float(row[key]) for key in ("density", "velocity_p", "velocity_s")]
        edges = [EARTH - float(row["bottom"]), EARTH - float(row["top"])]
        if edges[0] + 1 < source < edges[1] - 1:
            edges.insert(1, source)
        shells += [(a, b, lambda r, rock=rock: [value + 0 * r for value in rock]) for a, b in zip(edges, edges[1:])]
    return shells


class Radial:
    """Elements from the centre to the surface, and the numbers that each radial function has."""

    def __init__(self, shells, highest):
        x, w, self.d = gauss_lobatto(DEGREE)
        self.elements = []  # r, weight dr, rho, kappa, mu, 1/half height
        for bottom, top, rock in shells:
            _, p, s = (float(value) for value in rock((bottom + top) / 2))
            wave = (s if s > 0 else p) / highest
            count = max(1, math.ceil((top - bottom) / (wave / 1.2)))
            edges = np.linspace(bottom, top, count + 1)
            for a, b in zip(edges, edges[1:]):
                h = (b - a) / 2
                r = (a + b) / 2 + h * x
                rho, p, s = (value + 0 * r for value in rock(r))
                mu = rho * s**2
                self.elements.append((r, w * h, rho, rho * p**2 - 4 / 3 * mu, mu, 1 / h))
        self.fluid = [bool(np.all(e[4] == 0)) for e in self.elements]
        self.number()

    def number(self):
        """U is continuous everywhere, V but between rock and fluid; W in the outermost rock alone."""
        self.u, self.v, self.w = [], [], []
        count = 0
        for n in range(len(self.elements)):
            u, v = [], []
            for k in range(DEGREE + 1):
                joined = k == 0 and n > 0
                if joined:
                    u.append(self.u[-1][-1])
                else:
                    u.append(count)
                    count += 1
                if joined and self.fluid[n] == self.fluid[n - 1]:
                    v.append(self.v[-1][-1])
                else:
                    v.append(count)
                    count += 1
            self.u.append(np.array(u))
            self.v.append(np.array(v))
        self.count = count
        first = max([n for n, fluid in enumerate(self.fluid) if fluid], default=-1) + 1
        self.mantle = range(first, len(self.elements))
        # r / v_S: waves of degree l turn where it is l / ω
        self.slowness = [0 if fluid else e[0][-1] / math.sqrt(e[4][-1] / e[2][-1])
                         for e, fluid in zip(self.elements, self.fluid)]
        for n in self.mantle:
            self.w.append(np.arange(DEGREE + 1) + DEGREE * (n - first))
        self.count_w = DEGREE * len(self.mantle) + 1

    def lowest(self, l, omega, source):
        """The element from which on degree l is computed: far below where its waves turn, and below the source, there
        is nothing (a factor of 1e-8). 0: all of them."""
        if l < 20:
            return 0
        inside = [n for n in self.mantle if self.slowness[n] * omega >= l]
        turn = min([source] + [self.elements[n][0][0] for n in inside[:1]])
        limit = turn * 10 ** (-8 / l)
        first = max([n for n in self.mantle if self.elements[n][0][0] <= limit], default=0)
        return first if first > self.mantle.start + 1 else 0

    def at(self, radius):
        """The element whose bottom is at a radius in rock."""
        return min(range(len(self.elements)), key=lambda n: abs(self.elements[n][0][0] - radius))


class Banded:
    """A symmetric matrix by diagonals, as solve_banded takes it."""

    def __init__(self, size, width):
        self.width = width
        self.rows = np.zeros((2 * width + 1, size))

    def add(self, index, matrix):
        i, j = np.meshgrid(index, index, indexing="ij")
        np.add.at(self.rows, (self.width + i - j, j), matrix)


class Systems:
    """K = K0 + L K1 + L² K2 and M = M0 + L M1 of (U, V), and K and M of W over L, as Banded."""

    def __init__(self, radial):
        self.radial = radial
        n = DEGREE + 1
        width, zero, one = 2 * n + 1, np.zeros((n, n)), np.eye(n)
        self.k, self.m = [Banded(radial.count, width) for _ in range(3)], [Banded(radial.count, width) for _ in range(2)]
        self.kw, self.mw = [Banded(radial.count_w, n) for _ in range(2)], Banded(radial.count_w, n)
        self.only_u = Banded(radial.count, width)  # l = 0 has no V
        for at, (r, w, rho, kappa, mu, by_height) in enumerate(radial.elements):
            d, over, weight = by_height * radial.d, one / r[:, None], w * r**2
            a, b = np.hstack([d + 2 * over, zero]), np.hstack([zero, over])
            c, shear = np.hstack([2 * d - 2 * over, zero]), np.hstack([over, d - over])
            both = lambda p, q, by: np.einsum("p,pi,pj->ij", by * weight, p, q) + np.einsum("p,pi,pj->ij", by * weight, q, p)
            index = np.concatenate([radial.u[at], radial.v[at]])
            self.k[0].add(index, (both(a, a, kappa) + both(c, c, mu / 3)) / 2)
            self.k[1].add(index, both(c, b, mu / 3) - both(a, b, kappa) + both(shear, shear, mu) / 2 - both(b, b, mu))
            self.k[2].add(index, both(b, b, kappa + 4 / 3 * mu) / 2)
            self.m[0].add(radial.u[at], np.diag(rho * weight))
            self.m[1].add(radial.v[at], np.diag(rho * weight))
            self.only_u.add(radial.v[at], np.eye(n))
            if at in radial.mantle:
                index = radial.w[at - radial.mantle.start]
                by = lambda p: np.einsum("p,pi,pj->ij", mu * weight, p, p)
                self.kw[0].add(index, by(d - over) - 2 * by(over))
                self.kw[1].add(index, by(over))
                self.mw.add(index, np.diag(rho * weight))

    def of_degree(self, l):
        big = l * (l + 1)
        k = self.k[0].rows + big * self.k[1].rows + big**2 * self.k[2].rows
        if l == 0:
            k = k + self.only_u.rows
        return k, self.m[0].rows + big * self.m[1].rows, self.kw[0].rows + big * self.kw[1].rows, self.mw.rows

    def add_bottom(self, l, omega, uv, w):
        """iω C of Stacey's condition at the innermost radius: traction -ρ v_P u̇ along r, -ρ v_S u̇ across it."""
        r, _, rho, kappa, mu, _ = self.radial.elements[0]
        along, across = (1j * omega * r[0]**2 * math.sqrt(rho[0] * m) for m in (kappa[0] + 4 / 3 * mu[0], mu[0]))
        uv[self.only_u.width, self.radial.u[0][0]] += along
        uv[self.only_u.width, self.radial.v[0][0]] += l * (l + 1) * across
        w[self.mw.width, self.radial.w[0][0]] += across


def source_terms(radial, l, moment, radius):
    """Right-hand sides: of (U, V) [unknowns, 5], of W over L [unknowns, 5]: m = 0, cos φ, sin φ, cos 2φ, sin 2φ; divided by
    the squares of y over the sphere. moment: xx, yy, zz, xy, xz, yz with x south, y east, z up."""
    xx, yy, zz, xy, xz, yz = moment
    at = radial.at(radius)
    r, _, _, _, _, by_height = radial.elements[at]
    slope, here = by_height * radial.d[0], np.eye(DEGREE + 1)[0]
    big = l * (l + 1)
    fu = np.zeros((radial.count, 5))
    fw = np.zeros((radial.count_w, 5))
    u, v = radial.u[at], radial.v[at]
    norm = [4 * np.pi / (2 * l + 1), 2 * np.pi * big / (2 * l + 1), 2 * np.pi * big * (big - 2) / (2 * l + 1)]
    fu[u, 0] = (zz * slope + (xx + yy) * here / radius) / norm[0]
    if l > 0:
        fu[v, 0] = -(xx + yy) * big / 2 * here / radius / norm[0]
        w = radial.w[at - radial.mantle.start]
        shear = slope - here / radius
        for column, mu_, mw_ in ((1, xz, -yz), (2, yz, xz)):
            fu[v, column] = big / 2 * mu_ * shear / norm[1]
            fu[u, column] = big / 2 * mu_ * here / radius / norm[1]
            fw[w, column] = mw_ * shear / 2 / norm[1]
    if l > 1:
        c = big * (big - 2) / 8
        for column, mu_, mw_ in ((3, 2 * c * (xx - yy), -4 * c * xy), (4, 4 * c * xy, 2 * c * (xx - yy))):
            fu[v, column] = mu_ * here / radius / norm[2]
            fw[w, column] = mw_ * here / radius / norm[2] / big
    return fu, fw


def legendre(l_most, theta):
    """P_l^m and dP_l^m/dθ for m = 0, 1, 2, without the sign (-1)^m: [l][m]."""
    x, s = math.cos(theta), math.sin(theta)
    p = np.zeros((l_most + 1, 4))
    p[0, 0] = 1
    for m in (1, 2, 3):
        p[m if m <= l_most else 0, m] = 0
    diagonal = [1, s, 3 * s**2, 15 * s**3]
    for m in range(4):
        for l in range(m, l_most + 1):
            if l == m:
                p[l, m] = diagonal[m]
            elif l == m + 1:
                p[l, m] = x * (2 * m + 1) * diagonal[m]
            else:
                p[l, m] = ((2 * l - 1) * x * p[l - 1, m] - (l + m - 1) * p[l - 2, m]) / (l - m)
    slope = np.zeros((l_most + 1, 3))
    for l in range(l_most + 1):  # d/dθ P_l^m = m cot θ P_l^m - P_l^{m+1}
        for m in range(3):
            slope[l, m] = m * x / s * p[l, m] - p[l, m + 1]
    return p[:, :3], slope


def from_the_centre(latitude):
    f = 1 / 298.257
    return math.atan((1 - f) ** 2 * math.tan(math.radians(latitude)))


def axes_of(longitude, latitude):
    l, p = math.radians(longitude), from_the_centre(latitude)
    return np.array([[-math.sin(l), math.cos(l), 0],
                     [-math.sin(p) * math.cos(l), -math.sin(p) * math.sin(l), math.cos(p)],
                     [math.cos(p) * math.cos(l), math.cos(p) * math.sin(l), math.sin(p)]])


def read_cmt(file):
    values = {}
    for line in open(file):
        if ":" in line:
            key, value = line.split(":", 1)
            values[key.strip()] = value.strip()
    number = lambda key: float(values[key])
    rr, tt, pp, rt, rp, tp = (1e-7 * number(key) for key in ("Mrr", "Mtt", "Mpp", "Mrt", "Mrp", "Mtp"))
    return (number("longitude"), number("latitude"), 1e3 * number("depth"), number("half duration"),
            (tt, pp, rr, tp, rt, rp))


def seismograms(arguments):
    longitude, latitude, depth, half, moment = read_cmt(arguments.cmt)
    radius = EARTH - depth
    shells = shells_of_rows(arguments.rows, radius) if arguments.rows else shells_of_prem(
        radius, EARTH - arguments.bottom if arguments.bottom else HOLE)
    radial = Radial(shells, arguments.highest)
    stations = [line.split() for line in open(arguments.stations) if line.strip()]
    here = axes_of(longitude, latitude)
    places = []
    for name, network, north, east, *_ in stations:
        axes = axes_of(float(east), float(north))
        up = axes[2]
        theta = math.acos(np.clip(up @ here[2], -1, 1))
        phi = math.atan2(up @ here[0], -(up @ here[1]))  # from south to east
        if theta < 1e-6:
            theta, phi = 1e-6, 0.0
        places.append((f"{network}.{name}", theta, phi, axes))
    l_most = arguments.degrees
    tables = [legendre(l_most, theta) for _, theta, _, _ in places]

    period = arguments.period_of_series
    count = int(arguments.highest * period) + 1
    omega = 2 * np.pi * np.arange(count) / period - 1j * 9 / period
    tau, begin = half / 1.628, 3 * half
    spectrum = np.exp(-(omega * tau) ** 2 / 4 - 1j * omega * begin) / (1j * omega)
    out = np.zeros((len(places), 3, count), complex)  # θ, φ, up
    top = (radial.u[-1][-1], radial.v[-1][-1], radial.w[-1][-1])
    quiet = np.zeros(count, int)
    systems = Systems(radial)
    width, width_w = systems.only_u.width, systems.mw.width
    for l in range(l_most + 1):
        k, m, kw, mw = systems.of_degree(l)
        fu, fw = source_terms(radial, l, moment, radius)
        for n in range(count):
            if quiet[n] > 8:
                continue
            first = radial.lowest(l, omega[n].real, radius)
            left, left_w = k - omega[n] ** 2 * m, kw - omega[n] ** 2 * mw
            if arguments.bottom:
                systems.add_bottom(l, omega[n], left, left_w)
            at = 0 if first == 0 else radial.u[first][0]
            uv = solve_banded((width, width), left[:, at:], fu[at:], overwrite_ab=True, check_finite=False)
            u, v, w = uv[top[0] - at], uv[top[1] - at], np.zeros(5)
            if l == 0:
                v = 0 * v
            else:
                at = 0 if first == 0 else radial.w[first - radial.mantle.start][0]
                w = solve_banded((width_w, width_w), left_w[:, at:], fw[at:], overwrite_ab=True,
                                 check_finite=False)[top[2] - at]
            largest = 0
            for s, (_, theta, phi, _) in enumerate(places):
                p, slope = tables[s]
                sine = math.sin(theta)
                add = np.zeros(3, complex)
                for column, order, y, dy in ((0, 0, 1, 0), (1, 1, math.cos(phi), -math.sin(phi)),
                                             (2, 1, math.sin(phi), math.cos(phi)),
                                             (3, 2, math.cos(2 * phi), -2 * math.sin(2 * phi)),
                                             (4, 2, math.sin(2 * phi), 2 * math.cos(2 * phi))):
                    value, along, across = p[l, order] * y, slope[l, order] * y, p[l, order] / sine * dy
                    add += [v[column] * along + w[column] * across, v[column] * across - w[column] * along,
                            u[column] * value]
                out[s, :, n] += add
                largest = max(largest, np.abs(add).max() / max(np.abs(out[s, :, n]).max(), 1e-300))
            quiet[n] = quiet[n] + 1 if largest < 1e-7 and l > 20 else 0
        if np.all(quiet > 8):
            break
    samples = 4 * count
    times = np.arange(samples) * period / samples
    full = np.zeros((len(places), 3, samples // 2 + 1), complex)
    full[:, :, :count] = out * spectrum
    # exp(-ε t) u(t) is real: its spectrum of negative frequencies is the conjugate.
    series = np.fft.irfft(full, samples) * samples / period * np.exp(9 * times / period)
    east_north_up = np.zeros_like(series)
    for s, (_, theta, phi, axes) in enumerate(places):
        up = axes[2]
        away = up * math.cos(theta) - here[2]  # θ at the station, away from the source
        away = away / np.linalg.norm(away) if theta > 1e-5 else -here[1]
        across = np.cross(up, away)  # φ
        for d in range(3):
            east_north_up[s, d] = (axes[d] @ away) * series[s, 0] + (axes[d] @ across) * series[s, 1]
        east_north_up[s, 2] = series[s, 2]
    keep = times <= arguments.seconds + begin
    np.savez(arguments.out, names=[p[0] for p in places], times=times[keep] - begin,
             displacement=east_north_up[:, :, keep], degrees=l, tau=tau)
    rows = []
    for (name, *_), one in zip(places, east_north_up[:, :, keep]):
        rows.append({"station": name, "half_duration_s": half, "bottom_km": (arguments.bottom or EARTH) / 1e3,
                     "largest_mm": round(1e3 * float(np.linalg.norm(one, axis=0).max()), 3), "at_s": round(float(times[keep][-1] - begin), 1),
                     **{f"{axis}_mm": round(1e3 * float(x), 3) for axis, x in zip(("east", "north", "up"), one[:, -1])}})
    print(json.dumps(rows, indent=1))


def compare(arguments):
    import netCDF4

    theirs = np.load(arguments.out)
    with netCDF4.Dataset(arguments.terrane) as data:
        names, times = [str(n) for n in data["receiver"][:]], data["time"][:].data
        ours = data["displacement"][:].data
    rows = []
    for s, name in enumerate(theirs["names"]):
        mine = ours[names.index(str(name))]
        for d, axis in enumerate(("east", "north", "up")):
            both = (times >= 0) & (times <= theirs["times"][-1])
            reference = np.interp(times[both], theirs["times"], theirs["displacement"][s, d])
            largest = np.abs(theirs["displacement"][s]).max()
            apart = mine[d][both] - reference
            rows.append({"station": str(name), "component": axis, "largest_of_station_mm": 1e3 * largest,
                         "rms_difference_of_largest": float(np.sqrt(np.mean(apart**2)) / largest),
                         "most_of_largest": float(np.abs(apart).max() / largest),
                         "end_mm": 1e3 * float(reference[-1]), "end_terrane_mm": 1e3 * float(mine[d][both][-1])})
    print(json.dumps(rows, indent=1))
    if arguments.picture:
        draw(theirs, names, times, ours, arguments.picture)


def draw(theirs, names, times, ours, picture):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    count = len(theirs["names"])
    figure, axes = plt.subplots(count, 3, figsize=(9, 1.6 * count + 0.6), layout="constrained", sharex=True, squeeze=False)
    for s, name in enumerate(theirs["names"]):
        mine = ours[names.index(str(name))]
        for d, title in enumerate(("east", "north", "up")):
            axes[s, d].plot(theirs["times"], 1e3 * theirs["displacement"][s, d], "k", lw=1.6, label="direct solution")
            axes[s, d].plot(times, 1e3 * mine[d], "C3--", lw=1.0, label="Terrane")
            axes[s, d].set_xlim(0, theirs["times"][-1])
            if s == 0:
                axes[s, d].set_title(title)
        axes[s, 0].set_ylabel(f"{name}\nmm")
    axes[0, 0].legend(fontsize=7)
    for axis in axes[-1]:
        axis.set_xlabel("time (s)")
    figure.savefig(picture, dpi=110)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    if sys.argv[1:2] == ["compare"]:
        parser.add_argument("out")
        parser.add_argument("terrane")
        parser.add_argument("--picture")
        return compare(parser.parse_args(sys.argv[2:]))
    parser.add_argument("cmt")
    parser.add_argument("stations")
    parser.add_argument("out")
    parser.add_argument("--highest", type=float, default=0.08, help="frequency, Hz")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--degrees", type=int, default=700)
    parser.add_argument("--period-of-series", type=float, default=1000)
    parser.add_argument("--rows")
    parser.add_argument("--bottom", type=float, help="depth, m")
    return seismograms(parser.parse_args())


if __name__ == "__main__":
    main()
