"""Analysis of recorded matches: what a bot was asked, other continuations, and the step that lost a
match. Pure.
"""
