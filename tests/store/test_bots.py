"""The contract of every store: bots."""

import asyncio

import pytest
from msgspec.structs import replace

from botdrome.store.entries import NameTaken, UnknownBot
from botdrome.store.store import Store, open_store
from tests.store.entries import a_bot

pytestmark = pytest.mark.anyio


async def test_a_bot_is_as_it_was_registered(store: Store) -> None:
    bot = a_bot("ada", 1_731_675_000_123)
    await store.register(bot)
    assert await store.bot("ada") == bot


async def test_nobody_has_another_name(store: Store) -> None:
    await store.register(a_bot("ada"))
    assert [await store.bot(name) for name in ("Ada", "ada ", "", "ad", "%", "\0", "\ud800")] == [
        None
    ] * 7


async def test_a_name_is_taken_once_whatever_the_game(store: Store) -> None:
    first = a_bot("ada")
    await store.register(first)
    with pytest.raises(NameTaken, match="ada"):
        await store.register(a_bot("ada", game="gomoku", owner="mallory"))
    with pytest.raises(NameTaken):
        await store.register(first)
    assert await store.bots() == [first]


async def test_one_of_many_that_want_a_name_at_once_gets_it_and_the_others_are_none_the_worse(
    store: Store,
) -> None:
    wishes = [a_bot("ada", owner=f"owner {number}") for number in range(20)]
    others = [a_bot(f"bot {number}", 2 + number) for number in range(20)]
    answers = await asyncio.gather(
        *(store.register(bot) for pair in zip(wishes, others, strict=True) for bot in pair),
        return_exceptions=True,
    )
    assert [type(answer) for answer in answers[::2]] == [type(None)] + [NameTaken] * 19
    assert answers[1::2] == [None] * 20
    assert await store.bots() == [wishes[0], *others]


async def test_two_servers_that_register_the_same_name_do_not_both_have_it(url: str) -> None:
    stores = [await open_store(url) for _ in range(2)]
    for number in range(20):
        wishes = [store.register(a_bot(f"bot {number}")) for store in stores]
        answers = await asyncio.gather(*wishes, return_exceptions=True)
        assert {type(answer) for answer in answers} == {type(None), NameTaken}
    for store in stores:
        await store.close()


async def test_bots_are_listed_by_the_time_of_their_registration(store: Store) -> None:
    bots = [
        a_bot("zoe", 1),
        a_bot("ada", 2, game="gomoku"),
        a_bot("bob", 3, owner="otto"),
        a_bot("Ann", 4),
        a_bot("ann", 4),
    ]
    for bot in reversed(bots):
        await store.register(bot)
    assert await store.bots() == bots
    assert await store.bots(game="gomoku") == [bots[1]]
    assert await store.bots(owner="otto") == [bots[2]]
    assert await store.bots("gomoku", "otto") == []
    assert await store.bots(owner="no\0body") == []


async def test_a_token_is_changed_and_revoked(store: Store) -> None:
    bot = a_bot("ada")
    await store.register(bot)
    await store.register(a_bot("bob"))
    await store.change_token("ada", "another")
    assert await store.bot("ada") == replace(bot, token_hash="another")
    await store.change_token("ada", None)
    assert await store.bot("ada") == replace(bot, token_hash=None)
    assert await store.bot("bob") == a_bot("bob")


async def test_who_is_not_there_has_no_token(store: Store) -> None:
    with pytest.raises(UnknownBot, match="nobody"):
        await store.change_token("nobody", "hash")


async def test_bots_are_there_when_the_store_is_opened_again(url: str) -> None:
    store = await open_store(url)
    await store.register(a_bot("ada"))
    await store.close()
    store = await open_store(url)
    assert await store.bots() == [a_bot("ada")]
    await store.close()


async def test_a_bot_may_have_a_url_and_change_it(store: Store) -> None:
    bot = a_bot("ada", url="http://127.0.0.1:8080/")
    await store.register(bot)
    assert await store.bot("ada") == bot
    await store.change_url("ada", "http://127.0.0.1:9090/\0")
    assert await store.bot("ada") == replace(bot, url="http://127.0.0.1:9090/\ufffd")
    await store.change_url("ada", None)
    assert await store.bot("ada") == replace(bot, url=None)
    with pytest.raises(UnknownBot):
        await store.change_url("bob", None)


async def test_bots_are_listed_in_pieces_and_counted(store: Store) -> None:
    everybody = [
        a_bot(f"bot {number}", number, game="gomoku" if number % 2 else "battleship")
        for number in range(10)
    ]
    for bot in everybody:
        await store.register(bot)
    assert await store.bots(limit=3) == everybody[:3]
    assert await store.bots(offset=8) == everybody[8:]
    assert await store.bots(game="gomoku", limit=2, offset=1) == [everybody[3], everybody[5]]
    counts = [
        await store.count_bots(),
        await store.count_bots(game="gomoku"),
        await store.count_bots("gomoku", "nobody"),
    ]
    assert counts == [10, 5, 0]
