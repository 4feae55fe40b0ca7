"""Texts of any length and content, in columns that are compared and indexed.

An index of PostgreSQL takes no more than 2,704 bytes, and no text of it holds a NUL. So a column has the text itself where it
is short and plain, else a digest; a second column beside it then has the whole text, as a string of JSON.
"""

import hashlib
import json
import re

LONGEST = 400
"""Characters."""
_DIGEST = "sha256:"
_ODD = re.compile("[\0\ud800-\udfff]")


def key(text: str) -> str:
    """What stands for the text where it is compared: for different texts always different."""
    if len(text) <= LONGEST and not _ODD.search(text) and not text.startswith(_DIGEST):
        return text
    return _DIGEST + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def kept(text: str) -> tuple[str, str | None]:
    """Both columns."""
    short = key(text)
    return (text, None) if short == text else (short, json.dumps(_encodable(text)))


def whole(short: str, rest: str | None) -> str:
    """The text, from both columns."""
    return short if rest is None else str(json.loads(rest))


def plain(text: str) -> str:
    """For text that is only shown: a NUL becomes the sign for what cannot be shown."""
    return _encodable(text).replace("\0", "\ufffd")


def short(text: str, what: str) -> str:
    """For words of the house, which need no second column."""
    if key(text) != text:
        raise ValueError(f"{what} is too long, or holds characters that it must not: {text[:40]!r}")
    return text


def _encodable(text: str) -> str:
    text.encode()
    return text
