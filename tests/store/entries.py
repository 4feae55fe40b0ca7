"""Bots and matches to store."""

from typing import Any

from botdrome.match.events import BoardResult, Cause, Result
from botdrome.store.entries import BotEntry, Finish, MatchEntry
from botdrome.store.store import Store

GAME = "noughts-and-crosses"


def a_bot(name: str, registered: int = 1, **other: Any) -> BotEntry:
    return BotEntry(
        name,
        **{
            "game": GAME,
            "owner": "olga",
            "registered": registered,
            "token_hash": f"{len(name):064x}",
            **other,
        },
    )


def a_match(
    match_id: str, players: tuple[str, ...] = ("ada", "bob"), started: int = 1000, **other: Any
) -> MatchEntry:
    return MatchEntry(match_id, other.pop("game", GAME), players, started, **other)


def a_result(*places: int) -> Result:
    scores = tuple(1 / place for place in places)
    causes: tuple[Cause, ...] = tuple("complete" if place == 1 else "timeout" for place in places)
    return Result(places, scores, causes, (BoardResult(scores, places, causes),))


def an_end(match_id: str, places: tuple[int, ...] = (1, 2), **other: Any) -> Finish:
    flights = tuple(b'{"flight":%d}\n' % player for player in range(len(places)))
    given = {
        "status": "ended",
        "ended": 2000,
        "result": a_result(*places),
        "view": {"board": [[None, "X"]]},
        "record": b'{"botdrome":1}\n' + match_id.encode(),
        "flights": flights,
        **other,
    }
    return Finish(match_id, **given)


async def play(store: Store, match: MatchEntry, *places: int, **other: Any) -> None:
    store.begin(match)
    await store.finish(an_end(match.id, places or (1, 2), **other))
