"""The rules of a Bomberman room, for programs and for people."""

from collections.abc import Mapping
from typing import Any

from botdrome.games.bomberman import SHORT_WORDS, WORDS, Bomberman
from botdrome.games.options import options_in, options_of
from botdrome.wire.bomber.resolutions import RESOLUTIONS
from botdrome.wire.bomber.tiles import FIELD_TYPES

RESPONSES = {
    "ACCEPTED": "the action is taken for the round of state_number",
    "CANNOT_MOVE": "the action cannot be done, and information says why; what was accepted before stays",
    "DEAD": "your user is dead",
    "DECLINED": "the request itself cannot be answered, and information says why",
}
ROUTES = {
    "POST rest/register/NAME": "take part; the answer has your user_id, which is a secret; with a password you may come back",
    "GET rest/state/USER_ID": "the state; the user_id may be left out; ?after=N waits for a state_number beyond N",
    "POST rest/action/USER_ID": 'act: {"action": "MOVE_UP"}',
    "POST rest": "any of the document's messages",
    "GET rest/rules": "this page",
    "WebSocket rest": "the document's messages, one a frame; every new state is pushed",
}
PARAMETERS = {
    "state": "dict (usual), list (row after row) or grid (a list of rows)",
    "keys": 'tuple (usual, "(0, 0)") or comma ("0,0")',
    "sparse": "1: FREE tiles are left out of the dict",
    "format": "json (usual) or python; so does Accept: text/x-python",
    "after": "a state_number: wait until there is a later one",
    "with_state": "1: the answer to an action has the state in it",
}


def rules(game: Bomberman, room: Mapping[str, Any]) -> dict[str, Any]:
    """Everything that a room goes by; `room` is what is set for it beside the options of the game."""
    options = options_in(game)
    words = _words(options, room)
    return {
        "room": dict(room),
        "game": options,
        "game_options": {option.name: option.description for option in options_of(game).values()},
        "actions": [*WORDS, "STATE"],
        "short_words": {short: WORDS[action] for short, action in SHORT_WORDS.items()},
        "field_types": [*FIELD_TYPES.values(), "OCCUPIED_BOMB", "OCCUPIED_UPGRADE", "OCCUPIED_USER"],
        "responses": RESPONSES,
        "routes": ROUTES,
        "parameters": PARAMETERS,
        "resolutions": [
            {"number": number, "question": asked, "rule": rule.format_map(words)} for number, asked, rule in RESOLUTIONS
        ],
    }


def _words(options: Mapping[str, Any], room: Mapping[str, Any]) -> dict[str, Any]:
    """The rules of this room."""
    pierces, wrapped = "No: flames burn on behind it.", "DECLINED, with the word of the list as information."
    stops = "Yes: the first one burns and stops that arm."
    plain = "response is the word of the list, and so is information where it has no more to say."
    early = f"A round ends when all living users have acted, or after {room['round']} ms."
    closing = f"from round {options['closing']} walls close in" if options["closing"] else "walls never close in"
    return {
        **options,
        **room,
        "flame_rule": pierces if options["flame_pierces"] else stops,
        "response_rule": wrapped if room["wrapped_responses"] else plain,
        "closing_rule": closing,
        "round_rule": early if room["early"] else f"A round lasts {room['round']} ms.",
    }


def rules_page(found: Mapping[str, Any]) -> str:
    """The same as a page."""
    name = _escaped(found["room"]["name"])
    parts = [f"<!doctype html><html lang=en><meta charset=utf-8><title>Bomberman rules: {name}</title>", STYLE]
    parts.append(f"<h1>Bomberman: the rules of room {name}</h1>")
    for title, key in (("Routes", "routes"), ("Parameters", "parameters"), ("Responses", "responses"), ("Room", "room")):
        parts.append(_table(title, [(word, str(meaning)) for word, meaning in found[key].items()]))
    options = [(word, f"{value} ({found['game_options'][word]})") for word, value in found["game"].items()]
    parts.append(_table("Game", options))
    parts.append(f"<p>Actions: {', '.join(found['actions'])}. Field types: {', '.join(found['field_types'])}.</p>")
    rows = [(f"{row['number']}. {row['question']}", row["rule"]) for row in found["resolutions"]]
    parts.append(_table("What the document leaves open", rows))
    return "\n".join(parts) + "</html>\n"


STYLE = "<style>body{font:16px sans-serif;max-width:60em;margin:2em auto}td{vertical-align:top;padding:.2em .8em}</style>"


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    cells = "\n".join(f"<tr><td>{_escaped(word)}<td>{_escaped(meaning)}" for word, meaning in rows)
    return f"<h2>{title}</h2><table>{cells}</table>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
