"""Evaluations and continuations of matches over REST."""

import asyncio
from typing import Any

import httpx
import msgspec
import pytest
from msgspec.structs import replace

from botdrome.analysis.evaluation import MOST_INPUTS, VERSION, Evaluation, Turn
from botdrome.api.requests import Problem
from botdrome.api.rest.analysis import (
    LARGEST_RECORD,
    MOST_MOVES,
    TOO_MANY,
    Continue,
    Evaluations,
    continued,
    unfit,
)
from botdrome.catalogue import CATALOGUE
from botdrome.match.events import Result
from botdrome.match.film import FilmFrame
from botdrome.server.arena import Arena
from botdrome.server.workers.jobs import WorkersBusy
from botdrome.store.entries import Finish, StoreUnavailable
from botdrome.store.store import Store
from tests.api.tables import HandTables, entry_of, played_by_the_house, played_noughts
from tests.match.films import views

pytestmark = pytest.mark.anyio

LEFT_COLUMN = [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)]
PATH = "/api/v1/matches/m/evaluation"
ENDED = Result((1, 2), (1, 0), ("complete", "complete"), ())
TURN = Turn(
    3,
    1,
    -0.5,
    "played mark O, space [0,2], and its chance to win fell from 50 % to 0 %; mark O, space [2,0] "
    "would have kept 50 %",
)


def refused(response: httpx.Response) -> tuple[int, str]:
    return response.status_code, response.json()["error"]


