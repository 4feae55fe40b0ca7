"""The Bomberman API: rooms in which bots register, poll the state and act over HTTP."""
