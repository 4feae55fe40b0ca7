"""Company: those who have joined a boat game, before it starts and while it runs."""

import hmac
from collections.abc import Iterable
from typing import Protocol

from botdrome.bots.house import HouseBot
from botdrome.match.events import Player
from botdrome.server.lobby.desk import WaitingClient
from botdrome.server.lobby.owners import NOBODY
from botdrome.server.tables.floor import Candidate
from botdrome.wire.boats.crew import Taunts
from botdrome.wire.boats.lines import NOT_STARTED, joined, left, results, said
from botdrome.wire.boats.offer import Offer


class TurnedAway(Exception):
    """Somebody cannot join, with the last words it is told."""


class TryAgain(Exception):
    """Somebody cannot join like this, but may try another name."""


class Client(Candidate, Protocol):
    """A connection on lines."""

    @property
    def address(self) -> str: ...

    def enter(self, company: "Company | None") -> None:
        """The game that it waited for starts."""

    def send_off(self, words: bytes, reason: bytes = b"") -> None:
        """Say this, if it is anything, and close; the others are told the reason."""


class Sailor:
    """One who has joined. It may come and go; a native bot and one of the house have no client of this protocol."""

    def __init__(self, name: bytes, text: str, board: bytes = b"", secret: bytes = b"") -> None:
        self.name, self.board, self.secret = name, board, secret
        self.owner = NOBODY
        """To whom its seat belongs. A registered bot has no secret: it has shown its token."""
        self.text = text
        """The name in the rest of the house."""
        self.taunts = Taunts()
        self.client: Client | None = None
        self.guest: WaitingClient | None = None
        self.house: HouseBot | None = None
        self.address = ""
        self.lost_at: float | None = None
        """When its connection was lost, by the clock of the loop, until it is expected back no longer."""
        self.player: Player = 0

    @property
    def on_lines(self) -> bool:
        """It plays by this protocol, whether it is here or not."""
        return self.guest is None and self.house is None

    def proves_to_be(self, other: "Sailor") -> bool:
        """Nobody else can show what it has shown. Somebody without a secret proves nothing."""
        if other.secret:
            return hmac.compare_digest(other.secret, self.secret)
        return other.owner != NOBODY and other.owner == self.owner

    def is_nobodys(self) -> bool:
        """As in the original, whoever has its name may have its seat."""
        return not self.secret and self.owner == NOBODY

    def tell(self, lines: list[bytes]) -> None:
        if self.client is not None:
            self.client.tell(lines)


class Company:
    def __init__(self, offer: Offer, number: int, sailors: Iterable[Sailor] = ()) -> None:
        self.offer, self.number, self.sailors = offer, number, list(sailors)
        """The number is the host's word for a game, from the first who joins it to its end."""

    @property
    def started(self) -> bool:
        raise NotImplementedError

    @property
    def match_id(self) -> str | None:
        return None

    def info(self) -> bytes:
        return self.offer.info(self.started, len(self.sailors))

    def called(self, name: bytes) -> Sailor | None:
        return next((sailor for sailor in self.sailors if sailor.name == name), None)

    def from_address(self, address: str) -> list[Sailor]:
        return [sailor for sailor in self.sailors if sailor.client is not None and sailor.address == address]

    def tell_others(self, than: Sailor, lines: list[bytes]) -> None:
        for sailor in self.sailors:
            if sailor is not than:
                sailor.tell(lines)

    def say(self, sender: Sailor, to: bytes, text: bytes) -> None:
        """To all others, or to one. What is for nobody is dropped without a word."""
        if not to:
            return self.tell_others(sender, [said(sender.name, text, to_all=True)])
        receiver = self.called(to)
        if receiver is not None and receiver is not sender:
            receiver.tell([said(sender.name, text)])
        return None

    def turns_of(self, sailor: Sailor) -> int:
        """How many turns it has had."""
        return 0

    def announce(self, text: bytes, to: Sailor | None = None) -> None:
        """The server's, or the host's words."""
        for sailor in self.sailors if to is None else [to]:
            sailor.tell([said(b"", text)])

    def fire(self, sailor: Sailor, line: bytes) -> bool:
        """Take a line that is plainly a shot, and can be. False: whatever it is, nothing was done."""
        return False

    def shoot(self, sailor: Sailor, fields: list[bytes], line: bytes) -> bool:
        """False: it was refused, and the shooter has been told why."""
        raise NotImplementedError

    def skip(self, sailor: Sailor, reason: bytes, line: bytes) -> bool:
        raise NotImplementedError

    def leave(self, sailor: Sailor, reason: bytes) -> None:
        raise NotImplementedError


class Gathering(Company):
    """Those who wait for a game to start, in the order in which they came."""

    started = False

    def join(self, sailor: Sailor) -> None:
        """Whoever joins hears of itself first."""
        others = [joined(other.name) for other in self.sailors]
        self.sailors.append(sailor)
        sailor.tell([joined(sailor.name), *others])
        self.tell_others(sailor, [joined(sailor.name)])

    def leave(self, sailor: Sailor, reason: bytes) -> None:
        sailor.client = None
        if sailor in self.sailors:
            self.sailors.remove(sailor)
            self.tell_others(sailor, [left(sailor.name, reason)])

    def shoot(self, sailor: Sailor, fields: list[bytes], line: bytes) -> bool:
        sailor.tell([said(b"", NOT_STARTED)])
        return False

    def skip(self, sailor: Sailor, reason: bytes, line: bytes) -> bool:
        return self.shoot(sailor, [], line)

    def abort(self) -> None:
        """It will not start: all are told so and sent off."""
        lines = results(b"aborted", 0, [(sailor.name, 0, 0, 0, b"") for sailor in self.sailors])
        sailors, self.sailors = self.sailors, []
        for sailor in sailors:
            client, sailor.client = sailor.client, None
            if client is not None:
                client.tell(lines)
                client.send_off(b"")
