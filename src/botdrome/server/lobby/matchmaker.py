"""Matchmaker: gathers bots for a bounded time, in open play and on ladders, and pairs those whose
games say most about their strengths.
"""

import asyncio
from collections.abc import Callable
from time import time

from botdrome.bots.house import HOUSE_RATINGS
from botdrome.contest.lobby import Lobby, Seeker, Ticket, Wish, in_a_wish
from botdrome.contest.matchmaking import Knowledge, Ladder, WaitingPlayer, ladder_key, pairs_now
from botdrome.server import metrics
from botdrome.server.lobby.clients import BOT
from botdrome.server.settings import LadderSection, Settings
from botdrome.store.entries import MatchEntry, Wanted
from botdrome.store.store import Store

NOTED, LEARNT = 2000, 500
"""The last matches from which budgets and strengths are read at the start: at 200 bots, a strength
costs 2 ms a match.
"""
MOST_GAMES = 100
"""The number of wishes for which strengths are followed; clients choose options, so wishes add up.
"""


class Matchmaker:
    def __init__(
        self,
        lobby: Lobby,
        settings: Settings,
        open_table: Callable[[tuple[Seeker, ...]], None],
        open_house: Callable[[Seeker, str], None],
        version_of: Callable[[Seeker], str],
    ) -> None:
        self._lobby, self.wait = lobby, settings.matchmaking.wait
        self._ladder_settings: LadderSection = settings.ladder
        self._open, self._open_house, self._version_of = open_table, open_house, version_of
        self._arrived: dict[Ticket, float] = {}
        self._ladders: dict[Wish, Ladder] = {}
        """In open play, only what is known of the strengths is used."""
        self._loop = asyncio.get_running_loop()

    # The wait of all players.

    def arrive(self, seeker: Seeker, waited: float = 0.0) -> None:
        """A player begins to wait. One that gets a table at once need not."""
        if seeker.ticket not in self._arrived:
            self._arrived[seeker.ticket] = self._loop.time() - waited

    def leave(self, seeker: Seeker) -> None:
        self._arrived.pop(seeker.ticket, None)

    def seated(self, *seekers: Seeker) -> None:
        """Measure how long the players of a table have waited for it."""
        for seeker in seekers:
            arrived = self._arrived.pop(seeker.ticket, None)
            if not seeker.wish.ladder:
                metrics.WAIT.observe(0.0 if arrived is None else self._loop.time() - arrived)

    # Gathering.

    def gathers(self, seeker: Seeker) -> bool:
        """Return whether a player is gathered: on a ladder; or for a table of two, outside
        contests, against any opponent.
        """
        wish = seeker.wish
        return wish.ladder or (
            self.wait > 0
            and wish.open_to_house
            and wish.players == 2
            and wish.pace == "usual"
            and seeker.opponent is None
        )

    def gather(self, seeker: Seeker) -> None:
        """Pair a player that waits now, at the latest when its time is up."""
        wish, wait = seeker.wish, self.wait
        since = self._arrived.get(seeker.ticket, 0.0)
        if wish.ladder:
            since = max(since, self._ladder(wish).seeks(self._key(seeker)))
            wait = self._ladder_settings.wait
        self._match_up(wish)
        self._loop.call_at(since + wait, self._match_up, wish)

    def _match_up(self, wish: Wish) -> None:
        waiting = {self._key(seeker): seeker for seeker in self._lobby.waiting(wish)}
        players = [
            WaitingPlayer(key, self._arrived.get(seeker.ticket, 0.0))
            for key, seeker in waiting.items()
        ]
        # The loop may call a moment early, by the resolution of its clock.
        now = self._loop.time() + 0.001
        ladder = self._ladder(wish)
        if wish.ladder:
            pairs = ladder.pairs(players, now, self._ladder_settings.wait)
        else:
            pairs = pairs_now(players, ladder.knowledge, lambda *_: True, now, self.wait)
        for keys in pairs:
            table = tuple(waiting[key] for key in keys if key in waiting)
            for seeker in table:
                self._lobby.leave(seeker)
            if len(table) == 2:
                self._open(table)
            else:
                self._open_house(table[0], keys[1])

    def _key(self, seeker: Seeker) -> str:
        return ladder_key(seeker.name, self._version_of(seeker) if seeker.wish.ladder else "")

    def _ladder(self, wish: Wish) -> Ladder:
        if wish not in self._ladders:
            if len(self._ladders) == MOST_GAMES:
                del self._ladders[next(iter(self._ladders))]
            ratings = HOUSE_RATINGS.get(wish.game, {}) if wish.ladder else {}
            house = {f"house:{bot}": rating for bot, rating in ratings.items()}
            self._ladders[wish] = Ladder(self._ladder_settings.per_hour, house)
        return self._ladders[wish]

    def keys(self, wish: Wish, match: MatchEntry) -> list[str]:
        """Return the names of the players of a match, as matchmaking knows them."""
        return [
            ladder_key(name, match.version(player) if wish.ladder else "")
            for player, name in enumerate(match.players)
        ]

    async def recall(self, store: Store) -> None:
        """Take ladders up again from the last matches.

        The store does not say which matches were a ladder's: open ones of registered bots count.
        """
        found = await store.matches(Wanted(status="ended", limit=NOTED))
        ago = self._loop.time() - time()
        for number, match in reversed([*enumerate(found)]):
            if match.result and _may_be_of_ladder(match):
                wish = Wish(match.game, options=in_a_wish(match.options), ladder=True)
                keys = self.keys(wish, match)
                self._ladder(wish).note(keys, match.started / 1000 + ago)
                if number < LEARNT:
                    first, second = match.result.places
                    points = (first < second) + (first == second) / 2
                    self.learn(wish, keys[0], keys[1], points, counted=False)
                    await asyncio.sleep(0)

    def learn(self, wish: Wish, one: str, two: str, points: float, counted: bool = True) -> None:
        """Move the strengths by the result of a match that is over.

        Unless it was counted before, it was played at another node.
        """
        known: Knowledge = self._ladder(wish).knowledge
        if not counted:
            known.pair(one, two)
        known.learn(one, two, points)


def _may_be_of_ladder(match: MatchEntry) -> bool:
    house = HOUSE_RATINGS.get(match.game, {})
    seats = zip(match.players, match.owners, strict=False)
    owners = [owner for name, owner in seats if name.removeprefix("house:") not in house]
    return (
        len(match.owners) == 2
        and len(owners) > 0
        and all(owner.startswith(f"{BOT} ") for owner in owners)
        and match.pace == "usual"
        and not (match.contest or match.void)
    )
