"""The rules of a Bomberman room, for programs and for people."""

from collections.abc import Mapping
from typing import Any

from botdrome.games.bomberman import SHORT_WORDS, WORDS, Bomberman
from botdrome.games.options import options_in, options_of
from botdrome.wire.bomber.state import FIELD_TYPES

DOCUMENT_QUESTIONS = """
1. Which transport?
HTTP: routes, and one POST that takes any of the document's messages; the same messages over a
WebSocket, where every new state is pushed.

2. Is the name in the path or in the body?
Either, in a form or in the query too; the path goes first if it is not empty.

3. How are requests encoded?
JSON, else a Python literal of at most 4 KiB (never evaluated), else a form. UTF-8, 64 KiB at most.

4. Tuple keys are not JSON.
Keys are spelled "(0, 0)", and every tile has its position. ?state=list, ?state=grid, ?keys=comma,
and Accept: text/x-python or ?format=python for the literal.

5. map_size and user_position are tuples.
[height, width] and [row, column] in JSON, tuples in the Python format.

6. Are all tiles in the dict?
Yes, FREE ones too; ?sparse=1 leaves those out.

7. In the example a user stands in a wall.
An error of the document: user_position is always the tile of the user.

8. The example's 2x2 map breaks its own rules.
An illustration. The smallest map is 5x5, that of this room {height}x{width}.

9. Odd column and row: from 0 or 1?
From 0, and both odd. There is no border: the edge stops moves and flames. Heights and widths are
odd.

10. One combination of moves should be possible.
The start tile and its neighbours are free, one up or down and one to the side at least.

11. 30 % of what?
Of all tiles. In this room {crates} % are DESTRUCTIBLE, if there is room; the map is the same for
all seats.

12. Where do users start?
On tiles with even row and column, symmetric, as far apart as can be; who starts where is drawn.

13. When are upgrades drawn?
With the map: {upgrades} % of the DESTRUCTIBLE tiles hide one, half of either type; they are hidden
until their tile is destroyed.

14. Does the flame that opens a tile destroy its upgrade?
No; only upgrades that were visible before burn.

15. ADDITIONAL_BOMB gives an additional upgrade.
A slip: it gives one bomb more at the same time.

16. What is bombs_left?
How many you may place now: all your bombs but those that lie. A bomb comes back when it explodes.

17. Explodes after 4 turns: how many actions to flee?
{fuse}. Placed in round n, it shows bomb_turns_left {fuse} in state n+1, one less in each that
follows, 1 in state n+{fuse}, and goes off at the end of round n+{fuse}, after the moves. Never 0.

18. Radius 3: with the bomb's own tile?
Its own tile and {radius} more each way, and 1 more for each EXPLOSION_RANGE.

19. Does DESTRUCTIBLE stop the flame?
{flame_rule}

20. Do bombs, users and upgrades stop the flame?
No: bombs are set off, users die, upgrades burn.

21. Chain reaction: this round or the next?
This round, all on the map as it was before: two bombs do not dig two tiles deep.

22. Flames stay one round and are not in the state.
They burn while the round is resolved, after the moves; nothing lingers. explosions lists what
burned since the last state.

23. A user and a bomb on one tile?
field_type is OCCUPIED_BOMB and the user's keys are there too. A user may leave such a tile, nobody
may enter it.

24. PLACE_BOMB on a bomb, or without one left?
CANNOT_MOVE, with TILE_HAS_BOMB or NO_BOMBS_LEFT as information.

25. Are users obstacles?
Yes: one user a tile.

26. Can bombs be walked over?
No.

27. All at once, or first come, first served?
All at once, at the end of the round: bombs placed, moves, upgrades taken, explosions with chains,
deaths, tiles and upgrades removed or revealed, end.

28. Moves in conflict?
Same target: nobody moves. Swap: nobody moves. Into a tile that is being left: allowed, if the other
really leaves.

29. Several actions in one round?
The last one that was accepted counts; it is ACCEPTED with the information OVERWRITTEN and the
previous one. A refused action leaves the earlier one in force.

30. No action?
The user stands still. WAIT, STAY and NOOP are accepted too.

31. When is CANNOT_MOVE decided?
At once, and only if it is certain: edge, wall, bomb, no bombs left. A tile with a user on it is
ACCEPTED: the user may leave.

32. An action that comes too late?
It counts for the round that now runs, whose state_number is in the answer. Send a state_number
along, and it is not taken if that is not the round that runs: TOO_LATE.

33. DECLINED and DEAD, or DEAD?
{response_rule}

34. response is described as a user id.
A copying error.

35. Which answers carry the state?
state_number and time_left always, also where an action was not understood; the state with
?with_state=1.

36. time_left has no unit in one place.
Whole milliseconds, everywhere, never negative.

37. Is user_id a number or text?
32 hexadecimal characters from a secure source; accepted in the path, the body, the query or
X-User-Id.

38. The same name twice?
With the same password the same user_id, also while the game runs, so that a bot that crashed plays
on. Without a password only while registration lasts, and only from the same address. Else DECLINED,
NAME_TAKEN.

39. Which names?
1 to 32 printable characters without a slash, unique in the room. Blanks are such characters, also
at the ends, but a name has something else too.

40. Registration after the window?
409, DECLINED, REGISTRATION_CLOSED, and time_left until the next one at the latest.

41. STATE during registration?
phase REGISTRATION, an empty actual_state, state_number 0, the users so far, time_left.

42. An unknown user_id?
STATE: the state without user_position. An action: 404, DECLINED, UNKNOWN_USER.

43. Unknown action, missing fields?
400, DECLINED, UNKNOWN_ACTION or MISSING_FIELD, and a sentence as detail. Small letters and UP, BOMB
are accepted.

44. The state of a dead user?
Without user_position, with alive false; the user is gone from the map.

45. How does a game end?
With one or no user left, or after {rounds} rounds; {closing_rule}. The last state stays readable:
phase FINISHED, winner, scores; actions: CANNOT_MOVE, GAME_OVER. Then registration opens again.

46. Scores?
A point for every other user that one outlives, one more for the last alone. Who dies in the same
round is not outlived. Kills, tiles and upgrades are counted for display.

47. How many users, and may a game start early?
{least} to {players}. It starts when the room is full, or {registration:g} seconds after the first
registration.

48. How to know that the next round began?
?after=N waits until state_number is beyond N, or until the next registration; a WebSocket is pushed
every state. {round_rule}

49. Who sees what?
Everything is public, STATE needs no user_id, and user_ids are in no state.

50. CORS?
OPTIONS is answered with 204 and allows Content-Type; every answer may be read from any page.
"""
"""Fifty questions that the Bomberman document leaves open or contradicts, each with the rule of
this server.
"""


