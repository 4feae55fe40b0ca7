"""Grades of a contest, from its results."""

from msgspec.structs import replace

from botdrome.contest.document import Grade, OfflineEntrant
from botdrome.contest.formats.format import Entrant, FixtureResult
from botdrome.contest.grades import grade_columns, grade_lines, graded
from botdrome.contest.progress import ContestProgress
from botdrome.contest.strength import wilson
from tests.offline.contests import a_document

HOUSE = "house:random"


def progress(wins: int, draws: int, games: int, different: int) -> ContestProgress:
    """Ada has played against the house; Bob has not come."""
    document = replace(
        a_document(format_="gauntlet", games=games),
        entrants=(OfflineEntrant(bot=HOUSE),),
        grades=tuple(
            Grade(name=name, against=HOUSE, score=at) for name, at in (("A", 0.55), ("B", 0.4))
        ),
    )
    entrants = [Entrant(HOUSE, "house"), Entrant("ada", version="7"), Entrant("bob")]
    of, played = ContestProgress(document, entrants, {}), 0
    for fixture in of.fixtures.values():
        house, other = fixture.entrants.index(0), fixture.entrants[1 - fixture.entrants.index(0)]
        places = [2, 2]
        if other == 1:
            places[house] = 1 if played >= wins else 2
            places[1 - house] = 1 if played < wins + draws else 2
            played += 1
        else:
            places[house] = 1
        absent = (1 - house,) if other == 2 else ()
        game = 1 + played % different
        of.add(fixture.key, FixtureResult(tuple(places), absent, (), "", game if not absent else 0))
    return of


def test_the_lower_bound_of_the_interval_decides() -> None:
    ada, bob = graded(progress(130, 4, 200, 1000))
    share = ada.shares[HOUSE]
    assert (share.matches, share.different, share.score) == (200, 200, 0.66)
    assert (share.low, share.high) == tuple(round(one, 4) for one in wilson(0.66, 200))
    assert (ada.grade, share.low > 0.55) == ("A", True)
    assert (bob.grade, bob.shares[HOUSE].score) == ("", 0.0)
    (ada, _) = graded(progress(118, 4, 200, 1000))
    assert (ada.grade, ada.shares[HOUSE].score) == ("B", 0.6)


def test_repeated_games_count_once() -> None:
    ada, _ = graded(progress(200, 0, 200, 1))
    assert (ada.shares[HOUSE].different, ada.shares[HOUSE].matches) == (2, 200), "by seating"
    assert (ada.shares[HOUSE].score, ada.grade) == (1.0, ""), "two games are too few for a grade"


def test_the_table_has_a_line_for_each_bot_with_an_owner() -> None:
    of = progress(200, 0, 200, 1000)
    (line,) = grade_lines(of, {"ada": "Ada"})
    cells = dict(zip(grade_columns(of.document), line, strict=True))
    assert (cells["participant"], cells["version"], cells["grade"]) == ("Ada", "7", "A")
    assert (cells["place"], cells["wins"], cells[f"{HOUSE}: score"]) == (1, 200, 1.0)
    before = ContestProgress(of.document, [], {})
    assert (graded(before), grade_lines(before, {"ada": "Ada"})) == ([], [])


def test_a_contest_without_grades_has_none() -> None:
    assert graded(ContestProgress(a_document(), [Entrant("ada"), Entrant("bob")], {})) == []