async def test_a_match_is_evaluated_once_and_then_read(
    http: httpx.AsyncClient, store: Store, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    await played_noughts(store, entry_of("m", "Ann", "Bob"), LEFT_COLUMN)
    assert (await http.get(PATH)).json() == {"evaluation": None}
    first, second = await asyncio.gather(http.post(PATH), http.post(PATH))
    assert first.status_code == 200 and first.content == second.content
    found = msgspec.convert(first.json()["evaluation"], Evaluation)
    assert (found.steps, found.turns) == ((0, 1, 2, 3, 4, 5), (TURN,))
    assert [shares[0] for shares in found.shares] == [0.5, 0.5, 0.5, 0.5, 1, 1]
    monkeypatch.setattr(arena.workers, "run", None)
    assert (await http.post(PATH)).content == first.content
    monkeypatch.undo()
    assert (await http.get(PATH)).content == first.content


async def test_an_evaluation_of_another_version_is_made_again(
    http: httpx.AsyncClient, store: Store
) -> None:
    await played_noughts(store, entry_of("m", "Ann", "Bob"), LEFT_COLUMN)
    await store.keep_evaluation("m", VERSION - 1, b"not for this version")
    assert (await http.get(PATH)).json() == {"evaluation": None}
    assert (await http.post(PATH)).status_code == 200
    assert (await http.get(PATH)).json()["evaluation"]["turns"][0]["step"] == 3


async def test_an_evaluation_is_told_if_it_cannot_be_stored(
    http: httpx.AsyncClient, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(*_: object) -> None:
        raise StoreUnavailable("away")

    await played_noughts(store, entry_of("m", "Ann", "Bob"), LEFT_COLUMN)
    monkeypatch.setattr(store, "keep_evaluation", away)
    assert (await http.post(PATH)).status_code == 200


async def test_matches_that_cannot_be_evaluated_say_why(
    http: httpx.AsyncClient, store: Store
) -> None:
    for method in (http.get, http.post):
        assert refused(await method("/api/v1/matches/none/evaluation")) == (
            404,
            "there is no match 'none'",
        )
    store.begin(entry_of("m", "Ann", "Bob"))
    assert refused(await http.post(PATH))[0] == 409
    await store.abort(["m"], "the server stopped", 5)
    assert refused(await http.post(PATH)) == (404, "match m has no record")
    store.begin(entry_of("bad", "Ann", "Bob"))
    await store.finish(Finish("bad", "ended", 5, ENDED, {}, b"not a match file"))
    status, words = refused(await http.post("/api/v1/matches/bad/evaluation"))
    assert (status, words.partition(":")[0]) == (500, "match bad is broken")


def test_long_matches_are_not_evaluated() -> None:
    entry = replace(entry_of("m", "Ann", "Bob"), result=ENDED)
    assert unfit(entry, b"\n" * MOST_INPUTS) == ""
    assert unfit(entry, b"\n" * (MOST_INPUTS + 1)) == f"it has more than {MOST_INPUTS} inputs"
    assert unfit(entry, b"x" * (LARGEST_RECORD + 1)) == "its file has more than 2 MiB"
    assert unfit(replace(entry, players=("Ann",)), b"") == "it has one player"
    assert unfit(replace(entry, result=None), b"") == "it was aborted"


async def test_one_client_cannot_have_all_evaluations(
    arena: Arena, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first of them wait until the test lets them go."""
    evaluations, gate = Evaluations(arena), asyncio.Event()

    async def waits(_: object, match_id: str) -> Evaluation:
        await gate.wait()
        return Evaluation((), (), (), match_id)

    monkeypatch.setattr(evaluations, "_evaluate", waits)
    waiting = [asyncio.create_task(evaluations.of(f"m{number}")) for number in range(4)]
    await asyncio.sleep(0)
    with pytest.raises(WorkersBusy, match=TOO_MANY):
        await evaluations.of("m4")
    waiting[0].cancel()
    again = asyncio.create_task(evaluations.of("m0"))
    await asyncio.sleep(0)
    gate.set()
    assert (await again).method == "m0"
    assert [(await task).method for task in waiting[1:]] == ["m1", "m2", "m3"]
    assert (await evaluations.of("m4")).method == "m4"


async def continue_from(
    http: httpx.AsyncClient, step: int, seat: int | None = None, moves: Any = ()
) -> httpx.Response:
    body = {"step": step, "seat": seat, "moves": moves}
    return await http.post("/api/v1/matches/m/continuation", json=body)


def last_event(film: str) -> Any:
    return msgspec.json.decode(film.splitlines()[-1])["event"]


@pytest.mark.parametrize("game", CATALOGUE)
async def test_house_bots_play_on(http: httpx.AsyncClient, store: Store, game: str) -> None:
    await played_by_the_house(store, entry_of("m", "Ann", "Bob", game=game))
    first, second = await continue_from(http, 1), await continue_from(http, 1)
    assert first.status_code == 200 and first.content == second.content
    answer = first.json()
    assert answer["view"] is None and last_event(answer["film"])["event"] == "ended"
    person = (await continue_from(http, 1, 0)).json()
    assert person["view"]["you"] == 0 or last_event(person["film"])["event"] == "ended"


async def test_a_person_plays_on(http: httpx.AsyncClient, store: Store) -> None:
    """Bob lost by his last move; after another one Ann does not win at once."""
    await played_noughts(store, entry_of("m", "Ann", "Bob"), LEFT_COLUMN)
    asked = (await continue_from(http, 3, 1)).json()
    assert asked["view"]["board"] == [["X", "", ""], ["X", "O", ""], ["", "", ""]]
    header, *lines = asked["film"].splitlines()
    assert [one["name"] for one in msgspec.json.decode(header)["players"]] == [
        "Ann (house:perfect)",
        "Bob (you)",
    ]
    frames = [msgspec.json.decode(line, type=FilmFrame) for line in lines]
    assert list(views(frames))[-1]["board"] == asked["view"]["board"]
    moved = (await continue_from(http, 3, 1, [{"mark": "O", "space": [2, 0]}])).json()
    assert sum(row.count("O") for row in moved["view"]["board"]) == 2
    assert sum(row.count("X") for row in moved["view"]["board"]) == 3
    status, words = refused(await continue_from(http, 3, 1, [{"mark": "O", "space": [0, 0]}]))
    assert status == 422 and "taken" in words


async def test_continuations_that_cannot_be(
    http: httpx.AsyncClient, store: Store, tables: HandTables
) -> None:
    await played_noughts(store, entry_of("m", "Ann", "Bob"), LEFT_COLUMN)
    assert refused(await continue_from(http, 5)) == (
        422,
        "there is no step 5 to continue from; the match has steps 0 to 4",
    )
    assert refused(await continue_from(http, 1, 2)) == (422, "match m has the seats 0 to 1")
    assert refused(await continue_from(http, 1, 0, [0] * (MOST_MOVES + 1)))[0] == 422
    path = "/api/v1/matches/m/continuation"
    assert refused(await http.post(path, content=b"{"))[0] == 400
    assert refused(await http.post(path, json={"step": 1, "bot": "mine"}))[0] == 400
    store.begin(entry_of("running", "Ann", "Bob"))
    running = await http.post("/api/v1/matches/running/continuation", json={"step": 0})
    assert refused(running)[0] == 409


async def test_a_long_continuation_is_given_up(store: Store) -> None:
    await played_noughts(store, entry_of("m", "Ann", "Bob"), LEFT_COLUMN)
    record = await store.record("m")
    assert record is not None
    with pytest.raises(Problem, match="takes more than 10 s"):
        continued(record, Continue(1), 0.0)
