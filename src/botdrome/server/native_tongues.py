"""Native tongues: how clients of the native protocol want to be spoken to."""

import msgspec

from botdrome.server.audience import billing_of
from botdrome.server.listener import Tongue
from botdrome.store.store import MatchEntry
from botdrome.wire.battlebot import Battlebot
from botdrome.wire.features import EXTRAS
from botdrome.wire.login import Login
from botdrome.wire.player_frames import PlayerFrames


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
