"""Lobby: names and tokens, waiting players, and the bots that fill a table."""
