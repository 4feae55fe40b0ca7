"""Changes of a contest's document: what differs, and whether that is allowed after the start."""

from typing import Any

import msgspec
from msgspec.structs import replace

from botdrome.contest.document import ContestDocument


def only_bots(old: ContestDocument, new: ContestDocument) -> bool:
    """Return True if the documents differ only in bots that may be exchanged or added during the
    contest.
    """
    if replace(old, entrants=new.entrants) != new or len(new.entrants) < len(old.entrants):
        return False
    kept = zip(old.entrants, new.entrants, strict=False)
    same = all(
        before == after or (old.entry.versions and replace(before, bot=after.bot) == after)
        for before, after in kept
    )
    return same and (old.entry.late or len(new.entrants) == len(old.entrants))


def changed_keys(old: ContestDocument, new: ContestDocument) -> list[str]:
    """Name the keys of a document that differ, with both values."""
    before, after = msgspec.to_builtins(old), msgspec.to_builtins(new)
    return [
        f"{key} was {_shown(before[key])}, is {_shown(after[key])}"
        for key in before
        if before[key] != after[key]
    ]


def _shown(value: Any) -> str:
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= 60 else text[:57] + "..."
