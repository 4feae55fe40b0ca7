"""Classes on a server: codes, participants, and the bots that they own."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from botdrome.app import RunningServer
from botdrome.server.lobby import classes as module
from botdrome.server.lobby import tokens
from botdrome.server.lobby.classes import LETTERS, read_code
from botdrome.server.lobby.registry import BadName
from tests.server.calling.hosts import host
from tests.server.clients import PATIENCE, bot, play_noughts, server
from tests.server.contests.entrants import open_contest
from tests.server.operator.clients import TOKEN, Office, office
from tests.store.entries import a_match, play

pytestmark = pytest.mark.anyio

NAME = "Robots 3b"
NOUGHTS = "noughts-and-crosses"


class School(NamedTuple):
    house: RunningServer
    operator: Office
    http: httpx.AsyncClient

    async def order(self, do: str, **values: Any) -> Any:
        return await self.operator.have("POST", f"/classes/{NAME}", {"do": do, **values})

    async def refused(self, do: str, **values: Any) -> tuple[int, str]:
        return await self.operator.refused("POST", f"/classes/{NAME}", {"do": do, **values})

    async def shown(self) -> Any:
        return await self.operator.get(f"/classes/{NAME}")

    async def ask(self, code: str, name: str) -> tuple[int, Any]:
        answer = await self.http.post("/participants", json={"code": code, "name": name})
        return answer.status_code, answer.json().get("error", answer.json())

    async def joined(self, name: str) -> str:
        """A new participant's owner token."""
        status, answer = await self.ask((await self.shown())["code"], name)
        assert status == 201, answer
        return str(answer["token"])

    async def register(self, name: str, token: str = "", **more: Any) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        body = {"game": NOUGHTS, "name": name, **more}
        return await self.http.post("/bots", json=body, headers=headers)

    async def me(self, token: str) -> httpx.Response:
        headers = {"Authorization": f"Bearer {token}"}
        return await self.http.get("/participant", headers=headers)

    async def bots(self) -> dict[str, list[str]]:
        return {one["name"]: one["bots"] for one in (await self.shown())["participants"]}


@asynccontextmanager
async def school(folder: Path, **settings: Any) -> AsyncIterator[School]:
    """A server with a class."""
    async with (
        server(folder, operator_token=TOKEN, **settings) as house,
        office(house) as operator,
        httpx.AsyncClient(base_url=f"{house.url}/api/v1", timeout=PATIENCE) as http,
    ):
        await operator.have("POST", "/classes", {"name": NAME})
        yield School(house, operator, http)


def test_a_code_is_read_as_people_type_it() -> None:
    assert read_code("7kq2-mOxt 94rI") == ("7KQ2", "M0XT94R1")
    assert len(LETTERS) == 32
    for wrong in ("", "7KQ2-M0XT-94R", "7KQ2-M0XT-94RDX", "7KQ2-M0XT-94RU", "7KQ2-M0XT-94R\0"):
        with pytest.raises(BadName, match="12 letters and digits, such as 7KQ2-M0XT-94RD"):
            read_code(wrong)


async def test_a_class_is_created_listed_and_deleted(tmp_path: Path) -> None:
    async with school(tmp_path) as one:
        shown = await one.shown()
        assert (shown["name"], shown["participants"], shown["results"]) == (NAME, [], [])
        assert shown["closed"] is None
        assert len(set(await codes(one))) == 4, "each code is drawn"
        (listed,) = (await one.operator.get("/classes"))["classes"]
        assert (listed["name"], listed["participants"]) == (NAME, 0)
        done = await one.operator.have("DELETE", f"/classes/{NAME}")
        assert done == {"name": NAME, "deleted": True}
        words = f"there is no class '{NAME}'"
        assert await one.operator.refused("GET", f"/classes/{NAME}") == (404, words)
        assert await one.refused("close") == (404, words)
        assert await one.operator.refused("DELETE", f"/classes/{NAME}") == (404, words)
        assert (await one.operator.get("/classes"))["total"] == 0


