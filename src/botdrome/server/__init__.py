"""The server: the only room that waits."""
