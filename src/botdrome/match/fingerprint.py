"""Fingerprint: a number that matches share if their games were the same, move by move, whoever played them and when."""

from hashlib import blake2b

import msgspec

from botdrome.match.match import Match

MOST_LINES = 5000
"""Inputs that are compared. Games that agree so far are the same for every purpose, and a long match costs no more time."""
SIZE = 6
"""Bytes; so the number is exact in JavaScript."""
MOVE, KIND = b'"do":"move"', b'"do":'


def fingerprint(match: Match) -> int:
    """Return the fingerprint of a match. The public view stands for the chance in it."""
    lines = [line[line.index(KIND) :] for line in match.input_log.some(0, MOST_LINES) if MOVE in line]
    digest = blake2b(b"\n".join(lines), digest_size=SIZE)
    digest.update(msgspec.json.encode(match.view(None)))
    return int.from_bytes(digest.digest())