async def codes(one: School) -> list[str]:
    return [(await one.order("reset"))["code"] for _ in range(4)]


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({"name": ""}, 400, "a name must not be empty"),
        ({"name": "x" * 65}, 400, "a name has at most 64 characters"),
        ({"name": "a\nb"}, 400, "a name has printable characters only"),
        ({"name": "a  b"}, 400, "a name has single spaces, and only between its words"),
        ({"name": "a @ b"}, 400, "the name of a class does not contain ' @ '"),
        ({"name": "@ b"}, 400, "the name of a class does not contain ' @ ' or begin with '@ '"),
        ({"name": "robots 3B"}, 409, f"there is a class '{NAME}' already; choose another name"),
        ({"name": "b", "hours": 0}, 400, "Expected `float` > 0.0"),
        ({"name": "b", "hours": 1e9}, 400, "Expected `float` <= 8784"),
        ({"name": "b", "extra": 1}, 400, "unknown field `extra`"),
        ({}, 400, "missing required field `name`"),
    ],
)
async def test_a_class_that_cannot_be_is_refused(
    tmp_path: Path, body: dict[str, Any], status: int, words: str
) -> None:
    async with school(tmp_path) as one:
        refused = await one.operator.refused("POST", "/classes", body)
        assert refused[0] == status and words in refused[1]


@pytest.mark.parametrize(
    "order", [{}, {"do": "dance"}, {"do": "rename"}, {"do": "close", "participant": "Ada"}]
)
async def test_an_order_that_makes_no_sense_is_refused(
    tmp_path: Path, order: dict[str, Any]
) -> None:
    async with school(tmp_path) as one:
        status, words = await one.operator.refused("POST", f"/classes/{NAME}", order)
        assert status == 400 and "the body is not what it should be" in words


async def test_a_participant_joins_and_owns_its_bots(tmp_path: Path) -> None:
    async with school(tmp_path) as one:
        token = await one.joined("Ada")
        await one.joined("Bob")
        answer = await one.register("ada-1", token)
        assert answer.status_code == 201
        assert answer.json()["bot"]["owner"] == f"Ada @ {NAME}"
        assert await one.bots() == {"Ada": ["ada-1"], "Bob": []}
        me = (await one.me(token)).json()
        assert (me["class"], me["name"], me["owner"]) == (NAME, "Ada", f"Ada @ {NAME}")
        assert [mine["name"] for mine in me["bots"]] == ["ada-1"]
        assert (me["results"], me["closed"]) == ([], False)
        assert await one.operator.audited() == [("create class", NAME, "")]


@pytest.mark.parametrize(
    ("name", "status", "words"),
    [
        ("", 400, "a name must not be empty"),
        ("x" * 65, 400, "a name has at most 64 characters"),
        ("a\x07b", 400, "a name has printable characters only"),
        ("a\u3164b", 400, "a name must not contain invisible characters"),
        ("Ada", 409, "the name 'Ada' is taken in this class; choose another one"),
        ("ada", 409, "the name 'Ada' is taken in this class; choose another one"),
        ("Deleted", 409, "the name 'deleted' is taken in this class; choose another one"),
    ],
)
async def test_a_name_that_cannot_be_is_refused(
    tmp_path: Path, name: str, status: int, words: str
) -> None:
    async with school(tmp_path) as one:
        await one.joined("Ada")
        code = (await one.shown())["code"]
        assert await one.ask(code, name) == (status, words)
        if status == 400:
            assert await one.refused("rename", participant="Ada", name=name) == (status, words)


