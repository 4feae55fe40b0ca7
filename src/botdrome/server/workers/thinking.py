"""Thinking: the job of a worker process that moves for a house bot."""

from botdrome.bots.house import HouseBot
from botdrome.games.chance import Chance
from botdrome.games.game import Raw, View


def thought(bot: HouseBot, view: View, chance: Chance) -> tuple[Raw, Chance]:
    """The move, and the chance of which it has used some."""
    return bot(view, chance), chance
