"""Boats: rooms in which battleship is played over Xterm Boat Sinker's lines."""
