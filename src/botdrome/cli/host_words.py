"""The commands that a host types, and how a room is printed."""

import re
from typing import Any

from rich.table import Table
from rich.text import Text

from botdrome.client.terminal_text import shown
from botdrome.wire.boats.lines import BLANKS

Order = dict[str, Any]

HELP = """\
  start                      the game of those who have joined
  message [#GAME] TEXT       to all players
  tell [#GAME] PLAYER TEXT   to one
  boot [#GAME] PLAYER        close its connection; it may come back
  blacklist player NAME      boot it, and do not let it in again
  blacklist address ADDRESS  the same for all who come from there
  clear                      empty the blacklist
  skip [#GAME] REASON        the current player's turn
  abort [#GAME]              the game that runs
  quit                       abort all games and close the room
  show                       the room
  leave                      end this console, and nothing else
PLAYER is a name, the beginning of one, or a number; "in quotes" if it has blanks.
#GAME is the number of a game, like #2, and needed where there are several; `show` lists them.
The original's keys s m b p a c k r q do as well."""

KEYS = {
    "s": "start", "m": "message", "b": "boot", "p": "blacklist player", "a": "blacklist address",
    "c": "clear", "k": "skip", "q": "quit", "r": "show",
}  # fmt: skip
WORDS = (
    "start", "message", "tell", "boot", "blacklist player", "blacklist address", "clear", "skip",
    "abort", "quit", "show", "leave", "help",
)  # fmt: skip
IN_A_GAME = ("message", "tell", "boot", "skip", "abort")
"""Commands that can name a game."""


class BadCommand(Exception):
    """An unknown or incomplete command; the text has the reason."""


def order_in(typed: str) -> Order:
    """Read a typed line. Raise BadCommand if it is none."""
    word, rest = _command(typed.strip(BLANKS))
    number = re.match(r"#(\d{1,9})(?:\s+|$)", rest) if word in IN_A_GAME else None
    game = {"game": int(number[1])} if number else {}
    rest = rest[number.end() :] if number else rest
    match word:
        case "message":
            return {"do": "message", "text": rest} | game
        case "tell":
            player, text = _quoted(rest)
            return {"do": "message", "to": player, "text": text} | game
        case "boot":
            return {"do": word, "player": _quoted(rest)[0] if rest.startswith('"') else rest} | game
        case "blacklist player":
            return {"do": word, "player": _quoted(rest)[0] if rest.startswith('"') else rest}
        case "blacklist address":
            return {"do": word, "address": rest}
        case "skip":
            return {"do": word, "reason": rest} | game
    return {"do": word} | game


def _command(typed: str) -> tuple[str, str]:
    for word in WORDS:
        if typed == word or typed.startswith(word + " "):
            return word, typed[len(word) :].strip(BLANKS)
    first, _, rest = typed.partition(" ")
    if first.lower() in KEYS:
        return KEYS[first.lower()], rest.strip(BLANKS)
    if first == "blacklist":
        raise BadCommand("it is `blacklist player NAME` or `blacklist address ADDRESS`")
    raise BadCommand(f"{first!r} is no command; `help` lists them")


def _quoted(text: str) -> tuple[str, str]:
    found = re.match(r'"([^"]*)"\s*(.*)|(\S+)\s*(.*)', text)
    if found is None:
        raise BadCommand("who?")
    return (found[1], found[2]) if found[3] is None else (found[3], found[4])


# Output.


def headline(room: dict[str, Any]) -> str:
    """Summarise the players and games in a line that does not change with every shot."""
    gathering = room["gathering"]
    waiting = (
        "nobody can join"
        if gathering is None
        else f"{len(gathering)} of {room['max']} joined: {_names(gathering)}"
    )
    running = [
        f"game {game['number']}: {', '.join(map(_with_status, game['players']))}"
        for game in room["games"]
    ]
    return "; ".join([waiting.removesuffix(": "), *running])


def _names(players: list[dict[str, Any]]) -> str:
    return ", ".join(player["name"] for player in players)


def _with_status(player: dict[str, Any]) -> str:
    return f"{player['name']} ({player['status']})" if player["status"] else str(player["name"])


def pictured(room: dict[str, Any]) -> list[Table | Text]:
    """Print the room in full."""
    size = f"{room['width']} by {room['height']}"
    about = (
        f"{room['title']}: {room['min']} to {room['max']} players, boards of {size}, goal "
        f"{room['goal']}"
    )
    parts: list[Table | Text] = [
        Text(about, style="bold"),
        Text(f"boats: {' '.join(room['boats'])}"),
    ]
    if room["gathering"]:
        table = Table("", f"game {room['gathers']}, not started", "address", box=None)
        for number, player in enumerate(room["gathering"], 1):
            table.add_row(str(number), Text(shown(player["name"])), player["address"])
        parts.append(table)
    for game in room["games"]:
        table = Table(
            "",
            "",
            f"game {game['number']}",
            "status",
            "score",
            "skips",
            "turns",
            "hits taken",
            box=None,
        )
        for number, row in enumerate(game["players"], 1):
            counts = [str(row[key]) for key in ("score", "skips", "turns")]
            name, status = Text(shown(row["name"])), Text(shown(row["status"]))
            table.add_row(
                str(number),
                "*" if row["toMove"] else "",
                name,
                status,
                *counts,
                f"{row['hits']} of {game['squares']}",
            )
        parts.append(table)
    banned = room["blacklist"]["players"] + room["blacklist"]["addresses"]
    return [*parts, Text(shown(f"blacklist: {', '.join(banned)}"))] if banned else parts
