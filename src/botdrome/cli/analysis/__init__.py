"""Commands for recorded matches and for bots before a contest: rerun, fork, blunders and check."""
