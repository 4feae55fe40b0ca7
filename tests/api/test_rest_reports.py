"""REST for pages: ratings, contests, the search, and the server itself."""

from typing import Any

import httpx
import msgspec
import pytest

from botdrome.api.app import WARM_UP
from botdrome.catalogue import CATALOGUE
from botdrome.contest.document import document_from
from botdrome.contest.formats.format import Entrant, FixtureResult
from botdrome.contest.lobby import Seeker, Wish
from botdrome.contest.progress import ContestProgress
from botdrome.server.arena import Arena, ServerAddresses
from botdrome.server.lobby.desk import Unplayed
from botdrome.server.rooms.duel import BOARDS, DuelBoard, board_name
from botdrome.store.contest_journal import ContestJournal
from botdrome.store.entries import BotEntry, ContestResult, Note
from botdrome.store.store import Store
from tests.api.tables import NOON, entry_of
from tests.api.test_rest import error, get
from tests.store.entries import an_end

pytestmark = pytest.mark.anyio
GAME = "gomoku"


async def register(store: Store, *names: str, registered: int = NOON) -> None:
    for name in names:
        await store.register(BotEntry(name, GAME, f"owner of {name}", registered, None))


async def play(
    store: Store, match_id: str, players: str, places: tuple[int, ...], **rest: Any
) -> None:
    entry = entry_of(match_id, *players.split(), game=GAME, **rest)
    store.begin(entry)
    await store.finish(an_end(match_id, places, view=None))


def names(page: dict[str, Any]) -> str:
    return " ".join(line["name"] for line in page["bots"])


# Ratings.


async def test_a_leaderboard_counts_matches_between_registered_bots_and_the_house(
    http: httpx.AsyncClient, store: Store
) -> None:
    await register(store, "ada", "bob", "idle")
    await register(store, "late", registered=NOON + 50)
    for number in range(4):
        await play(store, f"m{number}", "ada bob", (1, 2))
    await play(store, "draw", "bob house:best", (1, 1))
    await play(store, "guest", "ada guest", (2, 1))
    await play(store, "not yet registered", "ada late", (2, 1))
    board = await get(http, f"games/{GAME}/leaderboard")
    assert (names(board), board["total"], board["matches"]) == (
        "ada bob house:best idle late",
        5,
        5,
    )
    ada, bob, house, idle, _ = board["bots"]
    assert (ada["place"], ada["games"], ada["wins"], ada["owner"], ada["house"]) == (
        None,
        4,
        4,
        "owner of ada",
        False,
    )
    assert ada["provisional"] and not house["fixed"]
    assert ada["low"] < ada["rating"] < ada["high"] and ada["rating"] > bob["rating"]
    assert (bob["wins"], bob["draws"], bob["losses"]) == (0, 1, 4)
    assert house["house"] and house["low"] is None
    assert (idle["place"], idle["rating"], idle["games"], idle["group"]) == (None, None, 0, None)
    assert board["rated"].endswith("Z")


async def test_a_leaderboard_is_sorted_and_paged(http: httpx.AsyncClient, store: Store) -> None:
    await register(store, "ada", "bob", "cid")
    await play(store, "a", "ada bob", (1, 2))
    await play(store, "b", "ada cid", (1, 2))
    assert names(await get(http, f"games/{GAME}/leaderboard", sort="-name", limit=2)) == "cid bob"
    assert names(await get(http, f"games/{GAME}/leaderboard", sort="games", offset=2)) == "ada"
    assert names(await get(http, f"games/{GAME}/leaderboard", sort="rating", limit=1)) in (
        "bob",
        "cid",
    )
    status, words = await error(http, f"games/{GAME}/leaderboard?sort=colour")
    assert status == 400 and words.startswith("sort is one of rating, -rating, name, ")
    assert (await error(http, "games/chess/leaderboard"))[0] == 404


async def test_a_leaderboard_goes_on_with_matches_that_end_later(
    http: httpx.AsyncClient, store: Store
) -> None:
    await register(store, "ada", "bob")
    store.begin(entry_of("long", "ada", "bob", game=GAME))
    await play(store, "short", "ada bob", (1, 2))
    assert (await get(http, f"games/{GAME}/leaderboard"))["matches"] == 1
    await store.finish(an_end("long", (2, 1), view=None))
    await play(store, "next", "ada bob", (1, 2))
    for _ in range(2):
        board = await get(http, f"games/{GAME}/leaderboard")
        assert (board["matches"], board["bots"][0]["games"]) == (3, 3)


