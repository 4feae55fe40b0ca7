"""Several servers as one arena. docs/decisions/0030 has the plan."""
