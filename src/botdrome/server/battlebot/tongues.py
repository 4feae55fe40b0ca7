"""Native tongues: how clients of the native protocol want to be spoken to."""

import msgspec

from botdrome.server.tables.audience import billing_of
from botdrome.server.tables.listener import Tongue
from botdrome.store.store import MatchEntry
from botdrome.wire.battlebot.login import Login
from botdrome.wire.battlebot.messages import Battlebot
from botdrome.wire.battlebot.player_frames import PlayerFrames
from botdrome.wire.features import EXTRAS


def battlebot(entry: MatchEntry) -> Battlebot:
    return Battlebot(entry.game, entry.players, entry.started, entry.id)


def battlebot_with_extras(entry: MatchEntry) -> Battlebot:
    return Battlebot(entry.game, entry.players, entry.started, entry.id, extras=True)


def player_frames(entry: MatchEntry) -> PlayerFrames:
    return PlayerFrames(msgspec.to_builtins(billing_of(entry)))


def tongue_of(login: Login) -> Tongue:
    if login.frames:
        return player_frames
    return battlebot_with_extras if EXTRAS in login.features else battlebot