async def test_each_table_size_has_ratings_of_its_own(
    http: httpx.AsyncClient, store: Store
) -> None:
    await register(store, "ada", "bob", "cid")
    for number in range(60):
        await play(store, f"m{number}", "ada bob cid house:best house:best", (1, 2, 2, 4, 5))
    await play(store, "two", "bob ada", (1, 2))
    board = await get(http, f"games/{GAME}/leaderboard")
    assert (board["players"], board["sizes"], board["matches"], names(board)) == (
        5,
        [5, 2],
        60,
        "ada bob cid house:best",
    )
    ada, bob, *_ = board["bots"]
    assert ada["low"] < ada["rating"] < ada["high"] and 0.5 < ada["beatsNext"] < 1
    assert bob["beatsNext"] == pytest.approx(0.5) and board["bots"][3]["beatsNext"] is None
    two = await get(http, f"games/{GAME}/leaderboard", players=2)
    assert (two["players"], two["matches"], names(two)) == (2, 1, "bob ada cid")
    assert (await get(http, f"games/{GAME}/leaderboard", players=3))["matches"] == 0
    profile = await get(http, "profiles/ada")
    assert (profile["players"], profile["sizes"], profile["rating"]["games"]) == (5, [5, 2], 60)
    assert profile["history"][-1]["rating"] == pytest.approx(ada["rating"], abs=0.1)
    assert [point["low"] is None for point in profile["history"][:3]] == [True, False, False]
    assert (await get(http, "profiles/ada", players=2))["rating"]["losses"] == 1
    assert await error(http, "profiles/ada?players=1") == (
        400,
        "players is a number from 2 to 1000, not '1'",
    )


async def test_a_bot_in_full(http: httpx.AsyncClient, store: Store) -> None:
    await register(store, "ada", "bob")
    for number in range(250):
        await play(
            store, f"m{number}", "ada bob", (1, 2) if number % 3 else (2, 1), started=NOON + number
        )
    await play(store, "guests", "ada guest", (1, 2), started=NOON - 5)
    profile = await get(http, "profiles/ada")
    assert (profile["name"], profile["bot"]["owner"], profile["matches"]) == (
        "ada",
        "owner of ada",
        251,
    )
    history = profile["history"]
    assert len(history) <= 100 and history[-1]["games"] == 250
    assert history[-1]["rating"] == pytest.approx(profile["rating"]["rating"], abs=0.1)
    assert history[0]["high"] - history[0]["low"] > history[-1]["high"] - history[-1]["low"]
    assert profile["causes"] == {"complete": 166, "timeout": 84}
    assert (await get(http, "opponents/ada"))["opponents"] == [
        {
            "name": "bob",
            "games": 250,
            "wins": 166,
            "draws": 0,
            "losses": 84,
            "last": "2026-11-14T23:46:40.249Z",
        }
    ]
    guest = await get(http, "profiles/guest")
    assert (guest["bot"], guest["rating"], guest["history"], guest["matches"]) == (
        None,
        None,
        [],
        1,
    )
    assert await error(http, "profiles/nobody") == (
        404,
        "there is no bot 'nobody', and no player of that name",
    )
    assert (await get(http, "opponents/nobody"))["total"] == 0


# Matches and contests.


async def test_matches_by_winner_and_date(http: httpx.AsyncClient, store: Store) -> None:
    day = 24 * 3600 * 1000
    await play(store, "old", "ada bob", (1, 2), started=NOON - 2 * day)
    await play(store, "new", "ada bob", (1, 2), started=NOON)
    await play(store, "other", "ada bob", (2, 1), started=NOON + 1)

    async def found(**params: str) -> list[str]:
        return [match["id"] for match in (await get(http, "matches", **params))["matches"]]

    assert await found(winner="ada") == ["new", "old"]
    assert await found(sort="started") == ["old", "new", "other"]
    assert await found(since="2026-11-14") == ["other", "new"]
    assert await found(until="2026-11-14T23:46:40.001Z", since="2026-11-14T23:00:00") == ["new"]
    words = "since is a date or a moment as in ISO 8601, such as 2026-11-15T02:27:15Z, not 'monday'"
    assert await error(http, "matches?since=monday") == (400, words)


