"""The short way of the native tongue, for a step after which the match goes on, tells the same as
the long way.
"""

from collections.abc import Iterator

import pytest

from botdrome.bots.house import house_bots, house_view, seated
from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance
from botdrome.match.events import Played
from botdrome.match.match import Match, News
from botdrome.wire.battlebot.messages import Battlebot
from botdrome.wire.writers import MatchHeader, MatchStatus, match_status, seat_on
from tests.contract.setups import Setup, setups

SEEDS = range(6)
ROUNDS = 40
NONSENSE = [
    None,
    5,
    "no",
    [],
    ["a", 1],
    {},
    {"space": [9, 9]},
    {"type": "x", "name": "y"},
    {"orders": "UL"},
]


class TheLongWay(Battlebot):
    on_news = Battlebot._on_much


def news_of(match: Match, seed: int) -> Iterator[tuple[News, MatchStatus]]:
    """Of random bots that talk nonsense at times, fall asleep and leave."""
    coin, players, now = Chance(seed), match.players, 0
    bots = [
        seated(house_bots(match.game.name)["random"], 100 * seed + player)
        for player in range(players)
    ]
    yield match.start(), match_status(match, now)
    for _ in range(ROUNDS):
        for player in range(players):
            seat = seat_on(match.board.number, player, players)
            if match.result is None and seat in match.position.to_move and coin.below(15):
                raw = (
                    bots[player](house_view(match.position, seat))
                    if coin.below(15)
                    else NONSENSE[coin.below(len(NONSENSE))]
                )
                yield match.submit(player, raw, now), match_status(match, now)
        if not coin.below(40):
            yield match.leave(coin.below(players), now), match_status(match, now)
        sleepy = match.terms.pace.beat or not coin.below(20)
        now = match.deadline if sleepy and match.deadline is not None else now + coin.below(50)
        yield match.wake(now), match_status(match, now)


def compared(setup: Setup, seed: int) -> int:
    """How many steps went the short way."""
    game, players = setup
    names, listening = (
        tuple(f"bot {player}" for player in range(players)),
        range(players) if seed % 2 else [players - 1],
    )
    header = MatchHeader("", game.name, names, None, 1_000_000)
    short, long = Battlebot(header), TheLongWay(header)
    steps = 0
    for news, stands in news_of(Match(game, players, CATALOGUE[game.name].terms, seed), seed):
        if news:
            assert short.on_news(news, stands, listening) == long.on_news(news, stands, listening)
            steps += len(news) == 1 and isinstance(news[0][0], Played)
    return steps


@pytest.mark.no_cover
@pytest.mark.parametrize("name", CATALOGUE)
def test_both_ways_tell_the_same(name: str) -> None:
    steps = sum(
        compared(setup, seed) for setup in setups() if setup[0].name == name for seed in SEEDS
    )
    assert steps > 20, "there was something to compare"
