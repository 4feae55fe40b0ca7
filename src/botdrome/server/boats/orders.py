"""Orders: what a host can have done in its room."""

from collections.abc import Callable
from typing import Any

from botdrome.server.boats.company import Company, Sailor
from botdrome.server.boats.game import BoatGame
from botdrome.server.boats.room import Room
from botdrome.wire.xbs import BOOTED, plain, player_called, text_of

Order = dict[str, Any]


class BadOrder(Exception):
    """What cannot be done, with the reason."""


def carry_out(order: Order, room: Room) -> str:
    """What was done, or BadOrder."""
    act = ORDERS.get(_text(order, "do"))
    if act is None:
        raise BadOrder(f"an order is one of {', '.join(ORDERS)}")
    return act(order, room)


def _start(_: Order, room: Room) -> str:
    game = room.start()
    if game is None:
        joined = len(room.gathering.sailors) if room.gathering else 0
        raise BadOrder(f"{joined} have joined; a game is for {room.plan.min} to {room.plan.max}")
    return f"started: {', '.join(text_of(name) for name in game.crew.names)}"


def _message(order: Order, room: Room) -> str:
    text = plain(_text(order, "text"))
    if not text:
        raise BadOrder("there is no text")
    if not order.get("to"):
        for company in room.companies:
            company.announce(text)
        return "said to all"
    company, sailor = _somebody(order, "to", room)
    company.announce(text, sailor)
    return f"said to {text_of(sailor.name)}"


def _boot(order: Order, room: Room) -> str:
    _, sailor = _somebody(order, "player", room)
    _throw_out(sailor)
    return f"{text_of(sailor.name)} is booted"


def _throw_out(sailor: Sailor) -> None:
    if sailor.client is None:
        raise BadOrder(f"{text_of(sailor.name)} has no connection of this protocol to close")
    sailor.client.send_off(BOOTED, BOOTED)


def _ban_player(order: Order, room: Room) -> str:
    """By the exact name, whether it is here or not."""
    name = plain(_text(order, "player"))
    if not name:
        raise BadOrder("there is no name")
    room.banned_names.add(name)
    for sailor in [sailor for company in room.companies if (sailor := company.called(name)) and sailor.client]:
        _throw_out(sailor)
    room.changed()
    return f"{text_of(name)} is on the blacklist"


def _ban_address(order: Order, room: Room) -> str:
    address = _text(order, "address").strip()
    if not address:
        raise BadOrder("there is no address")
    room.banned_addresses.add(address)
    for sailor in [sailor for company in room.companies for sailor in company.from_address(address)]:
        _throw_out(sailor)
    room.changed()
    return f"{address} is on the blacklist"


def _clear(_: Order, room: Room) -> str:
    room.banned_names.clear()
    room.banned_addresses.clear()
    room.changed()
    return "the blacklist is empty"


def _skip(order: Order, room: Room) -> str:
    reason = plain(_text(order, "reason"))
    if not reason:
        raise BadOrder("a skip has a reason")
    name = _game(order, room).skip_turn(reason)
    if not name:
        raise BadOrder("it is nobody's turn")
    return f"the turn of {text_of(name)} is skipped"


def _abort(order: Order, room: Room) -> str:
    _game(order, room).abort()
    return "aborted"


def _quit(_: Order, room: Room) -> str:
    """All games are aborted and nobody new is let in."""
    room.close()
    for game in list(room.games):
        game.abort()
    return "the room is closed"


ORDERS: dict[str, Callable[[Order, Room], str]] = {
    "start": _start, "message": _message, "boot": _boot, "blacklist player": _ban_player, "blacklist address": _ban_address,
    "clear": _clear, "skip": _skip, "abort": _abort, "quit": _quit,
}  # fmt: skip


def _text(order: Order, key: str) -> str:
    value = order.get(key, "")
    if not isinstance(value, str):
        raise BadOrder(f"{key} is text")
    return value


def _game(order: Order, room: Room) -> BoatGame:
    """By its number; it need not be given where there is one alone."""
    number = order.get("game", 1 if len(room.games) == 1 else 0)
    if not room.games:
        raise BadOrder("no game runs")
    if type(number) is not int or not 1 <= number <= len(room.games):
        raise BadOrder(f"which game? They are numbered from 1 to {len(room.games)}")
    return room.games[number - 1]


def _somebody(order: Order, key: str, room: Room) -> tuple[Company, Sailor]:
    """By the name, its beginning, or the number at the table; those who have gathered are looked at first."""
    word = plain(_text(order, key))
    for company in room.companies:
        found = player_called(word, [sailor.name for sailor in company.sailors])
        if found is not None:
            return company, company.sailors[found]
    raise BadOrder(f"there is no player {text_of(word)!r}")
