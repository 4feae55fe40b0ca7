"""Options: read, checked and refused by name."""

from typing import Annotated, ClassVar

import pytest
from msgspec import Meta

from botdrome.games.game import BadOption, Game
from botdrome.games.options import Option, options_in, options_of, unusual, with_options


class Toy(Game[int], frozen=True):
    name: ClassVar[str] = "toy"
    size: Annotated[int, Meta(description="how large it is", ge=2, le=9)] = 3
    open: Annotated[bool, Meta(description="whether it is open")] = False
    words: Annotated[str, Meta(description="what is said")] = "hello"
    more: Annotated[tuple[int, ...] | None, Meta(description="what is added")] = None
    state: tuple[int, ...] = ()


def test_fields_with_a_description_are_options() -> None:
    assert list(options_of(Toy).values()) == [
        Option("size", "how large it is", 3),
        Option("open", "whether it is open", False),
        Option("words", "what is said", "hello"),
        Option("more", "what is added", None),
    ]
    assert options_in(Toy(size=4)) == {"size": 4, "open": False, "words": "hello"}
    assert options_in(Toy(more=(1,)))["more"] == (1,)


def test_text_is_read_as_what_the_option_wants() -> None:
    assert with_options(Toy(), {"size": "5", "open": "true", "words": "7"}) == Toy(5, True, "7")
    assert with_options(Toy(size=7), {"open": True}) == Toy(7, True)


def test_one_game_has_one_way_to_say_its_options() -> None:
    assert unusual(Toy()) == {}
    assert unusual(with_options(Toy(), {"size": "5", "open": "false"})) == {"size": 5}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("size", 10, "toy: size: expected `int` <= 9"),
        ("size", "many", "toy: size: expected `int`, got `str`"),
        ("size", None, "toy: size: expected `int`, got `null`"),
        ("open", "perhaps", "toy: open: expected `bool`, got `str`"),
        ("state", [1], "toy has no option 'state'; it has size, open, words"),
        ("colour", "red", "toy has no option 'colour'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(name: str, value: object, words: str) -> None:
    with pytest.raises(BadOption, match=f"^{words}"):
        with_options(Toy(), {name: value})


def test_a_game_without_options_says_so() -> None:
    class Bare(Game[int], frozen=True):
        name: ClassVar[str] = "bare"

    with pytest.raises(BadOption, match="bare has no option 'x'; it has none"):
        with_options(Bare(), {"x": 1})
