"""Writers that begin in the middle of a match."""

import json

from msgspec.structs import replace

from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match
from botdrome.match.record import Resumption, setup_of
from botdrome.wire.battlebot.messages import Battlebot
from botdrome.wire.duel import Duel
from botdrome.wire.writers import MatchHeader, MatchWriters, match_status
from tests.match.test_resuming import a_match


def test_writers_of_a_resumed_match_know_how_it_stands() -> None:
    match = a_match(12)
    again = Resumption(setup_of(match, ("ada", "bob")), match.game, match.inputs)
    again.advance(100)
    writers = MatchWriters(MatchHeader("m", "gomoku", ("ada", "bob"), None, 0, "usual"))
    writers.recap = again.recap, match_status(match, 120), (0, 1)
    duel = Duel(("ada", "bob"), 7, lambda: b"id")
    writers.join(0, lambda _: duel)
    assert duel.moves == 12
    starting, question = duel.resume(0, match_status(match, 120))
    assert json.loads(starting)["against"] == "bob"
    assert json.loads(question)["board"]["_moves"] == [[0, 0], [0, 1], [1, 0]]
    news = match.submit(0, {"x": 5, "y": 5}, 130)
    writers.join(1, Battlebot)
    (message,) = writers.written(news, match_status(match, 130))[1]
    state = json.loads(message)["state"]
    assert (state["bots"], state["boardsPlayed"]) == (["bob", "ada"], [{"ada": 1, "bob": 2}])


def test_a_credit_is_not_announced() -> None:
    row = CATALOGUE["noughts-and-crosses"]
    match = Match(row.game, 2, row.terms, 1)
    match.start()
    announced = match_status(match, 0).time_left
    match.credit(0, 70, 0, 0)
    match.credit(1, 70, 0, 0)
    assert match.clocks.active
    assert match_status(match, 0).time_left == announced


def test_in_a_pause_the_whole_limit_is_announced_and_no_grace_period() -> None:
    row = CATALOGUE["noughts-and-crosses"]
    pace = replace(row.terms.pace, limit=1000, grace=10, pause=50)
    match = Match(row.game, 2, replace(row.terms, pace=pace), 1)
    match.start()
    match.submit(0, {"mark": "X", "space": [0, 0]}, 10)
    assert match.resting
    assert match_status(match, 20).time_left == 1000
