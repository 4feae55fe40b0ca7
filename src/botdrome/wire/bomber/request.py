"""What Bomberman bots send, in whatever spelling: JSON, Python literals, forms and the query of a URL."""

import re
from typing import Any

import msgspec

from botdrome.games.reading import UNREADABLE
from botdrome.wire.bomber.literal import BadLiteral, read_literal

DECODER = msgspec.json.Decoder()
PERCENT = re.compile(rb"%([0-9a-fA-F]{2})")
DIGITS = "0123456789abcdefABCDEF"
CODES = {(high + low).encode(): bytes.fromhex(high + low) for high in DIGITS for low in DIGITS}
BOUNDARY = re.compile(rb"--[^\r\n]+?(?=\r\n|--$)")
"""How a form begins that comes in parts, as browsers send a FormData."""
PART = re.compile(rb'\r\nContent-Disposition:[^\r\n]*[; ]name="?([^";\r\n]+)', re.IGNORECASE)
MOST_FIELDS = 100
LONGEST_NAME = 32

Message = dict[str, Any]


class BadRequest(Exception):
    """A request that cannot be understood: the word for programs, and a sentence for people."""

    def __init__(self, word: str, sentence: str) -> None:
        super().__init__(f"{word}: {sentence}")
        self.word, self.sentence = word, sentence


def read_message(body: bytes) -> Message:
    """The message in a body: JSON, or else a Python literal, or else a form. Nothing at all is an empty message."""
    text = body.removeprefix(b"\xef\xbb\xbf").strip()
    if not text:
        return {}
    if boundary := BOUNDARY.match(text):
        return dict(_read_parts(text, boundary[0]))
    if text[:1] not in b"{[(\"'" and b"=" in text:
        return dict(read_form(text))
    try:
        value = DECODER.decode(text)
    except UNREADABLE:
        value = _literal(text)
    if isinstance(value, dict):
        return value
    raise BadRequest("BAD_MESSAGE", "a message is an object with the keys of the document")


def _literal(text: bytes) -> Any:
    """Keys of any kind are read as text, as they are in JSON."""
    try:
        value = read_literal(text.decode())
        return {str(key): item for key, item in value.items()} if isinstance(value, dict) else value
    except UnicodeDecodeError:
        raise BadRequest("BAD_MESSAGE", "a message is text in UTF-8") from None
    except BadLiteral as fault:
        raise BadRequest("BAD_MESSAGE", f"a message is JSON, a Python literal or a form: {fault}") from None


def read_form(text: bytes) -> dict[str, str]:
    """`a=b&c=d`, as in forms and in the query of a URL."""
    parts = text.split(b"&", MOST_FIELDS)[:MOST_FIELDS]
    pairs = [part.partition(b"=") for part in parts if part]
    return {unquoted(key.replace(b"+", b" ")): unquoted(value.replace(b"+", b" ")) for key, _, value in pairs}


def _read_parts(text: bytes, boundary: bytes) -> dict[str, str]:
    """A form in parts: each has a head with the name of the field, an empty line, and the value."""
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
        raise BadRequest("BAD_MESSAGE", "names and values are text in UTF-8") from None


def unquoted(text: bytes) -> str:
    """Percent signs undone. What is no UTF-8 is refused."""
    return _text(PERCENT.sub(lambda found: CODES[found[1]], text))


def read_name(value: Any) -> str:
    """A user's name: 1 to 32 printable characters without a slash, and not nothing but blanks."""
    if value is None or value == "":
        raise BadRequest("MISSING_FIELD", "user_name is missing")
    if not isinstance(value, str):
        raise BadRequest("BAD_NAME", "user_name is text")
    if len(value) > LONGEST_NAME or not value.isprintable() or "/" in value or not value.strip():
        raise BadRequest("BAD_NAME", f"user_name has 1 to {LONGEST_NAME} printable characters, not only blanks, and no slash")
    return value


def read_number(value: Any, field: str) -> int | None:
    """A whole number, as itself or as text; None: there is none."""
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


SWITCHES = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
