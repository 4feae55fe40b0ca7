"""What nodes say to each other, and the protocol of NATS that carries it."""
