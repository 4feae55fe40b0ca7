"""Open an offline contest: create it in the store, or check that the stored one may go on with this
document and its bots.
"""

from collections.abc import Sequence

from msgspec.structs import replace

from botdrome.client.program import CannotStart
from botdrome.contest.document import BadDocument, ContestDocument
from botdrome.contest.formats.format import Entrant
from botdrome.contest.progress import ContestProgress, LateEntry
from botdrome.offline.contest_players import entrant_names
from botdrome.offline.entrants import bot_version
from botdrome.offline.isolation import Isolation
from botdrome.offline.seats import check_bot
from botdrome.store.contest_journal import (
    BEFORE,
    ContestJournal,
    ContestRefusal,
    EnteredContest,
    StoredContest,
)


def offline_entrants(document: ContestDocument) -> list[Entrant]:
    """Return the entrants of a document with the versions of their files.

    Raise BadDocument if it cannot run offline.
    """
    if not document.entrants:
        raise BadDocument(
            "entrants: a contest that runs offline names its bots, as in [[entrants]] and bot = "
            '"my_bot.py"'
        )
    names = entrant_names(document)
    for name in names:
        if names.count(name) > 1:
            raise BadDocument(f"entrants: two are called {name!r}; give each a `name` of its own")
    pairs = zip(names, document.entrants, strict=True)
    return [Entrant(name, given.owner, bot_version(given.bot)) for name, given in pairs]


async def open_contest(
    journal: ContestJournal, document: ContestDocument, author: str, isolation: Isolation
) -> StoredContest:
    """Create the contest, or continue it.

    Raise ContestRefusal if its document or its bots do not allow that.
    """
    name, entrants = document.name, offline_entrants(document)
    if refusal := ContestProgress(document, entrants, {}).refusal:
        raise ContestRefusal(refusal)
    if name not in await journal.contests():
        _check_bots(document, entrants, isolation)
        await journal.create(document, author, entrants, offline=True)
        return await journal.load_small(name)
    stored = await journal.entered(name)
    if stored.entry.state not in BEFORE:
        document = replace(document, pairing=stored.entry.document.pairing)
    try:
        if stored.entry.document != document:
            await _change(journal, document, entrants, author)
            stored = await journal.entered(name)
        _check_bots(document, stored.entrants, isolation)
        await _renew(journal, stored, entrants, author)
    except ContestRefusal as refused:
        if stored.entry.state == "running":
            await journal.change_state(name, "paused", author, str(refused))
        raise
    return await journal.load_small(name)


def _check_bots(
    document: ContestDocument, entrants: Sequence[Entrant], isolation: Isolation
) -> None:
    """Raise ContestRefusal that names all bots that cannot start. Withdrawn bots need not."""
    problems = []
    for given, entrant in zip(document.entrants, entrants, strict=True):
        try:
            if entrant.left is None:
                check_bot(given.bot, document.game, isolation)
        except CannotStart as problem:
            problems.append(f"{entrant.name} cannot start: {problem}")
    if problems:
        raise ContestRefusal("; ".join(problems))


async def _change(
    journal: ContestJournal, document: ContestDocument, entrants: Sequence[Entrant], author: str
) -> None:
    """Take a changed document before the start; after it, only new bots that the
    document allows.
    """
    stored = await journal.load_small(document.name)
    await journal.change_document(document.name, document, author)
    if stored.entry.state in BEFORE:
        await journal.replace_entrants(document.name, entrants, author)
        return
    progress = ContestProgress(stored.entry.document, stored.entrants, stored.results)
    for entrant in entrants[len(stored.entrants) :]:
        try:
            number = progress.enter(entrant)
        except LateEntry as late:
            raise ContestRefusal(str(late)) from None
        await journal.enter(document.name, progress.entrants[number], author)


async def _renew(
    journal: ContestJournal, stored: EnteredContest, entrants: Sequence[Entrant], author: str
) -> None:
    """Replace the versions of changed bots.

    Raise ContestRefusal if the document does not allow that.
    """
    for number, (old, new) in enumerate(zip(stored.entrants, entrants, strict=True)):
        if old.version != new.version and old.left is None:
            if not new.version:
                raise ContestRefusal(
                    f"{old.name} cannot start: there is no file "
                    f"{stored.entry.document.entrants[number].bot!r}"
                )
            await journal.replace_version(stored.entry.document.name, number, new.version, author)
