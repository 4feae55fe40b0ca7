"""The fixed ratings are those that the docs publish."""

import re
from pathlib import Path

from botdrome.bots.house import HOUSE_RATINGS, house_bots
from botdrome.catalogue import CATALOGUE

PAGE = Path(__file__).parents[2] / "docs" / "house-bots.md"


def test_they_are_those_of_the_docs() -> None:
    published: dict[str, dict[str, float]] = {}
    for part in PAGE.read_text().split("\n## ")[1:]:
        if ladder := re.search(r"`python -m bench.ladder ([a-z-]+)`, with", part):
            rows = re.findall(r"^\| `(\w+)` \|[^|]*\| (\d+) \|", part, re.MULTILINE)
            published[ladder[1]] = {bot: float(rating) for bot, rating in rows}
    assert published == HOUSE_RATINGS


def test_every_house_bot_has_one() -> None:
    assert {game: set(ratings) for game, ratings in HOUSE_RATINGS.items()} == {
        game: set(house_bots(game)) for game in CATALOGUE
    }
