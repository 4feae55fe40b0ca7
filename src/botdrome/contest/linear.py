"""Linear algebra for ratings: sparse symmetric systems, and inverses of symmetric positive definite matrices."""

from collections.abc import Sequence
from math import sqrt
from operator import mul

from msgspec import Struct

STEPS, PRECISION = 50, 1e-6
"""The largest number of iterations, and the precision at which they stop."""

Vector = Sequence[float]


class Springs(Struct, frozen=True):
    """The matrix H of a sum of squares: `own[i]` times x_i^2, and `weights[k]` times (x_one - x_two)^2 for each pair k."""

    own: Vector
    ones: Sequence[int]
    twos: Sequence[int]
    weights: Vector

    def diagonal(self) -> list[float]:
        found = list(self.own)
        for one, two, weight in zip(self.ones, self.twos, self.weights, strict=True):
            found[one] += weight
            found[two] += weight
        return found

    def times(self, x: Vector) -> list[float]:
        """Return H x."""
        product = list(map(mul, self.own, x))
        for one, two, weight in zip(self.ones, self.twos, self.weights, strict=True):
            pull = weight * (x[one] - x[two])
            product[one] += pull
            product[two] -= pull
        return product

    def solved(self, right: Vector) -> list[float]:
        """Solve H x = right by conjugate gradients, which are fast because few pairs have met."""
        x, rest, diagonal = [0.0] * len(right), list(right), self.diagonal()
        ready = [a / b for a, b in zip(rest, diagonal, strict=True)]
        way, size = ready, dot(rest, ready)
        enough = PRECISION**2 * size
        for _ in range(STEPS):
            if size <= enough:
                break
            turned = self.times(way)
            far = size / dot(way, turned)
            x = [a + far * b for a, b in zip(x, way, strict=True)]
            rest = [a - far * b for a, b in zip(rest, turned, strict=True)]
            ready = [a / b for a, b in zip(rest, diagonal, strict=True)]
            before, size = size, dot(rest, ready)
            way = [a + size / before * b for a, b in zip(ready, way, strict=True)]
        return x

    def inverse(self) -> list[list[float]]:
        size = len(self.own)
        matrix = [[0.0] * size for _ in range(size)]
        for at, value in enumerate(self.diagonal()):
            matrix[at][at] = value
        for one, two, weight in zip(self.ones, self.twos, self.weights, strict=True):
            matrix[one][two] -= weight
            matrix[two][one] -= weight
        return _inverse(matrix)


def _inverse(matrix: Sequence[Vector]) -> list[list[float]]:
    """Invert a symmetric positive definite matrix, by the columns of its inverted Cholesky factor."""
    size, rows = len(matrix), _cholesky(matrix)
    columns = []
    for at in range(size):
        column = [1 / rows[at][at]]
        for row in range(at + 1, size):
            column.append(-dot(rows[row][at:row], column) / rows[row][row])
        columns.append(column)
    lower = [[dot(columns[one][two - one :], columns[two]) for two in range(one, size)] for one in range(size)]
    return [[lower[min(one, two)][abs(one - two)] for two in range(size)] for one in range(size)]


def _cholesky(matrix: Sequence[Vector]) -> list[list[float]]:
    rows: list[list[float]] = []
    for at, given in enumerate(matrix):
        row: list[float] = []
        for other in range(at):
            row.append((given[other] - dot(row, rows[other])) / rows[other][other])
        row.append(sqrt(given[at] - dot(row, row)))
        rows.append(row)
    return rows


def dot(one: Vector, two: Vector) -> float:
    """Return the dot product over the length of the shorter vector."""
    return float(sum(map(mul, one, two)))
