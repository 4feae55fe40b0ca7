"""Classes: an organiser makes one, participants join it by its code and own bots.

A join code has 12 letters and digits: a label that names the class, and a secret of 40 bits. So
wrong codes count for the class that they are tried on; its participants may share one address.
"""

import hmac
import secrets
from collections.abc import Awaitable, Callable
from time import time
from typing import Annotated

from msgspec import Meta, Struct
from msgspec.structs import replace

from botdrome.server.lobby.desk import Desk
from botdrome.server.lobby.registry import BadName, check_name, check_spelling
from botdrome.server.lobby.tokens import CodeGuesses
from botdrome.store.classes import Names, alike, check_open, owner_in
from botdrome.store.entries import (
    AT,
    ClassEntry,
    ClassRefusal,
    Epoch,
    Participant,
    UnknownClass,
    hashed,
)
from botdrome.wire.conversation import written_out

LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Those of Crockford's base 32, which are not mixed up when a code is read aloud."""
MEANT = str.maketrans("OIL", "011", "- ")
LABEL, SECRET = 4, 8
HOUR = 3_600_000
LONGEST = 24 * 366
"""Hours."""
Hours = Annotated[
    Annotated[float, Meta(gt=0, le=LONGEST)] | None,
    Meta(description="Until the join code expires; null: the server's default."),
]


class ClassOrder(Struct, frozen=True, forbid_unknown_fields=True, tag_field="do"):
    """What an organiser does with a class."""


class ResetCode(ClassOrder, frozen=True, tag="reset"):
    """Make a new join code, also to open a closed class again."""

    hours: Hours = None


class RenameParticipant(ClassOrder, frozen=True, tag="rename"):
    participant: str
    name: str


class MergeParticipants(ClassOrder, frozen=True, tag="merge"):
    """Give the bots and the token of a participant to another one of the class."""

    participant: str
    into: str


class RemoveParticipant(ClassOrder, frozen=True, tag="remove"):
    """End the token of a participant, and those of its bots."""

    participant: str


class CloseClass(ClassOrder, frozen=True, tag="close"):
    """Let nobody join any more, and no participant register bots."""


AnyClassOrder = ResetCode | RenameParticipant | MergeParticipants | RemoveParticipant | CloseClass


def code_of(entry: ClassEntry) -> str:
    """Return the join code, as people write it."""
    return f"{entry.label}-{entry.secret[: SECRET // 2]}-{entry.secret[SECRET // 2 :]}"


def read_code(code: str) -> tuple[str, str]:
    """Return the label and the secret of a join code as people type it, or raise BadName."""
    plain = code.upper().translate(MEANT)
    if len(plain) != LABEL + SECRET or not set(plain) <= set(LETTERS):
        raise BadName("a join code has 12 letters and digits, such as 7KQ2-M0XT-94RD")
    return plain[:LABEL], plain[LABEL:]


class Classes:
    """Changes raise UnknownClass, BadName, and ClassRefusal with the reason."""

    def __init__(self, desk: Desk) -> None:
        self._classes, self._registry = desk.store.classes, desk.registry
        self._limits = desk.settings.classes
        self._wrong = CodeGuesses()
        self.drop_webhooks: Callable[[Names], Awaitable[None]]
        """Removes the webhooks of bots."""

    async def create(self, name: str, hours: float | None) -> None:
        _check_name(name)
        if AT in f" {name}":  # "Ada @ @ x" would be an owner in the class "x"
            raise BadName(f"the name of a class does not contain {AT!r} or begin with '@ '")
        await self._classes.create(
            self._with_code(ClassEntry(name, _drawn(LABEL), "", 0, _now()), hours)
        )

    def _with_code(self, entry: ClassEntry, hours: float | None) -> ClassEntry:
        expires = _now() + int((hours or self._limits.hours) * HOUR)
        return replace(entry, secret=_drawn(SECRET), expires=expires, closed=None)

    async def order(self, name: str, order: AnyClassOrder) -> None:
        match order:
            case ResetCode(hours):
                entry = await self._classes.find(name)
                await self._classes.change(self._with_code(entry, hours))
            case CloseClass():
                entry = await self._classes.find(name)
                await self._classes.change(replace(entry, closed=_now()))
            case RenameParticipant(participant, new):
                _check_name(new)
                self._forget(await self._classes.rename(name, participant, new))
            case MergeParticipants(participant, into):
                self._forget(await self._classes.merge(name, participant, into))
            case RemoveParticipant(participant):
                await self._retire(await self._classes.remove(name, participant))

    async def delete(self, name: str) -> None:
        await self._retire(await self._classes.delete(name))

    def _forget(self, bots: Names) -> None:
        for bot in bots:
            self._registry.forget(bot)

    async def _retire(self, bots: Names) -> None:
        self._forget(bots)
        for bot in bots:
            self._registry.end_logins(bot)
        await self.drop_webhooks(bots)

    # Participants.

    async def join(self, code: str, name: str) -> tuple[Participant, str]:
        """Return the new participant and its owner token, which is shown once.

        Raise TooMany after too many wrong codes.
        """
        label, secret = read_code(code)
        _check_name(name)
        entry = await self._classes.labelled(label)
        guessed = label if entry else ""
        self._wrong.check(guessed)
        if entry is None or not hmac.compare_digest(entry.secret, secret):
            self._wrong.note_wrong(guessed)
            raise UnknownCode
        check_open(entry)
        if entry.expires <= _now():
            raise ClassRefusal("this join code has expired; ask your organiser for a new one")
        token = secrets.token_hex(32)
        new = Participant(hashed(token), entry.name, name, _now())
        await self._classes.join(new, self._limits.participants)
        self._registry.guesses.note(_account(new.token_hash), True)
        return new, token

    async def participant(self, token: str) -> Participant:
        """Return the participant with this owner token.

        Raise PermissionError if there is none, and TooMany after too many wrong tokens.
        """
        token_hash, guesses = hashed(token), self._registry.guesses
        guesses.check(_account(token_hash))
        found = await self._classes.holder(token_hash)
        guesses.note(_account(token_hash), found is not None)
        if found is None:
            raise PermissionError(
                "this is not the token of a participant; join the class, or ask its organiser"
            )
        return found

    async def owner(self, token: str | None, given: str) -> str:
        """Return the owner of a new bot: the participant with this token, or without one as it is
        given.
        """
        if token is None:
            _, at, name = given.rpartition(AT)
            if at and any(alike(name, one.name) for one in await self._classes.all()):
                raise PermissionError(f"owners in the class {name!r} register with their token")
            return given
        found = await self.participant(token)
        check_open(await self._classes.find(found.class_name))
        return owner_in(found.class_name, found.name)


class UnknownCode(UnknownClass):
    def __str__(self) -> str:
        return "no class has this join code; look at it again"


def _account(token_hash: str) -> str:
    """Return the name under which tokens are counted; no bot can have it."""
    return f"participant:{token_hash}\n"


def _check_name(name: str) -> None:
    check_name(name)
    check_spelling(name)
    if written_out(name) != name:
        raise BadName("a name has single spaces, and only between its words")


def _drawn(letters: int) -> str:
    return "".join(secrets.choice(LETTERS) for _ in range(letters))


def _now() -> Epoch:
    return int(time() * 1000)
