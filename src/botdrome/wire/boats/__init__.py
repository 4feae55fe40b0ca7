"""Xterm Boat Sinker: battleship in lines over TCP."""
