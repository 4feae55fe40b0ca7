"""Text of other people, made safe for a terminal."""

JOINER = "\u200d"
"""Joins emoji, and is harmless."""
PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
"""Visible symbols for control characters."""
OTHERS = "\ufffd"


def shown(text: str) -> str:
    """Replace control characters, direction changes and invisible characters in a line."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter == JOINER else OTHERS
        for letter in text.translate(PICTURES)
    )


def shown_lines(text: str) -> str:
    """Do the same for text of several lines."""
    return "\n".join(map(shown, text.split("\n")))
