"""Match files: written, read, replayed; and bad files."""

import pytest

from botdrome.bots.house import house_bots, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.games.chance import Chance, SplitMix
from botdrome.games.options import with_options
from botdrome.match.match import Match
from botdrome.match.record import (
    BadRecord,
    match_file,
    news_as_bytes,
    read,
    renamed,
    replay,
    seeded_match,
    unchecked_file,
    verify,
)
from tests.match.telling import mark

NOUGHTS = CATALOGUE["noughts-and-crosses"]


def played(name: str, seed: int = 5) -> Match:
    row = CATALOGUE[name]
    players = min(3, row.game.players[-1])
    bots = [seated(house_bots(name)["random"], seed + player) for player in range(players)]
    return simulate(Match(row.game, players, row.terms, seed), bots)


def names(match: Match) -> list[str]:
    return [f"bot {player}" for player in range(match.players)]


@pytest.mark.parametrize("name", CATALOGUE)
def test_a_match_replays_from_its_file_to_the_same_news(name: str) -> None:
    match = played(name)
    data = match_file(match, names(match))
    record = read(data)
    assert record.result == match.result
    game = with_options(CATALOGUE[name].game, record.setup.options)
    verify(record, game)
    again = [news_as_bytes(news) for _, news in replay(record, game)]
    assert again == [news_as_bytes(news) for _, news in replay(read(data), game)]


def test_a_file_with_other_names_holds() -> None:
    match = played("gomoku")
    data = match_file(match, ["ada", "bob"])
    assert renamed(data, {}) == data
    record = read(renamed(data, {"bob": "deleted-1"}))
    assert record.setup.names == ("ada", "deleted-1")
    verify(record, CATALOGUE["gomoku"].game)


def test_every_kind_of_input_replays() -> None:
    row = CATALOGUE["battleship"]
    match = Match(row.game, 3, row.terms, 2)
    match.start()
    match.submit(0, "rubbish", 5)
    match.leave(1, 10)
    match.wake(60_000)
    match.rejoin(1, 60_100)
    match.amend({}, 60_200, pause=5)
    match.expel(2, "crash", 60_300, "oh")
    match.submit(0, {"skip": True}, 60_400)
    match.wake(60_405)
    match.abort(60_500)
    kinds = {kind for _, kind, _, _ in match.inputs}
    assert kinds == {"move", "leave", "wake", "rejoin", "amend", "expel", "abort"}
    verify(read(match_file(match, names(match))), row.game)


def test_an_early_end_counts_and_replays() -> None:
    row = CATALOGUE["battleship"]
    match = Match(row.game, 2, row.terms, 2)
    match.start()
    match.conclude(10)
    assert match.result is not None and match.result.causes == ("complete", "complete")
    assert match.conclude(20) == []
    verify(read(match_file(match, names(match))), row.game)


def test_the_file_of_a_match_that_goes_on_has_no_result_yet() -> None:
    match = Match(NOUGHTS.game, 2, NOUGHTS.terms, 1)
    match.start()
    match.submit(0, mark(0, 1, 1), 17)
    record = read(match_file(match, ["a", "b"]))
    assert record.result is None
    assert record.lines[0].input == match.inputs[0]
    verify(record, NOUGHTS.game)


def test_a_file_without_checks_is_held_to_its_result() -> None:
    match = played("gomoku")
    data = unchecked_file(match, ["a", "b"])
    record = read(data)
    assert record.result == match.result
    assert [line.input for line in record.lines] == [
        line.input for line in read(match_file(match, ["a", "b"])).lines
    ]
    verify(record, CATALOGUE["gomoku"].game)
    unfinished = Match(NOUGHTS.game, 2, NOUGHTS.terms, 1)
    unfinished.start()
    assert read(unchecked_file(unfinished, ["a", "b"])).result is None


