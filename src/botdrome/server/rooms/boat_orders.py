"""The host's commands in its room, and its view of the room."""

from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import Any, cast

from botdrome.games.battleship import Battleship
from botdrome.server.rooms.boat_game import BoatGame, PlayerGroup, RoomPlayer
from botdrome.server.rooms.boat_room import BoatRoom
from botdrome.server.rooms.boat_statistics import tally_of
from botdrome.wire.boats.conversation import Kicked
from botdrome.wire.boats.lines import BLANKS, BOOTED, plain, player_called, text_of

Order = dict[str, Any]

LISTED = 10
"""Most games that one answer lists."""


class BadOrder(Exception):
    """An order that cannot be executed, with the reason."""


def carry_out(order: Order, room: BoatRoom) -> str:
    """Execute an order and say what was done, or raise BadOrder."""
    act = ORDERS.get(_text(order, "do"))
    if act is None:
        raise BadOrder(f"an order is one of {', '.join(ORDERS)}")
    return act(order, room)


def _start(_: Order, room: BoatRoom) -> str:
    if refusal := room.desk.refusal:
        raise BadOrder(refusal)
    game = room.start()
    if game is None:
        joined = len(room.gathering.players) if room.gathering else 0
        raise BadOrder(
            f"{joined} have joined; a game is for {room.settings.min} to {room.settings.max}"
        )
    return f"started: {', '.join(text_of(name) for name in game.roster.names)}"


def _message(order: Order, room: BoatRoom) -> str:
    text = plain(_text(order, "text"))
    if not text:
        raise BadOrder("there is no text")
    if not order.get("to"):
        for group in _groups(order, room):
            group.announce(text)
        return "said to all in that game" if "game" in order else "said to all"
    group, player = _player_in(order, "to", room)
    group.announce(text, player)
    return f"said to {text_of(player.name)}"


def _boot(order: Order, room: BoatRoom) -> str:
    _, player = _player_in(order, "player", room)
    _disconnect(player)
    return f"{text_of(player.name)} is booted"


def _disconnect(player: RoomPlayer) -> None:
    if player.session is None:
        raise BadOrder(f"{text_of(player.name)} has no connection of this protocol to close")
    player.session.answer(Kicked(BOOTED, BOOTED))


def _ban_player(order: Order, room: BoatRoom) -> str:
    """Ban a player by its exact name, whether it is connected or not."""
    name = _text(order, "player").strip(BLANKS)
    if not name:
        raise BadOrder("there is no name")
    room.banned_names.add(name)
    for player in [
        player for group in room.groups for player in _named(name, group) if player.session
    ]:
        _disconnect(player)
    room.changed()
    return f"{name} is on the blacklist"


def _ban_address(order: Order, room: BoatRoom) -> str:
    words = _text(order, "address").strip()
    if not words:
        raise BadOrder("there is no address")
    try:
        address = str(ip_address(words))
    except ValueError:
        raise BadOrder(f"{words!r} is not an address like 192.0.2.7") from None
    room.banned_addresses.add(address)
    for player in [player for group in room.groups for player in group.from_address(address)]:
        _disconnect(player)
    room.changed()
    return f"{address} is on the blacklist"


def _clear(_: Order, room: BoatRoom) -> str:
    room.banned_names.clear()
    room.banned_addresses.clear()
    room.changed()
    return "the blacklist is empty"


def _skip(order: Order, room: BoatRoom) -> str:
    reason = plain(_text(order, "reason"))
    if not reason:
        raise BadOrder("a skip has a reason")
    name = _game(order, room).skip_turn(reason)
    if not name:
        raise BadOrder("it is nobody's turn")
    return f"the turn of {text_of(name)} is skipped"


def _abort(order: Order, room: BoatRoom) -> str:
    _game(order, room).abort()
    return "aborted"


def _quit(_: Order, room: BoatRoom) -> str:
    """Abort all games and close the room."""
    room.close()
    for game in list(room.games):
        game.abort()
    return "the room is closed"


