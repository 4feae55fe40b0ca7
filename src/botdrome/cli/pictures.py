"""Matches as frames, and the picture of each game's positions in the terminal."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct
from rich.console import Group, RenderableType
from rich.pretty import pretty_repr
from rich.text import Text

from botdrome.client.terminal_text import shown
from botdrome.games.game import Game, View
from botdrome.games.gomoku import FREE, MARKS
from botdrome.match.events import (
    Amended,
    Began,
    BoardEnded,
    Ended,
    Event,
    Late,
    Left,
    Out,
    Played,
    Refused,
    Result,
    Returned,
)
from botdrome.match.record import Record, replay
from botdrome.match.terms import Milliseconds

CUBE_COLOURS = ("red", "yellow", "cyan", "magenta", "green", "blue", "bright_red", "bright_yellow")
CUBE_MARKS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789#@"
"""A mark for each of 64 seats."""
CUBE_WIDTH = 80
LARGEST = 12
"""The longest edge that is drawn. For larger cubes only the list of players is shown."""


def battlecube_picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position; `names` are the players by seat."""
    text = Text(f"tick {view['tick']} of {view['ticks']}  ", "bold")
    text.append(f"edge {view['edge']}, bombs {len(view['bombs'])}", "dim")
    for at, entry in enumerate(_roster(view, names)):
        text.append("\n" if at % 3 == 0 else " ").append_text(entry)
    if view["edge"] <= LARGEST:
        _draw_slices(view, text)
    return text


def _roster(view: View, names: Sequence[str]) -> list[Text]:
    where = {player["seat"]: "{x},{y},{z}".format(**player) for player in view["players"]}
    fate = {loss["seat"]: f"lost {loss['tick']}" for loss in view["lost"]}
    return [
        Text(
            f"{CUBE_MARKS[seat]} {name[:14]:14} {(where | fate)[seat]:9}",
            _cube_style(seat) if seat in where else "dim strike",
        )
        for seat, name in enumerate(names)
    ]


def _cube_style(seat: int) -> str:
    return f"bold {CUBE_COLOURS[seat % len(CUBE_COLOURS)]}"


def _draw_slices(view: View, text: Text) -> None:
    edge, things = view["edge"], _cube_things(view)
    abreast = CUBE_WIDTH // (2 * edge + 2)
    for first in range(0, edge, abreast):
        slices = range(first, min(first + abreast, edge))
        text.append("\n" + "".join(f"z {z}".ljust(2 * edge + 2) for z in slices), "dim")
        for y in range(edge):
            text.append("\n")
            for z in slices:
                for x in range(edge):
                    text.append(*things.get((x, y, z), ("· ", "dim")))
                text.append("  ")


def _cube_things(view: View) -> dict[tuple[int, ...], tuple[str, str]]:
    """Return the marks and styles by place."""
    things: dict[Any, tuple[str, str]] = {
        tuple(bomb): ("* ", "bold white") for bomb in view["bombs"]
    }
    for player in view["players"]:
        seat = player["seat"]
        things[player["x"], player["y"], player["z"]] = (f"{CUBE_MARKS[seat]} ", _cube_style(seat))
    return things


BOARDS_WIDTH = 80
MARGIN = 4
"""The width of the row numbers and the gap to the next board."""
SQUARE_STYLES = {"X": "bold red", "0": "blue", ".": "dim"}


def battleship_picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position, with the fleets once the game is over; `names` are the players by
    seat.
    """
    cell = 2 if len(names) * (2 * view["width"] + MARGIN) <= BOARDS_WIDTH else 1
    block = cell * view["width"] + MARGIN
    abreast = max(BOARDS_WIDTH // block, 1)
    text = Text(_headline(view, names)[:BOARDS_WIDTH])
    for first in range(0, len(names), abreast):
        seats = range(first, min(first + abreast, len(names)))
        text.append("\n")
        for seat in seats:
            text.append(
                _title(view, names[seat], seat, block),
                "bold yellow" if seat in view["toMove"] else "bold",
            )
        numbers = "".join(str(x % 10).ljust(cell) for x in range(view["width"]))
        text.append("\n" + f"   {numbers} " * len(seats), "dim")
        for y in range(view["height"]):
            text.append("\n")
            for seat in seats:
                _draw_row(text, y, (view["fleets"] or view["boards"])[seat][y], cell)
    return text


def _headline(view: View, names: Sequence[str]) -> str:
    head, last = f"round {view['round']}, goal {view['goal']}", view["last"]
    if last is None:
        return head
    if "skip" in last:
        return f"{head}: {names[last['shooter']]} skips"
    deed = "hits" if last["hit"] else "misses"
    return (
        f"{head}: {names[last['shooter']]} {deed} {names[last['target']]} at x {last['x']}, y "
        f"{last['y']}"
    )


def _title(view: View, name: str, seat: int, block: int) -> str:
    score = str(view["scores"][seat])
    return f"   {name[: block - 5 - len(score)]} {score}".ljust(block)


def _draw_row(text: Text, y: int, row: str, cell: int) -> None:
    text.append(f"{y:2} ", "dim")
    for mark in row:
        style = SQUARE_STYLES.get(mark) or ("bold red" if mark.islower() else "green")
        text.append(mark.replace(".", "·").replace("0", "o").ljust(cell), style)
    text.append(" ")


TILES = {".": ("· ", "dim"), "+": ("▒▒", "yellow"), "#": ("██", "grey37")}
USER_COLOURS = (
    "cyan",
    "magenta",
    "green",
    "blue",
    "red",
    "bright_yellow",
    "bright_cyan",
    "bright_magenta",
)
USER_SIGNS = "ABCDEFGH"
UPGRADES = {"ADDITIONAL_BOMB": ("+o", "bold green"), "EXPLOSION_RANGE": ("+*", "bold green")}
Sign = tuple[str, str]


def bomberman_picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position; `names` are the players by seat.

    A user that stands on a bomb shows with the turns left.
    """
    text = Text(no_wrap=True).append(f"round {view['round']} of {view['rounds']}", "bold")
    for user in view["users"]:
        text.append_text(_user_line(user, names[user["seat"]]))
    things = _things(view)
    for row, tiles in enumerate(view["tiles"]):
        text.append("\n")
        for column, tile in enumerate(tiles):
            text.append(*things.get((row, column), TILES[tile]))
    return text


