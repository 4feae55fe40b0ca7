"""Hosting: uploaded versions of bots, and the runners that check and play them.

A runner holds leases. It tells in each beat which ones, so a lease that it does not name, or does
not renew in time, ends. Then the credential of the lease ends, and another runner gets the bot.
"""

import asyncio
import hmac
import secrets
from collections.abc import Callable
from datetime import datetime
from functools import partial
from time import time
from typing import Any

from msgspec import Struct

from botdrome.contest.document import ContestDocument
from botdrome.contest.formats.format import Entrant
from botdrome.server.failures import log_failure
from botdrome.server.lobby.clients import bot_owner
from botdrome.server.lobby.registry import Registry
from botdrome.server.settings import HostingSection
from botdrome.store import uploads
from botdrome.store.changes import Plan
from botdrome.store.contest_journal import BEFORE, ContestReader, ContestRefusal, StillChecked
from botdrome.store.entries import AT, BotEntry, Note, RefusedUpload, UnknownClass, hashed, iso
from botdrome.store.rows import key
from botdrome.store.store import Store
from botdrome.store.uploads import HostedLog, Upload, UploadLimit
from botdrome.wire.upload import Lease, RunnerMachine, RunnerNews, UploadLimits

LEASE = 10.0
"""Seconds from a beat to the end of the leases."""
PATIENCE = 2.0
"""Seconds that a beat waits for new work."""
LONGEST_REPORT = 16 << 10
"""Characters of a report or a log: the last ones are kept."""
MOST_VOID = 3
"""Times within `VOID_WITHIN` that a runner may leave matches, before it gets no more work."""
VOID_WITHIN = 3_600_000
"""Milliseconds."""
RUNNERS, INVITED = "runners", "invited bots"
"""Books of notes."""


class RunnerLine(Struct, frozen=True):
    """A runner, as the operator sees it."""

    name: str
    added: int
    about: str
    """What the runner says of its machine; empty: it has not been seen since the server started."""
    runner_class: str
    speed: float
    bots: int
    """Versions that it checks or plays."""
    paused: str
    """Why it gets no work at present; empty: it does."""


