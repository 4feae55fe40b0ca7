"""Lobby: match waiting players, longest wait first, never against themselves."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import combinations, islice
from operator import attrgetter
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.contest.formats.format import moved_on
from botdrome.match.terms import PACES, PaceName

T = TypeVar("T")
Ticket = int
"""A number that rises with every arrival."""
NO_OPTIONS = "{}"
Names = tuple[str, ...]
"""The names of a table, in the order of their seats."""


class Wish(Struct, frozen=True, cache_hash=True, gc=False):
    """The match that a bot wants to play.

    Only bots with equal wishes meet; the opponent they name is not part of the wish.

    One exception: a bot at the usual pace that takes any opponent, also one on a ladder, plays at
    the pace of a player that names it.
    """

    game: str
    players: int = 2
    options: str = NO_OPTIONS
    """The options as `in_a_wish` writes them."""
    contest: str | None = None
    pace: PaceName = "usual"
    invite: str | None = None
    """A code word that players have agreed on, so that they meet only each other."""
    ladder: bool = False
    """True: it is paired again and again with others of the ladder, and with house bots."""

    @property
    def open_to_house(self) -> bool:
        """Whether a house bot may play if no other player comes."""
        return self.contest is None and self.invite is None


def in_a_wish(options: Mapping[str, Any]) -> str:
    """Return the options as JSON with sorted keys."""
    return msgspec.json.encode(options, order="sorted").decode()


class Seeker(Struct, frozen=True, gc=False):
    ticket: Ticket
    name: str
    wish: Wish
    opponent: str | None = None
    """The only name that it wants to meet; None for any."""
    by_lot: bool = False
    """True: the first seat is drawn at random. False: the player that has waited longest begins."""
    all_contests: bool = False
    """True: it waits in all of its contests, since its protocol names none; the wish names the
    first.
    """
    avoids: str | None = None
    """A name that it does not want to meet at present."""
    moved: bool = False
    """True: another node has sent it here."""

    def accepts(self, other: "Seeker") -> bool:
        name, wanted = other.name, self.opponent
        if name == self.name or name == self.avoids or (wanted is not None and wanted != name):
            return False
        return self.wish == other.wish or self.sets_pace_for(other) or other.sets_pace_for(self)

    def sets_pace_for(self, other: "Seeker") -> bool:
        """Return True if it names the other, which has the same wish at the usual pace."""
        return (
            self.opponent == other.name
            and self.wish != other.wish
            and other.wish == replace(self.wish, pace="usual", ladder=other.wish.ladder)
        )


def part_of(items: Sequence[T], turn: int, most: int) -> Sequence[T]:
    """Return at most so many items, in each turn those that follow."""
    start = turn % max(1, -(-len(items) // most)) * most
    return items[start : start + most]


Group = dict[Ticket, Seeker]
"""The seekers of one name that want the same."""
Pool = dict[str | None, dict[str, Group]]
"""The groups with one wish, by the opponent that they name (None: any) and by their own name."""
_arrival = attrgetter("ticket")
BOOKS = 1000
"""The number of contest books above which unused ones are dropped."""
TRIED = 1000
"""The largest number of groups tried for a table of more than two."""


class ContestBook:
    """The matches of a contest so far: each group of players, and the player in the first seat."""

    def __init__(
        self, each_way: int, ended: Mapping[Names, int], running: Mapping[Names, int] | None = None
    ) -> None:
        """`ended` and `running` count the stored matches of each group of players."""
        self._each_way = each_way
        self._met: Counter[tuple[str, frozenset[str]]] = Counter()
        self._ended: Counter[tuple[str, frozenset[str]]] = Counter()
        """The matches of `_met` that are stored as ended."""
        self._names: defaultdict[int, set[str]] = defaultdict(set)
        """All players that have entered, by the number of seats at their tables."""
        for names, times in [*ended.items(), *(running or {}).items()]:
            self.note(names, times)
            self._names[len(names)].update(names)
        for names, times in ended.items():
            self.end(names, times)

    def enter(self, name: str, players: int = 2) -> None:
        self._names[players].add(name)

    def order(self, names: Names) -> Names | None:
        """Return the names in an allowed seating, rotated if necessary; None if they have no
        matches left.
        """
        rows = (moved_on(names, by) for by in range(len(names)))
        company = frozenset(names)
        return next((row for row in rows if self._met[row[0], company] < self._each_way), None)

    def note(self, names: Names, times: int = 1) -> None:
        """Count a new match, or (times -1) remove one that was cancelled."""
        self._met[names[0], frozenset(names)] += times

    def end(self, names: Names, times: int = 1) -> None:
        """Count a match that is stored as ended."""
        self._ended[names[0], frozenset(names)] += times

    @property
    def idle(self) -> bool:
        """True if no match is running, so that the store holds the same data."""
        return self._met == self._ended

    def complete_for(self, name: str, players: int = 2) -> bool:
        """Return True if the player has finished all matches with every group of other entrants,
        and there are enough of them.

        Running matches, and matches whose end is not stored yet, do not count.
        """
        others = sorted(self._names[players] - {name})
        companies = combinations(others, players - 1)
        return len(others) >= players - 1 and all(
            self._done((name, *company)) for company in companies
        )

    def unplayed(self) -> Iterator[tuple[Names, int]]:
        """Yield the groups with matches left, and how many.

        Only the first groups are examined if there are very many.
        """
        for players, names in sorted(self._names.items()):
            for company in islice(combinations(sorted(names), players), TRIED):
                together = frozenset(company)
                left = sum(max(0, self._each_way - self._met[first, together]) for first in company)
                if left:
                    yield company, left

    def _done(self, names: Names) -> bool:
        company = frozenset(names)
        return all(self._ended[first, company] >= self._each_way for first in names)


class Lobby:
    def __init__(self) -> None:
        self._pools: dict[Wish, Pool] = {}
        self._books: dict[tuple[str, str], ContestBook] = {}
        self._most_books = BOOKS

    def __len__(self) -> int:
        return sum(len(group) for pool in self._pools.values() for group in _groups(pool))

    def open_book(self, game: str, contest: str, book: ContestBook) -> None:
        self._books.setdefault((game, contest), book)
        if len(self._books) > self._most_books:
            self._forget_books((game, contest))

    def _forget_books(self, latest: tuple[str, str]) -> None:
        """Drop the books of contests without waiting players or matches: any client can name a
        contest, so books add up.
        """
        used = {(wish.game, wish.contest) for wish in self._pools} | {latest}
        self._books = {
            key: book for key, book in self._books.items() if key in used or not book.idle
        }
        self._most_books = max(BOOKS, 2 * len(self._books))

    def close_books(self, game: str) -> None:
        """Drop the books of a game: its contests are played elsewhere from now on."""
        self._books = {key: book for key, book in self._books.items() if key[0] != game}

    def book(self, wish: Wish) -> ContestBook | None:
        return self._books.get((wish.game, wish.contest)) if wish.contest else None

    def seek(self, newcomer: Seeker, gather: bool = False) -> tuple[Seeker, ...] | None:
        """Return the players of a new table in the order of their seats, including the newcomer;
        None if it has to wait.

        `gather`: it waits for matchmaking, unless another player waits for its name.
        """
        wish = newcomer.wish
        if wish.contest and (book := self.book(wish)):
            book.enter(newcomer.name, wish.players)
        table = self._named_for(newcomer) if gather else self._table_for(newcomer)
        if table is None:
            pool = self._pools.setdefault(wish, {})
            groups = pool.setdefault(newcomer.opponent, {})
            groups.setdefault(newcomer.name, {})[newcomer.ticket] = newcomer
            return None
        for seeker in table:
            if seeker is not newcomer:
                self.leave(seeker)
        return table

    def invited(self, invite: str | None) -> list[Seeker]:
        """Return the waiting players with this invite, or None: without one; longest wait first."""
        groups = (
            group
            for wish, pool in self._pools.items()
            if wish.invite == invite
            for group in _groups(pool)
        )
        return sorted((seeker for group in groups for seeker in group.values()), key=_arrival)

    def in_turn(self, turn: int, most: int, each: int) -> list[Seeker]:
        """Return players that wait in open play without an invite: the first of each name, and
        `each` names at most that want the same; `most` in all, the others in later turns.
        """
        waiting = [
            group
            for wish, pool in self._pools.items()
            if wish.open_to_house
            for groups in pool.values()
            for group in islice(groups.values(), each)
        ]
        return [_first(group) for group in part_of(waiting, turn, most)]

    def unplayed(self) -> Iterator[tuple[tuple[str, str], Names, int]]:
        """Yield the matches left in active contests: game and contest, names, and the number of
        matches.
        """
        used = {(wish.game, wish.contest) for wish in self._pools}
        for contest, book in self._books.items():
            if contest in used or not book.idle:
                yield from ((contest, names, left) for names, left in book.unplayed())

    def waiting(self, wish: Wish) -> list[Seeker]:
        """Return the first waiting player of each name that takes any opponent, longest
        wait first.
        """
        groups = self._pools.get(wish, {}).get(None, {})
        return sorted([_first(group) for group in groups.values()], key=_arrival)

    def waiting_in(self, game: str, contest: str, names: Names) -> list[Seeker]:
        """Return the waiting players with these names in a contest."""
        pools = (
            pool
            for wish, pool in self._pools.items()
            if (wish.game, wish.contest) == (game, contest)
        )
        found = (
            groups.get(name, {}) for pool in pools for groups in pool.values() for name in names
        )
        return [seeker for group in found for seeker in group.values()]

    def named(self, game: str, name: str) -> Seeker | None:
        """Return the bot of this name that waits for any opponent, at the usual pace and outside
        contests, with any options.
        """
        wishes = (
            wish
            for wish in self._pools
            if wish.game == game and wish.open_to_house and wish.pace == "usual"
        )
        groups = (self._pools[wish].get(None, {}).get(name) for wish in wishes)
        return next((_first(group) for group in groups if group), None)

    def leave(self, seeker: Seeker) -> None:
        """Remove a waiting player."""
        pool = self._pools.get(seeker.wish)
        groups = None if pool is None else pool.get(seeker.opponent)
        group = None if groups is None else groups.get(seeker.name)
        if pool is None or groups is None or group is None:
            return
        group.pop(seeker.ticket, None)
        if not group:
            del groups[seeker.name]
            if not groups:
                del pool[seeker.opponent]
                if not pool:
                    del self._pools[seeker.wish]

    def _named_for(self, newcomer: Seeker) -> tuple[Seeker, ...] | None:
        """Return the table of a player that waits for the newcomer by name."""
        return next(
            (
                (other, newcomer)
                for other in self._waiting_for(newcomer)
                if other.opponent is not None
            ),
            None,
        )

    def _table_for(self, newcomer: Seeker) -> tuple[Seeker, ...] | None:
        wish = newcomer.wish
        book = self.book(wish) if wish.contest else None
        if wish.players == 2:
            for other in self._waiting_for(newcomer):
                if book is None:
                    return other, newcomer
                if table := _seated((other, newcomer), book):
                    return table
            return None
        for company in self._companies(newcomer, wish.players - 1):
            if table := _seated((*company, newcomer), book):
                return table
        return None

    def _companies(self, newcomer: Seeker, others: int) -> Iterable[tuple[Seeker, ...]]:
        """Return the groups that may sit with the newcomer, longest wait first, at most TRIED of
        them.

        A player that names an opponent only plays at tables of two.
        """
        waiting = [seeker for seeker in self._waiting_for(newcomer) if seeker.opponent is None]
        return islice(combinations(waiting, others), TRIED)

    def _waiting_for(self, newcomer: Seeker) -> list[Seeker]:
        """Return the players that may sit with the newcomer, longest wait first; only the first of
        each name. Players that name somebody else are not looked at.
        """
        name, wanted, pools = newcomer.name, newcomer.opponent, self._pools
        if not pools:
            return []
        heads: list[Seeker] = []
        for wish in pools.keys() & _meeting(newcomer.wish):
            pool = pools[wish]
            for groups in (pool.get(None), pool.get(name)):
                if groups and wanted is None:
                    heads += [_first(group) for group in groups.values()]
                elif groups and wanted in groups:
                    heads.append(_first(groups[wanted]))
        if len(heads) > 1:
            heads.sort(key=_arrival)
        return [head for head in heads if head.accepts(newcomer) and newcomer.accepts(head)]


def _groups(pool: Pool) -> Iterator[Group]:
    for groups in pool.values():
        yield from groups.values()


def _first(group: Group) -> Seeker:
    return next(iter(group.values()))


@lru_cache(maxsize=100)
def _meeting(wish: Wish) -> frozenset[Wish]:
    """Return the wish, and the same wish at other paces and on a ladder, whose players may name
    each other.
    """
    if wish.contest is not None:
        return frozenset((wish,))
    paces = PACES if wish.pace == "usual" else (wish.pace, "usual")
    of_ladder = replace(wish, pace="usual", ladder=True)
    return frozenset((*(replace(wish, pace=pace, ladder=False) for pace in paces), of_ladder))


def table_wish(seekers: Sequence[Seeker]) -> Wish:
    """Return the wish of a table: that of the player that named another, if one did."""
    for seeker in seekers:
        if seeker.opponent:
            return seeker.wish
    return seekers[0].wish


def _seated(table: tuple[Seeker, ...], book: ContestBook | None) -> tuple[Seeker, ...] | None:
    """Return the table in a seating that the contest allows; None if there is none."""
    if book is None:
        return table
    order = book.order(tuple(seeker.name for seeker in table))
    return (
        None
        if order is None
        else tuple(seeker for name in order for seeker in table if seeker.name == name)
    )


# Pairing: form pairs of players, avoiding the last opponent.

Pair = tuple[str, str]


def paired(names: Sequence[str], last: Mapping[str, str | None]) -> tuple[list[Pair], list[str]]:
    """Return pairs that did not just play each other, and the players that are left over.

    Recent opponents are put next to each other in a row; then each player is paired with the one
    half a row away.
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