ORDERS: dict[str, Callable[[Order, BoatRoom], str]] = {
    "start": _start, "message": _message, "boot": _boot, "blacklist player": _ban_player,
    "blacklist address": _ban_address, "clear": _clear, "skip": _skip, "abort": _abort,
    "quit": _quit,
}  # fmt: skip


def _text(order: Order, key: str) -> str:
    value = order.get(key, "")
    if not isinstance(value, str):
        raise BadOrder(f"{key} is text")
    return value


def _game(order: Order, room: BoatRoom) -> BoatGame:
    """Find a running game by its number, which may be left out if there is only one."""
    if not room.games:
        raise BadOrder("no game runs")
    if "game" not in order and len(room.games) == 1:
        return room.games[0]
    game = next((game for game in room.games if _is_number_of(game, order)), None)
    if game is None:
        raise BadOrder(f"which game? {_listed(room.games)}")
    return game


def _is_number_of(group: PlayerGroup, order: Order) -> bool:
    number = order.get("game")
    return type(number) is int and number == group.number


def _listed(groups: Iterable[PlayerGroup]) -> str:
    numbers = [f"#{number}" for number in sorted(group.number for group in groups)]
    return ", ".join(numbers[:LISTED]) + (
        f" and {len(numbers) - LISTED} more" if len(numbers) > LISTED else ""
    )


def _groups(order: Order, room: BoatRoom) -> list[PlayerGroup]:
    """Return the waiting or running game with that number, or all games."""
    groups = list(room.groups)
    if "game" not in order:
        return groups
    meant = [group for group in groups if _is_number_of(group, order)]
    if not meant:
        raise BadOrder(f"which game? {_listed(groups)}" if groups else "no game runs")
    return meant


def _player_in(order: Order, key: str, room: BoatRoom) -> tuple[PlayerGroup, RoomPlayer]:
    """Find a player by name, unique beginning of a name, or number. A whole name has priority; a
    word that fits players of several games is an error.
    """
    word = _text(order, key).strip(BLANKS)
    groups = _groups(order, room)
    found = [(group, player) for group in groups for player in _named(word, group)[:1]]
    if not found:
        found = [
            (group, player) for group in groups if (player := _called(word, group)) is not None
        ]
    if not found:
        raise BadOrder(f"there is no player {word!r}")
    if len(found) > 1:
        raise BadOrder(
            f"{word!r} could be in several games, name one: {_listed(group for group, _ in found)}"
        )
    return found[0]


def _named(name: str, group: PlayerGroup) -> list[RoomPlayer]:
    """Find players by their whole names as text: on lines a name need not be UTF-8."""
    return [player for player in group.players if text_of(player.name) == name]


def _called(word: str, group: PlayerGroup) -> RoomPlayer | None:
    found = player_called(
        word.encode(errors="replace"), [text_of(player.name).encode() for player in group.players]
    )
    return None if found is None else group.players[found]


# The host's view.


def shown(room: BoatRoom) -> dict[str, Any]:
    settings = room.settings
    gathering = room.gathering
    return {
        "title": settings.title,
        "min": settings.min,
        "max": settings.max,
        "width": settings.width,
        "height": settings.height,
        "goal": room.offer.goal,
        "boats": list(room.offer.boats.names),
        "autoStart": settings.auto_start,
        "over": room.over,
        "gathering": None if gathering is None else _players_shown(gathering),
        "gathers": None if gathering is None else gathering.number,
        "games": [_game_shown(game) for game in room.games],
        "blacklist": {
            "players": sorted(room.banned_names),
            "addresses": sorted(room.banned_addresses),
        },
    }


def _players_shown(group: PlayerGroup) -> list[dict[str, Any]]:
    return [_player_shown(player) for player in group.players]


def _player_shown(player: RoomPlayer) -> dict[str, Any]:
    return {"name": text_of(player.name), "address": player.address}


def _game_shown(game: BoatGame) -> dict[str, Any]:
    tally, awaited = tally_of(cast(Battleship, game.table.shown)), game.table.match.awaited
    rows = []
    for at, player in enumerate(game.players):
        rows.append(
            _player_shown(player)
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
