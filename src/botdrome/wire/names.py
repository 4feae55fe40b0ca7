"""Names: what no name has in it, whichever protocol it comes by."""

import re

UNSEEN = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters, ends of lines, what turns the direction of a text round, and halves of characters. Blanks of all widths
and what joins emoji may be there."""


def can_be_shown(name: str) -> bool:
    return UNSEEN.search(name) is None
