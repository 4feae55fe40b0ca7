"""Cube: Battlecube games that an organiser starts and watches, with bots that the server calls."""
