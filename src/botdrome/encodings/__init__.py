"""Encodings: the views and moves of each game as arrays and numbers, for training and
for policies.
"""