async def test_a_contest_tells_how_much_of_it_is_played(
    http: httpx.AsyncClient, store: Store
) -> None:
    await play(store, "a", "ada bob", (1, 2), contest="cup")
    await play(store, "b", "bob cid", (1, 1), contest="cup")
    store.begin(entry_of("c", "ada", "cid", game=GAME, contest="cup"))
    cup = await get(http, f"contests/{GAME}/cup")
    assert (cup["matches"], cup["running"], cup["planned"]) == (2, 1, 30)
    assert [rank["bot"] for rank in cup["rankings"]] == ["ada", "cid", "bob"]
    page = await get(http, f"standings/{GAME}/cup", sort="-bot", limit=2)
    assert ([(one["bot"], one["place"]) for one in page["bots"]], page["total"]) == (
        [("cid", 2), ("bob", 3)],
        3,
    )
    table = await get(http, f"crosstables/{GAME}/cup")
    assert table == {
        "bots": ["ada", "cid", "bob"],
        "total": 3,
        "rows": [[None, None, [1, 0, 0]], [None, None, [0, 1, 0]], [[0, 0, 1], [0, 1, 0], None]],
    }
    assert await error(http, f"crosstables/{GAME}/none") == (
        404,
        f"there are no matches in a contest 'none' of {GAME}",
    )
    listed = await get(http, "contests", sort="-matches", game=GAME)
    assert [(one["game"], one["name"], one["matches"]) for one in listed["contests"]] == [
        (GAME, "cup", 3)
    ]


async def test_a_contest_with_a_document_has_one_order_everywhere(
    http: httpx.AsyncClient, store: Store
) -> None:
    """By 3 points for a win, dan, who lost a semi-final, would be ahead of bob, who
    lost the final.
    """
    journal = ContestJournal(store)
    document = document_from({"name": "cup", "game": GAME, "format": "knockout", "best_of": 3})
    await journal.create(
        document, "olga", [Entrant(name) for name in ("ada", "bob", "cid", "dan", "eve")]
    )
    await journal.change_state("cup", "running", "olga")
    progress = ContestProgress(document, await journal.entrants("cup"), {})
    while progress.open:
        fixture = next(iter(progress.open.values()))
        best = (
            min(fixture.entrants)
            if fixture.round > 2 or fixture.key.endswith(("1", "3"))
            else max(fixture.entrants)
        )
        result = FixtureResult(
            tuple(1 if number == best else 2 for number in fixture.entrants),
            match=f"m{fixture.key}",
        )
        names = " ".join(progress.entrants[number].name for number in fixture.entrants)
        await play(store, result.match, names, result.places, contest="cup")
        await store.keep([ContestResult("cup", fixture.key, result)])
        progress.add(fixture.key, result)
    official = (await get(http, "contest-documents/cup"))["standings"]
    order = [(line["bot"], line["place"], line["score"], line["note"]) for line in official]
    assert [one[0] for one in order][:2] == ["ada", "bob"] and order[1][3] == "lost the final"
    wins = {line["bot"]: line["wins"] for line in official}
    assert wins["dan"] > wins["bob"]
    page = await get(http, f"standings/{GAME}/cup")
    assert [
        (line["bot"], line["place"], line["score"], line["note"]) for line in page["bots"]
    ] == order
    cup = await get(http, f"contests/{GAME}/cup")
    assert [line["bot"] for line in cup["rankings"]] == [one[0] for one in order]
    assert cup["planned"] == cup["matches"] == len(progress.results)
    assert (await get(http, f"crosstables/{GAME}/cup"))["bots"] == [one[0] for one in order]
    question = {"query": '{ contest(gameType: GOMOKU, name: "cup") { rankings { bot { name } } } }'}
    answer = (await http.post("/graphql", json=question)).json()
    assert [line["bot"]["name"] for line in answer["data"]["contest"]["rankings"]] == [
        one[0] for one in order
    ]


async def test_the_standings_of_a_contest_say_how_many_games_were_distinct(
    http: httpx.AsyncClient, store: Store
) -> None:
    journal = ContestJournal(store)
    document = document_from({"name": "cup", "game": GAME, "games": 8})
    await journal.create(document, "olga", [Entrant("ada"), Entrant("bob")])
    before = await get(http, "contest-documents/cup")
    assert (before["distinctGames"], before["repeated"]) == (0, "")
    await journal.change_state("cup", "running", "olga")
    fixtures = ContestProgress(document, await journal.entrants("cup"), {}).open.values()
    repeated = [FixtureResult((1, 2), fingerprint=1 + fixture.entrants[0]) for fixture in fixtures]
    await store.keep(
        [
            ContestResult("cup", fixture.key, one)
            for fixture, one in zip(fixtures, repeated, strict=True)
        ]
    )
    shown = await get(http, "contest-documents/cup")
    assert (shown["distinctGames"], shown["repeated"]) == (
        2,
        "2 distinct games in 8: the interval counts 1 of 4 blocks.",
    )
    assert shown["standings"][0]["margin"] is None
    question = {"query": '{ documentedContest(name: "cup") { distinctGames repeated } }'}
    answer = (await http.post("/graphql", json=question)).json()
    assert answer["data"]["documentedContest"] == {
        "distinctGames": 2,
        "repeated": shown["repeated"],
    }


