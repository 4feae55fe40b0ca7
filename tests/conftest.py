"""For all tests: a server that is started as a process listens where it is told, and at no usual port."""

import os

os.environ.update(BOTDROME_DUEL_PORT="0", BOTDROME_XBS_PORT="0")
