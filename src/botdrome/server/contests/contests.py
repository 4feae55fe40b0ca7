"""ServerContests: all contests with a document on this server, from draft to over."""

import asyncio
import hmac
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial
from time import time
from typing import Annotated, Literal

import structlog
from msgspec import Meta, Struct
from msgspec.structs import replace

from botdrome.bots.house import house_bots
from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Entrant, EntrantNumber
from botdrome.contest.progress import LateEntry, start_refusal
from botdrome.games.reading import plural
from botdrome.server.calling.webhooks import CONTESTS, Webhooks
from botdrome.server.contests.contest_planner import UNKNOWN, ContestPlanner
from botdrome.server.contests.running_contest import (
    BEFORE_THE_START,
    MOVED,
    RETRY,
    RULES,
    RunningContest,
    Start,
)
from botdrome.server.failures import log_failure
from botdrome.server.lobby.contest_queue import ContestPlayer
from botdrome.server.lobby.tokens import PasswordGuesses
from botdrome.server.workers.pool import Workers
from botdrome.store.contest_journal import (
    ALL_PLAYED,
    BEFORE,
    ContestEntry,
    ContestJournal,
    ContestRefusal,
    ContestState,
    EnteredContest,
    StillChecked,
    UnknownContest,
    version_refusal,
)
from botdrome.store.entries import BotEntry
from botdrome.store.store import Store

# Verbs of contests: what organisers and owners of bots do with a contest. REST, GraphQL, pages
# and commands give these orders; `ContestOrders` has the table that says which function carries
# out each of them.

Action = Literal["open", "start", "pause", "resume", "end"]


class CreateContest(Struct, frozen=True):
    document: ContestDocument


class ChangeContest(Struct, frozen=True):
    """Replace the document of a contest that has not started."""

    document: ContestDocument


class ContestAction(Struct, frozen=True, forbid_unknown_fields=True):
    action: Action


class Withdrawal(Struct, frozen=True, forbid_unknown_fields=True):
    """The organiser takes a bot out: it forfeits its matches of this round."""

    bot: str
    reason: str = ""


class RerunOfContest(Struct, frozen=True, forbid_unknown_fields=True):
    bots: Annotated[list[str], Meta(description="Play all matches of these bots again.")] = []
    failed: Annotated[
        bool, Meta(description="Play only matches with no-shows and crashes again.")
    ] = False


class EnterContest(Struct, frozen=True):
    bot: BotEntry
    password: str = ""


class LeaveContest(Struct, frozen=True):
    bot: BotEntry


log = structlog.get_logger()

Moment = Literal["start", "end"]
LONGEST_TIMER = 86_400.0
"""Seconds; a later moment is looked at again then."""


class ContestMoments:
    def __init__(self, contests: "ServerContests") -> None:
        self._contests, self._loop = contests, asyncio.get_running_loop()
        self._timers: dict[str, asyncio.TimerHandle] = {}
        self.acting: Counter[str] = Counter()
        """Contests that are being started or ended, by game."""

    def watch(self, entry: ContestEntry) -> None:
        """Ring at the next moment of a contest in this state."""
        name = entry.document.name
        self.forget(name)
        action: Moment = "start" if entry.state == "open" else "end"
        seconds = self._seconds_to(entry, action)
        if entry.why and action == "start":
            return  # the moment has passed: the organiser starts it, or changes the document
        if seconds is not None and entry.state in ("open", "running", "paused"):
            self._ring_in(seconds, name, action)

    def forget(self, name: str) -> None:
        if (timer := self._timers.pop(name, None)) is not None:
            timer.cancel()

    def _ring_in(self, seconds: float, name: str, action: Moment) -> None:
        def ring() -> None:
            self._contests.start(self._follow(name, action))

        seconds = min(max(0.0, seconds), LONGEST_TIMER)
        self._timers[name] = self._loop.call_later(seconds, ring)

    async def _follow(self, name: str, action: Moment) -> None:
        stored = self._contests[name] if self._contests.running(name) else None
        if stored is None:
            return None  # another node attends to it now
        if (self._seconds_to(stored.entry, action) or 0) > 0:
            return self.watch(stored.entry)
        game = stored.entry.document.game
        self.acting[game] += 1
        try:
            await self._contests.act(name, action, RULES)
        except StillChecked as problem:
            if stored.entry.why != (why := f"it cannot start yet: {problem}"):
                await self._contests.let_wait(name, "waits", why)
            self._ring_in(RETRY, name, action)
        except ContestRefusal as problem:
            log.warning(
                "a contest cannot follow its document",
                contest=name,
                action=action,
                why=str(problem),
            )
            await self._contests.let_wait(
                name, f"cannot {action}", f"it cannot {action} as its document says: {problem}"
            )
        except Exception:
            log_failure("a contest could not follow its document")
            self._ring_in(RETRY, name, action)
        finally:
            self.acting[game] -= 1
        return None

    def _seconds_to(self, entry: ContestEntry, action: Moment) -> float | None:
        """Return the seconds to a moment of the document; None: it names none."""
        return seconds_to(entry.document, action, self._contests.clock())


