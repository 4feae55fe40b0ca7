"""Noughts and crosses over lines of text: the protocol of docs/adding-a-protocol.md."""
