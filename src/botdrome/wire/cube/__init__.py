"""Battlecube: socket.io for organisers, HTTP calls to bots."""
