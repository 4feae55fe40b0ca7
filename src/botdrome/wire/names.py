"""Names: what no name has in it, whichever protocol it comes by."""

import re

UNSEEN = re.compile(
    "[\0-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e0fff]"
)
"""Control characters, ends of lines, what has no width or turns the direction of a text round, and halves of characters.
Blanks of all widths and what joins emoji may be there."""


def can_be_shown(name: str) -> bool:
    return UNSEEN.search(name) is None and (not name or any(map(str.isprintable, name)))
