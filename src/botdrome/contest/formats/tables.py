"""Swiss tables of more than two: filled from the top, with as few rematches as possible."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from botdrome.contest.formats.format import EntrantNumber
from botdrome.contest.formats.pairs import SwissHistory

Table = list[EntrantNumber]
Seatings = tuple[list[tuple[EntrantNumber, ...]], list[EntrantNumber]]


def swiss_tables(ranked: Sequence[EntrantNumber], size: int, history: SwissHistory) -> Seatings:
    """Return the tables by seat, and the entrants with a bye: the lowest of those with the fewest."""
    tables, byes = _split(ranked, size, history)
    _part_rematches(tables, history)
    return [_seated(table, history) for table in tables], byes


def ladder_tables(ranked: Sequence[EntrantNumber], size: int, history: SwissHistory) -> Seatings:
    """Return the tables by seat, and the entrants that wait. Entrants meet again and again, their neighbours most often."""
    tables, waiting = _split(ranked, size, history)
    return [_seated(table, history) for table in tables], waiting


def _split(ranked: Sequence[EntrantNumber], size: int, history: SwissHistory) -> tuple[list[Table], list[EntrantNumber]]:
    lowest_first = list(reversed(ranked))
    lowest_first.sort(key=lambda number: history.byes.get(number, 0))
    byes = lowest_first[: len(ranked) % size]
    return _filled([number for number in ranked if number not in byes], size, history), byes


def _filled(players: list[EntrantNumber], size: int, history: SwissHistory) -> list[Table]:
    """Fill tables from the top. A seat goes to the one of the next 3 tables' players that has met the table least."""
    rest, tables = list(players), list[Table]()
    while rest:
        table = [rest.pop(0)]
        while len(table) < size:
            chosen = min(rest[: 3 * size], key=lambda number: sum(history.times_met(number, other) for other in table))
            rest.remove(chosen)
            table.append(chosen)
        tables.append(table)
    return tables


def _rematches(table: Sequence[EntrantNumber], history: SwissHistory) -> int:
    return sum(history.times_met(*pair) for pair in combinations(table, 2))


def _part_rematches(tables: list[Table], history: SwissHistory) -> None:
    """Swap players of different tables, nearest tables first, as long as that saves rematches."""
    for index in reversed(range(len(tables))):
        while _rematches(tables[index], history) and _swapped(tables, index, history):
            pass


def _swapped(tables: list[Table], index: int, history: SwissHistory) -> bool:
    here = tables[index]
    for there in _nearest(tables, index):
        before = _rematches(here, history) + _rematches(there, history)
        for one in range(len(here)):
            for two in range(len(there)):
                here[one], there[two] = there[two], here[one]
                if _rematches(here, history) + _rematches(there, history) < before:
                    return True
                here[one], there[two] = there[two], here[one]
    return False


def _nearest(tables: list[Table], index: int) -> Iterator[Table]:
    for far in range(1, len(tables)):
        yield from (tables[other] for other in (index - far, index + far) if 0 <= other < len(tables))


def _seated(table: Sequence[EntrantNumber], history: SwissHistory) -> tuple[EntrantNumber, ...]:
    """Give each seat to the player that has had it least often."""
    rest, seats = list(table), list[EntrantNumber]()
    for seat in range(len(table)):
        seats.append(min(rest, key=lambda number: history.seat_count(number, seat)))
        rest.remove(seats[-1])
    return tuple(seats)
