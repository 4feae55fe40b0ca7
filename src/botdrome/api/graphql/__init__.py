"""GraphQL: the original's API, for all games."""
