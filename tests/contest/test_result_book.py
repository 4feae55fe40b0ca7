"""The book of results is a dict that takes ten bytes a match."""

import tracemalloc
from itertools import islice
from random import Random

import pytest

from botdrome.contest import progress
from botdrome.contest.formats.format import FixtureResult
from botdrome.contest.progress import ContestProgress, ResultBook
from tests.contest.formats.examples import bots, document, seeds_win

KINDS = [
    FixtureResult((1, 2)),
    FixtureResult((2, 1)),
    FixtureResult((), (0,)),
    FixtureResult((1, 2), crashed=(1,)),
    FixtureResult((1, 1), match="m"),
    FixtureResult((1, 2), fingerprint=7),
    FixtureResult((1, 2), fingerprint=(1 << 48) - 1),
]
KEYS = ["1.1.1", "1.1.2", "1.1.3", "1.2.1", "2.9.2", "1.0.2", "3", "a.b.c", "1.99999999.1"]


@pytest.mark.parametrize("most", [2, 65_535])
def test_it_is_like_a_dict(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "MOST_KINDS", most)
    random, like = Random(1), dict[str, FixtureResult]()
    book = ResultBook(2, like)
    for _ in range(500):
        key = random.choice(KEYS)
        if random.random() < 0.3:
            assert book.pop(key, None) == like.pop(key, None)
        else:
            book[key] = like[key] = random.choice(KINDS)
        assert book == like and len(book) == len(like) and set(book) == set(like)
        assert all(book.get(key) == like.get(key) for key in KEYS)


@pytest.mark.no_cover
def test_a_contest_keeps_few_bytes_per_match() -> None:
    progress = ContestProgress(document(games=1000), bots(6), {})
    fixtures = progress.open.fixtures()

    def play(matches: int) -> None:
        for fixture in islice(fixtures, matches):
            progress.add(fixture.key, seeds_win(fixture))

    play(
        3500
    )  # Python keeps 2000 tuples for later use, and the last meetings of a turn have made the arrays long
    tracemalloc.start()
    try:
        play(1000)
        assert tracemalloc.get_traced_memory()[0] < 20 * len(
            progress.results
        )  # arrays move as a whole when they grow
    finally:
        tracemalloc.stop()
    assert len(progress.results) == 4500
