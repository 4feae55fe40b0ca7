"""The contract of every store: names of any length and content, and harmless queries."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from botdrome.store.entries import ContestLine, Wanted
from botdrome.store.rows import kept, key, plain, whole
from botdrome.store.store import Store
from tests.store.entries import GAME, a_bot, a_match, an_end, play

NAMES = [
    "",
    " ",
    "O'Neill; DROP TABLE bots; --",
    'a "quoted" name',
    "dots.in.it",
    "percent % and _ and $1 and ? and :name",
    "back\\slash \\u0000",
    "line\nbreak\r\ttab",
    "Ærøskøbing 北京 मुंबई",
    "e\u0301 is not \u00e9",
    "\u00e9 is not e\u0301!",
    "🤖👩‍🚀",
    "NUL\0 inside",
    "NUL inside",
    "\0",
    "\0\0",
    "sha256:feed",
    "long " * 2000,
    "long " * 2000 + "!",
    "🤖" * 10_000,
    "{json: [1, 2]}",
]


@pytest.mark.anyio
async def test_names_are_kept_as_they_are(store: Store) -> None:
    bots = [a_bot(name, number, owner=name[::-1]) for number, name in enumerate(NAMES)]
    for bot in bots:
        await store.register(bot)
    assert await store.bots() == bots
    for bot in bots:
        assert await store.bot(bot.name) == bot
        assert bot in await store.bots(owner=bot.owner)


@pytest.mark.anyio
async def test_names_in_matches_and_contests_are_kept_as_they_are(store: Store) -> None:
    for number, name in enumerate(NAMES):
        await play(
            store,
            a_match(
                f"m{number}", (name, "ada"), started=number, contest=name, options={name: name}
            ),
        )
    assert await store.contests(GAME) == NAMES
    for number, name in enumerate(NAMES):
        [match] = await store.matches(Wanted(all_of=["ada", name], contest=name))
        assert (match.id, match.players, match.contest, match.options) == (
            f"m{number}",
            (name, "ada"),
            name,
            {name: name},
        )
        assert await store.contest_lines(GAME, name) == sorted(
            [ContestLine(name, 1, 0, 0), ContestLine("ada", 0, 0, 1)],
            key=lambda line: key(line.name).encode(),
        )
        assert await store.meetings(GAME, name) == ({(name, "ada"): 1}, {})


@pytest.mark.anyio
async def test_a_reason_that_cannot_be_stored_does_not_lose_the_result(store: Store) -> None:
    store.begin(a_match("m"))
    await store.finish(an_end("m", reason="it said \0", view={"said": "\0"}))
    match = await store.match("m")
    assert match and match.reason == "it said \ufffd" and match.view == {"said": "\0"}


@pytest.mark.anyio
async def test_half_characters_are_refused_by_the_call_itself(store: Store) -> None:
    with pytest.raises(ValueError, match="surrogates"):
        await store.register(a_bot("half \ud800"))
    with pytest.raises(ValueError, match="surrogates"):
        store.begin(a_match("m", ("half \ud800", "bob")))
    with pytest.raises(ValueError, match="surrogates"):
        await store.abort_running("half \ud800", 1)
    assert await store.bots() == []


@pytest.mark.anyio
@pytest.mark.parametrize("odd", ["x" * 10_000, "a\0b"])
async def test_ids_and_games_are_words_of_the_house(store: Store, odd: str) -> None:
    with pytest.raises(ValueError, match="the id of a match"):
        store.begin(a_match(odd))
    with pytest.raises(ValueError, match="the name of a game"):
        store.begin(a_match("m", game=odd))
    with pytest.raises(ValueError, match="the name of a game"):
        await store.register(a_bot("ada", game=odd))


@settings(deadline=None)
@given(st.text())
def test_a_text_is_itself_again(text: str) -> None:
    short, rest = kept(text)
    assert whole(short, rest) == text
    assert short == key(text)


@settings(deadline=None)
@given(st.text(st.characters()), st.text(st.characters()))
def test_keys_differ_where_texts_do_and_fit_an_index(one: str, other: str) -> None:
    assert (key(one) == key(other)) == (one == other)
    assert len(key(one).encode()) <= 1600 and "\0" not in key(one)


@settings(deadline=None)
@given(st.text())
def test_plain_text_has_no_nul(text: str) -> None:
    assert "\0" not in plain(text) and len(plain(text)) == len(text)
