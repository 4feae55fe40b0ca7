"""The results of a bot that plays on a server, one line for each match."""

import asyncio
import sys
from collections import Counter

from rich.text import Text

from botdrome.catalogue import restored
from botdrome.cli.terminal import Terminal
from botdrome.client.join import Ending, RemotePlayer
from botdrome.client.rest import RestServer, ServerProblem
from botdrome.client.terminal_text import shown
from botdrome.games.reading import plural
from botdrome.match.headline import headlines_of
from botdrome.match.record import BadRecord

COLOURS = {"won": "green", "drawn": "yellow", "lost": "red", "unfinished": "magenta"}
GONE = "the connection was lost, and there was no return"


class Results:
    """Shows the user what happens: results on standard output, all else on standard error."""

    def __init__(self, rest: RestServer, name: str) -> None:
        self._rest, self._name = rest, name
        self._counts: Counter[str] = Counter()
        self._failed = 0
        self._output, self._notes = Terminal(file=sys.stdout), Terminal(stderr=True)

    def say(self, words: str) -> None:
        self._notes.print(Text(shown(words), "dim"), soft_wrap=True)

    async def show_match(self, player: RemotePlayer) -> None:
        if player.log:
            self._notes.print(Text(player.log.rstrip("\n"), "dim"), soft_wrap=True)
        ending = (
            player.ending
            or await asyncio.to_thread(self._looked_up, player.match)
            or Ending((), GONE)
        )
        outcome = self._outcome(ending, player.players)
        self._counts[outcome] += 1
        opponents = ", ".join(name for name in player.players if name != self._name)
        line = Text(f"{player.match}  {shown(opponents)}  ").append(
            shown(ending.headline), COLOURS.get(outcome, "")
        )
        self._output.print(line, soft_wrap=True)
        if player.fault:
            self._failed += 1
            self._notes.print(
                Text(f"  {self._name} failed: {shown(player.fault)}", "red"), soft_wrap=True
            )

    def _outcome(self, ending: Ending, players: tuple[str, ...]) -> str:
        if not ending.places or ending.headline.startswith("aborted"):
            return "unfinished"
        if ending.places[players.index(self._name)] > 1:
            return "lost"
        return "won" if ending.places.count(1) == 1 else "drawn"

    def show_summary(self) -> None:
        counts, failed, total = self._counts, self._failed, self._counts.total()
        parts = [f"{counts[outcome]} {outcome}" for outcome in COLOURS if counts[outcome]]
        matches = plural(total, "match", "es")
        failures = f"; the bot failed in {failed}" if failed else ""
        self._output.print(
            Text(f"{self._name}: {', '.join([matches, *parts])}{failures}", "bold"), soft_wrap=True
        )

    def _looked_up(self, match: str) -> Ending | None:
        """Return the ending from the match file; None if the match is not over."""
        try:
            record, game = restored(self._rest.match_file(match))
        except (ServerProblem, BadRecord):
            return None
        you = record.setup.names.index(self._name)
        return (
            Ending(record.result.places, headlines_of(record, game)[you]) if record.result else None
        )
