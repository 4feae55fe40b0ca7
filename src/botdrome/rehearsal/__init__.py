"""Rehearsal: a whole contest with synthetic bots over the real protocols, before the day."""
