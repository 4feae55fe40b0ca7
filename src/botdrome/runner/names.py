"""The names of bots in the matches of the offline runner."""

import re
from collections.abc import Sequence

PROGRAM = re.compile("(cmd|view|pbrain):")
"""The prefix of a program."""


def distinct_names(bots: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the bots without folders, numbered if one occurs twice."""
    short = [
        " ".join(
            word.rstrip("/").rpartition("/")[2] for word in PROGRAM.sub("", bot, count=1).split()
        )
        or bot
        for bot in bots
    ]
    counts = [short[:number].count(name) for number, name in enumerate(short)]
    return tuple(
        f"{name} #{again + 1}" if again else name for name, again in zip(short, counts, strict=True)
    )
