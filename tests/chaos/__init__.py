"""Failures of nodes and engines under load, with `make chaos`."""
