"""Framing: how messages are cut out of a stream of bytes."""
