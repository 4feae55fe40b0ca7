"""Screen: what a host sees of its room."""

from typing import Any

from botdrome.server.boats.books import Tally
from botdrome.server.boats.game import BoatGame
from botdrome.server.boats.players import BoatPlayer, PlayerGroup
from botdrome.server.boats.room import BoatRoom
from botdrome.wire.boats.lines import text_of


def shown(room: BoatRoom) -> dict[str, Any]:
    plan = room.plan
    gathering = room.gathering
    return {
        "title": plan.title,
        "min": plan.min,
        "max": plan.max,
        "width": plan.width,
        "height": plan.height,
        "goal": room.offer.goal,
        "boats": list(room.offer.boats.names),
        "autoStart": plan.auto_start,
        "over": room.over,
        "gathering": None if gathering is None else _group(gathering),
        "gathers": None if gathering is None else gathering.number,
        "games": [_game(game) for game in room.games],
        "blacklist": {
            "players": sorted(room.banned_names),
            "addresses": sorted(room.banned_addresses),
        },
    }


def _group(group: PlayerGroup) -> list[dict[str, Any]]:
    return [_player(player) for player in group.players]


def _player(player: BoatPlayer) -> dict[str, Any]:
    return {"name": text_of(player.name), "address": player.address}


def _game(game: BoatGame) -> dict[str, Any]:
    tally, awaited = Tally(game.shown), game.table.match.awaited
    rows = []
    for at, player in enumerate(game.players):
        rows.append(
            _player(player)
            | {
                "status": text_of(game.roster.statuses[at]),
                "toMove": game.roster.started and at in awaited,
                "score": tally.scores[at],
                "skips": tally.skips[at],
                "turns": tally.turns[at],
                "hits": tally.hits[at],
            }
        )
    return {
        "number": game.number,
        "match": game.table.entry.id,
        "squares": game.offer.boats.squares,
        "players": rows,
    }
