"""Identity of bots: the hash of a token, and names that look alike (confusable characters of
Unicode, UTS 39).
"""

import hashlib
import re
import unicodedata
from functools import cache


def hashed(token: str) -> str:
    """Return the SHA-256 that the store keeps in place of a token."""
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()


IGNORABLE = re.compile(
    "[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Invisible characters."""
BLANK = re.compile("[\\s\u2800]+")


def likeness(name: str) -> str:
    """Return a key that is equal for names that look alike."""
    compatible = unicodedata.normalize("NFKC", name)
    seen = BLANK.sub(" ", IGNORABLE.sub("", compatible)).strip()
    prototypes = _prototypes()
    mapped = "".join(
        prototypes.get(character, character) for character in unicodedata.normalize("NFD", seen)
    )
    return unicodedata.normalize("NFD", mapped)


def look_alike(one: str, other: str) -> bool:
    """Whether people confuse two names.

    ASCII letters are not confused: l, I and 1 differ in every font for programs.
    """
    if one == other or likeness(one) != likeness(other):
        return False
    return not (one.isascii() and other.isascii()) or one.split() == other.split() != []


@cache
def _prototypes() -> dict[str, str]:
    """Map each character to the representative of its look-alikes. Reading the list takes 0.1 s."""
    from confusable_homoglyphs.confusables import confusables_data  # type: ignore[import-untyped]

    found: dict[str, str] = {}
    for written, alike in confusables_data.items():
        if len(alike) == 1:  # else it is a prototype itself
            one, other = written.replace("\u200e", ""), alike[0]["c"].replace("\u200e", "")
            pair = len(confusables_data[alike[0]["c"]]) == 1
            if len(one) == 1 and not (
                pair and (not one.isascii(), one) < (not other.isascii(), other)
            ):
                found[one] = other
    return found
