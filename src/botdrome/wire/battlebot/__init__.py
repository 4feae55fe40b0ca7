"""Battlebot: the native protocol, JSON over WebSockets."""
