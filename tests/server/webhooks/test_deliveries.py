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
from botdrome.store.entries import MatchEntry, StoreUnavailable
from botdrome.store.store import Store
from tests.patience import until
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


async def test_the_queue_of_a_resting_webhook_is_bounded_and_not_read_in_full(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "MOST_WAITING", 3)
    async with host(refuse) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        await one.play("m0")
        await one.look()
        for number in range(1, 6):
            one.now += 1
            await one.play(f"m{number}")
        await one.look()
        assert await one.waiting() == 3 and len(receiver.asked) == 1, "it rests"
        for number in range(6, 9):
            one.now += 1
            await one.play(f"m{number}")
            await one.look()
        errors = [error for _, _, error in await one.states()]
        assert errors == [
            "1 given up, since more than 3 waited",
            "the answer has the status 500",
        ], "the last line of that kind leaves the reason visible"
        monkeypatch.delattr(webhooks, "_read")
        await one.look()


async def test_a_dead_webhook_gives_up_all_that_is_older_than_a_day_at_once(store: Store) -> None:
    async with host(refuse) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        for number in range(5):
            await one.play(f"m{number}")
        await one.look()
        one.now += DAY
        await one.play("fresh")
        await one.look()
        assert len(receiver.asked) == 2
        (left,) = (await store.notes(QUEUE)).values()
        assert json.loads(left["body"])["match"]["id"] == "fresh"
        errors = [error for _, state, error in await one.states() if state == "given up"]
        assert "4 given up, since they waited for a day" in errors


async def test_a_webhook_with_many_deliveries_lets_others_have_its_place(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "AT_ONCE", 2)  # one of them for bots
    told: list[str] = []
    async with desk(store) as one:

        async def slow(writer: asyncio.StreamWriter, asked: Asked) -> None:
            told.append(asked.line.split()[1])
            one.now += webhooks.TURN // 3
            writer.write(answer())

        async with host(slow) as receiver:
            await one.hooks.set("bots/ada", receiver.url + "ada", OWNER)
            await one.hooks.set("bots/bob", receiver.url + "bob", "bot 2 bob")
            for number in range(5):
                await one.play(f"m{number}")
            one.now += 1
            await one.play("last", owners=("", "bot 2 bob"))
            await one.look()
            assert told == ["/ada"] * 3, "its turn is over"
            await one.look()
            assert told[3:] == ["/bob"], "who had no turn is next, though its delivery is newer"
            await one.look()
            assert told[4:] == ["/ada"] * 2


async def test_slow_receivers_of_bots_leave_a_place_to_the_operators_webhooks(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "AT_ONCE", 2)

    async def silent(_: asyncio.StreamWriter, __: Asked) -> None:
        await asyncio.Event().wait()

    async with host(silent) as slow, host(answer()) as quick, desk(store) as one:
        await one.hooks.set("bots/ada", slow.url, OWNER)
        await one.hooks.set("bots/bob", slow.url, "bot 2 bob")
        await one.play(owners=(OWNER, "bot 2 bob"))
        await one.hooks.look()
        await slow.heard.wait()
        assert len(one.hooks._tasks) == 1
        await one.hooks.set("all", quick.url, "")
        await one.play("m2")
        await one.hooks.look()
        await one.hooks._tasks["all"]
        assert len(quick.asked) == 1 and len(slow.asked) == 1
        one.hooks.leave()


async def test_a_webhook_is_set_though_a_node_cannot_read_it(store: Store) -> None:
    async def away() -> None:
        raise StoreUnavailable

    async with host(answer()) as receiver, desk(store) as one:
        one.hooks.load_all = away
        hook = await one.hooks.set("all", receiver.url, "")
        await until(lambda: one.hooks.hooks == {"all": hook})
        one.hooks.close()


async def test_an_older_read_of_the_webhooks_does_not_end_last(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    released, reads = asyncio.Event(), list[str]()

    async def pages(_: str, __: int) -> AsyncIterator[dict[str, dict[str, str]]]:
        url = "new" if reads else "old"
        reads.append(url)
        if url == "old":
            await released.wait()
        yield {"all": {"subject": "all", "url": url, "secret": ""}}

    async with desk(store) as one:
        monkeypatch.setattr(store.reports, "note_pages", pages)
        both = [asyncio.ensure_future(one.hooks.load()) for _ in range(2)]
        for _ in range(10):
            await asyncio.sleep(0)  # whoever can end does so
        released.set()
        await asyncio.gather(*both)
        assert one.hooks.hooks["all"].url == "new"


async def test_a_change_of_one_webhook_lets_the_others_rest(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(webhooks, "PAGE", 2)
    async with host(refuse) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        await one.play("m1")
        await one.look()
        await one.play("m2")
        subjects = [f"bots/{number}" for number in range(4)]
        for subject in subjects:
            await one.hooks.set(subject, receiver.url, "")
        assert list(one.hooks.hooks) == ["all", *subjects], "they are read in parts"
        await one.look()
        assert len(receiver.asked) == 1
        await one.hooks.set("all", receiver.url, "")
        await one.look()
        assert len(receiver.asked) == 2, "a new URL or secret is tried at once"


async def test_a_new_webhook_is_not_told_what_waited_for_a_removed_one(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages = store.reports.note_pages
    async with host(answer()) as receiver, desk(store) as one:

        async def replaced() -> None:
            await one.hooks.remove("all")
            assert await one.waiting() == 0
            await one.hooks.set("all", receiver.url, "")

        async def late(book: str, most: int) -> AsyncIterator[dict[str, dict[str, Any]]]:
            found = [page async for page in pages(book, most)]
            monkeypatch.setattr(store.reports, "note_pages", pages)
            await replaced()
            for page in found:
                yield page

        await one.hooks.set("all", receiver.url, "")
        await one.play()
        await replaced()
        await one.look()
        await one.play()
        monkeypatch.setattr(store.reports, "note_pages", late)
        await one.look()
        assert not receiver.asked


async def test_a_home_that_missed_a_new_webhook_reads_it_before_it_drops_deliveries(
    store: Store,
) -> None:
    async with host(answer()) as receiver, desk(store) as one, desk(store) as home:
        await one.hooks.set("all", receiver.url, "")
        await one.play()
        await home.look()
        assert "all" in home.hooks.hooks
        await home.look()
        assert len(receiver.asked) == 1


async def test_the_end_of_an_old_task_does_not_hide_a_new_one(store: Store) -> None:
    async with host(answer()) as receiver, desk(store) as one:
        await one.hooks.set("all", receiver.url, "")
        one.hooks.open(webhooks.HOME)
        (old,) = one.hooks._tasks.values()
        one.hooks.leave()
        one.hooks.open(webhooks.HOME)
        new = dict(one.hooks._tasks)
        await asyncio.wait([old])
        await asyncio.sleep(0)  # its callbacks are called
        assert one.hooks._tasks == new
        one.hooks.close()
