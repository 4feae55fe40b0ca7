"""The lines that a player sends. NotPossible is raised for those that a server would refuse."""

from botdrome.client.boats_board import NotPossible
from botdrome.client.boats_game import Phase, TrackedGame, TrackedPlayer
from botdrome.games.battleship import WATER
from botdrome.wire.boats.lines import line_of, square_name

NOT_IN_NAMES = "|\r\n"
KINDS = ("hit", "miss")


def join(boats: TrackedGame, name: str, token: str = "") -> bytes:
    """Join with the fleet, or rejoin a started game without one: a server with many games may take
    a fleet as a wish to join the next game.
    """
    if not name.strip() or any(letter in name for letter in NOT_IN_NAMES) or not name.isprintable():
        raise NotPossible("a name is a word of letters that can be printed, without a |")
    if token and not (token.isascii() and token.isalnum()):
        raise NotPossible("a token is made of letters and digits")
    back = boats.returning or boats.game.started
    board = WATER * boats.game.squares if back else boats.fleet
    boats.me, boats.phase, boats.refusal = name.strip(), Phase.JOINING, ""
    if token:
        return line_of("J", name, board, token)
    return line_of("J", name) if back else line_of("J", name, board)


def shoot(boats: TrackedGame, target: TrackedPlayer, x: int, y: int) -> bytes:
    _check_turn(boats)
    if target.name == boats.me:
        raise NotPossible("don't shoot at yourself")
    if target.board[y * boats.game.width + x] != WATER:
        raise NotPossible(f"{square_name(x, y)} of {target.name} has already been shot at")
    boats.spent = True
    return line_of("S", target.name, str(x + 1), str(y + 1))


def skip(boats: TrackedGame, reason: str = "") -> bytes:
    _check_turn(boats)
    boats.spent = True
    return line_of("K", reason) if reason.strip() else line_of("K")


def _check_turn(boats: TrackedGame) -> None:
    if boats.phase is not Phase.PLAYING:
        raise NotPossible(
            "the game has not started" if boats.phase is not Phase.OVER else "the game is over"
        )
    if not boats.my_turn:
        raise NotPossible("it is not your turn")
    if boats.spent:
        raise NotPossible("the server has not answered yet")


def say(boats: TrackedGame, to: TrackedPlayer | None, text: str) -> bytes:
    """Send a message to one player or to all. Servers do not echo it, so it is logged here."""
    if not text.strip():
        raise NotPossible("there is nothing to send")
    if to is not None and to.name == boats.me:
        raise NotPossible("that is you")
    boats.note(text, boats.me, to.name if to else "All")
    return line_of("M", to.name if to else "", text)


def taunt(kind: str, text: str) -> bytes:
    """Add a taunt for a hit or a miss; an empty text clears all taunts of this kind."""
    return line_of("T", kind, text)


def leave() -> bytes:
    return line_of("L")


def taunts_in(text: str) -> list[bytes]:
    """Read a file of `hit=TEXT` and `miss=TEXT` lines, or raise NotPossible."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        key, equals, value = (part.strip() for part in line.partition("="))
        if not key or key[0] in "#;[":
            continue
        if not equals or key.lower() not in KINDS:
            raise NotPossible(f"line {number}: a taunt is hit=TEXT or miss=TEXT")
        if value:
            lines.append(taunt(key.lower(), value))
    return lines
