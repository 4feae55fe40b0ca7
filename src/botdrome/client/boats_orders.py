"""Orders: what a player sends, each as one line. Unsuited is raised where a server would refuse it."""

from botdrome.client.boats import Boats, Captain, Phase
from botdrome.client.boats_lines import Unsuited, line_of, place
from botdrome.games.fleet import WATER

NOT_IN_NAMES = "|\r\n"
KINDS = ("hit", "miss")


def join(boats: Boats, name: str, token: str = "") -> bytes:
    """Take a seat with the fleet, or come back to one's own in a game that has started: then without a fleet.

    A server with many games may show the next one to whoever comes back; a fleet would be for that one.
    """
    if not name.strip() or any(letter in name for letter in NOT_IN_NAMES) or not name.isprintable():
        raise Unsuited("a name is a word of letters that can be printed, without a |")
    if token and not (token.isascii() and token.isalnum()):
        raise Unsuited("a token is made of letters and digits")
    back = boats.returning or boats.game.started
    board = WATER * boats.game.squares if back else boats.fleet
    boats.me, boats.phase, boats.refusal = name.strip(), Phase.JOINING, ""
    if token:
        return line_of("J", name, board, token)
    return line_of("J", name) if back else line_of("J", name, board)


def shoot(boats: Boats, target: Captain, x: int, y: int) -> bytes:
    _check_turn(boats)
    if target.name == boats.me:
        raise Unsuited("don't shoot at yourself")
    if target.board[y * boats.game.width + x] != WATER:
        raise Unsuited(f"{place(x, y)} of {target.name} has already been shot at")
    boats.spent = True
    return line_of("S", target.name, str(x + 1), str(y + 1))


def skip(boats: Boats, reason: str = "") -> bytes:
    _check_turn(boats)
    boats.spent = True
    return line_of("K", reason) if reason.strip() else line_of("K")


def _check_turn(boats: Boats) -> None:
    if boats.phase is not Phase.PLAYING:
        raise Unsuited("the game has not started" if boats.phase is not Phase.OVER else "the game is over")
    if not boats.my_turn:
        raise Unsuited("it is not your turn")
    if boats.spent:
        raise Unsuited("the server has not answered yet")


def say(boats: Boats, to: Captain | None, text: str) -> bytes:
    """To one player, or to all. Servers do not send it back: it is noted here."""
    if not text.strip():
        raise Unsuited("there is nothing to send")
    if to is not None and to.name == boats.me:
        raise Unsuited("that is you")
    boats.note(text, boats.me, to.name if to else "All")
    return line_of("M", to.name if to else "", text)


def taunt(kind: str, text: str) -> bytes:
    """A text for those who hit or miss; none: clear those of this kind."""
    return line_of("T", kind, text)


def leave() -> bytes:
    return line_of("L")


def taunts_in(text: str) -> list[bytes]:
    """The taunts of a file with repeated `hit=` and `miss=`, or Unsuited."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        key, equals, value = (part.strip() for part in line.partition("="))
        if not key or key[0] in "#;[":
            continue
        if not equals or key.lower() not in KINDS:
            raise Unsuited(f"line {number}: a taunt is hit=TEXT or miss=TEXT")
        if value:
            lines.append(taunt(key.lower(), value))
    return lines
