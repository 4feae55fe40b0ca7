"""Deliveries of webhooks: signed, repeated, bounded, and to allowed addresses alone."""

import asyncio
import base64
import hashlib
import hmac
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from botdrome.match.events import Result
from botdrome.server.calling import webhooks
from botdrome.server.calling.bot_caller import BotCaller
from botdrome.server.calling.webhooks import (
    DAY,
    LONGEST_PAUSE,
    QUEUE,
    SHORTEST_PAUSE,
    BadWebhook,
    MatchEnded,
    Webhook,
    Webhooks,
)
from botdrome.store.entries import MatchEntry
from botdrome.store.store import Store
from tests.server.calling.hosts import Asked, Host, answer, callers, host

pytestmark = pytest.mark.anyio
START = 1_000_000_000_000
OWNER = "bot 1 ada"


class Desk:
    """Webhooks with a clock of the test."""

    def __init__(self, store: Store, caller: BotCaller, url: str = "") -> None:
        self.now = START
        self.store, self.notes = store, list[MatchEnded | None]()
        self.hooks = Webhooks(store, caller, self.notes.append, lambda: self.now)
        self.hooks.url = url

    async def look(self, later: int = 0) -> None:
        """Deliver what is due then, and wait for the end of all calls."""
        self.now += later
        await self.hooks.look()
        await asyncio.gather(*self.hooks._tasks.values())

    async def play(self, match: str = "m1", **changes: Any) -> None:
        """Store the end of a match."""
        told = self.hooks.match_ended(entry(match, **changes), RESULT)
        await self.store.keep(told)

    async def waiting(self) -> int:
        return len(await self.store.notes(QUEUE))

    async def states(self, subject: str = "all") -> list[tuple[int, str, str]]:
        """The tries, state and error of the last deliveries, the latest attempt first."""
        log = await self.hooks.log(subject)
        return [(one["tries"], one["state"], one["error"]) for one in log]


RESULT = Result((2, 1), (0.0, 1.0), ("complete", "complete"), ())


def entry(match: str = "m1", **changes: Any) -> MatchEntry:
    values = {"players": ("ada", "bob"), "owners": (OWNER, ""), "contest": None} | changes
    return MatchEntry(match, "gomoku", values.pop("players"), START, **values)


@asynccontextmanager
async def desk(store: Store, url: str = "", **settings: Any) -> AsyncIterator[Desk]:
    async with callers(**settings) as ours:
        yield Desk(store, ours, url)


def heard(receiver: Host) -> list[dict[str, Any]]:
    return [json.loads(asked.body) for asked in receiver.asked]


async def refuse(writer: asyncio.StreamWriter, _: Asked) -> None:
    writer.write(answer(b"", "500 No"))


