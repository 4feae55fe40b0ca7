"""Contest documents: each mistake has its line, the value and a correct example; the text reads
back as it was.
"""

import tomllib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET
from msgspec.structs import fields

from botdrome.catalogue import CATALOGUE
from botdrome.contest.document import (
    EXAMPLE,
    KEYS,
    BadDocument,
    ContestDocument,
    document_from,
    problems_of,
    read_document,
    to_toml,
)
from botdrome.match.terms import Bank

HEAD = 'name = "cup"\ngame = "gomoku"\n'


def problem(text: str, head: str = HEAD) -> str:
    with pytest.raises(BadDocument) as caught:
        read_document(head + text)
    return str(caught.value)


def test_grades_are_for_results_against_entrants() -> None:
    document = read_document(
        HEAD + '[[entrants]]\nbot = "house:threat"\n[[grades]]\nname = "A"\n'
        'against = "house:threat"\nscore = 0.5\n'
    )
    assert [grade.against for grade in document.grades] == ["house:threat"]


def test_the_example_is_right_and_so_is_that_of_every_key() -> None:
    assert read_document(EXAMPLE).rounds == 5
    for _, example in KEYS.values():
        assert tomllib.loads(example)
    top = {field.encode_name for field in fields(ContestDocument)}
    assert top == {key for key in KEYS if "." not in key}
    parts = {"entry": "entry", "clock": "clock", "penalties": "penalties"}
    for part in parts:
        inside = {
            field.encode_name
            for field in fields(getattr(ContestDocument(name="a", game="gomoku"), part))
        }
        assert inside == {key.partition(".")[2] for key in KEYS if key.startswith(f"{part}.")}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "rounds = 0",
            "line 3: rounds: a whole number of at least 1, not 0; for example rounds = 5",
        ),
        (
            'rounds = "x"',
            "line 3: rounds: a whole number of at least 1, not 'x'; for example rounds = 5",
        ),
        ("rotate = 1", "line 3: rotate: true or false, not 1; for example rotate = true"),
        (
            '\nstart = "soon"',
            "line 4: start: a moment with its time zone, not 'soon'; for example start = "
            "2026-11-20T14:00:00Z",
        ),
        (
            "start = 2026-11-20T14:00:00",
            "line 3: start: a moment with its time zone, not '2026-11-20T14:00:00'; for",
        ),
        ('tie_breaks = ["direct", "x"]', "line 3: tie_breaks[1]: a list of direct, opponents"),
        (
            '[entry]\nlate = true\nkind = "x"',
            "line 5: entry.kind: open, list, password or class, not 'x'; for example kind = \"open\"",
        ),
        ('entry.kind = "x"', "line 3: entry.kind: open, list, password or class"),
        (
            "[entry]\nnope = 1",
            "line 4: entry.nope: there is no such key; there are kind, class, uploads, runner_class, bots, password, "
            "per_owner, most, late, ver",
        ),
        ("nope = 1", "line 3: nope: there is no such key; there are name, game, title"),
        (
            '[[entrants]]\nbot = "a"\n[[entrants]]\nname = "b"',
            "line 5: entrants[1].bot: this key is missing; for example bot = ",
        ),
        (
            '[[entrants]]\nbot = "a"\n[[entrants]]\nbot = 3',
            "line 6: entrants[1].bot: a bot, not 3; for example bot = ",
        ),
        (
            "penalties = {wait = -1}",
            "line 3: penalties.wait: seconds, at least 0, not -1; for example wait = 60.0",
        ),
        ("players = 4", "line 3: players: gomoku is played by 2, not 4; for example players = 2"),
        ("[options]\nsize = 1", "line 3: options: gomoku: size: expected `int` >= "),
        (
            'best_of = 3\nformat = "swiss"',
            "line 3: best_of: this belongs to knockout and double-elimination and groups, not to "
            "swiss",
        ),
        (
            "advance = 3",
            "line 3: advance: this belongs to groups, not to round-robin; leave it out, or use "
            'format = "groups"',
        ),
        (
            'format = "knockout"\nbest_of = 4',
            "line 4: best_of: an odd number, not 4; for example best_of = 5",
        ),
        (
            "games = 1001",
            "line 3: games: a meeting has at most 1000 matches, not 1001; for example games = 5",
        ),
        (
            'format = "knockout"\nbest_of = 3\ngames = 2',
            "line 5: games: best_of = 3 decides how many matches are played",
        ),
        ('tie_breaks = ["wins", "wins"]', "line 3: tie_breaks: 'wins' is named twice"),
        ('[entry]\nkind = "list"', 'line 3: entry.bots: kind = "list" needs the names of the bots'),
        ('[entry]\nbots = ["a"]', 'line 4: entry.bots: kind = "open" has no list of bots'),
        ('[entry]\nkind = "list"\nbots = ["a", "a"]', "line 5: entry.bots: 'a' is named twice"),
        (
            '[entry]\nkind = "password"',
            'line 3: entry.password: kind = "password" needs a password',
        ),
        (
            '[entry]\nkind = "class"',
            'line 3: entry.class: kind = "class" needs the name of the class',
        ),
        (
            '[entry]\nkind = "class"\nclass = "a"',
            "penalties.no_show: uploaded bots wait for a runner",
        ),
        (
            "[entry]\nrunner_class = 'a'",
            'line 4: entry.runner_class: this belongs to kind = "class"',
        ),
        ("[entry]\nuploads = 2", 'line 4: entry.uploads: this belongs to kind = "class"'),
        (
            '[[grades]]\nname = "A"\nagainst = "house:x"\nscore = 0.5',
            "line 5: grades[0].against: 'house:x' is not one of [[entrants]]; there are: none",
        ),
        ('[entry]\npassword = "x"', 'line 4: entry.password: kind = "open" has no password'),
        (
            'format = "groups"\nentry.late = true',
            "line 4: entry.late: groups takes no entrants after the start",
        ),
        (
            'clock.control = "fast"',
            "line 3: clock.control: there is no time control 'fast'; `40/60+0.6` is",
        ),
        (
            'clock = {control = "60+1", bank = 5}',
            "line 3: clock.bank: control = '60+1' says everything; leave this out",
        ),
        ('clock = {control = "60+1", limit = 5}', "line 3: clock.limit: control"),
        (
            "start = 2026-11-20T14:00:00Z\nend = 2026-11-20T14:30:00+01:00",
            "line 4: end: 2026-11-20T14:30:00+01:00 is not after",
        ),
        (
            'start = "2026-02-29 14:00Z"',
            "line 3: start: there is no moment '2026-02-29 14:00Z'; for example start = 2026-11-20",
        ),
        (
            '[[entrants]]\nbot = "a"\n[[entrants]]\nbot = "a"',
            "line 5: entrants[1].name: two entrants are called 'a'; give this one",
        ),
        ("rounds =", "line 3: this is not TOML: "),
    ],
)
def test_a_mistake_is_named_with_its_line_and_what_would_be_right(text: str, message: str) -> None:
    assert problem(text)[: len(message)] == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            'name = "a"\ngame = "chess"',
            "line 2: game: there is no game 'chess'; there are noughts-and-crosses, bumblebots",
        ),
        ('game = "gomoku"', 'name: this key is missing; for example name = "autumn-cup"'),
        (
            'name = "a"\ngame = "bomberman"\nplayers = 9',
            "line 3: players: bomberman is played by 2 to 8, not 9",
        ),
        (
            'name = "a"\ngame = "bomberman"\nclock.bank = 9',
            "line 3: clock.bank: bomberman is played in ticks of fixed length",
        ),
        (
            'name = "a"\ngame = "bomberman"\nclock.control = "9"',
            "line 3: clock.control: bomberman is played in ticks",
        ),
        (
            'name = "a"\ngame = "bomberman"\nplayers = 4\nformat = "double-elimination"',
            "line 4: format: double-elimination is played in pairs, not at tables of 4",
        ),
        (
            'name = "a"\ngame = "bomberman"\nplayers = 4\nformat = "knockout"\nbest_of = 3',
            "line 5: best_of: this is for pairs, not for tables of 4; use games, for example games "
            "= 4",
        ),
    ],
)
def test_the_game_decides_too(text: str, message: str) -> None:
    assert problem(text, head="")[: len(message)] == message


