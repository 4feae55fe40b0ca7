"""Tables: running matches with their players, spectators, timers and flight records."""
