"""Names: what no name has in it, whichever protocol it comes by."""

import re

UNSEEN = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
"""Control characters, ends of lines, what has no width or turns the direction of a text round, and halves of characters.
Blanks of all widths and what joins emoji may be there."""

FILLER = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\uffa0]"
    "|(?<![\u0900-\u0dff\u2000-\u3300\U0001f000-\U0001faff\ufe0f])[\u200d\ufe00-\ufe0f]"
)
"""What looks like nothing at all. What joins emoji or letters of India, or chooses their form, may follow those."""
BLANKS = re.compile(r"^\s+|\s+$|\s{2,}|[^\S ]")
"""Blanks that are taken for none, or for another."""


def unseen(name: str) -> bool:
    """Whether there is anything in a name that looks like nothing at all."""
    return FILLER.search(name) is not None


def written_out(name: str) -> str:
    """A name in which everything can be seen."""
    filled = FILLER.sub(lambda found: f"<U+{ord(found[0]):04X}>", name)
    return BLANKS.sub(lambda found: "".join("\u2420" if one == " " else f"<U+{ord(one):04X}>" for one in found[0]), filled)


def can_be_shown(name: str) -> bool:
    return UNSEEN.search(name) is None and (not name or any(map(str.isprintable, name)))