async def test_only_the_present_code_opens_a_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with school(tmp_path, classes_hours=2) as one:
        old = (await one.shown())["code"]
        new = (await one.order("reset", hours=1))["code"]
        assert old[:4] == new[:4] and old != new
        unknown = (404, "no class has this join code; look at it again")
        assert await one.ask(old, "Ada") == unknown
        assert await one.ask("0000-0000-0000", "Ada") == unknown
        assert (await one.ask("one", "Ada"))[0] == 400
        assert (await one.ask(new.lower().replace("-", " "), "Ada"))[0] == 201
        now = module._now()
        monkeypatch.setattr(module, "_now", lambda: now + module.HOUR)
        expired = (409, "this join code has expired; ask your organiser for a new one")
        assert await one.ask(new, "Bob") == expired
        newest = (await one.order("reset"))["code"]
        monkeypatch.setattr(module, "_now", lambda: now + 3 * module.HOUR - 1)
        assert (await one.ask(newest, "Bob"))[0] == 201
        monkeypatch.setattr(module, "_now", lambda: now + 3 * module.HOUR)
        assert await one.ask(newest, "Cid") == expired


async def test_after_too_many_wrong_codes_the_right_one_is_not_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "CODE_RATE", 0.001)
    monkeypatch.setattr(tokens, "CODE_BURST", 3)
    async with school(tmp_path) as one:
        code = (await one.shown())["code"]
        await one.operator.have("POST", "/classes", {"name": "Ants"})
        ants = (await one.operator.get("/classes/Ants"))["code"]
        unknown = next(
            f"{letter * 4}-0000-0000" for letter in "01" if letter * 4 not in (code, ants)
        )
        for guess in (unknown, code[:4] + "-0000-0000"):
            assert [(await one.ask(guess, "Ada"))[0] for _ in range(4)] == [404, 404, 404, 429]
        status, words = await one.ask(code, "Ada")
        assert status == 429 and words.startswith("too many wrong join codes came: try again in")
        assert (await one.ask(ants, "Ada"))[0] == 201, "guesses count for their class alone"


async def test_a_wrong_owner_token_is_refused_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "RATE", 0.001)
    monkeypatch.setattr(tokens, "BURST", 3)
    async with school(tmp_path) as one:
        ada = await one.joined("Ada")
        assert (await one.http.get("/participant")).status_code == 401
        assert (await one.me("wrong")).status_code == 403
        for _ in range(2):
            answer = await one.register("ada-1", "wrong")
            assert answer.status_code == 403 and "not the token of a participant" in answer.text
        assert (await one.me("wrong")).status_code == 429
        assert (await one.me(ada)).status_code == 200, "it was right at this address before"


async def test_nobody_registers_for_a_participant_without_its_token(tmp_path: Path) -> None:
    async with school(tmp_path) as one:
        ada = await one.joined("Ada")
        for owner in (f"Ada @ {NAME}", f"Eva @ {NAME.upper()}", f"@ @ {NAME}"):
            answer = await one.register("bot", owner=owner)
            assert answer.status_code == 403 and "register with their token" in answer.text
        query = f'mutation {{ registerBot(gameType: GOMOKU, name: "b", owner: "Ada @ {NAME}") {{ password }} }}'
        answer = await one.http.post(f"{one.house.url}/graphql", json={"query": query})
        assert "register with their token" in answer.text
        answer = await one.register("bot", ada, owner="me")
        assert (answer.status_code, answer.json()["error"]) == (
            400,
            "give an owner or an owner token, not both",
        )
        answer = await one.register("bot", owner="Ada @ home")
        assert answer.json()["bot"]["owner"] == "Ada @ home"


@pytest.mark.parametrize(
    ("order", "status", "answer"),
    [
        ({"do": "rename", "participant": "Ada", "name": "Eva"}, 201, f"Eva @ {NAME}"),
        ({"do": "merge", "participant": "Ada", "into": "Bob"}, 201, f"Bob @ {NAME}"),
        ({"do": "close"}, 409, f"the class '{NAME}' is closed"),
        (
            {"do": "remove", "participant": "Ada"},
            409,
            f"'Ada @ {NAME}' is no longer a participant",
        ),
    ],
)
async def test_a_class_may_change_while_a_bot_is_challenged(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    order: dict[str, Any],
    status: int,
    answer: str,
) -> None:
    async with school(tmp_path) as one:
        ada, _ = [await one.joined(name) for name in ("Ada", "Bob")]

        async def challenge(*_: str) -> None:
            await one.order(**order)

        monkeypatch.setattr(one.house.arena.url_bots, "challenge", challenge)
        got = await one.register("bot", ada, url="http://127.0.0.1:9/")
        body = got.json()
        said = body["bot"]["owner"] if "bot" in body else body["error"]
        assert (got.status_code, said) == (status, answer)
        stored = await one.house.arena.store.bot("bot")
        assert (stored.owner if stored else None) == (answer if status == 201 else None)