def seconds_to(document: ContestDocument, action: Moment, now: float) -> float | None:
    moment = document.start if action == "start" else document.end
    return None if moment is None else datetime.fromisoformat(moment).timestamp() - now


# Entry rules: which bots may enter a contest.

MOST_VERSIONS = 100
"""Versions of one bot in a contest."""


def house_entrants(document: ContestDocument) -> list[Entrant]:
    return [Entrant(checked_house_bot(document.game, one.bot), HOUSE) for one in document.entrants]


def checked_house_bot(game: str, bot: str) -> str:
    """Return the name of a house bot in a document; raise ContestRefusal if there is none."""
    known = [f"house:{name}" for name in house_bots(game)]
    if bot not in known:
        raise ContestRefusal(
            f"entrants: on a server these are house bots ({', '.join(known)}), not {bot!r}; others "
            "log in"
        )
    return bot


def numbers_of(stored: EnteredContest, bots: Sequence[str], failed: bool) -> list[EntrantNumber]:
    """Return the numbers of bots whose matches are played again.

    `failed`: there may be none, since only failed matches are.
    """
    numbers = [number for bot in bots if (number := stored.number_of(bot)) is not None]
    if len(numbers) < len(bots) or not (bots or failed):
        name, named = stored.entry.document.name, ", ".join(bots) or "nobody"
        raise ContestRefusal(
            f"name bots of the contest {name!r}, or failed matches; {named} is not in it"
        )
    return numbers


