"""Films over REST: of ended matches, and of uploaded files."""

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest

from botdrome.api import replays
from botdrome.api.replays import FilmLimits, film_of_file
from botdrome.api.requests import Problem, ReadContext
from botdrome.api.rest import matches
from botdrome.api.rest.endpoint import MOST_FILES, TOO_MANY_FILES, RawRequest, RestRequest
from botdrome.catalogue import CATALOGUE
from botdrome.match.events import Began, Played
from botdrome.match.film import FilmFrame, FilmHeader
from botdrome.server.arena import Arena
from botdrome.server.lobby.clients import bot_owner
from botdrome.server.workers.jobs import SharedSlots, WorkersBusy
from botdrome.server.workers.pool import Workers
from botdrome.store.entries import BotEntry, MatchEntry
from botdrome.store.store import Store
from tests.api.tables import NOON, HandTables, entry_of, mark, played_by_the_house, played_noughts
from tests.api.test_answer_cache import CALLER
from tests.golden.test_golden import every_file, file_of
from tests.match.films import views
from tests.server.tables.test_table import running

pytestmark = pytest.mark.anyio

LEFT_COLUMN = [(100, 0, 0), (200, 1, 1), (300, 1, 0), (400, 0, 2), (500, 2, 0)]
FILMS = "/api/v1/films"


def taken_apart(response: httpx.Response) -> tuple[FilmHeader, list[FilmFrame]]:
    assert response.status_code == 200, response.text
    assert response.headers["content-type"] == "application/x-ndjson"
    header, *frames = response.content.splitlines()
    return msgspec.json.decode(header, type=FilmHeader), [
        msgspec.json.decode(line, type=FilmFrame) for line in frames
    ]


def refused(response: httpx.Response) -> tuple[int, str]:
    assert response.headers["content-type"] == "application/json"
    return response.status_code, response.json()["error"]


async def test_a_match_that_is_over_has_a_film(
    http: httpx.AsyncClient, store: Store, arena: Arena
) -> None:
    ann, _ = await arena.register("noughts-and-crosses", "Ann", "Lovelace")
    await arena.register("noughts-and-crosses", "Bob", "Babbage")
    owners = (bot_owner(ann), "")
    await played_noughts(
        store, entry_of("m", "Ann", "Bob", contest="cup", owners=owners), LEFT_COLUMN
    )
    header, frames = taken_apart(await http.get("/api/v1/matches/m/film"))
    assert (header.match, header.contest, header.started) == ("m", "cup", NOON)
    assert [(player.name, player.owner) for player in header.players] == [
        ("Ann", "Lovelace"),
        ("Bob", msgspec.UNSET),
    ]
    assert header.result is not None and header.result.places == (1, 2)
    assert [frame.t for frame in frames] == [0, 100, 200, 300, 400, 500, 500, 500]
    assert list(views(frames))[-1]["board"] == [["X", "", "O"], ["X", "O", ""], ["X", "", ""]]


@pytest.mark.parametrize("game", CATALOGUE)
async def test_a_film_is_packed_for_clients_that_take_it_so(
    http: httpx.AsyncClient, store: Store, game: str
) -> None:
    await played_by_the_house(store, entry_of("m", "Ann", "Bob", game=game))
    plain = await http.get("/api/v1/matches/m/film", headers={"accept-encoding": "identity"})
    packed = await http.get("/api/v1/matches/m/film", headers={"accept-encoding": "br, gzip"})
    assert (
        "content-encoding" not in plain.headers
        and plain.headers["vary"] == packed.headers["vary"] == "accept-encoding"
    )
    assert plain.content == packed.content
    assert (packed.headers.get("content-encoding") == "gzip") == (len(plain.content) >= 2048)


@every_file
async def test_a_match_file_becomes_a_film(
    http: httpx.AsyncClient, name: str, version: int
) -> None:
    response = await http.post(FILMS, content=file_of(name, version).read_bytes())
    header, frames = taken_apart(response)
    assert (header.match, header.game, header.started) == (None, name, None)
    assert frames[-1].event.__struct_config__.tag == "ended"


