"""Matches and tournaments on this machine, without a server."""
