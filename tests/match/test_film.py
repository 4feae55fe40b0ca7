"""Films of matches."""

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from botdrome.bots.house import house_bots, seated
from botdrome.bots.simulate import simulate
from botdrome.catalogue import CATALOGUE
from botdrome.games.options import with_options
from botdrome.match.events import Late, Refused
from botdrome.match.film import SNAPSHOTS, FilmFrame, FilmHeader, film_lines, frames, header_of
from botdrome.match.match import Match
from botdrome.match.record import BadRecord, Record, match_file, read, replay
from tests.golden.test_golden import every_file, file_of
from tests.match.films import views
from tests.match.telling import mark

NOUGHTS = CATALOGUE["noughts-and-crosses"]


def record_of(match: Match) -> Record:
    return read(match_file(match, [f"bot {player}" for player in range(match.players)]))


def told(record: Record, game: Any) -> list[Any]:
    return [
        (t, event, position.view(None))
        for t, news in replay(record, game)
        for event, position in news
    ]


@pytest.mark.no_cover
@every_file
def test_a_film_shows_what_the_match_told(name: str, version: int) -> None:
    record = read(file_of(name, version).read_bytes())
    game = with_options(CATALOGUE[name].game, record.setup.options)
    film, wanted = list(frames(record, game)), told(record, game)
    assert [(frame.t, frame.event) for frame in film] == [(t, event) for t, event, _ in wanted]
    assert [msgspec.json.encode(view) for view in views(film)] == [
        msgspec.json.encode(view) for *_, view in wanted
    ]
    assert all(frame.view and not frame.change for frame in film[::SNAPSHOTS])


@pytest.mark.no_cover
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", CATALOGUE)
def test_its_changes_give_the_views(name: str, seed: int) -> None:
    row = CATALOGUE[name]
    players = min(5, row.game.players[-1])
    match = simulate(
        Match(row.game, players, row.terms, seed),
        [seated(house_bots(name)["random"], seed + player) for player in range(players)],
    )
    record = record_of(match)
    wanted = [msgspec.json.encode(view) for *_, view in told(record, row.game)]
    assert [msgspec.json.encode(view) for view in views(frames(record, row.game))] == wanted


def test_the_header_says_what_the_file_says() -> None:
    match = Match(NOUGHTS.game, 2, NOUGHTS.terms, 1)
    match.start()
    header = header_of(record_of(match))
    assert (header.film, header.match, header.game, header.contest, header.started) == (
        1,
        None,
        match.game.name,
        None,
        None,
    )
    assert [player.name for player in header.players] == ["bot 0", "bot 1"]
    assert (header.terms, header.result) == (NOUGHTS.terms, None)


def test_moves_that_were_refused_or_late_are_on_film() -> None:
    match = Match(NOUGHTS.game, 2, NOUGHTS.terms, 1)
    match.start()
    match.submit(1, mark(1, 0, 0), 10)
    match.submit(0, mark(0, 0, 0), 6000)
    film = list(frames(record_of(match), NOUGHTS.game))
    refused, late = (
        next(frame for frame in film if isinstance(frame.event, kind)) for kind in (Refused, Late)
    )
    assert refused == FilmFrame(10, Refused(1, "it is not your turn", mark(1, 0, 0), 1))
    assert (late.t, late.event) == (6000, Late(0, 1000))


def test_the_last_frame_has_the_headlines() -> None:
    match = Match(NOUGHTS.game, 2, NOUGHTS.terms, 1)
    match.start()
    for _ in range(3):
        match.submit(0, mark(0, 9, 9), 0)
    *others, last = frames(record_of(match), NOUGHTS.game)
    assert [frame.headlines for frame in others] == [UNSET] * len(others)
    assert isinstance(last.headlines, tuple)
    assert [headline.rpartition(", ")[2] for headline in last.headlines] == [
        "third illegal move"
    ] * 2
    assert [headline.partition(":")[0] for headline in last.headlines] == [
        "lost at step 0",
        "won at step 0",
    ]


def test_a_secret_move_that_was_refused_is_left_out() -> None:
    row = CATALOGUE["battleship"]
    match = Match(row.game, 2, row.terms, 1)
    match.start()
    match.submit(0, {"board": ["AAAAA"]}, 10)
    match.conclude(20)
    (refused,) = [
        frame.event
        for frame in frames(record_of(match), row.game)
        if isinstance(frame.event, Refused)
    ]
    assert refused.why and refused.move is None


def test_lines_can_be_read_as_the_types_say() -> None:
    record = read(file_of("bomberman", 2).read_bytes())
    game = CATALOGUE["bomberman"].game
    header, *rest = film_lines(header_of(record), frames(record, game))
    assert msgspec.json.decode(header, type=FilmHeader) == header_of(record)
    assert [msgspec.json.decode(line, type=FilmFrame) for line in rest] == list(
        frames(record, game)
    )


def test_a_film_ends_where_its_record_does_not_lead_on() -> None:
    record = read(file_of("gomoku", 2).read_bytes())
    lines = list(record.lines)
    lines[5] = msgspec.structs.replace(lines[5], by=9)
    with pytest.raises(BadRecord, match=r"^line 7: it cannot be played"):
        list(frames(Record(record.setup, tuple(lines), record.result), CATALOGUE["gomoku"].game))


def test_it_says_how_long_the_players_took() -> None:
    match = Match(NOUGHTS.game, 2, NOUGHTS.terms, 1)
    match.start()
    match.submit(0, mark(0, 0, 0), 100)
    match.submit(1, mark(1, 0, 0), 150)  # is taken
    match.submit(1, mark(1, 1, 1), 400)
    record = record_of(match)
    assert [frame.thought for frame in frames(record, NOUGHTS.game)] == [
        UNSET,
        {0: 100},
        UNSET,
        {1: 300},
    ]


def test_players_that_move_together_have_times_of_their_own() -> None:
    row = CATALOGUE["bumblebots"]
    match = Match(row.game, 2, row.terms, 1)
    match.start()
    orders: dict[str, Any] = {"orders": {}}
    match.submit(1, orders, 30)
    match.submit(0, orders, 70)
    match.submit(1, orders, 90)  # the last word counts
    match.wake(match.deadline or 0)
    record = record_of(match)
    assert [frame.thought for frame in frames(record, row.game)] == [UNSET, {1: 90, 0: 70}]


def test_a_running_match_shows_what_its_spectators_saw() -> None:
    match = Match(NOUGHTS.game, 2, NOUGHTS.terms, 1)
    match.start()
    match.submit(1, mark(1, 0, 0), 10)
    match.submit(0, mark(0, 0, 0), 20)
    match.submit(1, mark(1, 1, 1), 30)
    record = record_of(match)
    seen = [one for one in told(record, NOUGHTS.game) if not isinstance(one[1], Refused)]
    film = list(frames(record, NOUGHTS.game, running=True))
    assert [(frame.t, frame.event) for frame in film] == [(t, event) for t, event, _ in seen]
    assert [msgspec.json.encode(view) for view in views(film)] == [
        msgspec.json.encode(view) for *_, view in seen
    ]
    assert {frame.thought for frame in film} == {UNSET}
    assert any(frame.thought for frame in frames(record, NOUGHTS.game))
