"""Linear operators made of others, with what terrane.inversion.Sensitivity has: products, rows and diagonals."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from .._arrays import Floats

_BLOCK = 1 << 22  #: numbers of a matrix that are converted to float64 at a time


class Beside:
    """Operators whose columns stand beside each other: [A B C]."""

    def __init__(self, parts: Sequence[Any]) -> None:
        self.parts = list(parts)
        ends = np.cumsum([part.shape[1] for part in self.parts])
        self._slices = [slice(int(end) - part.shape[1], int(end)) for part, end in zip(self.parts, ends)]
        self.shape = (self.parts[0].shape[0], int(ends[-1]))

    def apply(self, model: Floats) -> Floats:
        data = np.zeros(self.shape[0])
        for part, at in zip(self.parts, self._slices):
            data += part.apply(model[at])
        return data

    def apply_transpose(self, data: Floats) -> Floats:
        return np.concatenate([part.apply_transpose(data) for part in self.parts])

    def diagonal(self, weight: Floats) -> Floats:
        return np.concatenate([part.diagonal(weight) for part in self.parts])

    def row(self, index: int) -> Floats:
        return np.concatenate([part.row(index) for part in self.parts])


class Difference:
    """(A - B)/h: derivatives of data, from data at two places that are h apart, h a number for each row.

    ``edges``: an operator with these rows, NaN where there is no derivative and finite elsewhere.
    """

    def __init__(self, plus: Any, minus: Any, step: Floats, edges: Any) -> None:
        self.plus, self.minus, self.step, self.edges, self.shape = plus, minus, step, edges, plus.shape

    def apply(self, model: Floats) -> Floats:
        return np.asarray((self.plus.apply(model) - self.minus.apply(model)) / self.step + 0 * self.edges.apply(model))

    def apply_transpose(self, data: Floats) -> Floats:
        held = data / self.step
        return np.asarray(self.plus.apply_transpose(held) - self.minus.apply_transpose(held)
                          + 0 * self.edges.apply_transpose(data))

    def diagonal(self, weight: Floats) -> Floats:
        sum_ = np.zeros(self.shape[1])
        for index in range(self.shape[0]):
            sum_ += weight[index] * self.row(index)**2
        return sum_

    def row(self, index: int) -> Floats:
        return np.asarray((self.plus.row(index) - self.minus.row(index)) / self.step[index] + 0 * self.edges.row(index))


class Matrix:
    """An array [rows, columns] of any float, in memory or in a file; sums are float64."""

    def __init__(self, array: Any) -> None:
        self.array, self.shape = array, array.shape
        self._rows = max(1, _BLOCK // max(1, array.shape[1]))

    def _blocks(self) -> Any:
        for first in range(0, self.shape[0], self._rows):
            at = slice(first, first + self._rows)
            yield at, np.asarray(self.array[at], dtype=np.float64)

    def apply(self, model: Floats) -> Floats:
        data = np.empty(self.shape[0])
        for at, block in self._blocks():
            data[at] = block @ model
        return data

    def apply_transpose(self, data: Floats) -> Floats:
        model = np.zeros(self.shape[1])
        for at, block in self._blocks():
            model += data[at] @ block
        return model

    def diagonal(self, weight: Floats) -> Floats:
        sum_ = np.zeros(self.shape[1])
        for at, block in self._blocks():
            sum_ += weight[at] @ block**2
        return sum_

    def row(self, index: int) -> Floats:
        return np.asarray(self.array[index], dtype=np.float64)
