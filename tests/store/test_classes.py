"""The contract of every store: classes and their participants."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from botdrome.store.classes import owner_in
from botdrome.store.entries import ClassEntry, ClassRefusal, NameTaken, Participant, UnknownClass
from botdrome.store.store import Store, open_store
from tests.store.entries import a_bot

pytestmark = pytest.mark.anyio

ROBOTS = ClassEntry("Robots", "7KQ2", "M0XT94RD", 2_000, 1_000)
MOST = 5


def a_participant(name: str, joined: int = 1, class_name: str = "Robots") -> Participant:
    return Participant(f"hash of {name}", class_name, name, joined)


async def joined(store: Store, *names: str) -> None:
    """The class, its participants, and a bot of each."""
    await store.classes.create(ROBOTS)
    for number, name in enumerate(names):
        await store.classes.join(a_participant(name, number), MOST)
        owner = owner_in("Robots", name)
        await store.register(a_bot(f"{name}'s", number, owner=owner, url="http://127.0.0.1:9/"))


async def names_in(store: Store) -> list[str]:
    return [one.name for one in await store.classes.participants("Robots")]


async def owners(store: Store) -> dict[str, str]:
    return {bot.name: bot.owner for bot in await store.bots()}


async def test_a_class_is_as_it_was_created(store: Store) -> None:
    await store.classes.create(ROBOTS)
    other = replace(ROBOTS, name="Ants", label="0000", created=3_000, closed=4_000)
    await store.classes.create(other)
    assert await store.classes.all() == [other, ROBOTS]
    assert await store.classes.find("Robots") == ROBOTS
    assert await store.classes.labelled("0000") == other
    assert await store.classes.labelled("1111") is None
    changed = replace(ROBOTS, secret="00000000", expires=9, closed=8)
    await store.classes.change(changed)
    assert await store.classes.find("Robots") == changed


@pytest.mark.parametrize("name", ["Robots", "robots", "Rоbots"])
async def test_two_classes_do_not_look_alike(store: Store, name: str) -> None:
    await store.classes.create(ROBOTS)
    with pytest.raises(ClassRefusal, match="there is a class 'Robots' already"):
        await store.classes.create(replace(ROBOTS, name=name, label="0000"))


async def test_a_class_gets_no_bots_of_others(store: Store) -> None:
    await store.register(a_bot("bot", owner="Ada @ Robots"))
    with pytest.raises(ClassRefusal, match="bots whose owners end with ' @ Robots'"):
        await store.classes.create(ROBOTS)
    await store.classes.create(replace(ROBOTS, name="bots"))
    with pytest.raises(ClassRefusal, match="the same code; try again"):
        await store.classes.create(replace(ROBOTS, name="Ants"))


async def test_every_change_needs_a_class(store: Store) -> None:
    changes = [
        store.classes.find("no\0ne"),
        store.classes.change(ROBOTS),
        store.classes.join(a_participant("Ada"), MOST),
        store.classes.rename("Robots", "Ada", "Eva"),
        store.classes.merge("Robots", "Ada", "Eva"),
        store.classes.remove("Robots", "Ada"),
        store.classes.delete("Robots"),
        store.classes.register(a_bot("bot", owner="Ada @ Robots"), "hash of Ada"),
    ]
    for change in changes:
        with pytest.raises(UnknownClass, match="there is no class"):
            await change


async def test_participants_are_listed_as_they_joined_and_found_by_their_tokens(
    store: Store,
) -> None:
    await joined(store, "Zoe", "Ada")
    assert await store.classes.participants("Robots") == [
        a_participant("Zoe", 0),
        a_participant("Ada", 1),
    ]
    assert await store.classes.holder("hash of Ada") == a_participant("Ada", 1)
    assert await store.classes.holder("hash of Eva") is None
    found = await store.classes.bots(["Ada @ Robots", "Zoe @ Robots"])
    assert [bot.name for bot in found] == ["Zoe's", "Ada's"]
    assert await store.count_owned("Ada @ Robots", ["Ada's", "Zoe's", "no\0ne"]) == 1


@pytest.mark.parametrize("name", ["Ada", "ADA", "Аda", "deleted", "Deleted"])
async def test_a_name_is_taken_once_in_a_class(store: Store, name: str) -> None:
    await joined(store, "Ada", "Zoe")
    with pytest.raises(ClassRefusal, match="taken in this class; choose another one"):
        await store.classes.join(a_participant(name), MOST)
    with pytest.raises(ClassRefusal, match="taken in this class; choose another one"):
        await store.classes.rename("Robots", "Zoe", name)
    assert await names_in(store) == ["Ada", "Zoe"]


async def test_a_class_has_only_so_many_participants(store: Store) -> None:
    await joined(store, "Ada", "Bob")
    with pytest.raises(ClassRefusal, match="the class is full: it has 2 participants"):
        await store.classes.join(a_participant("Cid"), 2)


async def test_one_of_two_that_join_under_one_name_at_two_nodes_gets_it(url: str) -> None:
    stores = [await open_store(url) for _ in range(2)]
    await stores[0].classes.create(ROBOTS)
    for number in range(10):
        wishes = [
            store.classes.join(Participant(f"{at} {number}", "Robots", f"p {number}", 1), 50)
            for at, store in enumerate(stores)
        ]
        answers = await asyncio.gather(*wishes, return_exceptions=True)
        assert {type(answer) for answer in answers} == {type(None), ClassRefusal}
    assert len(await stores[0].classes.participants("Robots")) == 10
    for store in stores:
        await store.close()


async def test_a_bot_is_registered_for_the_participant_as_it_is_now(store: Store) -> None:
    await joined(store, "Ada")
    bot = a_bot("new", 7, owner="Ada @ Robots")
    with pytest.raises(ClassRefusal, match="owners in the class 'Robots' register with their tok"):
        await store.classes.register(bot, None)
    await store.classes.rename("Robots", "Ada", "Eva")
    assert await store.classes.register(bot, "hash of Ada") == replace(bot, owner="Eva @ Robots")
    with pytest.raises(NameTaken):
        await store.classes.register(bot, "hash of Ada")
    await store.classes.change(replace(ROBOTS, closed=8))
    with pytest.raises(ClassRefusal, match="the class 'Robots' is closed"):
        await store.classes.register(a_bot("more", 8, owner="Eva @ Robots"), "hash of Ada")
    await store.classes.change(ROBOTS)
    await store.classes.remove("Robots", "Eva")
    with pytest.raises(ClassRefusal, match="'Eva @ Robots' is no longer a participant"):
        await store.classes.register(a_bot("more", 8, owner="Eva @ Robots"), "hash of Ada")
    assert await owners(store) == {"Ada's": "deleted @ Robots", "new": "deleted @ Robots"}


async def test_a_participant_is_renamed_also_as_an_owner(store: Store) -> None:
    await joined(store, "Ada", "Bob")
    assert await store.classes.rename("Robots", "Ada", "Eva") == ["Ada's"]
    assert await store.classes.rename("Robots", "Eva", "EVA") == ["Ada's"]
    assert await names_in(store) == ["EVA", "Bob"]
    assert await owners(store) == {"Ada's": "EVA @ Robots", "Bob's": "Bob @ Robots"}
    with pytest.raises(ClassRefusal, match="'Ada' is not in the class 'Robots'; there are: EVA"):
        await store.classes.rename("Robots", "Ada", "Ann")


async def test_of_two_that_are_merged_one_has_the_bots_and_the_tokens_of_both(
    store: Store,
) -> None:
    await joined(store, "Ada", "Ada 2")
    assert await store.classes.merge("Robots", "Ada 2", "Ada") == ["Ada 2's"]
    assert await names_in(store) == ["Ada"]
    assert set((await owners(store)).values()) == {"Ada @ Robots"}
    for token in ("hash of Ada", "hash of Ada 2"):
        found = await store.classes.holder(token)
        assert found is not None and found.name == "Ada"
    with pytest.raises(ClassRefusal, match="name two participants"):
        await store.classes.merge("Robots", "Ada", "Ada")
    for pair in (("Eva", "Ada"), ("Ada", "Eva")):
        with pytest.raises(ClassRefusal, match="'Eva' is not in the class"):
            await store.classes.merge("Robots", *pair)


async def test_nothing_works_of_a_participant_that_was_removed(store: Store) -> None:
    await joined(store, "Ada", "Bob")
    assert await store.classes.remove("Robots", "Ada") == ["Ada's"]
    assert await names_in(store) == ["Bob"]
    assert await store.classes.holder("hash of Ada") is None
    bot = await store.bot("Ada's")
    assert bot is not None
    assert (bot.owner, bot.token_hash, bot.url) == ("deleted @ Robots", None, None)
    with pytest.raises(ClassRefusal, match="'Ada' is not in the class"):
        await store.classes.remove("Robots", "Ada")
    await store.classes.join(a_participant("Ada"), MOST)


async def test_a_class_is_deleted_with_its_participants(store: Store) -> None:
    await joined(store, "Ada", "Bob")
    await store.classes.remove("Robots", "Bob")
    assert sorted(await store.classes.delete("Robots")) == ["Ada's", "Bob's"]
    assert await store.classes.all() == []
    assert await store.classes.holder("hash of Ada") is None
    assert await owners(store) == {"Ada's": "deleted", "Bob's": "deleted"}
    await store.classes.create(ROBOTS)
    assert await names_in(store) == []


async def test_classes_are_exported_and_restored(store: Store, tmp_path: Path) -> None:
    await joined(store, "Ada", "Ada 2", "Bob")
    await store.classes.merge("Robots", "Ada 2", "Ada")
    lines = [line async for line in store.export()]

    async def stream() -> AsyncIterator[bytes]:
        for line in lines:
            yield line

    other = await open_store(f"sqlite:///{tmp_path}/other.db")
    assert await other.restore(stream()) == 4
    assert await other.restore(stream()) == 0
    assert [line async for line in other.export()] == lines
    assert await names_in(other) == ["Ada", "Bob"]
    assert await other.classes.holder("hash of Ada 2") == await store.classes.holder(
        "hash of Ada 2"
    )
    await other.close()
