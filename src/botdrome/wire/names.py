"""Names: characters that no name may have, on any protocol."""

import re

UNSEEN = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
"""Control characters, line ends, characters without width or that change the writing direction, and lone surrogates.
Spaces of all widths and the joiners of emoji are allowed."""

FILLER = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0]"
    "|(?<![\u0900-\u0dff\u2000-\u3300\U0001f000-\U0001faff\ufe0f])[\u200d\ufe00-\ufe0f]"
)
"""Invisible characters. Joiners and variation selectors may follow emoji and Indic letters."""
BLANKS = re.compile(r"^\s+|\s+$|\s{2,}|[^\S ]")
"""Spaces that look like none, or like another space."""


def unseen(name: str) -> bool:
    """Whether a name has an invisible character."""
    return FILLER.search(name) is not None


def written_out(name: str) -> str:
    """Return the name with invisible characters written out."""
    filled = FILLER.sub(lambda found: f"<U+{ord(found[0]):04X}>", name)
    return BLANKS.sub(lambda found: "".join("\u2420" if one == " " else f"<U+{ord(one):04X}>" for one in found[0]), filled)


def can_be_shown(name: str) -> bool:
    return UNSEEN.search(name) is None and (not name or any(map(str.isprintable, name)))