async def test_a_match_is_told_once_and_signed(store: Store) -> None:
    async with host(answer(b"", "204 Done")) as receiver, desk(store, "https://x.org") as one:
        hook = await one.hooks.set("all", receiver.url, "")
        await one.play()
        await one.look()
        await one.look(DAY)
        (asked,), (body,) = receiver.asked, heard(receiver)
        assert await one.waiting() == 0 and await one.states() == [(1, "delivered", "")]
        headers = asked.headers
        assert headers["content-type"] == "application/json"
        assert headers["webhook-id"] == body["id"]
        assert headers["webhook-timestamp"] == str(START // 1000)
        signed = f"{body['id']}.{headers['webhook-timestamp']}.".encode() + asked.body
        key = base64.b64decode(hook.secret.removeprefix("whsec_"))
        digest = hmac.new(key, signed, hashlib.sha256).digest()
        assert headers["webhook-signature"] == f"v1,{base64.b64encode(digest).decode()}"
        assert len(key) == 32
    assert body["event"] == "match.ended" and body["at"] == "2001-09-09T01:46:40.000Z"
    assert body["content"] == body["text"] == "gomoku: 1. bob, 2. ada https://x.org/matches/m1"
    assert body["url"] == "https://x.org/matches/m1"
    assert body["match"] == {
        "id": "m1", "game": "gomoku", "contest": None, "players": ["ada", "bob"],
        "aborted": False, "places": [2, 1], "scores": [0.0, 1.0],
        "causes": ["complete", "complete"],
    }  # fmt: skip


async def test_a_failed_delivery_is_repeated_with_growing_pauses_for_a_day(store: Store) -> None:
    async with host(refuse) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        await one.play()
        await one.look()
        assert await one.states() == [(1, "waiting", "the answer has the status 500")]
        pauses, tries = [], 1
        while await one.waiting():
            pause = min(SHORTEST_PAUSE << (tries - 1), LONGEST_PAUSE)
            await one.look(pause - 1)
            assert len(receiver.asked) == tries, "not before its time"
            await one.look(1)
            tries += 1
            assert len(receiver.asked) == tries
            pauses.append(pause)
        assert DAY <= sum(pauses) < DAY + LONGEST_PAUSE
        assert await one.states() == [(tries, "given up", "the answer has the status 500")]
        assert len({asked.body for asked in receiver.asked}) == 1, "the same id each time"
        stamps = [int(asked.headers["webhook-timestamp"]) for asked in receiver.asked]
        assert stamps == sorted(set(stamps)), "each attempt has a time stamp of its own"


async def test_a_restart_loses_no_delivery(store: Store) -> None:
    async with host(refuse) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        await one.play()
        await one.look()
    async with host(answer()) as receiver, desk(store) as two:
        two.now = START + SHORTEST_PAUSE
        await two.hooks.load()
        assert two.notes == [two.hooks.match_ended], "matches are told from now on"
        two.hooks.hooks["all"] = Webhook(
            "all", receiver.url, two.hooks.hooks["all"].secret
        )  # at another port
        await two.look()
        assert [body["match"]["id"] for body in heard(receiver)] == ["m1"]


async def test_one_delivery_that_is_refused_for_good_does_not_stop_the_others(
    store: Store,
) -> None:
    async def choosy(writer: asyncio.StreamWriter, asked: Asked) -> None:
        writer.write(answer(b"", "400 No" if b'"m1"' in asked.body else "200 OK"))

    async with host(choosy) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        for match in ("m1", "m2", "m3"):
            await one.play(match)
            one.now += 1
        await one.look()
        assert await one.waiting() == 3, "the webhook rests after a failure"
        await one.look(SHORTEST_PAUSE)
        assert await one.waiting() == 1
        assert sorted(await one.states()) == [
            (1, "delivered", ""),
            (1, "delivered", ""),
            (2, "waiting", "the answer has the status 400"),
        ]


async def test_a_slow_receiver_holds_up_no_other(store: Store) -> None:
    asked = asyncio.Event()

    async def silent(writer: asyncio.StreamWriter, _: Asked) -> None:
        asked.set()
        await asyncio.Event().wait()

    async with host(silent) as slow, host(answer()) as quick, desk(store) as one:
        await one.hooks.set("all", slow.url, "")
        await one.hooks.set("bots/ada", quick.url, OWNER)
        await one.play()
        await one.hooks.look()
        await asked.wait()
        await one.hooks._tasks["bots/ada"]
        assert len(quick.asked) == 1 and await one.waiting() == 1
        one.hooks.leave()


async def test_what_was_delivered_while_the_queue_was_read_is_not_delivered_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered, pages = asyncio.Event(), store.reports.note_pages

    async def slow(writer: asyncio.StreamWriter, _: Asked) -> None:
        await answered.wait()
        writer.write(answer())

    async with host(slow) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        await one.play()
        await one.hooks.look()
        await receiver.heard.wait()

        async def late(book: str, most: int) -> AsyncIterator[dict[str, dict[str, Any]]]:
            found = [page async for page in pages(book, most)]
            answered.set()
            await asyncio.gather(*one.hooks._tasks.values())
            for page in found:
                yield page

        monkeypatch.setattr(store.reports, "note_pages", late)
        await one.look()
        assert len(receiver.asked) == 1 and await one.states() == [(1, "delivered", "")]


async def test_the_queue_of_a_webhook_is_bounded(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "MOST_WAITING", 3)
    async with host(refuse) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        for number in range(5):
            one.now += 1
            await one.play(f"m{number}")
        await one.look()
        assert await one.waiting() == 3
        assert (1, "given up", "2 given up, since more than 3 waited") in await one.states()
        waiting = [json.loads(note["body"]) for note in (await store.notes(QUEUE)).values()]
        assert [body["match"]["id"] for body in waiting] == ["m2", "m3", "m4"]


async def test_a_removed_webhook_leaves_nothing(store: Store) -> None:
    async with host(refuse) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        await one.play()
        await one.look()
        await one.hooks.remove("all")
        assert one.notes[-1] is None, "no notes are made any more"
        await one.look()
        assert await one.waiting() == 0 and await one.states() == []
        assert await store.notes(webhooks.BOOK) == {}


async def test_a_redirect_is_no_answer_and_is_not_followed(store: Store) -> None:
    async with host(answer()) as other, desk(store) as one:
        async with host(answer(b"", "307 There", location=other.url)) as receiver:
            await one.hooks.set("all", receiver.url, "")
            for later in (0, SHORTEST_PAUSE):  # then on a connection that was kept
                await one.play(f"m{later}")
                await one.look(later)
            assert len(receiver.asked) == 2
        assert not other.asked
        assert {error for _, _, error in await one.states()} == {"the answer has the status 307"}


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("ftp://x.org/", "webhook: an address begins with http:// or https://"),
        ("connect:ada", "webhook: an address begins with http:// or https://"),
        ("http://127.0.0.1:8080/", "webhook: 127.0.0.1 may not be called from this server; "),
        ("http://10.1.2.3/", "webhook: 10.1.2.3 may not be called from this server; "),
        ("http://169.254.169.254/", "webhook: 169.254.169.254 may not be called"),
        ("http://inside.example/", "webhook: 192.168.1.1 may not be called"),
        ("http://nowhere.example/", "webhook: there is no host nowhere.example"),
    ],
)
async def test_an_address_that_may_not_be_called_is_refused(
    store: Store, target: str, problem: str
) -> None:
    names = {"inside.example": ["192.168.1.1"]}
    async with desk(store, names=names, calls_loopback=False, calls_allow="0.0.0.0/0") as one:
        with pytest.raises(BadWebhook) as refused:
            await one.hooks.set("all", target, "")
        assert str(refused.value).startswith(problem)
        assert await store.notes(webhooks.BOOK) == {}


