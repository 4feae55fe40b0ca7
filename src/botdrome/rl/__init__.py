"""Environments for training: PettingZoo for all players, Gymnasium for one player against
opponents.
"""
