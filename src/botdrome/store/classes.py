"""Classes: their join codes, their participants, and the bots that these own.

A bot of a participant has the owner `NAME @ CLASS`. A participant has a row for each of its tokens:
one, until others are merged with it.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from msgspec.structs import astuple, replace

from botdrome.games.reading import plural
from botdrome.store.changes import Change, Insert, Plan, Run, register
from botdrome.store.entries import (
    AT,
    BotEntry,
    ClassEntry,
    ClassRefusal,
    Participant,
    UnknownClass,
)
from botdrome.store.entries import likeness as seen
from botdrome.store.queries import BOT
from botdrome.store.rows import Fetch, bot_entry, bot_row, key, whole
from botdrome.store.schema import COLUMNS
from botdrome.store.uploads import forget_uploads

DELETED = "deleted"
"""In place of the name of a participant that was removed."""
CLASS, PARTICIPANT = (", ".join(COLUMNS[table]) for table in ("classes", "participants"))
CLASSES = f"SELECT {CLASS} FROM classes ORDER BY created DESC, name"
CLASS_CALLED = f"SELECT {CLASS} FROM classes WHERE name = :name"
CLASS_LABELLED = f"SELECT {CLASS} FROM classes WHERE label = :label"
HOLD = f"UPDATE classes SET name = name WHERE name = :name RETURNING {CLASS}"
"""It locks the row until the commit, so that several nodes change a class one after the other."""
CHANGE = "UPDATE classes SET secret = :secret, expires = :expires, closed = :closed"
DELETE = "DELETE FROM classes WHERE name = :name"
PARTICIPANTS = f"""SELECT {PARTICIPANT} FROM participants WHERE class_name = :name
    ORDER BY joined, token_hash"""
HOLDER = f"SELECT {PARTICIPANT} FROM participants WHERE token_hash = :token_hash"
RENAME = "UPDATE participants SET name = :new WHERE class_name = :name AND name = :old"
REMOVE = "DELETE FROM participants WHERE class_name = :name AND name = :old"
BOTS_OF = f"SELECT {BOT} FROM bots WHERE owner IN :owners ORDER BY registered, name"
GIVE_BOTS = "UPDATE bots SET owner = :new WHERE owner IN :old RETURNING name, name_whole"
RETIRE_BOTS = GIVE_BOTS.replace(":new", ":new, token_hash = NULL, url = NULL")
BOTS_AT = """SELECT count(*) FROM bots
    WHERE substr(owner, length(owner) - length(:at) + 1) = :at"""

Names = list[str]


def owner_in(class_name: str, name: str) -> str:
    return f"{name}{AT}{class_name}"


def alike(one: str, other: str) -> bool:
    """Whether two names in a class are too similar, also in other letters."""
    return seen(one).casefold() == seen(other).casefold()


class ClassReader:
    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch

    async def all(self) -> list[ClassEntry]:
        """Return the classes, the newest first."""
        return [ClassEntry(*row) for row in await self._fetch(CLASSES, {})]

    async def find(self, name: str) -> ClassEntry:
        """Raise UnknownClass if there is no such class."""
        for row in await self._fetch(CLASS_CALLED, {"name": key(name)}):
            return ClassEntry(*row)
        raise UnknownClass(name)

    async def labelled(self, label: str) -> ClassEntry | None:
        """Return the class whose join code begins with this label."""
        rows = await self._fetch(CLASS_LABELLED, {"label": label})
        return ClassEntry(*rows[0]) if rows else None

    async def participants(self, name: str) -> list[Participant]:
        """Return the participants of a class in the order in which they joined, each once."""
        rows = await self._fetch(PARTICIPANTS, {"name": key(name)})
        found = [Participant(*row) for row in rows]
        return list({one.name: one for one in reversed(found)}.values())[::-1]

    async def holder(self, token_hash: str) -> Participant | None:
        """Return the participant with this token."""
        rows = await self._fetch(HOLDER, {"token_hash": token_hash})
        return Participant(*rows[0]) if rows else None

    async def bots(self, owners: Sequence[str]) -> list[BotEntry]:
        rows = await self._fetch(BOTS_OF, {"owners": list(owners)})
        return [bot_entry(row) for row in rows]


class ClassJournal(ClassReader):
    """Reads and changes classes. Changes of participants return the names of the bots that have
    changed.

    All raise UnknownClass, and ClassRefusal with the reason.
    """

    def __init__(self, fetch: Fetch, enter: Callable[[Change], Awaitable[Any]]) -> None:
        super().__init__(fetch)
        self._enter = enter

    async def create(self, entry: ClassEntry) -> None:
        await self._enter(partial(_create, entry))

    async def change(self, entry: ClassEntry) -> None:
        """Store another join code, and whether the class is closed."""
        await self._enter(partial(_change, entry))

    async def join(self, new: Participant, most: int) -> None:
        """`most` is the greatest number of participants."""
        await self._enter(partial(_join, new, most))

    async def register(self, bot: BotEntry, token_hash: str | None) -> BotEntry:
        """Register a bot for the participant with this token, and return it with the name that its
        owner has now. None: refuse owners in a class.

        Raise also NameTaken or LooksAlike.
        """
        entered: BotEntry = await self._enter(partial(_register, bot, token_hash))
        return entered

    async def rename(self, name: str, old: str, new: str) -> Names:
        return list(await self._enter(partial(_rename, name, old, new)))

    async def merge(self, name: str, old: str, into: str) -> Names:
        """Give the bots and tokens of a participant to another one."""
        return list(await self._enter(partial(_merge, name, old, into)))

    async def remove(self, name: str, old: str) -> Names:
        """Delete the tokens of a participant, and those of its bots."""
        return list(await self._enter(partial(_remove, name, old)))

    async def delete(self, name: str) -> Names:
        """Delete a class, and remove its participants."""
        return list(await self._enter(partial(_delete, name)))


def _create(entry: ClassEntry) -> Plan[None]:
    for row in (yield Run(CLASSES, {})):
        other = ClassEntry(*row)
        if alike(entry.name, other.name):
            raise ClassRefusal(f"there is a class {other.name!r} already; choose another name")
        if entry.label == other.label:
            raise ClassRefusal("two classes got the same code; try again")
    if (yield Run(BOTS_AT, {"at": AT + entry.name}))[0][0]:
        raise ClassRefusal(
            f"there are bots whose owners end with {AT + entry.name!r}; choose another name"
        )
    yield Insert("classes", [astuple(entry)])


def _held(name: str) -> Plan[dict[str, Participant]]:
    """Lock a class, and return its participants by name."""
    if not (yield Run(HOLD, {"name": key(name)})):
        raise UnknownClass(name)
    rows = yield Run(PARTICIPANTS, {"name": key(name)})
    return {one.name: one for one in (Participant(*row) for row in rows)}


def _change(entry: ClassEntry) -> Plan[None]:
    yield from _held(entry.name)
    values = {"secret": entry.secret, "expires": entry.expires, "closed": entry.closed}
    yield Run(f"{CHANGE} WHERE name = :name", values | {"name": entry.name})


def _join(new: Participant, most: int) -> Plan[None]:
    people = yield from _held(new.class_name)
    _check_free(new.name, people)
    if len(people) >= most:
        raise ClassRefusal(f"the class is full: it has {plural(most, 'participant')}")
    yield Insert("participants", [astuple(new)])


def _register(bot: BotEntry, token_hash: str | None) -> Plan[BotEntry]:
    _, at, name = bot.owner.rpartition(AT)
    if token_hash is not None:
        yield from _held(name)
        ((*entry,),) = yield Run(CLASS_CALLED, {"name": key(name)})
        check_open(ClassEntry(*entry))
        rows = yield Run(HOLDER, {"token_hash": token_hash})
        if not rows:
            raise ClassRefusal(f"{bot.owner!r} is no longer a participant")
        bot = replace(bot, owner=owner_in(name, Participant(*rows[0]).name))
    elif at and any(alike(name, ClassEntry(*row).name) for row in (yield Run(CLASSES, {}))):
        raise ClassRefusal(f"owners in the class {name!r} register with their token")
    yield from register(bot_row(bot), bot.name)
    return bot


def _rename(name: str, old: str, new: str) -> Plan[Names]:
    people = yield from _held(name)
    _check_present(old, people, name)
    _check_free(new, people.keys() - {old})
    return (yield from _handed(name, old, new))


def _merge(name: str, old: str, into: str) -> Plan[Names]:
    people = yield from _held(name)
    for one in (old, into):
        _check_present(one, people, name)
    if old == into:
        raise ClassRefusal("name two participants: the one that ends, and the one that stays")
    return (yield from _handed(name, old, into))


def _handed(name: str, old: str, new: str) -> Plan[Names]:
    yield Run(RENAME, {"name": name, "old": old, "new": new})
    rows = yield Run(GIVE_BOTS, {"old": [owner_in(name, old)], "new": owner_in(name, new)})
    return [whole(*row) for row in rows]


def _remove(name: str, old: str) -> Plan[Names]:
    _check_present(old, (yield from _held(name)), name)
    yield Run(REMOVE, {"name": name, "old": old})
    owner = owner_in(name, DELETED)
    return (yield from _retired([owner_in(name, old)], owner))


def _retired(owners: list[str], new: str) -> Plan[Names]:
    """Give the bots of these owners away, without their tokens, URLs, uploads and logs."""
    rows = yield Run(RETIRE_BOTS, {"old": owners, "new": new})
    yield from forget_uploads([row[0] for row in rows])
    return [whole(*row) for row in rows]


def _delete(name: str) -> Plan[Names]:
    people = yield from _held(name)
    owners = [owner_in(name, one) for one in (DELETED, *people)]
    bots = yield from _retired(owners, DELETED)
    yield Run(DELETE, {"name": name})
    return bots


def check_open(entry: ClassEntry) -> None:
    if entry.closed is not None:
        raise ClassRefusal(f"the class {entry.name!r} is closed")


def _check_present(name: str, people: dict[str, Participant], class_name: str) -> None:
    if name not in people:
        there = ", ".join(people) or "nobody"
        raise ClassRefusal(f"{name!r} is not in the class {class_name!r}; there are: {there}")


def _check_free(name: str, people: Any) -> None:
    for other in (DELETED, *people):
        if alike(name, other):
            raise ClassRefusal(f"the name {other!r} is taken in this class; choose another one")
