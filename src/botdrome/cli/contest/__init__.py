"""The commands of `botdrome contest`."""
