"""How long a test waits for something that must happen: so long that no machine, however busy, ever reaches it."""

PATIENCE = 600.0
