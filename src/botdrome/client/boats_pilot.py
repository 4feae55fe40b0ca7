"""Pilot: a house bot at the helm of a game of Xterm Boat Sinker: it sees what the native protocol would show, and sends lines."""

from botdrome.bots.house import HouseBot
from botdrome.client.boats import Boats
from botdrome.client.boats_lines import Summary, Unsuited
from botdrome.client.boats_orders import shoot, skip
from botdrome.games.chance import Chance
from botdrome.games.fleet import WATER, rows_of, squares_from
from botdrome.games.game import Raw, View
from botdrome.games.gunnery import HIT, MISS

ATTEMPTS = 3
"""Shots that are refused before the bot skips."""


class Pilot:
    def __init__(self, bot: HouseBot, seed: int) -> None:
        self._bot = bot
        self._chance = Chance(seed)
        self._refused = 0
        """The refusals that have been answered."""
        self._repeats = 0
        """Turns that a server may repeat though the bot has tried again already."""
        self._attempts = 0

    def begin_again(self) -> None:
        """On a new connection."""
        self._repeats = self._attempts = 0

    def place(self, summary: Summary) -> str:
        """The fleet for this game."""
        return squares_from(self._bot(placement_view(summary), self._chance)["board"], summary.width, summary.height)

    def on_line(self, boats: Boats, kind: bytes) -> bytes | None:
        """The bot's answer to a line of this kind that the game has just heard, if there is one.

        The original servers refuse a shot and wait; others repeat the turn after that. Whoever has tried again at the refusal
        passes over the repetition.
        """
        if kind == b"M" and boats.refused > self._refused:
            self._refused = boats.refused
            self._repeats += 1
            return self._move(boats) if boats.my_turn and not boats.spent else None
        if kind != b"N":
            return None
        if not boats.my_turn:
            self._repeats = self._attempts = 0
            return None
        if self._repeats:
            self._repeats -= 1
            boats.spent = True
            return None
        return self._move(boats)

    def _move(self, boats: Boats) -> bytes:
        self._attempts += 1
        if self._attempts > ATTEMPTS:
            return skip(boats)
        return line_for(boats, self._bot(view_of(boats), self._chance))


def line_for(boats: Boats, move: Raw) -> bytes:
    """A native move as a line; a shot that cannot be made is a skip."""
    if move.get("skip"):
        return skip(boats)
    names = list(boats.players)
    target = move.get("target", 1 - names.index(boats.me))
    try:
        return shoot(boats, boats.players[names[target]], move["x"], move["y"])
    except Unsuited:
        return skip(boats)


def placement_view(summary: Summary) -> View:
    """What the native protocol shows before the fleets are placed, to the last of those who have joined."""
    players = max(summary.joined + 1, summary.least, 2)
    blank = (WATER * summary.width,) * summary.height
    nothing = (0,) * players
    return _size(summary) | {
        "you": summary.joined, "toMove": tuple(range(players)), "phase": "placement", "round": 0, "boards": (blank,) * players,
        "own": None, "fleets": None, "placed": (False,) * players, "scores": nothing, "skips": nothing, "turns": nothing,
        "last": None,
    }  # fmt: skip


def view_of(boats: Boats) -> View:
    """What the native protocol would show to the one who plays."""
    captains, names = list(boats.players.values()), list(boats.players)
    you = names.index(boats.me) if boats.me in names else None
    ahead = names.index(boats.to_move) if boats.to_move in names else 0
    rounds = _rounds(boats, ahead)
    return _size(boats.game) | {
        "you": you,
        "toMove": (ahead,) if boats.to_move in names else (),
        "phase": "shooting",
        "round": rounds,
        "boards": tuple(rows_of(_masked(captain.board), boats.game.width) for captain in captains),
        "own": None if you is None else own_rows(boats),
        "fleets": None,
        "placed": (True,) * len(names),
        "scores": tuple(captain.score for captain in captains),
        "skips": tuple(captain.skips for captain in captains),
        "turns": (rounds + 1,) * ahead + (rounds,) * (len(names) - ahead),
        "last": _last(boats, names),
    }


def _size(summary: Summary) -> View:
    """There is no word about a limit of rounds in lines."""
    width, height, boats = summary.width, summary.height, summary.boats.names
    return {"width": width, "height": height, "boats": boats, "goal": summary.goal, "rounds": 0}


def _masked(board: str) -> str:
    """Servers let odd squares through; none of them can be shot at, and a letter is a hit."""
    if board.strip(WATER + HIT + MISS) == "":
        return board
    return "".join(mark if mark in WATER + HIT + MISS else HIT if mark.isalpha() else MISS for mark in board)


def _rounds(boats: Boats, ahead: int) -> int:
    """Every turn has left a mark or a skip. Some skips are told late: a round counts as soon as one turn of it is known."""
    marks = sum(len(captain.board) - captain.board.count(WATER) + captain.skips for captain in boats.players.values())
    return max(0, -(-(marks - ahead) // len(boats.players)))


def own_rows(boats: Boats) -> tuple[str, ...]:
    """The own board with its boats: lower case where hit."""
    fleet = boats.fleet or WATER * boats.game.squares
    marks = boats.players[boats.me].board if boats.me in boats.players else WATER * boats.game.squares
    squares = (
        boat.lower() if mark == HIT and boat != WATER else mark if mark == HIT or boat == WATER else boat
        for boat, mark in zip(fleet, marks, strict=True)
    )
    return rows_of("".join(squares), boats.game.width)


def _last(boats: Boats, names: list[str]) -> View | None:
    last = boats.last
    if last is None or last.shooter not in names:
        return None
    shooter = names.index(last.shooter)
    if last.target not in names:
        return {"shooter": shooter, "skip": True}
    y, x = divmod(last.square, boats.game.width)
    return {"shooter": shooter, "target": names.index(last.target), "x": x, "y": y, "hit": last.hit}