async def test_matches_without_a_film_say_why(
    http: httpx.AsyncClient, store: Store, tables: HandTables
) -> None:
    tables.open(entry_of("now", "Ann", "Bob"))
    store.begin(entry_of("now", "Ann", "Bob"))
    store.begin(entry_of("lost", "Ann", "Bob"))
    await store.abort_running("the server ended without notice", NOON)
    store.begin(entry_of("live", "Ann", "Bob"))
    assert refused(await http.get("/api/v1/matches/none/film")) == (404, "there is no match 'none'")
    words = "match live is still running: watch it at /watch/live; its film follows when it ends"
    assert refused(await http.get("/api/v1/matches/live/film")) == (409, words)
    words = "match lost has no record, so there is no film of it"
    assert refused(await http.get("/api/v1/matches/lost/film")) == (404, words)


GOMOKU = file_of("gomoku", 2).read_bytes()
LINES = GOMOKU.splitlines(keepends=True)
CANNOT = "the match file cannot be played again: "


def with_setup(**keys: Any) -> bytes:
    """The file with another first line and without its end."""
    return b"".join(
        [msgspec.json.encode(msgspec.json.decode(LINES[0]) | keys) + b"\n", *LINES[1:-2]]
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "line 1: the file is empty"),
        (
            b"\x89PNG\r\n\x1a\n",
            "line 1: this is not a match file of version 1 to 3: its first line is no JSON object",
        ),
        (b"{}\n", "line 1: this is not a match file of version 1 to 3"),
        (GOMOKU[:-9], f"line {len(LINES)}: the file is cut off in this line"),
        (GOMOKU.replace(LINES[4], b"{}\n"), "line 5: Object missing required field"),
        (GOMOKU.replace(LINES[4], b"[" * 100_000 + b"\n"), "line 5: "),
        (
            with_setup(game="chess"),
            "line 1: there is no game 'chess'; there are noughts-and-crosses",
        ),
        (with_setup(options={"size": 4000}), "line 1: gomoku: size: expected `int` <= 25"),
        (with_setup(names=["a"] * 3), "line 1: gomoku is for 2 to 2 players, not 3"),
        (with_setup(rules=99), "line 1: it was played by version 99"),
        (b"".join(LINES[:-2]).replace(b'"by":1', b'"by":9', 1), "line 3: it cannot be played: "),
        (
            b"".join(LINES[:-2]).replace(b'"by":1', b'"by":0', 1),
            "line 3: the news differ from here on",
        ),
    ],
)
async def test_a_broken_file_says_where(http: httpx.AsyncClient, data: bytes, words: str) -> None:
    status, error = refused(await http.post(FILMS, content=data))
    assert status == 422
    assert error.startswith(CANNOT + words)


async def test_a_file_may_be_large_but_not_too_large(http: httpx.AsyncClient) -> None:
    words = "the body of a request may have 8388608 bytes at most"
    assert refused(await http.post(FILMS, content=b"x" * ((8 << 20) + 1))) == (413, words)
    status, error = refused(await http.post(FILMS, content=b'"' + b"x" * (1 << 20) + b'"\n'))
    assert (status, error.startswith(CANNOT + "line 1: ")) == (422, True)


