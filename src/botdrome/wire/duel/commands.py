"""Commands and replies of duel arena alone."""

from msgspec import Struct

from botdrome.wire.conversation import Command, Reply
from botdrome.wire.standing import Standing


class Enter(Struct, Command, frozen=True):
    """Enter the hall under the name that the client gave, in place of an earlier client of that name.

    `secret` is the password that it gave: it shows that an earlier client of that name was the same.
    """

    called: str
    secret: str = ""


class FindOpponent(Struct, Command, frozen=True):
    """Find an opponent, now or when one comes."""


class Entered(Struct, Reply, frozen=True):
    """The client is in the hall. `standing`: it has taken over a seat in a match that runs."""

    standing: Standing | None = None


class Superseded(Struct, Reply, frozen=True):
    """A registered bot has come under this guest's name: the guest leaves after its match."""
