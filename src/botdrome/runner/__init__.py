"""The offline runner: matches and tournaments on this machine, without a server."""