async def test_a_name_that_moves_to_a_forbidden_address_is_not_called(store: Store) -> None:
    names = {"moving.example": ["192.0.2.1"]}
    async with (
        host() as inside,
        callers(names, calls_loopback=False, calls_allow="192.0.2.0/24") as ours,
    ):
        one = Desk(store, ours)
        await one.hooks.set("all", f"http://moving.example:{inside.port}/", "")
        names["moving.example"] = ["127.0.0.1"]
        ours._resolver.clear_cache()
        await one.play()
        await one.look()
        ((_, state, error),) = await one.states()
        assert not inside.asked and state == "waiting"
        assert error.startswith("127.0.0.1 may not be called from this server")


async def test_names_mention_nobody(store: Store) -> None:
    names = ("@everyone", "<@123> [x](http://y)")
    async with host(answer()) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        await one.play(players=names, contest="<!channel>")
        await one.look()
        (body,) = heard(receiver)
        assert not set("@<>[]") & set(body["text"]) and body["text"] == body["content"]
        assert body["allowed_mentions"] == {"parse": []}
        assert body["match"]["players"] == list(names), "for programs they are unchanged"


async def test_a_text_is_short_enough_for_discord(store: Store) -> None:
    async with desk(store, "https://x.org") as one:
        one.hooks.hooks["all"] = Webhook("all", "", "")
        players = tuple(f"{number:064d}" for number in range(100))
        result = Result((1,) * 100, (0.0,) * 100, ("complete",) * 100, ())
        (note,) = one.hooks.match_ended(entry(players=players), result)
        text = json.loads(note.value["body"])["content"]
        assert len(text) < 2000 and text.endswith(" https://x.org/matches/m1")


async def test_a_match_is_told_to_the_webhooks_that_it_concerns(store: Store) -> None:
    async with desk(store) as one:
        for subject, mark in {
            "bots/ada": OWNER,
            "bots/bob": "bot 2 bob",
            "bots/eve": "bot 3 eve",
            "contests/cup": "gomoku",
            "contests/None": "gomoku",
            "all": "",
        }.items():
            one.hooks.hooks[subject] = Webhook(subject, "", "", mark)

        def told(**changes: Any) -> set[str]:
            notes = one.hooks.match_ended(entry(**changes), RESULT)
            return {note.value["subject"] for note in notes}

        assert told() == {"bots/ada", "all"}, "bob is a guest of that name"
        assert told(contest="cup") == {"bots/ada", "contests/cup", "all"}
        assert told(owners=()) == {"all"}
        one.hooks.hooks["contests/cup"] = Webhook("contests/cup", "", "", "bumblebots")
        assert told(contest="cup") == {"bots/ada", "all"}, "a contest of another game"