async def test_a_class_gets_no_bot_that_was_challenged_when_it_was_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with school(tmp_path) as one:

        async def challenge(*_: str) -> None:
            await one.operator.have("POST", "/classes", {"name": "Ants"})

        monkeypatch.setattr(one.house.arena.url_bots, "challenge", challenge)
        got = await one.register("bot", url="http://127.0.0.1:9/", owner="Ada @ ants")
        assert got.status_code == 409 and "register with their token" in got.text
        assert await one.house.arena.store.bot("bot") is None


async def test_registrations_are_limited_for_each_participant(tmp_path: Path) -> None:
    limits = {"registration_rate": 0.001, "registration_burst": 2}
    async with school(tmp_path, **limits) as one:
        tokens = [await one.joined(name) for name in ("Ada", "Bob")]
        for at, token in enumerate(tokens):
            statuses = [(await one.register(f"{at} {n}", token)).status_code for n in range(3)]
            assert statuses == [201, 201, 429]
        words = (await one.register("x", tokens[0])).json()["error"]
        assert f"too many bots are being registered from Ada @ {NAME}: try again" in words
        assert (await one.register("free")).status_code == 201


async def test_a_contest_counts_the_bots_of_a_participant(tmp_path: Path) -> None:
    """Whatever name it has now, and also the bots of others that were merged with it."""
    async with school(tmp_path) as one:
        tokens = {name: await one.joined(name) for name in ("Ada", "Ada 2", "Bob")}
        bots = {}
        for name, token in tokens.items():
            bots[name] = (await one.register(f"{name}'s", token)).json()["password"]
        await open_contest(one.house, entry={"per_owner": 1})

        async def enter(name: str) -> tuple[int, str]:
            answer = await one.http.post(
                f"/contests/{NOUGHTS}/cup",
                json={"bot": f"{name}'s"},
                headers={"Authorization": f"Bearer {bots[name]}"},
            )
            return answer.status_code, answer.text

        assert (await enter("Ada"))[0] == 200
        await one.order("merge", participant="Ada 2", into="Ada")
        await one.order("rename", participant="Ada", name="Eva")
        status, words = await enter("Ada 2")
        assert status == 409 and f"Eva @ {NAME} has 1 bot in the contest; the limit is 1" in words
        await one.order("rename", participant="Bob", name="Ada")
        assert (await enter("Bob"))[0] == 200, "it has the name that the other one had"


async def test_both_tokens_are_those_of_a_merged_participant(tmp_path: Path) -> None:
    async with school(tmp_path) as one:
        first, second = [await one.joined(name) for name in ("Ada", "Ada again")]
        await one.register("ada-1", first)
        await one.register("ada-2", second)
        shown = await one.order("merge", participant="Ada again", into="Ada")
        assert [(p["name"], p["bots"]) for p in shown["participants"]] == [
            ("Ada", ["ada-1", "ada-2"])
        ]
        for token in (first, second):
            assert (await one.me(token)).json()["name"] == "Ada"
        assert await one.refused("merge", participant="Eva", into="Ada") == (
            409,
            f"'Eva' is not in the class '{NAME}'; there are: Ada",
        )
        assert (await one.operator.audited())[1:] == [
            ("class: merge", NAME, "participant=Ada again, into=Ada")
        ]


