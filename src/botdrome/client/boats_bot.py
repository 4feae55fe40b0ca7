"""BotPlayer: lets a house bot play Xterm Boat Sinker: native views in, lines out."""

from botdrome.bots.house import HouseBot
from botdrome.client.boats_board import NotPossible
from botdrome.client.boats_game import TrackedGame
from botdrome.client.boats_orders import shoot, skip
from botdrome.games.battleship import HIT, MISS, WATER, rows_of, squares_from
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View
from botdrome.wire.boats.lines import OfferedGame

ATTEMPTS = 3
"""Shots that are refused before the bot skips."""


class BotPlayer:
    def __init__(self, bot: HouseBot, seed: int) -> None:
        self._bot = bot
        self._chance = Chance(seed)
        self._refused = 0
        """Refusals that the bot has answered."""
        self._repeats = 0
        """Turns that a server may announce again although the bot has already retried."""
        self._attempts = 0

    def begin_again(self) -> None:
        """Prepare for a new connection."""
        self._repeats = self._attempts = 0

    def place(self, offer: OfferedGame) -> str:
        """Ask the bot for its fleet."""
        return squares_from(
            self._bot(placement_view(offer), self._chance)["board"], offer.width, offer.height
        )

    def on_line(self, boats: TrackedGame, kind: bytes) -> bytes | None:
        """Return the bot's answer to a line of this kind that the game has just heard, if it has
        one.

        The original servers refuse a shot and wait; others also announce the turn again. A bot that
        has retried after the refusal ignores that announcement.
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

    def _move(self, boats: TrackedGame) -> bytes:
        self._attempts += 1
        if self._attempts > ATTEMPTS:
            return skip(boats)
        return line_for(boats, self._bot(view_of(boats), self._chance))


def line_for(boats: TrackedGame, move: Raw) -> bytes:
    """Write a native move as a line; an impossible shot becomes a skip."""
    if move.get("skip"):
        return skip(boats)
    names = list(boats.players)
    target = move.get("target", 1 - names.index(boats.me))
    try:
        return shoot(boats, boats.players[names[target]], move["x"], move["y"])
    except NotPossible:
        return skip(boats)


def placement_view(offer: OfferedGame) -> View:
    """Return the native view before the fleets are placed, for the player that joined last."""
    players = max(offer.joined + 1, offer.least, 2)
    blank = (WATER * offer.width,) * offer.height
    nothing = (0,) * players
    return _size(offer) | {
        "you": offer.joined, "toMove": tuple(range(players)), "phase": "placement", "round": 0,
        "boards": (blank,) * players, "own": None, "fleets": None, "placed": (False,) * players,
        "scores": nothing, "skips": nothing, "turns": nothing, "last": None,
    }  # fmt: skip


def view_of(boats: TrackedGame) -> View:
    """Return the native view of this player."""
    players, names = list(boats.players.values()), list(boats.players)
    you = names.index(boats.me) if boats.me in names else None
    ahead = names.index(boats.to_move) if boats.to_move in names else 0
    rounds = _rounds(boats, ahead)
    return _size(boats.game) | {
        "you": you,
        "toMove": (ahead,) if boats.to_move in names else (),
        "phase": "shooting",
        "round": rounds,
        "boards": tuple(rows_of(_masked(player.board), boats.game.width) for player in players),
        "own": None if you is None else own_rows(boats),
        "fleets": None,
        "placed": (True,) * len(names),
        "scores": tuple(player.score for player in players),
        "skips": tuple(player.skips for player in players),
        "turns": (rounds + 1,) * ahead + (rounds,) * (len(names) - ahead),
        "last": _last(boats, names),
    }


def _size(offer: OfferedGame) -> View:
    """Lines do not name a limit of rounds: 0."""
    width, height, boats = offer.width, offer.height, offer.boats.names
    return {"width": width, "height": height, "boats": boats, "goal": offer.goal, "rounds": 0}


def _masked(board: str) -> str:
    """Replace marks that servers let through but that cannot be shot at: letters by hits, others by
    misses.
    """
    if board.strip(WATER + HIT + MISS) == "":
        return board
    return "".join(
        mark if mark in WATER + HIT + MISS else HIT if mark.isalpha() else MISS for mark in board
    )


def _rounds(boats: TrackedGame, ahead: int) -> int:
    """Count the rounds from marks and skips.

    Some skips are told late, so a round counts once one of its turns is known.
    """
    marks = sum(
        len(player.board) - player.board.count(WATER) + player.skips
        for player in boats.players.values()
    )
    return max(0, -(-(marks - ahead) // len(boats.players)))


def own_rows(boats: TrackedGame) -> tuple[str, ...]:
    """Return the player's board with its boats, lower case where hit."""
    fleet = boats.fleet or WATER * boats.game.squares
    marks = (
        boats.players[boats.me].board if boats.me in boats.players else WATER * boats.game.squares
    )
    squares = (
        boat.lower()
        if mark == HIT and boat != WATER
        else mark
        if mark == HIT or boat == WATER
        else boat
        for boat, mark in zip(fleet, marks, strict=True)
    )
    return rows_of("".join(squares), boats.game.width)


def _last(boats: TrackedGame, names: list[str]) -> View | None:
    last = boats.last
    if last is None or last.shooter not in names:
        return None
    shooter = names.index(last.shooter)
    if last.target not in names:
        return {"shooter": shooter, "skip": True}
    y, x = divmod(last.square, boats.game.width)
    return {"shooter": shooter, "target": names.index(last.target), "x": x, "y": y, "hit": last.hit}
