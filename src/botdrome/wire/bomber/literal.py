"""Python literals, as the Bomberman document writes its messages: read by hand, in bounded depth, and never evaluated."""

import re
from typing import Any

DEEPEST = 32
LONGEST_NUMBER = 64
"""Characters."""

TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>[uU]?'(?:[^'\\\n]|\\.)*' | [uU]?"(?:[^"\\\n]|\\.)*")
      | (?P<number>[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
      | (?P<word>[A-Za-z]+)
      | (?P<sign>[{}\[\](),:])
      | (?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
WORDS = {"True": True, "False": False, "None": None, "true": True, "false": False, "null": None}
"""As Python writes them, and as JSON does: many a message is a mixture."""
ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL)
ESCAPED = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\n": "", "\\": "\\", "'": "'", '"': '"'}
CLOSING = {"(": ")", "[": "]", "{": "}"}


class BadLiteral(Exception):
    """The text is no literal; the words say where it ceases to be one."""


def read_literal(text: str) -> Any:
    """The value of a literal: dicts, lists, tuples, text, numbers, True, False and None. Or BadLiteral."""
    reader = _Reader(text)
    value = reader.value(0)
    reader.expect("")
    return value


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._step()

    def _step(self) -> None:
        found = TOKEN.match(self._text, self._at)
        if found is None or found.lastgroup is None:
            raise BadLiteral(f"this is no literal, from character {self._at} on")
        self._kind, self._token, self._at = found.lastgroup, found[found.lastgroup], found.end()

    def expect(self, sign: str) -> None:
        if self._token != sign:
            raise BadLiteral(f"{sign or 'the end'} is missing before character {self._at}")
        if sign:
            self._step()

    def value(self, depth: int) -> Any:
        if depth > DEEPEST:
            raise BadLiteral(f"it is nested more than {DEEPEST} deep")
        kind, token = self._kind, self._token
        self._step()
        if kind == "text":
            return _text(token)
        if kind == "number":
            return _number(token)
        if kind == "word" and token in WORDS:
            return WORDS[token]
        if token in CLOSING:
            return self._group(token, depth + 1)
        raise BadLiteral(f"there is no value {token[:20]!r}" if token else "it ends too early")

    def _group(self, sign: str, depth: int) -> Any:
        closing, items, comma = CLOSING[sign], [], False
        while self._token != closing:
            items.append(self._pair(depth) if sign == "{" else self.value(depth))
            comma = self._token == ","
            if not comma:
                break
            self._step()
        self.expect(closing)
        if sign == "{":
            return dict(items)
        if sign == "(":
            return items[0] if len(items) == 1 and not comma else tuple(items)
        return items

    def _pair(self, depth: int) -> tuple[Any, Any]:
        key = self.value(depth)
        self.expect(":")
        try:
            hash(key)
        except TypeError:
            raise BadLiteral("a list or a dict is no key") from None
        return key, self.value(depth)


def _text(token: str) -> str:
    return ESCAPE.sub(_unescaped, token.lstrip("uU")[1:-1])


def _unescaped(found: "re.Match[str]") -> str:
    if found[4]:
        return chr(int(found[4], 8))
    code = found[1] or found[2] or found[3]
    if code is None and found[5] not in "xuUN":
        return ESCAPED.get(found[5], found[0])
    number = int(code or "D800", 16)
    if number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        raise BadLiteral(f"there is no character {found[0]}")
    return chr(number)


def _number(token: str) -> int | float:
    if len(token) > LONGEST_NUMBER:
        raise BadLiteral("a number has too many digits")
    try:
        return int(token)
    except ValueError:
        try:
            return float(token)
        except ValueError:
            raise BadLiteral(f"there is no number {token[:20]!r}") from None
