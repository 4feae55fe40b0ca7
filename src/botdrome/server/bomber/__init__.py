"""The Bomberman API: rooms in which bots register, ask for the state and act, over HTTP."""
