"""The moves of a player in a match file, for a bot that repeats them:
`replay:FILE.jsonl[:PLAYER]`.
"""

from pathlib import Path

from botdrome.analysis.questions import Question, retold
from botdrome.catalogue import restored
from botdrome.client.program import CannotStart
from botdrome.games.game import Raw
from botdrome.match.events import Player
from botdrome.match.record import BadRecord

PREFIX = "replay:"


def file_and_player(entrant: str, player: Player) -> tuple[str, Player]:
    """Return the match file and the player in it; without a number in the entrant, it
    is `player`.
    """
    words = entrant.removeprefix(PREFIX)
    file, _, number = words.rpartition(":")
    return (file, int(number)) if file and number.isdecimal() else (words, player)


def recorded_turns(entrant: str, game: str, player: Player) -> list[Raw]:
    """Return the move of each turn, and None for turns without one that counted.

    Raise CannotStart if the file is wrong.
    """
    file, player = file_and_player(entrant, player)
    try:
        record, rules = restored(Path(file).read_bytes())
        names = record.setup.names
        if record.setup.game != game:
            raise CannotStart(f"{entrant}: this is a match of {record.setup.game}, not of {game}")
        if player >= len(names):
            raise CannotStart(
                f"{entrant}: this match has players 0 to {len(names) - 1}, and no player {player}"
            )
        asked = [item for item in retold(record, rules, player) if isinstance(item, Question)]
    except OSError as error:
        raise CannotStart(f"{entrant}: the file cannot be read: {error.strerror}") from None
    except BadRecord as problem:
        raise CannotStart(f"{entrant}: {problem}") from None
    turns: dict[tuple[int, int], Raw] = {}
    for question in asked:
        turn = (question.board, question.step)
        if question.accepted and (
            question.due or turn in turns
        ):  # a later move of the same step replaces an earlier one
            turns[turn] = question.recorded
        elif question.due:
            turns.setdefault(turn, None)
    moves = list(turns.values())
    while moves and moves[-1] is None:
        moves.pop()
    return moves