def test_all_problems_of_a_document_can_be_listed() -> None:
    def keys(**changes: Any) -> list[str]:
        document = ContestDocument(**({"name": "a", "game": "gomoku"} | changes))
        return [problem.partition(":")[0] for problem in problems_of(document)]

    assert keys() == []
    assert keys(game="chess") == ["game"]
    assert keys(players=4) == ["players"]
    assert keys(rounds=3, best_of=2, games=1, options={"size": 1}) == [
        "options",
        "rounds",
        "best_of",
        "best_of",
        "games",
    ]
    assert keys(format_="groups", best_of=3, games=1) == []


def test_moments_are_compared_across_zones_and_leap_years() -> None:
    for start, end in [
        ("2028-02-29T23:59:59.5Z", "2028-03-01T00:00Z"),
        ("2026-12-31T23:00:00-02:00", "2027-01-01T02:00:00+00:30"),
        ("2026-11-20 14:00+01:00", "2026-11-20 14:00Z"),
    ]:
        assert document_from({"name": "a", "game": "gomoku", "start": start, "end": end}).end == end
        with pytest.raises(BadDocument, match=r"end: .* is not after the start"):
            document_from({"name": "a", "game": "gomoku", "start": end, "end": start})


def test_the_clock_changes_the_terms_of_the_game() -> None:
    def pace(**clock: Any) -> Any:
        return document_from({"name": "a", "game": "gomoku", "clock": clock}).terms.pace

    assert document_from({"name": "a", "game": "gomoku"}).terms is CATALOGUE["gomoku"].terms
    assert (pace(limit=100).limit, pace(limit=100).bank) == (100, UNSET)
    assert (pace(bank=60_000).limit, pace(bank=60_000).bank) == (5000, Bank(60_000))
    assert (pace(control="40/60+0.6").limit, pace(control="40/60+0.6").bank) == (
        None,
        Bank(60_000, 600, 40),
    )


