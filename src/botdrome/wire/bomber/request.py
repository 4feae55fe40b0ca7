"""Requests of Bomberman bots in every accepted encoding: JSON, Python literals, forms and the query
of a URL.
"""

import ast
import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote_to_bytes

import msgspec
from msgspec import Struct

from botdrome.games.reading import UNREADABLE, TooManyValues, bounded

DECODER = msgspec.json.Decoder()
BOUNDARY = re.compile(rb"--[^\r\n]+?(?=\r\n|--$)")
"""The first line of a form in parts, which browsers send for a FormData."""
PART = re.compile(rb'\r\nContent-Disposition:[^\r\n]*[; ]name="?([^";\r\n]+)', re.IGNORECASE)
MOST_FIELDS = 100
LONGEST_NAME = 32
LONGEST_LITERAL, DEEPEST_LITERAL = 4096, 32
"""Characters, and levels of nesting: the slowest literal within these bounds takes a few
milliseconds to read.
"""
TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>[uU]?(?:'(?:[^'\\\n]|\\.)*' | "(?:[^"\\\n]|\\.)*")(?!['"]))
      | (?P<number>[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?!\w))
      | (?P<word>True|False|None|true|false|null)\b
      | (?P<sign>[{}\[\](),:])
      | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
LINE_END = re.compile(r"[\r\n]")
"""Outside brackets, a literal has one line."""
ESCAPE = re.compile(
    r"\\(?:(?P<bad>(?:u|U0000)[dD][89a-fA-F]|[4-7][0-7]{2}|N)|[\n\\'\"abfnrtvxuU0-7]|(?P<plain>.))",
    re.DOTALL,
)
"""Refused are half a surrogate pair, an octal number above 377 and the name of a character. A
backslash before any other character stands for itself.
"""
WORDS = {"true": "True", "false": "False", "null": "None"}
"""Many messages mix the words of JSON with those of Python."""
LONGEST_NUMBER = 64
"""Characters."""

Message = dict[str, Any]


class BadRequest(Exception):
    """A request that the server cannot read: a word for programs and a sentence for people."""

    def __init__(self, word: str, sentence: str) -> None:
        super().__init__(f"{word}: {sentence}")
        self.word, self.sentence = word, sentence


NOT_UTF8 = BadRequest("BAD_MESSAGE", "names and values are text in UTF-8")


BRACKETS = {b"", b"{", b"[", b"(", b'"', b"'"}
"""The beginnings of a body that is no form; the empty one has nothing to read."""


def read_message(body: bytes) -> Message:
    """Read the message in a body: JSON, else a Python literal, else a form. An empty body is an
    empty message.
    """
    text = body
    if body[:1] != b"{" or body[-1:] != b"}":  # nearly never
        text = body.removeprefix(b"\xef\xbb\xbf").strip()
        if not text:
            return {}
        if boundary := BOUNDARY.match(text):
            return dict(_read_parts(text, boundary[0]))
        if text[:1] not in BRACKETS and text.find(b"=") >= 0:
            return dict(read_form(text))
    try:
        value = DECODER.decode(bounded(text))
    except TooManyValues as fault:
        raise BadRequest("BAD_MESSAGE", f"a message cannot be this large: {fault}") from None
    except UNREADABLE:
        value = _literal(text)
    if isinstance(value, dict):
        return value
    raise BadRequest("BAD_MESSAGE", "a message is an object with the keys of the document")


def _literal(text: bytes) -> Any:
    """Keys of any type become text, as in JSON."""
    try:
        value = read_literal(text.decode())
    except UnicodeDecodeError:
        raise BadRequest("BAD_MESSAGE", "a message is text in UTF-8") from None
    except BadLiteral as fault:
        raise BadRequest(
            "BAD_MESSAGE", f"a message is JSON, a Python literal or a form: {fault}"
        ) from None
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else value


class BadLiteral(Exception):
    """The text is not a Python literal; the words say why."""


def read_literal(text: str) -> Any:
    """Return the value of a literal: dicts, lists, tuples, text, numbers, True, False and None.

    Nothing is evaluated.
    """
    if len(text) > LONGEST_LITERAL:
        raise BadLiteral(f"a literal has at most {LONGEST_LITERAL} characters")
    try:
        return ast.literal_eval(_checked(text.strip()))
    except (SyntaxError, ValueError, TypeError) as fault:
        raise BadLiteral(f"this is not a literal: {str(fault)[:60]}") from None


def _checked(text: str) -> str:
    """Return a text of permitted tokens only, within the bounds, and in the words of Python."""
    at = depth = 0
    tokens: list[str] = []
    while at < len(text):
        found = TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise BadLiteral(f"this is not a literal, from character {at} on")
        if tokens and not depth and LINE_END.search(text, at, found.start(found.lastgroup)):
            raise BadLiteral(f"it ends with its line, at character {at}")
        token, at = found[found.lastgroup], found.end()
        depth += (token in "{[(") - (token in "}])") if found.lastgroup == "sign" else 0
        if depth > DEEPEST_LITERAL:
            raise BadLiteral(f"it is nested more than {DEEPEST_LITERAL} deep")
        if found.lastgroup == "number" and len(token) > LONGEST_NUMBER:
            raise BadLiteral("a number has too many digits")
        tokens.append(ESCAPE.sub(_escape, token) if "\\" in token else WORDS.get(token, token))
    return " ".join(tokens)


