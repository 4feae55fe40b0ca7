"""The example bots of the pages play by the rules."""

import re
from pathlib import Path
from typing import Any

import pytest

from botdrome.bots.house import house_bots, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.match.match import Match

SOURCE = Path(__file__).parents[2] / "web" / "src" / "pages" / "examples.ts"
EXAMPLES = dict(re.findall(r"'?([\w-]+)'?: `(.*?)`", SOURCE.read_text(), re.DOTALL))


@pytest.mark.parametrize("game", EXAMPLES)
def test_an_example_bot_plays_a_whole_match(game: str) -> None:
    program: dict[str, Any] = {}
    exec(EXAMPLES[game], program)
    row = CATALOGUE[game]
    match = Match(row.game, 2, row.terms, 5)
    simulate(match, [program["bot"], seated(house_bots(game)["random"], 1)])
    assert match.result is not None
    assert match.result.causes == ("complete", "complete")
    assert match.strikes[0] == 0