class Hosting:
    def __init__(
        self, store: Store, registry: Registry, settings: HostingSection,
        clock: Callable[[], float] = time,
    ) -> None:  # fmt: skip
        self._store, self._registry, self.settings = store, registry, settings
        self.clock = clock
        self._machines: dict[str, RunnerMachine] = {}
        """Of the runners that this node has seen."""
        self._news: dict[str, asyncio.Event] = {}
        """Of the last beat of each runner: there may be new work. An earlier beat, whose client may
        have left, names other leases; it ends with the next one.
        """
        self._sweeping: asyncio.Task[None] | None = None
        self.note_event: Callable[[BotEntry, str, str, str, str], tuple[Note, ...]] = lambda *_: ()
        """Returns the deliveries for webhooks: of the bot and its owner, the event, the version
        and the reason.
        """

    @property
    def limits(self) -> UploadLimits:
        return UploadLimits(self.settings.packed, self.settings.unpacked, self.settings.files)

    @property
    def _now(self) -> int:
        return int(self.clock() * 1000)

    # Authors.

    async def check_allowed(self, bot: BotEntry) -> UploadLimits:
        """Return the limits of an upload. Raise PermissionError if the bot may not be uploaded."""
        if self.settings.uploads == "off":
            raise PermissionError("this server takes no uploads")
        if self.settings.uploads == "invited" and not await self._invited(bot):
            raise PermissionError(
                f"uploads are for participants of classes and for bots that the operator has "
                f"invited, and {bot.name} is neither"
            )
        if key(bot.name) != bot.name:
            raise RefusedUpload(f"a bot named {bot.name!r} cannot be uploaded")
        if bot.url is not None:
            raise RefusedUpload(f"the server calls {bot.name} at its URL; remove the URL first")
        for limit in await self._upload_limits(bot):
            if await self._store.uploads.reached(bot.name, limit):
                raise uploads.too_many(limit)
        return self.limits

    async def _upload_limits(self, bot: BotEntry) -> list[UploadLimit]:
        """Return the limit of a day, and those of contests of its class that have not started."""
        day = UploadLimit(self.settings.per_day, self._now - uploads.DAY, "within 24 hours")
        class_name = bot.owner.rpartition(AT)[2]
        contests = (await ContestReader(self._store).contests()) if AT in bot.owner else {}
        return [day] + [
            UploadLimit(rules.uploads, one.created, f"for the contest {name!r}", bot.game)
            for name, one in contests.items()
            for rules in [one.document.entry]
            if rules.uploads and rules.class_ == class_name and one.document.game == bot.game
            if one.state in BEFORE
        ]

    async def _invited(self, bot: BotEntry) -> bool:
        _, at, class_name = bot.owner.rpartition(AT)
        classes = await self._store.classes.all() if at else ()
        return any(one.name == class_name for one in classes) or bot.name in (
            await self._store.notes(INVITED)
        )

    async def add(self, bot: BotEntry, version: str, digest: str, size: int) -> int:
        """Add a version whose archive is stored, and return its number."""
        limits = await self._upload_limits(bot)
        number = await self._store.journal.enter(
            partial(uploads.add_upload, bot.name, version, (digest, size), self._now, limits)
        )
        self._announce()
        return int(number)

    async def activate(self, bot: BotEntry, number: int) -> None:
        await self._changed(bot.name, partial(uploads.activate, bot.name, number))

    async def pause(self, bot: BotEntry, why: str) -> None:
        """Pause the active version after its current match; an empty reason: resume it."""
        await self._changed(bot.name, partial(uploads.pause, bot.name, why))

    async def delete(self, bot: BotEntry, number: int) -> None:
        """Delete a version. If it plays, its login ends."""
        if await self._changed(bot.name, partial(uploads.delete_upload, bot.name, number)):
            self._registry.end_logins(bot.name)

    async def _changed(self, bot: str, change: Callable[[], Plan[Any]]) -> Any:
        outcome = await self._store.journal.enter(change)
        self._registry.forget(bot)
        self._announce()
        return outcome

    def _announce(self) -> None:
        for news in self._news.values():
            news.set()

    # Contests of classes.

    async def freeze(self, document: ContestDocument) -> list[Entrant]:
        """Freeze the versions that play in a contest, those of its deadline, and return its bots.

        Raise ContestRefusal if there is no such class, and StillChecked if versions were not
        checked yet.
        """
        rules, deadline = document.entry, self._now
        try:
            await self._store.classes.find(rules.class_)
        except UnknownClass:
            raise ContestRefusal(f"there is no class {rules.class_!r}") from None
        if document.start is not None:
            start = int(datetime.fromisoformat(document.start).timestamp() * 1000)
            deadline = min(deadline, start)
        entry = uploads.Entry(document.name, rules.class_, document.game, deadline, rules.per_owner)
        try:
            await self._changed_all(partial(uploads.freeze, entry))
        except RefusedUpload as problem:
            raise StillChecked(str(problem)) from None
        frozen = await self._store.uploads.frozen(document.name)
        return [Entrant(one.bot, one.owner, one.version) for one in frozen]

    async def _changed_all(self, change: Callable[[], Plan[list[str]]]) -> None:
        for bot in await self._store.journal.enter(change):
            self._registry.forget(bot)
        self._announce()

    # The operator.

    async def add_runner(self, name: str) -> str:
        """Return the token of a new runner, which is shown once; a runner of that name gets a new
        one.
        """
        token = secrets.token_urlsafe(32)
        note = {"hash": hashed(token), "added": self._now}
        await self._store.keep([Note(RUNNERS, name, note)])
        return token

    async def remove_runner(self, name: str) -> bool:
        known = name in await self._store.notes(RUNNERS)
        await self._store.strike(RUNNERS, [name])
        await self._beat(name, [], 0, 0)
        return known

    async def runners(self) -> list[RunnerLine]:
        leases = await self._store.uploads.leases()
        notes = await self._store.notes(RUNNERS)
        return [
            RunnerLine(
                name,
                note["added"],
                machine.about,
                machine.runner_class,
                machine.speed,
                leases.get(name, 0),
                self._pause_of(note),
            )
            for name, note in notes.items()
            for machine in [self.machine_of(name)]
        ]

    def machine_of(self, runner: str | None) -> RunnerMachine:
        return self._machines.get(runner or "", RunnerMachine())

    def _pause_of(self, note: dict[str, Any]) -> str:
        """Return why a runner is paused; empty: it is not."""
        times = [at for at in note.get("void", ()) if at > self._now - VOID_WITHIN]
        if len(times) < MOST_VOID:
            return ""
        until = iso(times[-MOST_VOID] + VOID_WITHIN)
        return f"it left its matches {len(times)} times within an hour; paused until {until}"

    async def _note_void(self, runner: str) -> None:
        note = await self._store.reports.note(RUNNERS, runner)
        if note is not None:
            note["void"] = [*note.get("void", ()), self._now][-MOST_VOID:]
            await self._store.keep([Note(RUNNERS, runner, note)])

    async def invite(self, bot: str, invited: bool) -> None:
        if invited:
            await self._store.keep([Note(INVITED, bot, {})])
        else:
            await self._store.strike(INVITED, [bot])

    # Runners.

    async def runner_of(self, token: str) -> str | None:
        """Return the name of the runner that has this token."""
        given = hashed(token)
        notes = await self._store.notes(RUNNERS)
        return next(
            (name for name, note in notes.items() if hmac.compare_digest(note["hash"], given)), None
        )

    async def beat(
        self, runner: str, machine: RunnerMachine, held: list[str], checks: int, bots: int
    ) -> RunnerNews:
        """Renew the leases that a runner holds, and give it new ones: at most so many versions to
        check and bots to play. Wait a little if there is nothing new.
        """
        self._machines[runner] = machine
        if runner in self._news:
            self._news[runner].set()
        news = self._news[runner] = asyncio.Event()
        if self._pause_of(await self._store.reports.note(RUNNERS, runner) or {}):
            checks = bots = 0
        found = await self._beat(runner, held, checks, bots)
        if not (found.given or found.lost):
            try:
                await asyncio.wait_for(news.wait(), PATIENCE)
            except TimeoutError:
                return found
            if self._news[runner] is news:
                found = await self._beat(runner, held, checks, bots)
        return found

    async def _beat(self, runner: str, held: list[str], checks: int, bots: int) -> RunnerNews:
        now, store = self._now, self._store
        credentials = [secrets.token_urlsafe(32) for _ in range(checks + bots)]
        hashes = {hashed(one): one for one in credentials}
        offers = list(hashes)[:checks], list(hashes)[checks:]
        until = now + int(LEASE * 1000)
        closed = await self._closed_to(runner) if bots else []
        plan = partial(uploads.beat, runner, held, now, until, offers, closed)
        beat = await store.journal.enter(plan)
        for bot in beat.ended:
            self._registry.forget(bot)
            self._registry.end_logins(bot)
        for bot, version in beat.rejected:
            if notes := await self._event(bot, "version.rejected", version, uploads.GIVEN_UP):
                await store.keep(notes)
        for left in beat.void:
            if left != runner or checks or bots:  # otherwise it was stopped
                await self._note_void(left)
        given = [lease for one in beat.given if (lease := await self._lease(one, hashes))]
        ending = [lease for lease, ends in beat.kept.items() if ends]
        return RunnerNews(given, ending, [lease for lease in held if lease not in beat.kept])

    async def _closed_to(self, runner: str) -> list[str]:
        """Return the contests that demand another class of runners."""
        mine = self.machine_of(runner).runner_class
        running = await ContestReader(self._store).contests(states=("running", "paused"))
        rules = {name: one.document.entry.runner_class for name, one in running.items()}
        return [name for name, wanted in rules.items() if wanted not in ("", mine)]

    async def _lease(self, one: Upload, hashes: dict[str, str]) -> Lease | None:
        bot, to_check = await self._store.bot(one.bot), one.state == "waiting"
        if bot is None or one.lease is None:
            return None
        if not to_check:  # a client with the bot's own token leaves
            self._registry.forget(bot.name)
            self._registry.end_logins(bot.name)
        return Lease(
            hashes[one.lease], bot.name, bot.game, one.number, one.version, one.hash, to_check,
            self.limits, one.contest or "",
        )  # fmt: skip

    async def leased(self, credential: str) -> Upload | None:
        return await self._store.uploads.leased(hashed(credential), self._now)

    async def report(self, credential: str, accepted: bool, text: str) -> None:
        """A version was checked. Raise RefusedUpload if its lease has ended."""
        lease, text = hashed(credential), text[-LONGEST_REPORT:]
        event = "version.accepted" if accepted else "version.rejected"
        notes = await self._told(credential, event, text)
        change = partial(uploads.report, lease, accepted, text, self._now, notes)
        self._registry.forget(await self._store.journal.enter(change))
        self._announce()

    async def pause_leased(self, credential: str, why: str) -> None:
        """A bot failed too often. Raise RefusedUpload if its lease has ended."""
        lease, why = hashed(credential), why[-LONGEST_REPORT:]
        notes = await self._told(credential, "bot.paused", why)
        change = partial(uploads.pause_leased, lease, why, self._now, notes)
        self._registry.forget(await self._store.journal.enter(change))

    async def _told(self, credential: str, event: str, why: str) -> tuple[Note, ...]:
        one = await self.leased(credential)
        return () if one is None else await self._event(one.bot, event, one.version, why)

    async def _event(self, name: str, event: str, version: str, why: str) -> tuple[Note, ...]:
        bot = await self._store.bot(name)
        return () if bot is None else self.note_event(bot, bot_owner(bot), event, version, why)

    async def add_log(self, credential: str, match: str, fault: str, log: str) -> None:
        one = await self.leased(credential)
        if one is None:
            raise RefusedUpload("the lease has ended")
        written = HostedLog(
            match, one.version, self._now, fault[-LONGEST_REPORT:], log[-LONGEST_REPORT:]
        )
        await self._store.journal.enter(partial(uploads.add_log, one.bot, written))

    # Expired leases.

    def open(self) -> None:
        """End expired leases from now on, even if no runner is left to ask for work."""
        self._sweeping = asyncio.ensure_future(self._sweep())

    async def close(self) -> None:
        if self._sweeping is not None:
            self._sweeping.cancel()
            await asyncio.wait([self._sweeping])

    async def _sweep(self) -> None:
        """The first time is late enough for the runners of a server that was restarted."""
        while True:
            await asyncio.sleep(LEASE)
            try:
                await self._beat("", [], 0, 0)
            except Exception:
                log_failure("expired leases could not be ended")