def entry_problem(
    stored: EnteredContest, bot: BotEntry, of_owner: int, password: str, guesses: PasswordGuesses
) -> str:
    """Return the rule that keeps a bot out of a contest; empty: it may enter.

    `of_owner` is the number of entrants with the same owner, which may have got another name since.

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
    if rules.kind == "class":
        return f"bots of the class {rules.class_!r} enter by their uploads, when it starts"
    if rules.kind == "list" and bot.name not in rules.bots:
        return f"{bot.name} is not on the list of the contest {document.name!r}"
    if rules.kind == "password" and not _is_password(
        document.name, rules.password, password, guesses
    ):
        return f"the contest {document.name!r} needs its password"
    return _capacity_problem(stored, bot, of_owner)


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


def _present(stored: EnteredContest) -> list[str]:
    """Return the names of the entrants; those that left after the start keep their places."""
    return [entrant.name for entrant in stored.entrants if entrant.left != BEFORE_THE_START]


def _capacity_problem(stored: EnteredContest, bot: BotEntry, of_owner: int) -> str:
    rules = stored.entry.document.entry
    if rules.most is not None and len(_present(stored)) >= rules.most:
        return f"the contest is full: it has {plural(rules.most, 'bot')}"
    if rules.per_owner is not None and of_owner >= rules.per_owner:
        return (
            f"{bot.owner} has {plural(of_owner, 'bot')} in the contest; the limit is "
            f"{rules.per_owner}"
        )
    return ""


STATES_AFTER: dict[Action, ContestState] = {
    "open": "open", "start": "running", "pause": "paused", "resume": "running", "end": "over",
}  # fmt: skip
ORGANISER, HOUSE = "operator", "house"
"""The author of changes that the operator orders, and the owner of house bots."""


class ServerContests:
    """`refusal` says why no match of a game may begin, and `house` makes a player of a house bot,
    by its name.
    """

    def __init__(
        self,
        store: Store,
        workers: Workers,
        start: Start,
        refusal: Callable[[str], str],
        house: Callable[[str], ContestPlayer],
    ) -> None:
        self.webhooks: Webhooks
        self.freeze: Callable[[ContestDocument], Awaitable[list[Entrant]]]
        """Freezes the versions that play in a contest of a class, and returns its bots."""
        self.clock = time
        self.journal, self._planner = ContestJournal(store), ContestPlanner(store, workers)
        self._count_owned = store.count_owned
        self.start, self._refusal, self._house = start, refusal, house
        self._guesses = PasswordGuesses()
        self._stored: dict[str, EnteredContest] = {}
        self._running: dict[str, RunningContest] = {}
        self.moments = ContestMoments(self)
        self._left = set[str]()
        """Games whose contests another node attends to."""
        self.on_change: list[Callable[[], None]] = []
        """Called when a contest has started or is over, or a bot has left one."""
        self._loop, self._entries = asyncio.get_running_loop(), asyncio.Lock()
        """Bots enter one after the other, so that no limit of the contest is passed."""

    async def open(self, game: str) -> None:
        """Load the contests of a game, so that players may wait for them, and go on with those that
        run.
        """
        self._left.discard(game)
        for name in await self.journal.contests(game):
            stored = await self._reload(name)
            if stored.entry.state != "over" and not stored.entry.offline:
                self._attend_to(stored, await self.journal.count_results(name))
        for name in self._names(game) & self._running.keys():
            self._follow(self._stored[name])

    def leave(self, game: str) -> None:
        """Another node attends to the contests of a game.

        It plays the matches again that run here, so they are aborted.
        """
        self._left.add(game)
        for name in self._names(game):
            del self._stored[name]
            self.moments.forget(name)
            if (contest := self._running.pop(name, None)) is not None:
                contest.pause(MOVED)

    def are_running(self, game: str) -> bool:
        return any(self._stored[name].entry.state == "running" for name in self._names(game))

    def _names(self, game: str) -> set[str]:
        return {name for name, stored in self._stored.items() if stored.entry.document.game == game}

    async def _reload(self, name: str) -> EnteredContest:
        stored = await self.journal.entered(name)
        if stored.entry.document.game not in self._left:
            self._stored[name] = stored
        return stored

    # Look-ups.

    def __getitem__(self, name: str) -> EnteredContest | None:
        return self._stored.get(name)

    def running(self, name: str) -> RunningContest | None:
        return self._running.get(name)

    def of_game(self, game: str, name: str) -> EnteredContest | None:
        """Return the contest with a document that bots of this game mean by this name."""
        stored = self._stored.get(name)
        return stored if stored is not None and stored.entry.document.game == game else None

    def expecting(self, game: str, bot: str) -> list[RunningContest]:
        """Return the running contests in which a bot plays, for protocols whose logins name no
        contest.
        """
        found = [
            one
            for one in self._running.values()
            if one.document.game == game and not one.over and one.has(bot)
        ]
        return [one for one in found if self._stored[one.name].entry.state in ("running", "paused")]

    def awaited(self, name: str) -> list[str]:
        """Return the bots that have matches to play and are not here."""
        running = self._running.get(name)
        return [] if running is None else running.awaited

    # The organiser.

    async def create(self, document: ContestDocument, author: str) -> EnteredContest:
        """Raise ContestRefusal if the name is taken, or an entrant of the document is
        no house bot.
        """
        entrants = house_entrants(document)
        rest = await self._without_webhook(document)
        await self.journal.create(rest, author, entrants, secrets.token_hex(32))
        stored = await self._reload(document.name)
        self._attend_to(stored, 0)
        await self._set_webhook(document)
        return stored

    async def change(self, name: str, document: ContestDocument, author: str) -> EnteredContest:
        """Replace the document of a contest that has not started."""
        self._of_server(name)
        rest, entrants = await self._without_webhook(document), house_entrants(document)
        await self.journal.change_document(name, rest, author)
        if document.entry.kind == "class":  # all others enter at the start
            await self.journal.replace_entrants(name, entrants, author)
        stored = await self._followed(name)
        await self._set_webhook(document)
        return stored

    async def _without_webhook(self, document: ContestDocument) -> ContestDocument:
        """Return the document without the URL of its webhook, since others may read it. Raise
        BadWebhook if that URL may not be called.
        """
        if document.webhook:
            await self.webhooks.check(document.webhook)
        return replace(document, webhook="")

    async def _set_webhook(self, document: ContestDocument) -> None:
        """Set the webhook of a document that is stored; log a failure, since the contest goes on
        without it.
        """
        subject, url = f"{CONTESTS}/{document.name}", document.webhook
        if url and getattr(self.webhooks.hooks.get(subject), "url", "") != url:
            try:
                await self.webhooks.set(subject, url, document.game)
            except Exception:
                log.exception("the webhook of a contest could not be set", contest=document.name)

    async def act(self, name: str, action: Action, author: str) -> EnteredContest:
        """Open, start, pause, resume or end a contest.

        Raise ContestRefusal if its state does not allow that.
        """
        stored = self._of_server(name)
        if stored.entry.state == "over":
            raise ContestRefusal(f"the contest {name!r} is over")
        if action == "start":
            stored = await self._ready(stored, author)
        await self.journal.change_state(name, STATES_AFTER[action], author)
        return await self._followed(name)

    async def _ready(self, stored: EnteredContest, author: str) -> EnteredContest:
        """Return a contest with the entrants with which it starts.

        Raise ContestRefusal if it cannot, and StillChecked if it cannot yet.
        """
        document = stored.entry.document
        if document.hidden and (seconds_to(document, "start", self.clock()) or 0) > 0:
            raise ContestRefusal(f"hidden: the start would show this before {document.start}")
        if document.entry.kind == "class" and stored.entry.state in BEFORE:
            async with self._entries:
                entrants = house_entrants(document) + await self.freeze(document)
                await self.journal.replace_entrants(document.name, entrants, author)
                stored = await self._reload(document.name)
        if refusal := start_refusal(document, stored.entrants):
            raise ContestRefusal(refusal)
        return stored

    async def withdraw(self, name: str, bot: str, author: str, why: str = "") -> EnteredContest:
        """Take a bot out of a contest. It forfeits its matches of this round."""
        number = self._of_server(name).number_of(bot)
        if number is None:
            raise ContestRefusal(f"{bot} is not in the contest {name!r}")
        running = self._running.get(name)
        if running is None:
            raise ContestRefusal(f"the contest {name!r} is over")
        await running.withdraw(number, author, why)
        stored = await self._reload(name)
        self._tell()
        return stored

    async def rerun(
        self, name: str, bots: Sequence[str], failed: bool, author: str
    ) -> EnteredContest:
        """Let matches be played again: those of these bots, or those that failed.

        The contest is paused after it.
        """
        stored = await self._reload(self._of_server(name).entry.document.name)
        if stored.entry.state not in ("paused", "over"):
            raise ContestRefusal(
                f"the contest is {stored.entry.state}: pause it first, so that no match of it runs"
            )
        if (before := self._running.get(name)) is not None and (running := before.playing):
            raise ContestRefusal(
                f"the contest still has {plural(running, 'running match', 'es')}: wait until none "
                "runs"
            )
        old = await self._planner.annulled(name, numbers_of(stored, bots, failed), failed)
        if not old:
            raise ContestRefusal("there are no such matches to play again")
        await self.journal.annul_results(name, old, author, "played again")
        if stored.entry.state == "over":
            await self.journal.change_state(name, "paused", author)
        stored = await self._reload(name)
        if before is None:
            self._attend_to(stored, UNKNOWN)
            self._follow(stored)
        else:
            before.reset(stored, UNKNOWN)
        return stored

    # Entrants.

    async def enter(
        self, name: str, bot: BotEntry, author: str, password: str = "", version: str | None = None
    ) -> None:
        """Enter a bot, or raise ContestRefusal with the rule that it breaks.

        A bot that is in the contest already stays in it.

        `version` is the version that logs in, which may replace another one; None: the bot does not
        log in now.
        """
        async with self._entries:
            stored = self._of_server(name)
            number = stored.number_of(bot.name)
            if number is not None and stored.entrants[number].left is None:
                await self._renew(stored, number, version, author)
                return
            if number is not None and stored.entry.state in ("running", "paused"):
                raise ContestRefusal(
                    f"{bot.name} has left the contest {name!r}, and cannot come back after the "
                    "start"
                )
            limited = stored.entry.document.entry.per_owner is not None
            of_owner = await self._count_owned(bot.owner, _present(stored)) if limited else 0
            if problem := entry_problem(stored, bot, of_owner, password, self._guesses):
                raise ContestRefusal(problem)
            if number is None:
                await self._enter_new(name, Entrant(bot.name, bot.owner, version or ""), author)
            else:
                await self.journal.reinstate(name, number, author)
                await self._renew(stored, number, version, author)
            await self._reload(name)

    async def _enter_new(self, name: str, entrant: Entrant, author: str) -> None:
        try:
            await self._running[name].enter(entrant, author)
        except LateEntry as problem:
            raise ContestRefusal(str(problem)) from None

    async def _renew(
        self, stored: EnteredContest, number: EntrantNumber, version: str | None, author: str
    ) -> None:
        """Store the version of a bot that logs in, or raise ContestRefusal."""
        entrant, name = stored.entrants[number], stored.entry.document.name
        if version is not None and version != entrant.version:
            check_version(stored, entrant.name, version)
            await self.journal.replace_version(name, number, version, author)
            await self._reload(name)

    # How contests run.

    def known(self, name: str) -> EnteredContest:
        """Raise UnknownContest if there is no such contest."""
        stored = self._stored.get(name)
        if stored is None:
            raise UnknownContest(f"there is no contest {name!r}")
        return stored

    def _of_server(self, name: str) -> EnteredContest:
        """Raise UnknownContest, or ContestRefusal if it was played offline."""
        stored = self.known(name)
        if stored.entry.offline:
            raise ContestRefusal(
                f"the contest {name!r} runs offline: continue it with `botdrome contest run`"
            )
        return stored

    async def _followed(self, name: str) -> EnteredContest:
        stored = await self._reload(name)
        self._follow(stored)
        return stored

    def _attend_to(self, stored: EnteredContest, results: int) -> None:
        """Let players wait for a contest, whether or not it has started."""
        if stored.entry.document.game in self._left:
            return
        refusal = partial(self._refusal, stored.entry.document.game)
        self._running[stored.entry.document.name] = RunningContest(
            stored, self.journal, self._planner, self.start, refusal, self._over, results
        )

    def _follow(self, stored: EnteredContest) -> None:
        """Let a contest follow its new state, unless another node attends to it now."""
        contest = self._running.get(stored.entry.document.name)
        if contest is None:
            return
        if stored.entry.state in ("running", "paused") and not contest.started:
            self._begin(contest, stored)
        if stored.entry.state == "running":
            contest.resume()
        elif stored.entry.state == "paused":
            contest.pause()
        elif stored.entry.state == "over":
            self._end(contest)
        self.moments.watch(stored.entry)

    def _begin(self, contest: RunningContest, stored: EnteredContest) -> None:
        for entrant in stored.entrants:
            if entrant.owner == HOUSE:
                contest.arrive(self._house(entrant.name))
        contest.start(stored)
        self._tell()

    def _over(self, contest: RunningContest) -> None:
        """All fixtures have results."""
        self.start(self._store_end(contest))

    async def _store_end(self, contest: RunningContest) -> None:
        try:
            await self.journal.change_state(contest.name, "over", RULES, ALL_PLAYED)
            await self._reload(contest.name)
        except ContestRefusal:
            return  # its organiser has ended it meanwhile
        except Exception:
            log_failure("the end of a contest could not be stored")
            self._loop.call_later(RETRY, self._over, contest)
            return
        self._end(contest)

    def _end(self, contest: RunningContest) -> None:
        if self._running.get(contest.name) is contest:
            del self._running[contest.name]
        contest.end()
        self._tell()

    def _tell(self) -> None:
        for tell in self.on_change:
            tell()

    async def let_wait(self, name: str, what: str, why: str) -> None:
        """Store why a contest cannot follow its document."""
        await self.journal.wait(name, RULES, what, why)
        await self._reload(name)