DATA = match_file(played("noughts-and-crosses"), ["a", "b"])
LINES = DATA.splitlines(keepends=True)
SEED = b'"%032x"' % 5


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "line 1: the file is empty"),
        (b"{}", "line 1: this is not a match file of version 1 to 3"),
        (LINES[0][:-1], "line 1: the file is cut off in this line"),
        (b"{}\n", "line 1: this is not a match file of version 1 to 3"),
        (
            b"[1]\n",
            "line 1: this is not a match file of version 1 to 3: its first line is no JSON object",
        ),
        (
            b"\xff\n",
            "line 1: this is not a match file of version 1 to 3: its first line is no JSON object",
        ),
        (b'{"botdrome":4}\n', "line 1: this is not a match file of version 1 to 3"),
        (b'{"botdrome":true}\n', "line 1: this is not a match file of version 1 to 3"),
        (b'{"botdrome":1}\n', "line 1: Object missing required field `game`"),
        (DATA.replace(SEED, b"5"), "line 1: the seed must be 32 hexadecimal digits, not 5"),
        (
            DATA.replace(SEED, b'"' + b"g" * 32 + b'"'),
            "line 1: the seed must be 32 hexadecimal digits, not 'gggg",
        ),
        (
            DATA.replace(b'"botdrome":2', b'"botdrome":1'),
            "line 1: the seed of version 1 must be a whole number, not '0000",
        ),
        (
            DATA.replace(b'"boards":1', b'"boards":0', 1),
            "line 1: a match has 1 to 100 boards, not 0",
        ),
        (
            DATA.replace(b'"boards":1', b'"boards":101', 1),
            "line 1: a match has 1 to 100 boards, not 101",
        ),
        (LINES[0] + b"[" * 100_000 + b"\n", "line 2: "),
        (DATA[:-5], f"line {len(LINES)}: the file is cut off"),
        (DATA.replace(LINES[2], b"what?\n"), "line 3: JSON is malformed"),
        (DATA.replace(LINES[2], b'{"t":1,"do":"dance"}\n'), "line 3: Invalid enum value 'dance'"),
        (DATA.replace(b'"t":0', b'"t":1', 1), f"line {len(LINES)}: the digest does not fit"),
        (b"".join(LINES[:-1]), f"line {len(LINES) - 1}: after the result comes the digest"),
        (
            DATA + b"{}\n",
            f"line {len(LINES) + 1}: after the result comes the digest and nothing else",
        ),
    ],
)
def test_a_file_that_is_not_whole_says_where(data: bytes, problem: str) -> None:
    with pytest.raises(BadRecord) as caught:
        read(data)
    assert str(caught.value).startswith(problem)


def test_a_match_of_version_1_is_written_and_read_with_its_own_chance() -> None:
    row = CATALOGUE["bumblebots"]
    old, new = (Match(row.game, 2, row.terms, 5, generator) for generator in (SplitMix, Chance))
    assert old.view(None) != new.view(None)
    for match, version, seed in ((old, 1, 5), (new, 2, f"{5:032x}")):
        match.start()
        match.abort(10)
        record = read(match_file(match, ["a", "b"]))
        verify(record, row.game)
        assert seeded_match(row.game, 2, row.terms, record.setup.seed).view(None) == match.view(
            None
        )
        assert (record.setup.botdrome, record.setup.seed) == (version, seed)


def test_the_first_line_that_leads_elsewhere_is_named() -> None:
    body = LINES[:-2]
    third = body[2].replace(b'"by":1', b'"by":0')
    with pytest.raises(BadRecord, match="line 3: the news differ from here on: check"):
        verify(read(b"".join([*body[:2], third, *body[3:]])), NOUGHTS.game)


@pytest.mark.parametrize("player", [7, 2**70])
def test_a_line_that_cannot_be_played_is_named(player: int) -> None:
    second = LINES[1].replace(b'"by":0', b'"by":%d' % player)
    with pytest.raises(BadRecord, match="line 2: it cannot be played"):
        verify(read(LINES[0] + second), NOUGHTS.game)


def test_a_result_that_does_not_follow_is_named() -> None:
    record = read(DATA)
    shorter = type(record)(record.setup, record.lines[:-1], record.result)
    with pytest.raises(
        BadRecord, match=f"line {len(record.lines) + 1}: the match does not come to this result"
    ):
        verify(shorter, NOUGHTS.game)


def test_other_rules_are_named() -> None:
    data = LINES[0].replace(b'"rules":1', b'"rules":99')
    with pytest.raises(
        BadRecord,
        match="line 1: it was played by version 99 of the rules of noughts-and-crosses, and this "
        "is 1",
    ):
        verify(read(data), NOUGHTS.game)


def test_players_that_the_game_has_no_room_for_are_named() -> None:
    data = LINES[0].replace(b'["a","b"]', b'["a","b","c"]')
    with pytest.raises(BadRecord, match="line 1: noughts-and-crosses is for 2 to 2 players, not 3"):
        verify(read(data), NOUGHTS.game)
