"""Tokens: the store keeps their SHA-256, never the tokens."""

import hashlib


def hashed(token: str) -> str:
    return hashlib.sha256(token.encode(errors="surrogatepass")).hexdigest()
