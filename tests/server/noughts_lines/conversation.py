"""`play NAME` waits for an opponent, `put 4` makes a move; the server sends the board when it is
your turn, then the result.
"""

from collections.abc import Collection

from botdrome.match.events import Ended, Player
from botdrome.match.match import News
from botdrome.wire.conversation import (
    Admit,
    Admitted,
    Close,
    Command,
    Outs,
    Reply,
    Seated,
    Seconds,
    Submit,
)
from botdrome.wire.writers import MatchHeader, MatchStatus

GAME, MARKS = "noughts-and-crosses", "XO"


class FindTable(Command):
    """The protocol's own command, which its server executes."""


class NoughtsLines:
    """Writes to the players of one match."""

    def __init__(self, header: MatchHeader) -> None: ...

    def on_news(
        self, news: News, status: MatchStatus, players: Collection[Player]
    ) -> dict[Player, list[bytes]]:
        event, position = news[-1]
        if isinstance(event, Ended):
            places = event.result.places
            return {player: [b"you are number %d" % places[player]] for player in players}
        board = "".join(mark or "." for row in position.view(None)["board"] for mark in row)
        return {player: [board.encode()] for player in players if player in position.to_move}


class NoughtsConversation:
    deadline: Seconds | None = None
    player: Player = 0

    def begin(self, now: Seconds) -> Outs:
        return (b"welcome",)

    def receive(self, message: bytes, now: Seconds) -> Outs:
        word, _, rest = message.decode("latin-1").partition(" ")
        if word == "play":
            return (Admit(rest, None, GAME),)
        if word == "put" and rest.isdecimal():
            return (Submit({"mark": MARKS[self.player], "space": divmod(int(rest), 3)}, message),)
        return (b"say play NAME or put SPACE", Close())

    def answer(self, reply: Reply, now: Seconds) -> Outs:
        match reply:
            case Admitted():
                return (FindTable(),)
            case Seated():
                self.player = reply.player
                reply.writers.join(reply.player, NoughtsLines)
                return ()
            case _:  # the match is over, or the client cannot play
                return (Close(),)

    def wake(self, now: Seconds) -> Outs:
        return ()