def _user_line(user: View, name: str) -> Text:
    line = Text("\n").append(
        f"{USER_SIGNS[user['seat']]} {name[:20]:20}",
        USER_COLOURS[user["seat"]] if user["alive"] else "dim strike",
    )
    line.append(f" bombs {user['bombsLeft']:2}  range {user['range']:2}  ")
    return line.append(
        f"kills {user['kills']}  crates {user['crates']:3}  upgrades {user['upgrades']:2}", "dim"
    )


def _things(view: View) -> dict[tuple[int, int], Sign]:
    """Return the marks and styles by place; later ones cover earlier ones."""
    things: dict[tuple[int, int], Sign] = {}
    for row, column in view["closing"]["next"]:
        if view["tiles"][row][column] == "." and view["closing"]["at"] == view["round"]:
            things[row, column] = ("! ", "bold yellow")
    for row, column in view["explosions"]:
        things[row, column] = ("~~", "red")
    for upgrade in view["upgrades"]:
        row, column = upgrade["at"]
        things[row, column] = UPGRADES[upgrade["type"]]
    return things | _bombs_and_users(view)


def _bombs_and_users(view: View) -> dict[tuple[int, int], Sign]:
    ticking = {(bomb["at"][0], bomb["at"][1]): str(bomb["turnsLeft"]) for bomb in view["bombs"]}
    signs = {place: (f"o{turns}"[:2], "bold red") for place, turns in ticking.items()}
    for user in view["users"]:
        if user["alive"]:
            row, column = user["at"]
            signs[row, column] = (
                f"{USER_SIGNS[user['seat']]}{ticking.get((row, column), ' ')}"[:2],
                f"bold {USER_COLOURS[user['seat']]}",
            )
    return signs


HEX_SIGNS = {
    0: ("·", "dim"),
    1: ("█", "grey37"),
    2: ("✿", "bold yellow"),
    5: ("+", "cyan"),
    6: ("x", "magenta"),
}
DRONES = (("A", "bold black on cyan"), ("B", "bold black on magenta"))
PLAYERS = ("bold cyan", "bold magenta")


def bumblebots_picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position; `names` are the players by seat.

    Each row of hexes is shifted by half a hex.
    """
    text = Text(f"tick {view['turnNumber']} of {view['ticks']}", no_wrap=True)
    for name, points, style in zip(names, view["score"], PLAYERS, strict=True):
        text.append(f"   {name} {points}", style)
    drones = _drones(view)
    rows = view["board"]
    for number, row in enumerate(rows):
        text.append("\n" + " " * abs(len(rows) // 2 - number))
        for column, cell in enumerate(row):
            if cell is not None:
                text.append(*drones.get((number, column), HEX_SIGNS[cell])).append(" ")
    return text


def _drones(view: View) -> dict[tuple[int, int], tuple[str, str]]:
    """Return the marks of the drones by place."""
    return {
        (drone["position"][0], drone["position"][1]): sign
        for swarm, sign in zip(view["drones"], DRONES, strict=True)
        for drone in swarm.values()
    }


STONE_STYLES = {"X": "bold cyan", "O": "bold magenta", FREE: "dim"}


def gomoku_picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position, with the last stone and the winning row marked; `names` are the
    players by seat.
    """
    text = Text()
    for seat, mark in enumerate(MARKS):
        text.append(f"{mark} {names[seat]}  ", STONE_STYLES[mark])
    columns = "".join(f"{column % 10} " for column in range(view["size"]))
    text.append(f"\n   {columns}", "dim")
    marked = {tuple(point) for point in (view["line"] or view["moves"][-1:])}
    for y, row in enumerate(view["board"]):
        text.append(f"\n{y:2} ", "dim")
        for x, mark in enumerate(row):
            text.append(
                mark.replace(FREE, "·"),
                STONE_STYLES[mark] + (" reverse" if (x, y) in marked else ""),
            )
            text.append(" ")
    return text


