"""Bomberman: an HTTP API."""
