"""Entry rules: which bots may enter a contest."""

import hmac
from collections.abc import Sequence

from botdrome.bots.house import house_bots
from botdrome.contest.formats.format import EntrantNumber
from botdrome.games.reading import plural
from botdrome.server.lobby.guesses import PasswordGuesses
from botdrome.store.contest_journal import BEFORE, ContestRefusal, EnteredContest, version_refusal
from botdrome.store.store import BotEntry

BEFORE_THE_START = 0
"""The round from which an entrant no longer plays if it was withdrawn before the start."""
MOST_VERSIONS = 100
"""Versions of one bot in a contest."""


def checked_house_bot(game: str, bot: str) -> str:
    """Return the name of a house bot in a document; raise ContestRefusal if there is none."""
    known = [f"house:{name}" for name in house_bots(game)]
    if bot not in known:
        raise ContestRefusal(
            f"entrants: on a server these are house bots ({', '.join(known)}), not {bot!r}; others "
            "log in"
        )
    return bot


def number_of(stored: EnteredContest, bot: str) -> EntrantNumber | None:
    return next(
        (number for number, entrant in enumerate(stored.entrants) if entrant.name == bot), None
    )


def numbers_of(stored: EnteredContest, bots: Sequence[str], failed: bool) -> list[EntrantNumber]:
    """Return the numbers of bots whose matches are played again.

    `failed`: there may be none, since only failed matches are.
    """
    numbers = [number for bot in bots if (number := number_of(stored, bot)) is not None]
    if len(numbers) < len(bots) or not (bots or failed):
        name, named = stored.entry.document.name, ", ".join(bots) or "nobody"
        raise ContestRefusal(
            f"name bots of the contest {name!r}, or failed matches; {named} is not in it"
        )
    return numbers


def entry_problem(
    stored: EnteredContest, bot: BotEntry, password: str, guesses: PasswordGuesses
) -> str:
    """Return the rule that keeps a bot out of a contest; empty: it may enter.

    Raise TooMany after too many wrong passwords.
    """
    document, rules = stored.entry.document, stored.entry.document.entry
    if bot.game != document.game:
        return f"{bot.name} plays {bot.game}, and the contest is one of {document.game}"
    if stored.entry.state == "draft":
        return f"the contest {document.name!r} is not open yet"
    if stored.entry.state == "over":
        return f"the contest {document.name!r} is over"
    if stored.entry.state != "open" and not rules.late:
        return f"the contest {document.name!r} has started, and takes no more bots"
    if rules.kind == "list" and bot.name not in rules.bots:
        return f"{bot.name} is not on the list of the contest {document.name!r}"
    if rules.kind == "password" and not _is_password(
        document.name, rules.password, password, guesses
    ):
        return f"the contest {document.name!r} needs its password"
    return _capacity_problem(stored, bot)


def _is_password(contest: str, password: str, given: str, guesses: PasswordGuesses) -> bool:
    if not given:
        return False  # a login without a password is no guess
    guesses.check(contest)
    right = hmac.compare_digest(password.encode(), given.encode(errors="surrogatepass"))
    if not right:
        guesses.note_wrong(contest)
    return right


def check_version(stored: EnteredContest, bot: str, version: str) -> None:
    """Raise ContestRefusal if a bot in a contest may not log in with this version.

    A version that was replaced does not come back: a client of the old one may still be connected.
    """
    entrant = next(one for one in stored.entrants if one.name == bot)
    if version == entrant.version:
        return
    if refusal := version_refusal(stored.entry, entrant, version):
        raise ContestRefusal(refusal)
    if stored.entry.state not in BEFORE and version in entrant.replaced:
        raise ContestRefusal(
            f"version {version} of {bot} was replaced in the contest by "
            f"{entrant.version or 'another one'}"
        )
    if len(entrant.replaced) >= MOST_VERSIONS:
        raise ContestRefusal(
            f"{bot} has had {MOST_VERSIONS} versions in the contest, and no more are allowed"
        )


def _capacity_problem(stored: EnteredContest, bot: BotEntry) -> str:
    rules = stored.entry.document.entry
    entrants = [
        entrant for entrant in stored.entrants if entrant.left != BEFORE_THE_START
    ]  # later leavers keep their places
    if rules.most is not None and len(entrants) >= rules.most:
        return f"the contest is full: it has {plural(rules.most, 'bot')}"
    of_owner = sum(entrant.owner == bot.owner for entrant in entrants)
    if rules.per_owner is not None and of_owner >= rules.per_owner:
        return (
            f"{bot.owner} has {plural(of_owner, 'bot')} in the contest; the limit is "
            f"{rules.per_owner}"
        )
    return ""
