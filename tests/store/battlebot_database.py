"""A small Battlebot database, as mongoexport writes it."""

import json
from typing import Any

PASSWORD = "a8831f4c15a48adf38219c3828b385f0d6427b5c5c3fe4bfdfb9c279bc79c438"
START = 1_502_042_643_123
"""2017-08-06T18:04:03.123Z"""


def bot(name: str, game_type: str = "NOUGHTS_AND_CROSSES", **changes: Any) -> dict[str, Any]:
    return {
        "_id": {"$oid": "598758d3f36d2873f6b1a5c1"},
        "gameType": game_type,
        "name": name,
        "password": PASSWORD,
        "owner": "David",
        "dateRegistered": {"$date": "2017-08-06T18:04:03.123Z"},
    } | changes


def turn(name: str, mark: str, row: int, column: int, after: int, **more: Any) -> dict[str, Any]:
    return {
        "mark": mark,
        "space": [row, column],
        **more,
        "name": name,
        "time": {"$numberLong": str(START + after)},
    }


LEFT_COLUMN = [
    turn("Ada", "X", 0, 0, 120),
    turn("Bob", "O", 0, 1, 140, comment="hi"),
    turn("Ada", "X", 1, 0, 200),
]
LEFT_COLUMN += [turn("Bob", "O", 1, 1, 250), turn("Ada", "X", 2, 0, 300)]


def noughts(
    match_id: str, reason: str = "complete", victor: str | None = "Ada", **changes: Any
) -> dict[str, Any]:
    """Ada takes the left column."""
    return {
        "_id": match_id,
        "gameType": "NOUGHTS_AND_CROSSES",
        "startTime": {"$date": {"$numberLong": str(START)}},
        "bots": ["Ada", "Bob"],
        "board": [["X", "O", ""], ["X", "O", ""], ["X", "", ""]],
        "marks": {"X": "Ada", "O": "Bob"},
        "result": {"reason": reason, "victor": victor},
        "invalidTurns": {"Ada": 0, "Bob": {"$numberInt": "1"}},
        "turns": LEFT_COLUMN,
    } | changes


def cut_short(match_id: str, reason: str, victor: str, **changes: Any) -> dict[str, Any]:
    """It ended after the second turn."""
    board = [["X", "O", ""], ["", "", ""], ["", "", ""]]
    return noughts(match_id, reason, victor, turns=LEFT_COLUMN[:2], board=board) | changes


def bumblebots(
    match_id: str, reason: str = "BUMBLEBOTS_FULL_TIME", victor: str | None = "Bea", **changes: Any
) -> dict[str, Any]:
    return {
        "_id": match_id,
        "gameType": "BUMBLEBOTS",
        "startTime": "Sun Aug 06 2017 19:04:03 GMT+0100 (GMT Daylight Time)",
        "bots": ["Abe", "Bea"],
        "spawnPoints": {"Abe": [[1, 3]], "Bea": [[13, 11]]},
        "territory": {"Abe": 5, "Bea": 6},
        "maxDrones": 3,
        "board": [[1, 1], [None, 1]],
        "drones": {"Abe": {"KindAnn": {"position": [1, 3]}}, "Bea": {}},
        "score": {"Abe": 2, "Bea": {"$numberInt": "5"}},
        "result": {"victor": victor, "reason": reason},
        "turns": [{"turnNumber": 1, "board": []}, {"turnNumber": 2, "board": []}],
    } | changes


def lines(*documents: Any) -> bytes:
    return b"".join(json.dumps(document).encode() + b"\n" for document in documents)


def array(*documents: Any) -> bytes:
    return b"[" + b",".join(json.dumps(document).encode() for document in documents) + b"]\n"


def pretty(*documents: Any) -> bytes:
    return (
        b"["
        + b",\n".join(json.dumps(document, indent="\t").encode() for document in documents)
        + b"\n]\n"
    )