def _resolution(paragraph: str) -> tuple[int, str, str]:
    heading, *lines = paragraph.splitlines()
    number, _, question = heading.partition(". ")
    return int(number), question, " ".join(lines)


RESOLUTIONS = list(map(_resolution, DOCUMENT_QUESTIONS.strip().split("\n\n")))

RESPONSES = {
    "ACCEPTED": "the action is taken for the round of state_number",
    "CANNOT_MOVE": "the action cannot be done, and information says why; what was accepted before "
    "stays",
    "DEAD": "your user is dead",
    "DECLINED": "the request itself cannot be answered, and information says why",
}
ROUTES = {
    "POST rest/register/NAME": "take part; the answer has your user_id, which is a secret; with a "
    "password you may come back",
    "GET rest/state/USER_ID": "the state; the user_id may be left out; ?after=N waits for a "
    "state_number beyond N",
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
    """Everything that a room goes by; `room` is what is set for it beside the options
    of the game.
    """
    options = options_in(game)
    words = _words(options, room)
    return {
        "room": dict(room),
        "game": options,
        "game_options": {option.name: option.description for option in options_of(game).values()},
        "actions": [*WORDS, "STATE"],
        "short_words": {short: WORDS[action] for short, action in SHORT_WORDS.items()},
        "field_types": [
            *FIELD_TYPES.values(),
            "OCCUPIED_BOMB",
            "OCCUPIED_UPGRADE",
            "OCCUPIED_USER",
        ],
        "responses": RESPONSES,
        "routes": ROUTES,
        "parameters": PARAMETERS,
        "resolutions": [
            {"number": number, "question": asked, "rule": rule.format_map(words)}
            for number, asked, rule in RESOLUTIONS
        ],
    }


def _words(options: Mapping[str, Any], room: Mapping[str, Any]) -> dict[str, Any]:
    """The rules of this room."""
    pierces = "No: flames burn on behind it."
    wrapped = "DECLINED, with the word of the list as information."
    stops = "Yes: the first one burns and stops that arm."
    plain = "response is the word of the list, and so is information where it has no more to say."
    early = f"A round ends when all living users have acted, or after {room['round']} ms."
    closing = (
        f"from round {options['closing']} walls close in"
        if options["closing"]
        else "walls never close in"
    )
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
    parts = [
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Bomberman rules: {name}</title>",
        STYLE,
    ]
    parts.append(f"<h1>Bomberman: the rules of room {name}</h1>")
    for title, key in (
        ("Routes", "routes"),
        ("Parameters", "parameters"),
        ("Responses", "responses"),
        ("Room", "room"),
    ):
        parts.append(_table(title, [(word, str(meaning)) for word, meaning in found[key].items()]))
    options = [
        (word, f"{value} ({found['game_options'][word]})") for word, value in found["game"].items()
    ]
    parts.append(_table("Game", options))
    parts.append(
        f"<p>Actions: {', '.join(found['actions'])}. Field types: "
        f"{', '.join(found['field_types'])}.</p>"
    )
    rows = [(f"{row['number']}. {row['question']}", row["rule"]) for row in found["resolutions"]]
    parts.append(_table("What the document leaves open", rows))
    return "\n".join(parts) + "</html>\n"


STYLE = (
    "<style>body{font:16px sans-serif;max-width:60em;margin:2em "
    "auto}td{vertical-align:top;padding:.2em .8em}</style>"
)


def _table(title: str, rows: list[tuple[str, str]]) -> str:
    cells = "\n".join(f"<tr><td>{_escaped(word)}<td>{_escaped(meaning)}" for word, meaning in rows)
    return f"<h2>{title}</h2><table>{cells}</table>"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
