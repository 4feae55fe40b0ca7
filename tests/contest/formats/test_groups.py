"""Groups, then knockout."""

from botdrome.contest.formats.elimination import Groups, parted
from botdrome.contest.progress import ContestProgress
from tests.contest.formats.examples import bots, contest, document, order, played


def test_the_best_of_each_group_go_on() -> None:
    progress = contest("groups", 8)
    first = {number for fixture in progress.rounds[0].fixtures[:12] for number in fixture.entrants}
    assert first == {0, 3, 4, 7}
    assert Groups(document("groups"), bots(8), {}).groups() == [[0, 3, 4, 7], [1, 2, 5, 6]]
    assert order(progress)[:4] == [0, 1, 2, 3]
    notes = [line.note for line in progress.standings()[4:]]
    assert notes == [
        "place 3 in group 1",
        "place 3 in group 2",
        "place 4 in group 2",
        "place 4 in group 1",
    ]


def test_groups_do_not_meet_again_at_once() -> None:
    progress = contest("groups", 12, groups=3, advance=2)
    groups = [{0, 5, 6, 11}, {1, 4, 7, 10}, {2, 3, 8, 9}]
    second = [set(fixture.entrants) for fixture in progress.rounds[1].fixtures]
    assert second
    assert not any(pair <= group for pair in second for group in groups)
    assert parted([0, 1, 2, 3], {0: 0, 1: 1, 2: 1, 3: 0}) == [0, 1, 3, 2]


def test_larger_tables_play_heats_after_the_groups() -> None:
    progress = contest("groups", 12, players=4, games=1)
    assert progress.rounds_played == 2
    assert order(progress)[:4] == [0, 1, 2, 3]


def test_standings_during_the_group_stage_are_those_of_the_groups() -> None:
    progress = played(ContestProgress(document("groups"), bots(8), {}), most=3)
    assert {line.note[:8] for line in progress.standings()} == {
        "place 1 ",
        "place 2 ",
        "place 3 ",
        "place 4 ",
    }


def test_groups_have_tables_and_a_bracket() -> None:
    progress = played(ContestProgress(document("groups"), bots(8), {}), most=3)
    assert isinstance(progress.format, Groups)
    assert [[line.entrant for line in table][:1] for table in progress.format.tables()] == [
        [0],
        [1],
    ]
    assert progress.format.followed() is None
    played(progress)
    bracket = progress.format.followed()
    assert bracket is not None
    assert {key: one.slots for key, one in bracket.places.items()} == {"2.1": 2, "2.2": 2, "3.1": 1}
    assert Groups(document("groups"), bots(1), {}).tables() == []


def test_groups_that_cannot_be_filled_are_refused() -> None:
    assert (
        Groups(document("groups", groups=4), (), {}).refusal(7)
        == "7 entrants cannot fill 4 groups of at least 2; 8 are needed"
    )
    few = document("groups", groups=2, advance=1, players=4)
    assert (
        Groups(few, (), {}).refusal(16)
        == "1 from each of 2 groups cannot fill a table of 4; let more advance"
    )
