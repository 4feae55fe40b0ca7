"""REST: the same reads for whoever would rather not speak GraphQL."""
