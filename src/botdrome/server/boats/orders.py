"""Orders: what a host can have done in its room."""

from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import Any

from botdrome.server.boats.company import Company, Sailor
from botdrome.server.boats.game import BoatGame
from botdrome.server.boats.room import Room
from botdrome.wire.boats.lines import BLANKS, BOOTED, plain, player_called, text_of

Order = dict[str, Any]

LISTED = 10
"""Numbers of games in one answer."""


class BadOrder(Exception):
    """What cannot be done, with the reason."""


def carry_out(order: Order, room: Room) -> str:
    """What was done, or BadOrder."""
    act = ORDERS.get(_text(order, "do"))
    if act is None:
        raise BadOrder(f"an order is one of {', '.join(ORDERS)}")
    return act(order, room)


def _start(_: Order, room: Room) -> str:
    if refusal := room.refusal:
        raise BadOrder(refusal)
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
        for company in _companies(order, room):
            company.announce(text)
        return "said to all in that game" if "game" in order else "said to all"
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
    name = _text(order, "player").strip(BLANKS)
    if not name:
        raise BadOrder("there is no name")
    room.banned_names.add(name)
    for sailor in [sailor for company in room.companies for sailor in _named(name, company) if sailor.client]:
        _throw_out(sailor)
    room.changed()
    return f"{name} is on the blacklist"


def _ban_address(order: Order, room: Room) -> str:
    words = _text(order, "address").strip()
    if not words:
        raise BadOrder("there is no address")
    try:
        address = str(ip_address(words))
    except ValueError:
        raise BadOrder(f"{words!r} is not the address of a computer, like 192.0.2.7") from None
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
    if not room.games:
        raise BadOrder("no game runs")
    if "game" not in order and len(room.games) == 1:
        return room.games[0]
    game = next((game for game in room.games if _is_number_of(game, order)), None)
    if game is None:
        raise BadOrder(f"which game? {_listed(room.games)}")
    return game


def _is_number_of(company: Company, order: Order) -> bool:
    number = order.get("game")
    return type(number) is int and number == company.number


def _listed(companies: Iterable[Company]) -> str:
    numbers = [f"#{number}" for number in sorted(company.number for company in companies)]
    return ", ".join(numbers[:LISTED]) + (f" and {len(numbers) - LISTED} more" if len(numbers) > LISTED else "")


def _companies(order: Order, room: Room) -> list[Company]:
    """Those that are meant: the game of that number, be it one that gathers, or all."""
    companies = list(room.companies)
    if "game" not in order:
        return companies
    meant = [company for company in companies if _is_number_of(company, order)]
    if not meant:
        raise BadOrder(f"which game? {_listed(companies)}" if companies else "no game runs")
    return meant


def _somebody(order: Order, key: str, room: Room) -> tuple[Company, Sailor]:
    """By the name, its beginning, or the number at the table. A whole name goes before the beginning of another; whoever could be
    several in as many games is not guessed at."""
    word = _text(order, key).strip(BLANKS)
    companies = _companies(order, room)
    found = [(company, sailor) for company in companies for sailor in _named(word, company)[:1]]
    if not found:
        found = [(company, sailor) for company in companies if (sailor := _called(word, company)) is not None]
    if not found:
        raise BadOrder(f"there is no player {word!r}")
    if len(found) > 1:
        raise BadOrder(f"{word!r} could be in several games, name one: {_listed(company for company, _ in found)}")
    return found[0]


def _named(name: str, company: Company) -> list[Sailor]:
    """By the whole name as a host reads it: on lines it may be in letters other than UTF-8."""
    return [sailor for sailor in company.sailors if text_of(sailor.name) == name]


def _called(word: str, company: Company) -> Sailor | None:
    found = player_called(word.encode(errors="replace"), [text_of(sailor.name).encode() for sailor in company.sailors])
    return None if found is None else company.sailors[found]
