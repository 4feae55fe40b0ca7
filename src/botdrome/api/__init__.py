"""The interfaces for people and tools: GraphQL, REST and the spectators' streams."""
