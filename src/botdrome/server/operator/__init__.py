"""Operator: all that the person who runs a server may do with it while it runs, and the record of what was done."""
