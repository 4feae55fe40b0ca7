"""A recorded match, continued by a person in the browser."""

from collections.abc import Iterator
from functools import partial
from itertools import count
from time import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from rich.text import Text

from botdrome.cli.analysis.browser_seat import BrowserSeat, SeatStage
from botdrome.cli.broadcast import Broadcast, open_browser
from botdrome.cli.terminal import Terminal
from botdrome.match.match import Match
from botdrome.protocols import PROTOCOLS
from botdrome.runner.forking import HUMAN, Continuation, continue_match
from botdrome.server.protocol import Protocol
from botdrome.wire.writers import MatchHeader

if TYPE_CHECKING:
    from botdrome.cli.analysis.fork import ForkPlan


def continued_in_browser(plan: "ForkPlan") -> Iterator[Continuation]:
    """Yield a continuation now and after each rematch, until Ctrl-C."""
    source, game = plan.source, plan.source.game
    seat = BrowserSeat(game.name, plan.entrants.index(HUMAN))
    own = Protocol("battlebot", seat.open)
    protocols = [own if row.name == own.name else row for row in PROTOCOLS]
    with Broadcast(protocols, seat.after) as broadcast:
        seat.interrupts.listen()
        show = partial(_shown, plan, broadcast, seat)
        _invite(plan, broadcast.url)
        try:
            for number in count():
                yield continue_match(
                    source.record, game, plan.step, plan.entrants, plan.names, number, seat.ask,
                    plan.isolation, partial(show, number),
                )  # fmt: skip
                seat.wait_for_rematch()
        except KeyboardInterrupt:
            return


def _match_id(plan: "ForkPlan", number: int) -> str:
    return f"{plan.source.game.name}-step-{plan.step}-fork-{number + 1}"


def _shown(
    plan: "ForkPlan", broadcast: Broadcast, seat: BrowserSeat, number: int, match: Match
) -> SeatStage:
    header = MatchHeader(
        _match_id(plan, number), match.game.name, plan.names, None, int(time() * 1000), "stepped"
    )
    return SeatStage(header, match, broadcast.scenes.put, seat)


def _invite(plan: "ForkPlan", server: str) -> None:
    query = urlencode({"pace": "stepped", "players": len(plan.names), "match": _match_id(plan, 0)})
    url = f"{server}/play/{plan.source.game.name}?{query}"
    console = Terminal(stderr=True)
    console.print(Text("Play at ").append(url, "cyan"), soft_wrap=True)
    if not open_browser(url):
        console.print("There is no browser to open here: open that address in one.")
    console.print(Text("A rematch continues from the same step. Ctrl-C ends it."), soft_wrap=True)
