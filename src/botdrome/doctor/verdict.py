"""The part of a bot in a match so far: its answers, and its first fault."""

from typing import NamedTuple

from botdrome.match.events import Out, Played, Player, Refused
from botdrome.match.match import Match, apply
from botdrome.match.record import new_match, setup_of

MILD = ("complete", "aborted", "resigned")


class Part(NamedTuple):
    answers: int
    """The moves that counted."""
    fault: str
    """Empty: there is none."""
    lost_connection: bool = False


def part_of(match: Match, player: Player) -> Part:
    """Replay the match. A refused move is a fault where it has a penalty."""
    again = new_match(setup_of(match, [""] * match.players), match.game)
    again.start()
    answers, steps = 0, 0
    for told in match.inputs:
        refused = False
        for event, _ in apply(again, told):
            steps += isinstance(event, Played)
            if isinstance(event, Refused) and event.player == player:
                refused = True
                if event.strikes:
                    return Part(answers, f"illegal move at step {steps}: {event.why}")
            if isinstance(event, Out) and event.player == player and event.cause not in MILD:
                words = f"{event.cause}: {event.detail}" if event.detail else event.cause
                return Part(answers, f"{words}, at step {steps}", event.cause == "disconnect")
        answers += told[1] == "move" and told[2] == player and not refused
    return Part(answers, "")