def _escape(found: "re.Match[str]") -> str:
    if found["bad"]:
        raise BadLiteral(f"there is no character {found[0]}")
    return f"\\{found[0]}" if found["plain"] else found[0]


def read_form(text: bytes) -> dict[str, str]:
    """Read `a=b&c=d`, as in forms and in the query of a URL."""
    first = _text(text).split("&", MOST_FIELDS)[:MOST_FIELDS]
    try:
        return dict(parse_qsl("&".join(first), keep_blank_values=True, errors="strict"))
    except UnicodeDecodeError:
        raise NOT_UTF8 from None


def _read_parts(text: bytes, boundary: bytes) -> dict[str, str]:
    """Read a form in parts: each has a head with the name of the field, an empty line and the
    value.
    """
    fields: dict[str, str] = {}
    for part in (b"\r\n" + text).split(b"\r\n" + boundary, MOST_FIELDS)[1:MOST_FIELDS]:
        head, _, value = part.partition(b"\r\n\r\n")
        if name := PART.match(head):
            fields[_text(name[1])] = _text(value)
    return fields


def _text(part: bytes) -> str:
    try:
        return part.decode()
    except UnicodeDecodeError:
        raise NOT_UTF8 from None


def unquoted(text: bytes) -> str:
    """Decode the percent signs of a path."""
    return _text(unquote_to_bytes(text))


def read_name(value: Any) -> str:
    """Return a user's name: 1 to 32 printable characters, not only blanks, without a slash."""
    if value is None or value == "":
        raise BadRequest("MISSING_FIELD", "user_name is missing")
    if not isinstance(value, str):
        raise BadRequest("BAD_NAME", "user_name is text")
    if len(value) > LONGEST_NAME or not value.isprintable() or "/" in value or not value.strip():
        raise BadRequest(
            "BAD_NAME",
            f"user_name has 1 to {LONGEST_NAME} printable characters, not only blanks, and no "
            "slash",
        )
    return value


def read_number(value: Any, field: str) -> int | None:
    """Return a whole number, given as a number or as text; None if the field is empty."""
    if value is None or value == "":
        return None
    if type(value) is int:
        return value
    if isinstance(value, str) and len(value) <= 18 and value.isascii() and value.isdigit():
        return int(value)
    raise BadRequest("BAD_FIELD", f"{field} is a whole number")


def read_switch(value: str | None, field: str) -> bool:
    switch = SWITCHES.get((value or "0").lower())
    if switch is None:
        raise BadRequest("BAD_FIELD", f"{field} is 1 or 0")
    return switch


SWITCHES = {
    "1": True,
    "true": True,
    "yes": True,
    "on": True,
    "0": False,
    "false": False,
    "no": False,
    "off": False,
}


# Shape: how a Bomberman client wants its states and answers spelled.

ENCODER = msgspec.json.Encoder()
STATES = ("dict", "list", "grid")
KEYS = ("tuple", "comma")
FORMATS = ("json", "python")
JSON = "application/json; charset=UTF-8"
PYTHON = "text/x-python; charset=UTF-8"


class Shape(Struct, frozen=True, cache_hash=True):
    state: str = "dict"
    """dict: tiles by their places; list: row after row, flat; grid: a list of rows."""
    keys: str = "tuple"
    """tuple: "(0, 0)"; comma: "0,0"."""
    sparse: bool = False
    """FREE tiles are left out of the dict."""
    python: bool = False
    """Python literals in place of JSON."""

    @property
    def content_type(self) -> str:
        return PYTHON if self.python else JSON

    def spelled(self, value: Any) -> bytes:
        """A value of tuples, dicts, text and numbers."""
        return repr(value).encode() if self.python else ENCODER.encode(value)


DEFAULT = Shape()
LITERAL = Shape(python=True)


def read_shape(query: Mapping[str, str], accept: str = "") -> Shape:
    """The shape that a query and an Accept header ask for."""
    python = "python" if "text/x-python" in accept else "json"
    if not query:
        return LITERAL if python == "python" else DEFAULT
    return Shape(
        _one_of(STATES, query.get("state"), "state"),
        _one_of(KEYS, query.get("keys"), "keys"),
        read_switch(query.get("sparse"), "sparse"),
        _one_of(FORMATS, query.get("format", python), "format") == "python",
    )


def _one_of(words: tuple[str, ...], value: str | None, field: str) -> str:
    word = (value or words[0]).lower()
    if word not in words:
        raise BadRequest("BAD_FIELD", f"{field} is {' or '.join(words)}")
    return word
