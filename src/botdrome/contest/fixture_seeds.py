"""The seeds of matches on a server. Bots could compute hidden draws from a seed that they know, so it depends on a secret.

The server publishes the secret's SHA-256 when the contest starts, and the secret when it is over, so that everybody can check
that the seeds were not chosen.
"""

from hashlib import blake2b, sha256

from botdrome.games.chance import SEED_BITS


def match_seed(secret: str, seed: int) -> int:
    """Return the seed of a match for the seed of its fixture. Without a secret they are the same."""
    if not secret:
        return seed
    return int.from_bytes(blake2b(str(seed).encode(), key=secret.encode()[:64], digest_size=SEED_BITS // 8).digest(), "little")


def commitment(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()
