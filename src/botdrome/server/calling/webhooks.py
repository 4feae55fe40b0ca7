"""Webhooks: URLs that the server tells what has happened, until they have received it.

What a webhook is told is a delivery. It is stored in the same transaction as what has happened, so
it is neither told early nor lost. One node delivers: the home of the rooms of `HOME`. A delivery is
deleted when its receiver has answered; a crash in between repeats it, and its id tells the receiver
so. Requests have the headers and the signature of Standard Webhooks.
"""

import asyncio
import hmac
import json
import secrets
from base64 import b64decode, b64encode
from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from functools import partial
from time import time
from typing import Any
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from botdrome.catalogue import CATALOGUE
from botdrome.match.events import Result
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.bot_connection import CallFailed
from botdrome.server.failures import log_failure
from botdrome.server.network.limits import Buckets
from botdrome.store.contest_journal import BEFORE, ContestEntry
from botdrome.store.entries import BotEntry, Epoch, MatchEntry, Note, iso
from botdrome.store.store import Store

HOME = next(iter(CATALOGUE))
"""The node that has the rooms of this game delivers."""
BOOK, QUEUE, LOG = "webhooks", "webhook deliveries", "webhook log {}"
ALL, BOTS, CONTESTS = "all", "bots", "contests"
LOOK = 1.0
"""Seconds between two looks for deliveries."""
RELOAD = 60.0
"""Seconds after which a node reads the webhooks again, in case it missed a change."""
PAGE = 100
"""Notes that are read at a time: more would block the event loop for too long."""
LIMIT = 10.0
"""Seconds for a call."""
AT_ONCE = 20
"""Webhooks that are called at the same time; each gets one delivery after the other. Those of bots
leave one place to the operator's.
"""
TURN = 30_000
"""Milliseconds after which a webhook lets others have its place."""
RATE, BURST = 0.1, 20
"""Changes and tests of one webhook a second in the long run, and at once."""
MOST_WAITING = 1000
"""Deliveries that wait for one webhook. The server gives up the oldest of more."""
SHORTEST_PAUSE, LONGEST_PAUSE = 10_000, 3_600_000
"""Milliseconds before a repetition; each pause is twice as long as the one before."""
DAY = 86_400_000
"""Milliseconds until the server gives a delivery up."""
KEPT = 20
"""Deliveries of a webhook that are shown."""
GIVEN_UP = " given up, since "
LONGEST_TEXT = 1500
"""Characters; Discord takes 2000."""
PREFIX = "whsec_"
NEWLINE = "\n"
MENTIONS = str.maketrans({"@": "\uff20", "<": "\u2039", ">": "\u203a", "[": "(", "]": ")"})
"""Characters that mention people or hide links, and what is shown instead."""


MatchEnded = Callable[[MatchEntry, Result], tuple[Note, ...]]


class BadWebhook(Exception):
    """The server may not call this URL; the text says why."""


class LoadWebhooks(Struct, frozen=True):
    """A question to all nodes: read the webhooks, which have changed."""


class Webhook(Struct, frozen=True):
    subject: str
    """`all`, `bots/NAME` or `contests/NAME`."""
    url: str
    secret: str
    mark: str = ""
    """The owner of the bot's seats, or the game of the contest: another bot or contest may have the
    name later.
    """


class WebhookDelivery(Struct, frozen=True):
    id: str
    subject: str
    event: str
    """match.ended, contest.started, contest.ended, version.accepted, version.rejected, bot.paused
    or test.
    """
    at: Epoch
    body: str
    """The same JSON at each attempt."""
    tries: int = 0
    due: Epoch = 0

    @property
    def name(self) -> str:
        """Names are in the order of time."""
        return f"{self.at:015d} {self.id}"

    def note(self) -> Note:
        return Note(QUEUE, self.name, msgspec.to_builtins(self))


