"""An opponent that repeats the moves of a recorded match."""

from collections.abc import Callable
from pathlib import Path

from botdrome.client.program import CannotStart
from botdrome.formats import restored
from botdrome.games.game import Raw, View
from botdrome.match.events import Late, Player, Refused
from botdrome.match.record import BadRecord, apply, new_match

PREFIX = "replay:"


def recorded_bot(entrant: str, game: str, player: Player) -> Callable[[View], Raw]:
    """Return a bot that plays the moves of this player in a match file, then none. Raise CannotStart if the file is wrong."""
    moves = iter(_moves(entrant, game, player))
    return lambda _: next(moves, None)


def _moves(entrant: str, game: str, player: Player) -> list[Raw]:
    """Return the moves that counted, in their order. A later move of the same step replaces an earlier one."""
    try:
        record, setup = restored(Path(entrant.removeprefix(PREFIX)).read_bytes())
        match = new_match(record.setup, setup)
    except OSError as error:
        raise CannotStart(f"{entrant}: the file cannot be read: {error.strerror}") from None
    except BadRecord as problem:
        raise CannotStart(f"{entrant}: {problem}") from None
    if record.setup.game != game:
        raise CannotStart(f"{entrant}: this is a match of {record.setup.game}, not of {game}")
    if player >= len(record.setup.names):
        raise CannotStart(f"{entrant}: this match has {len(record.setup.names)} players, and the opponent is player {player}")
    moves: dict[int, Raw] = {}
    match.start()
    for line in record.lines:
        step = match.steps
        news = apply(match, line.input)
        if line.do == "move" and line.by == player and not any(isinstance(event, Refused | Late) for event, _ in news):
            moves[step] = line.say
    return list(moves.values())
