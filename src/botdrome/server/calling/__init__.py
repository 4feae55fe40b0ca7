"""Calling: the server's calls to bots that have an address.

Strangers type these addresses in, so each is checked first.
"""
