"""Duel arena: gomoku in framed JSON over TCP."""
