"""The doors for people and tools: GraphQL, REST and the spectators' streams."""
