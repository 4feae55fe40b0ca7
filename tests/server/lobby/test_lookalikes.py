"""Names that look alike: registered ones are refused, guests are shown distinctly, and every script
has its names.
"""

from pathlib import Path

import httpx
import pytest

from botdrome.server.lobby.registry import BadName, Denied
from botdrome.store.entries import LooksAlike, likeness, look_alike
from tests.server.clients import registered, server
from tests.server.rooms.bomber.clients import STEPS, room

pytestmark = pytest.mark.anyio

ALIKE = [
    "аnn",
    "ann\u3164",
    "ann\u200d",
    "ａｎｎ",
    "αnn",
    "ann\xa0",
    "𝐚nn",
    "ann\u2800",
    "an\u034fn",
    "ann ",
    " ann",
]
"""All are taken for ann."""


@pytest.mark.parametrize("name", ALIKE)
def test_these_look_like_ann(name: str) -> None:
    assert look_alike("ann", name) and look_alike(name, "ann")
    assert likeness(name) == likeness("ann")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ann", "Ann"),
        ("bot1", "botl"),
        ("José", "Jose"),
        ("Борис", "Boris"),
        ("王", "玉"),
        ("ann", "ann"),
    ],
)
def test_these_do_not(one: str, other: str) -> None:
    assert not look_alike(one, other)


async def test_a_name_that_looks_like_a_registered_one_is_refused(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        httpx.AsyncClient(base_url=house.url, trust_env=False) as web,
    ):
        await registered(house, "ann")
        body = {"game": "noughts-and-crosses", "name": "аnn", "owner": "me"}
        answer = await web.post("/api/v1/bots", json=body)
        words = "Bot already registered with that name, or one that looks like it: ann"
        assert (answer.status_code, answer.json()) == (409, {"error": words})
        for name in ALIKE:
            with pytest.raises((LooksAlike, BadName)):
                await registered(house, name)


@pytest.mark.parametrize(
    "name", ["hоuse:x", "ann (guest)", "ann (guеst)", "ann(guest)", "ann\u3164"]
)
async def test_no_bot_is_registered_under_such_a_name(tmp_path: Path, name: str) -> None:
    async with server(tmp_path) as house:
        with pytest.raises(BadName):
            await registered(house, name)


@pytest.mark.parametrize(
    "name", ["Борис", "王小明", "👩‍💻", "bot 1", "botl", "botI", " sp ace/ü.$ "]
)
async def test_bots_of_all_scripts_are_registered(tmp_path: Path, name: str) -> None:
    async with server(tmp_path) as house:
        await registered(house, "bot1")
        await registered(house, name)


async def test_a_guest_is_not_taken_for_a_registered_bot(tmp_path: Path) -> None:
    async with server(tmp_path) as house:
        await registered(house, "ann")
        admit = house.desk.registry.admit
        names = {
            name: (await admit(name, None, "gomoku")).name
            for name in ("аnn", "ann ", "Борис", "bob", "bob (guеst)")
        }
        assert names == {
            "аnn": "аnn (guest)", "ann ": "ann␠ (guest)", "Борис": "Борис", "bob": "bob",
            "bob (guеst)": "bob (guеst) (guest)",
        }  # fmt: skip
        with pytest.raises(Denied, match="house"):
            await admit("hоuse:x", None, "gomoku")


async def test_a_client_sees_the_name_that_it_gave(tmp_path: Path) -> None:
    async with room(tmp_path, STEPS) as (house, one):
        await registered(house, "Ada", "bomberman")
        await one.begin(" Ada", "Аda")
        assert sorted(user["user_name"] for user in (await one.state())["users"]) == [" Ada", "Аda"]
        (live,) = house.desk.tables.live()
        assert sorted(live.players) == ["Аda (guest)", "␠Ada (guest)"]
