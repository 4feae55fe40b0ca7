"""The operator of a server: its token, its actions, and the audit log."""