MARK_STYLES = {"X": "bold cyan", "O": "bold magenta", "": "dim"}


def noughts_and_crosses_picture(view: View, names: Sequence[str]) -> Text:
    """Draw the public position; `names` are the players by seat."""
    text = Text()
    for seat, mark in enumerate(view["marks"]):
        text.append(f"{mark} {names[seat]}  ", MARK_STYLES[mark])
    for row in view["board"]:
        text.append("\n ")
        for mark in row:
            text.append(f"{mark or '·'} ", MARK_STYLES[mark])
    return text


Picture = Callable[[View, Sequence[str]], Text]


def plain(view: View, names: Sequence[str]) -> Text:
    """Draw any view, key by key."""
    return Text(", ".join(names) + "\n" + pretty_repr(view))


PICTURES: dict[str, Picture] = {
    "bumblebots": bumblebots_picture,
    "battlecube": battlecube_picture,
    "battleship": battleship_picture,
    "bomberman": bomberman_picture,
    "noughts-and-crosses": noughts_and_crosses_picture,
    "gomoku": gomoku_picture,
}


def picture_of(game: str, view: View, names: Sequence[str]) -> Text:
    return PICTURES.get(game, plain)(view, names)


MOST_TOLD = 6
"""Events that are told below a picture."""


class Frame(Struct):
    """A position, and the events since the one before."""

    step: int
    time: Milliseconds
    view: View
    bots: tuple[str, ...]
    """The names of the players, by seat."""
    told: list[str]


def frames(record: Record, game: Game[Any]) -> list[Frame]:
    reel: list[Frame] = []
    frame = Frame(0, 0, {}, (), [])
    for time, news in replay(record, game):
        for event, position in news:
            frame = frame_after(frame, event, time, position.view(None), record.setup.names)
            if not isinstance(event, Began | Played):
                reel.pop()
            reel.append(frame)
    return reel


def frame_after(
    last: Frame, event: Event, time: Milliseconds, view: View, names: Sequence[str]
) -> Frame:
    """Return the frame with an event: a new one at the start of a board and after each step."""
    said = list(told(event, names))
    match event:
        case Began():
            bots = tuple(names[player] for player in event.order)
            return Frame(last.step, time, view, bots, said)
        case Played():
            return Frame(event.step + 1, time, view, last.bots, said)
    return Frame(last.step, time, view, last.bots, last.told + said)


def told(event: Event, names: Sequence[str]) -> Iterator[str]:
    """Describe an event."""
    match event:
        case Began():
            yield f"board {event.board + 1}: {', '.join(names[player] for player in event.order)}"
        case Played():
            yield from (f"{names[player]}: {_short(raw)}" for player, raw in event.moves.items())
        case Refused() | Late() | Out() | Left() | Returned():
            yield f"{names[event.player]} {_of_one(event)}"
        case Amended():
            yield f"the set-up changes: {_short(event.options)}"
        case BoardEnded():
            yield f"board {event.board + 1} is over"
        case Ended():
            yield outcome(event.result, names)


def _of_one(event: Refused | Late | Out | Left | Returned) -> str:
    match event:
        case Refused():
            return f"sent {_short(event.move)}, refused: {event.why}"
        case Late():
            return f"was late by {event.by} ms"
        case Out():
            return f"is out: {event.cause}" + (f" ({event.detail})" if event.detail else "")
    return "is gone" if isinstance(event, Left) else "is back"


def outcome(result: Result, names: Sequence[str]) -> str:
    if result.aborted:
        return "aborted"
    first = [names[player] for player, place in enumerate(result.places) if place == 1]
    scores = ", ".join(
        f"{name} {score:g}" for name, score in zip(names, result.scores, strict=True)
    )
    return f"{f'{first[0]} wins' if len(first) == 1 else 'a tie'} ({scores})"


def _short(raw: Any) -> str:
    text = msgspec.json.encode(raw).decode()
    return text if len(text) <= 60 else text[:57] + "..."


def drawn(game: str, frame: Frame) -> RenderableType:
    """Draw a frame for the terminal."""
    head = Text(f"{shown(game)}  step {frame.step}  {frame.time / 1000:.3f} s", style="bold")
    return Group(
        head,
        picture_of(game, frame.view, tuple(map(shown, frame.bots))),
        *(
            Text(shown(line), style="dim", no_wrap=True, overflow="ellipsis")
            for line in frame.told[-MOST_TOLD:]
        ),
    )
