"""Terminal text: what strangers wrote, made safe for a terminal."""

JOINER = "\u200d"
"""Joins emoji. It does nothing to a terminal."""
PICTURES = {code: 0x2400 + code for code in range(0x20)} | {0x7F: 0x2421}
"""Signs that stand for control characters."""
OTHERS = "\ufffd"


def shown(text: str) -> str:
    """One line in which nothing is an order to the terminal, turns the direction of the text round, or cannot be seen."""
    if text.isprintable():
        return text
    return "".join(letter if letter.isprintable() or letter == JOINER else OTHERS for letter in text.translate(PICTURES))


def shown_lines(text: str) -> str:
    """The same for text of several lines."""
    return "\n".join(map(shown, text.split("\n")))