class Webhooks:
    def __init__(
        self,
        store: Store,
        callers: BotCaller,
        note_ends: Callable[[MatchEnded | None], None],
        now: Callable[[], Epoch] = lambda: int(time() * 1000),
    ) -> None:
        """`note_ends` has notes stored with the end of each match."""
        self._store, self._callers, self._note_ends = store, callers, note_ends
        self._now, self.url = now, ""
        """`url` is that of the server's pages; empty: it is unknown."""
        self.hooks: dict[str, Webhook] = {}
        """By subject."""
        self.load_all: Callable[[], Awaitable[object]] = self.load
        """Has all nodes read the webhooks."""
        self.requests = Buckets(RATE, BURST)
        """By subject: changes and tests."""
        self._loading = asyncio.Lock()
        self._reloading: asyncio.Task[None] | None = None
        self._home = False
        self._tasks: dict[str, asyncio.Task[None]] = {}
        """By the subject of the webhook that they call; the one that starts them has none."""
        self._resting: dict[str, tuple[int, Epoch]] = {}
        """Of webhooks whose last call failed: how many did so in a row, and the next attempt."""
        self._turns: dict[str, Epoch] = {}
        """When the last turn of a webhook began."""

    # The webhooks.

    async def load(self, _: LoadWebhooks | None = None) -> bool:
        async with self._loading:  # so that an older read does not end last
            hooks: dict[str, Webhook] = {}
            async for page in self._store.reports.note_pages(BOOK, PAGE):
                hooks |= {name: msgspec.convert(value, Webhook) for name, value in page.items()}
            for subject in self._resting.keys() | self._turns.keys():
                if hooks.get(subject) != self.hooks.get(subject):
                    self._resting.pop(subject, None)
                    self._turns.pop(subject, None)
            self.hooks = hooks
            self._note_ends(self.match_ended if hooks else None)
            self._watch()
        return True

    def follow(self) -> None:
        """Read the webhooks now and every minute, until `close`: changes may have been missed."""
        if self._reloading is None:
            self._reloading = asyncio.ensure_future(self._follow())

    async def _follow(self) -> None:
        while True:
            try:
                await self.load()
            except Exception:
                log_failure("the webhooks could not be read")
            await asyncio.sleep(RELOAD)

    async def _changed(self) -> None:
        """Have all nodes read the webhooks. The change is stored: a failure here does not undo it,
        and nodes that did not read it do so within a minute.
        """
        try:
            await self.load_all()
        except Exception:
            log_failure("a node could not read the webhooks")
            self.follow()

    async def check(self, url: str) -> None:
        """Raise BadWebhook if the server may not call this URL."""
        try:
            await self._callers.check(url)
        except CallFailed as problem:
            raise BadWebhook(f"webhook: {problem}") from None

    async def set(self, subject: str, url: str, mark: str) -> Webhook:
        """Set a webhook with a new secret. Raise BadWebhook if its URL may not be called."""
        await self.check(url)
        secret = PREFIX + b64encode(secrets.token_bytes(32)).decode()
        hook = Webhook(subject, url, secret, mark)
        await self._store.keep([Note(BOOK, subject, msgspec.to_builtins(hook))])
        await self._changed()
        return hook

    async def remove(self, *subjects: str) -> None:
        """Remove webhooks and their deliveries."""
        await self._store.strike(BOOK, subjects)
        for subject in subjects:
            await self._store.strike(LOG.format(subject), [""])
        await self._changed()
        async for page in self._store.reports.note_pages(QUEUE, PAGE):
            of_them = [name for name, value in page.items() if value["subject"] in subjects]
            if of_them:
                await self._store.strike(QUEUE, of_them)

    async def remove_of_bots(self, bots: Iterable[str]) -> None:
        """Remove the webhooks of bots that nobody holds any more; log a failure."""
        try:
            subjects = [f"{BOTS}/{bot}" for bot in bots]
            if found := await self._store.reports.notes_of(BOOK, subjects):
                await self.remove(*found)
        except Exception:
            log_failure("the webhooks of bots could not be removed")

    async def log(self, subject: str) -> list[dict[str, Any]]:
        """Return the last deliveries of a webhook, the latest attempt first."""
        found = await self._store.notes(LOG.format(subject))
        return list(found.get("", {}).get("lines", []))

    async def test(self, hook: Webhook) -> str:
        """Call a webhook now, and return why that failed; empty: it did not."""
        test = self._delivery(hook.subject, "test", "Botdrome can reach this webhook.", {})
        return await self._call(hook, test)

    # Events.

    def match_ended(self, entry: MatchEntry, result: Result) -> tuple[Note, ...]:
        """Return the deliveries, to be stored with the end of the match."""
        marks = dict(zip((f"{BOTS}/{name}" for name in entry.players), entry.owners, strict=False))
        marks[ALL] = ""
        if entry.contest:
            marks[f"{CONTESTS}/{entry.contest}"] = entry.game
        placed = sorted(zip(result.places, entry.players, strict=True))
        standing = ", ".join(f"{place}. {name}" for place, name in placed)
        where = f"{entry.game}, {entry.contest}" if entry.contest else entry.game
        text = f"{where}: {'the match was aborted' if result.aborted else standing}"
        match = {
            "id": entry.id, "game": entry.game, "contest": entry.contest,
            "players": entry.players, "aborted": result.aborted, "places": result.places,
            "scores": result.scores, "causes": result.causes,
        }  # fmt: skip
        return self._told(marks, "match.ended", text, f"/matches/{entry.id}", match=match)

    def contest_changed(self, before: ContestEntry, after: ContestEntry) -> tuple[Note, ...]:
        """Return the deliveries, to be stored with the new state."""
        document = after.document
        name, game = document.name, document.game
        started = before.state in BEFORE and after.state == "running"
        if not started and after.state != "over":
            return ()
        marks = {ALL: "", f"{CONTESTS}/{name}": game}
        words = "has started" if started else "is over"
        return self._told(
            marks,
            "contest.started" if started else "contest.ended",
            f"{game}: the contest {document.title or name} {words}",
            f"/contests/{game}/{quote(name)}",
            contest={"name": name, "title": document.title, "game": game},
        )

    def bot_changed(
        self, bot: BotEntry, mark: str, event: str, version: str, why: str
    ) -> tuple[Note, ...]:
        """Return the deliveries of an event of a hosted bot, to be stored with its new state."""
        marks = {ALL: "", f"{BOTS}/{bot.name}": mark}
        words = event.partition(".")[2]
        text = f"{bot.game}: {bot.name} {version} {words}: {why.partition(NEWLINE)[0]}"
        about = {"name": bot.name, "game": bot.game, "version": version, "why": why}
        return self._told(marks, event, text, f"/bots/{quote(bot.name, safe='')}", bot=about)

    def _told(
        self, marks: dict[str, str], event: str, text: str, link: str, **fields: Any
    ) -> tuple[Note, ...]:
        """Return an event for the webhooks of these subjects with these marks."""
        if self.url:
            fields["url"] = self.url + link
        return tuple(
            self._delivery(subject, event, text, fields).note()
            for subject, mark in marks.items()
            if subject in self.hooks and self.hooks[subject].mark == mark
        )

    def _delivery(
        self, subject: str, event: str, text: str, fields: dict[str, Any]
    ) -> WebhookDelivery:
        id_, at = secrets.token_hex(16), self._now()
        words = f"{text.translate(MENTIONS)[:LONGEST_TEXT]} {fields.get('url', '')}".strip()
        body = {"content": words, "text": words, "allowed_mentions": {"parse": []}}
        body |= {"id": id_, "event": event, "at": iso(at), **fields}
        return WebhookDelivery(id_, subject, event, at, json.dumps(body), due=at)

    # Deliveries, at the home.

    def open(self, game: str) -> None:
        if game == HOME:
            self._home = True
            self._watch()

    def leave(self, game: str = HOME) -> None:
        """Another node delivers, or the server stops."""
        if game == HOME:
            self._home, tasks, self._tasks = False, self._tasks, {}
            for task in tasks.values():
                task.cancel()

    def close(self) -> None:
        self.leave()
        if self._reloading is not None:
            self._reloading.cancel()

    def _watch(self) -> None:
        if self._home and self.hooks:
            self._start("", self._look)

    def _start(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        if name not in self._tasks:
            self._tasks[name] = asyncio.ensure_future(work())
            self._tasks[name].add_done_callback(partial(self._end, name))

    def _end(self, name: str, task: asyncio.Task[None]) -> None:
        if self._tasks.get(name) is task:  # after `leave` and `open` it may be a later one
            del self._tasks[name]

    async def _look(self) -> None:
        while True:
            try:
                await self.look()
            except Exception:
                log_failure("the deliveries of webhooks could not be read")
            await asyncio.sleep(LOOK)

    async def look(self) -> None:
        """Start to call the webhooks that have deliveries which are due: first those that have had
        no turn for the longest time, and of them those with the oldest delivery.
        """
        busy, hooks = set(self._tasks), self.hooks  # both may change while the queue is read
        waiting: dict[str, list[dict[str, Any]]] = defaultdict(list)
        async for page in self._store.reports.note_pages(QUEUE, PAGE):
            for value in page.values():
                waiting[value["subject"]].append(value)
        if not waiting.keys() <= hooks.keys():
            await self.load()  # this node may have missed a new webhook
        for subject in sorted(waiting, key=lambda one: self._turns.get(one, 0)):
            hook, some = self.hooks.get(subject), waiting[subject]
            if hook is None:
                await self._store.strike(QUEUE, [_read(one).name for one in some])
            elif subject not in busy and hook == hooks.get(subject):
                surplus = [_read(one) for one in some[:-MOST_WAITING]]
                await self._give_up(surplus, f"more than {MOST_WAITING} waited")
                _, rest = self._resting.get(subject, (0, 0))
                if rest <= self._now() and self._has_place(subject):
                    self._turns[subject] = self._now()
                    self._start(subject, partial(self._deliver, hook, some[-MOST_WAITING:]))

    def _has_place(self, subject: str) -> bool:
        free = AT_ONCE - len(self._tasks.keys() - {""})
        return free > subject.startswith(f"{BOTS}/")

    async def _deliver(self, hook: Webhook, some: Sequence[dict[str, Any]]) -> None:
        """Deliver what is due, until a call fails or the turn is over."""
        subject, end = hook.subject, self._now() + TURN
        try:
            queue = deque(sorted(map(_read, some), key=lambda one: one.due))
            while queue and queue[0].due <= self._now() < end and self.hooks.get(subject) == hook:
                one = queue.popleft()
                error = await self._call(hook, one)
                if self.hooks.get(subject) != hook:
                    break
                await self._note(one, error, not error or self._now() - one.at >= DAY)
                if error:
                    failures, _ = self._resting.get(subject, (0, 0))
                    self._resting[subject] = failures + 1, self._now() + pause(failures)
                    old = [late for late in queue if self._now() - late.at >= DAY]
                    await self._give_up(old, "they waited for a day")
                    break
                self._resting.pop(subject, None)
        except Exception:
            log_failure("what became of a delivery could not be stored", webhook=subject)

    async def _give_up(self, some: Sequence[WebhookDelivery], why: str) -> None:
        if some:
            await self._note(some[-1], f"{len(some)}{GIVEN_UP}{why}", True)
            await self._store.strike(QUEUE, [one.name for one in some])

    async def _note(self, delivery: WebhookDelivery, error: str, over: bool) -> None:
        """Store what became of an attempt. `over`: it was the last."""
        now, tries = self._now(), delivery.tries + 1
        state = "waiting" if not over else "given up" if error else "delivered"
        line = {
            "id": delivery.id, "event": delivery.event, "at": iso(delivery.at),
            "tried": iso(now), "tries": tries, "state": state, "error": error,
        }  # fmt: skip
        why = error.partition(GIVEN_UP)[2] or delivery.id  # one line for each reason is enough
        older = [
            one
            for one in await self.log(delivery.subject)
            if one["id"] != delivery.id and not one["error"].endswith(why)
        ]
        shown = Note(LOG.format(delivery.subject), "", {"lines": [line, *older][:KEPT]})
        again = replace(delivery, tries=tries, due=now + pause(delivery.tries)).note()
        await self._store.keep(
            [shown] if over else [shown, again],
            retry=True,
            instead_of=(QUEUE, [delivery.name] * over),
        )

    async def _call(self, hook: Webhook, delivery: WebhookDelivery) -> str:
        """Return why a call failed; empty: it did not."""
        stamp = str(self._now() // 1000)
        signed = f"{delivery.id}.{stamp}.{delivery.body}".encode()
        digest = hmac.digest(b64decode(hook.secret.removeprefix(PREFIX)), signed, "sha256")
        headers = {
            "webhook-id": delivery.id,
            "webhook-timestamp": stamp,
            "webhook-signature": f"v1,{b64encode(digest).decode()}",
        }
        try:
            answer = await self._callers.post(
                hook.url, delivery.body.encode(), LIMIT, headers, follow=False
            )
        except CallFailed as problem:
            return str(problem)
        return "" if 200 <= answer.status < 300 else f"the answer has the status {answer.status}"


def _read(value: dict[str, Any]) -> WebhookDelivery:
    return msgspec.convert(value, WebhookDelivery)


def pause(failures: int) -> int:
    return min(SHORTEST_PAUSE << failures, LONGEST_PAUSE)
