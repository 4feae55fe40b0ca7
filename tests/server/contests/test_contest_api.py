"""Contests with a document, over REST."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from botdrome.api.rest.endpoint import CHANGED
from botdrome.server.workers.jobs import WorkersBusy
from tests.server.clients import registered, server
from tests.server.contests.entrants import entered, open_contest, play_all
from tests.server.operator.clients import office

pytestmark = pytest.mark.anyio

CUP = """\
name = "cup"
game = "noughts-and-crosses"

[entry]
kind = "password"
password = "sesame"
"""


async def test_an_organiser_runs_a_contest_over_rest(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        office(house) as operator,
        httpx.AsyncClient(base_url=f"{house.url}/api/v1") as web,
    ):
        house.desk.workers.start()
        made = await operator.have("POST", "/contests", {"toml": CUP})
        assert made["state"] == "draft" and made["document"]["entry"]["password"] == "..."
        assert 'password = "sesame"' in (await operator.get("/contests/cup"))["toml"]
        open_now = made["document"] | {"games": 2}
        assert (await operator.have("PUT", "/contests/cup", {"document": open_now}))["document"][
            "games"
        ] == 2
        await operator.have("POST", "/contest-actions/cup", {"action": "open"})
        logins = [await _enters(house, web, name) for name in ("ada", "bob")]
        await operator.have("POST", "/contest-actions/cup", {"action": "start"})
        await play_all(house, logins)
        (met,) = (await web.get("/contest-meetings/cup?round=1&bot=ada")).json()["meetings"]
        assert (
            met["key"],
            met["round"],
            met["group"],
            sorted(met["bots"]),
            sum(met["scores"]),
        ) == (
            "1.1",
            1,
            None,
            ["ada", "bob"],
            2,
        )
        assert [game["key"] for game in met["games"]] == ["1.1.1", "1.1.2"] and all(
            game["result"]["match"] for game in met["games"]
        )
        (brief,) = (await web.get("/contest-documents/cup?fixtures=none")).json()["rounds"]
        assert brief == {
            "number": 1,
            "byes": [],
            "fixtures": [],
            "meetings": 1,
            "games": 2,
            "played": 2,
        }
        shown = (await web.get("/contest-documents/cup")).json()
        assert (shown["state"], shown["played"], shown["expected"]) == ("over", 2, 2)
        assert shown["seedsSecret"] and shown["standings"][0]["place"] == 1
        assert [(line["author"], line["action"]) for line in shown["log"][::-1]] == [
            ("operator", "created"), ("operator", "changed"), ("operator", "open"),
            ("ada", "entered"), ("bob", "entered"), ("operator", "running"),
            ("the document", "over"),
        ]  # fmt: skip
        assert [
            one["name"] for one in (await web.get("/contest-documents")).json()["contests"]
        ] == ["cup"]


async def test_an_order_that_took_effect_is_no_error_if_its_answer_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def busy(*_: object) -> None:
        raise WorkersBusy("too many queries are waiting")

    async with server(tmp_path) as house, office(house) as operator:
        monkeypatch.setattr(house.arena.workers, "read", busy)
        answer = await operator.client.post("/contests", json={"toml": CUP})
        assert (answer.status_code, answer.json()) == (202, {"name": "cup", "done": CHANGED})
        monkeypatch.undo()
        assert 'name = "cup"' in (await operator.get("/contests/cup"))["toml"]


async def _enters(house: Any, web: httpx.AsyncClient, name: str) -> dict[str, Any]:
    login = await registered(house, name)
    token = {"authorization": f"Bearer {login['password']}"}
    refused = await web.post("/contests/noughts-and-crosses/cup", json={"bot": name}, headers=token)
    assert (refused.status_code, refused.json()) == (
        409,
        {"error": "the contest 'cup' needs its password"},
    )
    entry = {"bot": name, "password": "sesame"}
    assert (await web.post("/contests/noughts-and-crosses/cup", json=entry, headers=token)).json()[
        "entered"
    ]
    return login | {"contest": "cup", "features": ["again"]}


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        (
            "/contests",
            {"toml": 'name = "a"\ngame = "go"'},
            400,
            "line 2: game: there is no game 'go'",
        ),
        ("/contests", {}, 400, "give the document"),
        ("/contests", {"toml": CUP}, 409, "there is a contest 'cup' already"),
        (
            "/contest-actions/cup",
            {"action": "pause"},
            409,
            "the contest is draft and cannot become paused",
        ),
        ("/contest-actions/mug", {"action": "start"}, 404, "there is no contest 'mug'"),
        ("/contest-withdrawals/cup", {"bot": "ada"}, 409, "ada is not in the contest 'cup'"),
    ],
)
async def test_bad_requests_are_refused(
    tmp_path: Path, path: str, body: dict[str, str], status: int, words: str
) -> None:
    async with server(tmp_path) as house, office(house) as operator:
        await operator.have("POST", "/contests", {"toml": CUP})
        code, why = await operator.refused("POST", path, body)
        assert code == status and words in why


async def test_a_bot_withdraws(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        office(house) as operator,
        httpx.AsyncClient(base_url=f"{house.url}/api/v1") as web,
    ):
        await operator.have(
            "POST", "/contests", {"document": {"name": "cup", "game": "noughts-and-crosses"}}
        )
        await operator.have("POST", "/contest-actions/cup", {"action": "open"})
        (login,) = await entered(house, "ada")
        token = {"authorization": f"Bearer {login['password']}"}
        gone = await web.request(
            "DELETE", "/contests/noughts-and-crosses/cup", json={"bot": "ada"}, headers=token
        )
        assert gone.json() == {"contest": "cup", "bot": "ada", "entered": False}
        assert (
            "at least 2"
            in (await operator.refused("POST", "/contest-actions/cup", {"action": "start"}))[1]
        )


CREATE = (
    "mutation($toml: String) { createContest(toml: $toml) { name state document awaited "
    "standings { bot noShows } } }"
)
START = 'mutation { actOnContest(name: "cup", action: OPEN) { state log { action author } } }'


async def test_an_organiser_runs_a_contest_over_graphql(tmp_path: Path) -> None:
    async with server(tmp_path) as house, httpx.AsyncClient(base_url=house.url) as web:
        house.desk.workers.start()
        token = {"authorization": f"Bearer {house.new_operator_token}"}
        question = {"query": CREATE, "variables": {"toml": CUP}}
        refused = (await web.post("/graphql", json=question)).json()
        assert "The operator's token is needed" in refused["errors"][0]["message"]
        made = (await web.post("/graphql", json=question, headers=token)).json()["data"][
            "createContest"
        ]
        assert (made["state"], made["document"]["entry"]["password"], made["standings"]) == (
            "draft",
            "...",
            [],
        )
        opened = (await web.post("/graphql", json={"query": START}, headers=token)).json()["data"][
            "actOnContest"
        ]
        assert opened == {
            "state": "open",
            "log": [
                {"action": "open", "author": "operator"},
                {"action": "created", "author": "operator"},
            ],
        }
        login = await registered(house, "ada")
        enter = 'mutation { enterContest(contest: "cup", bot: "ada", password: "sesame") { name } }'
        token = {"authorization": f"Bearer {login['password']}"}
        assert (await web.post("/graphql", json={"query": enter}, headers=token)).json() == {
            "data": {"enterContest": {"name": "cup"}}
        }
        listed = (
            await web.post(
                "/graphql", json={"query": "{ documentedContests { entrants { name owner } } }"}
            )
        ).json()
        assert listed["data"]["documentedContests"] == [
            {"entrants": [{"name": "ada", "owner": "somebody"}]}
        ]


async def test_meetings_of_groups_have_their_numbers(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as house,
        office(house) as operator,
        httpx.AsyncClient(base_url=f"{house.url}/api/v1") as web,
    ):
        document = {
            "name": "cup",
            "game": "noughts-and-crosses",
            "format": "groups",
            "groups": 2,
            "advance": 1,
        }
        await operator.have("POST", "/contests", {"document": document})
        await operator.have("POST", "/contest-actions/cup", {"action": "open"})
        await entered(house, "ada", "bob", "cid", "dan")
        assert (await web.get("/contest-meetings/cup")).json()["meetings"] == []
        await operator.have("POST", "/contest-actions/cup", {"action": "start"})
        meetings = (await web.get("/contest-meetings/cup")).json()["meetings"]
        assert [(one["round"], one["group"], one["place"]) for one in meetings] == [
            (1, 1, None),
            (1, 2, None),
        ]
        bad = await web.get("/contest-meetings/cup?round=one")
        assert (bad.status_code, bad.json()["error"]) == (
            400,
            "round is the number of a round, such as 1, not 'one'",
        )
        assert (await web.get("/contest-meetings/mug")).status_code == 404


async def test_meetings_of_a_bracket_have_their_places(tmp_path: Path) -> None:
    async with server(tmp_path) as house, httpx.AsyncClient(base_url=f"{house.url}/api/v1") as web:
        await open_contest(house, format="double-elimination", best_of=1, games=None)
        await entered(house, "ada", "bob", "cid")
        await house.contests.act("cup", "start", "operator")
        (met,) = (await web.get("/contest-meetings/cup")).json()["meetings"]
        assert (met["bots"], met["winner"]) == (["bob", "cid"], None)
        assert met["place"] == {"side": "winners", "slot": 1, "slots": 2}


async def test_a_document_that_is_no_table_is_refused_in_words(tmp_path: Path) -> None:
    async with server(tmp_path) as house, httpx.AsyncClient(base_url=house.url) as web:
        house.desk.workers.start()
        token = {"authorization": f"Bearer {house.new_operator_token}"}
        for order in (
            "createContest(document: $document)",
            'changeContest(name: "cup", document: $document)',
        ):
            for given in ("name = 'cup'", "", ["cup"]):
                question = {
                    "query": f"mutation($document: JSON) {{ {order} {{ name }} }}",
                    "variables": {"document": given},
                }
                answer = (await web.post("/graphql", json=question, headers=token)).json()
                assert (
                    "the document is a table with keys such as name and game"
                    in answer["errors"][0]["message"]
                )
        body = {"toml": CUP + "[penalties]\nwait = inf\n"}
        refused = await web.post("/api/v1/operator/contests", json=body, headers=token)
        assert (refused.status_code, refused.json()["error"]) == (
            400,
            "line 8: penalties.wait: a finite number, not inf",
        )