# The hall.


@pytest.mark.parametrize("game", CATALOGUE)
async def test_a_game_with_a_position_by_example(http: httpx.AsyncClient, game: str) -> None:
    found = await get(http, f"games/{game}")
    sample = found["sample"]
    assert (found["name"], sample["public"]["you"], sample["view"]["you"]) == (
        game,
        None,
        sample["seat"],
    )
    assert len(sample["players"]) >= 2 and sample["move"]


async def test_search(http: httpx.AsyncClient, store: Store) -> None:
    await register(store, "Ada")
    await play(store, "adf00", "Ada ada%", (1, 2), contest="ad hoc")
    assert await get(http, "search", q=" ad ") == {
        "bots": ["Ada"], "players": ["ada%"], "contests": [{"game": GAME, "name": "ad hoc"}],
        "matches": ["adf00"],
    }  # fmt: skip
    assert (await get(http, "search", q="a\u1fff%'\"_"))["bots"] == []
    assert await error(http, "search?q=%20") == (
        400,
        "q is a text of 1 to 100 characters, not one of 0",
    )
    assert (await error(http, "search?q=" + "x" * 101))[0] == 400


async def test_what_comes_next_and_where_the_server_is(
    http: httpx.AsyncClient, arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await get(http, "next") == {"waiting": [], "unplayed": []}
    seekers = [Seeker(1, "ada", Wish(GAME, contest="cup"), opponent="bob")]
    unplayed = [Unplayed(GAME, "cup", ("ada", "bob"), 3)]
    monkeypatch.setattr(arena.desk, "seekers", lambda most: seekers[:most])
    monkeypatch.setattr(arena.desk, "unplayed", lambda most: unplayed[:most])
    ports = {"http": 443, "duel": 5232}
    arena.addresses = ServerAddresses(
        "https://bots.example.org", True, ports, True, "https://10.0.0.9:443"
    )
    assert await get(http, "next") == {
        "waiting": [
            {"name": "ada", "game": GAME, "contest": "cup", "players": 2, "opponent": "bob"}
        ],
        "unplayed": [{"game": GAME, "contest": "cup", "players": ["ada", "bob"], "left": 3}],
    }
    server = await get(http, "server")
    assert server.pop("version")
    assert server == {
        "url": "https://bots.example.org",
        "tls": True,
        "ports": {"http": 443, "duel": 5232},
        "house": True,
        "networkUrl": "https://10.0.0.9:443",
        "uploads": {
            "allowed": "off",
            "daily": 20,
            "limits": {"packed": 4 << 20, "unpacked": 16 << 20, "files": 500},
        },
    }


async def test_boards_of_duel_arena_by_their_numbers(http: httpx.AsyncClient, store: Store) -> None:
    boards = [
        DuelBoard(9 + n, f"m{n // 2}", "ada", "bob", 1200, 1200, NOON, NOON + 1, 5, "ada")
        for n in range(3)
    ]
    await store.keep(
        [Note(BOARDS, board_name(board.id), msgspec.to_builtins(board)) for board in boards]
    )
    page = await get(http, "duel/boards", limit=2)
    assert ([board["id"] for board in page["boards"]], page["total"]) == ([11, 10], 3)
    found = await get(http, "duel/boards/10")
    assert (found["number"], found["board"]["match"], found["board"]["winner"]) == (1, "m0", "ada")
    assert (await get(http, "duel/boards/11"))["number"] == 0
    assert (await error(http, "duel/boards/12"))[0] == 404


async def test_workers_are_prepared_before_the_first_visitor(arena: Arena) -> None:
    arena.workers.start(WARM_UP, arena.store.source)
    for module in (
        "botdrome.api.rest.routes",
        "botdrome.api.graphql.executor",
        "botdrome.api.replays",
    ):
        assert await arena.workers.value("", "tests.server.workers.chores:has_read", module)
    assert await arena.workers.value("", "tests.server.workers.chores:has_open", arena.store.source)
