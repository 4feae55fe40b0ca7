"""Writers that begin in the middle of a match."""

import json

from botdrome.match.record import Resumption, setup_of
from botdrome.wire.battlebot.conversation import battlebot
from botdrome.wire.duel.conversation import Duel
from botdrome.wire.writers import MatchHeader, MatchWriters, standing
from tests.match.test_resuming import a_match


def test_writers_of_a_resumed_match_know_how_it_stands() -> None:
    match = a_match(12)
    again = Resumption(setup_of(match, ("ada", "bob")), match.game, match.inputs)
    again.advance(100)
    writers = MatchWriters(MatchHeader("m", "gomoku", ("ada", "bob"), None, 0, "usual"))
    writers.recap = again.recap, standing(match, 120), (0, 1)
    duel = Duel(("ada", "bob"), 7, lambda: "id")
    writers.join(0, lambda _: duel)
    assert duel.lengths == [9, 3]
    starting, question = duel.resume(0, standing(match, 120))
    assert json.loads(starting)["against"] == "bob"
    assert json.loads(question)["board"]["_moves"] == [[0, 0], [0, 1], [1, 0]]
    news = match.submit(0, {"x": 5, "y": 5}, 130)
    (message,) = writers.join(1, battlebot).messages(1, news, standing(match, 130))
    state = json.loads(message)["state"]
    assert (state["bots"], state["boardsPlayed"]) == (["bob", "ada"], [{"ada": 1, "bob": 2}])
