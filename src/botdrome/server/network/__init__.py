"""Network: ports, sockets, TLS, and limits for each address."""
