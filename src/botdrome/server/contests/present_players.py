"""PresentPlayers: the players of a contest that are here. They wait for a match, or play one."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from botdrome.server.contests.contest_player import ContestPlayer


class PresentPlayers:
    def __init__(self) -> None:
        self._waiting: defaultdict[str, list[ContestPlayer]] = defaultdict(list)
        self._playing: Counter[str] = Counter()
        """The number of matches that a bot plays."""

    def __contains__(self, name: str) -> bool:
        return bool(self._waiting.get(name) or self._playing[name])

    @property
    def waiting(self) -> list[str]:
        """The names of the bots that wait."""
        return [name for name, players in self._waiting.items() if players]

    def next(self, name: str) -> ContestPlayer | None:
        """Return the player of this name that has waited longest."""
        waiting = self._waiting.get(name)
        return waiting[0] if waiting else None

    def arrive(self, player: ContestPlayer) -> None:
        """Of several versions of a bot the newest waits on."""
        waiting = self._waiting[player.name]
        old = [one for one in waiting if one.version != player.version]
        waiting[:] = [one for one in waiting if one not in old] + [player]
        for one in old:
            one.release()

    def depart(self, name: str, ticket: int) -> bool:
        """Return False if there was no such player, as if it was refused."""
        waiting = self._waiting.get(name, [])
        leaving = [player for player in waiting if player.ticket == ticket]
        for player in leaving:
            waiting.remove(player)
        return bool(leaving)

    def release(self, names: Iterable[str]) -> None:
        """Let players go that wait."""
        for name in list(names):
            for player in self._waiting.pop(name, []):
                player.release()

    def sit_down(self, names: Sequence[str]) -> list[ContestPlayer]:
        """Take players that wait. House bots play any number of matches at once."""
        players = [self._waiting[name][0] for name in names]
        for player in players:
            if not player.is_house:
                self._waiting[player.name].pop(0)
        self._playing.update(names)
        return players

    def lend(self, name: str, ticket: int) -> bool:
        """Another contest has seated a player that waits: it is here until it stands up.

        Return False if it does not wait.
        """
        lent = self.depart(name, ticket)
        self._playing[name] += lent
        return lent

    def stand_up(self, names: Iterable[str]) -> None:
        self._playing.subtract(names)
