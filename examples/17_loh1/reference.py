"""Layer over a half-space on paper: seismograms by integrals over frequency and wavenumber.

A double couple of moment M_en(t) = M ½ (1 + erf(t/τ)) at (0, 0, z_s) in the half-space is a pair of horizontal forces.
For each wavenumber k it pushes along and across the direction of k; G_rr, G_zr, G_tt are what a unit of such forces
does at the surface, from the motion that is continuous at the layer's base and free of stress at the surface. Then
(Aki & Richards 2002, chapters 6 and 7; Bouchon 1981 for sums over k and frequencies with a small imaginary part)

    u_z = i M/2π sin 2φ ∫ k² G_zr J2(kr) dk,    A = M/2π sin 2φ ∫ k G_rr J2(kr) dk,    B = M/2π cos 2φ ∫ k G_tt J2(kr) dk
    u_r = ∂A/∂r − ∂B/∂φ / r,    u_φ = ∂A/∂φ / r + ∂B/∂r
"""

import numpy as np

LAYER, BELOW = (4000.0, 2000.0, 2600.0), (6000.0, 3464.0, 2700.0)  # v_P, v_S, density
THICKNESS, DEPTH = 1000.0, 2000.0                                   # m


def bessel_2(x):
    """J2 and its derivative, by the trapezoidal rule in Bessel's integral, which is exact for enough angles."""
    turn = np.linspace(0, 2 * np.pi, int(2 * x.max()) + 60, endpoint=False)
    j1, j2, j3 = (np.array([np.mean(np.cos(n * turn - at * np.sin(turn))) for at in x]) for n in (1, 2, 3))
    return j2, (j1 - j3) / 2


def modes(rock, k, w, sign):
    """Columns of u_x, u_z, σ_zz, σ_xz for P and S that go as exp(sign ν z), and both ν.  z up; exp(ikx + iωt)"""
    vp, vs, rho = rock
    mu, lam = rho * vs**2, rho * (vp**2 - 2 * vs**2)
    columns = []
    nu = [np.sqrt(k**2 - (w / v) ** 2 + 0j) for v in (vp, vs)]
    for slope, ux, uz in ((sign * nu[0], 1j * k, sign * nu[0]), (sign * nu[1], -sign * nu[1], 1j * k)):
        columns.append([ux + 0 * slope, uz + 0 * slope, lam * (1j * k * ux + slope * uz) + 2 * mu * slope * uz,
                        mu * (slope * ux + 1j * k * uz)])
    return np.moveaxis(np.array(columns), 2, 0).swapaxes(1, 2), np.array(nu).T  # [k][u, σ][P, S], [k][P, S]


def surface_response(k, w):
    """G_rr, G_zr, G_tt at the surface of unit forces at the source's depth."""
    up, nu = modes(BELOW, k, w, -1)
    down, _ = modes(BELOW, k, w, 1)
    jump = np.zeros((len(k), 4, 1), complex)
    jump[:, 3] = -1                                       # of σ_xz where the force acts
    source = np.linalg.solve(np.concatenate([up, -down], axis=2), jump)[:, :2, 0]
    source = source * np.exp(-nu * (DEPTH - THICKNESS))   # what arrives from below at the layer's base
    rise, mu_layer = modes(LAYER, k, w, -1)               # counted from the base
    fall, _ = modes(LAYER, k, w, 1)                       # counted from the surface
    through = np.exp(-mu_layer * THICKNESS)[:, None, :]
    system = np.zeros((len(k), 6, 6), complex)
    system[:, :2, 0:2] = (rise * through)[:, 2:]          # no stress at the surface
    system[:, :2, 2:4] = fall[:, 2:]
    system[:, 2:, 0:2] = rise                             # continuous at the base
    system[:, 2:, 2:4] = fall * through
    system[:, 2:, 4:6] = -down
    right = np.zeros((len(k), 6, 1), complex)
    right[:, 2:] = up @ source[:, :, None]
    x = np.linalg.solve(system, right)[:, :, 0]
    motion = (rise * through)[:, :2] @ x[:, 0:2, None] + fall[:, :2] @ x[:, 2:4, None]
    # Across: one wave up and one down in the layer, one down below.
    (_, s1, r1), (_, s2, r2) = LAYER, BELOW
    n1, n2 = np.sqrt(k**2 - (w / s1) ** 2 + 0j), np.sqrt(k**2 - (w / s2) ** 2 + 0j)
    m1, m2 = r1 * s1**2 * n1, r2 * s2**2 * n2
    arrives = np.exp(-n2 * (DEPTH - THICKNESS)) / (2 * m2)
    e = np.exp(-n1 * THICKNESS)
    across = arrives * 4 * m2 * e / (m1 * (1 - e * e) + m2 * (1 + e * e))
    return motion[:, 0, 0], motion[:, 1, 0], across


def seismograms(receivers, moment, tau, times, highest):
    """Velocity [receivers][east, north, up][times], m/s.  receivers [(east, north)] m, frequencies up to `highest` Hz"""
    span = 2.5 * (times[-1] + 4)
    damping = 5 / span
    frequencies = np.arange(int(highest * span) + 1) / span
    out = np.zeros((len(receivers), 3, len(times)))
    longest = max(np.hypot(*r) for r in receivers)
    dk = 2 * np.pi / (2 * longest + BELOW[0] * span * 0.5)
    every_k = dk * (np.arange(int((1.15 * 2 * np.pi * highest / LAYER[1] + 13 / DEPTH) / dk)) + 0.5)
    bessel = [bessel_2(every_k * np.hypot(*r)) for r in receivers]
    for f in frequencies:
        w = 2 * np.pi * f - 1j * damping
        k = every_k[: int((1.15 * abs(w) / LAYER[1] + 12 / DEPTH) / dk)]
        g_rr, g_zr, g_tt = surface_response(k, w)
        strength = moment / (2 * np.pi) * np.exp(-(w * tau) ** 2 / 4) * dk
        turn = np.exp(1j * w * times) * (2 if f else 1) / span
        for n, (east, north) in enumerate(receivers):
            r, phi = np.hypot(east, north), np.arctan2(north, east)
            j, slope = bessel[n][0][: len(k)], k * bessel[n][1][: len(k)]
            sine, cosine = np.sin(2 * phi), np.cos(2 * phi)
            u_z = 1j * strength * sine * np.sum(k**2 * g_zr * j)
            u_r = strength * sine * (np.sum(k * g_rr * slope) + 2 / r * np.sum(k * g_tt * j))
            u_phi = strength * cosine * (2 / r * np.sum(k * g_rr * j) + np.sum(k * g_tt * slope))
            u = (u_r * np.cos(phi) - u_phi * np.sin(phi), u_r * np.sin(phi) + u_phi * np.cos(phi), u_z)
            for c in range(3):
                out[n, c] += np.real(u[c] * turn)
    return out