def endless(inputs: int) -> bytes:
    """A small file that is expensive to replay: a cube full of players that never answer."""
    setup: dict[str, Any] = msgspec.json.decode(
        file_of("battlecube", 2).read_bytes().splitlines()[0]
    )
    setup |= {
        "names": [f"p{number}" for number in range(64)],
        "news": "",
        "options": {"edge": 64, "ticks": 1_000_000},
    }
    setup["terms"] |= {"late": "pass", "strikes": None}
    wakes = (
        msgspec.json.encode({"t": 10_000_000 * number, "do": "wake"}) for number in range(1, inputs)
    )
    return b"\n".join([msgspec.json.encode(setup), *wakes, b""])


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        (
            FilmLimits(inputs=50),
            "this match has 1999 inputs, and 50 are the most; `botdrome replay FILE --html",
        ),
        (
            FilmLimits(seconds=0.0),
            "this match takes more than 0 s to play again; `botdrome replay FILE --html",
        ),
        (
            FilmLimits(size=100_000),
            "this match makes a film of more than 100000 bytes; `botdrome replay FILE --html",
        ),
    ],
)
def test_a_hostile_file_is_cut_off(limits: FilmLimits, words: str) -> None:
    with pytest.raises(Problem) as raised:
        film_of_file(endless(2000), limits)
    assert (raised.value.status, raised.value.words.startswith(words)) == (422, True)


async def test_a_worker_that_does_not_get_on_is_killed(
    http: httpx.AsyncClient, arena: Arena
) -> None:
    slow, arena.workers = arena.workers, Workers(1, longest_job=0.001)
    await slow.close()
    words = "This took more than 0.001 seconds and was stopped: ask for less at once."
    assert refused(await http.post(FILMS, content=endless(100_000))) == (503, words)


def test_one_address_has_half_of_the_slots_for_files() -> None:
    files = SharedSlots(MOST_FILES)
    with ExitStack() as held:
        for _ in range(4):
            held.enter_context(files.held("a", TOO_MANY_FILES))
        with pytest.raises(WorkersBusy, match="Too many files are being read already"):
            held.enter_context(files.held("a", TOO_MANY_FILES))
    with files.held("a", TOO_MANY_FILES):
        pass


async def test_a_running_match_is_shown_from_its_start(
    http: httpx.AsyncClient, store: Store, arena: Arena, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    store.begin(entry_of("m", "ada", "bob"))
    assert refused(await http.get("/api/v1/matches/m/past"))[0] == 409
    async with running(tmp_path / "other", "noughts-and-crosses") as (table, _, _):
        arena.desk.tables._tables["m"] = table
        table.submit(1, mark(1, 0, 0), b"{}")
        table.submit(0, mark(0, 0, 0), b"{}")
        header, frames = taken_apart(await http.get("/api/v1/matches/m/past"))
        del arena.desk.tables._tables["m"]
    assert (header.match, header.result) == ("m", None)
    assert [type(frame.event) for frame in frames] == [Began, Played], "refused moves are private"
    assert list(views(frames))[-1]["board"][0][0] == "X"
    assert (await http.get("/api/v1/matches/none/past")).status_code == 404


async def test_the_past_of_a_match_is_replayed_once_until_it_goes_on(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    def counted(entry: MatchEntry, owners: list[str | None], data: bytes) -> bytes:
        made.append(data.count(b"\n"))
        return replays.film_so_far(entry, owners, data)

    async def asked() -> bytes:
        request = RestRequest(RawRequest("past", "", {"id": "m"}, ""), ())
        return await matches.past(context, request)

    monkeypatch.setattr(matches, "film_so_far", counted)
    (tmp_path / "other").mkdir()
    store.begin(entry_of("m", "ada", "bob"))
    async with running(tmp_path / "other", "noughts-and-crosses") as (table, _, _):

        async def look(_function: object, _match: str, first: int) -> list[bytes] | None:
            return table.past(first)

        context = ReadContext(CALLER, store)
        monkeypatch.setattr(context, "call", look)
        first = await asked()
        assert (await asked(), made) == (first, [1])
        table.submit(0, mark(0, 0, 0), b"{}")
        later = await asked()
        assert (await asked(), made) == (later, [1, 2]) and later != first
        await store.register(BotEntry("ada", "noughts-and-crosses", "me", 0, None))
        assert b'"me"' in await asked()
        monkeypatch.setattr(matches, "ROOM", 10)
        assert await asked() == await asked() and made == [1, 2, 2, 2], "there is no room for it"
