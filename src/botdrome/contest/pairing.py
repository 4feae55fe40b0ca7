"""Pairing: form pairs of players, avoiding the last opponent."""

from collections.abc import Mapping, Sequence

Pair = tuple[str, str]


def paired(names: Sequence[str], last: Mapping[str, str | None]) -> tuple[list[Pair], list[str]]:
    """Return pairs that did not just play each other, and the players that are left over.

    Recent opponents are put next to each other in a row; then each player is paired with the one half a row away.
    """
    row = _side_by_side(names, last)
    half = len(row) // 2
    pairs, rest = [], row[half : len(row) - half]
    for one, two in zip(row[:half], row[len(row) - half :], strict=True):
        if last.get(one) == two or last.get(two) == one:
            rest += [one, two]
        else:
            pairs.append((one, two))
    return pairs, rest


def _side_by_side(names: Sequence[str], last: Mapping[str, str | None]) -> list[str]:
    left = dict.fromkeys(names)
    row: list[str] = []
    for name in names:
        following: str | None = name
        while following is not None and following in left:
            del left[following]
            row.append(following)
            following = last.get(following)
    return row
