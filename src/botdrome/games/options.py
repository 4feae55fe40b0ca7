"""The options of a game: the fields with a description, read and checked in one place."""

from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar

import msgspec
from msgspec import Struct
from msgspec.inspect import Metadata, type_info

from botdrome.games.game import BadOption, Game

G = TypeVar("G", bound=Game[Any])


class Option(Struct, frozen=True):
    """One option: its name, meaning and default."""

    name: str
    description: str
    default: Any


def options_of(game: Game[Any] | type[Game[Any]]) -> dict[str, Option]:
    """Return the options in the order in which the game declares them."""
    return _declared(game if isinstance(game, type) else type(game))


@cache
def _declared(kind: type[Game[Any]]) -> dict[str, Option]:
    info = type_info(kind)
    assert isinstance(info, msgspec.inspect.StructType)
    return {
        field.name: Option(field.name, description, field.default)
        for field in info.fields
        if (description := _description(field.type))
    }


def _description(kind: Any) -> str | None:
    schema = kind.extra_json_schema if isinstance(kind, Metadata) else None
    return schema.get("description") if schema else None


def options_in(game: Game[Any]) -> dict[str, Any]:
    """Return the values of the options, ready for JSON.

    An option that is None is not in use and is left out.
    """
    values = {name: getattr(game, name) for name in options_of(game)}
    return {name: msgspec.to_builtins(value) for name, value in values.items() if value is not None}


def unusual(game: Game[Any]) -> dict[str, Any]:
    """Return the options that differ from their defaults, ready for JSON."""
    known = options_of(game)
    return {
        name: value
        for name, value in options_in(game).items()
        if getattr(game, name) != known[name].default
    }


def with_options(game: G, given: Mapping[str, Any]) -> G:
    """Return the set-up with some options changed.

    Text is converted to the option's type. Raise BadOption if that fails.
    """
    if not given:
        return game
    known = options_of(game)
    for name in given:
        if name not in known:
            raise BadOption(
                f"{game.name} has no option {name!r}; it has {', '.join(known) or 'none'}"
            )
    values = options_in(game) | dict(given)
    try:
        changed: G = msgspec.convert(values, type(game), strict=False)
    except msgspec.ValidationError as error:
        raise BadOption(f"{game.name}: {_plainly(str(error))}") from None
    return changed


def _plainly(message: str) -> str:
    """Put the name first in a message such as `Expected int >= 5 - at $.size`."""
    words, _, place = message.rpartition(" - at ")
    return f"{place.strip('`').removeprefix('$.')}: {words.lower()}" if words else message