TEXTS = st.text(st.characters(codec="utf-8"), max_size=12)


@st.composite
def documents(draw: st.DrawFn) -> ContestDocument:
    data: dict[str, Any] = {
        "name": "a",
        "game": "bomberman",
        "title": draw(TEXTS),
        "seed": draw(st.integers(0, 99)),
    }
    data["players"] = draw(st.sampled_from([2, 4]))
    if draw(st.booleans()):
        data |= {
            "format": "swiss",
            "rounds": 3,
            "start": "2026-11-20T14:00:00Z",
            "tie_breaks": draw(st.sampled_from([[], ["wins"]])),
        }
        data["entry"] = {
            "kind": "password",
            "password": draw(TEXTS.filter(bool)),
            "late": draw(st.booleans()),
        }
    if draw(st.booleans()):
        names = draw(st.lists(TEXTS.filter(bool), unique=True, min_size=4, max_size=5))
        data["entrants"] = [
            {"bot": "house:random", "name": name, "owner": draw(TEXTS)} for name in names
        ]
        data["penalties"] = {"wait": draw(st.floats(0, 604_800)), "no_show": "skip"}
    return document_from(data)


@given(documents())
@settings(max_examples=50, deadline=None, derandomize=True)
def test_the_text_of_a_document_reads_back_as_it_was(document: ContestDocument) -> None:
    assert read_document(to_toml(document)) == document


def test_the_text_has_only_what_differs_from_the_defaults() -> None:
    assert to_toml(read_document(EXAMPLE)) == EXAMPLE.replace('kind = "open"\n', "")
    options = {"size": 19, "odd key": [{"a": None, "b": True}]}
    assert to_toml(ContestDocument(name="a", game="gomoku", options=options)).endswith(
        '\n[options]\nsize = 19\n"odd key" = [{b = true}]\n'
    )


DEEP = "at most 8 tables and lists inside each other"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("options = {a = " + "[" * 3000 + "]" * 3000 + "}", f"line 3: {DEEP}"),
        ("\noptions = " + "{a = " * 3000 + "1" + "}" * 3000, f"line 4: {DEEP}"),
        (
            "options = {a = " + "[" * 9 + "]" * 9 + "}",
            f"line 3: options.a[0][0][0][0][0][0][0]: {DEEP}",
        ),
        (
            "options." + ".".join("a" * 20_000) + " = 1",
            "line 3: the line has 20000 dots; at most 200 are allowed, so break it",
        ),
        ("options." + ".".join("a" * 150) + " = 1", f"line 3: options.a.a.a.a.a.a.a.a: {DEEP}"),
        (
            "title = '" + "x" * 300_000 + "'",
            "the document has 300039 characters; at most 262144 are allowed",
        ),
        ("seed = " + "9" * 5000, "line 3: a number has too many digits; 64 bits are allowed"),
        (
            "seed = 0x" + "f" * 100_000,
            "line 3: seed: a whole number of at most 64 bits, not of 400000",
        ),
        (
            "seed = -9223372036854775809",
            "line 3: seed: a whole number of at most 64 bits, not of 64",
        ),
        ("[penalties]\nwait = inf", "line 4: penalties.wait: a finite number, not inf"),
        ("[penalties]\nwait = 1e9", "line 4: penalties.wait: at most 604800, not 1000000000.0"),
        ('format = "swiss"\nrounds = 1_000_000', "line 4: rounds: at most 10000, not 1000000"),
        ("clock.limit = 1_000_000_000", "line 3: clock.limit: at most 604800000, not 1000000000"),
        ("options.size = 1.5e999", "line 3: options.size: a finite number, not inf"),
    ],
)
def test_size_depth_and_range_are_bounded(text: str, message: str) -> None:
    assert problem(text) == message


def test_the_largest_seeds_are_allowed() -> None:
    for seed in (-(1 << 63), (1 << 63) - 1):
        assert read_document(f"{HEAD}seed = {seed}").seed == seed


@pytest.mark.parametrize("data", ["name = 'cup'", ["cup"], 5])
def test_a_document_is_a_table(data: Any) -> None:
    with pytest.raises(
        BadDocument,
        match=r"the document is a table with keys such as name and game, not (str|list|int); TOML",
    ):
        document_from(data)
