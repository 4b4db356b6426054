"""The section of job.toml from the data of the line: a few Gauss-Newton steps, then chargeability as a linear problem.

    python invert.py [--output FILE]

Cells of the section are as long as electrodes are apart and endless across the line. With a prior covariance C of
log-conductivities, exponential along the line and with depth, a step is

    m = m0 + C Jᵀ (J C Jᵀ + D)⁻¹ (d − d(m) + J (m − m0))

D the variances of ln ρ_a. Chargeabilities obey m_a = −J m with the same J.
"""

import argparse
from pathlib import Path

import numpy as np
import terrane
from terrane.electric import Sensitivity, read_arrays

FOLDER = Path(__file__).parent
GROW = np.cumsum([40, 60, 95, 150, 235, 370, 580])


def grid(data):
    """Cells of 50 m along the line, 25 m and growing downwards; x is the station, across the line y."""
    x = data.electrodes[:, 0]
    core = np.arange(x.min() - 50, x.max() + 51, 50.0)
    along = np.r_[core[0] - GROW[::-1] * 1.5, core, core[-1] + GROW * 1.5]
    half = np.r_[25, 75, 75 + GROW * 1.5]
    down = np.cumsum([25, 27, 30, 33, 38, 44, 52, 62, 75, 90, 130, 200, 320, 520, 800])
    return terrane.TensorMesh(along, np.r_[-half[::-1], half], np.r_[-down[::-1], 0])


def section(mesh):
    """Which parameter each cell of the mesh belongs to, and the places of the parameters."""
    x, z = (mesh.easting[1:] + mesh.easting[:-1]) / 2, (mesh.up[1:] + mesh.up[:-1]) / 2
    number = np.arange(z.size * x.size).reshape(z.size, 1, x.size)
    cells = np.broadcast_to(number, mesh.shape).ravel()
    return cells, np.tile(x, z.size), np.repeat(z, x.size)


def covariance(x, z, along=150.0, down=60.0):
    return np.exp(-np.abs(x[:, None] - x) / along - np.abs(np.log1p(-z / 40)[:, None] - np.log1p(-z / 40)) * 40 / down)


def on_the_ground(data):
    places = data.electrodes.copy()
    places[:, 2] = 0
    return places


def rows_of(j, cells, parameters):
    return np.stack([np.bincount(cells, weights=row, minlength=parameters) for row in j.matrix()])


def main():
    dc, ip = (read_arrays(FOLDER / f"46800_{kind}.obs") for kind in ("potentials", "chargeabilities"))
    mesh = grid(dc)
    cells, x, z = section(mesh)
    prior, places = covariance(x, z), on_the_ground(dc)

    def at(m, unit=None):
        return Sensitivity(mesh, np.exp(m)[cells], places, dc.arrays, unit=unit)

    m0 = np.full(x.size, -np.log(130.0))
    start = at(m0)
    _, resistance, spread = dc.columns["resistance"]
    observed = np.log(np.abs(resistance * geometric(places, dc.arrays)))
    variance = (0.02 + spread / np.abs(resistance))**2
    m, j = m0, start
    for step in range(6):
        matrix, left = rows_of(j, cells, x.size), observed - j.data
        print(f"step {step}: chi squared per datum {np.mean(left**2 / variance):.2f}")
        wide = prior @ matrix.T
        m = m0 + wide @ np.linalg.solve(matrix @ wide + np.diag(variance), left + matrix @ (m - m0))
        j = at(m, start.unit)
    print(f"step 6: chi squared per datum {np.mean((observed - j.data)**2 / variance):.2f}")

    matrix = -rows_of(at(m, start.unit), cells, x.size)
    _, apparent, spread = ip.columns["resistance"]  # the file does not say what it holds: mV/V
    order = same_arrays(dc, ip)
    variance = (0.5 + spread[order])**2
    wide = 64 * prior @ matrix.T
    eta = 6 + wide @ np.linalg.solve(matrix @ wide + np.diag(variance), apparent[order] - 6)
    mesh["conductivity"] = np.exp(m)[cells].reshape(mesh.shape)
    mesh["chargeability"] = np.clip(eta * 1e-3, 0, 0.5)[cells].reshape(mesh.shape)
    return mesh


def geometric(places, arrays):
    """On a flat earth, by the distances of four electrodes."""
    d = np.linalg.norm(places[:, None] - places, axis=2)
    a, b, m, n = arrays.T
    return 2 * np.pi / (1 / d[a, m] - 1 / d[b, m] - 1 / d[a, n] + 1 / d[b, n])


def same_arrays(one, other):
    """Where each array of one file stands in the other."""
    def keys(data):
        x = data.electrodes[:, 0]
        return [tuple(x[row[:2]]) + tuple(sorted(x[row[2:]])) for row in data.arrays]

    places = {key: n for n, key in enumerate(keys(other))}
    return np.array([places[key] for key in keys(one)])


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--output", type=Path, default=FOLDER / "output" / "section.nc")
    output = arguments.parse_args().output
    output.parent.mkdir(parents=True, exist_ok=True)
    main().write(output)
