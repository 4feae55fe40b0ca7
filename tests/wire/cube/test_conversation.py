"""Battlecube's organisers on socket.io, as transcripts."""

import pytest

from botdrome.wire.cube import OrganiserConversation
from tests.wire.framing.socketio_transcripts import LIMITS, check, handshake

OPENED = """
    < 0{"sid":"secret","upgrades":["websocket"],"pingInterval":25000,"pingTimeout":60000}
    < 40
    ! SocketConnected(sid='secret')
"""
SETUP = '{"maxNumOfTicks":3,"edgeLength":4,"numOfTasksPerTick":1}'
READ = "CubeSetup(ticks=3, edge=4, tasks=1, speed=0, starts=None)"

EVENTS = {
    "a new game": f"""
        > 42["NEW_GAME",{{"setup":{SETUP},"players":[{{"name":"Ann","url":"http://a"}}]}}]
        ! StartGame(wanted=NewGame(setup={READ}, players=(CubePlayer(name='Ann', url='http://a', token=None, version=''),)))""",
    "a change of all games, and of one": f"""
        > 42["GAME_SETUP_UPDATE",{SETUP}]
        ! ChangeGame(game_id=None, setup={READ})
        > 42["GAME_SETUP_UPDATE",{SETUP[:-1]},"id":"abc"}}]
        ! ChangeGame(game_id='abc', setup={READ})""",
    "control": """
        > 42["PAUSE_GAME",{"id":"abc"}]
        ! ControlGame(action='pause', game_id='abc')
        > 42["RESUME_GAME","abc"]
        ! ControlGame(action='resume', game_id='abc')
        > 42["STOP_GAME"]
        ! ControlGame(action='stop', game_id=None)""",
    "a game is reclaimed": """
        > 42["RECLAIM_GAME",{"id":"abc","key":"k"}]
        ! ReclaimGame(game_id='abc', key='k')""",
    "games are listed and watched": """
        > 42["LIST_GAMES"]
        ! ListGames()
        > 42["WATCH_GAME",{"id":"abc"}]
        ! WatchGame(game_id='abc', watching=True)
        > 42["UNWATCH_GAME",{"id":"abc"}]
        ! WatchGame(game_id='abc', watching=False)""",
    "a fault": """
        > 42["RECLAIM_GAME",{"id":"abc"}]
        < 42["ERROR",{"error":"INVALID_GAME_CONFIGURATION","details":[{"message":"\\"key\\" is required","path":["key"],"""
    """"type":"any.required","context":{"key":"key","label":"key"}}]}]
        > 42["LIST_GAMES"]
        ! ListGames()""",
    "an event that is unknown": """
        > 42["DANCE",{}]""",
}


@pytest.mark.parametrize("name", EVENTS)
def test_an_organiser(name: str) -> None:
    check(OrganiserConversation(handshake(3), LIMITS, 0.0), OPENED + EVENTS[name])