async def test_the_webhooks_of_a_removed_participants_bots_are_removed(tmp_path: Path) -> None:
    async with school(tmp_path) as one, host() as receiver:
        for name in ("ada", "bob", "eve"):
            await one.register(name, await one.joined(name))
        hooks = one.house.arena.webhooks
        for subject in ("all", "bots/ada", "bots/bob"):
            await hooks.set(subject, receiver.url, "")
        await one.order("remove", participant="eve")
        await one.order("remove", participant="ada")
        assert list(hooks.hooks) == ["all", "bots/bob"]
        await one.operator.have("DELETE", f"/classes/{NAME}")
        assert list(hooks.hooks) == ["all"]


async def test_results_of_a_removed_participant_are_shown_as_deleted(tmp_path: Path) -> None:
    async with school(tmp_path) as one:
        ada, bob = [await one.joined(name) for name in ("Ada", "Bob")]
        logins = []
        for name, token in (("ada", ada), ("bob", bob)):
            password = (await one.register(name, token)).json()["password"]
            login = {"gameType": "NOUGHTS_AND_CROSSES", "name": name, "password": password}
            logins.append(login)
        await played(one.house, *logins)
        (result,) = (await one.shown())["results"]
        assert {(p["bot"], p["participant"]) for p in result["players"]} == {
            ("ada", "Ada"),
            ("bob", "Bob"),
        }
        assert sorted(p["place"] for p in result["players"]) == [1, 2]
        assert (await one.me(ada)).json()["results"] == [
            result
            | {
                "players": [
                    p | {"participant": "Ada" if p["bot"] == "ada" else None}
                    for p in result["players"]
                ]
            }
        ]
        async with bot(one.house, logins[0]) as waiting:
            await one.order("remove", participant="Ada")
            await waiting.until_closed()
        assert await one.bots() == {"Bob": ["bob"]}
        (result,) = (await one.shown())["results"]
        assert {(p["bot"], p["participant"]) for p in result["players"]} == {
            ("deleted", "deleted"),
            ("bob", "Bob"),
        }
        assert (await one.me(ada)).status_code == 403
        assert (await one.register("ada-2", ada)).status_code == 403
        found = (await one.http.get("/bots/ada")).json()
        assert found["owner"] == f"deleted @ {NAME}"
        await one.operator.have("DELETE", f"/classes/{NAME}")
        assert [b["owner"] for b in (await one.http.get("/bots")).json()["bots"]] == ["deleted"] * 2


async def played(house: RunningServer, *logins: dict[str, Any]) -> None:
    async with bot(house, logins[0]) as one, bot(house, logins[1]) as two:
        names = [login["name"] for login in logins]
        await asyncio.gather(play_noughts(one, names[0]), play_noughts(two, names[1]))


async def test_matches_before_a_bot_was_registered_are_not_its_own(tmp_path: Path) -> None:
    async with school(tmp_path) as one:
        await play(one.house.arena.store, a_match("m", ("eve", "cid")), 1, 2)
        ada = await one.joined("Ada")
        await one.register("eve", ada)
        (result,) = (await one.me(ada)).json()["results"]
        assert [player["participant"] for player in result["players"]] == [None, None]


async def test_in_a_closed_class_nobody_joins_or_registers_until_it_is_reset(
    tmp_path: Path,
) -> None:
    async with school(tmp_path) as one:
        ada = await one.joined("Ada")
        shown = await one.order("close")
        assert shown["closed"] is not None
        words = f"the class '{NAME}' is closed"
        assert await one.ask(shown["code"], "Bob") == (409, words)
        answer = await one.register("ada-1", ada)
        assert (answer.status_code, answer.json()["error"]) == (409, words)
        assert (await one.me(ada)).json()["closed"] is True
        await one.order("reset")
        await one.joined("Bob")
        assert (await one.register("ada-1", ada)).status_code == 201
        assert [line[0] for line in await one.operator.audited()] == [
            "create class",
            "class: close",
            "class: reset",
        ]


async def test_a_class_has_only_so_many_participants(tmp_path: Path) -> None:
    async with school(tmp_path, classes_participants=1) as one:
        await one.joined("Ada")
        code = (await one.shown())["code"]
        assert await one.ask(code, "Bob") == (409, "the class is full: it has 1 participant")
