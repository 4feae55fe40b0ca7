"""Rooms: where clients of boats, Bomberman, duel arena and Battlecube gather players and games."""
