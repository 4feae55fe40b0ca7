"""ContestMatches: the matches of a contest that are being played, and the players that are here for
the next ones.
"""

from collections.abc import Callable, Sequence
from functools import partial

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import ContestFixture, FixtureResult
from botdrome.contest.progress import fixture_result, match_seed
from botdrome.match.record import fingerprint
from botdrome.server.contests.contest_player import contest_table
from botdrome.server.contests.present_players import PresentPlayers
from botdrome.server.tables.subscriber import Subscriber
from botdrome.server.tables.table import Table
from botdrome.store.contest_journal import result_note
from botdrome.store.store import Note

MOST_AT_ONCE = 50
"""Matches of house bots alone that run at the same time."""
LOOKED_AT, SEATING = 800, 100
"""Fixtures that one callback looks at, within 3 ms; starting a match costs as much as looking at
100.
"""
DECIDED = 400
"""Fixtures of absent players that are decided at once; more follow a second later."""


class ContestMatches:
    def __init__(self, ended: Callable[[ContestFixture, FixtureResult | None], None]) -> None:
        """`ended` is called when the result of a match is stored; None: it was aborted, and is
        played again.
        """
        self.players = PresentPlayers()
        self.playing: dict[str, Table | None] = {}
        """The fixtures that are played or being stored; None: a result without a match."""
        self._ended = ended

    def can_start(self, fixture: ContestFixture, names: Sequence[str]) -> bool:
        players = [self.players.next(name) for name in names]
        if fixture.key in self.playing or not all(players):
            return False
        return len(self.playing) < MOST_AT_ONCE or not all(
            player.is_house for player in players if player
        )

    def start(
        self, document: ContestDocument, secret: str, fixture: ContestFixture, names: Sequence[str]
    ) -> None:
        self.playing[fixture.key] = None
        players = self.players.sit_down(names)
        after = [player.on_seat() for player in players]
        table = contest_table(
            document,
            match_seed(secret, fixture.seed),
            partial(self._prepare, fixture, names, after),
        )
        max(players, key=lambda player: player.opener.rank).opener.open_for_contest(table, players)

    def abort(self, why: str) -> None:
        for table in [table for table in self.playing.values() if table is not None]:
            table.abort(why)

    def _prepare(
        self,
        fixture: ContestFixture,
        names: Sequence[str],
        after: Sequence[Callable[[], None]],
        table: Table,
    ) -> None:
        self.playing[fixture.key] = table
        table.subscribe(
            Subscriber(
                notes=partial(_notes, fixture), over=partial(self._over, fixture, names, after)
            )
        )

    def _over(
        self,
        fixture: ContestFixture,
        names: Sequence[str],
        after: Sequence[Callable[[], None]],
        table: Table,
    ) -> None:
        self.players.stand_up(names)
        del self.playing[fixture.key]
        self._ended(fixture, _result(table) if table.stored else None)
        for call in after:
            call()


def _result(table: Table) -> FixtureResult | None:
    result = table.match.result
    return (
        None
        if result is None or result.aborted
        else fixture_result(result, table.entry.id, fingerprint(table.match))
    )


def _notes(fixture: ContestFixture, table: Table) -> tuple[Note, ...]:
    """The result of the fixture is stored together with the match, so it counts exactly once."""
    result = _result(table)
    return () if result is None else (result_note(table.entry.contest or "", fixture.key, result),)
